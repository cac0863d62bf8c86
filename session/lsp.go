package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// newLSP is the session's view of the language servers; nil where they are turned
// off. It starts none.
func (s *Session) newLSP() *lsp.View {
	c := s.cfg().LSP
	if c.Disabled {
		return nil
	}
	return s.sessions.lsp.View(lsp.ViewOptions{
		Dirs:    s.realDirs(),
		Config:  LSPConfig(c),
		Read:    s.readForLSP,
		Unsaved: !s.onDisk(),
		Walk:    s.walkForLSP,
		Trusted: s.trustsServers,
		Path:    func() []string { kept, _ := s.path.Dirs(); return kept },
		Env:     func() []string { return s.exec.Environment(s.workspace.Dir()) },
		Bash:    s.exec.Bash,
	})
}

// LSPConfig is the settings as package lsp takes them.
func LSPConfig(c config.LSP) lsp.Config {
	out := lsp.Config{Servers: map[string]lsp.ServerConfig{}, RequestTimeout: c.RequestTimeout, StartTimeout: c.StartTimeout, IdleStop: c.IdleStop, MemoryLimit: c.MemoryLimit}
	if c.DiagnosticsWait != nil {
		if out.DiagnosticWait = *c.DiagnosticsWait; out.DiagnosticWait == 0 {
			out.DiagnosticWait = -1
		}
	}
	for name, s := range c.Servers {
		one := lsp.ServerConfig{Command: s.Command, Extensions: s.Extensions, LanguageID: s.LanguageID, RootMarkers: s.RootMarkers, Env: s.Env, Disabled: s.Disabled}
		one.Options, one.Settings = rawOrNil(s.Options), rawOrNil(s.Settings)
		out.Servers[name] = one
	}
	return out
}

// rawOrNil is a value of the settings as JSON; nil where it is not set.
func rawOrNil(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return mustJSON(v)
}

// realDirs are the session's folders, links resolved: what servers are told of is
// named in one way.
func (s *Session) realDirs() []string {
	var dirs []string
	for _, dir := range s.workspace.Dirs() {
		dirs = append(dirs, dirKey(dir))
	}
	return dirs
}

// onDisk reports whether files are read from the disk, and not from an editor.
func (s *Session) onDisk() bool {
	_, disk := s.ends.Files.(*workspace.Disk)
	return disk
}

// maxServed is the longest file in bytes that a language server is given.
const maxServed = 8 << 20

// readForLSP reads a file as the agent sees it, unsaved text of the editor
// included.
func (s *Session) readForLSP(ctx context.Context, path string) (string, bool, error) {
	p, err := s.workspace.Resolve(path)
	if err != nil {
		return "", false, err
	}
	if !p.Inside {
		return "", false, fmt.Errorf("%s lies outside of the project", path)
	}
	data, err := s.ends.Files.ReadFile(ctx, p)
	if err != nil {
		return "", false, err
	}
	if len(data) > maxServed {
		return "", false, fmt.Errorf("%s has %d bytes, too many for a language server", s.workspace.Name(path), len(data))
	}
	text, err := workspace.Decode(data)
	if err != nil {
		return "", false, fmt.Errorf("%s %w", s.workspace.Name(path), err)
	}
	return text.Body(), s.onDisk() || s.saved(ctx, p, data), nil
}

// saved reports whether the disk has the same of a file as the editor.
func (s *Session) saved(ctx context.Context, p workspace.Path, text []byte) bool {
	if info, err := os.Stat(p.Target); err != nil || info.Size() != int64(len(text)) {
		return false
	}
	data, err := workspace.NewDisk(s.workspace.Roots).ReadFile(ctx, p)
	return err == nil && bytes.Equal(data, text)
}

// walkForLSP lists files with what tells whether they changed.
func (s *Session) walkForLSP(ctx context.Context, dir string, match func(string) bool, each func(string, lsp.Stamp)) error {
	p, err := s.workspace.Resolve(dir)
	if err != nil {
		return err
	}
	list, err := workspace.Walk(ctx, s.workspace.Roots, p, workspace.WalkOptions{Match: match, Stat: true})
	if err != nil {
		return err
	}
	for _, f := range list.Files {
		each(filepath.Join(dir, filepath.FromSlash(f.Path)), lsp.Stamp{Size: f.Size, ModTime: f.ModTime})
	}
	return nil
}

// trustsServers is why no language server is started in a folder: it runs what the
// files there make it run. A repository inside of the session's, and what lies outside
// of that, is trusted for itself (security/policy.md, section 11).
func (s *Session) trustsServers(dir string) error {
	if !s.trusted.Load() {
		return errors.New("this folder is not trusted, so no language server is started in it; `acp-agent trust`, run in it, trusts it")
	}
	root, err := config.Root(dir)
	if err != nil || root == s.root {
		return err
	}
	rel, err := filepath.Rel(s.root, root)
	if _, none := os.Lstat(filepath.Join(root, ".git")); none != nil && err == nil && filepath.IsLocal(rel) {
		return nil // no repository: a folder of the session's
	}
	if ok, why := s.sessions.paths.Trusted(root); !ok {
		return fmt.Errorf("%s is trusted for itself, and is not, so no language server is started in it (%s)", root, why)
	}
	return nil
}

