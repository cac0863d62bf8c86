package lsp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// ErrClosed says that the language servers are being ended.
var ErrClosed = errors.New("the language servers are closed")

// Options are what the servers' processes run in.
type Options struct {
	Guard  *process.Guard // ends them when the agent is killed; nil: none
	Logger *slog.Logger   // nil: nothing is logged
}

// Servers are the language servers of all sessions, one a language and root. It is
// safe for concurrent use.
type Servers struct {
	guard     *process.Guard
	log       *slog.Logger
	processes process.Supervisor
	tasks     sync.WaitGroup // what runs a server, what stops one, and what is done in the background

	background context.Context // of what nobody waits for; ends with Close
	cancel     context.CancelFunc
	backOff    func(crashes int) time.Duration
	memoryLook time.Duration

	changes atomic.Uint64 // how often a session said that the disk may have changed

	mu      sync.Mutex
	servers map[string]*server
	closed  bool
}

// New makes an empty set; nothing is started.
func New(o Options) *Servers {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Servers{guard: o.Guard, log: o.Logger, backOff: backOff, memoryLook: memoryLook, servers: map[string]*server{}}
	s.background, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends all servers, those that shut down by themselves first, and waits
// until they are gone, at most about two seconds.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	servers := s.servers
	s.servers = map[string]*server{}
	s.mu.Unlock()
	s.cancel()
	var ending sync.WaitGroup
	for _, srv := range servers {
		ending.Go(func() { srv.stop(ErrClosed) })
	}
	ending.Wait()
	s.processes.Close()
	s.tasks.Wait()
}

// server is the server for a root, made if there is none yet; it is not started.
func (s *Servers) server(start startOptions) (*server, error) {
	key := start.spec.key(start.root, start.command)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	srv := s.servers[key]
	if srv == nil {
		srv = &server{owner: s, startOptions: start}
		s.servers[key] = srv
	}
	return srv, nil
}
