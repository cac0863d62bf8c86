package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hangs is how long the program may take to end, and what it leaves, before it
// counts as hanging. That it ends within a second is for a quiet machine to show.
const hangs = 10 * time.Second

// patience is how long a scene may take to get as far as it is to be ended.
const patience = 30 * time.Second

// endCase is something that the agent is doing when the editor is gone.
type endCase struct {
	name   string
	config string   // members of the configuration
	env    []string // beside the usual
	caps   string   // the editor's capabilities
	files  func(*testing.T, *scene)
	model  []reply      // what the model answers, in order
	mode   string       // of the session; empty: the default one
	prompt bool         // one is sent
	until  func(*scene) // returns when the agent is in the midst of it
	signal bool         // it is ended by SIGTERM as well
	kill   bool         // it is killed as well
	unread bool         // the editor reads no more
}

// deaf is a command that tells that it runs and does not end by itself, nor with
// its session, its group or SIGTERM.
const deaf = `trap "" TERM HUP INT; setsid sh -c "trap \"\" TERM HUP INT; sleep 1000; sleep 1000" & (env -i setsid sleep 1000 &); echo up >ready; sleep 1000; sleep 1000`

var endCases = []endCase{
	{name: "nothing", until: func(*scene) {}, signal: true},
	{name: "a finished turn", prompt: true, model: []reply{says("done")}, until: line(`"stopReason"`), signal: true},
	{name: "a model without an answer", prompt: true, model: []reply{silent}, until: asked(1), signal: true},
	{name: "a model that falls silent", prompt: true, model: []reply{fallsSilent}, until: line("so far")},
	{name: "a permission nobody gives", prompt: true, model: []reply{calls("write", `{"path":"a","content":"b"}`)}, until: line("session/request_permission"), signal: true},
	{name: "a question in a form", prompt: true, caps: `{"elicitation":{"form":{}}}`,
		model: []reply{calls("question", `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`)}, until: line("elicitation/create")},
	{name: "a question as options", prompt: true,
		model: []reply{calls("question", `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`)}, until: line("session/request_permission")},
	{name: "a file that the editor does not give", prompt: true, caps: `{"fs":{"readTextFile":true,"writeTextFile":true}}`,
		files: func(t *testing.T, s *scene) { s.write(t, "a", "text") }, model: []reply{calls("read", `{"path":"a"}`)}, until: line("fs/read_text_file")},
	{name: "a terminal that the editor does not make", prompt: true, mode: "bypassPermissions", caps: `{"terminal":true}`,
		model: []reply{calls("bash", `{"command":"true"}`)}, until: line("terminal/create")},
	{name: "a deaf command", prompt: true, mode: "bypassPermissions", model: []reply{calls("bash", command(deaf))}, until: ready, signal: true},
	{name: "a deaf command in the background", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("bash", `{"background":true,`+command(deaf)[1:]), says("done")}, until: line(`"stopReason"`)},
	{name: "a stopped command", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("bash", command(`echo up >ready; kill -STOP $$`))}, until: ready},
	{name: "a command that floods", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("bash", command(`echo up >ready; yes`))}, until: ready},
	{name: "a search of much", prompt: true, files: much, model: []reply{calls("grep", `{"pattern":"(?i)no(th|w)ing.*here$","output_mode":"count"}`)}, until: line(`"in_progress"`)},
	{name: "a silent server", prompt: true, mode: "bypassPermissions", config: `"web":{"allowPrivate":true}`, files: silentServer,
		model: []reply{calls("web_fetch", `{"url":"http://SILENT/"}`)}, until: (*scene).called},
	{name: "a PDF file that loops", prompt: true, files: loopingPDF, model: []reply{calls("read", `{"path":"loop.pdf"}`)}, until: line(`"in_progress"`)},
	{name: "a sub-agent without an answer", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("task", `{"subagent_type":"general","prompt":"x"}`), silent}, until: asked(2)},
	{name: "a sub-agent with a deaf command", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("task", `{"subagent_type":"general","prompt":"x"}`), calls("bash", command(deaf))}, until: ready},
	{name: "a sub-agent in the background", prompt: true, mode: "bypassPermissions",
		model: []reply{calls("task", `{"subagent_type":"general","prompt":"x","background":true}`), silent, silent}, until: asked(3)},
	{name: "a hook before the prompt", prompt: true, config: hook("userPromptSubmit"), until: ready, signal: true},
	{name: "a hook before a call", prompt: true, config: hook("preToolUse"), model: []reply{calls("glob", `{"pattern":"*"}`)}, until: ready},
	{name: "a hook after a call", prompt: true, config: hook("postToolUse"), model: []reply{calls("glob", `{"pattern":"*"}`)}, until: ready},
	{name: "a hook at the turn's end", prompt: true, config: hook("turnEnd"), model: []reply{says("done")}, until: ready},
	{name: "a hook that notifies", prompt: true, config: hook("notification"), model: []reply{calls("write", `{"path":"a","content":"b"}`)}, until: ready},
	{name: "a hook at the session's end", prompt: true, config: hook("sessionEnd"), model: []reply{says("done")}, until: line(`"stopReason"`), signal: true},
	{name: "a login shell that hangs", prompt: true, mode: "bypassPermissions", env: []string{"PATH=/usr/bin:/bin", "SHELL=HOME/shell"}, files: hangingShell,
		model: []reply{calls("bash", `{"command":"true"}`)}, until: ready},
	{name: "deaf language servers", prompt: true, kill: true, signal: true, config: languageServers(deaf), files: marked,
		model: []reply{says("done")}, until: ready},
	{name: "gopls", prompt: true, kill: true, config: `"trust":"always"`, files: goModule,
		model: []reply{calls("lsp", `{"operation":"definition","path":"a.go","symbol":"A"}`), says("done")}, until: line(`"stopReason"`)},
	{name: "an editor that does not read", prompt: true, model: []reply{says(strings.Repeat("words ", 1<<20))}, until: asked(1), unread: true},
}