// wantedServers are the language servers that are started once the folder is
// trusted.
func (s *Session) wantedServers() []string {
	if s.workspace.LSP == nil || s.trusted.Load() {
		return nil
	}
	return s.workspace.LSP.Wanted()
}

// startServers has the servers of a trusted folder load while the model thinks.
func (s *Session) startServers() {
	if s.workspace.LSP != nil && s.trusted.Load() && !s.serving {
		s.serving = true
		s.workspace.LSP.Start()
	}
}

// judged is a call whose changes the language servers judge.
type judged struct {
	view    *lsp.View
	before  *lsp.Baseline
	command bool     // it is a shell command, which may change anything
	paths   []string // resolved, of the files that it may change
	read    []string // resolved, of what it reads
}

// beforeChange notes what the servers say before a call changes files; nil where
// there are no servers.
func (s *Session) beforeChange(ctx context.Context, action *tools.Action) *judged {
	v := s.workspace.LSP
	if v == nil {
		return nil
	}
	j := &judged{view: v, command: action.Command != nil}
	for _, p := range action.Paths {
		switch p.Access {
		case kinds.Write:
			j.paths = append(j.paths, p.Target)
		case kinds.Read:
			j.read = append(j.read, p.Target)
		}
	}
	if len(j.paths) > 0 {
		j.before = v.Before(ctx, j.paths)
	}
	return j
}

// close lets other changes be judged, whatever became of this one.
func (j *judged) close() {
	if j != nil {
		j.before.Close()
	}
}

// after adds what the call broke and fixed to its result.
func (j *judged) after(ctx context.Context, result *tools.Result, ws *tools.Workspace, err error) {
	if j == nil {
		return
	}
	defer j.close()
	switch {
	case j.command:
		j.view.Dirty()
		return
	case err == nil && len(j.paths) == 0:
		for _, path := range j.read {
			j.view.Touch(path)
		}
		return
	case j.before == nil || err != nil:
		if len(j.paths) > 0 {
			j.view.Dirty() // some may have changed
		}
		return
	}
	delta := j.before.After(ctx, j.paths)
	tools.Withhold(ws, delta.New.Items, delta.Fixed.Items, delta.Present.Items)
	text := deltaText(delta, ws.Name)
	if text == "" {
		return
	}
	result.Text = strings.TrimRight(result.Text, "\n") + "\n\n" + text
	result.Shown = joinText(result.Shown, kinds.Fence("", kinds.Escape(text)))
	for _, d := range delta.New.Items {
		at := kinds.Location{Path: kinds.Root(ws.Dir()).Abs(ws.Name(d.Path)), Line: d.At.Line}
		if result.Locations != nil && len(result.Locations) < maxProblemPlaces && !slices.Contains(result.Locations, at) {
			result.Locations = append(result.Locations, at)
		}
	}
}

// maxProblemPlaces is how many places an edit tells the editor of.
const maxProblemPlaces = 20

// maxProblemLines is how many lines an edit tells of problems with, all in all.
const maxProblemLines = 20

// deltaText says what an edit newly broke and fixed; empty: nothing to say.
func deltaText(d lsp.Delta, name func(string) string) string {
	who := strings.Join(d.Servers, " and ")
	notes := unknown(d.NotReady)
	var out []string
	parts := slices.DeleteFunc([]problemList{
		{"New problems since this change", d.New},
		{"Fixed by this change", d.Fixed},
		{"Problems in files that had not been judged before, so that some may be old", d.Present},
	}, func(p problemList) bool { return len(p.list.Items) == 0 })
	for i, part := range parts {
		rest := len(parts) - 1 - i // a line for each
		out = append(out, part.lines(maxProblemLines-len(notes)-len(out)-rest, who, name)...)
	}
	if out = append(out, notes...); len(out) == 0 && len(d.Servers) > 0 {
		out = append(out, fmt.Sprintf("No new problems (%s).", who))
	}
	return strings.Join(out, "\n")
}

// unknown says once what of a change is not known yet, a line for each reason where
// there are several.
func unknown(reasons []string) []string {
	const what, next = "What all this change breaks is not known yet", "Ask with lsp diagnostics."
	switch len(reasons) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s: %s. %s", what, tools.OneLine(reasons[0]), next)}
	}
	out := []string{what + ". " + next}
	for _, why := range reasons[:min(len(reasons), maxNotes)] {
		out = append(out, "- "+tools.OneLine(why))
	}
	if more := len(reasons) - maxNotes; more > 0 {
		out = append(out, fmt.Sprintf("(and %d more reasons)", more))
	}
	return out
}

// problemList is a list of problems under a title.
type problemList struct {
	title string
	list  lsp.List
}

// lines are the list in at most max lines, and at least one.
func (p problemList) lines(max int, who string, name func(string) string) []string {
	items := p.list.Items
	all := len(items) + p.list.More
	if max < 3 && all > max-1 {
		return []string{fmt.Sprintf("%s (%s): %d", p.title, who, all)}
	}
	out := []string{fmt.Sprintf("%s (%s):", p.title, who)}
	shown := min(len(items), max-1)
	if shown < all {
		shown = min(shown, max-2)
	}
	for _, item := range items[:shown] {
		out = append(out, tools.ProblemLine(item, name))
	}
	if shown < all {
		out = append(out, fmt.Sprintf("(and %d more)", all-shown))
	}
	return out
}

// maxNotes is how many reasons an edit tells for a verdict that is not there.
const maxNotes = 3
