package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// execOptions is what the session's commands run in.
func (s *Session) execOptions(roots *workspace.Roots) tools.ExecOptions {
	environ := os.Environ()
	if path := s.cfg().Env["PATH"]; path != nil { // judged and cleaned like the agent's own
		environ = append(environ, "PATH="+*path)
	}
	s.path = process.NewSearchPath(environ, roots.Dirs())
	return tools.ExecOptions{Environ: environ, Secrets: s.cfg().Secrets(), Set: s.cfg().Env, Path: s.path, Guard: &s.sessions.guard, Box: s.box}
}

// maxRequests is how many requests one turn may make.
func (s *Session) maxRequests() int { return max(s.cfg().MaxTurnRequests, 1) }

// decide judges a call by the mode, the rules of the configuration and of the
// project, and those of this session.
func (s *Session) decide(f kinds.Facts) permission.Verdict {
	p := s.policy()
	if f.Command != nil { // only now, since the login shell may have to be asked
		p.Path, p.RemovedPath = s.path.Dirs()
		p.Holds = s.exec.Holds
	}
	if s.ownOutput(f) {
		return permission.Verdict{Action: permission.Allow}
	}
	return s.narrow(p, f, p.Decide(f))
}

// readable is what a search may show of the files it comes across; nil where no
// rule keeps any from being read.
func (s *Session) readable() func(kinds.PathAccess) bool {
	p := s.policy()
	restricted := false
	for _, r := range p.Rules {
		restricted = restricted || r.Action != permission.Allow && r.Pattern != "" && r.Permission != "bash"
	}
	if !restricted {
		return nil
	}
	return func(a kinds.PathAccess) bool {
		return p.Decide(kinds.Facts{Tool: "read", Paths: []kinds.PathAccess{a}, ReadOnly: true}).Action == permission.Allow
	}
}

// ownOutput reports whether a call only reads what the session itself put
// aside because it was too large.
func (s *Session) ownOutput(f kinds.Facts) bool {
	if !f.ReadOnly || f.Command != nil || len(f.Paths) == 0 {
		return false
	}
	dir, err := filepath.EvalSymlinks(spoolDir(s.sessions.paths, s.top().id))
	if err != nil {
		return false
	}
	for _, p := range f.Paths {
		if p.Access == kinds.Write || filepath.Dir(p.Target) != dir {
			return false
		}
	}
	return true
}

func (s *Session) policy() permission.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policyLocked()
}

// policyLocked is the session's policy; a sub-agent has that of the session that
// the editor opened.
func (s *Session) policyLocked() permission.Policy {
	if s.parent != nil {
		return s.top().policy()
	}
	granted, err := s.grants.Rules()
	cfg := s.cfg()
	if err != nil {
		lost := *cfg
		lost.Unread = append(slices.Clone(cfg.Unread), s.sessions.paths.GrantsFile())
		cfg = &lost
	}
	p := NewPolicy(s.sessions.paths, cfg, s.workspace.Roots, s.mode, s.trusted.Load() && err == nil, s.heldLocked(granted))
	p.Readable = s.readableSkills()
	p.Masked = s.masks
	return p
}

// heldLocked is the rules that were granted or refused: those that are kept for the
// project, as they are there now, and those of this session.
func (s *Session) heldLocked(kept []permission.Rule) []permission.Rule {
	held := slices.Clone(kept)
	for _, r := range s.rules {
		if r.Source != config.SourceGranted || slices.ContainsFunc(kept, func(k permission.Rule) bool { return sameRule(k, r) }) {
			held = append(held, r)
		}
	}
	return held
}

// Media says which media the model of new sessions takes.
func (m *Sessions) Media() (images, audio bool) {
	cfg, _ := config.Load(config.LoadOptions{Paths: m.paths})
	info := m.infoOf(cfg, m.choose(cfg).Name())
	return info.Images, info.Audio
}

// CheckLogin is an *AuthError where the model of new sessions has no
// credentials.
func (m *Sessions) CheckLogin() error {
	cfg, _ := config.Load(config.LoadOptions{Paths: m.paths})
	if choice := m.choose(cfg); choice.Missing != "" {
		return &AuthError{choice.Missing}
	}
	return nil
}

// Logout forgets all stored credentials.
func (m *Sessions) Logout() error {
	if _, err := m.paths.Logout(""); err != nil {
		return fmt.Errorf("the stored keys cannot be forgotten: %w", err)
	}
	return nil
}
