package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// ViewOptions are what a session has: its folders and what it may do in them.
type ViewOptions struct {
	Dirs   []string // the session's folders, absolute; the first is the working directory
	Config Config

	// Read is a file's text as the agent sees it; saved says that the file on the
	// disk has the same. It is asked for files below Dirs and for those that were
	// named to a View's methods, and refuses what must not be read.
	Read func(ctx context.Context, path string) (body string, saved bool, err error)
	// Unsaved: texts may differ from the disk, so that the disk does not tell
	// whether one has changed.
	Unsaved bool
	// Walk calls each for the files below a folder whose names match, with size and
	// time of change. nil: what changes outside of open documents is not seen.
	Walk func(ctx context.Context, dir string, match func(rel string) bool, each func(path string, stamp Stamp)) error
	// Trusted reports why no server may be started in a folder, nor a program of it;
	// nil: it may.
	Trusted func(root string) error
	// Path are the folders of PATH; Env is the environment of the servers.
	Path func() []string
	Env  func() []string
	Bash func() string // a bash for the guard
}

// Stamp tells whether a file was changed.
type Stamp struct {
	Size    int64
	ModTime time.Time
}

// View is what one session sees of the language servers. It is safe for concurrent
// use. Close ends nothing that another session uses.
type View struct {
	servers *Servers
	opts    ViewOptions
	set     atomic.Pointer[settings]
	find    lookup

	scanning chan struct{} // holds one while the disk is looked at

	mu   sync.Mutex
	used []*server        // by this view, the last used last
	seen map[string]shown // the files that were read, as they were then
	// unjudged are changes whose verdict did not come in time, by server.
	unjudged map[*server]*side
	// overlooked are the files that changed while a server was not ready.
	overlooked map[*server][]string

	changes  uint64    // of all sessions, as many as there were at the last walk
	scanned  time.Time // when it ended
	scanCost time.Duration
}

// settings are what a view works by; they do not change, another takes their place.
type settings struct {
	Config
	specs []*Spec
}

// View is a session's view of the servers.
func (s *Servers) View(o ViewOptions) *View {
	v := &View{
		servers: s, opts: o,
		find:     lookup{dirs: o.Dirs, path: o.Path},
		scanning: make(chan struct{}, 1),
		seen:     map[string]shown{},
		unjudged: map[*server]*side{}, overlooked: map[*server][]string{},
	}
	v.Configure(o.Config)
	return v
}

// Configure has the view work by other settings from now on. Servers that run go on
// with theirs.
func (v *View) Configure(c Config) {
	c = c.withDefaults()
	v.set.Store(&settings{c, c.Specs()})
}

// NoServerError says that no server is there for a file, and what to do.
type NoServerError struct {
	Path  string
	Specs []*Spec // for its language; empty: none is known
}

func (e *NoServerError) Error() string {
	if len(e.Specs) == 0 {
		return fmt.Sprintf("no language server is known for %s files; one can be added in the settings, under lsp.servers", cmp.Or(filepath.Ext(e.Path), filepath.Base(e.Path)))
	}
	var ways []string
	for _, s := range e.Specs {
		ways = append(ways, fmt.Sprintf("%s (%s)", s.Name, s.Install))
	}
	return fmt.Sprintf("no language server for %s files is installed; install %s", cmp.Or(filepath.Ext(e.Path), filepath.Base(e.Path)), strings.Join(ways, " or "))
}

// Serves reports whether a server is known, installed or not, for files of such a
// name.
func (v *View) Serves(path string) bool {
	return slices.ContainsFunc(v.set.Load().specs, func(s *Spec) bool {
		_, ok := s.language(path)
		return ok && !s.Disabled
	})
}

// pick is a server that is there for a file.
type pick struct {
	spec    *Spec
	root    string
	command []string
}

// picks are the servers for a file: the language's own first, then those that judge
// beside it. It starts nothing.
func (v *View) picks(path string) ([]pick, error) {
	var out []pick
	var missing []*Spec
	own := false
	for _, s := range v.set.Load().specs {
		if s.Disabled || own && !s.Beside {
			continue
		}
		if _, ok := s.language(path); !ok {
			continue
		}
		root, ok := v.find.root(s, path)
		if !ok {
			continue
		}
		command := v.find.command(s, root, path)
		if command == nil {
			if !s.Beside {
				missing = append(missing, s)
			}
			continue
		}
		p := pick{s, root, command}
		if s.Beside {
			out = append(out, p)
			continue
		}
		own = true
		out = append([]pick{p}, out...)
	}
	if !own {
		return out, &NoServerError{path, missing}
	}
	return out, nil
}

// server is the server of a pick.
func (v *View) server(p pick) (*server, error) {
	for _, dir := range []string{p.root, filepath.Dir(p.command[0])} {
		if _, inside := v.find.folder(dir); inside && v.opts.Trusted != nil {
			if err := v.opts.Trusted(dir); err != nil {
				return nil, err
			}
		}
	}
	env := v.opts.Env()
	for _, name := range sortedKeys(p.spec.Env) {
		env = append(env, name+"="+p.spec.Env[name])
	}
	s, err := v.servers.server(startOptions{spec: p.spec, root: p.root, command: p.command, env: env, bash: v.opts.Bash(), config: v.set.Load().Config})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used = append(slices.DeleteFunc(v.used, func(o *server) bool { return o == s }), s)
	return s, nil
}

