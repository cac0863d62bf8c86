package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// once reports whether the fake is to misbehave in that way now: always, or, where
// the word has the prefix "once-", in the first process of the project.
func (f *fake) once(word string) bool {
	if f.does(word) {
		return true
	}
	if !f.does("once-" + word) {
		return false
	}
	marker, err := os.OpenFile(".once-"+word, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	_ = marker.Close()
	return true
}

// die is kill -9.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// pipes are what the fake reads and writes, with what is wrong with them.
func (f *fake) pipes() (in io.Reader, out io.Writer) {
	in, out = os.Stdin, os.Stdout
	if f.does("bytes") {
		out = writer(func(p []byte) error {
			for i := range p {
				if _, err := os.Stdout.Write(p[i : i+1]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	tooLong := ""
	if f.does("too-long") { // else it would cost every other fake its second
		tooLong = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", maxMessage+1, strings.Repeat(" ", maxMessage+1))
	}
	for word, text := range map[string]string{
		"junk":      "loading...\r\n\r\nContent-Type: nothing\r\n",
		"no-end":    "a line without its end: ",
		"lengths":   "Content-Length: -7\r\n\r\nContent-Length: 99999999999999\r\n\r\nContent-Length: many\r\n\r\n",
		"no-json":   "Content-Length: 9\r\n\r\n{\"id\":1,}",
		"long-line": strings.Repeat("x", 1<<20) + "\n",
		"strays":    message(`{"id":99999,"result":{}}`) + message(`{"id":"x","error":{"code":0,"message":""}}`) + message(`{"id":null,"result":1}`) + message(`7`) + message(`[]`) + message(`{}`),
		"too-long":  tooLong,
	} {
		if f.does(word) {
			to := out
			out = writer(func(p []byte) error {
				if _, err := io.WriteString(to, text); err != nil {
					return err
				}
				if len(text) > maxMessage {
					text = "" // once is enough
				}
				_, err := to.Write(p)
				return err
			})
		}
	}
	if f.does("twice") {
		to := out
		out = writer(func(p []byte) error {
			_, err := to.Write(append(bytes.Clone(p), p...))
			return err
		})
	}
	switch {
	case f.once("deaf"):
		in = &deaf{in: in, until: `"workspace/didChangeConfiguration"`}
	case f.once("mute"):
		out = &mute{out: out}
	}
	return in, out
}

func message(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

type writer func(p []byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }

// deaf reads up to a text, and then no more.
type deaf struct {
	in    io.Reader
	until string
	seen  []byte
}

func (d *deaf) Read(p []byte) (int, error) {
	if bytes.Contains(d.seen, []byte(d.until)) {
		select {}
	}
	n, err := d.in.Read(p[:1])
	d.seen = append(d.seen, p[:n]...)
	return n, err
}

// mute closes its output behind the first message, and lives on.
type mute struct{ out io.Writer }

func (m *mute) Write(p []byte) (int, error) {
	if m.out == nil {
		return len(p), nil
	}
	n, err := m.out.Write(p)
	m.out = nil
	_ = os.Stdout.Close()
	return n, err
}

// started is what the fake does by itself once it is initialized.
func (f *fake) started() {
	ctx := context.Background()
	if f.once("die-initialized") {
		die()
	}
	if f.does("noise") {
		go func() {
			for {
				_, _ = os.Stderr.Write(bytes.Repeat([]byte("noise "), 10_000))
			}
		}()
	}
	if f.does("questions") {
		go pester(100_000)
	}
	if f.once("eats") {
		f.eaten = bytes.Repeat([]byte("x"), 400<<20)
	}
	if f.does("endless") {
		go chatter()
	}
	if f.does("asks") {
		go f.interview(ctx)
	}
}

// chatter writes without an end, whoever reads.
func chatter() {
	for {
		_, _ = io.WriteString(os.Stdout, message(`{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":4,"message":"and so on"}}`))
	}
}

// pester asks so often, all at once, and awaits no answer.
func pester(times int) {
	for i := range times {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"workspace/configuration","params":{"items":[{}]}}`, i)
		if _, err := io.WriteString(os.Stdout, message(body)); err != nil {
			return
		}
	}
}

// interview asks all that a server may ask, and leaves the answers in a file.
func (f *fake) interview(ctx context.Context) {
	defer close(f.told)
	var log strings.Builder
	for _, q := range interview {
		method, params, _ := strings.Cut(q, " ")
		var answer json.RawMessage
		err := f.conn.Call(ctx, method, json.RawMessage(params), &answer)
		switch {
		case err != nil:
			fmt.Fprintf(&log, "%s: %v\n", method, err)
		case answer == nil:
			fmt.Fprintf(&log, "%s: null\n", method)
		default:
			fmt.Fprintf(&log, "%s: %s\n", method, answer)
		}
	}
	_ = os.WriteFile("answers", []byte(log.String()), 0o600)
}

// interview are requests of servers.
var interview = []string{
	`workspace/configuration {"items":[{"section":"fake"},{"section":"fake.deep"},{"section":"other.one"},{"section":"none"},{"section":null},{"scopeUri":"file:///x","section":"fake.deep.er"}]}`,
	`workspace/configuration {"items":[]}`,
	`client/registerCapability {"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.fake"},{"globPattern":7},{"globPattern":"["}]}}]}`,
	`client/registerCapability {"registrations":[{"id":2,"method":"textDocument/diagnostic"},{"id":"3","method":"no/such","registerOptions":[]}]}`,
	`client/registerCapability {"registrations":[{"id":"4","method":"workspace/didChangeWatchedFiles","registerOptions":null}]}`,
	`client/unregisterCapability {"unregisterations":[{"id":2,"method":"textDocument/diagnostic"},{"id":"unknown","method":"x"}]}`,
	`client/unregisterCapability {"unregistrations":[{"id":"3","method":"no/such"}]}`,
	`window/workDoneProgress/create {"token":1}`,
	`window/showMessageRequest {"type":1,"message":"Shall I?","actions":[{"title":"Yes"}]}`,
	`window/showDocument {"uri":"https://example.com","external":true}`,
	`workspace/workspaceFolders null`,
	`workspace/diagnostic/refresh null`,
	`workspace/semanticTokens/refresh null`,
	`workspace/textDocumentContent/refresh {"uri":"x:y"}`,
	`workspace/applyEdit {"edit":{"changes":{}}}`,
	`workspace/applyEdit {"edit":7}`,
	`workspace/applyEdit null`,
	`eslint/noLibrary {"source":{"uri":"file:///x"}}`,
	`eslint/probeFailed 7`,
	`no/such {}`,
	`$/such {}`,
}

// noLater has the fake answer only once it was told all that it asked.
func (f *fake) noLater(ctx context.Context) {
	if f.told == nil {
		return
	}
	select {
	case <-f.told:
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
}
