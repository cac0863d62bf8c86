package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/tools"
)

// step is one thing that another program does between the check and the use.
type step struct {
	Do      string // replace, symlink, hardlink, write, mkdir, rename or remove
	Path    string // from the top of the tree
	To      string
	Type    string // of what replace puts there
	Content string
}

func (s *scene) step(x step) error {
	switch x.Do {
	case "replace":
		return s.Add(cases.File{Path: x.Path, Type: x.Type, To: x.To, Content: x.Content})
	case "symlink", "hardlink":
		return s.Add(cases.File{Path: x.Path, Type: x.Do, To: x.To})
	case "write":
		return s.Add(cases.File{Path: x.Path, Content: x.Content})
	case "mkdir":
		return s.Add(cases.File{Path: x.Path, Type: "dir"})
	case "rename":
		return s.Rename(x.Path, x.To)
	case "remove", "delete":
		return s.Remove(x.Path)
	}
	return fmt.Errorf("a race cannot %q: write replace, symlink, hardlink, write, mkdir, rename or remove", x.Do)
}

// race does the steps after a call was judged, then runs the call. What it comes
// to is the verdict: a refusal denies. Nothing outside the session's folders may
// have changed.
func (s *scene) race(c *cases.Case, made call, steps []step) (Outcome, error) {
	if made.verdict.Action != permission.Allow || made.action == nil {
		return verdict(c, made.verdict.Action, made.verdict.Reason), nil
	}
	inside, err := s.held()
	if err != nil {
		return Outcome{}, err
	}
	for _, x := range steps {
		if err := s.step(x); err != nil {
			return Outcome{}, fmt.Errorf("the race: %w", err)
		}
	}
	before, err := s.outside(inside)
	if err != nil {
		return Outcome{}, err
	}
	_, refusal := made.action.Run(context.Background(), func(tools.Output) {})
	after, err := s.outside(inside)
	if err != nil {
		return Outcome{}, err
	}
	out := verdict(c, permission.Allow, "")
	if refusal != nil {
		out = verdict(c, permission.Deny, refusal.Error())
	}
	if !maps.Equal(before, after) {
		out.Failure = "something changed outside of the session's folders: " + difference(before, after)
	}
	return out, nil
}

// held are the session's folders, as they can be known again under another name.
func (s *scene) held() ([]fs.FileInfo, error) {
	var all []fs.FileInfo
	for _, dir := range s.roots.Dirs() {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// outside is what stands in the tree but in the folders that count as inside: the
// content, or the kind, of each path.
func (s *scene) outside(inside []fs.FileInfo) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(s.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(inside, func(held fs.FileInfo) bool { return os.SameFile(held, info) }) {
			return fs.SkipDir
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] += "\n" + string(data)
			return err
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the tree changes by itself: %w", err)
	}
	return all, err
}

// difference names a path that is not in both as it is in the other.
func difference(before, after map[string]string) string {
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			return path
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[path]; !ok {
			return path
		}
	}
	return "nothing"
}
