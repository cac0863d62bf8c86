package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// newRun is a run without a process, which says what a test says.
func newRun(spec *Spec) *run {
	r := &run{server: &server{startOptions: startOptions{spec: spec, root: "/p"}}, ready: make(chan struct{}), ended: make(chan struct{})}
	r.documents.init()
	r.verdicts.init(spec)
	r.client.init(r)
	close(r.ready)
	return r
}

// shown makes a document have another version, of which nobody is told.
func (r *run) shown(path, body string) synced { return r.next(path, body).synced(true) }

func (r *run) pushes(t *testing.T, params string) {
	t.Helper()
	if err := r.client.published(json.RawMessage(params)); err != nil {
		t.Errorf("%.200s: %v", params, err)
	}
}

const noneOfA, oneOfA = `{"uri":"file:///p/a","diagnostics":[]}`, `{"uri":"file:///p/a","diagnostics":[{"message":"wrong"}]}`

// TestStages: of a server that gives no versions, the first word is none: what comes
// behind it within the time that the first took counts, and how long that is depends
// on how slow the server is.
func TestStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pace := range []time.Duration{time.Millisecond, 200 * time.Millisecond, 700 * time.Millisecond} {
			r := newRun(&Spec{})
			doc := r.shown("/p/a", "x")
			begun := time.Now()
			go func() {
				time.Sleep(pace)
				r.pushes(t, noneOfA)
				time.Sleep(pace - pace/10)
				r.pushes(t, oneOfA)
			}()
			if !r.await(t.Context(), doc) {
				t.Fatalf("at a pace of %s it has not judged", pace)
			}
			if n := len(r.verdicts.of("/p/a").items()); n != 1 {
				t.Errorf("at a pace of %s it found %d problems", pace, n)
			}
			if took := time.Since(begun); took > 2*pace+maxQuiet {
				t.Errorf("at a pace of %s it took %s", pace, took)
			}
			synctest.Wait()
		}
	})
}

// TestDebounce: of a server that judges once nothing has changed for a while, what comes
// sooner is on what was there before, and what comes then counts at once.
func TestDebounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(&Spec{Debounce: time.Second})
		doc := r.shown("/p/a", "x")
		begun := time.Now()
		go func() {
			time.Sleep(900 * time.Millisecond)
			r.pushes(t, noneOfA)
			time.Sleep(150 * time.Millisecond)
			r.pushes(t, oneOfA)
		}()
		if !r.await(t.Context(), doc) || time.Since(begun) != 1050*time.Millisecond || len(r.verdicts.of("/p/a").items()) != 1 {
			t.Errorf("after %s: %+v", time.Since(begun), r.verdicts.of("/p/a").items())
		}
		time.Sleep(time.Minute)
		r.verdicts.disturbed() // it may judge once more
		if begun = time.Now(); !r.await(t.Context(), doc) || time.Since(begun) != time.Second+quiet {
			t.Errorf("behind a change on the disk it counts after %s", time.Since(begun))
		}
		doc = r.shown("/p/a", "y")
		doc.opened = true // of which it judges at once
		r.pushes(t, noneOfA)
		if begun = time.Now(); !r.await(t.Context(), doc) || time.Since(begun) != quiet {
			t.Errorf("opened, it counts after %s", time.Since(begun))
		}
	})
}

