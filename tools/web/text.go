package web

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// read takes in an answer: bounded, unpacked, decoded and made readable.
func read(ctx context.Context, resp *http.Response, at *kinds.URL, format string) (tools.WebPage, error) {
	page := tools.WebPage{URL: at, Status: resp.StatusCode}
	data, partial, err := body(resp)
	if err != nil {
		return page, fmt.Errorf("reading %s: %w", at, plain(err))
	}
	page.Partial, page.Size = partial, max(resp.ContentLength, int64(len(data)))
	declared := resp.Header.Get("Content-Type")
	page.Type = kindOf(declared, data)
	text, ok := decode(data, declared, page.Type)
	if !ok && (page.Status < 200 || page.Status >= 300) {
		return page, nil // that it failed says enough
	}
	if !ok {
		size := fmt.Sprintf("%d bytes", page.Size)
		if partial && resp.ContentLength < 0 {
			size = "more than " + size
		}
		if isTextType(page.Type) {
			return page, fmt.Errorf("%s is not text, although it says that it is %s; it has %s", at, page.Type, size)
		}
		return page, fmt.Errorf("%s is not text but %s of %s", at, page.Type, size)
	}
	if !isHTML(page.Type) || format == tools.WebHTML {
		page.Text = text
		return page, nil
	}
	page.Text, page.Title = extract(ctx, text, at, format)
	return page, ctx.Err()
}

// kindOf is the media type of what came: the declared one, but where that says
// nothing, or where the first bytes say that it is something else than text.
func kindOf(declared string, data []byte) string {
	said, _, err := mime.ParseMediaType(declared)
	if err != nil {
		said, _, _ = strings.Cut(declared, ";")
		said = strings.ToLower(strings.TrimSpace(said))
	}
	if !strings.Contains(said, "/") || strings.ContainsAny(said, " \t<>\"`") || len(said) > 100 {
		said = ""
	}
	found, _, _ := mime.ParseMediaType(http.DetectContentType(data))
	switch {
	case len(data) == 0 && said != "":
		return said
	case said == "" || said == "application/octet-stream" || said == "application/unknown" || said == "application/x-unknown":
		return found
	case isTextType(said) && !strings.HasPrefix(found, "text/") && found != "application/octet-stream":
		return found // it begins as a picture, an archive, …
	case !isTextType(said) && strings.HasPrefix(found, "text/"):
		return found
	}
	return said
}

// isTextType reports whether a media type is one of text.
func isTextType(t string) bool {
	if strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "+yaml") {
		return true
	}
	switch t {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/x-javascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/sql", "application/graphql",
		"application/x-ndjson", "application/jsonl", "application/rtf", "application/x-httpd-php", "application/typescript",
		"application/x-www-form-urlencoded", "application/manifest", "application/jwt":
		return true
	}
	return false
}

func isHTML(t string) bool { return t == "text/html" || t == "application/xhtml+xml" }

// decode makes text of bytes: by their mark, by what is declared, by what the
// page says of itself, as UTF-8 where they are that, else as the web does. It is
// not ok where they are no text.
func decode(data []byte, declared, kind string) (string, bool) {
	if !isTextType(kind) {
		return "", false
	}
	encoding, name, certain := charset.DetermineEncoding(data, declared)
	if label := xmlEncoding(data); !certain && label != "" {
		if e, n := charset.Lookup(label); e != nil {
			encoding, name = e, n
		}
	}
	text := string(data)
	if certain || name == "iso-2022-jp" || !utf8.Valid(data) { // which is made of ASCII
		decoded, err := encoding.NewDecoder().Bytes(data)
		if err != nil {
			return "", false
		}
		text = string(decoded)
	}
	text = strings.TrimPrefix(text, "\ufeff")
	return strings.ToValidUTF8(text, "\ufffd"), !binary(text)
}

// xmlEncoding is the encoding that an XML document says it has; empty: none.
func xmlEncoding(data []byte) string {
	head, ok := bytes.CutPrefix(data[:min(len(data), 200)], []byte("<?xml"))
	head, _, closed := bytes.Cut(head, []byte("?>"))
	_, value, found := bytes.Cut(head, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if !ok || !closed || !found || len(value) < 2 {
		return ""
	}
	value, _, _ = bytes.Cut(value[1:], value[:1])
	return string(value)
}

// binary reports whether a text has more characters in it that no text has than
// one in a hundred.
func binary(text string) bool {
	odd := 0
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != '\b' && r != 0x1b {
			odd++
		}
	}
	return odd*100 > len(text)
}
