package lsp

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// project is a folder with files, and a view of it whose texts are those on the
// disk.
type project struct {
	t    testing.TB
	dir  string
	view *View
}

// newProject lays out files, given as name and content one after the other.
func newProject(t testing.TB, c Config, files ...string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir}
	for i := 0; i < len(files); i += 2 {
		p.write(files[i], files[i+1])
	}
	servers := New(Options{})
	t.Cleanup(servers.Close)
	p.view = servers.View(ViewOptions{
		Dirs: []string{dir}, Config: c,
		Read: func(_ context.Context, path string) (string, bool, error) {
			data, err := os.ReadFile(path)
			return strings.ToValidUTF8(string(data), string(utf8.RuneError)), true, err
		},
		Walk: func(_ context.Context, dir string, match func(string) bool, each func(string, Stamp)) error {
			return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				if rel, _ := filepath.Rel(dir, path); match(rel) {
					if info, err := e.Info(); err == nil {
						each(path, Stamp{info.Size(), info.ModTime()})
					}
				}
				return nil
			})
		},
		Path: func() []string { return filepath.SplitList(os.Getenv("PATH")) },
		Env:  os.Environ,
		Bash: func() string { return "/bin/bash" },
	})
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

func (p *project) write(name, content string) {
	p.t.Helper()
	path := p.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// change writes files and tells what that did to the project's problems.
func (p *project) change(files ...string) Delta {
	p.t.Helper()
	ctx := p.context()
	var paths []string
	for i := 0; i < len(files); i += 2 {
		paths = append(paths, p.path(files[i]))
	}
	b := p.view.Before(ctx, paths)
	for i := 0; i < len(files); i += 2 {
		if files[i+1] != removed {
			p.write(files[i], files[i+1])
		} else if err := os.Remove(p.path(files[i])); err != nil {
			p.t.Fatal(err)
		}
	}
	return b.After(ctx, paths)
}

func (p *project) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	p.t.Cleanup(cancel)
	return ctx
}

// need skips a test whose server is not installed, which CI does not allow.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed, and CI skips nothing", program)
		}
		t.Skipf("%s is not installed", program)
	}
}
