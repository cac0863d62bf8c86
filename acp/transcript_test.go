package acp_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/acp-agent/acp-agent/acp"
)

// updating reports whether the tests write what they get as what is wanted. The
// flag is that of the golden files.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// TestTranscripts plays every transcript between an editor and the whole agent,
// with its real sessions and tools and a model that follows a script.
//
// A transcript is a text archive. Its comment names the behaviour or the bug;
// its sections are:
//
//	config.json    the user's configuration; else retries come at once
//	env            lines NAME=VALUE for the agent, over those that choose the scripted model
//	files/PATH     a file of the project, and home/PATH one of the home folder
//	base64/PATH    a file of the project that is no text, in base64
//	model          the model's replies, one a line (see mockPart)
//	model/WORD     the replies to a conversation that begins with the word, as a sub-agent's may
//	page/PATH      a page at http://$WEB/page/PATH; "-> URL" is a redirect
//	wire           what goes over the wire, below
//	requests       lines "N REGEXP": the N-th request to the model matches; "N !REGEXP": it does not
//	want/PATH      a file of the project as it must be in the end; absent: paths that must not exist
//	needs          programs that must be in PATH
//	whole          (empty) capabilities, modes and configOptions are not left out of answers
//
// Lines of the wire:
//
//	> LINE         the editor sends the line; then everything is read up to the
//	               answer, or up to a request of the agent. After an answer or a
//	               notification of the editor, reading goes on until all that it
//	               asked for is answered
//	>> LINE        the editor sends the line, and nothing is read yet
//	? REGEXP       below a line sent, or another thing done: read up to a line that matches, instead
//	< LINE         what the agent must send, in this order and nothing else
//	! login PROVIDER KEY   a key is stored, as the subcommand does
//	! write PATH TEXT      a file is written behind the agent's back (TEXT is a Go string)
//	! model N              waits until the model has the N-th request
//	! open NAME            the gate of that name opens, at which a reply of the model waits
//	! trust                the project is trusted, as the subcommand does
//	end            the editor closes its end; all that is still sent is read
//	restart        end, and then a new connection to a new process on the same folders
//
// In all of it $CWD, $HOME, $SESSION, $CALL1, $MSG1 and the like stand for what
// differs from run to run. Two kinds of update are not in a transcript, since
// their time is not certain: the announcement of the commands, and the live
// output of a command.
func TestTranscripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the transcripts hold paths and commands of Unix systems")
	}
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "transcripts", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			playTranscript(t, path)
		})
	}
}

// transcript is one that is being played.
type transcript struct {
	t       *testing.T
	place   *place
	model   *mockModel
	normal  *normal
	peer    *peer
	pending map[string]bool // ids of the editor's requests that are open
}

func playTranscript(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr := setTranscript(t, archive)
	wire := sectionOf(archive, "wire")
	if wire == nil {
		t.Fatal("there is no section wire")
	}
	steps, rest := parseWire(t, string(wire.Data))
	tr.peer = tr.place.start(t)
	// Where a test stops early, the agent ends all the same.
	defer func() { _ = tr.peer.in.Close(); tr.peer.cancel() }()
	for i := range steps {
		tr.play(&steps[i])
	}
	if tr.peer != nil && !ended(steps) {
		last := step{verb: "end"}
		tr.play(&last)
		if updating() && len(last.got) > 0 {
			last.text = []string{"end"}
			steps = append(steps, last)
		}
	}
	if updating() && !t.Failed() {
		wire.Data = formatWire(steps, rest)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr.judge(archive)
}

func ended(steps []step) bool { return len(steps) > 0 && steps[len(steps)-1].verb == "end" }

func sectionOf(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

// setTranscript lays out the folders, the model and the environment.
func setTranscript(t *testing.T, archive *txtar.Archive) *transcript {
	p := newPlace(t)
	script := ""
	if s := sectionOf(archive, "model"); s != nil {
		script = string(s.Data)
	}
	m := startMockModel(t)
	n := newNormal("$CWD", p.Dir, "$DATA", p.Paths.Data, "$HOME", p.Env["HOME"], "$ROOT", p.Root, "$MODEL", m.URL(),
		"$WEB", strings.TrimPrefix(m.server.URL, "http://"))
	m.replies, m.others = parseReplies(t, n.expand(script)), map[string][][]mockPart{}
	p.useModel(m)
	config := `{"retry": {"baseDelayMs": 1, "maxDelayMs": 1}}`
	for _, f := range archive.Files {
		folder, path, _ := strings.Cut(f.Name, "/")
		switch folder {
		case "config.json":
			config = n.expand(string(f.Data))
		case "env":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				p.Env[name] = n.expand(value)
			}
		case "files":
			p.write(t, filepath.Join(p.Dir, filepath.FromSlash(path)), string(f.Data))
		case "base64":
			data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(f.Data), "\n", ""))
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			p.write(t, filepath.Join(p.Dir, filepath.FromSlash(path)), string(data))
		case "home":
			p.write(t, filepath.Join(p.Env["HOME"], filepath.FromSlash(path)), string(f.Data))
		case "whole":
			n.whole = true
		case "model":
			if path != "" {
				m.others[path] = parseReplies(t, n.expand(string(f.Data)))
			}
		case "page":
			m.pages[path] = n.expand(string(f.Data))
		case "needs":
			needPrograms(t, strings.Fields(string(f.Data)))
		case "wire", "requests", "want", "absent":
		default:
			t.Fatalf("an unknown section %s", f.Name)
		}
	}
	p.write(t, p.Paths.UserFile(), config)
	return &transcript{t: t, place: p, model: m, normal: n, pending: map[string]bool{}}
}

