package permission

import (
	"slices"
	"strings"
)

// restrict holds a command, and every command that it would run in turn, against
// the hard denies and the rules that restrict. It reports whether it is denied.
func (s *shell) restrict(argv []string, at dirs) bool {
	before := len(s.found)
	s.restrictOne(argv, at)
	seen := map[int]bool{}
	s.hidden(argv, at, seen)
	for _, f := range s.found[before:] {
		if f.class == denied {
			return true
		}
	}
	return false
}

func (s *shell) restrictOne(argv []string, at dirs) {
	if len(argv) > 0 {
		s.catastrophic(argv, at)
	}
	var ms []match
	for i := range s.rules.all {
		r := &s.rules.all[i]
		switch {
		case !r.forCommands():
		case r.Action > Allow && s.restricts(r, argv), r.Action == Allow && r.command != nil && len(argv) > 0 && r.command.matches(argv, false):
			ms = append(ms, match{r, r.specific()})
		}
	}
	if len(ms) == 0 {
		return
	}
	what := visible(strings.Join(argv, " "))
	s.ruled(s.weigh(what, ms), "`"+what+"`")
}

// restricts reports whether a rule that denies or asks covers a command: by the
// base name of its program, without regard to case, past global options.
func (s *shell) restricts(r *compiled, argv []string) bool {
	if !r.forCommands() {
		return false
	}
	if r.all {
		return true
	}
	if r.command == nil || len(argv) == 0 {
		return false
	}
	name := baseName(argv[0])
	if r.command.matches(argv, true) || r.command.matches(append([]string{name}, argv[1:]...), true) {
		return true
	}
	if name == "git" {
		if rest, ok := afterGlobals(argv[1:], nil); ok {
			return r.command.matches(append([]string{"git"}, rest...), true)
		}
	}
	return false
}

// afterGlobals skips options before a subcommand: those listed, or where list is
// nil all, with the values of those of git that take one.
func afterGlobals(args []string, list map[string]bool) ([]string, bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") {
			return args[i:], true
		}
		if list != nil && !list[a] {
			return nil, false
		}
		switch a {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source":
			i++
		}
	}
	return nil, false
}

// gitHarmless are the global options of git that change nothing it does.
var gitHarmless = map[string]bool{"--no-pager": true, "--no-optional-locks": true, "--literal-pathspecs": true}

// runners run the command that follows them, after options and, where a number
// is given, so many operands of their own.
var runners = map[string]int{
	"timeout": 1, "gtimeout": 1, "nice": 0, "nohup": 0, "env": 0, "command": 0, "time": 0, "stdbuf": 0, "setsid": 0, "ionice": 0,
	"sudo": 0, "doas": 0, "xargs": 0, "watch": 0, "parallel": 0, "strace": 0, "ltrace": 0, "flock": 1, "chroot": 1, "unshare": 0,
	"nsenter": 0, "busybox": 0, "toybox": 0, "exec": 0, "builtin": 0, "coproc": 0, "ssh": 1, "su": 1, "runuser": 1, "chrt": 1, "taskset": 1,
	"setarch": 1, "caffeinate": 0, "firejail": 0, "systemd-run": 0, "script": 0, "unbuffer": 0, "winpty": 0, "rlwrap": 0, "catchsegv": 0,
	"prlimit": 0, "setpriv": 0, "numactl": 0, "linux32": 0, "linux64": 0, "i386": 0, "x86_64": 0, "fakeroot": 0, "fakechroot": 0, "proot": 0, "bwrap": 0,
	"faketime": 1, "valgrind": 0, "eatmydata": 0, "proxychains": 0, "proxychains4": 0, "torsocks": 0, "torify": 0, "dbus-run-session": 0, "xvfb-run": 0,
	"cgexec": 0, "pkexec": 0, "gosu": 1, "su-exec": 1, "setuidgid": 1, "chpst": 0, "entr": 0, "chronic": 0, "ifne": 0, "gtime": 0, "dotenv": 0,
}

// hidden restricts the commands that a command would run, as far as they can be
// seen. They are ends of its words: seen holds the lengths that were judged.
func (s *shell) hidden(argv []string, at dirs, seen map[int]bool) {
	if len(argv) < 2 {
		return
	}
	name := baseName(argv[0])
	for _, text := range textsIn(name, argv[1:]) {
		s.opaque("`" + name + "` runs a text as a command")
		s.nestedText(text, at)
		if name == "eval" || name == "trap" { // in this very shell
			s.stray(s.left)
		}
	}
	at = sentTo(name, argv[1:], at)
	inner, certain := followers(name, argv[1:])
	for _, words := range inner {
		if s.work += len(words) / 8; seen[len(words)] || s.spent() {
			continue
		}
		s.restrictOne(words, at)
		s.strays(words, at)
		if certain {
			s.environment(words)
			seen[len(words)] = true
			s.hidden(words, at, seen)
		}
	}
}

