package permission

import "strings"

// escape is what of a tool a rule with a star never covers (policy section 7):
// flags that run a program, choose its configuration, or read and write
// elsewhere.
type escape struct {
	flags  string // exact words, or attached by "="; with two dashes also what abbreviates them
	short  string // letters of bundles
	joined string // letters of flags whose value may follow without a blank
	assign bool   // NAME=value as an operand
	goals  bool   // operands are what it makes, of which some publish
}

var escapes = map[string]escape{
	"go":            {flags: "-exec -toolexec -overlay -modfile -vettool -C -ldflags -gccgoflags -compiler -pkgdir --exec --toolexec --overlay --modfile --vettool --ldflags --gccgoflags --compiler --pkgdir --C"},
	"cargo":         {flags: "--config -Z --manifest-path --target-dir --out-dir --artifact-dir --open -C", joined: "ZC"},
	"make":          {flags: "-f --file --makefile --eval -C --directory -I --include-dir -E", short: "fCIE", assign: true},
	"gmake":         {flags: "-f --file --makefile --eval -C --directory -I --include-dir -E", short: "fCIE", assign: true},
	"just":          {flags: "-f --justfile -d --working-directory --shell --set", assign: true},
	"npm":           {flags: "--prefix --script-shell --userconfig --globalconfig --node-options --call --shell -C -c", joined: "C"},
	"pnpm":          {flags: "--prefix --script-shell --dir --config -C -c", joined: "C"},
	"yarn":          {flags: "--cwd --script-shell --use-yarnrc --rc-file"},
	"pytest":        {flags: "-p -c -o --rootdir --confcutdir --override-ini --config-file --basetemp --pdbcls --cov-config", short: "pco"},
	"docker":        {flags: "-v --volume --mount --privileged --device --pid --cap-add --security-opt -H --host --config --context --secret --ssh --push --build-context --allow --builder --network --output -o --iidfile --metadata-file --env-file --project-directory"},
	"podman":        {flags: "-v --volume --mount --privileged --device --pid --cap-add --security-opt --root"},
	"kubectl":       {flags: "--kubeconfig --server -s --as --as-group --as-uid --raw --token --context --cluster --user --username --password --certificate-authority --client-certificate --client-key --insecure-skip-tls-verify --cache-dir --filename --kustomize -k --profile-output", joined: "sk"},
	"curl":          {flags: "-K --config -o -O --output --remote-name --remote-name-all --output-dir -T --upload-file -x --proxy --preproxy --unix-socket -F --form -d --data --data-binary --data-raw --data-urlencode -D --dump-header -c --cookie-jar --resolve --connect-to", short: "KoOTxFdDc"},
	"wget":          {flags: "-O --output-document -i --input-file -P --directory-prefix --post-file --body-file --use-askpass -e --execute --config", short: "OiPe"},
	"rg":            {flags: "--pre --pre-glob --hostname-bin -z --search-zip -L --follow --ignore-file -f --file", short: "zLf"},
	"grep":          {flags: "-f --file --exclude-from -R --dereference-recursive", short: "fR"},
	"egrep":         {flags: "-f --file --exclude-from -R --dereference-recursive", short: "fR"},
	"fgrep":         {flags: "-f --file --exclude-from -R --dereference-recursive", short: "fR"},
	"sort":          {flags: "-o --output --compress-program -T --temporary-directory --files0-from", short: "oT"},
	"find":          {flags: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -L -follow -files0-from -D"},
	"fd":            {flags: "-x -X --exec --exec-batch -L --follow", short: "xXL"},
	"fdfind":        {flags: "-x -X --exec --exec-batch -L --follow", short: "xXL"},
	"tar":           {flags: "-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command --absolute-names -P", short: "IFP"},
	"zip":           {flags: "-T -TT --unzip-command"},
	"rsync":         {flags: "-e --rsh --rsync-path", short: "e"},
	"eslint":        {flags: "--rulesdir --resolve-plugins-relative-to --plugin --parser --config -c --format -f", joined: "cf"},
	"tsc":           {flags: "--plugins --generateTrace --generateCpuProfile"},
	"jq":            {flags: "-f --from-file -L --slurpfile --rawfile", short: "fL"},
	"man":           {flags: "-P --pager -H --html", short: "PH"},
	"date":          {flags: "-s --set -f --file", short: "sf"},
	"file":          {flags: "-C -m -f -z -L", short: "CmfzL"},
	"tree":          {flags: "-o --output -R -H", short: "oRH"},
	"golangci-lint": {flags: "--config -c", joined: "c"},
	"jest":          {flags: "--config -c --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --testRunner --runner --reporters --transform --resolver --testEnvironment --env --cacheDirectory --outputFile --watchPlugins --filter --haste --preset --projects --snapshotSerializers --testSequencer --testResultsProcessor --dependencyExtractor --prettierPath", joined: "c"},
	"vitest":        {flags: "--config -c --root -r --dir --globalSetup --environment --reporter --outputFile --pool --configLoader --browser", joined: "cr"},
	"mocha":         {flags: "--require -r --config --package --loader --import --ui -u --reporter -R --node-option -n --file", joined: "ruRn"},
	"prettier":      {flags: "--plugin --plugin-search-dir --config --ignore-path --cache-location"},
	"mypy":          {flags: "--config-file --python-executable --custom-typeshed-dir --shadow-file --cache-dir --install-types"},
	"rspec":         {flags: "-r --require -I --options -O --default-path", joined: "rIO"},
	"phpunit":       {flags: "--bootstrap -c --configuration --extension --include-path -d --printer --loader", joined: "cd"},
	"ruff":          {flags: "--config --cache-dir --output-file -o", joined: "o"},
	"gofmt":         {flags: "-cpuprofile --cpuprofile"},
	"mvn":           {flags: "-f --file -s --settings -gs --global-settings -t --toolchains -Dmaven.ext.class.path -Dmaven.repo.local", goals: true},
	"gradle":        {flags: "-I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home --include-build --project-cache-dir", joined: "Ibcpg", goals: true},
	"dotnet":        {flags: "--settings -s --test-adapter-path --logger -l --configfile --artifacts-path --diag"},
}

// never are programs that no rule with a star covers: what they do is in the
// words that the star stands for.
func never(name string) bool {
	_, runs := runners[name]
	switch name {
	case "sed", "awk", "gawk", "mawk", "eval", "ssh", "dd":
		return true
	}
	return runs && name != "command" || isShell(name)
}

// beyondWildcard says why a rule with a star does not cover a command that it
// matches; the words are those of the command without wrappers.
func beyondWildcard(name string, argv []string, r *compiled) string {
	if never(name) {
		return "a rule with a star does not cover what `" + name + "` runs or writes"
	}
	if name == "git" {
		return gitWildcard(argv[1:], r)
	}
	words := argv[1:]
	e, ok := escapes[name]
	switch { // what these run has flags of its own
	case name == "npx" && len(words) > 0:
		name = words[0]
		e, ok = escapes[name]
	case name == "bundle" && len(words) > 1 && words[0] == "exec":
		name = words[1]
		e, ok = escapes[name]
	}
	if !ok {
		return ""
	}
	for _, a := range words {
		if a == "--" && name != "find" && name != "npm" && name != "cargo" {
			break
		}
		if e.covers(a) || e.assign && isAssignment(a) || e.goals && !strings.HasPrefix(a, "-") && deploys(a) {
			return "the rule does not cover " + visible(a) + ", which can run programs or reach elsewhere"
		}
	}
	return ""
}

// covers reports whether a word is one of the escapes, in any way that the tool
// would take it.
func (e escape) covers(word string) bool {
	if !strings.HasPrefix(word, "-") || word == "-" {
		return false
	}
	name, _, _ := strings.Cut(word, "=")
	for f := range strings.FieldsSeq(e.flags) {
		if name == f {
			return true
		}
		if strings.HasPrefix(f, "--") && len(name) >= 4 && strings.HasPrefix(f, name) {
			return true
		}
	}
	if strings.HasPrefix(word, "--") {
		return false
	}
	return strings.ContainsAny(word[1:], e.short) || strings.IndexByte(e.joined, word[1]) >= 0
}

// bundled reports whether a word of short flags holds a letter.
func bundled(word string, letter byte) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, letter) > 0
}

