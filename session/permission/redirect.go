package permission

import (
	"os"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

var plainTarget = lazy(`^[A-Za-z_./][A-Za-z0-9_./-]*$`)

// redirect judges a redirection: it is a file operation whatever the command.
func (s *shell) redirect(r *syntax.Redirect, at dirs) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		s.opaque("a redirection that sets a variable")
	}
	if hasBraces(r.Word) && r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc && r.Op != syntax.WordHdoc {
		s.opaque("a redirection whose target has braces")
		targets, _ := s.words([]*syntax.Word{r.Word}, at)
		s.redirectAmong(r.Op, targets, at)
		return
	}
	w := s.word(r.Word, at)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		s.piped = true
		s.hereDoc(r, at)
		return
	case syntax.WordHdoc:
		s.piped = true
		s.data(w, "input that can run code")
		return
	case syntax.DplIn, syntax.DplOut:
		// Quotes make another word of it: `>&-''` closes and has a word more, `>&3-''` opens a file.
		if lit := r.Word.Lit(); lit != "" && strings.Trim(strings.TrimSuffix(lit, "-"), "0123456789") == "" {
			return
		}
		// Bash ends `>&-` at the sign, and expands the name of a file twice.
		if !w.static() || !plainTarget().MatchString(w.text) {
			s.opaque("a redirection whose target shells read in different ways")
		}
	}
	if !w.static() {
		s.opaque("a redirection whose target is not known before it runs")
		s.redirectAmong(r.Op, s.several(r.Word, w), at)
		return
	}
	if strings.HasPrefix(w.text, "/dev/tcp") || strings.HasPrefix(w.text, "/dev/udp") {
		s.opaque("a redirection that opens a network connection")
		return
	}
	s.redirectTo(r.Op, w.text, at)
}

// mayFail reports whether a redirection can fail, so that the command behind it does not
// run: of the common ones none to /dev/null or another stream does.
func mayFail(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return false
		case syntax.DplOut:
			return r.Word.Lit() != "1" && r.Word.Lit() != "2"
		}
		return r.Word.Lit() != os.DevNull
	})
}

// redirectAmong judges a redirection that goes to one of some files, as far as they are
// known: to bash it is to the one word that is left of its target, if it is one.
func (s *shell) redirectAmong(op syntax.RedirOperator, targets []word, at dirs) {
	for _, w := range targets {
		for _, file := range s.expand(w, at) {
			if file.text != "" && !strings.Contains(file.text, noGuess) {
				s.redirectTo(op, file.text, at)
			}
		}
	}
}

func (s *shell) redirectTo(op syntax.RedirOperator, target string, at dirs) {
	switch op {
	case syntax.RdrIn:
		s.piped = true
		s.operand(kinds.Read, target, at)
		return
	case syntax.RdrInOut:
		s.piped = true
		s.operand(kinds.Read, target, at)
	}
	switch target {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return
	}
	if rawDisk(target) {
		s.deny("it writes to the disk " + visible(target) + " itself")
		return
	}
	s.operand(kinds.Write, target, at)
}

// hereDoc judges a here-document: with a quoted delimiter it is data.
func (s *shell) hereDoc(r *syntax.Redirect, at dirs) {
	if !plainDelimiter(r.Word) {
		s.opaque("a here-document with an uncommon end")
	}
	if r.Hdoc == nil || quotedWord(r.Word) {
		return
	}
	var b strings.Builder
	var d word
	for _, part := range r.Hdoc.Parts {
		s.part(part, at, &b, &d, true)
	}
	s.data(d, "a here-document with expansions that can run code")
}

func quotedWord(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// plainDelimiter reports whether the end of a here-document is spelled so that
// every shell finds the same one.
func plainDelimiter(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	text := ""
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		text = strings.TrimPrefix(p.Value, `\`)
	case *syntax.SglQuoted:
		if !p.Dollar {
			text = p.Value
		}
	case *syntax.DblQuoted:
		if lit, ok := onlyLit(p); ok {
			text = lit
		}
	}
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func onlyLit(p *syntax.DblQuoted) (string, bool) {
	if p.Dollar || len(p.Parts) != 1 {
		return "", false
	}
	lit, ok := p.Parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	return lit.Value, true
}
