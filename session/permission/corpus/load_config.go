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
	Content  json.RawMessage // of the file
	Approved json.RawMessage // the servers in it that the user agreed to
}

// loadConfig judges what a settings file of a project does: whether something of
// it takes effect (allow), does once the user agrees (ask), or nothing does (deny).
func (r *Runner) loadConfig(c *cases.Case) (Outcome, error) {
	var own loadCase
	if err := c.Decode(&own); err != nil {
		return Outcome{}, err
	}
	s, err := ownScene(c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	name, err := s.inTree(c.Path)
	if err != nil {
		return Outcome{}, err
	}
	if len(own.Approved) > 0 {
		approved := fmt.Sprintf(`{"mcpServers": %s}`, own.Approved)
		if err := s.Add(cases.File{Path: name, Content: approved}); err != nil {
			return Outcome{}, err
		}
	}
	if err := s.trust(); err != nil {
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
	action, why := effect(before, after, own.agreed())
	return verdict(c, action, why), nil
}

// agreed reports whether the file names the very servers that the user agreed to:
// then it changes nothing, since all of it holds already.
func (l loadCase) agreed() bool {
	var file struct{ MCPServers map[string]any }
	var approved map[string]any
	if json.Unmarshal(l.Content, &file) != nil || json.Unmarshal(l.Approved, &approved) != nil {
		return false
	}
	return len(approved) > 0 && reflect.DeepEqual(file.MCPServers, approved)
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
	pending  []config.Enabled // what the user would be asked about before it holds
}

// settings reads them as a session does. A case whose folder is trusted takes the
// question about it as answered; what runs programs or opens more than a kind of call
// is asked about each for itself.
func (s *scene) settings() (settings, error) {
	paths := s.paths()
	o := paths.Open(s.roots.Dir())
	now := settings{config: o.Config, trusted: o.Trusted, problems: o.Problems}
	if s.policy.Trusted {
		now.config, now.problems = config.Load(config.LoadOptions{Paths: paths, Project: o.Root, Dir: s.roots.Dir(), Trusted: true,
			Confirmed: func(string) bool { return true }})
		now.trusted, now.pending = true, o.Pending
	}
	var err error
	now.granted, err = paths.Grants(o.Root)
	return now, err
}

// trust trusts the folders that the case takes for trusted, as they are before its
// file comes: its own, and the one beside it whose trust is not inherited.
func (s *scene) trust() error {
	for _, dir := range []string{s.roots.Dir(), s.At("trusted")} {
		if _, err := os.Stat(dir); err != nil || dir == s.roots.Dir() && !s.policy.Trusted {
			continue
		}
		if _, err := s.paths().Trust(dir); err != nil {
			return err
		}
	}
	return nil
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

// effect is whether the settings differ, or are the ones that were agreed to. What is
// refused of them counts for more than what holds beside it.
func effect(before, after settings, agreed bool) (permission.Action, string) {
	for _, p := range after.problems {
		if !slices.Contains(before.problems, p) {
			return permission.Deny, p.Text
		}
	}
	for _, e := range after.pending {
		if slices.Contains([]config.Part{config.PartHooks, config.PartServers, config.PartLanguage, config.PartWide}, e.Part) {
			return permission.ForcedAsk, "it asks first about " + e.Text
		}
	}
	same := reflect.DeepEqual(before.config, after.config) && slices.Equal(before.granted, after.granted) && before.trusted == after.trusted
	if same && !(agreed && after.trusted) {
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