// gitEscapes are flags of git's subcommands that run a helper, read or write
// elsewhere, or set configuration.
var gitEscapes = escape{flags: "--upload-pack --receive-pack --exec --template --config --open-files-in-pager --ext-diff --textconv --filters --output --no-index --orderfile --contents --file --pathspec-from-file --extcmd --tool --strategy --separate-git-dir --reference --recurse-submodules --ignore-revs-file --exclude-from --edit-description --tree-filter --index-filter --msg-filter --env-filter --commit-filter -x -O -F"}

// gitNetwork are subcommands that talk to another repository: only a rule that
// names them covers them.
var gitNetwork = nameSet(`fetch pull push clone ls-remote submodule remote archive send-pack fetch-pack http-fetch http-push send-email request-pull daemon instaweb credential svn p4 cvsimport imap-send`)

// gitConfigures are subcommands that set configuration or run what they are
// told: only a rule that names them covers them.
var gitConfigures = nameSet(`config filter-branch bisect difftool mergetool hook hash-object update-index fast-import maintenance init worktree symbolic-ref update-ref replace sparse-checkout var for-each-repo`)

func gitWildcard(args []string, r *compiled) string {
	rest, ok := afterGlobals(args, gitHarmless)
	if !ok {
		return "global options of git can choose programs: no rule with a star covers them"
	}
	sub := rest[0]
	named := r.command != nil && len(r.command.words) > 1 && r.command.words[1].text == sub
	if (gitNetwork[sub] || gitConfigures[sub]) && !named {
		return "`git " + visible(sub) + "` is covered only by a rule that names it"
	}
	for _, a := range rest[1:] {
		helper := strings.Contains(a, "::")
		switch {
		case helper, gitEscapes.covers(a), sub == "submodule" && a == "foreach", sub == "bisect" && a == "run",
			(sub == "clone" || sub == "rebase" || sub == "fetch" || sub == "ls-remote") && (strings.HasPrefix(a, "-c") || strings.HasPrefix(a, "-u")),
			(sub == "rebase" || sub == "difftool") && bundled(a, 'x'), (sub == "grep" || sub == "diff" || sub == "log" || sub == "show" || sub == "format-patch") && bundled(a, 'O'),
			sub == "commit" && (a == "-t" || strings.HasPrefix(a, "-F")):
			return "the rule does not cover " + visible(a) + ", which can run programs or reach elsewhere"
		}
	}
	return ""
}
