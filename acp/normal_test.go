package acp_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// normal turns what differs from run to run into names, and back: folders,
// ids by their first appearance, times and durations.
type normal struct {
	whole  bool              // leave out nothing
	fixed  []string          // pairs: the text, its name; longest first
	names  map[string]string // id → name
	values map[string]string // name → what it stands for
	counts map[string]int
}

// newNormal names the folders and servers given as pairs of name and text.
func newNormal(pairs ...string) *normal {
	n := &normal{names: map[string]string{}, values: map[string]string{}, counts: map[string]int{}}
	for pair := range slices.Chunk(pairs, 2) {
		n.values[pair[0]] = pair[1]
		n.fixed = append(n.fixed, pair[1], pair[0])
	}
	return n
}

var (
	idText    = regexp.MustCompile(`\b(?:(sess|msg|part)_[0-9a-f]{8}-[0-9a-f-]{27}|(call)_[0-9a-f]{32})`)
	timeText  = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	tookText  = regexp.MustCompile(`"duration_ms":\d+`)
	spoolText = regexp.MustCompile(`output-\d+\.txt`)
	tempText  = regexp.MustCompile(`"--norc","[^"]+"`)
	nameText  = regexp.MustCompile(`\$[A-Z]+\d*`)
)

// idNames says how ids are named by their prefix. To the editor, a part of a
// message is a message.
var idNames = map[string]string{"sess": "$SESSION", "call": "$CALL", "msg": "$MSG", "part": "$MSG"}

// line is a line of the agent's in the form of a transcript.
func (n *normal) line(raw []byte) string {
	s := string(raw)
	for pair := range slices.Chunk(n.fixed, 2) {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	s = idText.ReplaceAllStringFunc(s, n.id)
	s = timeText.ReplaceAllLiteralString(s, `"$TIME"`)
	s = tookText.ReplaceAllLiteralString(s, `"duration_ms":0`)
	s = spoolText.ReplaceAllLiteralString(s, `output.txt`)
	s = tempText.ReplaceAllLiteralString(s, `"--norc","$SCRIPT"`)
	s = visible(s)
	if n.whole {
		return s
	}
	for _, key := range []string{"agentCapabilities", "authMethods", "modes", "configOptions"} {
		s = elide(s, key)
	}
	return s
}

// visible writes what does not show, or shows as something else, as JSON escapes.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// id is the name of an id. The first session is $SESSION, the second $SESSION2;
// calls and messages are counted from 1.
func (n *normal) id(id string) string {
	if name, ok := n.names[id]; ok {
		return name
	}
	prefix, _, _ := strings.Cut(id, "_")
	name := idNames[prefix]
	n.counts[name]++
	if name != "$SESSION" || n.counts[name] > 1 {
		name = fmt.Sprint(name, n.counts[name])
	}
	n.names[id], n.values[name] = name, id
	return name
}

// expand puts what the names stand for into a line of the client's.
func (n *normal) expand(s string) string {
	return nameText.ReplaceAllStringFunc(s, func(name string) string {
		if v, ok := n.values[name]; ok {
			return v
		}
		return name
	})
}

// elide leaves out the value of a key, which must be an object or a list.
func elide(s, key string) string {
	at := strings.Index(s, `"`+key+`":`)
	if at < 0 {
		return s
	}
	at += len(key) + 3
	if at >= len(s) || s[at] != '{' && s[at] != '[' {
		return s
	}
	return s[:at] + s[at:at+1] + "…" + s[at+closing(s[at:]):]
}

// closing is where the bracket that begins s is closed.
func closing(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case bytes.IndexByte([]byte("[{"), c) >= 0:
			depth++
		case bytes.IndexByte([]byte("]}"), c) >= 0:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}