// TestWorkUnderWay: a verdict is none as long as the work goes on that the change
// began: any of a server that gives no versions, that of its check of one that has
// such.
func TestWorkUnderWay(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spec    Spec
		title   string
		version string
		waits   bool
	}{
		{"without versions", Spec{}, "Checking", "", true},
		{"with versions", Spec{}, "Indexing", `"version":1,`, false},
		{"its check", Spec{Checks: "cargo "}, "cargo check", `"version":1,`, true},
		{"beside its check", Spec{Checks: "cargo "}, "Indexing", `"version":1,`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(&tt.spec)
				doc := r.shown("/p/a", "x")
				begun := time.Now()
				time.Sleep(time.Millisecond)
				_ = r.client.progressed(json.RawMessage(`{"token":1,"value":{"kind":"begin","title":"` + tt.title + `"}}`))
				r.pushes(t, `{"uri":"file:///p/a",`+tt.version+`"diagnostics":[]}`)
				go func() {
					time.Sleep(time.Minute)
					_ = r.client.progressed(json.RawMessage(`{"token":1,"value":{"kind":"end"}}`))
				}()
				if !r.await(t.Context(), doc) || time.Since(begun) >= time.Minute != tt.waits {
					t.Errorf("judged after %s", time.Since(begun))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if r.await(ctx, r.shown("/p/a", "y")) {
					t.Error("nothing was said of the next version")
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestStaleVerdict: a verdict that comes right behind a change on the disk may be one on
// what was before; that on what is now is waited for.
func TestStaleVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(&Spec{})
		doc := r.shown("/p/a", "x")
		time.Sleep(time.Second)
		r.verdicts.disturbed()
		go func() {
			time.Sleep(time.Millisecond)
			r.pushes(t, `{"uri":"file:///p/a","version":1,"diagnostics":[]}`)
			time.Sleep(quiet / 2)
			r.pushes(t, `{"uri":"file:///p/a","version":1,"diagnostics":[{"message":"wrong"}]}`)
		}()
		if !r.await(t.Context(), doc) || len(r.verdicts.of("/p/a").items()) != 1 {
			t.Error("the verdict on what was before was taken")
		}
		begun := time.Now()
		doc = r.shown("/p/a", "y")
		r.pushes(t, `{"uri":"file:///p/a","version":2,"diagnostics":[]}`)
		if !r.await(t.Context(), doc) || time.Since(begun) > 0 {
			t.Error("a verdict on a later version is waited for")
		}
	})
}

// TestVersions: which pushed words count for a document, whatever they say of their
// version.
func TestVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		push := func(version string) string {
			return `{"uri":"file:///p/a","version":` + version + `,"diagnostics":[{"message":"` + strings.Trim(version, `"`) + `"}]}`
		}
		for _, tt := range []struct {
			pushed []string // to a document at version 3
			want   bool     // it is judged
		}{
			{[]string{"3"}, true},
			{[]string{"2"}, false},
			{[]string{"3", "2"}, true},
			{[]string{"2", "3"}, true},
			{[]string{"null"}, true},
			{[]string{"-1"}, true},
			{[]string{`"three"`}, true},
			{[]string{"3.5"}, true},
			{[]string{"99"}, false}, // it gives versions, and none of ours
			{[]string{"99", "3"}, true},
			{[]string{"2", "null"}, false},
			{[]string{"3", "null"}, true},
			{[]string{"1e400"}, true},
		} {
			r := newRun(&Spec{})
			r.shown("/p/a", "1")
			r.shown("/p/a", "2")
			doc := r.shown("/p/a", "3")
			for _, version := range tt.pushed {
				r.pushes(t, push(version))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			if got := r.await(ctx, doc); got != tt.want {
				t.Errorf("after %v it is judged: %v", tt.pushed, got)
			}
			cancel()
		}
	})
}

