package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// Status is what is known of a server.
type Status struct {
	Name      string
	Version   string // as it says it; empty: not known
	Root      string
	Languages []string
	State     State
	PID       int           // 0: none
	Up        time.Duration // since its start
	Crashes   int
	Error     string // the last; empty: none
	Busy      string // what it is at; empty: nothing
	Open      int    // documents
	Memory    int64  // bytes, with its children; 0: not known
}

// Status is the state of the servers that this session uses or would use for its
// folders.
func (v *View) Status() []Status {
	for _, dir := range v.opts.Dirs {
		for _, p := range v.marked(dir) {
			_, _ = v.server(p) // so that it is listed; it is not started
		}
	}
	v.mu.Lock()
	used := slices.Clone(v.used)
	v.mu.Unlock()
	var out []Status
	for _, s := range used {
		out = append(out, s.status())
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Name+a.Root, b.Name+b.Root) })
	return out
}

// Refused is why no server may be started in the session's folders; nil: it may.
func (v *View) Refused() error {
	if v.opts.Trusted == nil {
		return nil
	}
	return v.opts.Trusted(v.opts.Dirs[0])
}

// maxMissing is how many servers are named that a project has none of.
const maxMissing = 3

// Missing says which servers could be installed for the first of the session's folders
// that has a marker of theirs; nil: there is none.
func (v *View) Missing() error {
	for _, dir := range v.opts.Dirs {
		var missing []string
		for _, s := range v.set.Load().specs {
			if v.marks(s, dir) && v.find.command(s, dir, filepath.Join(dir, "file")) == nil {
				missing = append(missing, fmt.Sprintf("%s (%s)", s.Name, s.Install))
			}
		}
		if more := len(missing) - maxMissing; more > 0 {
			missing = append(missing[:maxMissing], fmt.Sprintf("%d more", more))
		}
		if len(missing) > 0 {
			return fmt.Errorf("no language server for the project in %s is installed; install %s", dir, strings.Join(missing, " or "))
		}
	}
	return nil
}

// status is the state of one server.
func (s *server) status() Status {
	s.mu.Lock()
	out := Status{Name: s.spec.Name, Root: s.root, State: Idle, Crashes: s.crashes.count}
	for _, l := range s.spec.Languages {
		if !slices.Contains(out.Languages, l.ID) {
			out.Languages = append(out.Languages, l.ID)
		}
	}
	if s.last != nil {
		out.Error = s.last.Error()
	}
	r := s.run
	switch {
	case r != nil:
		out.State = Starting
	case s.crashes.enough():
		out.State = Broken
	case time.Until(s.crashes.retry) > 0:
		out.State = Waiting
	}
	s.mu.Unlock()
	if r = s.running(); r == nil {
		return out
	}
	out.State, out.Version, out.Up = Running, r.version, time.Since(r.started).Round(time.Second)
	out.PID = r.proc.PID()
	out.Memory = process.Memory(out.PID)
	out.Busy = strings.TrimPrefix(r.client.busy(), "; it is busy: ")
	r.client.mu.Lock()
	if out.Error == "" {
		out.Error = r.client.said
	}
	r.client.mu.Unlock()
	select {
	case r.documents.lock <- struct{}{}:
		out.Open = len(r.documents.open)
		r.documents.free()
	default:
	}
	return out
}

// Restart ends the servers of that name, or all where it is empty, so that the next
// request starts them anew. It returns how many.
func (v *View) Restart(name string) int {
	v.mu.Lock()
	used := slices.Clone(v.used)
	v.mu.Unlock()
	n := 0
	for _, s := range used {
		if name == "" || s.spec.Name == name {
			s.restart()
			n++
		}
	}
	return n
}
