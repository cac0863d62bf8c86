package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// List is the beginning of a list of diagnostics.
type List struct {
	Items []Diagnostic // errors first, then by path and line
	More  int          // that are not in Items
}

// Delta is what a change of files made of their project's problems. Hints are left
// out.
type Delta struct {
	New      List
	Fixed    List
	Present  List     // of files of which it is not known what they had before
	Servers  []string // whose verdict this is
	NotReady []string // why a verdict is not there, a clause each
}

// maxTold is how many diagnostics of a kind a delta has.
const maxTold = 100

// add appends another list.
func (l *List) add(o List) {
	p := Problems{Items: append(l.Items, o.Items...)}
	p.sort()
	l.Items, l.More = p.Items, l.More+o.More
}

func (d *Delta) add(o Delta) {
	d.New.add(o.New)
	d.Fixed.add(o.Fixed)
	d.Present.add(o.Present)
	d.Servers = append(d.Servers, o.Servers...)
	d.NotReady = append(d.NotReady, o.NotReady...)
}

// After waits for the verdict on the files as they are now, until the time that the
// settings give is over, and compares it with what was known before. changed are
// the files that really changed. It ends the baseline.
func (b *Baseline) After(ctx context.Context, changed []string) Delta {
	var out Delta
	if b == nil {
		return out
	}
	b.ended = true
	defer b.Close()
	if b.untold(changed) {
		b.view.Dirty()
	}
	var mu sync.Mutex
	wait, cancel := context.WithTimeout(ctx, b.left)
	defer cancel()
	b.each(func(s *side) {
		d := b.view.compare(wait, s, changed)
		mu.Lock()
		defer mu.Unlock()
		out.add(d)
	})
	out.once()
	return out
}

// untold reports whether a server is yet to hear of files that changed, since it has
// others than them for its own: those that its settings extend, or that it reads as data.
func (b *Baseline) untold(changed []string) bool {
	b.view.mu.Lock()
	used := slices.Clone(b.view.used)
	b.view.mu.Unlock()
	for _, srv := range used {
		r := srv.running()
		if r == nil {
			continue
		}
		i := slices.IndexFunc(b.sides, func(s *side) bool { return s.server == srv })
		cares := r.cares()
		for _, path := range changed {
			_, own := srv.spec.language(path)
			told := i >= 0 && (own || slices.Contains(b.sides[i].configs, path))
			if !told && cares(path) {
				return true
			}
		}
	}
	return false
}

// once leaves each thing told once, which the servers of several roots may say.
func (d *Delta) once() {
	slices.Sort(d.Servers)
	d.Servers = slices.Compact(d.Servers)
	slices.Sort(d.NotReady)
	d.NotReady = slices.Compact(d.NotReady)
	d.New.Items = unique(d.New.Items, itself)
	d.Fixed.Items = unique(d.Fixed.Items, itself)
	d.Present.Items = slices.DeleteFunc(unique(d.Present.Items, itself), func(one Diagnostic) bool { return slices.Contains(d.New.Items, one) })
}

// unique is a list without what another with the same key stands before: several roots
// have one server each, and some of these tell of the same file.
func unique[T any, K comparable](list []T, key func(T) K) []T {
	seen := make(map[K]bool, len(list))
	return slices.DeleteFunc(list, func(one T) bool {
		was := seen[key(one)]
		seen[key(one)] = true
		return was
	})
}

func itself(d Diagnostic) Diagnostic { return d }

