package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// said is a server's word on one file: what it pushed last, or was last answered
// when it was asked.
type said struct {
	version int64     // of the document; below 0: not told
	seq     uint64    // among all that the server said; 0: nothing
	at      time.Time // when it came
	items   []wireDiagnostic
	more    int    // that were not kept
	size    int    // bytes that the items take
	told    uint64 // of an answer: what the server had been told of files before
	id      string // of an answer: the result's

	exclusive bool // of an answer: nothing that is pushed adds to it
}

// verdict is all that a server says about one file. A server may push and be asked
// besides, of different things.
type verdict struct {
	pushed, asked said
}

// seq tells verdicts on a file apart.
func (f verdict) seq() uint64 {
	if f.asked.exclusive {
		return f.asked.seq
	}
	return max(f.pushed.seq, f.asked.seq)
}

// items are the diagnostics, those that are told both ways once.
func (f verdict) items() []wireDiagnostic {
	if len(f.pushed.items) == 0 || f.asked.exclusive {
		return f.asked.items
	}
	if len(f.asked.items) == 0 {
		return f.pushed.items
	}
	known := map[likeness]bool{}
	for i := range f.asked.items {
		known[f.asked.items[i].likeness()] = true
	}
	out := slices.Clone(f.asked.items)
	for i, d := range f.pushed.items {
		if !known[f.pushed.items[i].likeness()] {
			out = append(out, d)
		}
	}
	return out
}

// more is how many diagnostics are not kept.
func (f verdict) more() int {
	if f.asked.exclusive {
		return f.asked.more
	}
	return f.pushed.more + f.asked.more
}

// likeness tells diagnostics of a file apart.
type likeness struct {
	at                    Range
	severity              Severity
	source, code, message string
}

func (d *wireDiagnostic) likeness() likeness {
	return likeness{d.Range, severityOf(d.Severity), d.Source, string(d.Code), string(d.Message)}
}

// verdicts are what a server said about its files.
type verdicts struct {
	mu        sync.Mutex
	files     map[string]*verdict // by path
	versions  map[string]int32    // of documents that are open, or were
	seq       uint64
	kept      int           // bytes
	lost      bool          // there are files of which nothing is kept
	versioned bool          // it gives versions
	stale     uint64        // answers up to this one are outdated, as the server says
	told      time.Time     // when the server last heard of files on the disk
	debounce  time.Duration // the Spec's
	swept     time.Time     // when it last heard of what nobody asked it to judge
	announced bool          // it says when it has taken in its project's settings
	reloading time.Time     // when it last said that it does so
	settings  time.Time     // when the server last heard that its project's settings changed
	refreshed time.Time     // when it last said that answers are outdated; zero: never
	wake      chan struct{} // closed at the next verdict, and when work ends
	ended     bool

	turn chan struct{} // holds one while a change is judged
}

func (v *verdicts) init(spec *Spec) {
	v.debounce, v.announced = spec.Debounce, spec.Announces != ""
	v.turn = make(chan struct{}, 1)
	v.files = map[string]*verdict{}
	v.versions = map[string]int32{}
	v.wake = make(chan struct{})
}

// begin numbers the next version of a document. The numbers of a document that was
// closed go on, so that no late verdict is mistaken for one on it. since is how many
// verdicts came before.
func (v *verdicts) begin(path string) (version int32, since uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.versions[path]++
	return v.versions[path], v.seq
}

// version is a document's last version; below 0: it was never open.
func (v *verdicts) version(path string) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n, ok := v.versions[path]; ok {
		return int64(n)
	}
	return -1
}

// publish takes in a verdict that was pushed.
func (v *verdicts) publish(path string, version *int64, items []wireDiagnostic) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := int64(-1)
	if version != nil && *version >= 0 {
		v.versioned = true
		if *version <= int64(v.versions[path]) { // it cannot know of a later one
			n = *version
		}
	}
	if was := v.files[path]; was != nil {
		switch {
		case n >= 0 && was.pushed.version > n:
			return // of a version before the one that is judged already
		case n < 0 && v.versioned:
			n = was.pushed.version // it adds to what it said before
		}
	}
	v.putLocked(path, said{version: n, items: items}, false)
}

