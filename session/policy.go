package session

import (
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// NewPolicy is the policy that a session goes by whose folders, configuration,
// mode and trust these are. Granted are the rules beside those of the
// configuration.
func NewPolicy(paths config.Paths, cfg *config.Config, roots *workspace.Roots, mode permission.Mode, trusted bool, granted []permission.Rule) permission.Policy {
	return permission.Policy{
		Mode:    mode,
		Roots:   roots,
		Home:    paths.Home,
		Rules:   append(append([]permission.Rule{}, cfg.Rules...), granted...),
		Trusted: trusted,
		Own:     []string{paths.Config, paths.Data, paths.State},
		Private: cfg.Web.Private,
	}
}
