package lsp

import (
	"encoding/json"
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

func pathAliases(dir, body string) []alias {
	var out aliasList
	if base := scriptBase().FindStringSubmatch(body); base != nil && len(base[1]) <= maxImport {
		dir = filepath.Join(dir, filepath.FromSlash(base[1]))
	}
	_, paths, _ := strings.Cut(body, `"paths"`)
	for _, one := range scriptPath().FindAllStringSubmatch(paths, -1) {
		for _, file := range quoted().FindAllStringSubmatch(one[2], -1) {
			out.add(dir, file[1], one[1])
		}
	}
	return out.aliases
}

// packageAliases are those of a package.json. A file has the name of the nearest key
// above it that is one: "./sub" below the package's own, and "#sub".
func packageAliases(dir, body string) []alias {
	var out aliasList
	var all map[string]any
	if json.Unmarshal([]byte(body), &all) != nil {
		return nil
	}
	own, _ := all["name"].(string)
	if len(own) > maxImport {
		return nil
	}
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch value := value.(type) {
		case string:
			if name != "" && value != withoutScriptEnding(value) && !strings.ContainsAny(value, "*:") {
				out.add(dir, value, name)
			}
		case []any:
			for _, one := range value {
				walk(name, one)
			}
		case map[string]any:
			for _, key := range sortedKeys(value) {
				switch next, below := strings.CutPrefix(key, "./"); {
				case strings.HasPrefix(key, "#"):
					walk(key, value[key])
				case below && own != "" && len(next) <= maxImport:
					walk(own+"/"+next, value[key])
				default:
					walk(name, value[key])
				}
			}
		}
	}
	walk(own, all)
	return out.aliases
}

// aliasList are the names that a file of settings gives, within the bounds of what a
// file imports.
type aliasList struct {
	aliases []alias
	size    int
}

func (l *aliasList) add(dir, file, name string) {
	if len(file) > maxImport || len(name) > maxImport || l.size >= maxImports {
		return
	}
	file = withoutScriptEnding(filepath.Join(dir, filepath.FromSlash(file)))
	l.aliases = append(l.aliases, alias{file, strings.Clone(name)})
	l.size += len(file) + len(name)
}

var (
	scriptBase = pattern(`"baseUrl"\s*:\s*"([^"\n]*)"`)
	scriptPath = pattern(`"([^"*\n]+)"\s*:\s*\[([^\]]*)\]`)
	quoted     = pattern(`"([^"\n]+)"`)
)
