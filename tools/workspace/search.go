package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// MaxSearched is the longest file in bytes that is searched.
const MaxSearched = 64 << 20

// Limits of what is shown of a match.
const (
	maxLineRunes  = 2000 // of a line; more is cut around the match
	maxMatchLines = 100  // of a match that reaches over lines
)

// SearchOptions says what a search is to return.
type SearchOptions struct {
	// Lines is how many matches are returned with their lines; 0: none, only
	// how many there are. The search ends when it has one more.
	Lines int
	// Context is how many lines are returned before and behind each match.
	Context int
	// First ends the search of a file at its first match.
	First bool
	// Text gives a file's bytes where they are known better than by the disk,
	// by its target; not ok: the disk is read. It is called by several
	// goroutines at once. Nil: always the disk.
	Text func(ctx context.Context, target string) (data []byte, ok bool)
	// Workers is how many files are searched at once; 0: as many as pay.
	Workers int
}

// Found is what a search came to.
type Found struct {
	Files    []FileMatches // that have matches, in the order in which they were given
	Matches  int           // in Files; one more than Lines, or more, where the search ended early
	Searched int           // files, up to the last that is in Files where the search ended early
	Ended    bool          // it ended early: there are more matches than Lines

	Binary     Tally // have a NUL near the beginning
	Large      Tally // longer than MaxSearched
	Secret     Tally // their names say that they hold secrets, and they were not named
	Outside    Tally // links that lead out of the roots and of what was searched
	Unreadable Tally
	// Unfinished are files of which only a part was searched, or nothing: the
	// pattern goes over their text again and again, or did so in those before.
	Unfinished Tally
}

// FileMatches is what was found in one file.
type FileMatches struct {
	Path  string // as it was given
	Count int    // matches
	Lines []Line // rising; between some there is a gap
}

// Line is a line of a file. It is cut where it is very long.
type Line struct {
	Number int // from 1
	Text   string
	Match  bool // else it is context
	Of     int  // the match that it shows or surrounds, from 1
	More   int  // lines of the match that follow and are not returned
}

// Search looks for a pattern in files below start, as Walk lists them. A start
// that is a file itself is searched by one file of an empty path; then its name
// may be that of a secret.
//
// What is found is the same however many workers there are, where no file is
// unfinished. Search returns
// early with ctx's cause when ctx is done.
func Search(ctx context.Context, r *Roots, start Path, files []File, p *Pattern, opts SearchOptions) (*Found, error) {
	s := newSearch(ctx, r, start, files, p, opts)
	if err := s.run(); err != nil {
		return nil, err
	}
	return s.found(), nil
}

func newSearch(ctx context.Context, r *Roots, start Path, files []File, p *Pattern, opts SearchOptions) *search {
	s := &search{ctx: ctx, roots: r, start: start.Target, files: files, pattern: p, opts: opts,
		outcomes: make([]outcome, len(files)), secret: IsSecret(start.Target)}
	s.effort.Store(maxEffortAll)
	if one, rel, ok := r.within(start.Target); ok {
		s.root, s.secret = one, IsSecret(rel)
		if rel != "." {
			s.below = rel + string(filepath.Separator)
		}
	}
	return s
}

func (s *search) run() error {
	workers := s.opts.Workers
	if workers <= 0 {
		workers = min(4, runtime.GOMAXPROCS(0))
	}
	var group sync.WaitGroup // of the workers, awaited below
	for range min(workers, len(s.files)) {
		group.Go(s.work)
	}
	group.Wait()
	return context.Cause(s.ctx)
}

// search is one search. Its workers take files in order, so that when it ends
// early all files before the last have been searched.
type search struct {
	ctx     context.Context
	roots   *Roots
	root    *root  // that holds start; nil: none
	below   string // start's name in root: "" or ending in a separator
	start   string // absolute and resolved
	secret  bool   // start's own name is that of a secret, so what is below was named
	files   []File
	pattern *Pattern
	opts    SearchOptions

	next     atomic.Int64
	matches  atomic.Int64
	effort   atomic.Int64 // that is left of maxEffortAll
	outcomes []outcome    // by file
	large    largeBuffer
}

// outcome is what became of one file.
type outcome struct {
	verdict verdict
	matches FileMatches
}

type verdict uint8

const (
	verdictUntouched verdict = iota
	verdictSearched
	verdictBinary
	verdictLarge
	verdictSecret
	verdictOutside
	verdictUnreadable
	verdictUnfinished
)

