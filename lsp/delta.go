package lsp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// judge brings the server's verdict on the document up to date; false: it did not
// come in time.
func (s session) judge(ctx context.Context) bool {
	switch {
	case s.judgesAll():
		err := s.judgeAll(ctx, s.doc.path)
		if _, refused := errors.AsType[*jsonrpc.Error](err); !refused {
			return err == nil
		}
		return s.verdicts.await(ctx, s.doc, nil)
	case !s.client.pulls() && s.verdicts.await(ctx, s.doc, s.client.pulls):
		return true
	case !s.client.pulls():
		return false
	}
	if s.verdicts.fresh(s.doc) {
		return true
	}
	return s.join(ctx, s.doc.path, uint64(s.doc.version), func(ctx context.Context) error { return s.pull(ctx, s.doc) }) == nil
}

// judgesAll reports whether the server tells when it has judged the whole project.
func (r *run) judgesAll() bool { return r.caps.executes(r.server.spec.JudgeAll) }

// judgeAll waits until the server has judged the project of a file with all that it
// was told so far.
func (r *run) judgeAll(ctx context.Context, path string) error {
	told := r.told.Load()
	if r.judged.Load() > told {
		return nil
	}
	return r.join(ctx, "", told, func(ctx context.Context) error {
		err := r.conn.Call(ctx, "workspace/executeCommand", map[string]any{
			"command":   r.server.spec.JudgeAll,
			"arguments": []any{map[string]any{"Files": []string{fileURI(path)}}},
		}, nil)
		if err == nil {
			r.judged.Store(told + 1)
		}
		return err
	})
}

// fresh reports whether a pulled verdict on the document needs no other pull.
func (v *verdicts) fresh(doc synced) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[doc.path]
	return f != nil && f.version == int64(doc.version) && f.seq > doc.since && f.seq > v.stale
}

// wait is how long a verdict is waited for; at least a moment, so that what is known
// is found.
func (v *View) wait() time.Duration { return max(v.set.Load().DiagnosticWait, time.Millisecond) }

// Problems are what the servers have to say.
type Problems struct {
	Items    []Diagnostic // errors first, then by path and line
	More     int          // that are not in Items
	Servers  []string     // that were asked
	NotReady []string     // why a server's verdict is not there yet, a clause each
}

// Diagnostics are the problems of a file, or of all files that are known to have
// some where path is empty. It waits for the verdict as long as the settings say.
func (v *View) Diagnostics(ctx context.Context, path string) (Problems, error) {
	if path == "" {
		return v.allProblems(ctx)
	}
	picks, err := v.picks(path)
	if err != nil && len(picks) == 0 {
		return Problems{}, err
	}
	var out Problems
	var failed error
	for _, p := range picks {
		if err := v.problemsOf(ctx, p, path, &out); err != nil {
			if failed = cmp.Or(failed, err); ctx.Err() != nil {
				return out, ctx.Err()
			}
			out.NotReady = append(out.NotReady, err.Error())
		}
	}
	if len(out.Servers) == 0 && failed != nil {
		return out, failed
	}
	out.sort()
	return out, nil
}

// problemsOf adds what one server says about a file.
func (v *View) problemsOf(ctx context.Context, p pick, path string, out *Problems) error {
	srv, err := v.server(p)
	if err != nil {
		return err
	}
	return v.withServer(ctx, srv, path, func(ctx context.Context, s session) error {
		out.Servers = append(out.Servers, p.spec.Name)
		waiting, cancel := context.WithTimeout(ctx, v.wait())
		defer cancel()
		if !s.judge(waiting) {
			out.NotReady = append(out.NotReady, s.unjudged(v.wait()))
			if !s.ownJudged() {
				return nil
			}
		}
		known, _ := s.verdicts.of(path)
		out.More += known.more
		texts := map[string]*text{path: s.doc.text}
		out.Items = append(out.Items, s.diagnostics(path, known.items, func(path string) *text { return texts[path] })...)
		return nil
	})
}

// ownJudged reports whether there is a verdict on the document, while the project's
// may be outstanding.
func (s session) ownJudged() bool {
	ok, _, _, _ := s.verdicts.judged(s.doc)
	return ok
}

// unjudged says that a verdict did not come in time.
func (s session) unjudged(wait time.Duration) string {
	what := "the file"
	if s.judgesAll() && s.ownJudged() {
		what = "the whole project"
	}
	select {
	case <-s.ended:
		return s.why.Error()
	default:
		return s.server.spec.Name + " has not judged " + what + " within " + wait.Round(time.Millisecond).String() + s.client.busy()
	}
}