// Whatever the agent is doing, it ends when its input does, or when it is told by
// a signal, and leaves nothing behind (spec/protocol.md, "The wire").
func TestEnds(t *testing.T) {
	for _, c := range endCases {
		ways := map[string]func(*scene){"input": func(s *scene) { s.stdin.Close() }}
		if c.signal {
			ways["signal"] = func(s *scene) { _ = s.Process.Signal(syscall.SIGTERM) }
		}
		if c.kill {
			ways["kill"] = (*scene).killAgent
		}
		for way, end := range ways {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, c)
				s.play(t, c)
				s.killed = way == "kill"
				end(s)
				s.awaitEnd(t, c.unread)
			})
		}
	}
}

// scene is a run of the program, with all that it deals with.
type scene struct {
	*agent
	t        *testing.T
	home     string
	dir      string
	requests chan struct{} // one for each that the model got
	silent   net.Listener
	overrun  *time.Timer // ends a scene that gets nowhere
	killed   bool        // the agent was, so that its status says nothing
}

// killAgent kills the agent, a child of the reaper's, and nothing else.
func (s *scene) killAgent() {
	for _, pid := range childrenOf(s.Process.Pid) {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); filepath.Base(exe) != "acp-agent" {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			s.t.Error(err)
		}
		return
	}
	s.t.Error("there is no agent to kill")
}

func newScene(t *testing.T, c endCase) *scene {
	s := &scene{t: t, home: t.TempDir(), dir: t.TempDir(), requests: make(chan struct{}, 100)}
	if err := syscall.Mkfifo(filepath.Join(s.dir, "ready"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.files != nil {
		c.files(t, s)
	}
	var mu sync.Mutex // of replies: agents and their sub-agents ask at once
	replies := c.model
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" { // the list of models
			http.NotFound(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answer := silent
		mu.Lock()
		if len(replies) > 0 {
			answer, replies = replies[0], replies[1:]
		}
		mu.Unlock()
		s.requests <- struct{}{}
		answer(s, w, r)
	}))
	t.Cleanup(func() {
		model.CloseClientConnections()
		model.Close()
	})
	config := filepath.Join(s.home, ".config", "acp-agent", "config.json")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("{"+c.config+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"ACP_AGENT_MODEL=openai-compatible/mock", "OPENAI_BASE_URL=" + model.URL + "/v1", "OPENAI_API_KEY=k", "ACP_AGENT_KEYRING=off", "XDG_CONFIG_HOME=", "SHELL="}
	for _, e := range c.env {
		env = append(env, strings.ReplaceAll(e, "HOME", s.home))
	}
	s.agent = launch(t, "reaper", s.home, env...)
	s.overrun = time.AfterFunc(patience, func() { _ = s.Process.Signal(syscall.SIGQUIT) })
	t.Cleanup(func() {
		s.overrun.Stop()
		_ = s.Process.Kill() // where the test has failed
	})
	return s
}

