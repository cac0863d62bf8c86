package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// odd is an editor that answers by a function per method, and remembers what it
// was asked. A method without one is not found.
type odd struct {
	answers map[string]func(ctx context.Context, params json.RawMessage) (any, error)

	mu    sync.Mutex
	asked []string
	told  chan string // every method, as it comes
}

// connect joins the editor to a new connection, which it returns. Both ends are
// closed with the test.
func (o *odd) connect(t *testing.T) *jsonrpc.Conn {
	t.Helper()
	o.told = make(chan string, 100)
	toAgent, fromEditor := io.Pipe()
	toEditor, fromAgent := io.Pipe()
	agent := jsonrpc.New(toAgent, fromAgent, func(context.Context, *jsonrpc.Request) (jsonrpc.Work, error) {
		return nil, nil
	}, jsonrpc.Options{})
	editor := jsonrpc.New(toEditor, fromEditor, func(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		o.mu.Lock()
		o.asked = append(o.asked, r.Method)
		o.mu.Unlock()
		o.told <- r.Method
		answer := o.answers[r.Method]
		if answer == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
		}
		params := slices.Clone(r.Params)
		return func(ctx context.Context) (any, error) { return answer(ctx, params) }, nil
	}, jsonrpc.Options{})
	var ends sync.WaitGroup
	for _, c := range []*jsonrpc.Conn{agent, editor} {
		ends.Go(func() { _ = c.Run(context.Background()) })
	}
	t.Cleanup(func() {
		fromEditor.Close()
		fromAgent.Close()
		toEditor.Close()
		toAgent.Close()
		ends.Wait()
	})
	return agent
}

// methods are what the editor was asked so far, without fs/ and terminal/.
func (o *odd) methods() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, m := range o.asked {
		_, name, _ := strings.Cut(m, "/")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// await waits until the editor is asked the method.
func (o *odd) await(method string) {
	for m := range o.told {
		if m == method {
			return
		}
	}
}

// constant always answers the same.
func constant(answer any) func(context.Context, json.RawMessage) (any, error) {
	return func(context.Context, json.RawMessage) (any, error) { return answer, nil }
}

func failing(code int, message string) func(context.Context, json.RawMessage) (any, error) {
	return func(context.Context, json.RawMessage) (any, error) {
		return nil, &jsonrpc.Error{Code: code, Message: message}
	}
}

// silent answers only when the request is cancelled.
func silent(ctx context.Context, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func onDisk(t *testing.T, files map[string]string) (*workspace.Roots, *workspace.Disk) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { roots.Close() })
	return roots, workspace.NewDisk(roots)
}

func resolve(t *testing.T, roots *workspace.Roots, name string) workspace.Path {
	t.Helper()
	p, err := roots.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var both = FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}