// allProblems are those of all files that the servers of this view have judged.
func (v *View) allProblems(ctx context.Context) (Problems, error) {
	v.mu.Lock()
	used := slices.Clone(v.used)
	v.mu.Unlock()
	if len(used) == 0 {
		var err error
		if used, err = v.projectServers(); err != nil {
			return Problems{}, err
		}
	}
	var out Problems
	texts := v.lineText(ctx)
	for _, srv := range used {
		err := v.withServer(ctx, srv, "", func(ctx context.Context, s session) error {
			if !slices.Contains(out.Servers, srv.spec.Name) { // several roots have one each
				out.Servers = append(out.Servers, srv.spec.Name)
			}
			if why := v.judgeProject(ctx, s.run); why != "" {
				out.NotReady = append(out.NotReady, why)
			}
			for path, known := range s.verdicts.snapshot() {
				if _, inside := v.find.folder(path); inside {
					out.Items = append(out.Items, s.diagnostics(path, known.items, texts)...)
					out.More += known.more
				}
			}
			return nil
		})
		if err != nil {
			out.NotReady = append(out.NotReady, err.Error())
		}
	}
	out.sort()
	return out, nil
}

// judgeProject waits for a server's verdict on all that is known to it, as long as
// the settings say, and says why it is not there; empty: it is.
func (v *View) judgeProject(ctx context.Context, r *run) string {
	name := r.server.spec.Name
	if open, err := r.opened(ctx); err == nil && len(open) > 0 && r.judgesAll() {
		waiting, cancel := context.WithTimeout(ctx, v.wait())
		defer cancel()
		if r.judgeAll(waiting, open[0]) != nil {
			return name + " has not judged the whole project within " + v.wait().Round(time.Millisecond).String() + r.client.busy()
		}
		return ""
	}
	if busy := r.client.busy(); busy != "" {
		return name + " has not finished" + busy
	}
	return ""
}

// sort puts the gravest first.
func (p *Problems) sort() {
	slices.SortStableFunc(p.Items, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Path, b.Path), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}

// diagnostics are a file's diagnostics with places as people count them.
func (s session) diagnostics(path string, items []wireDiagnostic, texts func(path string) *text) []Diagnostic {
	var out []Diagnostic
	for _, d := range items {
		found := s.locate(path, d.Range, texts)
		out = append(out, Diagnostic{
			Path: path, At: found.At, End: found.End, Severity: severityOf(d.Severity), Code: string(d.Code),
			Source: d.Source, Message: strings.TrimSpace(string(d.Message)), Server: s.server.spec.Name,
		})
	}
	return out
}

// Baseline is what was known before some files change.
type Baseline struct {
	view     *View
	deadline time.Time
	sides    []*side
}

// side is a baseline at one server.
type side struct {
	server *server
	paths  []string
	run    *run // nil: it was not ready
	before map[string]verdict
	texts  map[string]string // of the paths, before
	known  bool              // all paths were judged as they were
	whole  bool              // so was all else that the server judges
	err    error             // why it was not ready
}

// Before notes what the servers say of the project before the files given change.
// It takes at most half of the time that the settings give to waiting. nil: there is
// nothing to compare later.
func (v *View) Before(ctx context.Context, paths []string) *Baseline {
	if v.set.Load().DiagnosticWait < 0 {
		return nil
	}
	b := &Baseline{view: v, deadline: time.Now().Add(v.set.Load().DiagnosticWait)}
	for _, path := range paths {
		if _, inside := v.find.folder(path); !inside {
			continue
		}
		picks, _ := v.picks(path)
		for _, p := range picks {
			srv, err := v.server(p)
			if err != nil {
				continue // not trusted: nothing is to be started
			}
			i := slices.IndexFunc(b.sides, func(s *side) bool { return s.server == srv })
			if i < 0 {
				i = len(b.sides)
				b.sides = append(b.sides, &side{server: srv, texts: map[string]string{}})
			}
			b.sides[i].paths = append(b.sides[i].paths, path)
		}
	}
	if len(b.sides) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, v.set.Load().DiagnosticWait/2)
	defer cancel()
	b.each(func(s *side) { v.note(ctx, s) })
	return b
}

// each does something at all servers at once.
func (b *Baseline) each(f func(*side)) {
	var wg sync.WaitGroup
	for _, s := range b.sides {
		wg.Go(func() { f(s) })
	}
	wg.Wait()
}

