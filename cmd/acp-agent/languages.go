package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/session"
	children "github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// How far the doctor looks through a folder for its languages.
const (
	maxSurveyed = 20_000 // files
	surveyTime  = 5 * time.Second
)

// languages names the language server for each language of the folder, and how to
// install a missing one.
func (d *patient) languages(ctx context.Context) []finding {
	if d.folder == "" {
		return nil
	}
	if d.cfg.LSP.Disabled {
		return []finding{{Check: "languages", Severity: noted, Text: "language servers are turned off (lsp.enabled)"}}
	}
	files, all, err := filesOf(ctx, d.folder)
	if err != nil {
		return []finding{{Check: "languages", Severity: warning, Text: fmt.Sprintf("the folder's files cannot be listed: %v", err)}}
	}
	path, _ := children.NewSearchPath(os.Environ(), []string{d.folder}).Dirs() // as in a session
	settings := session.LSPConfig(d.cfg.LSP)
	var found []finding
	for _, text := range settings.Useless() {
		found = append(found, finding{Check: "languages", Severity: warning, Text: text})
	}
	surveyed := settings.Survey(d.folder, files, path)
	serves := false
	for _, one := range surveyed {
		found = append(found, language(one))
		serves = serves || one.Server != ""
	}
	switch {
	case len(surveyed) == 0:
		found = append(found, finding{Check: "languages", Severity: noted, Text: "no file here is of a language that a language server is known for"})
	case serves && !d.trusted:
		found = append(found, finding{Check: "languages", Severity: noted, Text: "none of these starts before the folder is trusted"})
	}
	if !all {
		found = append(found, finding{Check: "languages", Severity: noted, Text: fmt.Sprintf("the folder is large: only %d of its files were looked at", len(files))})
	}
	return found
}

// language is the finding about one language, or some that go together.
func language(one lsp.Surveyed) finding {
	files := "1 file"
	if one.Files != 1 {
		files = fmt.Sprintf("%d files", one.Files)
	}
	what := fmt.Sprintf("%s (%s)", strings.Join(one.Languages, ", "), files)
	if one.Server == "" {
		return finding{Check: "languages", Severity: noted, Text: what + ": no language server is installed", Advice: ways(one.Install)}
	}
	f := finding{Check: "languages", Severity: fine, Text: fmt.Sprintf("%s: %s, %s", what, one.Server, one.Program)}
	if len(one.Beside) > 0 {
		f.Text += "; beside it " + strings.Join(one.Beside, " and ")
	}
	return f
}

// ways says how to get one of the servers.
func ways(servers []*lsp.Spec) string {
	var out []string
	for _, s := range servers {
		out = append(out, fmt.Sprintf("%s: %s", s.Name, s.Install))
	}
	return strings.Join(out, "; or ")
}

// filesOf are the absolute names of a folder's files, but for those that are
// ignored; all is false where there are more than are looked at.
func filesOf(ctx context.Context, dir string) (files []string, all bool, err error) {
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		return nil, false, err
	}
	defer roots.Close()
	p, err := roots.Resolve(dir)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	var mu sync.Mutex
	match := func(rel string) bool {
		mu.Lock()
		defer mu.Unlock()
		if len(files) == maxSurveyed {
			cancel()
			return false
		}
		files = append(files, filepath.Join(dir, filepath.FromSlash(rel)))
		return false
	}
	_, err = workspace.Walk(ctx, roots, p, workspace.WalkOptions{Match: match})
	if err != nil && ctx.Err() == nil {
		return nil, false, err
	}
	slices.Sort(files)
	return files, ctx.Err() == nil, nil
}
