package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWindowsPaths(t *testing.T) {
	for path, want := range map[string]string{
		`//server/share/x`: "share", `\\?\C:\x`: "share", `\??\UNC\s\x`: "share", `\\.\PhysicalDrive0`: "share", `\\localhost\c$\x`: "share",
		`c:relative.txt`: "relative to a drive", `C:`: "relative to a drive", `C:..\x`: "relative to a drive",
		`\Windows\x`: "no drive", `/x`: "no drive",
		`a.txt:stream`: "stream", `a.txt::$DATA`: "stream", `C:\a:b`: "stream",
		`%USERPROFILE%\x`: "variable", `a\%TEMP%`: "variable",
		`con`: "reserved", `src\NUL.txt`: "reserved", `aux .c`: "reserved", `COM1`: "reserved", `lpt9.log`: "reserved", `com¹`: "reserved",
		`...\x`: "reserved", `.. \x`: "reserved", `a\ \b`: "reserved", `CONOUT$`: "reserved",
		`src\a.go`: "", `src/a.go`: "", `C:\Windows\x`: "", `..\x`: "", `.\x`: "", `100%.txt`: "", `console.go`: "", `COM10`: "", `comx`: "", ``: "",
	} {
		err := checkWindows(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

// TestAnotherSystem reads paths as other systems do, over a tree that stands here.
func TestAnotherSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the tree is to stand on a system that tells cases apart")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(root, "ws")
	if err := os.MkdirAll(filepath.Join(ws, "Src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../away", filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	windows := System{GOOS: "windows", FoldsCase: true, Home: "C:" + root}
	folding := System{GOOS: "darwin", FoldsCase: true}
	for _, tt := range []struct {
		system System
		path   string
		target string // from root
		inside bool
	}{
		{windows, `src\new.go`, "ws/Src/new.go", true},
		{windows, `src\..\..\x`, "x", false},
		{windows, `~/x`, "x", false},
		{windows, `C:` + ws + `\a`, "ws/a", true},
		{windows, `c:` + root + `\WS\a`, "ws/a", true},
		{folding, filepath.Join(root, "WS", "src", "a"), "ws/Src/a", true},
		{folding, "LINK/x", "away/x", false},
		{folding, `a\b`, `ws/a\b`, true},
		{System{}, "src/a", "ws/src/a", true},
	} {
		r, err := tt.system.OpenRoots(ws)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Resolve(tt.path)
		if err != nil || p.Target != filepath.Join(root, tt.target) || p.Inside != tt.inside {
			t.Errorf("%+v %q: %+v, %v", tt.system, tt.path, p, err)
		}
		r.Close()
	}
	r, err := windows.OpenRoots(ws)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if p, err := r.Resolve(`D:\x`); err != nil || p.Inside || p.Target != "/D:/x" {
		t.Errorf("another drive: %+v, %v", p, err)
	}
	if _, err := r.Resolve("/etc/passwd"); err == nil {
		t.Error("a path without a drive is resolved")
	}
}
