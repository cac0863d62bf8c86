package process

import (
	"maps"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// startup are the variables that make bash, or a program that the read-only
// table of security/policy.md counts on, do something else than its arguments
// say (policy, section 3). OLDPWD is where `cd -` would lead.
var startup = []string{
	"BASH_ENV", "ENV", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS",
	"PROMPT_COMMAND", "IFS", "LESSOPEN", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "OLDPWD",
	// What `set -x` expands, where bash looks for built-ins, and what changes its
	// grammar.
	"PS4", "BASH_XTRACEFD", "BASH_LOADABLES_PATH", "POSIXLY_CORRECT", "BASH_COMPAT", "EXECIGNORE",
	// Which repository git's reading commands read, and what shows their diffs.
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF",
}

// secrets are the names that providers' keys usually stand in.
var secrets = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
}

// Prefixes of variables that no child gets: functions exported by a bash, and
// the agent's own.
const (
	functionPrefix = "BASH_FUNC_"
	ownPrefix      = "ACP_AGENT_"
)

// quiet are the settings that keep programs from waiting for keys: pagers and
// editors that end at once, no question at a terminal (spec/tools.md, bash).
var quiet = map[string]string{
	"PAGER":               "cat",
	"GIT_PAGER":           "cat",
	"EDITOR":              "true",
	"VISUAL":              "true",
	"GIT_EDITOR":          "true",
	"GIT_SEQUENCE_EDITOR": "true",
	"GIT_TERMINAL_PROMPT": "0",
	"GIT_OPTIONAL_LOCKS":  "0",
	"TERM":                "dumb",
}

// gitConfig keeps a repository's configuration from running programs in git's
// reading commands (policy, section 6). diff.external is not among it: git
// fails where it is empty.
var gitConfig = [][2]string{
	{"core.fsmonitor", "false"},
	{"core.pager", "cat"},
	{"safe.bareRepository", "explicit"},
	{"protocol.ext.allow", "never"},
}

// Rules are what a session adds to the rules for its children's environment.
// The zero value adds nothing.
type Rules struct {
	Secrets []string           // further names that are taken out: those of configured keys
	Set     map[string]*string // set last of all; nil: taken out
}

// Environment is the environment of a child, made of base ("NAME=value"
// entries; of one name the last counts): without the variables that change what
// a command means, without providers' keys and the agent's own, and with the
// settings that keep programs from waiting for keys. HOME is looked up in the
// user database where base has none. The result is sorted.
func Environment(base []string, r Rules) []string {
	vars := variables(base)
	for name := range vars {
		if r.dropped(name) {
			delete(vars, name)
		}
	}
	maps.Copy(vars, settings(vars))
	for name, value := range r.Set {
		name = key(name)
		if delete(vars, name); value != nil {
			vars[name] = *value
		}
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// EarlyNames are the variables that act before the first line of a script: a
// terminal that runs what Script made must be given them empty.
func EarlyNames() []string { return []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS"} }

// Script is bash text that runs the command text, which bash -c takes, in an
// editor's terminal as it would run as a child: it does to the terminal's
// environment, which cannot be given, what Environment does to a child's, marks
// the process by what Mark made, and becomes a bash that runs the command with an
// empty standard input. Base is the agent's own environment, which the editor
// made. Where within is not empty, it is a program and its arguments that run bash,
// which is there for the words after them; where the terminal has no such program
// or not all paths of needs, what is in without happens before bash runs by itself.
func Script(base []string, r Rules, text, mark string, within, needs []string, without string) string {
	vars := variables(base)
	drop := slices.Concat(startup, secrets, r.Secrets)
	set := settings(vars)
	for name, value := range r.Set {
		if value == nil {
			drop = append(drop, name)
		} else {
			set[name] = *value
		}
	}
	var b strings.Builder
	// In POSIX mode, which an assignment begins, no function that the environment
	// brings stands before these built-ins.
	b.WriteString("POSIXLY_CORRECT=1\nunset -f builtin unset export exec compgen\nunset POSIXLY_CORRECT\n")
	// SHELLOPTS, BASHOPTS cannot be unset; they act only at a bash's start.
	b.WriteString("builtin unset -f $(builtin compgen -A function)\n")
	b.WriteString("builtin unset ${!" + ownPrefix + "@}")
	for _, name := range drop {
		if isName(name) && name != "SHELLOPTS" && name != "BASHOPTS" {
			b.WriteString(" " + name)
		}
	}
	b.WriteString("\nbuiltin export -n SHELLOPTS BASHOPTS\n")
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if isName(name) {
			b.WriteString("builtin export " + name + "=" + quote(set[name]) + "\n")
		}
	}
	b.WriteString(mark)
	if len(within) > 0 {
		b.WriteString("if [[ -x " + quote(within[0]))
		for _, path := range needs {
			b.WriteString(" && -e " + quote(path))
		}
		b.WriteString(" ]]; then\n")
		// What the terminal's program left open is not for the command; 255 is this file.
		b.WriteString("for ((i = 3; i < 255; i++)); do builtin eval \"exec $i>&-\"; done\n")
		b.WriteString("builtin exec")
		for _, word := range within {
			b.WriteString(" " + quote(word))
		}
		b.WriteString(" \"$BASH\" --noprofile --norc -c " + quote(text) + " </dev/null\nfi\n")
		b.WriteString(without)
	}
	b.WriteString("builtin exec \"$BASH\" --noprofile --norc -c " + quote(text) + " </dev/null\n")
	return b.String()
}

func (r Rules) dropped(name string) bool {
	return strings.HasPrefix(name, functionPrefix) || strings.HasPrefix(name, ownPrefix) ||
		slices.Contains(startup, name) || slices.Contains(secrets, name) ||
		slices.ContainsFunc(r.Secrets, func(s string) bool { return key(s) == name })
}

// settings are the variables that every child gets. Git's configuration goes
// behind what the user already gives that way.
func settings(vars map[string]string) map[string]string {
	set := maps.Clone(quiet)
	count, err := strconv.Atoi(vars["GIT_CONFIG_COUNT"])
	if err != nil || count < 0 || count > 1000 {
		count = 0
	}
	for i, c := range gitConfig {
		n := strconv.Itoa(count + i)
		set["GIT_CONFIG_KEY_"+n] = c[0]
		set["GIT_CONFIG_VALUE_"+n] = c[1]
	}
	set["GIT_CONFIG_COUNT"] = strconv.Itoa(count + len(gitConfig))
	if home := vars["HOME"]; home == "" && runtime.GOOS != "windows" {
		if u, err := user.Current(); err == nil && u.HomeDir != "" {
			set["HOME"] = u.HomeDir
		}
	}
	return set
}

// variables are the entries of an environment by name. Windows has entries like
// "=C:=C:\dir", whose names begin with the sign.
func variables(environ []string) map[string]string {
	vars := make(map[string]string, len(environ)+len(quiet))
	for _, entry := range environ {
		if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
			vars[key(entry[:i+1])] = entry[i+2:]
		}
	}
	return vars
}

// key is how a variable's name is compared: in any letter case on Windows.
func key(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// quote makes s one word of bash, whatever it holds.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