// TestReopened: a document that was closed and is opened anew waits for a new word,
// and gets it although its versions begin anew.
func TestReopened(t *testing.T) {
	p := newProject(t, fakeConfig("ok"), "a.fake", "BAD 1\n")
	for i := range 3 {
		d, err := p.view.Diagnostics(p.context(), p.path("a.fake"))
		if err != nil || len(d.Items) != 1 || len(d.NotReady) != 0 {
			t.Fatalf("round %d: %+v, %v", i, d, err)
		}
		if err := p.view.used[0].running().forget(p.context(), p.path("a.fake")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOddDiagnostics: what cannot be read of one diagnostic costs nothing else.
func TestOddDiagnostics(t *testing.T) {
	r := newRun(&Spec{})
	r.pushes(t, `{"uri":"file:///p/a","diagnostics":[
		{"range":{"start":{"line":-1,"character":-5},"end":{"line":1e30,"character":2.5}},"severity":"grave","message":"negative"},
		{"message":"no range","code":{"value":"E7","target":"http://x"},"severity":0},
		{"range":null,"message":null,"code":[1],"source":null,"severity":9},
		{"range":{"start":{"line":4,"character":0},"end":{"line":4,"character":1}},"severity":2,"code":17,"source":"lint","message":{"kind":"markdown","value":"marked"},"relatedInformation":"none","tags":"x"},
		"a text", null, 7]}`)
	var got []string
	for _, d := range r.verdicts.of("/p/a").items() {
		got = append(got, fmt.Sprintf("%d %s %s|%s|%s", d.Range.Start.Line, severityOf(d.Severity), d.Code, d.Source, d.Message))
		if !json.Valid(d.sent()) {
			t.Errorf("sent back as %s", d.sent())
		}
	}
	want := []string{
		"0 error ||negative", "0 error E7||no range", "0 error ||", "4 warning 17|lint|marked",
		"0 error ||a problem that the server words in a way that cannot be read", "0 error ||", "0 error ||a problem that the server words in a way that cannot be read",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, uri := range []string{"untitled:Untitled-1", "http://[::1", "jdt://contents/x", "", "file://other.host/a", "relative"} {
		r.pushes(t, `{"uri":`+string(mustRaw(uri))+`,"diagnostics":[{"message":"m"}]}`)
	}
	if files, _ := r.verdicts.snapshot(); len(files) != 1 {
		t.Errorf("%d files are known", len(files))
	}
}

// TestBounds: what a server says takes bounded memory, and what is not kept is
// counted.
func TestBounds(t *testing.T) {
	r := newRun(&Spec{})
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"severity":%d,"message":"m%d"}`, 1+i%2, i)
	}
	r.pushes(t, `{"uri":"file:///p/a","diagnostics":[`+strings.Join(many, ",")+`]}`)
	f := r.verdicts.of("/p/a")
	if n := len(f.items()); n != maxDiagnostics || f.more() != 100_000-n || severityOf(f.items()[n-1].Severity) != Error {
		t.Errorf("%d items, %d more", n, f.more())
	}
	long := strings.Repeat("é", 1<<20)
	r.pushes(t, `{"uri":"file:///p/b","diagnostics":[{"message":"`+long+`","source":"`+long+`","code":"`+long+`","data":"`+long+`"}]}`)
	d := r.verdicts.of("/p/b").items()[0]
	if d.cost() > 4*maxText+itemCost || !strings.HasPrefix(string(d.Message), "éé") || !json.Valid(d.sent()) || len(d.sent()) > 4*maxText {
		t.Errorf("a diagnostic of %d bytes is kept, and %d sent", d.cost(), len(d.sent()))
	}
	for i := range 300 {
		r.pushes(t, fmt.Sprintf(`{"uri":"file:///p/f%d","diagnostics":[%s]}`, i, strings.Join(many[:1000], ",")))
	}
	if r.verdicts.kept > maxKept {
		t.Errorf("%d bytes are kept", r.verdicts.kept)
	}
	told, size := 0, 0
	files, _ := r.verdicts.snapshot()
	for _, f := range files {
		told += len(f.items()) + f.more()
		size += f.pushed.size + f.asked.size
	}
	if told != 300*1000+1+100_000 || size != r.verdicts.kept {
		t.Errorf("%d diagnostics are accounted for, %d bytes of %d", told, size, r.verdicts.kept)
	}
	for i := range 300 {
		r.pushes(t, fmt.Sprintf(`{"uri":"file:///p/f%d","diagnostics":[]}`, i))
	}
	if files, _ := r.verdicts.snapshot(); len(files) != 2 {
		t.Errorf("%d files are known where 2 have problems", len(files))
	}
	for i := range maxFiles + 10 {
		r.verdicts.publish(fmt.Sprintf("/p/g%d", i), nil, []wireDiagnostic{{Message: "m"}})
	}
	if files, _ := r.verdicts.snapshot(); len(files) != maxFiles || !r.verdicts.overflowed() {
		t.Errorf("%d files are known", len(files))
	}
}

// TestBesides: a server that is asked and pushes besides is heard in both ways.
func TestBesides(t *testing.T) {
	r := newRun(&Spec{})
	r.shown("/p/a", "x")
	r.pushes(t, `{"uri":"file:///p/a","diagnostics":[{"message":"pushed"},{"message":"both"}]}`)
	r.verdicts.answered("/p/a", said{version: 1, items: []wireDiagnostic{{Message: "both"}, {Message: "asked"}}})
	if n := len(r.verdicts.of("/p/a").items()); n != 3 {
		t.Errorf("%d items", n)
	}
	r.verdicts.answered("/p/a", said{version: 0, items: nil})
	r.verdicts.answered("/p/a", said{version: 1, exclusive: true, items: []wireDiagnostic{{Message: "asked"}}})
	if n := len(r.verdicts.of("/p/a").items()); n != 1 {
		t.Errorf("%d items of one that pushes the same in stages", n)
	}
}

// TestClosed: the id of an answer does not outlive its document, since a server may
// count anew.
func TestClosed(t *testing.T) {
	r := newRun(&Spec{})
	r.verdicts.answered("/p/a", said{version: 1, id: "3", items: []wireDiagnostic{{Message: "kept"}}})
	r.verdicts.answered("/p/b", said{version: 1, id: "4", items: []wireDiagnostic{{Message: "open"}}})
	r.verdicts.closed("/p/a")
	r.verdicts.closed("/p/c")
	if a, b := r.verdicts.of("/p/a"), r.verdicts.of("/p/b"); a.asked.id != "" || len(a.items()) != 1 || b.asked.id != "4" {
		t.Errorf("%+v, %+v", a.asked, b.asked)
	}
}

// TestRetriggers: a server that cancels says whether it is to be asked again.
func TestRetriggers(t *testing.T) {
	for data, want := range map[string]bool{"": true, "null": true, `{}`: true, `[1]`: true, `{"retriggerRequest":true}`: true, `{"retriggerRequest":false}`: false} {
		e := &jsonrpc.Error{Code: codeServerCancelled}
		if data != "" {
			e.Data = json.RawMessage(data)
		}
		if got := retriggers(e); got != want {
			t.Errorf("%s: %v", data, got)
		}
	}
	if retriggers(&jsonrpc.Error{Code: codeContentModified}) {
		t.Error("another error retriggers")
	}
}