// primary is the language's own server for a file. For one outside of the session's
// folders it is the one that was used last for that language.
func (v *View) primary(path string) (*server, error) {
	if _, inside := v.find.folder(path); !inside {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, s := range slices.Backward(v.used) {
			if _, ok := s.spec.language(path); ok && !s.spec.Beside {
				return s, nil
			}
		}
		return nil, fmt.Errorf("%s lies outside of the project, and no language server that runs is for it; ask about a file of the project first", path)
	}
	picks, err := v.picks(path)
	if err != nil {
		return nil, err
	}
	return v.server(picks[0])
}

// session is a server that was acquired, and the document that it is asked about.
type session struct {
	*run
	doc synced
}

// with asks a file's own server: it is started if need be and has every open file
// as the agent sees it.
func (v *View) with(ctx context.Context, path string, f func(ctx context.Context, s session) error) error {
	srv, err := v.primary(path)
	if err != nil {
		return err
	}
	return v.withServer(ctx, srv, path, f)
}

// withServer asks a server about a file; an empty path is none.
func (v *View) withServer(ctx context.Context, srv *server, path string, f func(ctx context.Context, s session) error) (err error) {
	starting, cancel := context.WithTimeout(ctx, v.set.Load().StartTimeout)
	r, err := v.current(starting, srv)
	cancel()
	if err != nil {
		return err
	}
	defer srv.release()
	defer func() {
		if errors.Is(err, errTimeout) {
			r.late()
		}
	}()
	if err := v.refresh(ctx, r); err != nil {
		return err
	}
	s := session{run: r}
	if path == "" {
		path = v.any(ctx, r)
	}
	if path != "" {
		telling, cancel := r.telling(ctx)
		s.doc, err = v.show(telling, r, path)
		cancel()
		if err != nil {
			return err
		}
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	return f(ctx, s)
}

// any is a file to open at a server that loads or judges the project only then, one
// that is in no root within its own; empty: it needs none, or there is none.
func (v *View) any(ctx context.Context, r *run) string {
	spec := r.server.spec
	if open, err := r.opened(ctx); spec.Loading == "" && spec.JudgeAll == "" || err != nil || len(open) > 0 || v.opts.Walk == nil {
		return ""
	}
	first := ""
	_ = v.opts.Walk(ctx, r.server.root, func(rel string) bool { _, ok := spec.language(rel); return ok }, func(path string, _ Stamp) {
		if first != "" && path >= first {
			return
		}
		if root, ok := v.find.root(spec, path); ok && root == r.server.root {
			first = path
		}
	})
	return first
}

// show lets a server have a file as the agent sees it.
func (v *View) show(ctx context.Context, r *run, path string) (synced, error) {
	stamp := stampOf(path)
	body, saved, err := v.opts.Read(ctx, path)
	switch {
	case errors.Is(err, errTimeout):
		return synced{}, fmt.Errorf("reading %s took longer than %s", path, r.server.config.RequestTimeout)
	case err != nil:
		return synced{}, err
	}
	doc, err := r.sync(ctx, path, body, saved)
	if err != nil {
		return synced{}, r.syncError(cmp.Or(context.Cause(ctx), err))
	}
	doc.unsaved = !saved
	v.mu.Lock()
	defer v.mu.Unlock()
	if stamp.settled() {
		v.seen[path] = shown{stamp, r, doc.version}
	} else {
		delete(v.seen, path)
	}
	return doc, nil
}

// syncError is why a server could not be told.
func (r *run) syncError(err error) error {
	switch {
	case errors.Is(err, errTimeout):
		return fmt.Errorf("%s does not read what it is told of the files (%w after %s)%s", r.server.spec.Name, err, r.server.config.RequestTimeout, r.client.busy())
	case errors.Is(err, jsonrpc.ErrClosed):
		return r.lost()
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("telling %s of the file: %w", r.server.spec.Name, err)
}

// telling is the time that a server has to take in what it is told: one that does not
// read keeps nobody waiting for longer.
func (r *run) telling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, r.server.config.RequestTimeout, errTimeout)
}

// stampOf is the stamp of a file; zero where there is none.
func stampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime()}
}

// settled reports whether a later change of the file would change its stamp: the
// clocks of file systems tick slowly.
func (s Stamp) settled() bool { return s != Stamp{} && time.Since(s.ModTime) > 50*time.Millisecond }

