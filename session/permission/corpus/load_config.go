package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// loadCase is what a case of a settings file has of its own.
type loadCase struct {
	Content json.RawMessage // of the file
}

// loadConfig judges what a settings file of a project does: whether something of
// it takes effect (allow) or nothing does (deny).
func (r *Runner) loadConfig(c *cases.Case) (Outcome, error) {
	var own loadCase
	if err := c.Decode(&own); err != nil {
		return Outcome{}, err
	}
	tree, err := cases.NewTree(c.FS)
	if err != nil {
		return Outcome{}, err
	}
	s, err := newScene(tree, true, c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	name, err := s.inTree(c.Path)
	if err != nil {
		return Outcome{}, err
	}
	before, err := s.settings()
	if err != nil {
		return Outcome{}, err
	}
	if err := s.Add(cases.File{Path: name, Content: fileText(name, own.Content)}); err != nil {
		return Outcome{}, err
	}
	after, err := s.settings()
	if err != nil {
		return Outcome{}, err
	}
	action, why := effect(before, after)
	return verdict(c, action, why), nil
}

// inTree is what a path, relative to the session's folder, is called from the top
// of the tree.
func (s *scene) inTree(path string) (string, error) {
	path = s.Expand(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.At("ws"), path)
	}
	name, err := filepath.Rel(s.Root, path)
	return filepath.ToSlash(name), err
}

// settings is what a session in the scene's folder would go by.
type settings struct {
	config   *config.Config
	granted  []permission.Rule
	trusted  bool
	problems []config.Problem
}

// settings reads them as a session does. That the case's folder is trusted is
// taken as answered already; that another's trust is not inherited is looked up.
func (s *scene) settings() (settings, error) {
	paths := s.paths()
	root, err := config.Root(s.roots.Dir())
	if err != nil {
		return settings{}, err
	}
	if _, err := os.Stat(s.At("trusted")); err == nil { // another folder, whose trust is not this one's
		if _, err := paths.Trust(s.At("trusted")); err != nil {
			return settings{}, err
		}
	}
	var now settings
	now.trusted, _ = paths.Trusted(s.roots.Dir())
	now.config, now.problems = config.Load(config.LoadOptions{Paths: paths, Project: root, Trusted: s.policy.Trusted || now.trusted})
	now.granted, err = paths.Grants(root)
	return now, err
}

// paths are the agent's own folders in the scene's home.
func (s *scene) paths() config.Paths {
	home := s.At("home")
	return config.NewPaths(func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	})
}

// effect is whether the settings differ. What is refused of them counts for more
// than what holds beside it.
func effect(before, after settings) (permission.Action, string) {
	for _, p := range after.problems {
		if !slices.Contains(before.problems, p) {
			return permission.Deny, p.Text
		}
	}
	same := reflect.DeepEqual(before.config, after.config) && slices.Equal(before.granted, after.granted) && before.trusted == after.trusted
	if same {
		return permission.Deny, "nothing of it takes effect"
	}
	return permission.Allow, ""
}

// fileText is a case's content as the file would hold it: JSON, but for what is
// written otherwise.
func fileText(name string, content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	separator := map[string]string{".git": ": ", ".env": "="}[filepath.Base(name)]
	var fields map[string]any
	if separator == "" || json.Unmarshal(content, &fields) != nil {
		return string(content)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "%s%s%v\n", key, separator, fields[key])
	}
	return b.String()
}
