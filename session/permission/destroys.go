package permission

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// deed is an operation of a program on what lies elsewhere, and does not come back:
// the words that its command has, in that order, and what it does.
type deed struct{ words, does string }

// deedsOf are those of a program.
func deedsOf(name string) []deed {
	switch name {
	case "terraform", "tofu":
		return []deed{{"destroy", "tears down what it manages"}, {"apply -destroy", "tears down what it manages"}}
	case "pulumi":
		return []deed{{"destroy", "tears down what it manages"}, {"stack rm", "forgets a stack"}}
	case "kubectl":
		return []deed{{"delete namespace", "deletes a namespace"}, {"delete ns", "deletes a namespace"}, {"delete pv", "deletes a volume"},
			{"delete pvc", "deletes a volume"}, {"delete --all", "deletes all of them"}}
	case "helm":
		return []deed{{"uninstall", "removes a release"}, {"delete", "removes a release"}}
	case "aws":
		return []deed{{"s3 rm --recursive", "deletes all that is there"}, {"s3 rb --force", "deletes a bucket"}, {"ec2 terminate-instances", "ends machines"},
			{"rds delete-db-instance", "deletes a database"}, {"cloudformation delete-stack", "tears down a stack"}}
	case "gsutil":
		return []deed{{"rm -r", "deletes all that is there"}, {"rb", "deletes a bucket"}}
	case "gcloud":
		return []deed{{"projects delete", "deletes a project"}, {"instances delete", "deletes machines"}}
	case "gh":
		return []deed{{"repo delete", "deletes a repository"}, {"release delete", "deletes a release"}}
	case "docker", "podman":
		return []deed{{"system prune", "deletes what other projects may need"}, {"volume prune", "deletes volumes"}, {"volume rm", "deletes a volume"}}
	case "heroku":
		return []deed{{"apps:destroy", "deletes an application"}, {"pg:reset", "empties a database"}}
	case "dropdb":
		return []deed{{"", "deletes a database"}}
	case "git":
		return []deed{{"push --mirror", "overwrites all branches over there"}}
	case "redis-cli":
		return []deed{{"flushall", "empties the database"}, {"flushdb", "empties the database"}}
	}
	return nil
}

// runsQueries reports whether a program runs what it is given as a query.
func runsQueries(name string) bool {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "duckdb", "mongosh", "mongo":
		return true
	}
	return false
}

var drops = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:drop\s+(?:database|schema|table)|truncate\s+(?:table\s+)?[a-z_"]|dropDatabase\s*\()`)
})

// destroys says what a command destroys beyond recall, if it does. Removals on this
// machine are judged where paths are.
func destroys(name string, args []string) string {
	if runsQueries(name) && slices.ContainsFunc(args, drops().MatchString) {
		return "`" + name + "` would delete what a database holds"
	}
	if name == "git" && overwritesMain(args) {
		return "`git push` would overwrite the main branch over there"
	}
	for _, d := range deedsOf(name) {
		if inOrder(args, strings.Fields(d.words)) {
			return strings.TrimSpace("`"+name+" "+d.words) + "` " + d.does
		}
	}
	return ""
}

// inOrder reports whether the words are among the arguments, in that order. A
// short flag may stand in a bundle.
func inOrder(args, words []string) bool {
	for _, a := range args {
		if len(words) == 0 {
			break
		}
		w := words[0]
		bundled := len(w) == 2 && w[0] == '-' && len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, w[1:])
		if strings.EqualFold(a, w) || bundled {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// overwritesMain reports whether a push replaces, or deletes, a main branch.
func overwritesMain(args []string) bool {
	rest, _ := afterGlobals(args, nil)
	if len(rest) == 0 || rest[0] != "push" {
		return false
	}
	force, branch := false, false
	for _, a := range rest[1:] {
		name := a[strings.LastIndexByte(a, ':')+1:]
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "+"), "refs/heads/")
		force = force || a == "-f" || a == "--force" || a == "-d" || a == "--delete" || strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":")
		branch = branch || plain == "main" || plain == "master"
	}
	return force && branch
}
