package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// patchStep is what is done to one file, worked out before it is done.
type patchStep struct {
	change // its target is the file as it is called afterwards
	does   patchDoes
	source target         // of a move or a copy
	raw    []byte         // what a file holds that is deleted or moved
	lies   workspace.Path // where that file lies, until it is done
	exec   execBit
	mode   fs.FileMode // of the source of a copy
	notes  []string    // where hunks landed
	lines  []int       // the first of each change
	hunks  int
}

// patchDoes is what a step does.
type patchDoes int

const (
	patchEdits patchDoes = iota
	patchCreates
	patchCopies
	patchMoves
	patchDeletes
)

// patchPart is a file of a patch, with what its names mean.
type patchPart struct {
	*patchFile
	from, to target // where there is an old, or a new name
}

// resolveParts finds out what the names mean.
func resolveParts(ws *Workspace, files []*patchFile) ([]patchPart, error) {
	parts := make([]patchPart, len(files))
	for i, f := range files {
		parts[i].patchFile = f
		f.unprefix(ws)
		for name, t := range map[string]*target{f.old: &parts[i].from, f.new: &parts[i].to} {
			if name == "" {
				continue
			}
			one, err := resolve(ws, name)
			if err != nil {
				return nil, fmt.Errorf("line %d of the patch: %w", f.line, err)
			}
			*t = one
		}
		if f.old == f.new {
			parts[i].from = parts[i].to
		}
	}
	return parts, nil
}

// unprefix takes a prefix of git's off a name that has the same on both sides,
// where there is only a file without.
func (f *patchFile) unprefix(ws *Workspace) {
	prefix, rest := letter(f.old)
	if f.old != f.new || prefix == "" {
		return
	}
	with, err := ws.Resolve(f.old)
	without, err2 := ws.Resolve(rest)
	if err == nil && err2 == nil && with.Inside && without.Inside && !with.Exists && without.Exists {
		f.old, f.new = rest, rest
	}
}

// patchPlan is all that a patch does.
type patchPlan struct {
	ws    *Workspace
	steps []*patchStep
	known map[string]*patchStep // by the target of each file that is changed or comes to be
	gone  map[string]*patchStep // by that of each file that is moved away or deleted
	held  []heldFile            // those of known that were there
	size  int                   // bytes of the files
}

// planPatch works out what the files will hold. Nothing is written.
func planPatch(ctx context.Context, ws *Workspace, parts []patchPart) (*patchPlan, error) {
	p := &patchPlan{ws: ws, known: map[string]*patchStep{}, gone: map[string]*patchStep{}}
	for _, part := range parts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		step, err := p.plan(ctx, part)
		if err != nil {
			return nil, err
		}
		if step != nil {
			p.steps = append(p.steps, step)
		}
		if p.size > maxChanged {
			return nil, fmt.Errorf("the files of the patch have more than %d bytes together: split it", maxChanged)
		}
	}
	for _, s := range p.steps {
		if err := p.room(ctx, s); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(p.steps, (*patchStep).matters) {
		return nil, errors.New("the patch changes nothing")
	}
	return p, nil
}

// matters reports whether the step changes anything.
func (s *patchStep) matters() bool { return s.does != patchEdits || s.exec != execKept || s.edits() }

// edits reports whether the content changes.
func (s *patchStep) edits() bool { return s.after != nil && !s.same() }

// plan works out one file. It returns nil where that is part of an earlier step.
func (p *patchPlan) plan(ctx context.Context, part patchPart) (*patchStep, error) {
	switch {
	case part.new == "":
		return p.deletion(ctx, part)
	case part.old == "":
		return p.creation(ctx, part)
	case part.copied:
		return p.copying(ctx, part)
	case part.renamed():
		return p.moving(ctx, part)
	}
	if p.creates(part) {
		return p.creation(ctx, part)
	}
	return p.editing(ctx, part)
}

