package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing destroys what must never go from within it either: the folder that a
// command went to is what its operands are relative to, in every mode and whatever
// the rules say (policy section 9).
func TestRemovalWhereItWentIsDenied(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "*"), allow("bash", "rm *")}
	for _, cmd := range []string{
		`cd / && rm -rf *`, `cd /; rm -rf .`, `cd ~ && rm -rf *`, `cd && rm -rf *`, `cd $HOME; rm -rf ./*`, `cd /usr && rm -rf ./*`, `cd .. && rm -rf *`, `cd ../.. && rm -rf *`, `cd src/../.. && rm -rf *`, `cd src && cd ../.. && rm -rf *`, `cd ../ws/.. && rm -rf .`, `cd ~/.. && rm -rf *`,
		`(cd / ; find . -delete)`, `cd / && find -delete`, `cd / && ls && find . -name x -exec rm -rf {} +`, `cd / && chmod -R 777 .`, `cd / && chown -R me *`, `cd /root && chmod -R u+x *`, `cd /boot && chgrp -R x .`, `cd /etc && mv * /tmp`, `cd /opt && mv ./* ~/x`,
		`pushd / && rm -r *`, `cd / && pushd src; popd; rm -rf *`, `cd / && cd src; cd - && rm -rf *`, `cd -P / && rm -rf *`, `cd -- / && rm -rf *`, `command cd / && rm -rf *`, `builtin cd / && rm -rf *`, `eval "cd /" && rm -rf *`, `eval cd / && rm -rf *`,
		`if cd /; then rm -rf *; fi`, `cd / || exit 1; rm -rf *`, `cd nosuch || cd / ; rm -rf *`, `while cd /; do rm -rf *; done`, `for i in 1 2; do rm -rf *; cd /; done`, `for d in /; do cd $d; rm -rf *; done`, `{ cd / ; } ; rm -rf *`, `f() { cd /; }; f; rm -rf *`, `true && cd / && true && rm -rf *`, `cd / && (rm -rf *)`, `cd / & cd /; rm -rf *`,
		`bash -c 'cd / && rm -rf *'`, `cd / && bash -c 'rm -rf *'`, `cd /usr; sudo rm -rf *`, `cd /var && timeout 5 rm -rf .`, `cd / && time rm -rf *`, `cd / && xargs rm -rf *`, `env -C / rm -rf *`, `env --chdir=/ rm -rf *`, `sudo -D / rm -rf *`, `chroot / rm -rf *`,
		`D=/; cd $D && rm -rf *`, `D=/; rm -rf "$D"`, `D=/; rm -rf "$D"/*`, `cd / && rm -rf "$PWD"`, `cd /home && rm -rf $(pwd)`, `rm -rf "$(echo /)"`, `rm -rf ${HOME:?}/*`,
		`cd /;rm -rf ./.`, `cd / && rm -rf **`, `cd / && rm -rf {*,.*}`, `cd / && rm -rf [a-z]*`, `rm -rf /[a-z]*`, `rm -rf /e*c`, `rm -rf /???`, `rm -rf ~root`, `rm -rf ~root/*`, `rm -rf /proc/self/root`, `rm -rf /proc/1/root/*`, `cd / && rm -rf * (`,
	} {
		for _, mode := range []Mode{Default, AcceptEdits, Plan, DontAsk, BypassPermissions, Auto} {
			p.Mode = mode
			if v := bash(p, cmd); v.Action != Deny || !strings.Contains(v.Reason, "would destroy") {
				t.Errorf("%s: %q: %v (%s)", mode, cmd, v.Action, v.Reason)
			}
		}
	}
}

// What is removed elsewhere keeps the verdict that it has where it stands.
func TestRemovalElsewhereIsNotDenied(t *testing.T) {
	p := project(t)
	p.Mode = BypassPermissions
	for cmd, want := range map[string]Action{
		`cd build && rm -rf *`: Allow, `cd build; rm -rf ./*`: Allow, `cd src && rm -rf *.o`: Allow, `cd src && cd .. && rm -rf build`: Allow, `cd build && find . -delete`: Allow, `pushd src && rm -rf x.c && popd`: Allow, `find build -name '*.o' -delete`: Allow,
		`rm -rf "${DIR:?}"/*`: Allow, `rm -rf "$DIR"/*`: Allow, `rm -rf dist/* coverage`: Allow, `D=build; rm -rf "$D"`: Allow, `rm -rf "$(pwd)/build"`: Allow, `chmod -R u+w build`: Allow, `mv src/a.go src/b.go`: Allow,
		`(cd / && ls); rm -rf *`: ForcedAsk, `(pushd / && ls); rm -rf build`: ForcedAsk, `x=$(cd / && pwd); rm -rf build`: ForcedAsk, `cd / | rm -rf build`: ForcedAsk, `cd .. && rm -rf other`: ForcedAsk, `cd /usr/share/doc && rm -rf x`: ForcedAsk, `cd ~/x && rm -rf *`: ForcedAsk, `cd "$DIR" && rm -rf *`: ForcedAsk, `rm -rf *`: ForcedAsk, `cd src && cd - && rm -rf *`: ForcedAsk,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
}

// Where the outside is refused, no command goes there either.
func TestFolderOutsideThatIsRefused(t *testing.T) {
	p := project(t)
	p.OutsideDenied = true
	if v := bash(p, `cd .. && ls`); v.Action != Deny {
		t.Errorf("%v (%s)", v.Action, v.Reason)
	}
}

// A name that a pattern stood for is no program: by then it may stand for another.
func TestPatternIsNoProgram(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "*")}
	for _, cmd := range []string{`command *`, `timeout 5 * x`, `bash -c *`, `nice -n 5 x.?`, `find src | xargs *`} {
		if v := bash(p, cmd); v.Action < ForcedAsk {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
}

// What an edit by a command would do to protected files asks under any rule and in any
// mode, and not only where edits are accepted.
func TestEditsUnderARule(t *testing.T) {
	p := project(t)
	if err := os.MkdirAll(filepath.Join(p.Roots.Dir(), "vendor/x/.git/hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Rules = []Rule{allow("bash", "cp *"), allow("bash", "mv *"), allow("bash", "rm *")}
	for _, mode := range []Mode{Default, AcceptEdits, BypassPermissions} {
		p.Mode = mode
		for _, cmd := range []string{`cp -r vendor/x/. .`, `cp -r .git/. g`, `mv vendor/x/.git y`, `rm -rf vendor`, `rm -rf certs`, `cp -r certs c`} {
			if v := bash(p, cmd); v.Action < ForcedAsk {
				t.Errorf("%s: %q: %v", mode, cmd, v.Action)
			}
		}
		for _, cmd := range []string{`cp -r src s2`, `rm -rf build`, `mv src/a.go src/n.go`} {
			if v := bash(p, cmd); v.Action != Allow {
				t.Errorf("%s: %q: %v (%s)", mode, cmd, v.Action, v.Reason)
			}
		}
	}
}
