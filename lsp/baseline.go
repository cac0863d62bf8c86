package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Baseline is what was known before some files change. It must be ended with After
// or Close: until then no other change of the same servers' files is judged, so that
// nobody is told of what another broke.
type Baseline struct {
	view  *View
	left  time.Duration // that a verdict may still be waited for
	sides []*side
	ended bool
}

// side is a baseline at one server.
type side struct {
	server *server
	paths  []string
	// configs are the files of its projects' settings that change.
	configs []string
	run     *run  // nil: it was not ready
	err     error // why it was not ready
	turn    bool  // no other change is judged meanwhile
	// beyond: the paths lie beyond its root, and it may use what is declared in them. It
	// is asked about its own files alone.
	beyond bool

	before map[string]verdict
	texts  map[string]string // of the paths that there were
	// existed are the paths of which there was a file just before the change; texts
	// may come from before an earlier one.
	existed map[string]bool
	gone    map[string]bool // paths that an earlier change removed, of which not all is told
	made    map[string]bool // the same of those that it created
	judged  map[string]bool // the open documents on which there was a verdict
	open    []string        // beside the paths
	// others are the texts of all open documents.
	others map[string]*text
	// shown are those of open that were opened because they import what changes;
	// unshown says which others the server does not have, a clause each.
	shown, unshown []string
	overlooked     []string // files that changed while the server was not ready
	resumed        *side    // what an earlier change left to be told
	owed           []string // those, and changed ones, that this change leaves to be judged
	// versions are those of the documents: another one tells that somebody else
	// changed the document meanwhile.
	versions map[string]int32
	whole    bool // all else that the server judges by itself was judged
}

// Before notes what the servers say of the project before the files given change.
// It takes at most half of the time that the settings give to waiting. nil: there is
// nothing to compare later.
func (v *View) Before(ctx context.Context, paths []string) *Baseline {
	wait := v.set.Load().DiagnosticWait
	if wait < 0 {
		return nil
	}
	b := &Baseline{view: v}
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
				b.sides = append(b.sides, newSide(srv))
			}
			b.sides[i].paths = append(b.sides[i].paths, path)
		}
	}
	if b.sides = v.configuring(b.sides, paths); len(b.sides) == 0 {
		return nil
	}
	b.sides = append(b.sides, v.beyond(b.sides)...)
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, wait/2)
	defer cancel()
	b.each(func(s *side) { v.note(ctx, s) })
	b.left = wait - time.Since(began)
	return b
}

func newSide(s *server) *side {
	return &side{server: s, texts: map[string]string{}, existed: map[string]bool{}, judged: map[string]bool{}}
}

// beyond are the sides of the other roots, such as modules that use the one in which
// something changes: those whose servers run and judge all that they have by themselves.
func (v *View) beyond(sides []*side) []*side {
	v.mu.Lock()
	used := slices.Clone(v.used)
	v.mu.Unlock()
	var out []*side
	for _, srv := range used {
		r := srv.running()
		if r == nil || !r.judgesAll() || slices.ContainsFunc(sides, func(s *side) bool { return s.server == srv }) {
			continue
		}
		other := newSide(srv)
		other.beyond = true
		for _, s := range sides {
			if s.server.spec.Name == srv.spec.Name {
				other.paths = append(other.paths, s.paths...)
			}
		}
		if len(other.paths) > 0 {
			out = append(out, other)
		}
	}
	return out
}

// shows are those of some paths that the server is to have open. A file beyond its
// root it need not have, but must not have as it was.
func (s *side) shows(ctx context.Context, r *run, paths []string) []string {
	if !s.beyond {
		return paths
	}
	open, _ := r.opened(ctx)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !slices.Contains(open, path) })
}

// own are the open documents by which the server is asked about its project.
func (s *side) own(ctx context.Context, r *run) []synced {
	docs := r.openDocuments(ctx)
	if s.beyond {
		docs = slices.DeleteFunc(docs, func(doc synced) bool { return !within(r.server.root, doc.path) })
	}
	return docs
}

// each does something at all servers at once.
func (b *Baseline) each(f func(*side)) {
	var wg sync.WaitGroup
	for _, s := range b.sides {
		wg.Go(func() { f(s) })
	}
	wg.Wait()
}

// Close ends a baseline that nothing is compared with. nil has nothing to end.
func (b *Baseline) Close() {
	if b == nil {
		return
	}
	ended := b.ended
	b.ended = true
	for _, s := range b.sides {
		if !ended {
			b.view.leave(s)
		}
		if s.turn {
			s.turn = false
			<-s.run.verdicts.turn
		}
	}
}

