package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"
)

// Severity is how grave a diagnostic is; the smaller, the graver.
type Severity int

// The severities.
const (
	Error Severity = 1 + iota
	Warning
	Information
	Hint
)

// String is the severity's name.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Information:
		return "info"
	}
	return "hint"
}

// Diagnostic is what a server has to say about a place in a file.
type Diagnostic struct {
	Path     string // absolute
	At, End  Place
	Severity Severity
	Code     string
	Source   string // who says it, as the server spells it
	Message  string
	Server   string // the server's name

	rng Range
	raw json.RawMessage
}

// Limits of what is kept of verdicts.
const (
	maxDiagnostics = 1000   // of one file
	maxKept        = 50_000 // of one server
)

// verdict is what a server last said about one file.
type verdict struct {
	version int64  // of the document; below 0: it gives none
	seq     uint64 // of this verdict among all of the server
	items   []wireDiagnostic
	more    int    // that were not kept
	pulled  string // the id of the result, where it was pulled
}

// verdicts are what a server said about its files.
type verdicts struct {
	mu        sync.Mutex
	files     map[string]*verdict // by path
	seq       uint64
	kept      int
	versioned bool          // it gives versions
	stale     uint64        // verdicts up to this one are outdated, as the server says
	last      time.Time     // when the last verdict came
	wake      chan struct{} // closed at the next verdict
	ended     bool
}

func (v *verdicts) init() {
	v.files = map[string]*verdict{}
	v.wake = make(chan struct{})
}

// count is how many verdicts came so far.
func (v *verdicts) count() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seq
}

// publish takes in a verdict that was pushed.
func (v *verdicts) publish(path string, version *int64, items []wireDiagnostic) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := int64(-1)
	if version != nil && *version >= 0 {
		n, v.versioned = *version, true
		if was := v.files[path]; was != nil && was.version > n {
			return // of a version before the one that is judged already
		}
	}
	v.putLocked(path, &verdict{version: n, items: items})
}

// putLocked replaces what is kept of a file and wakes who waits.
func (v *verdicts) putLocked(path string, next *verdict) {
	was := v.files[path]
	if was != nil {
		v.kept -= len(was.items)
	}
	if most := min(maxDiagnostics, max(0, maxKept-v.kept)); len(next.items) > most {
		next.more = len(next.items) - most
		next.items = slices.Clone(gravest(next.items)[:most])
	}
	v.seq++
	next.seq, v.last = v.seq, time.Now()
	v.kept += len(next.items)
	v.files[path] = next
	close(v.wake)
	v.wake = make(chan struct{})
}

// gravest are the items, the gravest first.
func gravest(items []wireDiagnostic) []wireDiagnostic {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b wireDiagnostic) int { return int(severityOf(a.Severity)) - int(severityOf(b.Severity)) })
	return items
}

// severityOf is a severity; one that is not told counts as an error.
func severityOf(s protocol.DiagnosticSeverity) Severity {
	if s < 1 || s > 4 {
		return Error
	}
	return Severity(s)
}

// outdated notes that what was judged may be judged differently now.
func (v *verdicts) outdated() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stale = v.seq
}

// forget drops what is known of a file that is no more.
func (v *verdicts) forget(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was := v.files[path]; was != nil {
		v.kept -= len(was.items)
		delete(v.files, path)
	}
}

// end wakes everybody: nothing more comes.
func (v *verdicts) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ended {
		v.ended = true
		close(v.wake)
		v.wake = make(chan struct{})
	}
}

// quiet is how long a server that gives no versions must have said nothing more for
// its last word on a file to count as the one on its last version.
const quiet = 250 * time.Millisecond

// judged reports whether there is a verdict on the document as it is. Where not, or
// where it may still change, it says how long to wait at most before looking again
// (0: until the next verdict) and what is closed at the next verdict.
func (v *verdicts) judged(doc synced) (ok bool, wait time.Duration, wake <-chan struct{}, ended bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[doc.path]
	switch {
	case v.ended:
		return false, 0, v.wake, true
	case f == nil || f.seq <= doc.since:
		return false, 0, v.wake, false
	case f.version >= 0:
		return f.version >= int64(doc.version), 0, v.wake, false
	case v.versioned:
		return false, 0, v.wake, false
	}
	if left := quiet - time.Since(v.last); left > 0 {
		return false, left, v.wake, false
	}
	return true, 0, v.wake, false
}

// poke has those who wait for a verdict look again at what they wait for.
func (v *verdicts) poke() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.wake)
	v.wake = make(chan struct{})
}

// await waits until the server has judged the document as it is, or until what is
// given, if it is, says that none is to be waited for any more.
func (v *verdicts) await(ctx context.Context, doc synced, no func() bool) bool {
	for {
		ok, wait, wake, ended := v.judged(doc)
		if ok || ended || no != nil && no() {
			return ok
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

// snapshot is what is known of all files.
func (v *verdicts) snapshot() map[string]verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make(map[string]verdict, len(v.files))
	for path, f := range v.files {
		out[path] = *f
	}
	return out
}

// of is what is known of one file.
func (v *verdicts) of(path string) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[path]
	if f == nil {
		return verdict{}, false
	}
	return *f, true
}

// pull asks for the verdict on a document, and keeps it and what comes along on
// others.
func (r *run) pull(ctx context.Context, doc synced) error {
	params := map[string]any{"textDocument": identifier{fileURI(doc.path)}}
	was, known := r.verdicts.of(doc.path)
	if known && was.pulled != "" {
		params["previousResultId"] = was.pulled
	}
	var report pullReport
	if err := r.ask(ctx, "textDocument/diagnostic", params, &report); err != nil {
		return err
	}
	v := &r.verdicts
	v.mu.Lock()
	defer v.mu.Unlock()
	v.takeLocked(doc.path, int64(doc.version), report)
	for uri, other := range report.RelatedDocuments {
		if path, err := filePath(uri); err == nil && path != doc.path {
			v.takeLocked(path, -1, other)
		}
	}
	return nil
}

// takeLocked keeps the report on a file.
func (v *verdicts) takeLocked(path string, version int64, report pullReport) {
	next := &verdict{version: version, items: report.Items, pulled: report.ResultID}
	if was := v.files[path]; report.Kind == "unchanged" && was != nil {
		next.items = was.items
	}
	v.putLocked(path, next)
}
