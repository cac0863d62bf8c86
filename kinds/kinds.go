// Package kinds says what a tool call is: its kind, its place, the changes it
// makes, the card an editor shows for it, and the facts the permission engine
// judges. Every tool makes its card here, so that a kind has one spelling; and
// a URL is parsed here, once, so that all who deal with it mean the same place.
//
// It leaves out how a card travels (package acp), what may run (package
// session/permission) and how the web is reached (package tools/web).
package kinds

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what an editor picks an icon and a treatment by. The values are those
// of the protocol's ToolKind.
type Kind string

// The kinds of the protocol, section "Tool calls".
const (
	KindRead       Kind = "read"
	KindEdit       Kind = "edit"
	KindDelete     Kind = "delete"
	KindMove       Kind = "move"
	KindSearch     Kind = "search"
	KindExecute    Kind = "execute"
	KindThink      Kind = "think"
	KindFetch      Kind = "fetch"
	KindSwitchMode Kind = "switch_mode"
	KindOther      Kind = "other"
)

// Location is a place in a file that a call looks at or changes.
type Location struct {
	Path string `json:"path"`          // absolute
	Line int    `json:"line,omitzero"` // from 1; 0: the file as a whole
}

// Change is what a call does to one file, as whole texts.
type Change struct {
	Path string  `json:"path"` // absolute
	Old  *string `json:"old,omitzero"`
	New  string  `json:"new"`
}

// Card is what an editor shows of a call, before, while and after it runs.
type Card struct {
	Title     string     `json:"title"` // one line, at most MaxTitle runes
	Kind      Kind       `json:"kind"`
	Locations []Location `json:"locations,omitzero"`
	Changes   []Change   `json:"changes,omitzero"`
	// Text is Markdown shown beside the changes while the call waits and in the
	// permission request: the whole command, the reason of a question.
	Text string `json:"text,omitzero"`
}

// Untold is the text of a card whose title does not say all of it.
func (c Card) Untold() string {
	if c.Kind == KindExecute && c.Text == Fence("sh", c.Title) {
		return ""
	}
	return c.Text
}

// MaxTitle is the longest title in runes (spec, "A tool call's life").
const MaxTitle = 120

// Root is the folder that titles are relative to: the session's first root.
type Root string

// Read is the card of a call that reads a file, or the part of it that is named;
// line is 0 where it begins at none.
func (r Root) Read(path, part string, line int) Card {
	return Card{Title: Title("Read " + r.Name(path) + inBrackets(part)), Kind: KindRead, Locations: r.at(path, line)}
}

// Overview is the card of a call that looks at what a folder holds as a whole.
func (r Root) Overview(dir string) Card {
	title := "Overview"
	if name := r.Name(dir); name != "." {
		title += " of " + name
	}
	return Card{Title: Title(title), Kind: KindRead, Locations: r.at(dir, 0)}
}

// Edit is the card of a call that changes a file. Changes may be empty where
// the content waits for permission.
func (r Root) Edit(path string, line int, changes ...Change) Card {
	return Card{Title: Title("Edit " + r.Name(path)), Kind: KindEdit, Locations: r.at(path, line), Changes: changes}
}

// Write is the card of a call that creates or replaces a file.
func (r Root) Write(path string, changes ...Change) Card {
	return Card{Title: Title("Write " + r.Name(path)), Kind: KindEdit, Locations: r.at(path, 0), Changes: changes}
}

// Deed is what a patch does to one file.
type Deed struct {
	Does  Does
	Path  string
	From  string // the name it had, where it is moved or copied
	Edits bool   // its content changes as well
}

// Does is what is done to a file as a whole.
type Does int

// What a patch does to files, in the order in which a title tells it.
const (
	Patches Does = iota // creates or changes it
	Deletes
	Moves
	Copies
)

// Patch is the card of a call that does something to each of several files, at
// the places. Where all that it does is to delete or to move, it is of that kind.
// The title leaves out nothing but names: some editors show nothing else.
func (r Root) Patch(deeds []Deed, places []Location, changes ...Change) Card {
	names, edits := map[Does][]string{}, false
	for _, d := range deeds {
		edits = edits || d.Edits
		name := r.Name(d.Path)
		if d.From != "" {
			name = r.Name(d.From) + " to " + name
		}
		names[d.Does] = append(names[d.Does], name)
	}
	var done []string
	for does, verb := range []string{"patch", "delete", "move", "copy"} {
		if list := names[Does(does)]; len(list) > 0 {
			done = append(done, verb+" "+firstFew(list))
		}
	}
	title := strings.Join(done, ", ")
	if title != "" {
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	card := Card{Title: Title(title), Kind: KindEdit, Locations: places, Changes: changes}
	switch {
	case len(names[Deletes]) == len(deeds):
		card.Kind = KindDelete
	case len(names[Moves]) == len(deeds) && !edits:
		card.Kind = KindMove
	}
	return card
}

// firstFew lists some names, and how many more there are.
func firstFew(names []string) string {
	const most = 3
	list := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		list += " and " + strconv.Itoa(more) + " more"
	}
	return list
}