func TestEditorReads(t *testing.T) {
	const refused = "refused"
	content := func(text string) any { return map[string]any{"content": text} }
	tests := []struct {
		name   string
		disk   string // "-": no file
		answer any    // error: the editor fails; nil: it answers null
		want   string // "-": there is no such file
	}{
		{"the same", "a\nb\n", content("a\nb\n"), "a\nb\n"},
		{"unsaved", "a\nb\n", content("a\nx\n"), "a\nx\n"},
		{"no answer at all", "a\n", nil, "a\n"},
		{"an answer without text", "a\n", map[string]any{}, "a\n"},
		{"null for text", "a\n", map[string]any{"content": nil}, "a\n"},
		{"a number for text", "a\n", map[string]any{"content": 1}, "a\n"},
		{"text for the answer", "a\n", "oops", "a\n"},
		{"an empty list", "a\n", []any{}, "a\n"},
		{"a refusal", "a\n", errors.New("the user said no"), refused},
		{"not found by the editor", "a\n", &jsonrpc.Error{Code: jsonrpc.CodeNotFound, Message: "outside the project"}, "a\n"},
		{"a method that it lacks", "a\n", &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no"}, "a\n"},
		{"line ends lost", "a\r\nb\r\n", content("a\nb\n"), "a\r\nb\r\n"},
		{"line ends gained", "a\nb\n", content("a\r\nb\r\n"), "a\nb\n"},
		{"final newline lost", "a\nb\n", content("a\nb"), "a\nb\n"},
		{"final newline added", "a\nb", content("a\nb\n"), "a\nb"},
		{"a newline too many", "a\nb\n", content("a\nb\n\n"), "a\nb\n"},
		{"mark lost", bom + "a\n", content("a\n"), bom + "a\n"},
		{"unsaved, line ends lost", "a\r\nb\r\n", content("a\nx\nb"), "a\r\nx\r\nb\r\n"},
		{"unsaved, mark lost", bom + "a\n", content("b\n"), bom + "b\n"},
		{"unsaved, line ends of both kinds", "a\r\nb\n", content("a\nx\n"), "a\nx\n"},
		{"empty for a text that cannot be had", "a\n", content(""), "a\n"},
		{"empty for a missing file", "-", content(""), "-"},
		{"an error for a missing file", "-", errors.New("no such file"), "-"},
		{"a new file that was never saved", "-", content("new\n"), "new\n"},
		{"an empty file", "", content(""), ""},
		{"binary", "a\x00b", content("aXb"), "a\x00b"},
		{"no UTF-8", "caf\xe9\n", content("caf\uFFFD\n"), "caf\xe9\n"},
		{"too large", strings.Repeat("x", maxEditorFile+1), content("y"), strings.Repeat("x", maxEditorFile+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.disk != "-" {
				files["f"] = tt.disk
			}
			roots, disk := onDisk(t, files)
			editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
				MethodReadTextFile: func(_ context.Context, raw json.RawMessage) (any, error) {
					var p ReadTextFileRequest
					if err := json.Unmarshal(raw, &p); err != nil || p.SessionID != "s" || p.Path != filepath.Join(roots.Dir(), "f") || p.Line != nil || p.Limit != nil {
						t.Errorf("asked %s", raw)
					}
					if err, coded := tt.answer.(*jsonrpc.Error); coded {
						return nil, err
					}
					if err, failed := tt.answer.(error); failed {
						return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
					}
					return tt.answer, nil
				},
			}}
			e := newEditorFiles(editor.connect(t), "s", FileSystemCapabilities{ReadTextFile: true}, disk)
			got, err := e.ReadFile(t.Context(), resolve(t, roots, "f"))
			if tt.want == refused {
				if err == nil || got != nil || !strings.Contains(err.Error(), "the editor refuses: the user said no") {
					t.Errorf("got %q, %v", got, err)
				}
			} else if tt.want == "-" {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("got %q, %v", got, err)
				}
			} else if err != nil || string(got) != tt.want {
				t.Errorf("got %.40q, %v; want %.40q", got, err, tt.want)
			}
		})
	}
}

// writer is what an editor does to the file when it is asked to write.
type writer func(path, text string) (answer any)

func save(path, text string) any {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	return map[string]any{}
}

