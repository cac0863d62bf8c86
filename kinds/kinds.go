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

// TitleTellsAll reports whether the title of a call that runs a command is the
// command itself, whole.
func (c Card) TitleTellsAll() bool {
	return c.Kind != KindExecute || strings.HasPrefix(c.Text, Fence("sh", c.Title))
}

// Root is the folder that titles are relative to: the session's first root.
type Root string

// Read is the card of a call that reads a file, or the part of it that is named;
// line is 0 where it begins at none.
func (r Root) Read(path, part string, line int) Card {
	return Card{Title: cut("Read " + r.line(path) + inBrackets(Line(part))), Kind: KindRead, Locations: r.at(path, line)}
}

// Overview is the card of a call that looks at what a folder holds as a whole.
func (r Root) Overview(dir string) Card {
	title := "Overview"
	if name := r.line(dir); name != "." {
		title += " of " + name
	}
	return Card{Title: cut(title), Kind: KindRead, Locations: r.at(dir, 0)}
}

// Edit is the card of a call that changes a file. Changes may be empty where
// the content waits for permission.
func (r Root) Edit(path string, line int, changes ...Change) Card {
	return Card{Title: cut("Edit " + r.line(path)), Kind: KindEdit, Locations: r.at(path, line), Changes: changes}
}

// Write is the card of a call that creates or replaces a file.
func (r Root) Write(path string, changes ...Change) Card {
	return Card{Title: cut("Write " + r.line(path)), Kind: KindEdit, Locations: r.at(path, 0), Changes: changes}
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
		name := r.line(d.Path)
		if d.From != "" {
			name = r.line(d.From) + " to " + name
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
	card := Card{Title: cut(title), Kind: KindEdit, Locations: places, Changes: changes}
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
	title := verb + Quote(Line(what))
	if name := r.line(dir); name != "." {
		title += " in " + name
	}
	return Card{Title: cut(title + inBrackets(Line(files))), Kind: KindSearch, Locations: r.at(dir, 0)}
}

// LookUp is the card of a call that asks a language server about something in a
// file, or about the whole project where path is empty; line is 0 where it names
// none.
func (r Root) LookUp(what, path string, line int) Card {
	if path == "" {
		return Card{Title: cut(Line(what)), Kind: KindSearch}
	}
	return Card{Title: cut(Line(what) + " in " + r.line(path)), Kind: KindSearch, Locations: r.at(path, line)}
}

// Problems is the card of a call that reads what language servers say of a file,
// or of the whole project where path is empty.
func (r Root) Problems(path string) Card {
	if path == "" {
		return Card{Title: "Problems of the project", Kind: KindRead}
	}
	return Card{Title: cut("Problems of " + r.line(path)), Kind: KindRead, Locations: r.at(path, 0)}
}

// Refactor is the card of a call that changes files as a language server works it
// out; what names it, as in "rename a to b".
func (r Root) Refactor(what string, places []Location, changes ...Change) Card {
	return Card{Title: cut(Capital(Line(what))), Kind: KindEdit, Locations: places, Changes: changes}
}

// Capital is a text that begins with a capital letter, if there is one for how it
// begins.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size <= 1 && first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// inBrackets is what is added to a title, where there is anything.
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// Execute is the card of a call that runs a command: the title is the command
// itself, without the comments that it begins with, the text the whole of it in a
// fence.
func Execute(command string) Card {
	text := Fence("sh", Whole(command))
	if n := HiddenIn(command); n > 0 {
		text += "\n\n" + writtenOut(n)
	}
	return Card{Title: cut(Line(afterComments(command))), Kind: KindExecute, Text: text}
}

// Served is the card of a call of a server's tool. The name is written as in
// rules, mcp:SERVER:TOOL, so that no server's tool can pass for one of the
// agent's own.
func Served(server, tool string) Card {
	return Card{Title: cut("mcp:" + Line(server) + ":" + Line(tool)), Kind: KindOther}
}

// Output is the card of a call that looks at what something running has said.
func Output(title string) Card { return Card{Title: Title(title), Kind: KindRead} }

// Think is the card of a call that changes nothing outside the conversation.
func Think(title string) Card { return Card{Title: Title(title), Kind: KindThink} }

// SwitchMode is the card of a call that changes the session's mode; about is
// Markdown of the model's, shown with it and decided by, so nothing in it is hidden.
func SwitchMode(title, about string) Card {
	return Card{Title: Title(title), Kind: KindSwitchMode, Text: Escape(SafeMarkdown(about))}
}

// Other is the card of a call of which nothing better is known.
func Other(title string) Card { return Card{Title: Title(title), Kind: KindOther} }

// line is how path is called in a title.
func (r Root) line(path string) string { return Line(r.Name(path)) }

// Name is how path is called: relative where it lies below the root.
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

// Quote puts s into double quotes as a person would, without escaping.
func Quote(s string) string { return `"` + s + `"` }
