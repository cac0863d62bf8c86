package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// environment asks where a command prints variables, or sets up git.
func (s *shell) environment(argv []string) {
	if writesConfig(argv) {
		s.beyondSandbox("it changes git's configuration, which can choose programs")
	}
	if showsEnvironment(argv) {
		s.floor("`" + visible(baseName(argv[0])) + "` shows the environment, which usually holds secrets")
	}
}

// declared are the words of a declaration, as they are written.
func declared(c *syntax.DeclClause) []string {
	argv := []string{c.Variant.Value}
	for _, a := range c.Args {
		switch {
		case a.Name != nil && a.Naked:
			argv = append(argv, a.Name.Value)
		case a.Name != nil:
			argv = append(argv, a.Name.Value+"=")
		case a.Value != nil:
			argv = append(argv, staticText(a.Value))
		}
	}
	return argv
}

// showsEnvironment reports whether a command prints variables, of which some usually
// are secrets (policy section 10.4): as reading a file with secrets, that asks in
// every mode.
func showsEnvironment(argv []string) bool {
	args := argv[1:]
	switch baseName(argv[0]) {
	case "printenv":
		return !onlyHelp(args)
	case "env":
		return !onlyHelp(args) && !envRuns(args)
	case "set":
		return len(args) == 0
	case "export", "declare", "typeset", "readonly", "local":
		for _, a := range args {
			if strings.HasPrefix(a, "-") && strings.Contains(a, "p") {
				return true
			}
		}
		for _, a := range args {
			if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
				return false
			}
		}
		return true
	}
	return false
}

// onlyHelp reports whether a program is only asked for its help or version.
func onlyHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "--version")
}

// envRuns reports whether env runs a program, and does not print the variables.
func envRuns(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == ";": // the end of what find runs
			return false
		case a == "-u", a == "--unset", a == "-C", a == "--chdir":
			i++
		case a == "-S", a == "--split-string", strings.HasPrefix(a, "-S"), strings.HasPrefix(a, "--split-string="):
			return true
		case strings.HasPrefix(a, "-"), strings.Contains(a, "="):
		default:
			return true
		}
	}
	return false
}
