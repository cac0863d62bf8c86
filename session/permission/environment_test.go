package permission

import (
	"strings"
	"testing"
)

// TestTheEnvironmentAsks: showing the environment asks in every mode, whatever rule
// allows the program, as it usually holds secrets (policy section 10.4).
func TestTheEnvironmentAsks(t *testing.T) {
	rules := []Rule{}
	for _, pattern := range []string{"printenv *", "env *", "set *", "export *", "declare *"} {
		rules = append(rules, allow(permBash, pattern))
	}
	for _, cmd := range []string{
		"printenv", "printenv HOME", "/usr/bin/printenv", "env", "env -0", "env | grep X", "env A=1", "env -u A", "timeout 5 env", "nice -n 5 printenv",
		"command printenv", "bash -c env", "bash -c 'printenv | sort'", "(env)", "ls && env", "set", "set | grep KEY", "export", "export -p", "declare", "declare -p", "declare -px",
		"declare -p PATH", "typeset -x", "readonly -p", "echo HOME | xargs printenv", "sudo env", "sudo -u me env", "find . -maxdepth 0 -exec env \\;", "find . -exec printenv {} +", "busybox env", "exec env", "command -p env",
		"prlimit env", "prlimit --nofile=9 printenv", "setpriv --no-new-privs env", "fakeroot env", "numactl -N 0 env", "linux64 env", "faketime 'last friday' env", "valgrind -q env",
		"parallel env ::: 1", "parallel -j 2 printenv ::: HOME", "proxychains4 -q env", "gosu nobody env", "xvfb-run -a env", "chronic env", "bwrap --bind / / env",
		"builtin export -p", "x=$(env); echo \"$x\"", "if true; then printenv; fi",
	} {
		for _, m := range []Mode{Default, AcceptEdits, BypassPermissions} {
			p := project(t)
			p.Mode, p.Rules = m, rules
			if v := bash(p, cmd); v.Action != ForcedAsk || len(v.Always) > 0 {
				t.Errorf("%s: %s: %v (%s), offered %v", m, cmd, v.Action, v.Reason, v.Always)
			}
		}
	}
	for _, cmd := range []string{"env --help", "printenv --version", "set -e", "set -euo pipefail", "export A=1", "declare a=1", "env go version", "env FOO=1 ls"} {
		if showsEnvironment(strings.Fields(cmd)) {
			t.Errorf("%s is taken for showing the environment", cmd)
		}
	}
}