// spent counts what is done for one command, and asks where it is too much.
func (s *shell) spent() bool {
	const most = 3000
	if s.work++; s.work >= most && !s.tired {
		s.tired = true
		s.floor("it is too complicated to be judged")
	}
	return s.work >= most
}

// followers are the words of a command that are a command themselves; certain
// is false where the program is not known, and its first operand may be one.
func followers(name string, args []string) (inner [][]string, certain bool) {
	operands, runs := runners[name]
	switch {
	case name == "command" && (args[0] == "-v" || args[0] == "-V"): // only tells where the program is
		return nil, true
	case name == "parallel": // what stands behind ::: is what the command is given
		if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, ":::") }); i > 0 {
			args = args[:i]
		}
		return afterOptions(args, operands), true
	case runs:
		return afterOptions(args, operands), true
	case name == "find":
		return afterFlags(args, "-exec", "-execdir", "-ok", "-okdir"), true
	case name == "fd" || name == "fdfind":
		return afterFlags(args, "-x", "-X", "--exec", "--exec-batch"), true
	case !known(name) && !strings.HasPrefix(args[0], "-"):
		return [][]string{args}, false
	}
	return nil, false
}

// afterOptions lists what may be the command after options: every word that
// follows an option, since it may be the option's value or the command, and the
// first that does not, after the operands of the runner itself.
func afterOptions(args []string, operands int) [][]string {
	var out [][]string
	value := false
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "-") && len(a) > 1, strings.HasPrefix(a, "+"):
			value = true
			continue
		case isAssignment(a):
			continue
		}
		out = append(out, args[i:])
		if value {
			value = false
			continue
		}
		if operands--; operands < 0 {
			break
		}
	}
	return out
}

func afterFlags(args []string, flags ...string) [][]string {
	var out [][]string
	for i, a := range args {
		for _, f := range flags {
			if a == f && i+1 < len(args) {
				out = append(out, args[i+1:])
			}
		}
	}
	return out
}

// textsIn are the arguments that a command would run as shell text.
func textsIn(name string, args []string) []string {
	switch {
	case isShell(name):
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				return shellText(args[i+1:])
			}
		}
	case name == "eval":
		return []string{strings.Join(args, " ")}
	case name == "trap":
		return args[:1]
	case name == "watch", name == "ssh", name == "parallel":
		return []string{strings.Join(args, " ")}
	case name == "env":
		return flagText(args, "-S", "--split-string")
	case name == "script", name == "su", name == "runuser", name == "flock":
		return flagText(args, "-c", "--command")
	case name == "mapfile", name == "readarray":
		return flagText(args, "-C", "")
	}
	return nil
}

// shellText is the text after -c, past further options.
func shellText(args []string) []string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			return []string{a}
		}
	}
	return nil
}

// flagText is the value of an option, separate or attached.
func flagText(args []string, short, long string) []string {
	for i, a := range args {
		switch {
		case (a == short || a == long && long != "" || isBundle(a) && strings.HasSuffix(a, short[1:])) && i+1 < len(args):
			return []string{args[i+1]}
		case long != "" && strings.HasPrefix(a, long+"="):
			return []string{a[len(long)+1:]}
		case strings.HasPrefix(a, short) && len(a) > len(short):
			return []string{a[len(short):]}
		}
	}
	return nil
}

// isBundle reports whether an argument is several short flags in one word.
func isBundle(a string) bool {
	return len(a) > 2 && a[0] == '-' && strings.Trim(a[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh":
		return true
	}
	return false
}

// isInterpreter reports whether a program runs code that it is given.
func isInterpreter(name string) bool {
	switch name {
	case "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "awk", "gawk", "mawk", "tclsh", "osascript", "pwsh", "powershell",
		"rscript", "julia", "java", "jshell", "groovy", "erl", "elixir", "ghci", "sqlite3", "mysql", "psql", "gdb", "ed", "ex", "vi", "vim", "nvim", "emacs":
		return true
	}
	return isShell(name) || strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")
}

// runsAnything reports whether a program runs whatever it is told: an
// interpreter, a shell, a package runner or a wrapper.
func runsAnything(name string) bool {
	_, runs := runners[name]
	switch name {
	case "npx", "bunx", "pnpx", "uvx", "pipx", "eval", "dlx":
		return true
	}
	return runs || isInterpreter(name)
}
