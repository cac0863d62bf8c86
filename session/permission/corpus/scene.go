package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// scene is what a case plays in: its tree, and a session's workspace and policy
// over it.
type scene struct {
	*cases.Tree
	roots  *workspace.Roots
	policy permission.Policy
	own    bool   // the tree is removed with the scene
	goos   string // whose paths are read; empty: this system's
}

// commandScene is the scene of a command: the layout's tree, with the case's own
// files over it.
func (r *Runner) commandScene(c *cases.Case) (*scene, error) {
	if len(c.FS) > 0 {
		tree, err := cases.NewTree(r.layout, c.FS)
		if err != nil {
			return nil, err
		}
		return newScene(tree, true, c)
	}
	if r.shared == nil {
		tree, err := cases.NewTree(r.layout)
		if err != nil {
			return nil, err
		}
		r.shared = tree
	}
	return newScene(r.shared, false, c)
}

// ownScene is the scene of a case whose tree is its alone.
func ownScene(c *cases.Case) (*scene, error) {
	tree, err := cases.NewTree(c.FS)
	if err != nil {
		return nil, err
	}
	return newScene(tree, true, c)
}

// newScene opens the workspace over a tree. Where it fails, a tree of its own is
// removed.
func newScene(tree *cases.Tree, own bool, c *cases.Case) (*scene, error) {
	s := &scene{Tree: tree, own: own}
	if err := s.open(c); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *scene) close() error {
	if s.roots != nil {
		s.roots.Close()
	}
	if s.own {
		return s.Close()
	}
	return nil
}

func (s *scene) open(c *cases.Case) error {
	dirs := []string{s.At("ws")}
	if c.Cwd != "" {
		dirs[0] = s.place(c.Cwd)
	}
	for _, d := range c.Additional {
		d = s.place(d)
		if rel, err := filepath.Rel(s.Root, d); err == nil && filepath.IsLocal(rel) {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
		dirs = append(dirs, d)
	}
	system, err := s.system(c)
	if err != nil {
		return err
	}
	if s.roots, err = system.OpenRoots(dirs...); err != nil {
		return err
	}
	s.policy = permission.Policy{
		Mode: permission.Mode(c.Mode), Roots: s.roots, Home: s.At("home"), Headless: c.Headless,
		Trusted: c.Trusted == nil || *c.Trusted,
	}
	s.setPath(c, dirs)
	return s.setRules(c)
}

// system is the system whose paths the case is about.
func (s *scene) system(c *cases.Case) (workspace.System, error) {
	var own struct {
		OS        string
		FoldsCase bool `json:"case_insensitive"`
	}
	if err := c.Decode(&own); err != nil {
		return workspace.System{}, err
	}
	switch own.OS {
	case "", "linux", "darwin", "windows":
	default:
		return workspace.System{}, fmt.Errorf("there is no system %q: write linux, darwin or windows", own.OS)
	}
	s.goos = own.OS
	return workspace.System{GOOS: own.OS, FoldsCase: own.FoldsCase || own.OS == "windows", Home: s.spell(s.At("home"))}, nil
}

// place is a folder that a case names by a token, or from the top of its tree.
func (s *scene) place(name string) string {
	if name = s.Expand(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return s.At(name)
}

// setPath rebuilds the PATH of the case; without one every program is there, so
// that a verdict does not hang on what is installed.
func (s *scene) setPath(c *cases.Case, dirs []string) {
	if c.PATH == nil {
		s.policy.Lookup = func(string) bool { return true }
		return
	}
	var list []string
	for _, d := range c.PATH {
		list = append(list, s.Expand(d))
	}
	s.policy.Path, s.policy.RemovedPath = process.RebuildPath(strings.Join(list, string(os.PathListSeparator)), dirs)
}

// setRules takes the case's rules as they stand: one with a pattern that is no
// good allows nothing, which a case may want to see. A project that is not trusted
// has no permissions to give.
func (s *scene) setRules(c *cases.Case) error {
	switch m := permission.Mode(c.Mode); {
	case m == "", m.Valid(), m == permission.Auto:
	default:
		return fmt.Errorf("there is no mode %q", c.Mode)
	}
	scopes := map[string]permission.Scope{
		"": permission.Session, "user": permission.Session, "session": permission.Session,
		"project": permission.Project, "manifest": permission.Manifest,
	}
	for _, r := range c.Rules {
		var a permission.Action
		if err := a.UnmarshalText([]byte(r.Action)); err != nil {
			return fmt.Errorf("a rule for %s: %w", r.Permission, err)
		}
		scope, ok := scopes[r.Scope]
		if !ok {
			return fmt.Errorf("a rule for %s: there is no scope %q: write project, session or manifest", r.Permission, r.Scope)
		}
		if scope == permission.Project && a == permission.Allow && !s.policy.Trusted {
			continue // as where a session reads its settings: before trust a project only restricts
		}
		s.policy.Rules = append(s.policy.Rules, permission.Rule{
			Permission: r.Permission, Pattern: s.Expand(r.Pattern), Action: a, Scope: scope, Source: "the case"})
	}
	return nil
}

// workspace is what the tools work with in the scene: the disk, and nothing that
// could run or reach anything.
func (s *scene) workspace() *tools.Workspace {
	return &tools.Workspace{Roots: s.roots, Files: workspace.NewDisk(s.roots), Seen: &tools.Seen{}}
}

// call is a tool's call, prepared and judged as a session would.
type call struct {
	verdict permission.Verdict
	action  *tools.Action // nil: the tool refused it
}

// prepare has a tool prepare a call and the engine judge it. What the tool
// refuses is denied.
func (s *scene) prepare(tool tools.Tool, input map[string]any) (call, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return call{}, err
	}
	action, err := tool.Prepare(context.Background(), s.workspace(), data)
	if err != nil {
		return call{verdict: permission.Verdict{Action: permission.Deny, Reason: err.Error()}}, nil
	}
	return call{s.policy.Decide(action.Facts), action}, nil
}

// decide judges facts that no tool of ours makes.
func (s *scene) decide(f kinds.Facts) permission.Verdict { return s.policy.Decide(f) }
