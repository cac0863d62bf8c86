package session

import (
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// toolSearch is the tool that is offered only while others are kept back.
const toolSearch = "tool_search"

// offeredLocked is the tools that the model is given now, in an order in which
// more of them only join at the end, so that a provider's cache holds.
func (s *Session) offeredLocked() []model.Tool {
	given, _ := s.splitLocked()
	out := make([]model.Tool, 0, len(given))
	for _, spec := range given {
		out = append(out, model.Tool{Name: spec.ID, Description: spec.Description, Parameters: spec.Parameters})
	}
	return out
}

// splitLocked is the tools that the model may call now (spec/tools.md, "The
// registry"): those that it is given, and those of servers that are kept back
// since there are too many in all.
func (s *Session) splitLocked() (given, deferred []*tools.Spec) {
	all := s.permittedLocked()
	several := s.keepsBack(all)
	brought := map[string]*tools.Spec{}
	for _, spec := range all {
		switch {
		case several && defers(spec) && !slices.Contains(s.brought, spec.ID):
			deferred = append(deferred, spec)
		case several && defers(spec):
			brought[spec.ID] = spec
		default:
			given = append(given, spec)
		}
	}
	if len(deferred) == 0 && len(brought) == 0 {
		given = slices.DeleteFunc(given, func(spec *tools.Spec) bool { return spec.ID == toolSearch })
	}
	for _, id := range s.brought {
		if spec, ok := brought[id]; ok {
			given = append(given, spec)
		}
	}
	return given, deferred
}

// permittedLocked is every tool that the model may know of: in plan mode those
// that read, none that a rule denies by name, and of a sub-agent's only its own.
func (s *Session) permittedLocked() []*tools.Spec {
	p := s.policyLocked()
	readOnly := p.Mode == permission.Plan || s.readsOnly()
	offers := p.Offers()
	list := s.sessions.tools.List(func(spec *tools.Spec) bool {
		if spec.ID == tools.PlanExitID && (p.Mode != permission.Plan || s.parent != nil) {
			return false // there is nothing to leave, or it is not this agent's to leave
		}
		return (spec.Needs == nil || spec.Needs(s.workspace)) && (spec.ReadOnly || !readOnly) && s.allows(spec) && offers(spec.ID)
	})
	specs := make([]*tools.Spec, len(list))
	for i, t := range list {
		specs[i] = t.Spec()
	}
	return specs
}

// keepsBack reports whether there are too many tools to give at once, and the one
// that finds them is among them.
func (s *Session) keepsBack(all []*tools.Spec) bool {
	return len(all) > s.cfg().ToolSearchThreshold && slices.ContainsFunc(all, func(spec *tools.Spec) bool { return spec.ID == toolSearch })
}

// defers reports whether a tool is kept back where there are many.
func defers(spec *tools.Spec) bool {
	return strings.HasPrefix(spec.ID, tools.MCPPrefix) && !spec.AlwaysLoad
}

// deferredIndexLocked is what the prompt says of tools that are kept back: the
// names alone, of all that ever were, so that it stays as it is.
func (s *Session) deferredIndexLocked() string {
	all := s.permittedLocked()
	if !s.keepsBack(all) {
		return ""
	}
	var names []string
	for _, spec := range all {
		if defers(spec) {
			names = append(names, spec.ID)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "\nFurther tools, which tool_search brings: " + strings.Join(names, ", ") + "\n"
}

// broughtIn is the ids of the tools that tool_search brought in a conversation, in
// the order in which they came.
func broughtIn(records []recorded) []string {
	var ids []string
	for _, m := range records {
		for _, p := range m.parts {
			if p.call == nil || p.call.Tool != toolSearch || p.call.Status != Completed || p.call.Output == nil {
				continue
			}
			matches, _ := p.call.Output.Metadata.Extra["matches"].([]any)
			for _, match := range matches {
				found, _ := match.(map[string]any)
				if id, ok := found["id"].(string); ok && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// catalog is what tool_search sees of a session: its tools.Catalog.
type catalog struct{ session *Session }

// Deferred is the tools that are kept back.
func (c catalog) Deferred() []*tools.Spec {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	_, deferred := c.session.splitLocked()
	return deferred
}

// Bring has the model given the tools from the next request on.
func (c catalog) Bring(ids ...string) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	for _, id := range ids {
		if !slices.Contains(c.session.brought, id) {
			c.session.brought = append(c.session.brought, id)
		}
	}
}