func TestEditorWrites(t *testing.T) {
	const missing = "-"
	nothing := func(answer any) writer { return func(string, string) any { return answer } }
	tests := []struct {
		name            string
		disk            string // before
		editor          string // what it reads; empty: it answers null
		write           writer
		old, new        string
		returned, after string // returned is empty where it fails
		wrong           string // in the error
	}{
		{"does as told", "a\n", "a\n", save, "a\n", "b\n", "b\n", "b\n", ""},
		{"answers null", "a\n", "a\n", func(p, s string) any { save(p, s); return nil }, "a\n", "b\n", "b\n", "b\n", ""},
		{"answers an empty list", "a\n", "a\n", func(p, s string) any { save(p, s); return []any{} }, "a\n", "b\n", "b\n", "b\n", ""},
		{"writes nothing", "a\n", "", nothing(map[string]any{}), "a\n", "b\n", "b\n", "b\n", ""},
		{"writes nothing, answers null", "a\n", "", nothing(nil), "a\n", "b\n", "b\n", "b\n", ""},
		{"writes no new file", missing, "", nothing(map[string]any{}), missing, "b\n", "b\n", "b\n", ""},
		{"a string is an error", "a\n", "a\n", nothing("no such buffer"), "a\n", "b\n", "", "a\n", "no such buffer"},
		{"fails", "a\n", "a\n", nothing(errors.New("the user said no")), "a\n", "b\n", "", "a\n", "the user said no"},
		{"fails for a new file", missing, "", nothing(errors.New("read-only")), missing, "b\n", "", missing, "read-only"},
		{"fails with unsaved changes", "a\n", "x\n", nothing(errors.New("the user said no")), "x\n", "b\n", "", "a\n", "the user said no"},
		{"a string with unsaved changes", "a\n", "x\n", nothing("locked"), "x\n", "b\n", "", "a\n", "locked"},
		{"unsaved changes are taken along", "a\n", "x\n", save, "x\n", "xb\n", "xb\n", "xb\n", ""},
		{"unsaved changes, writes nothing", "a\n", "x\n", nothing(nil), "x\n", "xb\n", "xb\n", "xb\n", ""},
		{"formats on save", "a\n", "a\n", func(p, s string) any { return save(p, s+"// formatted\n") }, "a\n", "b\n", "b\n// formatted\n", "b\n// formatted\n", ""},
		{"adds a newline", "a\n", "a\n", func(p, s string) any { return save(p, s+"\n") }, "a\n", "b\n", "b\n\n", "b\n\n", ""},
		{"loses the final newline", "a\n", "a\n", func(p, s string) any { return save(p, strings.TrimSuffix(s, "\n")) }, "a\n", "b\n", "b", "b", ""},
		{"loses line ends", "a\r\nb\r\n", "a\nb\n", func(p, s string) any { return save(p, strings.ReplaceAll(s, "\r", "")) },
			"a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n", "a\r\nc\r\n", ""},
		{"loses the mark", bom + "a\n", "a\n", save, bom + "a\n", bom + "b\n", bom + "b\n", bom + "b\n", ""},
		{"keeps the mark by itself", bom + "a\n", "a\n", func(p, s string) any { return save(p, bom+s) }, bom + "a\n", bom + "b\n", bom + "b\n", bom + "b\n", ""},
		{"removes the file", "a\n", "a\n", func(p, _ string) any { os.Remove(p); return nil }, "a\n", "b\n", "", missing, "gone"},
		{"changed in the editor", "a\n", "x\n", save, "a\n", "b\n", "", "a\n", "changed in the meantime"},
		{"changed on disk", "x\n", "x\n", save, "a\n", "b\n", "", "x\n", "changed in the meantime"},
		{"is there already", "x\n", "x\n", save, missing, "b\n", "", "x\n", "changed in the meantime"},
		{"is there in the editor", missing, "x\n", save, missing, "b\n", "", missing, "changed in the meantime"},
		{"was never saved", missing, "x\n", save, "x\n", "b\n", "b\n", "b\n", ""},
		{"a new file", missing, "", save, missing, "b\n", "b\n", "b\n", ""},
		{"is made empty", "a\n", "a\n", save, "a\n", "", "", "", ""},
		{"binary now", "a\n", "a\n", nothing(errors.New("must not be asked")), "a\n", "b\x00", "b\x00", "b\x00", ""},
		{"binary before", "a\x00", "a", nothing(errors.New("must not be asked")), "a\x00", "b", "b", "b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.disk != missing {
				files["f"] = tt.disk
			}
			roots, disk := onDisk(t, files)
			path := filepath.Join(roots.Dir(), "f")
			var read any
			if tt.editor != "" {
				read = map[string]any{"content": tt.editor}
			}
			editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
				MethodReadTextFile: constant(read),
				MethodWriteTextFile: func(_ context.Context, raw json.RawMessage) (any, error) {
					var p WriteTextFileRequest
					if err := json.Unmarshal(raw, &p); err != nil || p.SessionID != "s" || p.Path != path {
						t.Errorf("asked %s", raw)
					}
					answer := tt.write(p.Path, p.Content)
					if err, failed := answer.(error); failed {
						return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
					}
					return answer, nil
				},
			}}
			var old []byte
			if tt.old != missing {
				old = []byte(tt.old)
			}
			e := newEditorFiles(editor.connect(t), "s", both, disk)
			got, err := e.WriteFile(t.Context(), resolve(t, roots, "f"), old, []byte(tt.new))
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.HasPrefix(tt.wrong, "changed") != errors.Is(err, workspace.ErrChanged) {
					t.Errorf("returned %q, %v; want an error with %q", got, err, tt.wrong)
				}
			} else if err != nil || string(got) != tt.returned {
				t.Errorf("returned %q, %v; want %q", got, err, tt.returned)
			}
			after := missing
			if data, err := os.ReadFile(path); err == nil {
				after = string(data)
			}
			if after != tt.after {
				t.Errorf("the disk holds %q, want %q", after, tt.after)
			}
		})
	}
}

