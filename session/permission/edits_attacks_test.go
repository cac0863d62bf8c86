package permission

import (
	"os"
	"path/filepath"
	"testing"
)

// What a command that edits would do beside the edit that it shows is asked about,
// where edits are accepted; the same command without that is silent.
func TestAcceptedEditsHostileSiblings(t *testing.T) {
	p := project(t)
	p.Mode = AcceptEdits
	dir := p.Roots.Dir()
	outside := filepath.Join(filepath.Dir(dir), "outside")
	for path, text := range map[string]string{"tree/a": "x", "tree/.git/hooks/pre-commit": "x", "tree/sub/.env": "K=1", "plain/a": "x", "server": "x", "d/a": "x"} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": outside, "plain/link": filepath.Join(outside, "secret.txt"), "d/sub": outside, "self": "plain"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "clean"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []string{
		"cp -r tree/. .", "cp -r tree copy", "mv tree elsewhere", "cp -r plain copy", "mv plain elsewhere", "cp plain/link x", "mv self x",
		"cp server server.pem", "mv server .npmrc", "cp server out/x", "cp server out", "mv server out", "touch out/x", "mkdir -p out/a/b", "rm out/secret.txt",
		"sed -i.pem s/a/b/ server", "sed -i.key -e s/a/b/ server", "sed --in-place=.pem s/a/b/ server", "sed -i s/a/b/ plain/link", "sed -i.bak/x s/a/b/ server",
		"rm -rf tree", "rm -rf .", "rm -rf ./", "rm -rf ../ws", "rm -rf plain/../../outside", "rmdir -p ../outside/x",
		"cp --target-directory=.git/hooks server", "cp -t .git/hooks server", "cp -a plain copy", "cp -L plain/link x", "mv -t out server", "mv --backup=t a b", "cp -b server x", "cp -s /etc/passwd x",
		"touch -r /etc/passwd x", "touch --reference=/etc/shadow x", "mkdir -m 777 x", "rm --no-preserve-root -rf x", "FOO=1 rm server", "./rm server", "sudo rm server",
		"rm server; python3 x.py", "cp server d/sub", "mv server d/sub/x", "cp plain/a d/sub/a", `cp server "$x"`, "mv clean .git", "mkdir .GIT", "touch .Env", "cp server CLAUDE.md", "mv server AGENTS.md",
		"xargs rm < list", "find . -delete", "chmod +x server", "ln server x", "install server x", "tee x", "truncate -s 0 server", "dd if=server of=x",
	} {
		if v := bash(p, cmd); v.Action == Allow {
			t.Errorf("%q is silent", cmd)
		}
	}
	for _, cmd := range []string{
		"mkdir -p x/y", "touch x", "cp server copy", "cp -r clean other", "mv server renamed", "rm server", "rm -f server", "rm -rf clean", "rmdir clean", "sed -i s/a/b/ server", "sed -i.bak s/a/b/ server",
		"timeout 5 rm server", "LANG=C rm server", "cp d/a plain/b && rm d/a",
	} {
		if v := bash(p, cmd); v.Action != Allow {
			t.Errorf("%q: %s", cmd, v.Reason)
		}
		p.Trusted = false
		if v := bash(p, cmd); v.Action == Allow {
			t.Errorf("%q is silent before trust", cmd)
		}
		p.Trusted, p.Mode = true, Default
		if v := bash(p, cmd); v.Action == Allow {
			t.Errorf("%q is silent in the default mode", cmd)
		}
		p.Mode = AcceptEdits
	}
}
