package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools/sandbox"
)

// confinedWorkspace has a shell that confines by bubblewrap.
func confinedWorkspace(t *testing.T) *Workspace {
	t.Helper()
	ws := shellWorkspace(t)
	prober := &sandbox.Prober{}
	if s := prober.Status(); !s.Whole {
		if os.Getenv("CI") == "true" {
			t.Fatal(s.Text)
		}
		t.Skip("commands are not confined here: " + s.Text)
	}
	shell := NewExecShell(ExecOptions{Environ: os.Environ(), Box: sandbox.New(sandbox.Options{Roots: ws.Roots.Dirs(), Prober: prober, Names: sandbox.Names{Guard: func(names []string) sandbox.Guard {
		if names[len(names)-1] == "AGENTS.md" {
			return sandbox.Guarded
		}
		return sandbox.Open
	}}})})
	t.Cleanup(shell.CloseAll)
	ws.Shell = shell
	return ws
}

// What a command's end tells does not depend on whether it is confined.
func TestConfinedCommandsEndAsOthers(t *testing.T) {
	confined, plain := confinedWorkspace(t), shellWorkspace(t)
	for _, text := range []string{"kill -SEGV $$", "kill -KILL $$", "kill -ABRT $$", "kill -TERM $$", "kill -PIPE $$", "kill -INT $$", "ulimit -t 1; while :; do :; done",
		"exit 129", "exit 128", "exit 255", "exit 3", "true", "read x; echo $?", "test -t 0 || test -t 1 || echo no terminal", "ulimit -c", "ulimit -n"} {
		want, err := prepare(t, plain, bashInput{Command: text}).Run(t.Context(), silently)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []sandbox.Level{sandbox.Unasked, sandbox.Reads, sandbox.Approved} {
			action := prepare(t, confined, bashInput{Command: text})
			action.Confine(level, false, nil)
			got, err := action.Run(t.Context(), silently)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != want.Text || got.Metadata["signal"] != want.Metadata["signal"] || got.Metadata["exit_code"] != want.Metadata["exit_code"] {
				t.Errorf("%s, level %d: %q %v\nwant %q %v", text, level, got.Text, got.Metadata, want.Text, want.Metadata)
			}
		}
	}
}

// What is put aside may be the user's own, who is to see it.
func TestWhatIsPutAsideIsShown(t *testing.T) {
	ws := confinedWorkspace(t)
	action := prepare(t, ws, bashInput{Command: "echo x > AGENTS.md"})
	action.Confine(sandbox.Unasked, false, nil)
	r, err := action.Run(t.Context(), silently)
	if err != nil || !strings.Contains(r.Text, "renamed to AGENTS.md.unasked") || !strings.Contains(r.Shown, "renamed to AGENTS.md.unasked") {
		t.Errorf("%v: %q, shown %q", err, r.Text, r.Shown)
	}
	if data, err := os.ReadFile(filepath.Join(ws.Dir(), "AGENTS.md.unasked")); string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestConfinedOutputAndCancel(t *testing.T) {
	ws := confinedWorkspace(t)
	r, err := prepare(t, ws, bashInput{Command: "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end"}).Run(t.Context(), silently)
	if err != nil || !r.Truncated || !strings.HasSuffix(r.Text, "end\n") {
		t.Errorf("%v, truncated %v, ends in %q", err, r.Truncated, r.Text[max(0, len(r.Text)-20):])
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user cancelled")
	show := func(o Output) {
		if strings.Contains(o.Text, "going on") {
			cancel(stop)
		}
	}
	_, err = prepare(t, ws, bashInput{Command: "trap '' TERM INT; setsid sleep 1000 & echo going on; sleep 1000"}).Run(ctx, show)
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
