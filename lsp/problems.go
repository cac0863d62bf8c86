package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// wait is how long a verdict is waited for; at least a moment, so that what is known
// is found.
func (v *View) wait() time.Duration { return max(v.set.Load().DiagnosticWait, time.Millisecond) }

// Problems are what the servers have to say.
type Problems struct {
	Items    []Diagnostic // errors first, then by path and line
	More     int          // that are not in Items
	Servers  []string     // that were asked
	NotReady []string     // why a server's verdict is not there yet, a clause each
	Partly   []string     // what a server does not judge before it is asked, a clause each
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
		out.Servers = append(out.Servers, p.spec.title())
		waiting, cancel := context.WithTimeout(ctx, v.wait())
		defer cancel()
		s.doc = s.anew(waiting)
		if err := s.judge(waiting); err != nil {
			out.NotReady = append(out.NotReady, s.unjudged(err, v.wait()))
			if !s.ownJudged() {
				return nil
			}
		}
		known := s.verdicts.of(path)
		out.More += known.more()
		texts := map[string]*text{path: s.doc.text}
		out.Items = append(out.Items, s.diagnostics(path, known.items(), func(path string) *text { return texts[path] })...)
		return nil
	})
}

// anew has a server that judges open documents alone, and cannot be asked, judge one
// again where the disk has changed since: only another version tells its next verdict
// from the last, and some judge no document for what changes elsewhere.
func (s session) anew(ctx context.Context) synced {
	if s.asks() || s.server.spec.importing == nil || !s.verdicts.outlived(s.doc) {
		return s.doc
	}
	if next, err := s.repeat(ctx, s.doc); err == nil {
		return next
	}
	return s.doc
}

// stale reports whether the verdict on a document is one from before a change that
// nobody waited for, and stays so until the document is given anew.
func (r *run) stale(doc synced) bool {
	return !r.asks() && r.server.spec.importing != nil && r.verdicts.passed(doc)
}

// ownJudged reports whether there is a verdict on the document that was pushed,
// while the project's may be outstanding.
func (s session) ownJudged() bool {
	ok, _, _, _ := s.verdicts.judged(s.doc)
	return ok && s.judgesAll()
}

// unjudged says why there is no verdict: it did not come in time, or err.
func (s session) unjudged(err error, wait time.Duration) string {
	select {
	case <-s.ended:
		return s.why.Error()
	default:
	}
	switch {
	case !outOfTime(err):
		return err.Error()
	case s.ownJudged():
		return s.tooLate("the whole project", wait)
	}
	return s.tooLate(filepath.Base(s.doc.path), wait)
}