func (s *search) work() {
	reader := &fileReader{large: &s.large}
	m := s.pattern.matcher()
	for s.ctx.Err() == nil && !s.enough() {
		i := int(s.next.Add(1)) - 1
		if i >= len(s.files) {
			return
		}
		o := &s.outcomes[i]
		o.matches.Path = s.files[i].Path
		m.grant = int(min(maxEffort, s.effort.Load()))
		m.effort = m.grant
		o.verdict = s.file(s.files[i], reader, m, &o.matches)
		reader.release()
		s.effort.Add(int64(m.effort - m.grant))
		s.matches.Add(int64(o.matches.Count))
	}
}

func (s *search) enough() bool {
	return s.opts.Lines > 0 && s.matches.Load() > int64(s.opts.Lines)
}

// file searches one file.
func (s *search) file(f File, reader *fileReader, m *matcher, out *FileMatches) verdict {
	if !s.secret && IsSecret(f.Path) {
		return verdictSecret
	}
	data, v := s.read(f, reader)
	if v != verdictSearched {
		return v
	}
	text, ok := plainText(data)
	switch {
	case !ok:
		return verdictBinary
	case !m.possible(text):
		return verdictSearched
	}
	return s.collect(m, foldNewlines(text), out)
}

// holds reports whether what a link leads to may be searched: what lies in the
// roots, or below the folder that was named.
func (s *search) holds(p Path) bool {
	_, ok := below(s.start, p.Target)
	return ok || p.Inside && s.root != nil
}

// read returns the bytes of a file. They are good until the reader's next file,
// and may be changed.
func (s *search) read(f File, reader *fileReader) ([]byte, verdict) {
	if s.root != nil && f.Path != "" && !f.Link && s.opts.Text == nil { // most: without a look at the roots
		return s.readDisk(s.root, s.below+filepath.FromSlash(f.Path), reader)
	}
	target := filepath.Join(s.start, filepath.FromSlash(f.Path))
	if f.Link {
		p, err := s.roots.Resolve(target)
		switch {
		case err != nil:
			return nil, verdictUnreadable
		case !s.holds(p):
			return nil, verdictOutside
		case !s.secret && IsSecret(s.roots.Name(p.Target)):
			return nil, verdictSecret
		}
		target = p.Target
	}
	if s.opts.Text != nil {
		if data, ok := s.opts.Text(s.ctx, target); ok {
			return bytes.Clone(data), verdictSearched
		}
	}
	one, name, inside := s.roots.within(target)
	if !inside {
		one, name = nil, target
	}
	return s.readDisk(one, name, reader)
}

// readDisk reads a file by its name in a root, or without one by its path.
func (s *search) readDisk(one *root, name string, reader *fileReader) ([]byte, verdict) {
	data, err := reader.read(one, name)
	switch {
	case err == nil:
		return data, verdictSearched
	case errors.Is(err, errLarge):
		return nil, verdictLarge
	case errors.Is(err, fs.ErrNotExist):
		return nil, verdictUntouched // removed since it was listed
	}
	return nil, verdictUnreadable
}

// plainText makes bytes of a file text in UTF-8, without a mark; not ok where
// they are no text.
func plainText(data []byte) ([]byte, bool) {
	if IsBinary(data) {
		return nil, false
	}
	e := encodingOf(data)
	data = data[len(e.mark()):]
	if e.wide() {
		var err error
		if data, err = e.codec().NewDecoder().Bytes(data); err != nil {
			return nil, false
		}
	}
	return data, true
}

// collect finds a text's matches.
func (s *search) collect(m *matcher, text []byte, out *FileMatches) verdict {
	var shown []span
	end := -1 // of the line in which the match before ended
	m.each(s.ctx, text, func(at span) bool {
		if m.multiline {
			joins := at.start <= end // it is shown by the same lines, or carries on
			end = lineAround(text, at.start, max(at.start, at.end-1)).end
			if joins {
				if out.Count == len(shown) {
					shown[len(shown)-1].end = at.end
				}
				return true
			}
		}
		out.Count++
		if len(shown) < s.opts.Lines {
			shown = append(shown, at)
		}
		return !s.opts.First && (s.opts.Lines == 0 || out.Count <= s.opts.Lines)
	})
	unfinished := m.gaveUp
	if len(shown) > 0 {
		c := collector{ctx: s.ctx, matcher: m, text: text, number: 1}
		c.lines(shown, s.opts.Context)
		out.Lines = c.out
	}
	if unfinished {
		return verdictUnfinished
	}
	return verdictSearched
}

