package permission

import (
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// shell judges a command: it walks the whole tree of the text, judges every
// simple command in it, and follows the folder that each may run in. What it
// does not understand becomes a question.
type shell struct {
	*judge
	vars    map[string]string   // last guess of each variable set in the text
	arrays  map[string][]string // and of each array
	known   map[string]bool     // variables that have that value for certain
	set     map[string]bool     // variables that the text sets in any way
	count   int                 // simple commands seen
	depth   int                 // of nesting
	work    int                 // what was done already, against spent
	tired   bool                // it was too much
	rounds  int                 // of loops over words that were judged
	paths   int                 // that were resolved, against maxPaths
	within  int                 // texts and substitutions that the walk is inside of
	looping bool
	piped   bool // input comes from a pipe, a here-document or a file
	been    dirs // that a cd led from or to
	left    dirs // where the text that was judged last may end
	astray  dirs // that it may have gone to in a way which is not followed

	last *command // the simple command judged last
	from *command // what the next one gets its input from; nil: not one command

	file    *syntax.File // the tree of the command itself; nil: it does not parse
	changes []func()     // made to the tree before it is printed to be run
}

// maxPaths is how many paths are looked up for one command.
const maxPaths = 600

// command is one simple command.
type command struct {
	text    string // as printed
	assigns []assign
	words   []word
	raw     []string // before patterns of file names were expanded
	at      dirs
	piped   bool
	nested  bool // stands in a text inside of another command
	call    *syntax.CallExpr
	from    *command // whose output it reads; nil: not one command's
	reads   bool     // the table of what only reads allows it
}

// assign is an assignment before or instead of a command.
type assign struct {
	name  string
	value word
	odd   bool // appends, or sets an array
}

// command judges a shell command (policy sections 2 to 9).
func (j *judge) command(text, dir string) {
	if r := j.toolWide(); j.ruled(r, "running commands") && r.action == Deny {
		return
	}
	s := &shell{judge: j, vars: map[string]string{}, arrays: map[string][]string{}, known: map[string]bool{}, set: map[string]bool{}}
	if dir == "" && j.Roots != nil {
		dir = j.Roots.Dir()
	}
	at := dirs{dir}
	if !j.inside(kinds.List, j.resolved(dir)) {
		j.beyondSandbox("it would run outside of the project")
	}
	j.whole = j.coversText(text)
	s.file = s.script(text, at)
	s.release()
	s.settle()
	s.runnable(text)
}

// toolWide is what manifests say about all commands at once; a restriction of a
// lower scope is weighed with the patterns of each command.
func (j *judge) toolWide() ruling {
	var ms []match
	for i := range j.rules.all {
		r := &j.rules.all[i]
		if r.all && r.Scope == Manifest && r.Action > Allow && (r.class() == permBash || r.Permission == "*") {
			ms = append(ms, match{r, weight{}})
		}
	}
	return j.weigh("running commands", ms)
}

// coversText reports whether a rule is the text of the command as a whole, and
// no other rule with the same text forbids it.
func (j *judge) coversText(text string) bool {
	text = strings.TrimSpace(text)
	var ms []match
	for i := range j.rules.all {
		r := &j.rules.all[i]
		if r.class() == permBash && r.command != nil && !r.command.starred && r.command.text == text {
			ms = append(ms, match{r, r.command.weight()})
		}
	}
	r := j.weigh("the whole text", ms)
	if j.ruled(r, "this command") {
		return false
	}
	return r.rule != nil
}

// settle drops the questions that a rule for the whole text answers.
func (s *shell) settle() {
	if s.whole {
		s.found = slices.DeleteFunc(s.found, func(f finding) bool { return f.class < floor })
	}
}

// script judges a text, the command itself or one inside of it, and returns its
// tree; nil where it has none.
func (s *shell) script(text string, at dirs) *syntax.File {
	if !s.gate(text) {
		s.floor("it is too long or too deeply nested to be read")
		s.rough(text, at)
		s.divide(nil, text)
		return nil
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	plain := strings.ReplaceAll(text, "\x00", "")
	file, err := parser.Parse(strings.NewReader(plain), "")
	joined := err == nil && joinedComment(file, plain)
	switch {
	case err != nil:
		s.floor("it does not parse as a shell command")
	case joined:
		s.floor("a # stands behind a word, which shells read in different ways")
	}
	if err != nil || joined || commentBackslash(text) || strings.ContainsRune(text, '\r') {
		s.rough(text, at)
		s.divide(nil, text)
	}
	s.divide(file, text)
	if err != nil {
		return nil
	}
	s.noteVars(file)
	s.left = s.stmts(file.Stmts, at)
	if s.count > maxCommands {
		s.floor("it is more than 100 commands")
	}
	return file
}

// joinedComment finds a comment of the tree that begins where nothing ends a word:
// to bash its # is a part of that word, and what follows are more words.
func joinedComment(file *syntax.File, text string) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && c.Hash.IsValid() {
			before := text[:min(int(c.Hash.Offset()), len(text))] //nolint:gosec // bounded by the gate
			for strings.HasSuffix(before, "\\\n") {
				before = strings.TrimSuffix(before, "\\\n")
			}
			found = found || before != "" && !strings.ContainsRune(" \t\n;&|()<>`", rune(before[len(before)-1]))
		}
		return !found
	})
	return found
}