// answered takes in what the server was asked for.
func (v *verdicts) answered(path string, next said) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was := v.files[path]; was != nil && was.asked.version > next.version && next.version >= 0 {
		return // the answer to a later question was faster
	}
	v.putLocked(path, next, true)
}

// putLocked replaces what is kept of a file and wakes who waits.
func (v *verdicts) putLocked(path string, next said, asked bool) {
	v.seq++
	next.seq, next.at = v.seq, time.Now()
	f := v.files[path]
	_, open := v.versions[path]
	switch {
	case f != nil:
	case !open && len(next.items) == 0:
		v.wakeLocked() // nothing is wrong with a file that nobody asked about
		return
	case !open && len(v.files) >= maxFiles:
		v.lost = true
		v.wakeLocked()
		return
	default:
		f = &verdict{}
		v.files[path] = f
	}
	slot := &f.pushed
	if asked {
		slot = &f.asked
	}
	v.kept -= slot.size
	var left int
	next.items, next.size, left = keep(next.items, maxKept-v.kept)
	next.more += left
	v.kept += next.size
	*slot = next
	if !open && len(f.pushed.items)+len(f.asked.items)+f.more() == 0 {
		delete(v.files, path)
	}
	v.wakeLocked()
}

func (v *verdicts) wakeLocked() {
	close(v.wake)
	v.wake = make(chan struct{})
}

// poke has those who wait for a verdict look again at what they wait for.
func (v *verdicts) poke() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wakeLocked()
}

// outdated notes that what was answered may be answered differently now.
func (v *verdicts) outdated() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stale, v.refreshed = v.seq, time.Now()
	v.wakeLocked()
}

// configured notes that the server hears of a change of its project's settings.
func (v *verdicts) configured() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settings = time.Now()
}

// reloads notes that the server says that it takes in its project's settings.
func (v *verdicts) reloads() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.reloading = time.Now()
	v.wakeLocked()
}

// maxReload is how long a server that says when its answers are outdated may take to
// say so for what its project's settings change. It may answer by the old ones until
// then.
const maxReload = 1500 * time.Millisecond

// reload waits until the server has taken in its project's settings. One that says when
// it does so must have said it, and then that its answers are outdated: that alone it
// says for other reasons, too.
func (v *verdicts) reload(ctx context.Context) error {
	for {
		v.mu.Lock()
		wake, left := v.wake, maxReload-time.Since(v.settings)
		done := v.ended || v.settings.IsZero()
		if v.announced {
			done = done || v.reloading.After(v.settings) && v.refreshed.After(v.reloading)
			left = time.Hour // as long as somebody waits
		} else {
			done = done || v.refreshed.IsZero() || v.refreshed.After(v.settings) || left <= 0
		}
		v.mu.Unlock()
		if done {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// unreloaded reports whether the server has not taken in its project's settings in the
// time in which it should have.
func (v *verdicts) unreloaded() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.announced && v.reloading.Before(v.settings) && time.Since(v.settings) > maxReload
}

// disturbed notes that the server hears of changes on the disk.
func (v *verdicts) disturbed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = time.Now()
}

// sweep notes that the server hears of changes that no verdict was waited for.
func (v *verdicts) sweep() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.swept = time.Now()
}

// closed drops the id of what was answered about a document that is closed: a server
// may count anew when it is opened once more, and an old id would mean another answer.
func (v *verdicts) closed(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.files[path]; f != nil {
		f.asked.id = ""
	}
}

// forget drops what is known of a file that is no more.
func (v *verdicts) forget(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was := v.files[path]; was != nil {
		v.kept -= was.pushed.size + was.asked.size
		delete(v.files, path)
	}
}

// end wakes everybody: nothing more comes.
func (v *verdicts) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ended {
		v.ended = true
		v.wakeLocked()
	}
}