// compare is the delta at one server.
func (v *View) compare(ctx context.Context, s *side, changed []string) Delta {
	if s.run == nil {
		v.overlook(s, changed)
		return Delta{NotReady: []string{s.err.Error()}}
	}
	r, err := s.server.acquire(ctx)
	if err == nil && r != s.run {
		s.server.release()
		<-s.run.ended // it is on its way
		err = s.run.why
	}
	if err != nil {
		v.Dirty() // it was told of nothing
		v.overlook(s, changed)
		return Delta{NotReady: []string{err.Error()}}
	}
	defer s.server.release()
	c := comparison{view: v, side: s, run: r, now: map[string]*text{}, gone: map[string]bool{}, late: map[string]bool{}, told: map[string]verdict{}}
	for path := range s.gone {
		c.gone[path] = stampOf(path) == (Stamp{})
	}
	docs := c.showChanged(ctx, changed)
	if r.obsolete.Load() {
		v.overlook(s, changed)
		c.out.NotReady = append(c.out.NotReady, fmt.Sprintf("%s is started again to take in %s", s.server.spec.Name, names(s.configs)))
		return c.out
	}
	judged := c.judge(ctx, docs)
	if len(c.out.NotReady) > 0 {
		defer c.carry()
	}
	if !judged {
		if !r.verdicts.over() {
			changed = nil // they are told later
		}
		v.overlook(s, changed)
		return c.out
	}
	c.out.Servers = []string{s.server.spec.judge()}
	c.out.NotReady = append(c.out.NotReady, s.partly()...)
	if !r.asks() && !r.judgesAll() {
		r.verdicts.settle(ctx, docs)
	}
	c.difference(ctx)
	return c.out
}

// comparison is the work of comparing at one server.
type comparison struct {
	view *View
	side *side
	run  *run
	now  map[string]*text // of the changed files
	gone map[string]bool  // changed files that are no more
	held held
	out  Delta

	late map[string]bool    // the changed files on which there is no verdict
	left map[string]bool    // the other documents that are to be judged anew, and are not
	anew map[string]bool    // the other documents on which there is a verdict since
	told map[string]verdict // of the files that were compared
}

// carry leaves to the next change what of this one is not told.
func (c *comparison) carry() {
	s := c.side
	for path, is := range c.told {
		s.before[path], s.judged[path] = is, true
		switch t := c.now[path]; {
		case t != nil:
			s.texts[path] = t.body
		case c.gone[path]:
			delete(s.before, path)
			delete(s.texts, path)
			delete(c.gone, path)
		}
	}
	made := map[string]bool{}
	for _, path := range append(sortedKeys(s.made), sortedKeys(c.now)...) {
		_, told := c.told[path]
		made[path] = c.created(path) && !told
	}
	s.gone, s.made = c.gone, made
	for _, path := range s.shown {
		if !c.anew[path] && c.now[path] == nil && !c.gone[path] {
			s.owed = append(s.owed, path)
		}
	}
	for path := range c.late {
		if c.now[path] != nil {
			s.owed = append(s.owed, path)
		}
	}
	c.view.mu.Lock()
	defer c.view.mu.Unlock()
	c.view.unjudged[s.server] = s
}

// showChanged lets the server have the files that really changed.
func (c *comparison) showChanged(ctx context.Context, changed []string) []synced {
	r := c.run
	mine := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { _, ok := r.server.spec.language(path); return !ok })
	configs := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return !slices.Contains(c.side.configs, path) })
	c.tellChanged(ctx, append(mine, configs...)) // before the documents, whose verdicts are to come last
	var docs []synced
	for _, path := range c.side.shows(ctx, r, mine) {
		doc, err := c.view.show(ctx, r, path)
		switch {
		case err != nil && c.gone[path]: // it was deleted or moved
			continue
		case err != nil: // it cannot be read, or the server is gone
			c.late[path] = true
			c.out.NotReady = append(c.out.NotReady, err.Error())
			_ = r.forget(ctx, path)
			continue
		}
		delete(c.gone, path) // the editor has it
		c.now[path] = doc.text
		docs = append(docs, doc)
	}
	c.unsaved(docs)
	return docs
}

// unsaved notes which of the changed files others include that the server does not have
// as they are, since it reads what is included from the disk.
func (c *comparison) unsaved(docs []synced) {
	var paths []string
	for _, doc := range docs {
		if doc.unsaved {
			paths = append(paths, doc.path)
		}
	}
	if spec := c.run.server.spec; spec.DiskIncludes && len(paths) > 0 && len(c.side.shown) > 0 {
		c.out.NotReady = append(c.out.NotReady, fmt.Sprintf("%s reads what others include from the disk, and the editor has not saved %s there", spec.Name, names(paths)))
	}
}