// creates reports whether a plain diff means a new file, which has nothing to say
// so but its hunk.
func (p *patchPlan) creates(part patchPart) bool {
	return !part.to.Exists && part.to.Inside && p.known[part.to.Target] == nil &&
		len(part.hunks) == 1 && part.hunks[0].oldAt == 0 && len(part.hunks[0].side('-')) == 0
}

// touch registers a file that is changed or comes to be; it is once.
func (p *patchPlan) touch(t target, s *patchStep) error {
	if p.known[t.Target] != nil || p.gone[t.Target] != nil && s.does == patchEdits {
		return several(t)
	}
	p.known[t.Target] = s
	return p.hold(t)
}

// heldFile is a file that is changed, by the name that it is given.
type heldFile struct {
	info os.FileInfo
	name string
}

// hold refuses to change one file by two of its names: what is put in place by the
// first would be a change behind the back of the second.
func (p *patchPlan) hold(t target) error {
	info, err := os.Stat(t.Target)
	if err != nil {
		return nil // it comes to be, or its step says what is wrong
	}
	for _, other := range p.held {
		if os.SameFile(other.info, info) {
			return fmt.Errorf("%s and %s are names of one file (hard links), which cannot be changed by both: nothing was changed; edit it by one of them", other.name, t.name)
		}
	}
	p.held = append(p.held, heldFile{info, t.name})
	return nil
}

// leave registers a file that is moved away or deleted. Another may come in its
// place, by an earlier or a later part: moves mean the files as they are, in
// whatever order they stand (git apply).
func (p *patchPlan) leave(t target, s *patchStep) error {
	if other := p.known[t.Target]; p.gone[t.Target] != nil || other != nil && other.does == patchEdits {
		return several(t)
	}
	p.gone[t.Target] = s
	s.lies = t.Path
	return nil
}

func several(t target) error {
	return fmt.Errorf("the patch does several things to %s: make them one, or send them one after the other", t.name)
}

// comes reports whether a file comes to be by the step.
func (s *patchStep) comes() bool {
	return s.does == patchCreates || s.does == patchCopies || s.does == patchMoves
}

// room is the error where the step's file comes to a place that is taken, and
// that the patch does not make free.
func (p *patchPlan) room(ctx context.Context, s *patchStep) error {
	if !s.comes() || p.gone[s.Target] != nil {
		return nil
	}
	return s.vacant(ctx)
}