// found sums up the outcomes, up to the file with which there are enough.
func (s *search) found() *Found {
	f := &Found{}
	for i := range s.outcomes {
		o := &s.outcomes[i]
		name := o.matches.Path
		if name == "" {
			name = filepath.Base(s.start)
		}
		switch o.verdict {
		case verdictSearched:
			f.Searched++
		case verdictBinary:
			f.Binary.Add(name)
		case verdictLarge:
			f.Large.Add(name)
		case verdictSecret:
			f.Secret.Add(name)
		case verdictOutside:
			f.Outside.Add(name)
		case verdictUnreadable:
			f.Unreadable.Add(name)
		case verdictUnfinished:
			f.Searched++
			f.Unfinished.Add(name)
		}
		if o.matches.Count == 0 {
			continue
		}
		if left := s.opts.Lines - f.Matches; s.opts.Lines > 0 {
			o.matches.keep(left)
		}
		f.Files = append(f.Files, o.matches)
		f.Matches += o.matches.Count
		if s.opts.Lines > 0 && f.Matches > s.opts.Lines {
			f.Ended = true
			break
		}
	}
	return f
}

// keep leaves the lines of the first n matches.
func (m *FileMatches) keep(n int) {
	if i := slices.IndexFunc(m.Lines, func(l Line) bool { return l.Of > n }); i >= 0 {
		m.Lines = m.Lines[:i]
	}
}

// collector makes lines of matches, going through a text once.
type collector struct {
	ctx     context.Context
	matcher *matcher
	text    []byte
	out     []Line
	pos     int // begins the next line that may be shown
	number  int // of that line
	of      int // the match that is shown, from 1
}

// lines shows the matches with as many lines of context.
func (c *collector) lines(matches []span, context int) {
	for i, m := range matches {
		c.of = i + 1
		whole := lineAround(c.text, 0, m.start)
		first := whole.start
		if end := max(m.start, m.end-1); end > whole.end {
			whole.end = lineAround(c.text, whole.end, end).end
		}
		for range context {
			if first <= c.pos {
				break
			}
			first = lineAround(c.text, c.pos, first-1).start
		}
		c.skip(first)
		for c.pos < whole.start {
			c.show(false)
		}
		for n := 0; n < maxMatchLines && c.pos <= whole.end && c.more(); n++ {
			c.show(true)
		}
		number := c.number
		c.skip(whole.end + 1)
		if more := c.number - number; more > 0 && len(c.out) > 0 {
			c.out[len(c.out)-1].More = more
		}
		stop := len(c.text)
		if i+1 < len(matches) {
			stop = matches[i+1].start
		}
		for range context {
			if !c.more() || lineAround(c.text, c.pos, c.pos).end >= stop && i+1 < len(matches) {
				break
			}
			c.show(false)
		}
	}
}

// more reports whether there is a line at pos: an empty one behind the last line
// end is none, but where the text is empty.
func (c *collector) more() bool { return c.pos < len(c.text) || len(c.text) == 0 && c.pos == 0 }

// skip goes on to the line that begins at pos.
func (c *collector) skip(pos int) {
	if pos = min(pos, len(c.text)); pos > c.pos {
		c.number += bytes.Count(c.text[c.pos:pos], []byte("\n"))
		c.pos = pos
	}
}

// show adds the line at pos and goes on to the next.
func (c *collector) show(match bool) {
	line := lineAround(c.text, c.pos, c.pos)
	text := c.text[line.start:line.end]
	c.out = append(c.out, Line{Number: c.number, Text: c.cut(text, match), Match: match, Of: c.of})
	c.pos = line.end + 1
	c.number++
}

// cutMark stands where something of a line is left out.
const cutMark = "[…]"

// cut leaves maxLineRunes of a line, with the match in them.
func (c *collector) cut(line []byte, match bool) string {
	if len(line) <= maxLineRunes {
		return readable(line)
	}
	valid := utf8.Valid(line)
	if valid && len(line) <= utf8.UTFMax*maxLineRunes && utf8.RuneCount(line) <= maxLineRunes {
		return string(line)
	}
	from := 0
	if match {
		from = c.matcher.mark(c.ctx, line)
	}
	from = back(line, from, maxLineRunes/4, valid)
	end := forward(line, from, maxLineRunes, valid)
	if end == len(line) {
		from = back(line, end, maxLineRunes, valid)
	}
	text := line[from:end]
	if !valid { // all of the line is taken as Latin-1
		text = []byte(latin1(text))
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString(cutMark)
	}
	b.Write(text)
	if end < len(line) {
		b.WriteString(cutMark)
	}
	return b.String()
}

// back goes n characters back in a line, which is valid or counts by bytes.
func back(line []byte, from, n int, valid bool) int {
	if !valid {
		return max(0, from-n)
	}
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRune(line[:from])
		from -= size
	}
	return from
}

// forward goes n characters on in a line, which is valid or counts by bytes.
func forward(line []byte, from, n int, valid bool) int {
	if !valid {
		return min(len(line), from+n)
	}
	for ; n > 0 && from < len(line); n-- {
		_, size := utf8.DecodeRune(line[from:])
		from += size
	}
	return from
}