// note takes the baseline at one server.
func (v *View) note(ctx context.Context, s *side) {
	r, err := s.server.acquire(ctx)
	if err != nil {
		s.err = err
		return
	}
	defer s.server.release()
	if s.err = r.load(ctx); s.err != nil {
		return
	}
	s.run = r
	_ = v.refresh(ctx, r)
	s.known, s.whole = true, true
	var docs []session
	for _, path := range s.paths {
		if stampOf(path) == (Stamp{}) {
			continue // it is to be created: it has no problems yet
		}
		doc, err := v.show(ctx, r, path)
		if err != nil {
			s.known = false
			continue
		}
		s.texts[path] = doc.text.body
		docs = append(docs, session{run: r, doc: doc})
	}
	for _, doc := range docs {
		s.known = doc.judge(ctx) && s.known
	}
	if r.judgesAll() {
		s.whole = r.judgeAll(ctx, s.paths[0]) == nil
	}
	v.judgeOpen(ctx, r, s.paths)
	s.before = r.verdicts.snapshot()
	v.resume(s)
}

// resume has a side begin where the last one ended of which the verdict did not come
// in time: what that change broke is still to be told.
func (v *View) resume(s *side) {
	v.mu.Lock()
	was := v.unjudged[s.server]
	delete(v.unjudged, s.server)
	v.mu.Unlock()
	if was == nil || was.run != s.run {
		return
	}
	s.before, s.known, s.whole = was.before, was.known, was.whole
	maps.Copy(s.texts, was.texts)
}

// maxJudged is how many open documents are asked about after a change.
const maxJudged = 16

// judgeOpen asks a server that is to be asked about its other open documents, of
// which a change may have broken some.
func (v *View) judgeOpen(ctx context.Context, r *run, but []string) {
	if !r.client.pulls() {
		return
	}
	open, err := r.opened(ctx)
	if err != nil {
		return
	}
	open = slices.DeleteFunc(open, func(path string) bool { return slices.Contains(but, path) })
	var wg sync.WaitGroup
	for _, path := range open[:min(len(open), maxJudged)] {
		wg.Go(func() {
			if doc, ok := r.openDocument(ctx, path); ok {
				session{run: r, doc: doc}.judge(ctx)
			}
		})
	}
	wg.Wait()
}

// openDocument is a document that is open, as the server has it.
func (r *run) openDocument(ctx context.Context, path string) (synced, bool) {
	if r.documents.hold(ctx) != nil {
		return synced{}, false
	}
	defer r.documents.free()
	i := slices.IndexFunc(r.documents.open, func(o *document) bool { return o.path == path })
	if i < 0 {
		return synced{}, false
	}
	return r.documents.open[i].synced(false), true
}

// Delta is what a change of files made of their project's problems. Hints are left
// out.
type Delta struct {
	New      []Diagnostic // errors first
	Fixed    []Diagnostic
	Present  []Diagnostic // of files of which it is not known what they had before
	Servers  []string     // whose verdict this is
	NotReady []string     // why a verdict is not there, a clause each
}

// After waits for the verdict on the files as they are now, until the time that the
// settings give is over, and compares it with what was known before. changed are
// the files that really changed.
func (b *Baseline) After(ctx context.Context, changed []string) Delta {
	var out Delta
	if b == nil {
		return out
	}
	var mu sync.Mutex
	wait, cancel := context.WithDeadline(ctx, b.deadline)
	defer cancel()
	b.each(func(s *side) {
		d := b.view.compare(wait, s, changed)
		mu.Lock()
		defer mu.Unlock()
		out.add(d)
	})
	for _, list := range [][]Diagnostic{out.New, out.Fixed, out.Present} {
		p := Problems{Items: list}
		p.sort()
	}
	return out
}

func (d *Delta) add(o Delta) {
	d.New = append(d.New, o.New...)
	d.Fixed = append(d.Fixed, o.Fixed...)
	d.Present = append(d.Present, o.Present...)
	d.Servers = append(d.Servers, o.Servers...)
	d.NotReady = append(d.NotReady, o.NotReady...)
}

// compare is the delta at one server.
func (v *View) compare(ctx context.Context, s *side, changed []string) Delta {
	if s.run == nil {
		return Delta{NotReady: []string{s.err.Error()}}
	}
	r, err := s.server.acquire(ctx)
	if err == nil && r != s.run {
		s.server.release()
		err = s.run.why
	}
	if err != nil {
		return Delta{NotReady: []string{err.Error()}}
	}
	defer s.server.release()
	var out Delta
	texts := map[string]*text{}
	docs := v.showChanged(ctx, s.server, r, changed)
	judged := true
	for _, one := range docs {
		texts[one.doc.path] = one.doc.text
		if one.judge(ctx) {
			continue
		}
		out.NotReady = append(out.NotReady, one.unjudged(v.set.Load().DiagnosticWait))
		judged = judged && one.ownJudged()
		if r.judgesAll() {
			break // it is the same for all
		}
	}
	if len(out.NotReady) > 0 {
		v.mu.Lock()
		v.unjudged[s.server] = s
		v.mu.Unlock()
		if !r.judgesAll() || !judged {
			return out
		}
	}
	out.Servers = []string{s.server.spec.Name}
	v.judgeOpen(ctx, r, changed)
	v.difference(ctx, s, r, texts, &out)
	return out
}

