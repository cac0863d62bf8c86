package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
)

// grant makes what the user allowed for good hold as far as was said; where it cannot
// be kept that far, in this session, with an error.
func (s *Session) grant(ctx context.Context, v permission.Verdict, a Answer) error {
	if a.Grant < 0 || a.Grant >= len(v.Always) {
		return fmt.Errorf("the answer names no offer")
	}
	g := v.Always[a.Grant]
	s = s.top()
	if g.Mode != "" {
		if err := s.SetMode(g.Mode); err != nil {
			return err
		}
		s.Save(ctx)
		s.tellMode(ctx)
		return nil
	}
	rules := slices.Clone(g.Rules)
	var err error
	if a.Scope == permission.Project {
		if err = s.sessions.paths.AddGrants(s.root, g.Rules); err == nil {
			for i := range rules { // so that it ends here, too, where another process takes it back
				rules[i].Source = config.SourceGranted
			}
		}
	}
	s.mu.Lock()
	s.rules = append(s.rules, rules...)
	s.mu.Unlock()
	s.settling.ring()
	return err
}

// refuse makes what the user refused for good hold in this session.
func (s *Session) refuse(f kinds.Facts, v permission.Verdict, a Answer) {
	if a.Grant < 0 || a.Grant >= len(v.Always) {
		return
	}
	s = s.top()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range v.Always[a.Grant].Rules {
		r.Action = permission.Deny
		s.rules = append(s.rules, r)
	}
	s.settling.ring()
}

// tellMode tells the editor the mode in both forms.
func (s *Session) tellMode(ctx context.Context) {
	for _, u := range []Update{ModeChanged{s.Mode()}, SettingsChanged{s.Settings()}} {
		if err := s.ends.Sink.Update(ctx, u); err != nil {
			s.sessions.log.Warn("mode not told", "session", s.id, "error", err)
		}
	}
}
