package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// What is said to be masked is what a command cannot read.
func TestMasked(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		must(t, os.Symlink(".env", filepath.Join(p.root, "link")))
		must(t, os.WriteFile(filepath.Join(p.home, ".ssh", "config"), nil, 0o600))
		masked := p.box.Masked()
		for path, want := range map[string]bool{".env": true, "sub/.env": true, "link": true, "a.txt": false, "sub": false, "sub/absent": false,
			"../home/.ssh/id_rsa": true, "../home/.ssh": true, "../home/.local/share/acp-agent/credentials.json": true, "../home": false, "../home/outside/theirs.txt": false} {
			path = filepath.Join(p.root, path)
			if got := masked(path); got != (want && w != files) {
				t.Errorf("%s: %v", path, got)
			}
			if info, err := os.Stat(path); err != nil || info.IsDir() || w == files {
				continue
			}
			if out, code := p.run(Reads, false, "cat "+path); (code != 0 || out == "") != want {
				t.Errorf("%s: status %d, %q", path, code, out)
			}
		}
	})
	var none *Box
	if none.Masked()("/etc/passwd") {
		t.Error("nothing masks it")
	}
}
