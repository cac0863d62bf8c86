package permission

import (
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

const readKind = kinds.Read

// findTests are the words of find that look at files or print their names;
// those with a value are in findValued.
var (
	findTests  = nameSet(`-print -print0 -prune -empty -ls -o -a -or -and -not ! ( ) -true -false -readable -writable -executable -depth -mount -xdev -daystart -quit ,`)
	findValued = nameSet(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -size -mtime -mmin -atime -amin -ctime -cmin -perm -maxdepth -mindepth -user -group -links -inum -printf -regextype -xtype -newermt -newerat -newerct -newerBt`)
)

// findOnly says why a find does more than look.
func (s *shell) findOnly(args []string, at dirs) string {
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i], "-") && args[i] != "(" && args[i] != "!"; i++ {
		s.operand(kinds.List, args[i], at)
	}
	if i == 0 {
		s.operand(kinds.List, ".", at)
	}
	for ; i < len(args); i++ {
		switch a := args[i]; {
		case findTests[a]:
		case findValued[a] && i+1 < len(args):
			i++
		case (a == "-newer" || a == "-anewer" || a == "-cnewer") && i+1 < len(args):
			i++
			s.operand(kinds.List, args[i], at)
		default:
			return "the word " + visible(a) + " of `find` is not known to only look"
		}
	}
	return ""
}

var (
	goVariable = lazy(`^(GO|CGO_|CC$|CXX$|AR$|PKG_CONFIG$)[A-Z0-9_]*$`)
	goSymbol   = lazy(`^[A-Za-z0-9_./-]+$`)
)

// golang says why a go command does more than tell.
func (s *shell) golang(args []string) string {
	if !s.Trusted {
		return "`go` follows the project's files, and the folder is not trusted"
	}
	if len(args) == 0 {
		return "`go` needs a subcommand"
	}
	sub, rest := args[0], args[1:]
	switch sub {
	case "version":
		if len(rest) == 0 {
			return ""
		}
		return "`go version` with an operand reads a program"
	case "env":
		for _, a := range rest {
			if !goVariable().MatchString(a) {
				return "`go env` is silent only with the names of its variables"
			}
		}
		return ""
	case "list":
		return goList(rest)
	case "doc":
		for _, a := range rest {
			if a != "-all" && a != "-short" && a != "-src" && a != "-u" && (strings.HasPrefix(a, "-") || !goSymbol().MatchString(a) || strings.Contains(a, "..")) {
				return "the word " + visible(a) + " of `go doc` is not known to only read"
			}
		}
		return ""
	}
	return "`go " + visible(sub) + "` is not known to only read"
}

func goList(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-json" || strings.HasPrefix(a, "-json="), a == "-m", a == "-deps", a == "-test", a == "-e", strings.HasPrefix(a, "-f="):
		case a == "-f" && i+1 < len(args):
			i++
		case strings.HasPrefix(a, "-"), strings.Contains(a, "@"), !goSymbol().MatchString(a):
			return "the word " + visible(a) + " of `go list` is not known to only read"
		}
	}
	return ""
}

// gofmt says why a gofmt does more than show.
func (s *shell) gofmt(args []string, at dirs) string {
	for _, a := range args {
		switch {
		case a == "-l" || a == "-d" || a == "-s":
		case strings.HasPrefix(a, "-"):
			return "the flag " + visible(a) + " of `gofmt` is not known to only show"
		default:
			s.operand(kinds.Read, a, at)
		}
	}
	return ""
}
