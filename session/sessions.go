// Package session is the engine: sessions, their turns, the loop between model
// and tools, modes, slash commands, and what is stored of all that.
//
// It knows neither JSON-RPC nor ACP: an editor is a Sink for updates, an Asker
// for questions, and the Files and Shell that the tools work with (package acp
// provides all four). A turn is a function that returns when everything it
// started has ended.
package session

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// ErrNotFound says that there is no such session.
var ErrNotFound = errors.New("no such session")

// errEnding is answered to what comes after Shutdown.
var errEnding = errors.New("the agent is ending")

// InvalidError says which parameter of a request is wrong, and why.
type InvalidError struct{ Field, Reason string }

func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// AuthError says that the chosen model has no credentials, and what to do.
type AuthError struct{ Reason string }

func (e *AuthError) Error() string { return e.Reason }

// Options is what sessions are made with.
type Options struct {
	Paths  config.Paths
	Tools  *tools.Registry
	Model  string // the flag --model: provider/model; empty: as configured
	Getenv func(string) string
	Log    *slog.Logger
	// Secrets learns the keys that models are asked with, and takes them out of
	// what is logged and of errors; nil: only what looks like a secret is.
	Secrets *kinds.Redactor
	PDF     tools.PDF // nil: PDF files are not read
	// Sandbox finds out what the system can confine commands with; nil: they are
	// not confined.
	Sandbox *sandbox.Prober
}

// Sessions is all sessions of one process.
type Sessions struct {
	paths  config.Paths
	tools  *tools.Registry
	pdf    tools.PDF
	guard  process.Guard
	lsp    *lsp.Servers
	prober *sandbox.Prober
	flag   string
	getenv func(string) string
	log    *slog.Logger

	secrets *kinds.Redactor

	database *database

	mu       sync.Mutex // held for moments only: the read loop takes it
	open     map[string]*Session
	clients  map[string]*http.Client   // by their options
	listed   map[string][]string       // provider → ids of its models
	trusting map[string]*trustQuestion // those that stand open, by project
	closed   bool
	work     sync.WaitGroup // what runs behind the sessions
	ctx      context.Context
	stop     context.CancelFunc
}