// outOfTime reports whether a verdict only did not come in time.
func outOfTime(err error) bool {
	return errors.Is(err, errUnjudged) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// tooLate says of what there was no verdict in time.
func (r *run) tooLate(what string, wait time.Duration) string {
	return r.server.spec.Name + " has not judged " + what + " within " + wait.Round(time.Millisecond).String() + r.client.busy()
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
			if name := srv.spec.title(); !slices.Contains(out.Servers, name) { // several roots have one each
				out.Servers = append(out.Servers, name)
			}
			v.showSome(ctx, s.run)
			late := v.judgeProject(ctx, s.run)
			files, _ := s.verdicts.snapshot()
			open, _ := s.opened(ctx)
			whole := s.judgesAll() && len(open) > 0          // which is clean then, though nothing was published yet
			if len(files) == 0 && len(late) == 0 && !whole { // which is not the same as no problems
				late = append(late, srv.spec.Name+" was asked about no file yet; name one with path")
			}
			out.NotReady = append(out.NotReady, late...)
			if left := s.leftOut(files); left != "" && len(files) > 0 {
				out.Partly = append(out.Partly, left)
			}
			for path, known := range files {
				if _, inside := v.find.folder(path); inside {
					out.Items = append(out.Items, s.diagnostics(path, known.items(), texts)...)
					out.More += known.more()
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

// showSome shows a server that judges only what it is shown some of the project's
// files, where it has few open: asked about the project, it would know of nothing.
func (v *View) showSome(ctx context.Context, r *run) {
	ctx, cancel := context.WithTimeout(ctx, v.wait())
	defer cancel()
	open, err := r.opened(ctx)
	if err != nil || r.server.spec.importing == nil {
		return
	}
	room := v.maxShown() - len(open)
	for _, path := range r.files() {
		if room <= 0 || ctx.Err() != nil {
			return
		}
		if _, inside := v.find.folder(path); !inside || slices.Contains(open, path) {
			continue
		}
		if _, err := v.show(ctx, r, path); err == nil {
			room--
		}
	}
}

// leftOut says how many files a server that judges only what it is shown has judged,
// where that is not all; empty: it is, or the server judges the project.
func (r *run) leftOut(judged map[string]verdict) string {
	spec := r.server.spec
	switch {
	case spec.OpenOnly:
		return fmt.Sprintf("%s judges only open files, so far %d", spec.Name, len(judged))
	case spec.importing == nil:
		return ""
	}
	have, all := 0, r.files()
	for _, path := range all {
		if _, ok := judged[path]; ok {
			have++
		}
	}
	if have == len(all) {
		return ""
	}
	return fmt.Sprintf("%s judges only files that it is shown, so far %d of %d", spec.Name, have, len(all))
}

// judgeProject waits for a server's verdict on all that is known to it, as long as
// the settings say, and says why it is not there.
func (v *View) judgeProject(ctx context.Context, r *run) []string {
	waiting, cancel := context.WithTimeout(ctx, v.wait())
	defer cancel()
	name := r.server.spec.Name
	open := r.openDocuments(ctx)
	var out []string
	if r.judgesAll() && len(open) > 0 {
		if r.judgeAll(waiting, open[0].path) != nil {
			out = append(out, name+" has not judged the whole project within "+v.wait().Round(time.Millisecond).String()+r.client.busy())
		}
	} else {
		if left := r.judgeAt(waiting, open); len(left) > 0 {
			out = append(out, fmt.Sprintf("%s has not judged %s within %s", name, names(left), v.wait().Round(time.Millisecond)))
		}
		if busy := r.rest(waiting); busy != "" {
			out = append(out, name+" has not finished"+busy)
		}
	}
	if r.verdicts.overflowed() {
		out = append(out, name+" tells of problems in more files than are kept")
	}
	return out
}

// rest waits until the server says that it is at nothing any more, and what it is at
// where it does not say so in time.
func (r *run) rest(ctx context.Context) string {
	for {
		r.verdicts.mu.Lock()
		wake, ended := r.verdicts.wake, r.verdicts.ended
		r.verdicts.mu.Unlock()
		busy := r.client.busy()
		if busy == "" || ended {
			return busy
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return busy
		}
	}
}

// names are the last parts of some paths, the first few in full.
func names(paths []string) string {
	var out []string
	for _, path := range paths[:min(len(paths), 3)] {
		out = append(out, filepath.Base(path))
	}
	if more := len(paths) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// judgeAt brings the verdicts on documents up to date, and is the paths of those for
// which that did not work out.
func (r *run) judgeAt(ctx context.Context, docs []synced) (left []string) {
	errs := make([]error, len(docs))
	slots := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, doc := range docs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = session{run: r, doc: doc}.judge(ctx)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			left = append(left, docs[i].path)
		}
	}
	return left
}

// openDocuments are the open documents, most lately used first.
func (r *run) openDocuments(ctx context.Context) []synced {
	if r.documents.hold(ctx) != nil {
		return nil
	}
	defer r.documents.free()
	var out []synced
	for _, doc := range slices.Backward(r.documents.open) {
		out = append(out, doc.synced(false))
	}
	return out
}

// sort puts the gravest first, each once.
func (p *Problems) sort() {
	p.Items = unique(p.Items, itself)
	slices.SortStableFunc(p.Items, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Path, b.Path), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