// rough holds the restrictions against a text that was not understood.
func (s *shell) rough(text string, at dirs) {
	for _, argv := range roughCommands(text) {
		if s.spent() {
			return
		}
		s.restrict(argv, at)
		s.strays(argv, at)
	}
}

// noteVars finds the variables that a text sets.
func (s *shell) noteVars(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				s.set[n.Name.Value] = true
			}
		case *syntax.WordIter:
			s.set[n.Name.Value] = true
		}
		return true
	})
}

// nestedText judges a text that another command would run, and is not
// understood enough to be silent by itself.
func (s *shell) nestedText(text string, at dirs) *syntax.File {
	if s.spent() {
		return nil
	}
	if s.depth >= maxNesting {
		s.floor("it is nested too deeply")
		return nil
	}
	defer func(piped bool, depth int, known map[string]bool) {
		s.piped, s.depth, s.within, s.known = piped, depth, s.within-1, known
	}(s.piped, s.depth, s.known)
	s.deeper()
	s.within++
	s.known = map[string]bool{} // it does not inherit them
	return s.script(text, at)
}

// deeper counts a level of nesting.
func (s *shell) deeper() {
	if s.depth++; s.depth == maxNesting+1 {
		s.floor("it is nested too deeply")
	}
}

// nestedStmts judges the inside of a substitution: it changes no folder.
func (s *shell) nestedStmts(list []*syntax.Stmt, at dirs) {
	defer func(piped bool, depth int) { s.piped, s.depth, s.within = piped, depth, s.within-1 }(s.piped, s.depth)
	s.deeper()
	s.within++
	s.piped = false
	s.subshell(list, at)
}

// inner judges the substitutions inside of a node that is not understood.
func (s *shell) inner(n syntax.Node, at dirs) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.nestedStmts(n.Stmts, at)
			return false
		case *syntax.ProcSubst:
			s.nestedStmts(n.Stmts, at)
			return false
		}
		return true
	})
}

func (s *shell) stmts(list []*syntax.Stmt, at dirs) dirs {
	for _, st := range list {
		if b, ok := st.Cmd.(*syntax.BinaryCmd); st.Background || ok && b.Op == syntax.AndStmt {
			at = s.stmtApart(st, at) // what it sets, it may not have come to
			continue
		}
		at = s.stmt(st, at)
	}
	return at
}

// stmt judges a statement and returns the folders that the next may run in.
func (s *shell) stmt(st *syntax.Stmt, at dirs) dirs {
	defer func(piped bool, depth int) { s.piped, s.depth = piped, depth }(s.piped, s.depth)
	if _, list := st.Cmd.(*syntax.BinaryCmd); !list {
		s.deeper()
	}
	defer s.enter(st, at)()
	for _, r := range st.Redirs {
		s.redirect(r, at)
		if r.Op != syntax.RdrOut && r.Op != syntax.AppOut && r.Op != syntax.DplOut {
			s.from = nil // it may read something else
		}
	}
	if st.Coprocess || st.Disown {
		s.opaque("a job of an uncommon form")
	}
	if mayFail(st.Redirs) {
		s.apart(func() { at = s.union(at, s.compound(st.Cmd, at)) })
		return at
	}
	after := s.compound(st.Cmd, at)
	if st.Background {
		return at
	}
	return after
}

// compound judges a command of any form.
func (s *shell) compound(cmd syntax.Command, at dirs) dirs {
	switch c := cmd.(type) {
	case nil: // redirections alone
		s.restrict(nil, at)
		return at
	case *syntax.CallExpr:
		return s.call(c, at)
	case *syntax.BinaryCmd:
		return s.binary(c, at)
	case *syntax.Subshell:
		s.subshell(c.Stmts, at)
		return at
	case *syntax.Block:
		return s.stmts(c.Stmts, at)
	case *syntax.IfClause:
		return s.branch(c, at)
	case *syntax.WhileClause:
		s.apart(func() {
			s.forget(c)
			s.loop(at, c.Cond, c.Do)
		})
		return at
	case *syntax.CaseClause:
		return s.caseOf(c, at)
	case *syntax.TestClause:
		s.tested(c.X, at)
		return at
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return at
		}
		if st, ok := timed(c.Stmt); ok {
			s.opaque("`time` with another option than -p is not followed")
			return s.stmt(st, at)
		}
		return s.stmt(c.Stmt, at)
	}
	return s.uncommon(cmd, at)
}

