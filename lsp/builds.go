package lsp

import (
	"context"
	"fmt"
	"go/build"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// maxUnbuilt is how many files are named that a server does not see.
const maxUnbuilt = 3

// unbuilt says, as a clause, in which files a name stands that a server does not see
// although they are of the project, those of another build than the file that it was
// asked in: it would leave the name there as it is in a rename. Not counted are the files
// in which it found something; empty: there are none.
func (v *View) unbuilt(ctx context.Context, s session, at Position, found map[string]bool) string {
	if !s.server.spec.OneBuild {
		return ""
	}
	there, at := v.declaration(ctx, s, at)
	name := there.wordAt(at)
	if name == "" || !there.outlines(ctx, at) {
		return ""
	}
	reading, cancel := context.WithTimeout(ctx, s.server.config.RequestTimeout/4)
	defer cancel()
	port := portOf(s.doc.path)
	var unseen []string
	for _, path := range s.files() {
		if found[path] || !token.IsExported(name) && filepath.Dir(path) != filepath.Dir(there.doc.path) {
			continue
		}
		if reading.Err() != nil {
			return fmt.Sprintf("%s sees the files of one build at a time, and there was no time to look whether %s stands in those of others", s.server.spec.Name, name)
		}
		body, err := beginning(s.server.root, path)
		if err != nil || !strings.Contains(body, name) || wordIndex(body, name) < 0 || builds(port, path, body) {
			continue
		}
		if _, _, err := v.opts.Read(reading, path); err == nil {
			rel, _ := filepath.Rel(s.server.root, path)
			unseen = append(unseen, rel)
		}
	}
	if len(unseen) == 0 {
		return ""
	}
	files := strings.Join(unseen[:min(len(unseen), maxUnbuilt)], ", ")
	if more := len(unseen) - maxUnbuilt; more > 0 {
		files += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s sees the files of one build at a time, that of %s; %s also stands in %s", s.server.spec.Name, portName(port), name, files)
}

// outlines reports whether a name that is declared at a place is one that other files may
// use: the outline of the file has it.
func (s session) outlines(ctx context.Context, at Position) bool {
	outline, err := s.outline(ctx)
	place := s.doc.text.place(at, s.unit)
	return err == nil && slices.ContainsFunc(outline, func(one Symbol) bool { return one.At == place })
}

// portOf is the build that gopls sees a file in: that of this system, or where that leaves
// it out by its name or constraint the first that does not.
func portOf(path string) build.Context {
	port := build.Default
	body, err := beginning(filepath.Dir(path), path)
	if err != nil || builds(port, path, body) {
		return port
	}
	for _, system := range []string{port.GOOS, "windows", "darwin", "linux", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix", "android", "ios", "plan9", "js", "wasip1"} {
		for _, arch := range []string{port.GOARCH, "amd64", "arm64", "386", "arm", "wasm", "riscv64", "ppc64", "ppc64le", "s390x", "loong64", "mips64", "mips64le", "mips", "mipsle"} {
			other := port
			if other.GOOS, other.GOARCH = system, arch; builds(other, path, body) {
				return other
			}
		}
	}
	return port
}

// builds reports whether a build has a file, where any build may have it. What is not
// understood it has.
func builds(port build.Context, path, body string) bool {
	if name := filepath.Base(path); filepath.Ext(name) != ".go" || name[0] == '_' || name[0] == '.' {
		return true
	}
	port.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	port.CgoEnabled = true // gopls says itself what it lacks without cgo
	has, err := port.MatchFile(filepath.Dir(path), filepath.Base(path))
	return has || err != nil
}

// portName is a build as Go names it.
func portName(port build.Context) string { return port.GOOS + "/" + port.GOARCH }