// leave gives to the next change what earlier ones left to be told, where nothing is
// compared: a change that failed tells of nothing.
func (v *View) leave(s *side) {
	if len(s.overlooked) > 0 {
		v.overlook(s, nil)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.resumed != nil && v.unjudged[s.server] == nil {
		v.unjudged[s.server] = s.resumed
	}
}

// note takes the baseline at one server.
func (v *View) note(ctx context.Context, s *side) {
	r, err := v.current(ctx, s.server)
	if err != nil {
		s.err = err
		return
	}
	defer s.server.release()
	v.begin(ctx, r, s.shows(ctx, r, s.paths))
	if s.err = r.load(ctx); s.err != nil {
		return
	}
	s.run = r
	select {
	case r.verdicts.turn <- struct{}{}:
		s.turn = true
	case <-ctx.Done(): // another change is being judged: who broke what is not told apart
	}
	_ = v.refresh(ctx, r)
	var docs []synced
	for _, path := range slices.Concat(s.paths, s.configs) {
		s.existed[path] = stampOf(path) != (Stamp{})
	}
	for _, path := range s.shows(ctx, r, s.paths) {
		if !s.existed[path] {
			continue // it is to be created: it has no problems yet
		}
		if doc, err := v.show(ctx, r, path); err == nil {
			s.texts[path] = doc.text.body
			docs = append(docs, doc)
		}
	}
	v.showOverlooked(ctx, s)
	v.showImporters(ctx, s)
	v.showConfigured(ctx, s)
	s.others = map[string]*text{}
	for _, doc := range r.openDocuments(ctx) {
		s.others[doc.path] = doc.text
		if _, own := s.texts[doc.path]; !own && len(s.open) < maxJudged {
			s.open = append(s.open, doc.path)
			if ok, _, _, _ := r.verdicts.judged(doc); ok || r.asks() || r.stale(doc) || slices.Contains(s.shown, doc.path) || slices.Contains(s.overlooked, doc.path) {
				docs = append(docs, doc)
			}
		}
	}
	anew := map[string]bool{}
	for i, doc := range docs {
		if r.stale(doc) {
			docs[i] = session{run: r, doc: doc}.anew(ctx)
			anew[doc.path] = docs[i].version != doc.version
		}
	}
	left := r.judgeAt(ctx, docs)
	for _, doc := range docs {
		s.judged[doc.path] = !slices.Contains(left, doc.path)
	}
	s.whole = r.client.busy() == ""
	if r.judgesAll() {
		s.whole = v.judgeSide(ctx, s)
	}
	s.before, s.versions = r.verdicts.snapshot()
	for _, path := range left {
		if anew[path] {
			delete(s.before, path) // what is known is from before another change
		}
	}
	v.resume(s)
}

// judgeSide has a server judge all that it has by itself, and reports whether it did.
func (v *View) judgeSide(ctx context.Context, s *side) bool {
	if !s.beyond {
		return s.run.judgeAll(ctx, s.paths[0]) == nil
	}
	if len(s.own(ctx, s.run)) == 0 {
		if path := v.any(ctx, s.run); path == "" {
			return false
		} else if _, err := v.show(ctx, s.run, path); err != nil {
			return false
		}
	}
	docs := s.own(ctx, s.run)
	return len(docs) > 0 && s.run.judgeAll(ctx, docs[0].path) == nil
}

// begin shows a file to a server that loads the project only with its first one: one of
// those that are to change, or any.
func (v *View) begin(ctx context.Context, r *run, paths []string) {
	if r.server.spec.Loading == "" {
		return
	}
	if open, err := r.opened(ctx); err != nil || len(open) > 0 {
		return
	}
	for _, path := range paths {
		if _, err := v.show(ctx, r, path); err == nil {
			return
		}
	}
	if path := v.any(ctx, r); path != "" {
		_, _ = v.show(ctx, r, path)
	}
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
	s.resumed = was
	for path := range s.judged {
		if now, known := s.before[path]; known && !was.about(path) {
			was.before[path] = now // what was there before that change is not known
		}
	}
	for _, path := range was.owed {
		if slices.Contains(s.open, path) && !slices.Contains(s.shown, path) {
			s.shown = append(s.shown, path)
		}
	}
	s.before, s.whole, s.gone, s.made = was.before, was.whole, was.gone, was.made
	for _, path := range was.paths {
		delete(s.texts, path) // of what it created there was no text
	}
	maps.Copy(s.texts, was.texts)
	maps.Copy(s.judged, was.judged)
}

// about reports whether a baseline has what there was of a file, be it nothing.
func (s *side) about(path string) bool {
	_, asked := s.judged[path]
	return asked || slices.Contains(s.open, path) || slices.Contains(s.paths, path) || s.run.judgesAll() && s.whole
}

// maxJudged is how many open documents are asked about beside those that change.
const maxJudged = 32
