package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// diskWorkspace is a workspace in a temporary folder that holds the files.
func diskWorkspace(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { roots.Close() })
	return &Workspace{Roots: roots, Files: workspace.NewDisk(roots), Seen: &Seen{}}
}

// editor stands for an editor's buffers: it knows some files by itself, and may
// change what is saved.
type editor struct {
	Files
	buffers map[string]string // by target
	format  func(string) string
}

func (e *editor) ReadFile(ctx context.Context, p workspace.Path) ([]byte, error) {
	if text, ok := e.buffers[p.Target]; ok {
		return []byte(text), nil
	}
	return e.Files.ReadFile(ctx, p)
}

func (e *editor) WriteFile(ctx context.Context, p workspace.Path, old, new []byte) ([]byte, error) {
	now, err := e.ReadFile(ctx, p)
	if err != nil && old != nil || err == nil && (old == nil || string(now) != string(old)) {
		return nil, fmt.Errorf("saving %s: %w", p.Asked, workspace.ErrChanged)
	}
	text := string(new)
	if e.format != nil {
		text = e.format(text)
	}
	e.buffers[p.Target] = text
	return []byte(text), nil
}

// at is the absolute path of a file in the workspace.
func at(ws *Workspace, name string) string { return filepath.Join(ws.Dir(), name) }

func prepared(t testing.TB, ws *Workspace, tool Tool, input any) (*Action, error) {
	t.Helper()
	args, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Prepare(t.Context(), ws, args)
}

// call prepares and runs a call; either may fail.
func call(t testing.TB, ws *Workspace, tool Tool, input any) (Result, error) {
	t.Helper()
	a, err := prepared(t, ws, tool, input)
	if err != nil {
		return Result{}, err
	}
	return a.Run(t.Context(), func(Output) {})
}

// must calls a tool that must not fail.
func must(t testing.TB, ws *Workspace, tool Tool, input any) Result {
	t.Helper()
	r, err := call(t, ws, tool, input)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onDisk is a file's content; "<none>" where there is no file.
func onDisk(t testing.TB, ws *Workspace, name string) string {
	t.Helper()
	data, err := os.ReadFile(at(ws, name))
	if os.IsNotExist(err) {
		return "<none>"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t testing.TB, ws *Workspace, name, content string) {
	t.Helper()
	if err := os.WriteFile(at(ws, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// args is a call's input.
type args map[string]any

func wants(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("it went well, want an error with %q", want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want %q in it", err, w)
		}
	}
}