// load reads a file that must exist. The text is nil where it is none.
func (p *patchPlan) load(ctx context.Context, t target) (raw []byte, text *workspace.Text, err error) {
	raw, err = t.bytes(ctx)
	if err == nil && raw == nil {
		err = t.missing(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	p.size += len(raw)
	text, _ = workspace.Decode(raw)
	return raw, text, nil
}

// apply puts hunks into a step's text.
func (s *patchStep) apply(ctx context.Context, t target, part patchPart, text *workspace.Text, raw []byte) error {
	if len(part.hunks) == 0 {
		s.after = text
		return nil
	}
	if text == nil {
		_, err := t.decode(raw)
		return err
	}
	done, err := patchText(ctx, text, part.hunks)
	if err != nil {
		return t.misfit(err)
	}
	s.after, s.lines = done.text, done.lines
	s.hunks += len(part.hunks)
	for _, h := range done.placed {
		if h.off != 0 {
			s.notes = append(s.notes, landed(part.hunks, h))
		}
	}
	return nil
}

// landed tells where a hunk landed that did not stand where it says.
func landed(hunks []*hunk, h *placement) string {
	where := "below"
	if h.off < 0 {
		where = "above"
	}
	number := 1 + slices.IndexFunc(hunks, func(o *hunk) bool { return o.line == h.line })
	note := fmt.Sprintf("hunk %d landed at line %d, %s %s where it says", number, max(h.newAt, 1)+h.off, count(abs(h.off), "line"), where)
	if h.others > 0 {
		note += fmt.Sprintf(" (the nearest of %d places with these lines: check that it is the one meant)", h.others+1)
	}
	return note
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *patchPlan) editing(ctx context.Context, part patchPart) (*patchStep, error) {
	t := part.to
	if s := p.known[t.Target]; s != nil && s.after != nil {
		return nil, s.again(ctx, part)
	}
	s := &patchStep{change: change{target: t}, exec: part.exec}
	if err := p.touch(t, s); err != nil {
		return nil, err
	}
	raw, text, err := p.load(ctx, t)
	if err != nil {
		return nil, err
	}
	s.before = text
	return s, s.apply(ctx, t, part, text, raw)
}

// again changes what an earlier part of the patch left.
func (s *patchStep) again(ctx context.Context, part patchPart) error {
	if part.exec != execKept {
		s.exec = part.exec
	}
	if err := s.apply(ctx, s.target, part, s.after, nil); err != nil {
		return err
	}
	if s.before != nil {
		s.lines = diffedLines(s.before.LF(), s.after.LF())
	}
	return nil
}

// vacant is the error where there is a file already.
func (t target) vacant(ctx context.Context) error {
	switch raw, err := t.bytes(ctx); {
	case raw != nil:
		return fmt.Errorf("%s exists already: to change it give the lines around the change, to replace all of it use write", t.name)
	default:
		return err
	}
}

func (p *patchPlan) creation(ctx context.Context, part patchPart) (*patchStep, error) {
	t := part.to
	s := &patchStep{change: change{target: t}, does: patchCreates, exec: part.exec}
	for _, h := range part.hunks {
		if len(h.side('-')) > 0 {
			return nil, fmt.Errorf("line %d of the patch: it creates %s, so that each line begins with a +", h.line, t.name)
		}
	}
	empty, err := workspace.Decode(nil)
	if err != nil {
		return nil, err
	}
	if deleted := p.gone[t.Target]; deleted != nil && deleted.does == patchDeletes && deleted.before != nil {
		delete(p.gone, t.Target) // another content is all that it gets
		deleted.does, deleted.exec = patchEdits, part.exec
		if mode, err := workspace.NewDisk(p.ws.Roots).Mode(t.Path); err == nil && (mode&0o100 != 0) == (part.exec == execSet) {
			deleted.exec = execKept
		}
		return nil, errors.Join(p.touch(t, deleted), deleted.apply(ctx, t, part, empty, nil))
	}
	if s.exec == execCleared { // as new files are
		s.exec = execKept
	}
	return s, errors.Join(p.touch(t, s), s.apply(ctx, t, part, empty, nil))
}

func (p *patchPlan) copying(ctx context.Context, part patchPart) (*patchStep, error) {
	s := &patchStep{change: change{target: part.to}, does: patchCopies, source: part.from, exec: part.exec}
	if err := p.touch(part.to, s); err != nil {
		return nil, err
	}
	raw, text, err := p.load(ctx, part.from)
	if err != nil {
		return nil, err
	}
	if text == nil {
		_, err := part.from.decode(raw)
		return nil, fmt.Errorf("%w; copy it with a command", err)
	}
	if s.mode, err = workspace.NewDisk(p.ws.Roots).Mode(part.from.Path); err != nil {
		return nil, err
	}
	return s, s.apply(ctx, part.from, part, text, raw)
}

func (p *patchPlan) moving(ctx context.Context, part patchPart) (*patchStep, error) {
	s := &patchStep{change: change{target: part.to}, does: patchMoves, source: part.from, exec: part.exec}
	if err := errors.Join(p.leave(part.from, s), p.touch(part.to, s), part.from.plain()); err != nil {
		return nil, err
	}
	raw, text, err := p.load(ctx, part.from)
	if err != nil {
		return nil, err
	}
	s.raw, s.before = raw, text
	return s, s.apply(ctx, part.from, part, text, raw)
}

func (p *patchPlan) deletion(ctx context.Context, part patchPart) (*patchStep, error) {
	t := part.from
	s := &patchStep{change: change{target: t}, does: patchDeletes}
	if err := errors.Join(p.leave(t, s), t.plain()); err != nil {
		return nil, err
	}
	raw, text, err := p.load(ctx, t)
	if err != nil {
		return nil, err
	}
	s.raw, s.before = raw, text
	if part.whole {
		return s, nil
	}
	if err := s.apply(ctx, t, part, text, raw); err != nil {
		return nil, err
	}
	if left := s.after; left == nil && len(raw) > 0 || left != nil && left.LF() != "" {
		return nil, t.content(fmt.Sprintf("the patch deletes %s, but does not remove all of its lines: give them all, or begin with %q", t.name, deleteFile+t.name))
	}
	s.after, s.lines = nil, nil
	return s, nil
}

// plain is the error where the name itself is a link: what is removed or moved
// is the name, and not what it leads to.
func (t target) plain() error {
	if info, err := os.Lstat(t.Asked); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link: move or remove it with a command", t.name)
	}
	return nil
}

// content is an error that says something of what is in the file.
func (t target) content(text string) error {
	return &ContentError{
		Path: t.access(kinds.Read)[0],
		Err:  errors.New(text),
		Safe: fmt.Sprintf("the patch does not fit %s, which may not be read: ask the user for the text", t.name),
	}
}

// misfit words an error of patching the file: which hunk, and what was found
// where it should stand.
func (t target) misfit(err error) error {
	var m *misfit
	if !errors.As(err, &m) {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	title := fmt.Sprintf("hunk %d of %s (line %d of the patch", m.number, t.name, m.line)
	if m.oldAt >= 0 {
		title += ", " + m.title
	}
	title += ") does not fit: "
	if !errors.Is(m.why, errNowhere) {
		return t.content(title + m.why.Error())
	}
	return t.content(title + m.found())
}

// found tells what stands where the hunk should.
func (m *misfit) found() string {
	old := m.side('-')
	if len(old) == 0 {
		return fmt.Sprintf("the file has only %s", count(m.sheet.count(), "line"))
	}
	if new := m.side('+'); len(new) > 0 && len(m.sheet.find(new)) > 0 {
		return "the file has the new lines already"
	}
	at := m.likeliest(old)
	wrong := 0
	for wrong < len(old)-1 && at+wrong < m.sheet.count() && m.sheet.line(at+wrong) == old[wrong] {
		wrong++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the patch expects at line %d\n      \t%s\n", at+wrong+1, shownLine(old[wrong]))
	if at+wrong >= m.sheet.count() {
		fmt.Fprintf(&b, "but the file ends after line %d.", m.sheet.count())
		return b.String()
	}
	b.WriteString("but the file has there\n")
	from := max(at, at+wrong-closestRows/2)
	for i := from; i < min(at+len(old), from+closestRows, m.sheet.count()); i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, shownLine(m.sheet.line(i)))
	}
	b.WriteString("Nothing was changed. Read the file and make the patch from what it holds.")
	return b.String()
}

// shownLine is a line as an error shows it.
func shownLine(line string) string {
	body, ended := strings.CutSuffix(line, "\n")
	body = clip(strings.TrimSuffix(body, "\r"), closestShown)
	if !ended {
		body += "  [no newline at the end of the file]"
	}
	return body
}

// likeliest is the line, from 0, at which the most lines are as the hunk has
// them: where it says, or where the lines are most alike.
func (m *misfit) likeliest(old []string) int {
	alike := func(at int) int {
		n := 0
		for i, line := range old {
			if at+i < m.sheet.count() && m.sheet.line(at+i) == line {
				n++
			}
		}
		return n
	}
	best, most := min(max(m.oldAt-1, 0), max(m.sheet.count()-1, 0)), 0
	if m.oldAt >= 0 {
		most = alike(best)
	}
	lines := strings.Split(m.sheet.text[:min(len(m.sheet.text), closestText)], "\n")
	wanted := make([]string, len(old))
	for i, line := range old {
		wanted[i] = strings.TrimSuffix(line, "\n")
	}
	for _, p := range likely(context.Background(), lines, wanted) {
		if n := alike(p.line); n > most {
			best, most = p.line, n
		}
	}
	return best
}