// Only what the editor serves is asked for, and only where it can know the file.
func TestEditorFilesCapabilities(t *testing.T) {
	roots, disk := onDisk(t, map[string]string{"f": "a\n"})
	outside := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(outside, []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(roots.Dir(), "f")
	for _, tt := range []struct {
		can         FileSystemCapabilities
		path, asked string
	}{
		{FileSystemCapabilities{}, inside, ""},
		{FileSystemCapabilities{ReadTextFile: true}, inside, "read_text_file read_text_file"},
		{FileSystemCapabilities{WriteTextFile: true}, inside, "write_text_file"},
		{both, inside, "read_text_file read_text_file write_text_file"},
		{both, outside, ""},
	} {
		editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
			MethodReadTextFile: constant(map[string]any{"content": "a\n"}), MethodWriteTextFile: constant(nil),
		}}
		e := newEditorFiles(editor.connect(t), "s", tt.can, disk)
		p := resolve(t, roots, tt.path)
		data, err := e.ReadFile(t.Context(), p)
		if err != nil || string(data) != "a\n" {
			t.Errorf("%+v: %q, %v", tt.can, data, err)
		}
		if _, err := e.WriteFile(t.Context(), p, data, []byte("a\n")); err != nil {
			t.Errorf("%+v: %v", tt.can, err)
		}
		if got := editor.methods(); got != tt.asked {
			t.Errorf("%+v, %s: asked %q, want %q", tt.can, tt.path, got, tt.asked)
		}
	}
}

// A path through a link that goes up is not what it looks like.
func TestEditorFilesPath(t *testing.T) {
	roots, disk := onDisk(t, nil)
	dir := roots.Dir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "deep/er"), 0o755), os.Symlink("deep/er", filepath.Join(dir, "link"))); err != nil {
		t.Skip(err)
	}
	for asked, want := range map[string]string{
		"link/f":      "link/f",
		"link/../f":   "deep/f",
		"deep/er/new": "deep/er/new",
		"no/where/f":  "no/where/f",
	} {
		editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
			MethodReadTextFile: func(_ context.Context, raw json.RawMessage) (any, error) {
				var p ReadTextFileRequest
				if err := json.Unmarshal(raw, &p); err != nil || p.Path != filepath.Join(dir, want) {
					t.Errorf("%s: asked %s", asked, raw)
				}
				return map[string]any{"content": "text"}, nil
			},
		}}
		data, err := newEditorFiles(editor.connect(t), "s", both, disk).ReadFile(t.Context(), resolve(t, roots, asked))
		if err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", asked, data, err)
		}
	}
}

// An editor that never answers ends with the user's cancel, and is told so.
func TestEditorFilesCancel(t *testing.T) {
	stop := errors.New("the user said stop")
	for _, method := range []string{MethodReadTextFile, MethodWriteTextFile} {
		roots, disk := onDisk(t, map[string]string{"f": "a\n"})
		cancelled := make(chan struct{})
		editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
			MethodReadTextFile: constant(nil), MethodWriteTextFile: constant(nil),
		}}
		editor.answers[method] = func(ctx context.Context, raw json.RawMessage) (any, error) {
			defer close(cancelled)
			return silent(ctx, raw)
		}
		e := newEditorFiles(editor.connect(t), "s", both, disk)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			editor.await(method)
			cancel(stop)
		}()
		if _, err := e.WriteFile(ctx, resolve(t, roots, "f"), []byte("a\n"), []byte("b\n")); !errors.Is(err, stop) {
			t.Errorf("%s: %v", method, err)
		}
		<-cancelled
		if data, _ := os.ReadFile(filepath.Join(roots.Dir(), "f")); string(data) != "a\n" {
			t.Errorf("%s: the disk holds %q", method, data)
		}
	}
}

// A read has a limit, a write has none.
func TestEditorFilesSilent(t *testing.T) {
	roots, disk := onDisk(t, map[string]string{"f": "a\n"})
	synctest.Test(t, func(t *testing.T) {
		editor := &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
			MethodReadTextFile: silent,
			MethodWriteTextFile: func(_ context.Context, raw json.RawMessage) (any, error) {
				time.Sleep(time.Hour) // synctest's time: the editor asks its user
				var p WriteTextFileRequest
				_ = json.Unmarshal(raw, &p)
				return save(p.Path, p.Content), nil
			},
		}}
		e := newEditorFiles(editor.connect(t), "s", both, disk)
		begin := time.Now()
		data, err := e.ReadFile(t.Context(), resolve(t, roots, "f"))
		if took := time.Since(begin); err != nil || string(data) != "a\n" || took != readTime {
			t.Errorf("%q, %v after %v", data, err, took)
		}
		if data, err = e.WriteFile(t.Context(), resolve(t, roots, "f"), data, []byte("b\n")); err != nil || string(data) != "b\n" {
			t.Errorf("%q, %v", data, err)
		}
	})
}

