package session

import (
	"os"
	"path/filepath"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// newBox is what confines the session's commands; nil where nothing does.
func (s *Session) newBox(roots *workspace.Roots) *sandbox.Box {
	paths, cfg := s.sessions.paths, s.cfg()
	if s.sessions.prober == nil {
		return nil
	}
	box := sandbox.New(sandbox.Options{
		Mode:     sandbox.Mode(cfg.Sandbox.Mode),
		Network:  cfg.Sandbox.Network,
		Writable: cfg.Sandbox.Writable,
		Roots:    roots.Dirs(),
		Own:      []string{paths.Config, paths.Data, paths.State},
		Secrets:  []string{filepath.Join(paths.Data, "credentials.json")},
		Home:     paths.Home,
		Prober:   s.sessions.prober,
		Names:    sandbox.Names{Guard: guardOf, Secret: permission.Secret},
		Getenv: func(name string) string {
			if v, ok := cfg.Env[name]; ok && v != nil {
				return *v
			}
			return os.Getenv(name)
		},
	})
	box.Tidy()
	return box
}

// masks reports whether the session's commands that nobody is asked about run where
// they cannot read secret files. In a terminal of the editor, which may be on another
// machine, nothing is known to keep them.
func (s *Session) masks() bool {
	_, here := s.ends.Shell.(*tools.ExecShell)
	return here && s.box.Masks()
}

// guardOf is how the policy protects a name, in the sandbox's words.
func guardOf(names []string) sandbox.Guard {
	switch guard, never := permission.Guarded(names); {
	case never:
		return sandbox.Never
	case guard:
		return sandbox.Guarded
	}
	return sandbox.Open
}

// confinement is how far a command is confined: by whether the user is asked about
// it, and by what it would need.
func (s *Session) confinement(f kinds.Facts, asked bool) (level sandbox.Level, r permission.Reach) {
	p := s.policy()
	p.Path, p.RemovedPath = s.path.Dirs()
	return confinement(p, f, asked)
}

func confinement(p permission.Policy, f kinds.Facts, asked bool) (level sandbox.Level, r permission.Reach) {
	r = p.Reach(f)
	switch {
	case asked && r.Beyond:
		return sandbox.Free, r
	case asked:
		return sandbox.Approved, r
	case r.Reads:
		return sandbox.Reads, r
	case r.Network && ruled(p, f):
		return sandbox.Approved, r
	}
	return sandbox.Unasked, r
}

// Confinement is what the sandbox would be for a command, in a line as requests for
// permission have it, or why it would not run. Asked: the user is asked about it.
// The command need not be one that the policy lets run.
func Confinement(p permission.Policy, cfg config.Sandbox, prober *sandbox.Prober, f kinds.Facts, asked bool) string {
	level, _ := confinement(p, f, asked)
	return sandbox.New(sandbox.Options{Mode: sandbox.Mode(cfg.Mode), Network: cfg.Network, Prober: prober}).Says(level)
}

// ruled reports whether the rules allow the call by themselves, whatever the mode.
func ruled(p permission.Policy, f kinds.Facts) bool {
	p.Mode = permission.Default
	return p.Decide(f).Action == permission.Allow
}

// confine tells a command that may run how far it is confined.
func (s *Session) confine(c *call, asked bool) {
	if asked {
		s.box.Granted()
	}
	if c.action.Confine != nil && c.action.Command != nil && s.box != nil {
		level, r := s.confinement(c.action.Facts, asked)
		c.action.Confine(level, r.Git, r.Local)
	}
}

// unasked tells a call that runs without a question what of it was judged, and how
// far it is confined.
func (s *Session) unasked(c *call, v permission.Verdict) {
	if c.action.RunAs != nil && v.Text != "" {
		c.action.RunAs(v.Text)
	}
	s.confine(c, false)
}

// sandboxed says what will keep a command that is asked about from the rest of the
// machine.
func (s *Session) sandboxed(f kinds.Facts) string {
	if s.box == nil {
		return "without a sandbox"
	}
	level, _ := s.confinement(f, true)
	return s.box.Says(level)
}
