package session

import (
	"path/filepath"
	"slices"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// NewPolicy is the policy that a session goes by whose folders, configuration,
// mode and trust these are. Granted are the rules beside those of the
// configuration.
//
// Where a file of rules cannot be read, what it denies is asked about: no mode and no
// rule of a file allows anything then (security/policy.md, section 8.6).
func NewPolicy(paths config.Paths, cfg *config.Config, roots *workspace.Roots, mode permission.Mode, trusted bool, granted []permission.Rule) permission.Policy {
	p := permission.Policy{
		Mode:    mode,
		Roots:   roots,
		Home:    paths.Home,
		Rules:   append(append([]permission.Rule{}, cfg.Rules...), granted...),
		Trusted: trusted,
		Own:     []string{paths.Config, paths.Data, paths.State},
		Private: cfg.Web.Private,
	}
	if paths.Manifest != "" {
		p.Own = append(p.Own, filepath.Dir(paths.Manifest))
	}
	if len(cfg.Unread) > 0 {
		if mode == permission.AcceptEdits || mode == permission.BypassPermissions {
			p.Mode = permission.Default
		}
		p.Rules = slices.DeleteFunc(p.Rules, func(r permission.Rule) bool {
			return r.Action == permission.Allow && !(r.Source == "" && r.Scope == permission.Session) // but what was answered meanwhile
		})
	}
	return p
}
