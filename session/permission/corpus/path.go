package corpus

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/tools"
)

// pathCase is what a case of a file tool has of its own.
type pathCase struct {
	CallCwd string `json:"call_cwd"` // that the call names
	Caps    struct {
		Outside string `json:"paths_outside"`
	}
	Args map[string]any // further arguments of the call
	Race []step         // done after the check, before the use
}

// pathOps are the operations of file tools.
func pathOps() []string {
	return []string{"read", "write", "edit", "delete", "mkdir", "list", "glob", "grep"}
}

// path judges a call of a file tool. Its tree is the case's alone.
func (r *Runner) path(c *cases.Case) (Outcome, error) {
	var p pathCase
	if err := c.Decode(&p); err != nil {
		return Outcome{}, err
	}
	switch {
	case c.Path == "":
		return Outcome{}, errors.New(`it has no "path", which a file tool needs`)
	case p.Caps.Outside != "" && p.Caps.Outside != "ask" && p.Caps.Outside != "deny":
		return Outcome{}, fmt.Errorf(`"paths_outside" is %q: write ask or deny`, p.Caps.Outside)
	}
	s, err := ownScene(c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	s.policy.OutsideDenied = p.Caps.Outside == "deny"
	made, err := s.fileCall(c.Op, s.asked(c.Path, p.CallCwd), p.Args)
	if err != nil {
		return Outcome{}, err
	}
	if len(p.Race) > 0 {
		return s.race(c, made, p.Race)
	}
	return verdict(c, made.verdict.Action, made.verdict.Reason), nil
}

// asked is the path that the call names. Our file tools take no folder of their
// own: a call that thinks itself elsewhere names the path from there.
func (s *scene) asked(path, cwd string) string {
	path = s.spell(path)
	if cwd == "" || filepath.IsAbs(path) {
		return path
	}
	return s.spell(cwd) + string(filepath.Separator) + path
}

// spell writes a path for the system of the case: on Windows the tree stands on
// the drive C.
func (s *scene) spell(path string) string {
	path = s.Expand(path)
	if s.goos == "windows" && strings.HasPrefix(path, s.Root) {
		return "C:" + path
	}
	return path
}

// fileCall makes the call of a file tool that does op.
func (s *scene) fileCall(op, path string, args map[string]any) (call, error) {
	input := map[string]any{"path": path}
	for name, value := range args {
		input[name] = value
	}
	switch op {
	case "read":
		return s.prepare(tools.Read(), input)
	case "grep":
		input["pattern"] = "x"
		return s.prepare(tools.Grep(), input)
	case "list":
		input["pattern"] = "*"
		return s.prepare(tools.Glob(), input)
	case "glob":
		if s.goos == "windows" {
			path = strings.ReplaceAll(path, `\`, "/") // as the tool does there
		}
		return s.prepare(tools.Glob(), map[string]any{"pattern": path})
	}
	return s.change(op, path, input)
}
