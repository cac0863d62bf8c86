package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/session"
	children "github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// maxSurveyed is how many files the doctor looks at for their languages.
const maxSurveyed = 20_000

// languages names the language server for each language of the folder, and how to
// install a missing one.
func (d *patient) languages(ctx context.Context) []finding {
	if d.folder == "" {
		return nil
	}
	if d.cfg.LSP.Disabled {
		return []finding{{Check: "languages", Severity: noted, Text: "language servers are turned off (lsp.enabled)"}}
	}
	files, err := filesOf(ctx, d.folder)
	if err != nil {
		return []finding{{Check: "languages", Severity: warning, Text: fmt.Sprintf("the folder's files cannot be listed: %v", err)}}
	}
	path, _ := children.RebuildPath(d.getenv("PATH"), []string{d.folder})
	var found []finding
	for _, one := range session.LSPConfig(d.cfg.LSP).Survey(d.folder, files, path) {
		f := finding{Check: "languages", Severity: fine, Text: fmt.Sprintf("%s (%d files): %s, %s", one.Language, one.Files, one.Server, one.Program)}
		if one.Server == "" {
			var names, ways []string
			for _, s := range one.Install {
				names, ways = append(names, s.Name), append(ways, fmt.Sprintf("%s: %s", s.Name, s.Install))
			}
			f.Severity = noted
			f.Text = fmt.Sprintf("%s (%d files): no language server is installed (%s)", one.Language, one.Files, strings.Join(names, ", "))
			f.Advice = strings.Join(ways, "; or ")
		}
		found = append(found, f)
	}
	return found
}

// filesOf are the absolute names of a folder's files, but for those that are
// ignored.
func filesOf(ctx context.Context, dir string) ([]string, error) {
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		return nil, err
	}
	defer roots.Close()
	p, err := roots.Resolve(dir)
	if err != nil {
		return nil, err
	}
	list, err := workspace.Walk(ctx, roots, p, workspace.WalkOptions{})
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range list.Files[:min(len(list.Files), maxSurveyed)] {
		files = append(files, filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	return files, nil
}