// terminals is an editor's side with one terminal.
func terminals(create, wait, output any) *odd {
	answer := func(a any) func(context.Context, json.RawMessage) (any, error) {
		switch a := a.(type) {
		case func(context.Context, json.RawMessage) (any, error):
			return a
		case error:
			return failing(jsonrpc.CodeInternal, a.Error())
		}
		return constant(a)
	}
	return &odd{answers: map[string]func(context.Context, json.RawMessage) (any, error){
		MethodTerminalCreate: answer(create), MethodTerminalWaitForExit: answer(wait), MethodTerminalOutput: answer(output),
		MethodTerminalKill: constant(map[string]any{}), MethodTerminalRelease: constant(map[string]any{}),
	}}
}

func execShell(t *testing.T) *tools.ExecShell {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("terminals are not used there")
	}
	exec := tools.NewExecShell(tools.ExecOptions{})
	if err := exec.Available(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(exec.CloseAll)
	return exec
}

type object = map[string]any

func TestEditorShell(t *testing.T) {
	fine := object{"terminalId": "term"}
	const all = "create wait_for_exit output release"
	tests := []struct {
		name                 string
		create, wait, output any
		exit                 tools.Exit
		text, asked          string
		wrong                string
	}{
		{"ends well", fine, object{"exitCode": 0}, object{"output": "hi\n", "truncated": false}, tools.Exit{}, "hi\n", all, ""},
		{"ends badly", fine, object{"exitCode": 3, "signal": nil}, object{"output": "hi\n"}, tools.Exit{Code: 3}, "hi\n", all, ""},
		{"a signal", fine, object{"exitCode": nil, "signal": "SIGTERM"}, object{"output": ""}, tools.Exit{Code: -1, Signal: "SIGTERM"}, "", all, ""},
		{"only the output knows how", fine, nil, object{"output": "hi\n", "exitStatus": object{"exitCode": 4}}, tools.Exit{Code: 4}, "hi\n", all, ""},
		{"nobody knows how", fine, object{"exitCode": nil}, object{"output": "hi\n", "exitStatus": nil}, tools.Exit{Code: -1}, "hi\n", all, ""},
		{"a list for an answer", fine, []any{}, object{"output": "hi\n"}, tools.Exit{Code: -1}, "hi\n", all, ""},
		{"text for a code", fine, object{"exitCode": "0"}, object{"output": "hi\n"}, tools.Exit{Code: -1}, "hi\n", all, ""},
		{"cut", fine, object{"exitCode": 0}, object{"output": "hi\n", "truncated": true}, tools.Exit{}, "[the editor kept only a part of the output, of about 1048576 bytes]\nhi\n", all, ""},
		{"null for the output", fine, object{"exitCode": 0}, nil, tools.Exit{}, "[the editor gives no output of its terminal: it answers no text]\n", all, ""},
		{"an error for the output", fine, object{"exitCode": 0}, errors.New("lost"), tools.Exit{}, "[the editor gives no output of its terminal: lost (code -32603)]\n", all, ""},
		{"cannot wait", fine, errors.New("no"), object{"output": "hi\n"}, tools.Exit{}, "hi\n", all, "in the editor's terminal: no"},
		{"no terminal", errors.New("no terminal today"), nil, nil, tools.Exit{Code: 5}, "child\n", "create", ""},
		{"null for a terminal", nil, nil, nil, tools.Exit{Code: 5}, "child\n", "create", ""},
		{"a terminal without id", object{}, nil, nil, tools.Exit{Code: 5}, "child\n", "create", ""},
		{"a number for an id", object{"terminalId": 1}, nil, nil, tools.Exit{Code: 5}, "child\n", "create", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			editor := terminals(tt.create, tt.wait, tt.output)
			s := newEditorShell(editor.connect(t), "s", execShell(t))
			var out bytes.Buffer
			p, err := s.Start(t.Context(), tools.Command{Text: "echo child; exit 5", Dir: t.TempDir(), Output: &out})
			if err != nil {
				t.Fatal(err)
			}
			exit, err := p.Wait(t.Context())
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) || tt.wrong == "" && err != nil {
				t.Errorf("error %v, want %q", err, tt.wrong)
			}
			p.Close()
			p.Close()
			if exit != tt.exit || out.String() != tt.text {
				t.Errorf("got %+v, %q; want %+v, %q", exit, out.String(), tt.exit, tt.text)
			}
			if got := editor.methods(); got != tt.asked {
				t.Errorf("asked %s, want %s", got, tt.asked)
			}
		})
	}
}