// tellChanged tells the server what happened to the files that changed.
func (c *comparison) tellChanged(ctx context.Context, paths []string) {
	r := c.run
	stamps, sums := map[string]Stamp{}, map[string]sum{}
	var events []Happened
	for _, path := range paths {
		stamps[path], sums[path] = stampOf(path), sumOf(path)
		if stamps[path] == (Stamp{}) {
			c.gone[path] = true
			_ = r.forget(ctx, path)
		}
		if event, some := r.disk.event(path, c.side.existed[path], stamps[path]); some {
			events = append(events, Happened{path, event})
		}
	}
	if r.tell(ctx, events) != nil { // it hears of them with what else has changed
		c.view.Dirty()
		return
	}
	for path, stamp := range stamps {
		r.disk.heard(path, stamp, sums[path])
	}
}

// judge waits for the verdicts on the changed documents and on those that were open
// besides. false: there is nothing to compare.
func (c *comparison) judge(ctx context.Context, docs []synced) bool {
	r := c.run
	wait := c.view.set.Load().DiagnosticWait
	asked := docs
	if r.judgesAll() {
		if len(docs) == 0 || c.side.beyond { // none is there, or of its own: any other will do
			asked = c.side.own(ctx, r)
		}
		if len(asked) == 0 && !c.side.beyond { // or one of those that are gone
			for _, path := range sortedKeys(c.gone) {
				asked = append(asked, synced{path: path})
			}
		}
		asked = asked[:min(len(asked), 1)] // it is the same for all
	}
	errs := make([]error, len(asked))
	var wg sync.WaitGroup
	for i, doc := range asked {
		wg.Go(func() { errs[i] = session{run: r, doc: doc}.judge(ctx) })
	}
	wg.Wait()
	known := len(asked) == 0 && len(c.late) == 0
	c.miss(asked, errs, wait)
	if r.judgesAll() && slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		c.missPushed(docs)
	}
	for _, doc := range slices.Concat(docs, asked) {
		known = known || !c.late[doc.path]
	}
	if r.verdicts.over() {
		<-r.ended // it is on its way
		c.out.NotReady = []string{r.why.Error()}
		return false
	}
	if known && !r.judgesAll() {
		c.judgeOthers(ctx, wait)
	}
	return known
}

// miss notes which documents were not judged, and says why.
func (c *comparison) miss(docs []synced, errs []error, wait time.Duration) {
	var left []string
	for i, err := range errs {
		one := session{run: c.run, doc: docs[i]}
		switch {
		case err == nil:
			continue
		case one.ownJudged():
			c.out.NotReady = append(c.out.NotReady, c.run.tooLate("the whole project", wait))
			continue
		case outOfTime(err):
			left = append(left, one.doc.path)
		default:
			c.out.NotReady = append(c.out.NotReady, err.Error())
		}
		c.late[one.doc.path] = true
	}
	if len(left) > 0 {
		c.out.NotReady = append(c.out.NotReady, c.run.tooLate(names(left), wait))
	}
}

// missPushed notes of which documents there is not even a verdict that was pushed.
func (c *comparison) missPushed(docs []synced) {
	for _, doc := range docs {
		if ok, _, _, _ := c.run.verdicts.judged(doc); !ok {
			c.late[doc.path] = true
		}
	}
}

