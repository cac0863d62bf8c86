package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// shellWorkspace is a workspace whose commands run as child processes, ended
// with the test.
func shellWorkspace(t testing.TB, environ ...string) *Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		t.Fatal(err)
	}
	shell := NewExecShell(ExecOptions{Environ: append(os.Environ(), environ...), Secrets: []string{"MY_LLM_KEY"}})
	if err := shell.Available(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		shell.CloseAll()
		roots.Close()
	})
	return &Workspace{Roots: roots, Shell: shell, Spool: &folderSpool{dir: t.TempDir()}, Seen: &Seen{}}
}

// folderSpool keeps output in files of a folder.
type folderSpool struct {
	dir string
	n   int
	err error
}

func (s *folderSpool) Create() (io.WriteCloser, string, error) {
	if s.err != nil {
		return nil, "", s.err
	}
	s.n++
	path := filepath.Join(s.dir, fmt.Sprint(s.n))
	f, err := os.Create(path)
	return f, path, err
}

func prepare(t testing.TB, ws *Workspace, in bashInput) *Action {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(input, &fields); err != nil {
		t.Fatal(err)
	}
	if in.TimeoutMS == 0 {
		delete(fields, "timeout_ms")
	}
	if input, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	a, err := Bash().Prepare(t.Context(), ws, input)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func silently(Output) {}

func TestBashRuns(t *testing.T) {
	ws := shellWorkspace(t, "PAGER=less", "EDITOR=vi", "VISUAL=vi", "OPENAI_API_KEY=secret-1", "MY_LLM_KEY=secret-2", "BASH_ENV=/dev/null")
	if err := os.Mkdir(filepath.Join(ws.Dir(), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		in    bashInput
		text  string
		shown string // in the fence
		exit  int
	}{
		{"output", bashInput{Command: "echo hi"}, "hi\n", "hi", 0},
		{"nothing", bashInput{Command: ":"}, "", "(no output)", 0},
		{"code", bashInput{Command: "echo out; echo err >&2; exit 3"}, "out\nerr\nexit code: 3", "out\nerr\nexit code: 3", 3},
		{"code alone", bashInput{Command: "exit 4"}, "exit code: 4", "exit code: 4", 4},
		{"no last line end", bashInput{Command: "printf x; exit 1"}, "x\nexit code: 1", "x\nexit code: 1", 1},
		{"signal", bashInput{Command: "kill -TERM $$"}, "ended by signal SIGTERM", "ended by signal SIGTERM", 143},
		{"in a folder", bashInput{Command: `pwd; echo "$PWD"`, CWD: "sub"}, ws.Dir() + "/sub\n" + ws.Dir() + "/sub\n", ws.Dir() + "/sub\n" + ws.Dir() + "/sub", 0},
		{"no UTF-8", bashInput{Command: `printf 'a\377b\n'`}, "a\uFFFDb\n", "a\uFFFDb", 0},
		{"colours", bashInput{Command: `printf '\033[31mred\033[0m\n'`}, "red\n", "red", 0},
		{"hidden in the card", bashInput{Command: `printf 'a\342\200\256b\n'`}, "a\u202eb\n", `a\u202eb`, 0},
		{"back-ticks", bashInput{Command: "echo '````'"}, "````\n", "````", 0},
		{"pagers", bashInput{Command: `echo "$PAGER $GIT_PAGER $EDITOR $VISUAL $GIT_EDITOR $TERM $GIT_TERMINAL_PROMPT"`},
			"cat cat true true true dumb 0\n", "cat cat true true true dumb 0", 0},
		{"no keys", bashInput{Command: `env | grep -c 'secret-\|BASH_ENV'`}, "0\nexit code: 1", "0\nexit code: 1", 1},
		{"empty input", bashInput{Command: "read x; echo $?"}, "1\n", "1", 0},
		{"bash it is", bashInput{Command: `[[ a == a ]] && echo ${BASH_VERSION:+yes}; shopt -q login_shell || echo no login`}, "yes\nno login\n", "yes\nno login", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := prepare(t, ws, tt.in).Run(t.Context(), silently)
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != tt.text || r.Shown != kinds.Fence("", tt.shown) {
				t.Errorf("text %q\nwant %q\nshown %q", r.Text, tt.text, r.Shown)
			}
			if r.Metadata["exit_code"] != tt.exit || r.Truncated || r.OutputPath != "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestBashPrepare(t *testing.T) {
	ws := shellWorkspace(t)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"sub", "deep/er"} {
		if err := os.MkdirAll(filepath.Join(ws.Dir(), dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws.Dir(), "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": outside, "down": "deep/er"} {
		if err := os.Symlink(target, filepath.Join(ws.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}

	folders := []struct{ cwd, dir, asked string }{
		{"", ws.Dir(), ""},
		{"sub", ws.Dir() + "/sub", ""},
		{"./sub/", ws.Dir() + "/sub", ""},
		{"down", ws.Dir() + "/down", ""},
		{"down/..", ws.Dir() + "/deep", ""}, // where the kernel leads, not the name
		{"out", ws.Dir() + "/out", ws.Dir() + "/out"},
		{outside, outside, outside},
		{"/nonexistent/x", "/nonexistent/x", "/nonexistent/x"},
	}
	for _, tt := range folders {
		a := prepare(t, ws, bashInput{Command: "ls", CWD: tt.cwd})
		if a.Facts.Command.Dir != tt.dir || a.Facts.Command.Text != "ls" || a.Facts.Tool != "bash" {
			t.Errorf("cwd %q: %+v", tt.cwd, a.Facts.Command)
		}
		switch {
		case tt.asked == "" && len(a.Paths) != 0:
			t.Errorf("cwd %q asks for %+v", tt.cwd, a.Paths)
		case tt.asked != "" && (len(a.Paths) != 1 || a.Paths[0].Path != tt.asked || a.Paths[0].Access != kinds.List):
			t.Errorf("cwd %q asks for %+v, not to list %s", tt.cwd, a.Paths, tt.asked)
		}
	}

	refused := []struct{ input, want string }{
		{`{}`, "command"},
		{`{"command": ""}`, "empty"},
		{`{"command": " \n\t"}`, "empty"},
		{`{"command": "a\u0000b"}`, "NUL"},
		{`{"command": "` + strings.Repeat("x", maxCommand+1) + `"}`, "write it to a file"},
		{`{"command": "ls", "timeout_ms": 600001}`, "timeout_ms"},
		{`{"command": "ls", "timeout_ms": 0}`, "timeout_ms"},
		{`{"command": "ls", "detached": true}`, "detached"},
		{`{"command": "ls", "cwd": "missing"}`, "does not exist"},
		{`{"command": "ls", "cwd": "file"}`, "not a folder"},
		{`{"command": "ls", "cwd": "a\u0000"}`, "NUL"},
	}
	for _, tt := range refused {
		if _, err := Bash().Prepare(t.Context(), ws, json.RawMessage(tt.input)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v, want an error with %q", tt.input, err, tt.want)
		}
	}
	if _, err := prepare(t, ws, bashInput{Command: "ls", CWD: "/nonexistent/x"}).Run(t.Context(), silently); err == nil || !strings.Contains(err.Error(), "/nonexistent/x") {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestBashCard(t *testing.T) {
	ws := shellWorkspace(t)
	if err := os.Mkdir(filepath.Join(ws.Dir(), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := prepare(t, ws, bashInput{Command: "make lint -j2", Description: "Check\nstyle `now` \u202e**really**", CWD: "sub"})
	want := "```sh\nmake lint -j2\n```\n\nIn the folder `sub`\n\nThe model's description: ``Check style `now` \\u202e**really**``"
	if a.Title != "make lint -j2" || a.Kind != kinds.KindExecute || a.Text != want {
		t.Errorf("title %q, text %q", a.Title, a.Text)
	}
	if a.ReadOnly || a.Concurrent || a.Harmless {
		t.Error("a command claims to be harmless")
	}
}

func TestBashTimeout(t *testing.T) {
	ws := shellWorkspace(t)
	// A limit that is too short for the first command fails the test of what it
	// wrote; a machine that slow has other troubles.
	a := prepare(t, ws, bashInput{Command: "echo begun; sleep 100; echo never", TimeoutMS: 2000})
	begin := time.Now()
	r, err := a.Run(t.Context(), silently)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if err == nil || !strings.Contains(err.Error(), "after 2s") || !strings.Contains(err.Error(), "raise timeout_ms") {
		t.Errorf("error %v", err)
	}
	if r.Text != "begun\n" || !strings.Contains(r.Shown, "begun") {
		t.Errorf("%+v", r)
	}
	if longest := (bashCall{limit: maxTimeout}).tookTooLong(); strings.Contains(longest.Error(), "raise") {
		t.Errorf("at the longest limit: %v", longest)
	}
}

func TestBashCancel(t *testing.T) {
	ws := shellWorkspace(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	a := prepare(t, ws, bashInput{Command: fmt.Sprintf("echo begun; sh -c 'sleep 100 & echo ready > /proc/%d/fd/%d; wait'", os.Getpid(), w.Fd())})
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to hear from the command")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended time.Time
	var result Result
	done := make(chan error)
	go func() {
		var err error
		result, err = a.Run(ctx, silently)
		ended = time.Now()
		done <- err
	}()
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if took := ended.Sub(begin); took > time.Second { // 50 ms, on a machine that is idle
		t.Errorf("cancelling took %v", took)
	}
	if result.Text != "begun\n" || !strings.Contains(result.Shown, "begun\n") {
		t.Errorf("%+v", result)
	}
}

func TestBashLongOutput(t *testing.T) {
	ws := shellWorkspace(t)
	spool := ws.Spool.(*folderSpool)
	whole := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	const lines = 100_000
	r, err := prepare(t, ws, bashInput{Command: fmt.Sprintf("seq -f 'line %%.0f' %d; exit 7", lines)}).Run(t.Context(), silently)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Truncated || len(r.Text) > bashOutput || len(r.Text) < bashOutput*9/10 {
		t.Errorf("%d bytes of text, truncated: %v", len(r.Text), r.Truncated)
	}
	if !strings.HasPrefix(r.Text, whole(1, 1000)) || !strings.HasSuffix(r.Text, whole(lines-1000, lines)+"exit code: 7") {
		t.Errorf("head or tail is missing")
	}
	if !strings.Contains(r.Text, "cut out here; all of it is in "+r.OutputPath) {
		t.Error("the text does not say what is missing")
	}
	if data, err := os.ReadFile(r.OutputPath); err != nil || string(data) != whole(1, lines) {
		t.Errorf("%s holds %d bytes, %v", r.OutputPath, len(data), err)
	}
	if len(r.Shown) > bashShown+500 || !strings.Contains(r.Shown, "line 1\n") || !strings.Contains(r.Shown, "line 100000\nexit code: 7") {
		t.Errorf("%d bytes are shown", len(r.Shown))
	}
	// The registry has nothing to cut any more.
	if fit := Fit(r, Bash().Spec(), ws.Spool); fit.Text != r.Text || fit.OutputPath != r.OutputPath || spool.n != 1 {
		t.Errorf("cut twice: %d files", spool.n)
	}

	spool.err = errors.New("the disk is full")
	r, err = prepare(t, ws, bashInput{Command: "seq 100000"}).Run(t.Context(), silently)
	if err != nil || !strings.Contains(r.Text, "could not be kept: the disk is full") || r.OutputPath != "" {
		t.Errorf("without a file: %v, path %q", err, r.OutputPath)
	}
}

// The limit itself loses nothing, one byte more does.
func TestCaptureAtItsLimits(t *testing.T) {
	for _, size := range []int{0, 1, bashHead - 1, bashHead, bashHead + 1, bashHead + bashTail, bashHead + bashTail + 1, 3 * bashOutput} {
		for _, piece := range []int{1000, 1 << 20} {
			in := strings.Repeat("ä123456789abcd\n", size/16+1)[:size]
			in = strings.ToValidUTF8(in, "?")
			c := newCapture(&folderSpool{dir: t.TempDir()})
			for rest := in; len(rest) > 0; {
				k := min(piece, len(rest))
				_, _ = c.Write([]byte(rest[:k]))
				rest = rest[k:]
			}
			c.Close()
			text, cut := c.Text()
			if want := len(in) > bashHead+bashTail; cut != want || !cut && text != in || len(text) > bashOutput {
				t.Errorf("%d bytes in pieces of %d: %d bytes of text, cut: %v", size, piece, len(text), cut)
			}
			if strings.Contains(text, "\uFFFD") {
				t.Errorf("%d bytes in pieces of %d: a character is cut", size, piece)
			}
			if cut {
				if data, err := os.ReadFile(c.Path()); err != nil || string(data) != in {
					t.Errorf("the file holds %d bytes of %d, %v", len(data), len(in), err)
				}
			}
		}
	}
}

// fakeShell is a shell whose command is a function.
type fakeShell struct {
	terminal string
	run      func(ctx context.Context, out io.Writer) (Exit, error)
	calls    []string
}

func (s *fakeShell) Start(_ context.Context, c Command) (Process, error) {
	s.calls = append(s.calls, "start")
	return &fakeProcess{s, c.Output}, nil
}

type fakeProcess struct {
	*fakeShell
	out io.Writer
}

func (p *fakeProcess) TerminalID() string                     { return p.terminal }
func (p *fakeProcess) Wait(ctx context.Context) (Exit, error) { return p.run(ctx, p.out) }
func (p *fakeProcess) Kill()                                  { p.calls = append(p.calls, "kill") }
func (p *fakeProcess) Close()                                 { p.calls = append(p.calls, "close") }

// shown collects live output.
type shown struct {
	mu  sync.Mutex
	all []Output
}

func (s *shown) show(o Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, o)
}

func TestBashShowsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := &fakeShell{run: func(_ context.Context, out io.Writer) (Exit, error) {
			for i := range 4 {
				fmt.Fprintf(out, "line%d", i)
				time.Sleep(700 * time.Millisecond) // synctest's time
				fmt.Fprintln(out)
			}
			for i := range 1000 {
				fmt.Fprintln(out, i, strings.Repeat("x", 100))
				time.Sleep(time.Millisecond)
			}
			return Exit{}, nil
		}}
		var live shown
		if _, err := follow(t.Context(), &fakeProcess{shell, newCapture(nil)}, liveOutput{capture: newCapture(nil)}, live.show); err != nil {
			t.Fatal(err)
		}
		if len(live.all) != 0 {
			t.Errorf("nothing came, but %d outputs were shown", len(live.all))
		}
		out := liveOutput{capture: newCapture(nil)}
		if _, err := follow(t.Context(), &fakeProcess{shell, out}, out, live.show); err != nil {
			t.Fatal(err)
		}
		if n := len(live.all); n < 8 || n > 11 {
			t.Errorf("%d outputs in 3.8 s, of which 1 s changes all the time", n)
		}
		if first := live.all[0].Text; first != kinds.Fence("", "line0") {
			t.Errorf("first %q", first)
		}
		for _, o := range live.all {
			if len(o.Text) > bashShown+20 {
				t.Errorf("%d bytes at once", len(o.Text))
			}
		}
	})
}

// What an editor's terminal is sent is what it would have got, but for what it
// must not get and what is too much.
func TestScreen(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		want   string
	}{
		{"text", []string{"a\nb", "c"}, "a\nbc"},
		{"progress", []string{"10%\r20%\b\b"}, "10%\r20%\b\b"},
		{"sequences", []string{"\x1b]52;c;aGk=\x07a\x1b[31mb\x1b[0", "mc\x07"}, "abc"},
		{"no UTF-8", []string{"a\xffb"}, "a\uFFFDb"},
		{"a character in two", []string{"a\xc3", "\xa4"}, "aä"},
		{"a character cut off", []string{"a\xc3"}, "a\uFFFD"},
	}
	for _, tt := range tests {
		s := newScreen()
		for _, p := range tt.pieces {
			s.Write([]byte(p))
		}
		var live shown
		s.end(Exit{Code: 2}, nil, live.show)
		if len(live.all) != 2 || live.all[0].Display != tt.want || live.all[1].Display != "" || *live.all[1].Exit != (Exit{Code: 2}) {
			t.Errorf("%s: %+v", tt.name, live.all)
		}
	}

	s := newScreen()
	for i := range 100_000 {
		s.Write(fmt.Appendf(nil, "line ä %d\n", i))
	}
	text := s.Take()
	if len(text) > screenHead+screenTail+100 || !strings.HasPrefix(text, "line ä 0\n") || !strings.HasSuffix(text, "\nline ä 99999\n") ||
		!strings.Contains(text, "bytes are not shown here]\nline ä 9") || strings.Contains(text, "\uFFFD") {
		t.Errorf("%d bytes: %.100q", len(text), text)
	}
	if text = s.Take(); text != "" {
		t.Errorf("again %q", text)
	}
	var live shown
	s.end(Exit{}, errTimeout, live.show)
	if len(live.all) != 1 || live.all[0].Exit.Signal != "SIGKILL" {
		t.Errorf("of a command that was ended: %+v", live.all)
	}
}

// A terminal that is only shown gets the output as it comes, and the end.
func TestBashDisplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := &fakeShell{run: func(_ context.Context, out io.Writer) (Exit, error) {
			for i := range 3 {
				fmt.Fprint(out, i)
				time.Sleep(time.Second) // synctest's time
			}
			return Exit{Code: 1}, nil
		}}
		ws := &Workspace{Shell: shell, Display: true}
		var live shown
		r, err := bashCall{dir: t.TempDir(), text: "count", limit: time.Minute}.run(t.Context(), ws, live.show)
		if err != nil || r.Text != "012\nexit code: 1" || r.Shown != fenced("012\nexit code: 1") {
			t.Errorf("%+v, %v", r, err)
		}
		if len(live.all) != 4 || live.all[0].Display != "0" || live.all[2].Display != "2" || live.all[3].Exit.Code != 1 {
			t.Errorf("shown %+v", live.all)
		}
	})
}

func TestBashTerminal(t *testing.T) {
	stop := errors.New("the user said stop")
	tests := []struct {
		name  string
		run   func(ctx context.Context, out io.Writer) (Exit, error)
		calls string
		text  string
		err   error
	}{
		{"ends", func(_ context.Context, out io.Writer) (Exit, error) {
			fmt.Fprintln(out, "hi")
			return Exit{Code: 2}, nil
		}, "start close", "hi\nexit code: 2", nil},
		{"is ended", func(_ context.Context, out io.Writer) (Exit, error) {
			fmt.Fprintln(out, "hi")
			return Exit{}, stop
		}, "start kill close", "hi\n", stop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws := shellWorkspace(t)
			shell := &fakeShell{terminal: "term-1", run: tt.run}
			ws.Shell = shell
			var live shown
			r, err := prepare(t, ws, bashInput{Command: "make"}).Run(t.Context(), live.show)
			if !errors.Is(err, tt.err) || r.Text != tt.text || r.Shown == "" || r.TerminalID != "term-1" {
				t.Errorf("%+v, %v", r, err)
			}
			if got := strings.Join(shell.calls, " "); got != tt.calls {
				t.Errorf("calls: %s; want %s", got, tt.calls)
			}
			if len(live.all) != 1 || live.all[0] != (Output{TerminalID: "term-1"}) {
				t.Errorf("shown: %+v", live.all)
			}
		})
	}
}

// A command whose time is over has ended when the model hears of it: the next one
// may need its port.
func TestBashTimeoutWaitsForTheEnd(t *testing.T) {
	ws := shellWorkspace(t)
	shell := &fakeShell{run: func(context.Context, io.Writer) (Exit, error) { return Exit{}, errTimeout }}
	ws.Shell = shell
	if _, err := prepare(t, ws, bashInput{Command: "serve"}).Run(t.Context(), silently); err == nil {
		t.Error("no error")
	}
	if got := strings.Join(shell.calls, " "); got != "start close" {
		t.Errorf("calls: %s", got)
	}
}

func TestBashFolderIsGone(t *testing.T) {
	ws := shellWorkspace(t)
	gone := filepath.Join(t.TempDir(), "gone")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{gone: "does not exist", file: "is not a folder"} {
		for _, background := range []bool{false, true} {
			ws.Jobs = NewJobs()
			_, err := prepare(t, ws, bashInput{Command: "pwd", CWD: dir, Background: background}).Run(t.Context(), silently)
			if err == nil || !strings.Contains(err.Error(), "cwd: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("in %s: %v, want %q", dir, err, want)
			}
			ws.Jobs.Close()
		}
	}
}

func TestNoBash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("bash is looked for elsewhere there")
	}
	if _, err := gitBash([]string{t.TempDir()}, []string{"ProgramFiles=" + t.TempDir()}); !errors.Is(err, ErrNoBash) {
		t.Errorf("got %v", err)
	}
	base := t.TempDir()
	for _, name := range []string{"cmd/git.exe", "bin/bash.exe"} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := gitBash([]string{filepath.Join(base, "cmd")}, nil); err != nil || got != filepath.Join(base, "bin", "bash.exe") {
		t.Errorf("beside git: %s, %v", got, err)
	}
	ws := shellWorkspace(t)
	ws.Shell = nil
	if _, err := prepare(t, ws, bashInput{Command: "ls"}).Run(t.Context(), silently); !errors.Is(err, ErrNoBash) {
		t.Errorf("got %v", err)
	}
}

// Pagers and editors of git do not wait for keys.
func TestBashGit(t *testing.T) {
	ws := shellWorkspace(t, "PAGER=less", "EDITOR=vi", "VISUAL=vi", "GIT_CONFIG_GLOBAL=/dev/null")
	setup := `command -v git >/dev/null || exit 99; git init -q . && git config user.name N && git config user.email n@x.example &&
for i in $(seq 60); do printf 'commit %s\ncommitter N <n@x.example> %d +0000\ndata <<.\ncommit number %d\n.\n' $(git symbolic-ref HEAD) $i $i; done | git fast-import --quiet || exit 98`
	r, err := prepare(t, ws, bashInput{Command: setup}).Run(t.Context(), silently)
	if err != nil || r.Metadata["exit_code"] == 99 {
		t.Skip("there is no git")
	}
	if code := r.Metadata["exit_code"]; code != 0 {
		t.Fatalf("status %v: %s", code, r.Text)
	}
	for command, want := range map[string]string{
		"git log":                     "commit number 1\n",
		"git commit --allow-empty":    "empty commit message",
		"git rebase -i HEAD~2":        "",
		"git --paginate log -1":       "commit number 60",
		"git config --get core.pager": "cat\n",
	} {
		r, err := prepare(t, ws, bashInput{Command: command, TimeoutMS: 30_000}).Run(t.Context(), silently)
		if err != nil || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %v, %.300q", command, err, r.Text)
		}
	}
}