// New makes the sessions of a process. It touches neither disk nor network.
func New(o Options) *Sessions {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sessions{paths: o.Paths, tools: o.Tools, pdf: o.PDF, prober: o.Sandbox, flag: o.Model, getenv: o.Getenv, log: o.Log, secrets: o.Secrets,
		database: newDatabase(o.Paths.Data), open: map[string]*Session{}, clients: map[string]*http.Client{}, listed: map[string][]string{}, trusting: map[string]*trustQuestion{}}
	s.lsp = lsp.New(lsp.Options{Guard: &s.guard, Logger: o.Log})
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Ends is an editor's side of one session.
type Ends struct {
	Sink       Sink
	Asker      Asker
	Questioner Questioner  // nil: nobody is there to answer questions
	Files      tools.Files // nil: the disk
	Shell      tools.Shell // nil: child processes
	// Forms: Questioner asks by forms, in which the user answers in their own words.
	Forms bool
	// Display: it shows what child processes put out as terminals.
	Display bool
	// TurnsOnly: between turns it shows nothing and answers nothing.
	TurnsOnly bool
}

// Editor makes its ends of a session.
type Editor interface {
	Connect(sessionID string, disk *workspace.Disk, exec *tools.ExecShell) Ends
}

// Request is what an editor opens a session with.
type Request struct {
	Dir    string   // absolute; the working directory
	Dirs   []string // absolute; further folders
	Editor Editor
}

// New opens a session. Nothing of it is stored before its first prompt.
func (m *Sessions) New(ctx context.Context, r Request) (*Session, error) {
	s, err := m.newSession(store.NewID("sess_"), r)
	if err != nil {
		return nil, err
	}
	if _, err := s.chooseModel(); err != nil {
		s.free()
		return nil, err
	}
	return m.add(s)
}

// Load opens a stored session. With tell, all that was said and done in it is
// told to the editor first. A session that is open already stays as it is.
func (m *Sessions) Load(ctx context.Context, id string, r Request, tell bool) (*Session, error) {
	s, notOpen := m.Get(id)
	if notOpen == nil && !tell {
		return s, nil
	}
	if notOpen == nil {
		s.catchUp(ctx)
	}
	db, err := m.store(ctx)
	if err != nil {
		return nil, err
	}
	row, err := db.Session(ctx, id)
	if notOpen == nil && errors.Is(err, store.ErrNotFound) {
		return s, nil // it was never prompted: there is nothing to tell
	}
	if err != nil {
		return nil, notFound(err)
	}
	stored, err := db.Messages(ctx, id)
	if err != nil {
		return nil, notFound(err)
	}
	records, err := readRecords(stored, notOpen == nil && s.running())
	if err != nil {
		return nil, err
	}
	if notOpen != nil {
		if s, err = m.restore(id, r, row, records); err != nil {
			return nil, err
		}
	}
	if tell {
		err = replay(ctx, records, s.ends.Sink)
	}
	return s, err
}

// notFound is the store's error where a session is not there, as ours.
func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

// restore opens a session with what is stored of it.
func (m *Sessions) restore(id string, r Request, row store.Session, records []recorded) (*Session, error) {
	if r.Dir == "" {
		r.Dir = row.Dir
	}
	s, err := m.newSession(id, r)
	if err != nil {
		return nil, err
	}
	s.restore(row, records)
	return m.add(s)
}

// add makes the session known by its id. Where it is already, because somebody
// opened it at the same time, that one stays.
func (m *Sessions) add(s *Session) (*Session, error) {
	m.mu.Lock()
	known, open := m.open[s.id]
	if !open && !m.closed {
		m.open[s.id] = s
	}
	closed := m.closed
	m.mu.Unlock()
	switch {
	case closed:
		s.free()
		return nil, errEnding
	case open:
		s.free()
		return known, nil
	}
	return s, nil
}

// Get is the open session of that id.
func (m *Sessions) Get(id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.open[id]; ok {
		return s, nil
	}
	return nil, ErrNotFound
}

// Info is what a list says of a session.
type Info = store.Session

// PageSize is how many sessions one page of a list holds.
const PageSize = 50

// List is a page of the stored sessions, newest first; dir, where not empty,
// leaves only those of that folder, however it is spelled.
func (m *Sessions) List(ctx context.Context, dir, cursor string) (page []Info, next string, err error) {
	db, err := m.store(ctx)
	if err != nil {
		return nil, "", err
	}
	f := store.Filter{Limit: PageSize, Cursor: cursor}
	if dir != "" {
		f.DirKey = dirKey(dir)
	}
	page, next, err = db.List(ctx, f)
	if errors.Is(err, store.ErrCursor) {
		err = &InvalidError{"cursor", "is not one that a list answered; ask for the first page again"}
	}
	return page, next, err
}

// Close ends a session's turns, waits for their answers and frees all it
// holds. It stays stored.
func (m *Sessions) Close(ctx context.Context, id string) error {
	m.mu.Lock()
	s, ok := m.open[id]
	delete(m.open, id)
	m.mu.Unlock()
	if !ok {
		return ErrNotFound
	}
	s.close(ctx)
	return nil
}

// Delete removes a session and what it stored; an unknown one is fine.
func (m *Sessions) Delete(ctx context.Context, id string) error {
	if err := m.Close(ctx, id); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	db, err := m.store(ctx)
	if err != nil {
		return err
	}
	if err := db.Delete(ctx, id); err != nil {
		return err
	}
	return removeSpool(m.paths, id)
}

// Shutdown ends all sessions. Their turns must have been cancelled by their
// contexts, or are now.
func (m *Sessions) Shutdown(ctx context.Context) {
	m.mu.Lock()
	m.closed = true
	open := make([]*Session, 0, len(m.open))
	for _, s := range m.open {
		open = append(open, s)
	}
	clear(m.open)
	m.mu.Unlock()
	m.stop()
	for _, s := range open {
		s.Cancel()
	}
	m.hookEnds(ctx, open)
	for _, s := range open {
		s.workspace.Jobs.Cancel()
		s.exec.CloseAll() // whatever happens below, no child is left
	}
	ended := make(chan struct{})
	go func() { // ends in time, or with the process
		defer close(ended)
		var servers sync.WaitGroup
		servers.Go(m.lsp.Close)
		defer servers.Wait()
		for _, s := range open {
			s.close(ctx)
		}
		m.work.Wait()
		if err := m.database.close(); err != nil {
			m.log.Error("cannot close the database", "error", err)
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // another program holds the database: what was acknowledged is in it
		m.log.Warn("the sessions were not closed in time")
	}
}

// behind runs f behind the sessions, unless the process is ending; Shutdown
// waits for it.
func (m *Sessions) behind(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.work.Go(f)
	}
}

// dirKey is a folder's name for comparing: absolute, cleaned, links resolved.
func dirKey(dir string) string {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