// Search is the card of a call that looks for text in the files below a folder,
// or only in those that are named.
func (r Root) Search(what, dir, files string) Card { return r.look("Search ", what, dir, files) }

// Find is the card of a call that looks for files by name below a folder.
func (r Root) Find(what, dir string) Card { return r.look("Find ", what, dir, "") }

func (r Root) look(verb, what, dir, files string) Card {
	title := verb + Quote(what)
	if name := r.Name(dir); name != "." {
		title += " in " + name
	}
	return Card{Title: Title(title + inBrackets(files)), Kind: KindSearch, Locations: r.at(dir, 0)}
}

// inBrackets is what is added to a title, where there is anything.
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// Execute is the card of a call that runs a command: the title is the command
// itself, the text the whole of it in a fence.
func Execute(command string) Card {
	return Card{Title: Title(command), Kind: KindExecute, Text: Fence("sh", Escape(command))}
}

// Output is the card of a call that looks at what something running has said.
func Output(title string) Card { return Card{Title: Title(title), Kind: KindRead} }

// Think is the card of a call that changes nothing outside the conversation.
func Think(title string) Card { return Card{Title: Title(title), Kind: KindThink} }

// SwitchMode is the card of a call that changes the session's mode; about is
// Markdown of the model's, shown with it.
func SwitchMode(title, about string) Card {
	return Card{Title: Title(title), Kind: KindSwitchMode, Text: SafeMarkdown(about)}
}

// Other is the card of a call of which nothing better is known.
func Other(title string) Card { return Card{Title: Title(title), Kind: KindOther} }

// Name is how path is called in titles: relative where it lies below the root.
func (r Root) Name(path string) string {
	path = r.Abs(path)
	rel, err := filepath.Rel(string(r), path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}

// Abs is path made absolute against the root and cleaned.
func (r Root) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(r), path)
}

func (r Root) at(path string, line int) []Location {
	return []Location{{Path: r.Abs(path), Line: max(line, 0)}}
}

// Title makes s one visible line of at most MaxTitle runes. What is too long
// keeps its head and its tail, since a command hides its sting at the end.
func Title(s string) string {
	s = strings.Join(strings.Fields(Escape(s)), " ") // escaped first, so that no odd blank passes for a usual one
	n := utf8.RuneCountInString(s)
	if n <= MaxTitle {
		return s
	}
	runes := []rune(s)
	head := (MaxTitle - 1) * 2 / 3
	return string(runes[:head]) + "…" + string(runes[n-(MaxTitle-1-head):])
}

// Escape shows every rune of s that would not be seen as what it is: control,
// format, private and unassigned characters, and blanks other than the space.
// TAB and LF stay.
func Escape(s string) string {
	if !hasHidden(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(hex(`\x`, rune(s[i]), 2))
		case !hidden(r):
			b.WriteRune(r)
		case r == 0x1b:
			b.WriteString(`\e`)
		case r == '\r':
			b.WriteString(`\r`)
		case r > 0xffff:
			b.WriteString(hex(`\U`, r, 8))
		case r > 0xff:
			b.WriteString(hex(`\u`, r, 4))
		default:
			b.WriteString(hex(`\x`, r, 2))
		}
	}
	return b.String()
}

func hasHidden(s string) bool {
	if !utf8.ValidString(s) {
		return true
	}
	return strings.IndexFunc(s, hidden) >= 0
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < 0x20 || r == 0x7f || r == 0x3164:
		return true
	case r < 0x7f:
		return false
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Co, r)
}

func hex(prefix string, r rune, width int) string {
	const digits = "0123456789abcdef"
	out := []byte(prefix)
	for shift := (width - 1) * 4; shift >= 0; shift -= 4 {
		out = append(out, digits[r>>shift&0xf])
	}
	return string(out)
}

// Fence puts text between Markdown fences longer than any run of back-ticks in it.
func Fence(lang, text string) string {
	longest, run := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", max(3, longest+1))
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + lang + "\n" + text + fence
}

// Quote puts s into double quotes as a person would, without escaping.
func Quote(s string) string { return `"` + s + `"` }