// The script is the command in a clean environment, and there as long as the
// terminal.
func TestEditorShellScript(t *testing.T) {
	dir := t.TempDir()
	var request CreateTerminalRequest
	var script string
	editor := terminals(func(_ context.Context, raw json.RawMessage) (any, error) {
		if err := json.Unmarshal(raw, &request); err != nil {
			t.Error(err)
		}
		if n := len(request.Args); n == 3 {
			data, err := os.ReadFile(request.Args[2])
			info, statErr := os.Stat(request.Args[2])
			if err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the script: %v, %v", err, info)
			}
			script = string(data)
		}
		return object{"terminalId": "term"}, nil
	}, object{"exitCode": 0}, object{"output": ""})
	s := newEditorShell(editor.connect(t), "s", execShell(t))
	p, err := s.Start(t.Context(), tools.Command{Text: "echo 'two  words' # \\", Dir: dir, Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if p.TerminalID() != "term" || request.SessionID != "s" || request.Command != "bash" || request.Cwd != dir ||
		!slices.Equal(request.Args[:2], []string{"--noprofile", "--norc"}) || request.OutputByteLimit == nil || !plainWord(request.Args[2]) {
		t.Errorf("%+v", request)
	}
	if !strings.HasSuffix(script, ` -c 'echo '\''two  words'\'' # \' </dev/null`+"\n") || !strings.Contains(script, "export GIT_PAGER='cat'") {
		t.Errorf("script %q", script)
	}
	if !slices.ContainsFunc(request.Env, func(v EnvVariable) bool { return v.Name == "BASH_ENV" && v.Value == "" }) {
		t.Errorf("environment %+v", request.Env)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	p.Close()
	<-p.(*editorProcess).released
	if _, err := os.Stat(request.Args[2]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the script stays: %v", err)
	}
}

// A command whose time is over keeps its output, though the editor is slow: nobody
// waits at the keyboard.
func TestEditorShellTimeout(t *testing.T) {
	editor := terminals(object{"terminalId": "term"}, silent, object{"output": "so far\n"})
	editor.answers[MethodTerminalKill] = func(context.Context, json.RawMessage) (any, error) {
		<-time.After(3 * leaveTime)
		return object{}, nil
	}
	s := newEditorShell(editor.connect(t), "s", execShell(t))
	var out bytes.Buffer
	p, err := s.Start(t.Context(), tools.Command{Text: "sleep 100", Dir: t.TempDir(), Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || out.String() != "so far\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	p.Close()
}

func TestEditorShellCancel(t *testing.T) {
	stop := errors.New("the user said stop")
	tests := []struct {
		name        string
		kill        func(context.Context, json.RawMessage) (any, error)
		text, asked string
	}{
		{"in order", constant(object{}), "so far\n", "create wait_for_exit kill output release"},
		{"cannot kill", failing(jsonrpc.CodeInvalidParams, "misspelt"), "so far\n", "create wait_for_exit kill output release"},
		{"hangs", silent, "", "create wait_for_exit kill"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			waited := make(chan struct{})
			wait := func(ctx context.Context, raw json.RawMessage) (any, error) {
				defer close(waited) // by $/cancel_request
				return silent(ctx, raw)
			}
			editor := terminals(object{"terminalId": "term"}, wait, object{"output": "so far\n"})
			editor.answers[MethodTerminalKill] = tt.kill
			s := newEditorShell(editor.connect(t), "s", execShell(t))
			var out bytes.Buffer
			ctx, cancel := context.WithCancelCause(t.Context())
			p, err := s.Start(ctx, tools.Command{Text: "sleep 100", Dir: t.TempDir(), Output: &out})
			if err != nil {
				t.Fatal(err)
			}
			if tt.text != "" { // the output is what is tested here, and not how long it is waited for
				p.(*editorProcess).leave = time.Minute
			}
			go func() {
				editor.await(MethodTerminalWaitForExit)
				cancel(stop)
			}()
			_, err = p.Wait(ctx)
			<-waited
			begin := time.Now()
			p.Kill()
			p.Close()
			if !errors.Is(err, stop) || out.String() != tt.text {
				t.Errorf("got %q, %v", out.String(), err)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("closing took %v", took)
			}
			if got := editor.methods(); got != tt.asked {
				t.Errorf("asked %s, want %s", got, tt.asked)
			}
			if tt.name == "hangs" { // and is released all the same, when the time is over
				<-p.(*editorProcess).released
				if got := editor.methods(); !strings.HasSuffix(got, " release") || strings.Count(got, "release") != 1 {
					t.Errorf("asked %s", got)
				}
			}
		})
	}
}

// A terminal that is made after the user gave up is released.
func TestEditorShellLateTerminal(t *testing.T) {
	stop := errors.New("the user said stop")
	answer := make(chan struct{})
	var script string
	editor := terminals(func(_ context.Context, raw json.RawMessage) (any, error) {
		var request CreateTerminalRequest
		_ = json.Unmarshal(raw, &request)
		script = request.Args[2]
		<-answer
		return object{"terminalId": "term"}, nil
	}, nil, nil)
	s := newEditorShell(editor.connect(t), "s", execShell(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		editor.await(MethodTerminalCreate)
		cancel(stop)
	}()
	if _, err := s.Start(ctx, tools.Command{Text: "touch never", Dir: t.TempDir(), Output: io.Discard}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	close(answer)
	editor.await(MethodTerminalRelease)
	if _, err := os.Stat(script); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the script stays: %v", err)
	}
}

// Output that is read while the command runs comes once, whatever part of it the
// editor keeps.
func TestEditorShellFetch(t *testing.T) {
	var out bytes.Buffer
	answers := make(chan object, 1)
	editor := terminals(object{"terminalId": "term"}, silent, func(context.Context, json.RawMessage) (any, error) { return <-answers, nil })
	s := newEditorShell(editor.connect(t), "s", execShell(t))
	p, err := s.Start(t.Context(), tools.Command{Text: "serve", Dir: t.TempDir(), Output: &out, Linger: true})
	if err != nil {
		t.Fatal(err)
	}
	const cut = "[the editor kept only a part of the output, of about 1048576 bytes]\n"
	for _, tt := range []struct {
		output    any
		truncated bool
		want      string
	}{
		{"one\n", false, "one\n"},
		{"one\n", false, ""},
		{"one\ntwo\n", false, "two\n"},
		{"two\nthree\n", true, cut + "three\n"},
		{"ree\nfour\n", true, "four\n"},
		{"other\n", true, "other\n"},
		{nil, false, ""},
		{"other\nmore\n", true, "more\n"},
	} {
		answers <- object{"output": tt.output, "truncated": tt.truncated}
		p.(tools.Fetcher).Fetch(t.Context())
		if got := out.String(); got != tt.want {
			t.Errorf("output %q: got %q, want %q", tt.output, got, tt.want)
		}
		out.Reset()
	}
	p.Close()
	<-p.(*editorProcess).released
	p.(tools.Fetcher).Fetch(t.Context())
	if got := editor.methods(); !strings.HasSuffix(got, "output release") {
		t.Errorf("asked %s", got)
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 0}, {"", "a", 0}, {"abc", "abc", 3}, {"abc", "bcd", 2}, {"abc", "xabc", 0},
		{"aaa", "aa", 2}, {"aa", "aaa", 2}, {"xabab", "ababab", 4}, {"long before abc", "abcabd", 3}, {"aabaa", "aabaab", 5}, {"abacabab", "ababx", 4},
	} {
		if got := overlap(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q overlap by %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("abab", "baba")
	f.Fuzz(func(t *testing.T, a, b string) {
		want := min(len(a), len(b))
		for want > 0 && a[len(a)-want:] != b[:want] {
			want--
		}
		if got := overlap(a, b); got != want {
			t.Errorf("%q and %q overlap by %d, want %d", a, b, got, want)
		}
	})
}
