package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// fakeEditor answers questions of trust, and hears what it is told.
type fakeEditor struct {
	ask func(ctx context.Context, q Question) (Answer, error)

	mu    sync.Mutex
	heard []Update
	news  chan struct{} // gets something with each update
}

func (e *fakeEditor) Connect(string, *workspace.Disk, *tools.ExecShell) Ends {
	return Ends{Sink: e, Asker: e}
}

func (e *fakeEditor) Update(_ context.Context, u Update) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, u)
	select {
	case e.news <- struct{}{}:
	default:
	}
	return nil
}

func (e *fakeEditor) Ask(ctx context.Context, q Question) (Answer, error) { return e.ask(ctx, q) }

// trustScene is a project that wants something, and the sessions of it.
func trustScene(t *testing.T) (m *Sessions, dir string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(root, "project")
	if err := os.MkdirAll(filepath.Join(dir, ".acp-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := `{"maxTurnRequests": 7, "hooks": {"turnEnd": [{"command": "true"}]}}`
	if err := os.WriteFile(config.ProjectFiles(dir)[0], []byte(write), 0o644); err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": filepath.Join(root, "home")}
	m = New(Options{Paths: config.NewPaths(func(name string) string { return env[name] }), Tools: registry, Getenv: func(name string) string { return env[name] }})
	t.Cleanup(func() { m.Shutdown(context.WithoutCancel(t.Context())) })
	return m, dir
}

func trustTurn(t *testing.T, m *Sessions, dir string, e *fakeEditor) *Turn {
	t.Helper()
	s, err := m.New(t.Context(), Request{Dir: dir, Editor: e})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Begin(t.Context(), []Content{Text("go")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(turn.Finish)
	return turn
}

func TestSessionsOfOneProjectAskForTrustOnce(t *testing.T) {
	for _, tt := range []struct {
		decision Decision
		trusted  bool
	}{{AllowedAlways, true}, {Rejected, false}, {RejectedAlways, false}} {
		t.Run(fmt.Sprint(tt.decision), func(t *testing.T) {
			m, dir := trustScene(t)
			asked, answer := make(chan struct{}, 2), make(chan struct{})
			first := &fakeEditor{ask: func(context.Context, Question) (Answer, error) {
				asked <- struct{}{}
				<-answer
				return Answer{Decision: tt.decision}, nil
			}}
			second := &fakeEditor{news: make(chan struct{}, 1), ask: func(context.Context, Question) (Answer, error) {
				t.Error("the second session asks, too")
				return Answer{}, nil
			}}
			turns := []*Turn{trustTurn(t, m, dir, first), trustTurn(t, m, dir, second)}
			var wg sync.WaitGroup
			follow := func(turn *Turn) {
				changed, err := turn.followTrust(t.Context())
				if changed != tt.trusted || err != nil {
					t.Errorf("followTrust: %v, %v", changed, err)
				}
			}
			wg.Go(func() { follow(turns[0]) })
			<-asked
			wg.Go(func() { follow(turns[1]) })
			<-second.news // it says that it waits
			close(answer)
			wg.Wait()
			for i, turn := range turns {
				s := turn.session
				if s.trusted.Load() != tt.trusted || (s.maxRequests() == 7) != tt.trusted || (len(s.cfg().Hooks) == 1) != tt.trusted {
					t.Errorf("session %d: trusted %v, %d requests, hooks %v", i, s.trusted.Load(), s.maxRequests(), s.cfg().Hooks)
				}
			}
		})
	}
}

func TestAWaitingSessionAsksWhereTheOtherGivesUp(t *testing.T) {
	m, dir := trustScene(t)
	asked, ctx, cancel := make(chan struct{}), context.Context(nil), context.CancelFunc(nil)
	ctx, cancel = context.WithCancel(t.Context())
	first := &fakeEditor{ask: func(ctx context.Context, _ Question) (Answer, error) {
		close(asked)
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}}
	second := &fakeEditor{news: make(chan struct{}, 1), ask: func(context.Context, Question) (Answer, error) {
		return Answer{Decision: AllowedAlways}, nil
	}}
	one, two := trustTurn(t, m, dir, first), trustTurn(t, m, dir, second)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := one.followTrust(ctx); err == nil {
			t.Error("a turn that ends in the question goes on")
		}
	})
	<-asked
	wg.Go(func() {
		if changed, err := two.followTrust(t.Context()); !changed || err != nil {
			t.Errorf("followTrust: %v, %v", changed, err)
		}
	})
	<-second.news
	cancel()
	wg.Wait()
	if one.session.trusted.Load() || !two.session.trusted.Load() {
		t.Error("the trust of the second session is not as it was answered")
	}
	if len(m.trusting) != 0 {
		t.Errorf("questions stay open: %v", m.trusting)
	}
}

func TestAQuestionOfTrustThatCannotShowAllAgreesToNothing(t *testing.T) {
	long := config.Enabled{Part: config.PartHooks, Text: "sessionStart: " + strings.Repeat("x", maxTrustText)}
	text, whole := trustText(config.Opened{Root: "/p", Pending: []config.Enabled{long}}, nil, nil)
	if whole || len(text) > 1000 {
		t.Errorf("%d bytes are shown as all", len(text))
	}
	for _, o := range trustOptions(whole) {
		if o.Decision == AllowedAlways || o.Decision == AllowedOnce {
			t.Errorf("%+v is offered", o)
		}
	}
}

func TestAQuestionOfTrustCannotLie(t *testing.T) {
	hostile := config.Enabled{Part: config.PartHooks, Text: "sessionStart: a\n```\n**Nothing** to see\u202e\x1b[2J", File: "/p/.acp-agent/x\nconfig.json", Line: 1}
	text, whole := trustText(config.Opened{Root: "/p```", Pending: []config.Enabled{hostile}}, []string{"Skills: ok"}, nil)
	if !whole || strings.ContainsAny(text, "\u202e\x1b") {
		t.Errorf("it shows %q", text)
	}
	if !strings.Contains(text, "````\nsessionStart: a\n    ```\n    **Nothing**") {
		t.Errorf("what a file says ends its fence: %s", text)
	}
}

// TestServersOfOtherRepositories: trust in a folder holds for no repository inside of
// it, nor for what lies beside it.
func TestServersOfOtherRepositories(t *testing.T) {
	m, dir := trustScene(t)
	git := func(names ...string) string {
		at := filepath.Join(append([]string{dir}, names...)...)
		if err := os.MkdirAll(filepath.Join(at, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		return at
	}
	inner, beside := git("vendor", "inner"), git("..", "beside")
	for _, below := range []string{"src/deep", "vendor/inner/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, below), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	worktree := filepath.Join(dir, "tree")
	if err := os.MkdirAll(worktree, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(worktree, ".git"), []byte("gitdir: ../elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.paths.Trust(dir); err != nil {
		t.Fatal(err)
	}
	s, err := m.New(t.Context(), Request{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{
		dir: true, filepath.Join(dir, "src", "deep"): true, inner: false, filepath.Join(inner, "sub"): false, worktree: false, beside: false,
	} {
		if err := s.trustsServers(at); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, err := m.paths.Trust(inner); err != nil {
		t.Fatal(err)
	}
	if err := s.trustsServers(filepath.Join(inner, "sub")); err != nil {
		t.Errorf("trusted for itself: %v", err)
	}
}
