package tools

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// memory is a spool that keeps what it gets.
type memory struct {
	files []*strings.Builder
	fails error
}

func (m *memory) Create() (io.WriteCloser, string, error) {
	if m.fails != nil {
		return nil, "", m.fails
	}
	b := &strings.Builder{}
	m.files = append(m.files, b)
	return nopCloser{b}, "/spool/" + string(rune('0'+len(m.files))), nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestEnvelopeJSON(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Envelope
		want string
	}{
		{"output", Envelope{Type: EnvelopeOutput, Data: "x", Metadata: Metadata{DurationMS: 3}},
			`{"type":"output","data":"x","metadata":{"duration_ms":3}}`},
		{"error", Envelope{Type: EnvelopeError, ErrorText: "no", Metadata: Metadata{}},
			`{"type":"error","error_text":"no","metadata":{"duration_ms":0}}`},
		{"all", Envelope{EnvelopeOutput, "x", "", Metadata{1, true, "/p", map[string]any{"exit_code": 3.0, "truncated": "shadow"}}},
			`{"type":"output","data":"x","metadata":{"duration_ms":1,"exit_code":3,"output_path":"/p","truncated":true}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.e)
			if err != nil || string(got) != c.want {
				t.Fatalf("%s, %v\nwant %s", got, err, c.want)
			}
			var back Envelope
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(back); err != nil || string(again) != c.want {
				t.Errorf("again: %s, %v", again, err)
			}
		})
	}
}

func TestConclude(t *testing.T) {
	spec := &Spec{ID: "x"}
	r := Result{Text: "fine", Metadata: map[string]any{"n": 1}}
	e := Conclude(spec, &r, nil, 1500*time.Microsecond, nil)
	if e.IsError() || e.Data != "fine" || e.Metadata.DurationMS != 1 || e.Metadata.Extra["n"] != 1 || e.Rendering() != "fine" {
		t.Errorf("%+v", e)
	}
	r = Result{Text: "so far"}
	e = Conclude(spec, &r, errors.New("killed"), 0, nil)
	if !e.IsError() || e.Rendering() != "killed\n\nso far" {
		t.Errorf("%+v", e)
	}
	e = Conclude(spec, &Result{}, nil, 0, nil)
	if e.Rendering() == "" {
		t.Error("an empty rendering")
	}
	if (Envelope{}).Rendering() == "" || !(Envelope{}).IsError() {
		t.Error("the zero envelope is no error")
	}
}

func TestEnvelopeWire(t *testing.T) {
	long := strings.Repeat("ä line\n", 10_000)
	e := Envelope{Type: EnvelopeOutput, Data: long, Metadata: Metadata{OutputPath: "/p"}}
	w := e.Wire()
	if len(w.Data) > WireLimit || !strings.HasPrefix(long, strings.TrimSuffix(w.Data, "[… more]")) || w.Metadata.Truncated || len(e.Data) != len(long) {
		t.Errorf("%d bytes: …%q", len(w.Data), w.Data[len(w.Data)-30:])
	}
	if short := (Envelope{Type: EnvelopeOutput, Data: "x"}).Wire(); short.Data != "x" {
		t.Errorf("%+v", short)
	}
	if w := (Envelope{ErrorText: strings.Repeat("é", WireLimit)}).Wire(); len(w.ErrorText) > WireLimit || !utf8.ValidString(w.ErrorText) {
		t.Errorf("%d", len(w.ErrorText))
	}
}

func TestFit(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 20_000)
	for _, c := range []struct {
		name string
		spec Spec
		text string
		cut  bool
		end  string // that must be kept
	}{
		{"short", Spec{}, "x", false, "x"},
		{"just fits", Spec{MaxOutput: 100}, strings.Repeat("x", 100), false, ""},
		{"default limit", Spec{}, lines, true, ""},
		{"with a tail", Spec{MaxOutput: 50 << 10, Tail: 20 << 10}, lines + "the end", true, "the end"},
		{"one long line", Spec{MaxOutput: 2000}, strings.Repeat("ä", 50_000), true, ""},
		{"smaller than a note", Spec{MaxOutput: 10}, strings.Repeat("x", 100), true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &memory{}
			got := Fit(Result{Text: c.text}, &c.spec, m)
			limit := c.spec.MaxOutput
			if limit == 0 {
				limit = DefaultMaxOutput
			}
			if len(got.Text) > limit || !utf8.ValidString(got.Text) || got.Truncated != c.cut || !strings.HasSuffix(got.Text, c.end) {
				t.Errorf("%d bytes of %d, truncated %v", len(got.Text), limit, got.Truncated)
			}
			if !c.cut {
				if len(m.files) > 0 || got.OutputPath != "" {
					t.Error("it was spooled")
				}
				return
			}
			if len(m.files) != 1 || m.files[0].String() != c.text || got.OutputPath != "/spool/1" {
				t.Errorf("spool %d, path %q", len(m.files), got.OutputPath)
			}
			if limit > 1000 && !strings.Contains(got.Text, "/spool/1") {
				t.Error("the note does not name the file")
			}
		})
	}
}

func TestFitWithoutSpool(t *testing.T) {
	long := strings.Repeat("x\n", DefaultMaxOutput)
	if got := Fit(Result{Text: long}, &Spec{}, nil); !got.Truncated || got.OutputPath != "" || !strings.Contains(got.Text, "not kept") {
		t.Errorf("%v %q", got.Truncated, got.OutputPath)
	}
	if got := Fit(Result{Text: long}, &Spec{}, &memory{fails: errors.New("disk full")}); !strings.Contains(got.Text, "disk full") {
		t.Error("it does not say why")
	}
	m := &memory{}
	if got := Fit(Result{Text: long, OutputPath: "/own"}, &Spec{}, m); got.OutputPath != "/own" || len(m.files) != 0 || !strings.Contains(got.Text, "/own") {
		t.Errorf("%q, %d", got.OutputPath, len(m.files))
	}
}

func TestBudget(t *testing.T) {
	const kb = 1 << 10
	for _, c := range []struct {
		name  string
		sizes []int
		cut   []int
	}{
		{"nothing", nil, nil},
		{"fits", []int{200 * kb, 200 * kb}, nil},
		{"the largest", []int{10 * kb, 500 * kb, 20 * kb}, []int{1}},
		{"several", []int{190 * kb, 8, 190 * kb, 190 * kb}, []int{0, 2, 3}},
		{"many", []int{100 * kb, 100 * kb, 100 * kb, 100 * kb, 100 * kb, 100 * kb}, []int{0, 1, 2, 3, 4, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := make([]*string, len(c.sizes))
			for i, size := range c.sizes {
				text := strings.Repeat("0123456\n", size/8-1) + "the end"
				texts[i] = &text
			}
			m := &memory{}
			got := Budget(texts, m)
			total := 0
			for i, text := range texts {
				total += len(*text)
				if !strings.HasSuffix(*text, "end") {
					t.Errorf("%d lost its end", i)
				}
			}
			if len(got) != len(c.cut) || total > TurnBudget || len(m.files) != len(c.cut) {
				t.Errorf("cut %v, want %v; %d bytes, %d spooled", got, c.cut, total, len(m.files))
			}
			for i := range got {
				if got[i] != c.cut[i] {
					t.Errorf("cut %v, want %v", got, c.cut)
				}
			}
		})
	}
}
