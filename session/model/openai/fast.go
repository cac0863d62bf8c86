package openai

import (
	"bytes"
	"unicode/utf8"
)

// plainText reads the text of the event that nearly all of a stream is made of:
// one choice whose delta has content and nothing else. ok is false for any other
// event, also for one that it only does not care to read: that takes the way
// through encoding/json, which is ten times as long. What it accepts,
// encoding/json reads the same.
func plainText(data []byte) (content []byte, ok bool) {
	s := scanner{b: data}
	seen := false
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "choices":
			if seen || !s.skip('[') {
				return false
			}
			seen = true
			content, ok = s.plainChoice()
			return ok && s.skip(']')
		case "usage", "error":
			return s.null()
		}
		return s.scalar()
	})
	return content, ok && seen && s.end()
}

// plainChoice reads a choice that only has text.
func (s *scanner) plainChoice() (content []byte, ok bool) {
	seen := false
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "index":
			return s.skip('0') // nothing but a comma or the end may follow, as object sees to
		case "delta":
			if seen {
				return false
			}
			seen = true
			content, ok = s.plainDelta()
			return ok
		case "finish_reason", "logprobs", "usage":
			return s.null()
		}
		return false
	})
	return content, ok && seen
}

func (s *scanner) plainDelta() (content []byte, ok bool) {
	seen := false
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			if seen {
				return false
			}
			content, seen = s.str()
			return seen && utf8.Valid(content)
		case "role":
			_, ok := s.str()
			return ok
		}
		return s.null()
	})
	return content, ok && seen
}

// scanner reads the little JSON that plainText cares for. Its methods return
// false at anything else, and then no more is read.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// skip takes one byte that must come next.
func (s *scanner) skip(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) end() bool {
	s.space()
	return s.i == len(s.b)
}

// object reads an object with at least one member. member reads the value of
// each.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.skip('{') {
		return false
	}
	for {
		key, ok := s.key()
		if !ok || !s.skip(':') || !member(key) {
			return false
		}
		if s.skip('}') {
			return true
		}
		if !s.skip(',') {
			return false
		}
	}
}

// key reads a name in lower case: encoding/json takes any case, so other
// spellings are its business.
func (s *scanner) key() ([]byte, bool) {
	key, ok := s.str()
	for _, c := range key {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return nil, false
		}
	}
	return key, ok
}

// str reads a string without escapes.
func (s *scanner) str() ([]byte, bool) {
	if !s.skip('"') {
		return nil, false
	}
	n := bytes.IndexByte(s.b[s.i:], '"')
	if n < 0 {
		return nil, false
	}
	in := s.b[s.i : s.i+n]
	for _, c := range in {
		if c == '\\' || c < ' ' {
			return nil, false
		}
	}
	s.i += n + 1
	return in, true
}

func (s *scanner) null() bool {
	s.space()
	if bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		s.i += len("null")
		return true
	}
	return false
}

// scalar skips a string, null or an integer.
func (s *scanner) scalar() bool {
	s.space()
	if s.i == len(s.b) {
		return false
	}
	switch c := s.b[s.i]; {
	case c == '"':
		_, ok := s.str()
		return ok
	case c >= '1' && c <= '9':
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return true
	}
	return s.null()
}
