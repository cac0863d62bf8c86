package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// Session is one conversation in one folder. It is safe for concurrent use.
type Session struct {
	sessions  *Sessions
	id        string
	request   Request
	workspace *tools.Workspace
	exec      *tools.ExecShell
	box       *sandbox.Box // confines what exec starts; nil: nothing does
	ends      Ends
	root      string                        // what is trusted and granted as one
	trusted   atomic.Bool                   // its settings count that are more than restrictions
	conf      atomic.Pointer[config.Config] // read by cfg; of a sub-agent: not set
	path      *process.SearchPath
	backlog   *backlog
	parent    *Session            // that it is a sub-agent of; nil: none
	watch     *watcher            // what shows a sub-agent's calls; nil: it is none
	agent     *agentType          // what sort of one
	behind    bool                // it is in the background, or below one that is
	floor     *floor              // where its sub-agents ask; of a sub-agent: nil
	settling  bell                // rung when what is allowed changes; of a sub-agent: not used
	grants    *config.GrantsWatch // of its root; of a sub-agent: nil

	// Of trust; read and set only when the session is made and by its running turn.
	problems     map[string]bool // of the configuration, that were told
	trustRefused bool            // not now, or never
	trustTold    bool
	serving      bool           // its language servers were started
	agreed       *config.Opened // what was trusted where that could not be kept; nil: nothing

	// startContext is what the hooks of its start tell the model, until it is told.
	startContext string
	begun        bool                        // the hooks of its start have run
	finding      sync.Mutex                  // held while one of these is looked for; taken before mu
	agents       atomic.Pointer[[]agentType] // nil: not looked for yet
	skills       atomic.Pointer[[]*skill]    // nil: not looked for yet

	mu       sync.Mutex
	mode     permission.Mode
	model    string // chosen in this session; empty: as configured
	thinking string
	rules    []permission.Rule // granted and refused in this session; those of config.SourceGranted only while they are kept
	title    string
	updated  time.Time
	created  time.Time
	history  []model.Message
	brought  []string // ids of tools that tool_search found, in that order
	system   string   // made once, so that caches hit
	stored   bool
	creating bool // it is still to be created in the store, and leased then
	notices  []string
	turns    []*Turn // the running one and those that wait
	release  func()  // of the lease; nil: not held
	closed   bool
}

// newSession makes a session that is not yet known by its id.
func (m *Sessions) newSession(id string, r Request) (*Session, error) {
	if err := checkDir("cwd", r.Dir); err != nil {
		return nil, err
	}
	for i, dir := range r.Dirs {
		if err := checkDir(fmt.Sprintf("additionalDirectories.%d", i), dir); err != nil {
			return nil, err
		}
	}
	s := &Session{sessions: m, id: id, request: r, created: time.Now(), backlog: &backlog{}}
	s.loadConfig()
	roots, err := workspace.NewRoots(append([]string{r.Dir}, s.furtherDirs()...)...)
	if err != nil {
		return nil, &InvalidError{"cwd", err.Error()}
	}
	disk := workspace.NewDisk(roots)
	s.box = s.newBox(roots)
	s.exec = tools.NewExecShell(s.execOptions(roots))
	if r.Editor != nil {
		s.ends = r.Editor.Connect(id, disk, s.exec)
	}
	s.floor = newFloor(s.ends.TurnsOnly)
	if s.ends.Files == nil {
		s.ends.Files = disk
	}
	if s.ends.Shell == nil {
		s.ends.Shell = s.exec
	}
	s.workspace = &tools.Workspace{Roots: roots, Files: s.ends.Files, Shell: s.ends.Shell, Display: s.ends.Display, Jobs: tools.NewJobs(),
		Spool: &spool{dir: spoolDir(m.paths, id)}, Seen: &tools.Seen{}, PDF: m.pdf, Readable: s.readable, Agents: agents{s}, Catalog: catalog{s}, Skills: library{s},
		Web: s.newWeb(), Search: s.newSearch(), Mode: func() string { return string(s.Mode()) }}
	s.workspace.LSP = s.newLSP()
	return s, nil
}

func checkDir(field, dir string) error {
	if dir == "" {
		return &InvalidError{field, "is missing; it must be the absolute path of a folder"}
	}
	if !filepath.IsAbs(dir) {
		return &InvalidError{field, fmt.Sprintf("%q is not absolute", dir)}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return &InvalidError{field, fmt.Sprintf("%q cannot be opened as a folder: %v", dir, err)}
	}
	if !info.IsDir() {
		return &InvalidError{field, fmt.Sprintf("%q is not a folder", dir)}
	}
	return nil
}