// timed is what stands behind an option of time's that its parser knows nothing of: bash
// takes `--` for the end of them and goes on as at the beginning of a pipeline, the
// parser for a program. It is false where there is no such option.
func timed(st *syntax.Stmt) (*syntax.Stmt, bool) {
	behind := *st
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 || !strings.HasPrefix(c.Args[0].Lit(), "-") {
			return nil, false
		}
		rest := *c
		for rest.Args = c.Args[1:]; len(rest.Args) > 0 && beginsCommand(rest.Args[0].Lit()); rest.Args = rest.Args[1:] {
		}
		if behind.Cmd = &rest; len(rest.Args) == 0 {
			behind.Cmd = nil
		}
	case *syntax.BinaryCmd:
		first, ok := timed(c.X)
		if !ok {
			return nil, false
		}
		rest := *c
		rest.X = first
		behind.Cmd = &rest
	default:
		return nil, false
	}
	return &behind, true
}

// beginsCommand reports whether a word that stands before a command is not its name.
func beginsCommand(word string) bool {
	return word == "!" || strings.Contains(word, "=") || isKeyword(word)
}

func (s *shell) binary(c *syntax.BinaryCmd, at dirs) dirs {
	switch c.Op {
	case syntax.AndStmt:
		left := s.stmt(c.X, at)
		return s.union(left, s.stmt(c.Y, left))
	case syntax.OrStmt:
		left := s.union(at, s.stmtApart(c.X, at))
		return s.union(left, s.stmtApart(c.Y, left))
	}
	s.last = nil
	s.stmtApart(c.X, at)
	was := s.piped
	s.piped, s.from = true, s.producer(c.X)
	if _, timed := c.Y.Cmd.(*syntax.TimeClause); timed {
		s.opaque("`time` within a pipe is another program than before it")
	}
	s.stmtApart(c.Y, at)
	s.piped, s.from = was, nil
	return at
}

// producer is the one command that a statement, which was just judged, is.
func (s *shell) producer(st *syntax.Stmt) *command {
	call, ok := st.Cmd.(*syntax.CallExpr)
	for _, r := range st.Redirs {
		ok = ok && r.N != nil && r.N.Value == "2"
	}
	if !ok || st.Negated || st.Background || s.last == nil || s.last.call != call || len(s.last.words) == 0 {
		return nil
	}
	return s.last
}

func (s *shell) branch(c *syntax.IfClause, at dirs) dirs {
	at = s.stmts(c.Cond, at)
	out := s.union(at, s.stmtsApart(c.Then, at))
	if c.Else != nil {
		s.apart(func() { out = s.union(out, s.branch(c.Else, at)) })
	}
	return out
}

// loop judges what runs again and again; a change of the folder in it is not
// followed.
func (s *shell) loop(at dirs, lists ...[]*syntax.Stmt) dirs {
	was := s.looping
	s.looping = true
	pass := func() {
		for _, list := range lists {
			s.stmts(list, at)
		}
	}
	count, astray := s.count, len(s.astray)
	if pass(); len(s.astray) > astray { // the next round may run elsewhere
		s.count = count
		pass()
	}
	s.looping = was
	return at
}

// uncommon judges the forms that are never silent; what stands in them is held
// against the restrictions all the same.
func (s *shell) uncommon(cmd syntax.Command, at dirs) dirs {
	switch c := cmd.(type) {
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			s.forWords(c, it, at)
			return at
		}
		s.opaque("arithmetic can run code")
		s.inner(c.Loop, at)
		s.apart(func() {
			s.forget(c)
			s.loop(at, c.Do)
		})
	case *syntax.FuncDecl:
		s.opaque("it declares a function")
		s.loop(at, []*syntax.Stmt{c.Body})
	case *syntax.CoprocClause:
		s.opaque("it starts a coprocess")
		s.loop(at, []*syntax.Stmt{c.Stmt})
	case *syntax.DeclClause:
		s.opaque("`" + c.Variant.Value + "` sets variables")
		s.environment(declared(c))
		s.restrict([]string{c.Variant.Value}, at)
		for _, a := range c.Args {
			s.assign(a, at)
		}
	default:
		s.opaque("arithmetic can run code")
		s.inner(cmd, at)
	}
	return at
}

// call judges a simple command.
func (s *shell) call(c *syntax.CallExpr, at dirs) dirs {
	s.count++
	cmd := &command{at: at, piped: s.piped, nested: s.within > 0, call: c, from: s.from}
	s.from = nil
	if s.count <= maxCommands {
		cmd.text = printed(c)
	}
	for _, a := range c.Assigns {
		set := s.assign(a, at)
		cmd.assigns = append(cmd.assigns, set)
		s.known[set.name] = strings.ToLower(set.name) == set.name && len(c.Args) == 0 && !set.odd && !set.value.dynamic && set.value.odd == ""
	}
	cmd.words, cmd.raw = s.words(c.Args, at)
	if len(c.Args) == 0 {
		s.setVariables(cmd.assigns)
		return at
	}
	if s.simple(cmd) {
		return s.moves(cmd)
	}
	return at
}

func printed(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, n); err != nil {
		return ""
	}
	return b.String()
}
