package session

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"image/png"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPathOf(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"file:///ws/my%20file%20%C3%BC.txt", "/ws/my file ü.txt"},
		{"file:///ws/a.go#L10", "/ws/a.go#L10"},
		{"file:///ws/a%23b.txt", "/ws/a#b.txt"},
		{"https://example.com/a%20b", "https://example.com/a%20b"},
		{"zed:///selection?x=1", "zed:///selection?x=1"},
		{"file:///ws/%zz", "file:///ws/%zz"}, // no URI: as it stands
		{"", ""},
	} {
		if got := PathOf(c.uri); got != c.want {
			t.Errorf("PathOf(%q) = %q, want %q", c.uri, got, c.want)
		}
	}
}

// TestFitted: of a prompt's images models get those that they take, under the
// name of what they are, and are told of the others.
func TestFitted(t *testing.T) {
	var large, small bytes.Buffer
	if err := errors.Join(png.Encode(&large, image.NewGray(image.Rect(0, 0, 5000, 10))), gif.Encode(&small, image.NewGray(image.Rect(0, 0, 3, 2)), nil)); err != nil {
		t.Fatal(err)
	}
	media := func(mime string, data []byte) Content { return Content{Type: ContentMedia, MIME: mime, Data: data} }
	prompt := []Content{Text("look"), media("image/png", large.Bytes()), media("image/jpeg", small.Bytes()),
		media("image/png", []byte("\x89PNG\r\n\x1a\n")), media("image/svg+xml", []byte("<svg/>")), media("audio/wav", []byte("RIFF"))}
	got := fitted(t.Context(), prompt)
	if c, err := png.DecodeConfig(bytes.NewReader(got[1].Data)); err != nil || c.Width >= 5000 || got[1].MIME != "image/png" {
		t.Errorf("a large image: %s of %d pixels, %v", got[1].MIME, c.Width, err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(got[2].Data)); err != nil || c.Width != 3 || got[2].MIME != "image/png" {
		t.Errorf("one of another name: %s, %v", got[2].MIME, err)
	}
	for i, want := range map[int]string{3: "[image/png, 8 bytes, cannot be shown: it is damaged (", 4: "[image/svg+xml, 6 bytes, cannot be shown: images of type text/plain"} {
		if parts := got[i].parts(); len(parts) != 1 || !strings.HasPrefix(parts[0].Text, want) {
			t.Errorf("%+v, want %s", parts, want)
		}
	}
	if got[0].Text != "look" || got[5].Unseen != "" || len(prompt[1].Data) != large.Len() {
		t.Error("something else was changed")
	}
}

func TestTitleOf(t *testing.T) {
	for _, c := range []struct {
		prompt []Content
		want   string
	}{
		{[]Content{Text("Fix the login\n   redirect\tbug please")}, "Fix the login redirect bug please"},
		{[]Content{{Type: ContentLink, URI: "file:///ws/a%20b.go"}}, "a b.go"},
		{[]Content{{Type: ContentMedia, MIME: "image/png"}}, "New session"},
		{nil, "New session"},
	} {
		if got := titleOf(c.prompt); got != c.want {
			t.Errorf("titleOf(%v) = %q, want %q", c.prompt, got, c.want)
		}
	}
	long := titleOf([]Content{Text(strings.Repeat("wörter ", 100))})
	if n := utf8.RuneCountInString(long); n > maxSessionTitle || !strings.HasSuffix(long, "wörter…") {
		t.Errorf("a long title is cut at a word: %q, %d runes", long, n)
	}
}