// play brings the agent into the state.
func (s *scene) play(t *testing.T, c endCase) {
	caps := c.caps
	if caps == "" {
		caps = "{}"
	}
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":`+caps+`,"clientInfo":{"name":"test","version":"1"}}}`)
	s.send(t, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":`+quoted(s.dir)+`,"mcpServers":[]}}`)
	id := s.session()
	if c.mode != "" {
		s.send(t, `{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":`+quoted(id)+`,"modeId":`+quoted(c.mode)+`}}`)
	}
	if c.prompt {
		s.send(t, `{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":`+quoted(id)+`,"prompt":[{"type":"text","text":"go"}]}}`)
	}
	c.until(s)
}

// awaitEnd waits for the end of the program and of all that it left.
func (s *scene) awaitEnd(t *testing.T, unread bool) {
	s.overrun.Reset(2 * hangs) // the reaper's own comes first
	for !unread && s.lines.Scan() {
	}
	err := s.Wait()
	if s.killed && s.ProcessState.ExitCode() != statusLeft {
		err = nil
	}
	if err != nil || s.errs.Len() > 0 {
		t.Errorf("%v, stderr:\n%s", err, s.errs.String())
	}
}

func (s *scene) send(t *testing.T, message string) {
	if _, err := io.WriteString(s.stdin, message+"\n"); err != nil {
		t.Fatalf("%v, stderr: %s", err, s.errs.String())
	}
}

// session reads the new session's id.
func (s *scene) session() string {
	s.await(`"sessionId"`)
	var answer struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal(s.lines.Bytes(), &answer); err != nil || answer.Result.SessionID == "" {
		s.t.Fatalf("%v: %s", err, s.lines.Text())
	}
	return answer.Result.SessionID
}

// await reads up to a line that holds the text.
func (s *scene) await(text string) {
	for s.lines.Scan() {
		if strings.Contains(s.lines.Text(), text) {
			return
		}
	}
	_ = s.Wait()
	s.t.Fatalf("no line with %s; stderr: %s", text, s.errs.String())
}

func (s *scene) write(t *testing.T, name, text string) {
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// line waits for a line of the agent's that holds the text.
func line(text string) func(*scene) { return func(s *scene) { s.await(text) } }

// asked waits until the model has been asked so often.
func asked(times int) func(*scene) {
	return func(s *scene) {
		for range times {
			select {
			case <-s.requests:
			case <-time.After(patience):
				s.t.Fatal("the model is not asked")
			}
		}
	}
}

// ready waits for what runs to write into the FIFO of that name.
func ready(s *scene) {
	f, err := os.OpenFile(filepath.Join(s.dir, "ready"), os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 10)); err != nil {
		s.t.Fatal(err)
	}
}

// called waits for somebody to call the silent server.
func (s *scene) called() {
	conn, err := s.silent.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// reply is one answer of the model.
type reply func(s *scene, w http.ResponseWriter, r *http.Request)

func says(text string) reply {
	return func(_ *scene, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", quoted(text))
	}
}

func calls(tool, args string) reply {
	return func(s *scene, w http.ResponseWriter, _ *http.Request) {
		args := args
		if s.silent != nil {
			args = strings.ReplaceAll(args, "SILENT", s.silent.Addr().String())
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":%s}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
			quoted(tool), quoted(args))
	}
}

func silent(_ *scene, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func fallsSilent(_ *scene, w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"},\"finish_reason\":null}]}\n\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func command(text string) string { return `{"command":` + quoted(text) + `}` }

// hook is the configuration of a deaf hook.
func hook(event string) string {
	return `"hooks":{` + quoted(event) + `:[{"command":` + quoted(deaf) + `,"timeoutMs":600000}]}`
}

// languageServers is the configuration of a server that does not speak, and of no other.
func languageServers(command string) string {
	return `"trust":"always","lsp":{"servers":{"fake":{"command":["/bin/bash","-c",` + quoted(command) + `],"extensions":[".fake"],"rootMarkers":["fake.root"]}}}`
}

// marked is a root of the server above.
func marked(t *testing.T, s *scene) { s.write(t, "fake.root", "") }

func goModule(t *testing.T, s *scene) {
	if _, err := exec.LookPath("gopls"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("gopls is not installed, and CI skips nothing")
		}
		t.Skip("gopls is not installed")
	}
	s.write(t, "go.mod", "module a\n\ngo 1.24\n")
	s.write(t, "a.go", "package a\n\nfunc A() {}\n\nfunc b() { A() }\n")
}

// much is more text than can be searched at once: one file under many names.
func much(t *testing.T, s *scene) {
	s.write(t, "0", strings.Repeat("nothing of the sort, now or ever\n", 1<<18))
	for i := 1; i < 400; i++ {
		if err := os.Link(filepath.Join(s.dir, "0"), filepath.Join(s.dir, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
}

func silentServer(t *testing.T, s *scene) {
	var err error
	if s.silent, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.silent.Close() })
}

// loopingPDF is a file whose table of objects says that it goes on at itself.
func loopingPDF(t *testing.T, s *scene) {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\n")
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R/Size 1/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, at)
	s.write(t, "loop.pdf", b.String())
}

// hangingShell is a login shell whose start-up starts something and hangs.
func hangingShell(t *testing.T, s *scene) {
	text := "#!/bin/sh\ncd " + s.dir + "\n" + deaf + "\n"
	if err := os.WriteFile(filepath.Join(s.home, "shell"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