// refresh lets a server have what changed since it was asked last: the documents
// that it has open, and other files.
func (v *View) refresh(ctx context.Context, r *run) error {
	v.scan(ctx)
	telling, cancel := r.telling(ctx)
	defer cancel()
	paths, err := r.opened(telling)
	if err != nil {
		return r.syncError(err)
	}
	if v.opts.Unsaved {
		paths = append(paths, r.server.reopen(func(path string) bool { _, inside := v.find.folder(path); return inside })...)
	}
	var wg sync.WaitGroup
	var unread atomic.Pointer[error]
	slots := make(chan struct{}, 8)
	for _, path := range paths {
		if _, inside := v.find.folder(path); !inside || !v.opts.Unsaved && v.unchanged(r, path) {
			continue // what is not inside is another session's
		}
		slots <- struct{}{}
		wg.Go(func() { // awaited below
			defer func() { <-slots }()
			doc, err := v.show(telling, r, path)
			switch {
			case err == nil && doc.changed:
				r.verdicts.sweep()
			case errors.Is(err, errTimeout):
				unread.Store(&err)
			case err != nil && telling.Err() == nil:
				_ = r.forget(telling, path) // it is gone, or must not be read any more
			}
		})
	}
	wg.Wait()
	switch err := unread.Load(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return *err
	case telling.Err() != nil:
		return fmt.Errorf("%s does not have all open files as they are: reading them took longer than %s", r.server.spec.Name, r.server.config.RequestTimeout)
	}
	return nil
}

// shown is a file as a view let a server have it.
type shown struct {
	stamp   Stamp
	run     *run
	version int32
}

// unchanged reports whether a file is as it was when this view let the server have
// it, and no other view let it have another text since.
func (v *View) unchanged(r *run, path string) bool {
	v.mu.Lock()
	was, ok := v.seen[path]
	v.mu.Unlock()
	return ok && was.run == r && int64(was.version) == r.verdicts.version(path) && stampOf(path) == was.stamp
}

// load waits until a server that answers wrongly while it loads has loaded; for one that
// never says that it does, as long as a start may take.
func (r *run) load(ctx context.Context) error {
	select {
	case <-r.client.loading:
		return nil // first of all: the time that it had is over some day
	default:
	}
	due := r.started.Add(r.server.config.StartTimeout)
	ctx, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	select {
	case <-r.client.loading:
		return nil
	case <-r.ended:
		return r.why
	case <-ctx.Done():
		if !time.Now().Before(due) && !r.client.tellsOfLoading() {
			return nil
		}
		return fmt.Errorf("%s is still loading the project%s; try again", r.server.spec.Name, r.client.busy())
	}
}

// sortedKeys are a map's keys, sorted.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// marked are the servers whose root's marker a folder has, the first of each
// language.
func (v *View) marked(dir string) []pick {
	var out []pick
	for _, s := range v.set.Load().specs {
		if !v.marks(s, dir) {
			continue
		}
		if slices.ContainsFunc(out, func(p pick) bool { return p.spec.Languages[0].ID == s.Languages[0].ID }) {
			continue
		}
		if command := v.find.command(s, dir, filepath.Join(dir, "file")); command != nil {
			out = append(out, pick{s, dir, command})
		}
	}
	return out
}

// marks reports whether a folder has a root's marker of a server that is a language's
// own, and that is wanted by that alone.
func (v *View) marks(s *Spec, dir string) bool {
	return !s.Disabled && !s.Beside && !s.Lazy && slices.ContainsFunc(s.Roots, func(group []string) bool { return anyIn(dir, group) })
}

// Wanted names the servers that Start would start, with their programs.
func (v *View) Wanted() []string {
	var out []string
	for _, dir := range v.opts.Dirs {
		for _, p := range v.marked(dir) {
			if one := fmt.Sprintf("%s (%s)", p.spec.Name, p.command[0]); !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// Start starts, in the background, the servers whose root's marker the session's
// folders have, so that they have loaded when they are asked.
func (v *View) Start() {
	for _, dir := range v.opts.Dirs {
		for _, p := range v.marked(dir) {
			s, err := v.server(p)
			if err != nil || !v.servers.begin() {
				continue
			}
			go func() { // Close waits for it
				defer v.servers.tasks.Done()
				ctx, cancel := context.WithTimeout(v.servers.background, v.set.Load().StartTimeout)
				defer cancel()
				if r, err := s.acquire(ctx); err == nil {
					v.scan(ctx) // so that what changes from now on is seen
					r.importers.warm(ctx, r)
					s.release()
				}
			}()
		}
	}
}

// Touch lets the servers that run for a file have it open, in the background: what
// the agent reads is what it changes next, or what it breaks.
func (v *View) Touch(path string) {
	if _, inside := v.find.folder(path); !inside {
		return
	}
	picks, _ := v.picks(path)
	for _, p := range picks {
		r := v.runningFor(p)
		if r == nil || !v.servers.begin() {
			continue
		}
		go func() { // Close waits for it
			defer v.servers.tasks.Done()
			ctx, cancel := context.WithTimeout(v.servers.background, v.set.Load().RequestTimeout)
			defer cancel()
			_, _ = v.show(ctx, r, path)
		}()
	}
}

// runningFor is the process of a pick that this view uses, if it can be asked.
func (v *View) runningFor(p pick) *run {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.used {
		if s.spec.Name == p.spec.Name && s.root == p.root {
			return s.running()
		}
	}
	return nil
}