// A server that gives no versions may judge in stages, the first of which says
// nothing yet: its word counts once nothing followed for as long as it had taken to
// come, within these bounds.
const (
	quiet    = 250 * time.Millisecond
	maxQuiet = time.Second
)

// judged reports whether there is a pushed verdict on the document as it is. Where
// not, or where it may still change, it says how long to wait at most before looking
// again (0: until the next verdict) and what is closed at the next verdict.
func (v *verdicts) judged(doc synced) (ok bool, wait time.Duration, wake <-chan struct{}, ended bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[doc.path]
	if v.ended || f == nil || f.pushed.seq <= doc.since {
		return false, 0, v.wake, v.ended
	}
	last := f.pushed
	versioned := last.version >= 0
	switch {
	case versioned && last.version < int64(doc.version), !versioned && v.versioned:
		return false, 0, v.wake, false
	case versioned && !doc.at.Before(v.told):
		return true, 0, v.wake, false
	}
	if !versioned && v.debounce > 0 && !doc.opened {
		return v.debouncedLocked(doc, last)
	}
	// What changed on the disk may change a verdict with the same version, and one that
	// came right behind such a change may have been made before it.
	from, pause := last.at, quiet
	if !versioned {
		pause = min(max(quiet, last.at.Sub(doc.at)), maxQuiet)
	}
	if v.told.After(from) {
		from = v.told
	}
	if left := pause - time.Since(from); left > 0 {
		return false, left, v.wake, false
	}
	return true, 0, v.wake, false
}

// debouncedLocked is judged for a server that judges only once nothing has changed for
// a while.
func (v *verdicts) debouncedLocked(doc synced, last said) (ok bool, wait time.Duration, wake <-chan struct{}, ended bool) {
	due := func(change time.Time) bool { return !last.at.Before(change.Add(v.debounce)) }
	switch {
	case !due(doc.at):
		return false, 0, v.wake, false
	case due(v.told):
		return true, 0, v.wake, false
	}
	// What changed on the disk may have it judge once more, or not.
	left := time.Until(v.told.Add(v.debounce + quiet))
	return left <= 0, max(left, 0), v.wake, false
}

// outlived reports whether the server heard of changes on the disk since a document
// became as it is.
func (v *verdicts) outlived(doc synced) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return doc.at.Before(v.told)
}

// passed reports whether the server heard of changes that no verdict was waited for
// since a document became as it is.
func (v *verdicts) passed(doc synced) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return doc.at.Before(v.swept)
}

// await waits until the server has judged the document as it is, by itself, and has
// ended the work that it began since. It ends, too, when the server wants to be asked
// from now on.
func (r *run) await(ctx context.Context, doc synced) bool {
	pulled := r.client.pulls()
	for {
		ok, wait, wake, ended := r.verdicts.judged(doc)
		if ended || ok && !r.checking(doc) {
			return ok && !ended
		}
		if r.client.pulls() && !pulled {
			return false
		}
		if wait == 0 {
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// checking reports whether work is under way that is part of the verdict on the
// document: that of a check of which the settings of the server know, or any where
// the server's word does not say which version it is on.
func (r *run) checking(doc synced) bool {
	checks := r.server.spec.Checks
	if checks == "" && r.verdicts.of(doc.path).pushed.version >= 0 {
		return false
	}
	return r.client.busySince(doc.at, checks)
}

// snapshot is what is known of all files, and the versions of the documents.
func (v *verdicts) snapshot() (map[string]verdict, map[string]int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make(map[string]verdict, len(v.files))
	for path, f := range v.files {
		out[path] = *f
	}
	return out, maps.Clone(v.versions)
}

// over reports whether nothing more comes.
func (v *verdicts) over() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended
}

// overflowed reports whether there are files of which nothing is kept.
func (v *verdicts) overflowed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lost
}

// of is what is known of one file.
func (v *verdicts) of(path string) verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[path]
	if f == nil {
		return verdict{}
	}
	return *f
}