// BenchmarkBash200MB reports the peak of the heap beside the time.
func BenchmarkBash200MB(b *testing.B) {
	ws := shellWorkspace(b)
	b.SetBytes(200_000_000)
	var peak uint64
	for b.Loop() {
		ctx, stop := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		wg.Go(func() { peak = max(peak, heapPeak(ctx)) })
		r, err := prepare(b, ws, bashInput{Command: "yes abcdefghij | head -c 200000000; echo END"}).Run(ctx, silently)
		stop()
		wg.Wait()
		if err != nil || !strings.HasSuffix(r.Text, "END\n") {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}

// heapPeak is the most memory that was had from the system until ctx ends.
func heapPeak(ctx context.Context) uint64 {
	var m runtime.MemStats
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		runtime.ReadMemStats(&m)
		select {
		case <-ctx.Done():
			return m.Sys - m.HeapReleased
		case <-ticker.C:
		}
	}
}

func BenchmarkBashEcho(b *testing.B) {
	ws, tool := shellWorkspace(b), Bash()
	for b.Loop() {
		a, err := tool.Prepare(b.Context(), ws, json.RawMessage(`{"command": "echo hi"}`))
		if err != nil {
			b.Fatal(err)
		}
		if r, err := a.Run(b.Context(), silently); err != nil || r.Text != "hi\n" {
			b.Fatal(err)
		}
	}
}