// needPrograms skips a transcript of programs that are not installed, which CI does
// not allow.
func needPrograms(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not in PATH, and CI skips nothing", name)
			}
			t.Skipf("%s is not in PATH", name)
		}
	}
}

// step is a line sent, or another thing done, and what the agent sends then.
type step struct {
	text   []string // as it stands in the transcript: comments, the line, and how far to read
	number int      // of the line
	verb   string
	arg    string
	until  *regexp.Regexp
	want   []string
	got    []string
}

// parseWire cuts the section into steps; rest is what comes behind the last.
func parseWire(t *testing.T, wire string) (steps []step, rest []string) {
	number := 0
	for line := range strings.Lines(wire) {
		number++
		line = strings.TrimSuffix(line, "\n")
		verb, arg, _ := strings.Cut(line, " ")
		switch verb {
		case "<", "?":
			if len(steps) == 0 || len(rest) > 0 {
				t.Fatalf("wire:%d: nothing was sent before %s", number, line)
			}
			last := &steps[len(steps)-1]
			if verb == "<" {
				last.want = append(last.want, arg)
				continue
			}
			last.text = append(last.text, line)
			last.until = regexp.MustCompile(arg)
		case ">", ">>", "!", "end", "restart":
			steps = append(steps, step{text: append(rest, line), number: number, verb: verb, arg: arg})
			rest = nil
		default:
			if line != "" && line[0] != '#' {
				t.Fatalf("wire:%d: a line of no kind: %s", number, line)
			}
			rest = append(rest, line)
		}
	}
	return steps, rest
}

// formatWire is the section with what was received.
func formatWire(steps []step, rest []string) []byte {
	var b strings.Builder
	for _, s := range steps {
		for _, line := range s.text {
			b.WriteString(line + "\n")
		}
		for _, line := range s.got {
			b.WriteString("< " + line + "\n")
		}
	}
	for _, line := range rest {
		b.WriteString(line + "\n")
	}
	return []byte(b.String())
}

// play does a step and reads what comes of it.
func (tr *transcript) play(s *step) {
	tr.t.Helper()
	switch s.verb {
	case ">", ">>":
		line := tr.normal.expand(s.arg)
		f, valid := messageOf(line)
		if valid && f.isRequest() {
			tr.pending[string(f.ID)] = true
		}
		tr.peer.send(line)
		if s.verb == ">" || s.until != nil {
			tr.read(s, f, valid)
		}
	case "!":
		tr.act(s.arg)
		if s.until != nil {
			tr.read(s, frame{}, false)
		}
	case "end", "restart":
		for _, line := range tr.peer.end() {
			tr.take(s, line)
		}
		if s.verb == "restart" {
			clear(tr.pending)
			tr.peer = tr.place.start(tr.t)
		}
	}
	if !updating() && len(s.got) < len(s.want) {
		tr.t.Fatalf("wire:%d: after\n  %s\nthis did not come:\n  < %s", s.number, s.arg, s.want[len(s.got)])
	}
}

// messageOf reads a line of the editor's; valid is false where it is none that
// the agent could understand.
func messageOf(line string) (f frame, valid bool) {
	var head struct {
		Version string `json:"jsonrpc"`
	}
	if json.Unmarshal([]byte(line), &f) != nil || json.Unmarshal([]byte(line), &head) != nil {
		return frame{}, false
	}
	return f, head.Version == "2.0" && (f.Method != "" || f.isAnswer())
}

