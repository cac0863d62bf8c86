package session

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// ContentType tells the blocks of a prompt apart.
type ContentType string

// What a prompt is made of (protocol, "Content").
const (
	ContentText     ContentType = "text"
	ContentLink     ContentType = "link"     // a resource the user names
	ContentResource ContentType = "resource" // a resource with its text or bytes
	ContentMedia    ContentType = "media"    // an image or a sound
)

// Content is one block of a message. Which fields are meant, Type says.
type Content struct {
	Type ContentType `json:"type"`
	Text string      `json:"text,omitzero"` // text, resource
	URI  string      `json:"uri,omitzero"`  // link, resource, media
	Name string      `json:"name,omitzero"` // link
	MIME string      `json:"mime,omitzero"`
	Data []byte      `json:"data,omitzero"` // media, resource of bytes
	// Unseen says of media what is wrong with it, so that no model gets it.
	Unseen string `json:"unseen,omitzero"`
}

// Text is a block of text.
func Text(s string) Content { return Content{Type: ContentText, Text: s} }

// parts is the block as a model reads it.
func (c Content) parts() []model.Part {
	switch c.Type {
	case ContentMedia:
		if c.Unseen != "" {
			return textPart(fmt.Sprintf("[%s, %d bytes, cannot be shown: %s]", c.MIME, len(c.Data), c.Unseen))
		}
		return []model.Part{{Type: model.PartMedia, MIME: c.MIME, Data: c.Data}}
	case ContentLink:
		return textPart("[" + linkName(c) + "](" + PathOf(c.URI) + ")")
	case ContentResource:
		if c.Text == "" && len(c.Data) > 0 {
			return textPart(fmt.Sprintf("[%s: %d bytes of %s, not shown]", PathOf(c.URI), len(c.Data), c.MIME))
		}
		return textPart("<resource uri=\"" + PathOf(c.URI) + "\">\n" + c.Text + "\n</resource>")
	}
	if c.Text == "" {
		return nil
	}
	return textPart(c.Text)
}

// fitted is a prompt whose images are fit for models: a provider refuses one that
// is damaged, too large or not what it is called, and then all later requests of
// the conversation with it.
func fitted(ctx context.Context, prompt []Content) []Content {
	out := slices.Clone(prompt)
	for i, c := range out {
		if c.Type != ContentMedia || !strings.HasPrefix(c.MIME, "image/") {
			continue
		}
		p, err := tools.FitImage(ctx, workspace.ContentType(c.Data), bytes.NewReader(c.Data), int64(len(c.Data)))
		if err != nil {
			out[i].Unseen = err.Error()
			continue
		}
		out[i].MIME, out[i].Data = p.MIME, p.Data
	}
	return out
}

func textPart(s string) []model.Part { return []model.Part{{Type: model.PartText, Text: s}} }

func linkName(c Content) string {
	if c.Name != "" {
		return c.Name
	}
	return filepath.Base(PathOf(c.URI))
}

// PathOf is the path that a file URI means, its escapes decoded, and any other
// URI as it stands.
func PathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // file:///C:/x
		path = path[1:]
	}
	if u.Fragment != "" {
		return filepath.FromSlash(path) + "#" + u.Fragment
	}
	return filepath.FromSlash(path)
}

// empty reports whether a prompt says nothing at all.
func empty(prompt []Content) bool {
	for _, c := range prompt {
		if len(c.parts()) > 0 {
			return false
		}
	}
	return true
}

// plainText joins the text of a prompt, for commands and titles.
func plainText(prompt []Content) string {
	var b strings.Builder
	for _, c := range prompt {
		if c.Type == ContentText {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// maxSessionTitle is the longest title of a session, in runes.
const maxSessionTitle = 80

// titleOf makes a session's title of its first prompt: one line, cut at a word.
func titleOf(prompt []Content) string {
	text := kinds.Escape(strings.Join(strings.Fields(plainText(prompt)), " "))
	if text == "" {
		for _, c := range prompt {
			if c.URI != "" {
				return linkName(c)
			}
		}
		return "New session"
	}
	runes := []rune(text)
	if len(runes) <= maxSessionTitle {
		return text
	}
	cut := string(runes[:maxSessionTitle-1])
	if i := strings.LastIndexByte(cut, ' '); i > maxSessionTitle/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