// judgeOthers waits for the verdicts on the documents whose own text has not changed.
func (c *comparison) judgeOthers(ctx context.Context, wait time.Duration) {
	r := c.run
	missing := map[string]bool{} // importers that are not judged anew
	for _, path := range c.side.shown {
		missing[path] = c.now[path] == nil && !c.gone[path]
	}
	var others []synced
	for _, doc := range r.openDocuments(ctx) {
		if c.now[doc.path] != nil || !c.side.judged[doc.path] && !missing[doc.path] {
			continue
		}
		if !r.asks() {
			if !missing[doc.path] {
				continue // it is judged anew or not, as the server thinks right
			}
			if doc = c.again(ctx, doc); doc.path == "" {
				continue
			}
		}
		others = append(others, doc)
	}
	left := r.judgeAt(ctx, others)
	c.anew = map[string]bool{}
	for _, doc := range others {
		c.anew[doc.path] = !slices.Contains(left, doc.path)
		missing[doc.path] = false
	}
	for _, path := range c.side.shown {
		if missing[path] {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return
	}
	c.out.NotReady = append(c.out.NotReady, fmt.Sprintf("%s has not judged %s anew within %s", r.server.spec.Name, names(left), wait))
	c.left = map[string]bool{}
	for _, path := range left {
		c.left[path] = true
		if c.side.judged[path] {
			delete(c.side.judged, path)
		}
	}
}

// again has a server that judges by itself judge a document whose own text has not
// changed: it gives it as a new version, so that the verdict can be told from the last.
func (c *comparison) again(ctx context.Context, doc synced) synced {
	next, err := c.run.repeat(ctx, doc)
	if err != nil {
		return synced{}
	}
	c.side.versions[doc.path] = next.version
	return next
}

// Bounds of how long nothing must have come behind the verdict on a changed file.
const (
	minPause = 5 * time.Millisecond
	maxPause = 100 * time.Millisecond
)

// settle waits until a server that judges by itself has said nothing more for an
// eighth of the time that its verdict took: what a change breaks elsewhere comes
// with it or right behind it.
func (v *verdicts) settle(ctx context.Context, docs []synced) {
	pause := minPause
	if len(docs) == 0 {
		pause = quiet // there is no verdict to come behind: all that changed is gone
	}
	for _, doc := range docs {
		pause = max(pause, min(v.of(doc.path).pushed.at.Sub(doc.at)/8, maxPause))
	}
	ctx, cancel := context.WithTimeout(ctx, 4*pause)
	defer cancel()
	for {
		v.mu.Lock()
		wake, ended := v.wake, v.ended
		v.mu.Unlock()
		if ended {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-wake:
		case <-timer.C:
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// held are diagnostics of several files before their places are looked up.
type held struct {
	fresh, fixed, present []placed
}

// placed is a diagnostic of a file; old: of its text before the change.
type placed struct {
	path string
	old  bool
	wireDiagnostic
}

func place(list []placed, path string, old bool, items []wireDiagnostic) []placed {
	for _, d := range items {
		list = append(list, placed{path, old, d})
	}
	return list
}

// difference compares all files of the project.
func (c *comparison) difference(ctx context.Context) {
	for path := range c.gone {
		c.run.verdicts.forget(path)
	}
	now, versions := c.run.verdicts.snapshot()
	paths := map[string]bool{}
	for path, is := range now {
		if was, ok := c.side.before[path]; !ok || was.seq() != is.seq() {
			paths[path] = true
		}
	}
	for path := range c.side.before {
		if _, ok := now[path]; !ok {
			paths[path] = true
		}
	}
	var others, uncounted []string
	for path, n := range c.side.versions {
		if _, mine := c.now[path]; !mine && !c.gone[path] && versions[path] != n {
			others = append(others, path) // somebody else changed it
		}
	}
	for _, path := range sortedKeys(paths) {
		_, mine := c.now[path]
		mine = mine || c.gone[path]
		_, inside := c.view.find.folder(path)
		switch {
		case !inside, !mine && len(others) > 0, c.late[path], c.left[path], c.side.beyond && slices.Contains(c.side.paths, path): // which its own server judges
		case c.gone[path] && len(c.late)+len(c.left) > 0: // what it had may have moved to one of these
		case now[path].more()+c.side.before[path].more() > 0:
			uncounted = append(uncounted, path)
		default:
			c.file(path, mine, c.side.before[path], now[path])
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		c.out.NotReady = append(c.out.NotReady, fmt.Sprintf("%s changed at the same time, so that what broke beside the changed files is not told", names(others)))
	}
	if len(uncounted) > 0 {
		c.out.NotReady = append(c.out.NotReady, fmt.Sprintf("%s has too many problems in %s to compare them", c.run.server.spec.Name, names(uncounted)))
	}
	c.overlooked(now)
	c.pairMoved()
	read := c.view.lineText(ctx)
	c.out.New = c.list(c.held.fresh, read)
	c.out.Fixed = c.list(c.held.fixed, read)
	c.out.Present = c.list(c.held.present, read)
}

// file compares the verdicts on one file.
func (c *comparison) file(path string, mine bool, was, is verdict) {
	s, whole := c.side, is
	old, had := s.texts[path]
	judged, asked := s.judged[path]
	open := asked || slices.Contains(s.open, path)
	_, known := s.before[path]
	unknown := false
	switch {
	case mine:
		unknown = had && !judged || !had && c.mayHaveMoved()
	case open || c.run.asks():
		if !judged && c.run.asks() && !c.anew[path] {
			return // it was not judged before, or has not been since
		}
		unknown = !judged && (!known || c.run.asks()) && (asked || !s.whole)
	case c.isOpen(path) && !known && !c.run.judgesAll():
		return // it was opened meanwhile, and nothing was known of it
	default:
		unknown = !known && !s.whole
	}
	if was.pushed.seq == 0 && c.run.asks() && !(mine && !had) {
		is.pushed = said{} // it may have been so before: only its answers were waited for
	}
	c.told[path] = whole
	present := grave(is.items())
	if unknown {
		c.held.present = place(c.held.present, path, false, present)
		return
	}
	lines := unmoved()
	if t := c.text(path); t != nil && had {
		lines = moved(old, t.body)
	}
	fresh, gone := differ(grave(was.items()), present, lines)
	c.held.fresh = place(c.held.fresh, path, false, fresh)
	c.held.fixed = place(c.held.fixed, path, true, gone)
}

// text is what a document has now: this change's, or one's before that is told only now.
func (c *comparison) text(path string) *text {
	if t := c.now[path]; t != nil {
		return t
	}
	return c.side.others[path]
}

// created reports whether the change made a file, or one before that is told only now.
func (c *comparison) created(path string) bool {
	_, had := c.side.texts[path]
	return (c.now[path] != nil || c.side.made[path]) && !had
}

// mayHaveMoved reports whether a file that the change made may have the problems of one
// that it removed, of which these are not known.
func (c *comparison) mayHaveMoved() bool {
	for path := range c.gone {
		if _, had := c.side.texts[path]; had && !c.side.judged[path] {
			return true
		}
	}
	return false
}

// isOpen reports whether a document was ever open at the server.
func (c *comparison) isOpen(path string) bool { return c.run.verdicts.version(path) >= 0 }

// pairMoved takes out what moved with a file that got another name.
func (c *comparison) pairMoved() {
	if len(c.gone) == 0 {
		return
	}
	waiting := map[sense][]int{}
	for i, d := range c.held.fixed {
		if c.gone[d.path] {
			key := d.sense().roughly()
			waiting[key] = append(waiting[key], i)
		}
	}
	met := map[int]bool{}
	slices.SortStableFunc(c.held.fresh, func(a, b placed) int { // what an earlier change made first
		switch made := c.side.made; {
		case made[a.path] == made[b.path]:
			return 0
		case made[a.path]:
			return -1
		}
		return 1
	})
	c.held.fresh = slices.DeleteFunc(c.held.fresh, func(d placed) bool {
		key := d.sense().roughly()
		if !c.created(d.path) || len(waiting[key]) == 0 {
			return false
		}
		met[waiting[key][0]] = true
		waiting[key] = waiting[key][1:]
		return true
	})
	var left []placed
	for i, d := range c.held.fixed {
		if !met[i] {
			left = append(left, d)
		}
	}
	c.held.fixed = left
}

// list is the beginning of some diagnostics, with places as people count them.
func (c *comparison) list(all []placed, read func(string) *text) List {
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(severityOf(a.Severity), severityOf(b.Severity)), strings.Compare(a.path, b.path), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line))
	})
	one := session{run: c.run}
	out := List{More: max(len(all)-maxTold, 0)}
	before := map[string]*text{}
	for _, d := range all[:min(len(all), maxTold)] {
		out.Items = append(out.Items, one.diagnostics(d.path, []wireDiagnostic{d.wireDiagnostic}, func(path string) *text {
			body, had := c.side.texts[path]
			switch {
			case d.old && had:
				if before[path] == nil {
					before[path] = newText(body)
				}
				return before[path]
			case c.now[path] != nil:
				return c.now[path]
			}
			return read(path)
		})...)
	}
	return out
}

// grave are errors and warnings.
func grave(items []wireDiagnostic) []wireDiagnostic {
	return slices.DeleteFunc(slices.Clone(items), func(d wireDiagnostic) bool { return severityOf(d.Severity) > Warning })
}
