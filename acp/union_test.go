package acp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEveryUnionWritesAndReadsItsTags(t *testing.T) {
	for typ, u := range unions() {
		for name, variant := range u.variants {
			v := reflect.New(variant).Elem()
			(&sampler{}).fill(v)
			text, err := marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			c := cursor{b: text}
			got, found, p := c.peekTag(u.key)
			switch {
			case p != nil:
				t.Errorf("%s: %s: %s", variant, text, p.text(""))
			case variant == u.untagged && found:
				t.Errorf("%s writes a tag", variant)
			case variant != u.untagged && got != name:
				t.Errorf("%s writes the tag %q, want %q", variant, got, name)
			}
			back := reflect.New(typ).Elem()
			if p := u.decode(&cursor{b: text}, back); p != nil {
				t.Errorf("%s: %s: %s", variant, text, p.text(""))
			} else if back.Elem().Type() != variant {
				t.Errorf("%s was read as %s", variant, back.Elem().Type())
			}
		}
	}
}

func TestUnknownTagKeepsItsText(t *testing.T) {
	const text = `{"sessionUpdate":"later","x":[1.50,{"y":"<z>"}]}`
	n, err := Decode[SessionNotification](json.RawMessage(`{"sessionId":"s","update":` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	u, ok := n.Update.(UnknownSessionUpdate)
	if !ok || u.Tag != "later" || string(u.Raw) != text {
		t.Fatalf("got %#v", n.Update)
	}
	if out, err := marshal(n); err != nil || !strings.Contains(string(out), text) {
		t.Errorf("written as %s, %v", out, err)
	}
	if _, err := marshal(UnknownSessionUpdate{}); err == nil {
		t.Error("an unknown variant without text was written")
	}
}

func TestCursorReadsStringsAsEncodingJSON(t *testing.T) {
	for _, text := range []string{`""`, `"a"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d"`,
		`"\ud83d\u0041"`, "\"\xff\xfe ok\"", "\"\xff\\n\xc3\"", `"ends with \\"`, `"日本語 \\\" x"`} {
		compareText(t, []byte(text))
	}
}

// compareText holds the cursor against encoding/json.
func compareText(t *testing.T, text []byte) {
	t.Helper()
	var want string
	if !bytes.HasPrefix(text, []byte(`"`)) || json.Unmarshal(text, &want) != nil {
		return
	}
	got, p := (&cursor{b: text}).text()
	if p != nil || got != want {
		t.Errorf("%q is read as %q, want %q", text, got, want)
	}
}

// FuzzUnion decodes whatever comes as every union: it must not panic, and what
// it accepts must be written as JSON that reads as the same value.
func FuzzUnion(f *testing.F) {
	for typ := range unions() {
		for _, v := range samplesOf(typ) {
			text, err := marshal(v)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, seed := range []string{`{}`, `[]`, `null`, `{"type":null}`, `{"type":"later","x":{"type":"text"}}`, `{"type":"text","text":"\ud83d"}`,
		`{"mode":"form"}`, `{"type":"text","type":"image"}`, `[{"group":1}]`, `{"a":`, `{"type":"text",}`, `"\`, `{"outcome":"selected"}`, `-0`, `1e400`, `[1,"a"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		compareText(t, text)
		for typ, u := range unions() {
			v := reflect.New(typ).Elem()
			c := cursor{b: text}
			if p := u.decode(&c, v); p != nil {
				if p.want == "" {
					t.Errorf("%s: a problem that says nothing", typ)
				}
				continue
			}
			if !json.Valid(text) || !utf8.Valid(text) {
				continue // what a connection never delivers only must not panic
			}
			again(t, u, typ, v)
		}
	})
}

// again writes a decoded value and reads it once more.
func again(t *testing.T, u *union, typ reflect.Type, v reflect.Value) {
	t.Helper()
	first, err := marshal(v.Interface())
	if err != nil {
		t.Fatalf("%s: %#v: %v", typ, v.Interface(), err)
	}
	back := reflect.New(typ).Elem()
	if p := u.decode(&cursor{b: first}, back); p != nil {
		t.Fatalf("%s: %s: %s", typ, first, p.text("value"))
	}
	second, err := marshal(back.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("%s: written as %s and then as %s", typ, first, second)
	}
}
