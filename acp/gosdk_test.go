package acp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/acptest"
)

// sdkEditor is an editor written with a client library that we did not write.
// It has files and no terminals, and answers every permission request with the
// first option of a kind.
type sdkEditor struct {
	t      *testing.T
	choose sdk.PermissionOptionKind
	saw    chan struct{} // gets something when the agent has said the first word of a turn

	mu      sync.Mutex
	text    strings.Builder // what the agent said
	user    strings.Builder // what a replay says that the user said
	calls   map[sdk.ToolCallId]sdk.ToolCallStatus
	titles  []string
	asked   []sdk.RequestPermissionRequest
	touched []string // fs methods, with the file's name
}

var errNoTerminal = errors.New("this editor has no terminals")

func (e *sdkEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		e.text.WriteString(u.AgentMessageChunk.Content.Text.Text)
		select {
		case e.saw <- struct{}{}:
		default:
		}
	case u.UserMessageChunk != nil && u.UserMessageChunk.Content.Text != nil:
		e.user.WriteString(u.UserMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		e.calls[u.ToolCall.ToolCallId] = u.ToolCall.Status
		e.titles = append(e.titles, u.ToolCall.Title)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		e.calls[u.ToolCallUpdate.ToolCallId] = *u.ToolCallUpdate.Status
	}
	return nil
}

func (e *sdkEditor) RequestPermission(_ context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, r)
	for _, o := range r.Options {
		if o.Kind == e.choose {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func (e *sdkEditor) ReadTextFile(_ context.Context, r sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	e.touch("read " + filepath.Base(r.Path))
	text, err := os.ReadFile(r.Path)
	return sdk.ReadTextFileResponse{Content: string(text)}, err
}

func (e *sdkEditor) WriteTextFile(_ context.Context, r sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	e.touch("write " + filepath.Base(r.Path))
	return sdk.WriteTextFileResponse{}, os.WriteFile(r.Path, []byte(r.Content), 0o644)
}

func (e *sdkEditor) touch(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.touched = append(e.touched, what)
}

func (e *sdkEditor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, errNoTerminal
}

func (e *sdkEditor) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, errNoTerminal
}

func (e *sdkEditor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, errNoTerminal
}

func (e *sdkEditor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, errNoTerminal
}

func (e *sdkEditor) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, errNoTerminal
}

// startSDK connects an editor to an agent in this process, and introduces it.
func startSDK(t *testing.T, p *place) (*sdkEditor, *sdk.ClientSideConnection, func()) {
	t.Helper()
	schema, err := agentSchema()
	if err != nil {
		t.Fatal(err)
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	served := make(chan error, 1)
	sessions := p.sessions(t)
	go func() { // ends with the connection
		served <- acp.Serve(t.Context(), inRead, outWrite, acp.Options{Sessions: sessions, Version: "0.0.0-test",
			Observe: schema.Validator().Observe(acptest.Agent, func(err error) { t.Errorf("against the schema: %v", err) })})
		_ = outWrite.Close()
	}()
	e := &sdkEditor{t: t, choose: sdk.PermissionOptionKindAllowOnce, saw: make(chan struct{}, 1), calls: map[sdk.ToolCallId]sdk.ToolCallStatus{}}
	conn := sdk.NewClientSideConnection(e, inWrite, outRead)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	r, err := conn.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}},
		ClientInfo:         &sdk.Implementation{Name: "go-sdk", Version: "0.13.0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.ProtocolVersion != sdk.ProtocolVersionNumber || !r.AgentCapabilities.LoadSession || len(r.AuthMethods) == 0 {
		t.Errorf("initialize answers %+v", r)
	}
	return e, conn, func() {
		_ = inWrite.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		<-conn.Done()
	}
}

// TestGoSDK does a day's work from an editor made with the Go SDK.
func TestGoSDK(t *testing.T) {
	m := startMockModel(t, parseReplies(t, `
		[{"text":"Reading. "},{"tool":"read","args":{"path":"a.txt"}}]
		[{"tool":"edit","args":{"path":"a.txt","old_string":"one","new_string":"two"}}]
		[{"tool":"bash","args":{"command":"echo done > b.txt"}}]
		[{"text":"Finished."}]
		[{"text":"Thinking"},{"hang":true}]
		[{"text":"Back."}]
	`)...)
	p := newPlace(t)
	p.useModel(m)
	p.write(t, filepath.Join(p.Dir, "a.txt"), "one\n")
	e, conn, stop := startSDK(t, p)
	session, err := conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: p.Dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	if session.Modes == nil || len(session.ConfigOptions) == 0 {
		t.Errorf("session/new answers %+v", session)
	}
	ask := func(text string) sdk.StopReason {
		t.Helper()
		r, err := conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: session.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return r.StopReason
	}
	if got := ask("Work."); got != sdk.StopReasonEndTurn {
		t.Errorf("the turn ended as %s", got)
	}
	e.checkWork(p.Dir)

	<-e.saw // the words of the first turn
	ended := make(chan sdk.StopReason, 1)
	go func() { // ends with the turn
		r, err := conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: session.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("Think.")}})
		if err != nil {
			t.Errorf("the cancelled prompt: %v", err)
		}
		ended <- r.StopReason
	}()
	<-e.saw
	if err := conn.Cancel(t.Context(), sdk.CancelNotification{SessionId: session.SessionId}); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got != sdk.StopReasonCancelled {
		t.Errorf("the cancelled turn ended as %s", got)
	}
	if got := ask("Again."); got != sdk.StopReasonEndTurn {
		t.Errorf("the turn after it ended as %s", got)
	}
	if got := ask("/read b.txt"); got != sdk.StopReasonEndTurn {
		t.Errorf("the command ended as %s", got)
	}
	stop()

	e, conn, stop = startSDK(t, p)
	list, err := conn.ListSessions(t.Context(), sdk.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != session.SessionId {
		t.Errorf("session/list answers %+v, %v", list, err)
	}
	if _, err := conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: session.SessionId, Cwd: p.Dir, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	if e.user.String() != "Work.Think.Again./read b.txt" ||
		e.text.String() != "Reading. Finished.ThinkingBack.```\n     1\tdone\n```" || len(e.calls) != 4 {
		t.Errorf("the replay says %q and %q, with %d calls", e.user.String(), e.text.String(), len(e.calls))
	}
	e.mu.Unlock()
	stop()
}

// checkWork checks what the editor saw of the turn that reads, edits and runs.
func (e *sdkEditor) checkWork(dir string) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if got := e.text.String(); got != "Reading. Finished." {
		e.t.Errorf("the agent said %q", got)
	}
	if got := strings.Join(e.titles, "; "); got != "Read a.txt; Edit a.txt; echo done > b.txt" {
		e.t.Errorf("the calls are %s", got)
	}
	for id, status := range e.calls {
		if status != sdk.ToolCallStatusCompleted {
			e.t.Errorf("the call %s is %s", id, status)
		}
	}
	if len(e.asked) != 2 {
		e.t.Fatalf("asked %d times, want 2", len(e.asked))
	}
	if c := e.asked[0].ToolCall.Content; len(c) == 0 || c[0].Diff == nil || c[0].Diff.NewText != "two\n" {
		e.t.Errorf("the request for the edit shows %+v", c)
	}
	if got := strings.Join(e.touched, ", "); !strings.HasSuffix(got, "write a.txt") {
		e.t.Errorf("of files the editor was asked %s", got)
	}
	for name, want := range map[string]string{"a.txt": "two\n", "b.txt": "done\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			e.t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}
