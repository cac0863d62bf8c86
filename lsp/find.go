package lsp

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// lookup finds programs and roots on the disk, without running anything.
type lookup struct {
	dirs []string        // the session's folders
	path func() []string // the folders of PATH
}

// folder is the session's folder that path lies in; false where it lies in none.
func (l *lookup) folder(path string) (string, bool) {
	best := ""
	for _, dir := range l.dirs {
		if within(dir, path) && len(dir) > len(best) {
			best = dir
		}
	}
	return best, best != ""
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && !filepath.IsAbs(rel)
}

// upward are the folders from a file's own up to top.
func upward(top, path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); within(top, dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return dirs
}

// root is the root that a server has for a file: the nearest folder with a marker,
// within the session's folder, or that folder itself. ok is false for a file
// outside of all of them, and where a server that judges beside has no marker.
func (l *lookup) root(s *Spec, path string) (root string, ok bool) {
	top, ok := l.folder(path)
	if !ok {
		return "", false
	}
	dirs := upward(top, path)
	for _, group := range s.Roots {
		for _, dir := range dirs {
			if marked := anyIn(dir, group); marked {
				return dir, true
			}
		}
	}
	return top, !s.Beside
}

// anyIn reports whether a folder has one of the names, some of which are globs, or
// NAME#KEY.
func anyIn(dir string, names []string) bool {
	for _, name := range names {
		if file, key, keyed := strings.Cut(name, "#"); keyed {
			if hasKey(filepath.Join(dir, file), key) {
				return true
			}
			continue
		}
		if !strings.ContainsAny(name, "*?[") {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return true
			}
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if named(name, e.Name()) {
				return true
			}
		}
	}
	return false
}

// hasKey reports whether a file is JSON with a key that is not null.
func hasKey(path, key string) bool {
	data, err := readRegular(path, maxImporter)
	if err != nil {
		return false
	}
	var keys map[string]any
	return json.Unmarshal(data, &keys) == nil && keys[key] != nil
}

// command is how a server is started for a file; nil where its program is not
// found.
func (l *lookup) command(s *Spec, root, path string) []string {
	top, ok := l.folder(path)
	if !ok {
		top = root
	}
	dirs := upward(top, path)
	if s.find != nil {
		return s.find(l, dirs)
	}
	if len(s.Command) == 0 {
		return nil
	}
	program := l.program(s.Command[0], root, dirs)
	if program == "" {
		return nil
	}
	out := append([]string{program}, s.Command[1:]...)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "${root}", root)
	}
	return out
}

// localBins are the folders of a project in which its tools lie.
var localBins = [...]string{"node_modules/.bin", ".venv/bin", "venv/bin", ".venv/Scripts", "venv/Scripts"}

// program is the absolute path of a program: one of the project's, else one in
// PATH. Empty: there is none.
func (l *lookup) program(name, root string, dirs []string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		return executable(name)
	}
	return cmp.Or(local(name, dirs), l.inPath(name))
}

// local is a program of the project, the nearest to the file; empty: there is none.
func local(name string, dirs []string) string {
	for _, dir := range dirs {
		for _, bin := range localBins {
			if found := executable(filepath.Join(dir, filepath.FromSlash(bin), name)); found != "" {
				return found
			}
		}
	}
	return ""
}

// inPath is a program in PATH; empty: there is none.
func (l *lookup) inPath(name string) string {
	for _, dir := range l.path() {
		if found := executable(filepath.Join(dir, name)); found != "" {
			return found
		}
	}
	return ""
}

// executable is the name, with the ending that the system wants, if it is a
// program.
func executable(name string) string {
	endings := []string{""}
	if runtime.GOOS == "windows" {
		endings = []string{".exe", ".cmd", ".bat", ""}
	}
	for _, e := range endings {
		info, err := os.Stat(name + e)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) {
			return name + e
		}
	}
	return ""
}

// nativeTypeScript is TypeScript's own server, which it has from version 7 on. The
// project's version decides, and where the project has none that in PATH. One in
// PATH serves an older project, too, where nothing else does.
func nativeTypeScript(l *lookup, dirs []string) []string {
	for _, dir := range dirs {
		modules := filepath.Join(dir, "node_modules")
		version := major(filepath.Join(modules, "typescript", "package.json"))
		if version == 0 {
			continue
		}
		if program := nativeProgram(modules); version >= firstNative && program != "" {
			return []string{program, "--lsp", "--stdio"}
		}
		if l.program("typescript-language-server", dir, dirs) != "" {
			return nil
		}
		break
	}
	for _, dir := range l.path() {
		found := executable(filepath.Join(dir, "tsc"))
		if found == "" {
			continue
		}
		script, err := filepath.EvalSymlinks(found)
		if err != nil || major(filepath.Join(filepath.Dir(filepath.Dir(script)), "package.json")) < firstNative {
			return nil // it shadows what stands behind it
		}
		return []string{found, "--lsp", "--stdio"}
	}
	return nil
}

// nativeProgram is the program of TypeScript 7 in a node_modules: the native one
// where it lies beside the package, since the script in front of it costs a second
// process.
func nativeProgram(modules string) string {
	system, cpu := runtime.GOOS, runtime.GOARCH
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return cmp.Or(
		executable(filepath.Join(modules, "@typescript", "typescript-"+system+"-"+cpu, "lib", "tsc")),
		executable(filepath.Join(modules, ".bin", "tsc")))
}

// pyright is in use but where the project has only basedpyright of its own.
func pyright(l *lookup, dirs []string) []string {
	const name, other = "pyright-langserver", "basedpyright-langserver"
	found := local(name, dirs)
	if found == "" && local(other, dirs) == "" {
		found = l.inPath(name)
	}
	if found == "" {
		return nil
	}
	return []string{found, "--stdio"}
}

// rustAnalyzer is not what rustup puts into PATH for a component that is not
// installed: that only ever says so.
func rustAnalyzer(l *lookup, dirs []string) []string {
	const name = "rust-analyzer"
	found := cmp.Or(local(name, dirs), l.inPath(name))
	if found == "" {
		return nil
	}
	bin := filepath.Dir(found)
	front, err := os.Stat(found)
	rustup, failed := os.Stat(filepath.Join(bin, "rustup"+filepath.Ext(found)))
	if err != nil || failed != nil || !os.SameFile(front, rustup) {
		return []string{found}
	}
	toolchains := filepath.Join(filepath.Dir(filepath.Dir(bin)), ".rustup", "toolchains")
	entries, err := os.ReadDir(toolchains)
	if err != nil { // they are elsewhere (RUSTUP_HOME)
		return []string{found}
	}
	for _, e := range entries {
		if executable(filepath.Join(toolchains, e.Name(), "bin", name)) != "" {
			return []string{found}
		}
	}
	return nil
}

// firstNative is the first version of TypeScript with a server of its own.
const firstNative = 7

// major is the major version that a package.json gives; 0 where there is none.
func major(packageJSON string) int {
	data, err := os.ReadFile(packageJSON)
	if err != nil {
		return 0
	}
	var p struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &p) != nil {
		return 0
	}
	first, _, _ := strings.Cut(p.Version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