// showChanged lets a server have the files that really changed.
func (v *View) showChanged(ctx context.Context, srv *server, r *run, changed []string) []session {
	var docs []session
	for _, path := range changed {
		if _, ok := srv.spec.language(path); !ok {
			continue
		}
		doc, err := v.show(ctx, r, path)
		if err != nil { // it was deleted or moved
			_ = r.forget(ctx, path)
			r.verdicts.forget(path)
			_ = r.tell(ctx, []Happened{{path, Deleted}})
			continue
		}
		_ = r.tell(ctx, []Happened{{path, Changed}})
		docs = append(docs, session{run: r, doc: doc})
	}
	return docs
}

// difference compares all files of the project.
func (v *View) difference(ctx context.Context, s *side, r *run, texts map[string]*text, out *Delta) {
	now := r.verdicts.snapshot()
	read := v.lineText(ctx)
	current := func(path string) *text {
		if t := texts[path]; t != nil {
			return t
		}
		return read(path)
	}
	one := session{run: r}
	paths := map[string]bool{}
	for path := range now {
		paths[path] = true
	}
	for path := range s.before {
		paths[path] = true
	}
	for _, path := range sortedKeys(paths) {
		if _, inside := v.find.folder(path); !inside {
			continue
		}
		was, before := s.before[path]
		is := now[path]
		if before && was.seq == is.seq {
			continue
		}
		present := one.diagnostics(path, grave(is.items), current)
		_, touched := texts[path]
		if touched && !s.known || !touched && !before && !s.whole {
			out.Present = append(out.Present, present...)
			continue
		}
		lines := identity
		if old, ok := s.texts[path]; ok && texts[path] != nil {
			lines = moved(old, texts[path].body)
		}
		oldText := newText(s.texts[path])
		past := one.diagnostics(path, grave(was.items), func(string) *text {
			if _, ok := s.texts[path]; ok {
				return oldText
			}
			return current(path)
		})
		fresh, gone := differ(past, present, lines)
		out.New = append(out.New, fresh...)
		out.Fixed = append(out.Fixed, gone...)
	}
}

// grave are errors and warnings.
func grave(items []wireDiagnostic) []wireDiagnostic {
	return slices.DeleteFunc(slices.Clone(items), func(d wireDiagnostic) bool { return severityOf(d.Severity) > Warning })
}

// identity: no line moved.
func identity(line int) (int, bool) { return line, true }

// moved maps lines of an old text to those of a new one; false for lines between
// the first and the last that changed.
func moved(old, new string) func(line int) (int, bool) {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return func(line int) (int, bool) {
		switch {
		case line <= head:
			return line, true
		case line > len(a)-tail:
			return line + len(b) - len(a), true
		}
		return 0, false
	}
}

// differ pairs diagnostics that say the same at the same place, then those that say
// the same among the lines that changed; what is left over is new, or gone.
func differ(past, present []Diagnostic, lines func(int) (int, bool)) (fresh, gone []Diagnostic) {
	same := func(a, b Diagnostic) bool {
		return a.Severity == b.Severity && a.Source == b.Source && a.Code == b.Code && a.Message == b.Message
	}
	used := make([]bool, len(past))
	pair := func(d Diagnostic, fits func(old Diagnostic) bool) bool {
		for i, old := range past {
			if !used[i] && same(old, d) && fits(old) {
				used[i] = true
				return true
			}
		}
		return false
	}
	var left []Diagnostic
	for _, d := range present {
		if !pair(d, func(old Diagnostic) bool { to, ok := lines(old.At.Line); return ok && to == d.At.Line }) {
			left = append(left, d)
		}
	}
	for _, d := range left {
		if !pair(d, func(old Diagnostic) bool { _, ok := lines(old.At.Line); return !ok }) {
			fresh = append(fresh, d)
		}
	}
	for i, old := range past {
		if !used[i] {
			gone = append(gone, old)
		}
	}
	return fresh, gone
}