// furtherDirs is the editor's further folders and the configured ones that
// exist.
func (s *Session) furtherDirs() []string {
	dirs := append([]string{}, s.request.Dirs...)
	for _, dir := range s.cfg().AdditionalDirectories {
		if err := checkDir("additionalDirectories", dir); err != nil {
			s.notices = append(s.notices, "Left out of the configuration: "+err.Error()+".")
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// restore takes up what is stored of the session.
func (s *Session) restore(row store.Session, records []recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.title, s.created, s.updated = history(records), row.Title, row.Created, row.Updated
	s.stored = true
	s.brought = broughtIn(records)
	s.model, s.thinking = row.Model, row.Options[settingThinking]
	switch mode := permission.Mode(row.Mode); mode {
	case permission.Default, permission.Plan, permission.DontAsk: // those that are no looser than the default
		s.mode = mode
	}
}

// running reports whether a turn runs or waits.
func (s *Session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) > 0
}

// create stores the session itself, which this process drives from then on.
func (s *Session) create(ctx context.Context, db *store.Store, row store.Session) error {
	if err := db.Create(ctx, row); err != nil && !errors.Is(err, store.ErrExists) { // from a try that failed later
		return err
	}
	if s.parent != nil { // whose lease holds for it
		return nil
	}
	release, err := db.Lease(ctx, s.id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release, s.creating = release, false
	return nil
}

// lease makes this process the one that drives the session. What another one
// added in the meantime is taken up.
func (s *Session) lease(ctx context.Context) error {
	s.mu.Lock()
	need := s.release == nil && s.stored && !s.creating
	s.mu.Unlock()
	if !need {
		return nil
	}
	db, err := s.sessions.store(ctx)
	if err != nil {
		return nil // it goes on in memory, as keep will tell
	}
	release, err := db.Lease(ctx, s.id)
	if leased, ok := errors.AsType[*store.LeasedError](err); ok {
		return leased // which says it all
	}
	if err != nil {
		return notFound(err)
	}
	s.mu.Lock()
	s.release = release
	known := len(s.history)
	s.mu.Unlock()
	stored, err := db.Messages(ctx, s.id)
	if err != nil {
		return err
	}
	records, err := readRecords(stored, false)
	if err != nil {
		return err
	}
	past := history(records)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(past) > known {
		s.history, s.brought = past, broughtIn(records)
	}
	return nil
}

// rowLocked is what is stored of the session itself.
func (s *Session) rowLocked() store.Session {
	row := store.Session{ID: s.id, Dir: filepath.Clean(s.request.Dir), DirKey: dirKey(s.request.Dir), Title: s.title,
		Mode: string(s.mode), Model: s.model, Roots: s.request.Dirs, Created: s.created, Updated: s.updated}
	if s.parent != nil {
		row.ParentID = s.parent.id
	}
	if s.thinking != "" {
		row.Options = map[string]string{settingThinking: s.thinking}
	}
	return row
}

// Save stores the session's settings, where it is stored at all.
func (s *Session) Save(ctx context.Context) {
	s.mu.Lock()
	row, stored := s.rowLocked(), s.stored
	s.mu.Unlock()
	if stored {
		s.keep(ctx, func(ctx context.Context, db *store.Store) error { return db.Save(ctx, row) })
	}
}

// close ends the turns, waits until their answers are on their way, and frees
// what the session holds.
func (s *Session) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	turns := append([]*Turn{}, s.turns...)
	s.mu.Unlock()
	s.Cancel()
	defer s.free()
	defer s.catchUp(ctx)
	defer s.hookEnd(ctx)
	for _, t := range turns {
		select {
		case <-t.done:
		case <-ctx.Done():
		}
	}
}

// free gives back what the session holds.
func (s *Session) free() {
	s.workspace.Jobs.Cancel()
	s.exec.CloseAll()
	s.workspace.Jobs.Close()
	s.mu.Lock()
	release := s.release
	s.release = nil
	s.mu.Unlock()
	if release != nil {
		release()
	}
	if err := s.workspace.Roots.Close(); err != nil {
		s.sessions.log.Warn("cannot close the roots", "session", s.id, "error", err)
	}
}
