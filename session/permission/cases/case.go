// Package cases reads permission cases, one JSON object a line, and builds the
// tree of files that a case is about in a temporary folder (policy section 0).
//
// It leaves out judging them, which is the work of package corpus: this one
// knows nothing of the engine, whose own tests use it too.
package cases

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
)

// Case is a line of a file of cases, with the fields that several kinds have.
// What one kind alone has, Decode reads.
type Case struct {
	ID         string
	Kind       string   // a name for what is tried; those that begin with benign must not ask needlessly
	Cmd        string   // a shell command
	Op         string   // of a file tool, or of the network
	URL        string   // what an operation of the network is given
	Path       string   `json:"-"` // what a file tool is given
	PATH       []string `json:"-"` // the user's, before it is rebuilt; nil: all programs are there
	Mode       string   // empty: default
	Headless   bool
	Trusted    *bool // nil: trusted
	Rules      []Rule
	FS         []File
	Additional []string // further folders that count as inside
	Cwd        string   // of the session, from the top of the tree; empty: ws
	Want       string   // allow, ask or deny; empty: nothing is wanted

	raw    json.RawMessage
	fields map[string]json.RawMessage
	file   string
	line   int
}

// Rule is a rule of a case, in the words of a configuration.
type Rule struct{ Permission, Pattern, Action, Scope string }

// File is an entry of a tree. Its Type is file (also where it is empty), dir,
// symlink or hardlink (to To), socket or fifo; its Mode is octal.
type File struct{ Path, Type, To, Content, Mode string }

// Place is where the case stands: file:line.
func (c *Case) Place() string { return fmt.Sprintf("%s:%d", c.file, c.line) }

// Has reports whether the case has a field of this name, be it null.
func (c *Case) Has(field string) bool {
	_, ok := c.fields[field]
	return ok
}

// Decode reads the fields of the case that v, a pointer to a struct, has.
func (c *Case) Decode(v any) error { return inWords(json.Unmarshal(c.raw, v)) }

// inWords names the field that holds what it cannot, without the types of Go.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	field := strings.TrimPrefix(wrong.Field, "fields.")
	if field == "" {
		return fmt.Errorf("it holds a JSON %s where something else belongs", wrong.Value)
	}
	return fmt.Errorf("%q holds a JSON %s where something else belongs", strings.ToLower(field), wrong.Value)
}

// UnmarshalJSON reads a case. "path" is the PATH of a command, as a list, or
// what a file tool is given.
func (c *Case) UnmarshalJSON(data []byte) error {
	type fields Case
	var raw struct {
		fields
		Path json.RawMessage `json:"path"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*c = Case(raw.fields)
	c.raw = bytes.Clone(data)
	if err := json.Unmarshal(c.raw, &c.fields); err != nil {
		return err
	}
	switch {
	case len(raw.Path) == 0:
	case raw.Path[0] == '[':
		return json.Unmarshal(raw.Path, &c.PATH)
	default:
		return json.Unmarshal(raw.Path, &c.Path)
	}
	return nil
}

// LineError is what is wrong with one line of a file of cases.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// The limits of a file of cases.
const (
	maxLine   = 4 << 20  // bytes of a case
	maxLayout = 16 << 20 // bytes of a layout
	maxBad    = 100      // lines that are no cases, of which one file has no more
)

// mark may stand at the begin of a text in UTF-8.
var mark = []byte("\xef\xbb\xbf")

// open opens a regular file: another one may never end, or never begin.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: write what it would hold to one", name)
	}
	return os.Open(name)
}

// Read reads the cases of a file. A line that is none comes as a *LineError, and
// the rest goes on; any other error is the last. Empty lines are passed over, and
// so is a byte order mark.
func Read(name string) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		f, err := open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, maxLine)
		number, bad := 0, 0
		for in.Scan() {
			number++
			text := in.Bytes()
			if number == 1 {
				text = bytes.TrimPrefix(text, mark)
			}
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			c, err := parse(text, name, number)
			if err != nil {
				bad++
			}
			if !yield(c, err) {
				return
			}
			if bad >= maxBad {
				yield(nil, fmt.Errorf("%s:%d: %d lines are no cases, so the rest is not read; is it a file of cases?", name, number, bad))
				return
			}
		}
		switch err := in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, fmt.Errorf("%s:%d: the line is longer than %d bytes, so the rest is not read; a case is one JSON object a line", name, number+1, maxLine))
		case err != nil:
			yield(nil, fmt.Errorf("reading %s: %w", name, err))
		}
	}
}

func parse(text []byte, file string, line int) (*Case, error) {
	c := &Case{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, &LineError{file, line, fmt.Errorf("it is no case, which is one JSON object a line: %w", inWords(err))}
	}
	if err := c.check(); err != nil {
		return nil, &LineError{file, line, err}
	}
	c.file, c.line = file, line
	return c, nil
}

// check says what no kind of case could be.
func (c *Case) check() error {
	if c.ID == "" {
		return errors.New(`the case has no "id": give it a name of its own`)
	}
	for _, r := range c.Rules {
		if r.Permission == "" {
			return fmt.Errorf(`case %s: a rule has no "permission": say what it is about, such as bash`, c.ID)
		}
	}
	switch c.Want {
	case "allow", "ask", "deny":
		return nil
	case "":
		return c.checkFields()
	}
	return fmt.Errorf(`case %s: "want" is %q: write allow, ask or deny`, c.ID, c.Want)
}

// checkFields refuses a case that wants nothing and has a field of no known name:
// what it wants may be misspelled, and it would pass whatever is found.
func (c *Case) checkFields() error {
	known := strings.Fields(`id kind source why cmd op url path mode headless trusted rules fs additional cwd call_cwd want
		caps os case_insensitive race content approved args dns redirects dns_sequence config_scope expect_dial headers
		offer never probe_allow probe_ask must_contain must_not_contain option_label sink check`)
	if c.Has("offer") || c.Has("must_contain") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.fields)) {
		if !slices.Contains(known, strings.ToLower(name)) {
			return fmt.Errorf(`case %s has no "want", and no case has a field %q`, c.ID, name)
		}
	}
	return nil
}

// ReadLayout reads the tree that is the same for all cases of a file: an object
// with the list "fs".
func ReadLayout(name string) ([]File, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLayout+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxLayout {
		return nil, fmt.Errorf("the layout %s is larger than %d bytes", name, maxLayout)
	}
	var l struct{ FS []File }
	if err := json.Unmarshal(bytes.TrimPrefix(data, mark), &l); err != nil {
		return nil, fmt.Errorf("the layout %s: %w", name, err)
	}
	return l.FS, nil
}
