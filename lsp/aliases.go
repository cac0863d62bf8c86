package lsp

import (
	"path/filepath"
	"strings"
)

// alias is a name that a project's settings give to a file.
type alias struct {
	file string // a name of it: its path without an ending
	name string
}

// scriptAliases are the names that files of TypeScript's and npm's settings give to
// files: paths without a star, and a package's name, which is that of all files that
// it says to begin with. Names with a star end as the file's path does.
func scriptAliases(path, body string) []alias {
	dir, name := filepath.Split(path)
	switch {
	case name == "package.json":
		return packageAliases(dir, body)
	case filepath.Ext(name) == ".json" && (strings.HasPrefix(name, "tsconfig") || strings.HasPrefix(name, "jsconfig")):
		return pathAliases(dir, body)
	}
	return nil
}

func pathAliases(dir, body string) (out []alias) {
	if base := scriptBase().FindStringSubmatch(body); base != nil {
		dir = filepath.Join(dir, filepath.FromSlash(base[1]))
	}
	_, paths, _ := strings.Cut(body, `"paths"`)
	for _, one := range scriptPath().FindAllStringSubmatch(paths, -1) {
		for _, file := range quoted().FindAllStringSubmatch(one[2], -1) {
			out = append(out, newAlias(dir, file[1], one[1]))
		}
	}
	return out
}

func packageAliases(dir, body string) (out []alias) {
	name := packageName().FindStringSubmatch(body)
	for _, one := range packageFile().FindAllStringSubmatch(body, -1) {
		if strings.HasPrefix(one[1], "#") {
			out = append(out, newAlias(dir, one[2], one[1]))
		} else if name != nil {
			out = append(out, newAlias(dir, one[2], name[1]))
		}
	}
	return out
}

func newAlias(dir, file, name string) alias {
	return alias{withoutScriptEnding(filepath.Join(dir, filepath.FromSlash(file))), strings.Clone(name)}
}

var (
	scriptBase  = pattern(`"baseUrl"\s*:\s*"([^"\n]*)"`)
	scriptPath  = pattern(`"([^"*\n]+)"\s*:\s*\[([^\]]*)\]`)
	quoted      = pattern(`"([^"\n]+)"`)
	packageName = pattern(`"name"\s*:\s*"([^"\n]+)"`)
	packageFile = pattern(`"([^"\n]+)"\s*:\s*"(\.?[^"\n:]*\.[cm]?[jt]sx?)"`)
)