// read takes lines of the agent up to where the step ends.
func (tr *transcript) read(s *step, sent frame, valid bool) {
	tr.t.Helper()
	for {
		if s.until == nil && valid && !sent.isRequest() && len(tr.pending) == 0 {
			return // nothing is asked for any more
		}
		line := tr.peer.next()
		if line == nil {
			tr.t.Fatalf("wire:%d: the agent's output ended", s.number)
		}
		text, taken := tr.take(s, line)
		if !taken {
			continue
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			tr.t.Fatal(err)
		}
		switch {
		case s.until != nil:
			if s.until.MatchString(text) {
				return
			}
		case f.isRequest():
			return
		case !f.isAnswer():
		case !valid: // it is the error
			return
		case sent.isRequest() && string(f.ID) == string(sent.ID):
			return
		}
	}
}

// take compares a line with what is expected next. Lines that have no certain
// time are passed over.
func (tr *transcript) take(s *step, line []byte) (text string, taken bool) {
	tr.t.Helper()
	if isUncertain(line) {
		return "", false
	}
	var f frame
	if json.Unmarshal(line, &f) == nil && f.isAnswer() {
		delete(tr.pending, string(f.ID))
	}
	text = tr.normal.line(line)
	s.got = append(s.got, text)
	if i := len(s.got) - 1; !updating() && (i >= len(s.want) || s.want[i] != text) {
		want := "nothing more"
		if i < len(s.want) {
			want = s.want[i]
		}
		tr.t.Fatalf("wire:%d: after\n  %s\ncame\n  < %s\nwant\n  < %s", s.number, s.arg, text, want)
	}
	return text, true
}

// isUncertain reports whether a line comes at a time that is not certain.
func isUncertain(line []byte) bool {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Update struct {
				update
				Content []struct {
					Type string `json:"type"`
				} `json:"content"`
			} `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Method != acp.MethodSessionUpdate {
		return false // also of a chunk, whose content is no list
	}
	u := m.Params.Update
	live := u.Kind == "tool_call_update" && u.Status == "in_progress" && len(u.Content) > 0 && u.Content[len(u.Content)-1].Type == "content"
	return u.Kind == "available_commands_update" || live || u.Meta.Output.ID != ""
}

// act does what happens beside the wire.
func (tr *transcript) act(what string) {
	tr.t.Helper()
	verb, rest, _ := strings.Cut(what, " ")
	name, value, _ := strings.Cut(rest, " ")
	var err error
	switch verb {
	case "login":
		err = tr.place.Paths.Login(name, value)
	case "model":
		var n int
		if n, err = strconv.Atoi(name); err == nil {
			tr.model.wait(n)
		}
	case "open":
		close(tr.model.gate(name))
	case "trust":
		_, err = tr.place.Paths.Trust(tr.place.Dir)
	case "write":
		if value, err = strconv.Unquote(value); err == nil {
			tr.place.write(tr.t, filepath.Join(tr.place.Dir, name), value)
		}
	default:
		err = fmt.Errorf("nothing known")
	}
	if err != nil {
		tr.t.Fatalf("! %s: %v", what, err)
	}
}

// judge checks what must hold in the end.
func (tr *transcript) judge(archive *txtar.Archive) {
	if left := tr.model.Left(); left > 0 {
		tr.t.Errorf("%d replies of the model were not asked for", left)
	}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "want/"); ok {
			got, err := os.ReadFile(filepath.Join(tr.place.Dir, filepath.FromSlash(path)))
			if err != nil || string(got) != string(f.Data) {
				tr.t.Errorf("%s is %q (%v), want %q", path, got, err, f.Data)
			}
		}
		switch f.Name {
		case "absent":
			for path := range strings.FieldsSeq(string(f.Data)) {
				if _, err := os.Lstat(filepath.Join(tr.place.Dir, path)); err == nil {
					tr.t.Errorf("%s exists", path)
				}
			}
		case "requests":
			tr.judgeRequests(string(f.Data))
		}
	}
}

// judgeRequests checks what the model was told.
func (tr *transcript) judgeRequests(rules string) {
	requests := tr.model.Requests()
	for rule := range strings.Lines(rules) {
		if rule = strings.TrimSpace(rule); rule == "" {
			continue
		}
		number, pattern, _ := strings.Cut(rule, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			tr.t.Fatalf("requests: %s: %v", rule, err)
		}
		pattern, not := strings.CutPrefix(pattern, "!")
		if n < 1 || n > len(requests) {
			tr.t.Errorf("requests: there is no request %d", n)
			continue
		}
		body := tr.normal.line([]byte(requests[n-1]))
		if regexp.MustCompile(pattern).MatchString(body) == not {
			tr.t.Errorf("requests: %s: request %d is %s", rule, n, withoutTools(body))
		}
	}
}
