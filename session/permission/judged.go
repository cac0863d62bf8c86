package permission

import (
	"reflect"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgedText is the text that is to run where a command is allowed without
// asking: it is printed from the tree that was judged, so that nothing can run
// that the tree does not show (policy section 3). The changes that were noted on
// the way, such as the flags that harden git, are made first. It is false where
// printing and parsing again gives another tree.
func (s *shell) judgedText() (string, bool) {
	for _, change := range s.changes {
		change()
	}
	if s.file == nil {
		return "", false
	}
	if len(s.file.Stmts) == 0 {
		return ":", true // nothing but comments and blanks
	}
	text, err := printTree(s.file)
	if err != nil {
		return "", false
	}
	again, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || !sameTree(s.file, again) {
		return "", false
	}
	return text, true
}

// runnable notes the text to run, if all that was found is allowed.
func (s *shell) runnable(original string) {
	for _, f := range s.found {
		if s.answer(f.class) != Allow {
			return
		}
	}
	text, ok := s.judgedText()
	switch {
	case ok:
		s.text = text
	case s.whole: // the rule is for the text as it stands
		s.text = original
	default:
		s.opaque("it cannot be written down again as it was understood")
		s.pipelines = &pipelines{rough: original} // the tree is changed
		s.text = original                         // for a mode that does not ask even then
	}
}

// printTree prints a tree without its comments: bash gets none to read.
func printTree(file *syntax.File) (string, error) {
	dropComments(file)
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, file); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func dropComments(file *syntax.File) {
	file.Last = nil
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			n.Comments = nil
		case *syntax.Subshell:
			n.Last = nil
		case *syntax.Block:
			n.Last = nil
		case *syntax.CmdSubst:
			n.Last = nil
		case *syntax.ProcSubst:
			n.Last = nil
		case *syntax.IfClause:
			n.CondLast, n.ThenLast, n.Last = nil, nil, nil
		case *syntax.WhileClause:
			n.CondLast, n.DoLast = nil, nil
		case *syntax.ForClause:
			n.DoLast = nil
		case *syntax.CaseClause:
			n.Last = nil
			for _, item := range n.Items {
				item.Comments, item.Last = nil, nil
			}
		case *syntax.ArrayExpr:
			n.Last = nil
			for _, elem := range n.Elems {
				elem.Comments = nil
			}
		}
		return true
	})
}

// sameTree reports whether two trees mean the same: it looks past positions,
// comments, back-quotes against $( ), and the tabs before the lines of a <<-
// document.
func sameTree(a, b *syntax.File) bool {
	return sameValue(reflect.ValueOf(a.Stmts), reflect.ValueOf(b.Stmts), false)
}

var (
	posType      = reflect.TypeFor[syntax.Pos]()
	commentsType = reflect.TypeFor[[]syntax.Comment]()
	substType    = reflect.TypeFor[syntax.CmdSubst]()
	redirectType = reflect.TypeFor[syntax.Redirect]()
	litType      = reflect.TypeFor[syntax.Lit]()
)

// sameValue compares two nodes; tabs says that they stand in a <<- document.
func sameValue(a, b reflect.Value, tabs bool) bool {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		a, b = a.Elem(), b.Elem()
		return a.Type() == b.Type() && sameValue(a, b, tabs)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i), tabs) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return sameStruct(a, b, tabs)
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	}
	if a.CanInt() {
		return a.Int() == b.Int()
	}
	return a.CanUint() && a.Uint() == b.Uint()
}

func sameStruct(a, b reflect.Value, tabs bool) bool {
	t := a.Type()
	if t == litType && tabs {
		return untabbed(a) == untabbed(b)
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Type == posType || field.Type == commentsType || t == substType && field.Name == "Backquotes" {
			continue
		}
		in := tabs
		if t == redirectType && field.Name == "Hdoc" {
			in = syntax.RedirOperator(a.FieldByName("Op").Uint()) == syntax.DashHdoc
		}
		if !sameValue(a.Field(i), b.Field(i), in) {
			return false
		}
	}
	return true
}

// untabbed is the value of a literal without the tabs at the start of its lines.
func untabbed(lit reflect.Value) string {
	lines := strings.Split(lit.FieldByName("Value").String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

// posixAlike reports whether a plain shell reads a text as bash does: it has the
// same tree for both, and nothing in it that only bash expands.
func posixAlike(text string) bool {
	if strings.Contains(text, "[[") || strings.Contains(text, "$'") || strings.Contains(text, `$"`) || commentBackslash(text) || len(text) > maxCommandBytes || openers(text) > maxOpeners {
		return false
	}
	bash, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	posix, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil || !sameTree(bash, posix) {
		return false
	}
	alike := true
	syntax.Walk(bash, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		alike = alike && (!ok || !hasBraces(w))
		return alike
	})
	return alike
}

// rewriteText puts what was judged of the text of `bash -c TEXT` in its place; a
// text that cannot be written down again, or where plain is set is not for a
// plain shell then, makes the whole one that cannot.
func (s *shell) rewriteText(w *syntax.Word, file *syntax.File, plain bool) {
	inner := &shell{file: file}
	text, ok := inner.judgedText()
	quoted, err := syntax.Quote(text, syntax.LangBash)
	if !ok || err != nil || plain && !posixAlike(text) { // quoting may have changed it
		s.file = nil
		return
	}
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(": "+quoted), "")
	if err != nil {
		s.file = nil
		return
	}
	w.Parts = parsed.Stmts[0].Cmd.(*syntax.CallExpr).Args[1].Parts
}
