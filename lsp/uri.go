package lsp

import (
	"errors"
	"fmt"
	"net/url"
	slashpath "path"
	"path/filepath"
	"runtime"
	"strings"
)

// errNotFile says that a URI names no file.
var errNotFile = errors.New("is not a file's URI")

// fileURI is the URI of an absolute path.
func fileURI(path string) string { return fileURIOn(runtime.GOOS, path) }

func fileURIOn(goos, path string) string {
	if goos == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
		if rest, unc := strings.CutPrefix(path, "//"); unc {
			host, share, _ := strings.Cut(rest, "/")
			return (&url.URL{Scheme: "file", Host: host, Path: "/" + share}).String()
		}
		if len(path) > 1 && path[1] == ':' { // as servers and editors spell it
			return "file:///" + strings.ToLower(path[:1]) + "%3A" + (&url.URL{Path: path[2:]}).EscapedPath()
		}
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// filePath is the absolute, cleaned path that a URI of a file names. The error of
// any other URI wraps errNotFile.
func filePath(uri string) (string, error) { return filePathOn(runtime.GOOS, uri) }

func filePathOn(goos, uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" {
		return "", fmt.Errorf("%q %w", uri, errNotFile)
	}
	path := u.Path
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q %w", uri, errNotFile)
	}
	if goos != "windows" {
		if u.Host != "" && u.Host != "localhost" {
			return "", fmt.Errorf("%q %w of this machine", uri, errNotFile)
		}
		return filepath.Clean(path), nil
	}
	path = slashpath.Clean(path)
	if u.Host != "" && u.Host != "localhost" {
		return `\\` + u.Host + strings.ReplaceAll(path, "/", `\`), nil
	}
	path = strings.TrimPrefix(path, "/")
	if len(path) < 2 || path[1] != ':' {
		return "", fmt.Errorf("%q %w", uri, errNotFile)
	}
	return strings.ToUpper(path[:1]) + strings.ReplaceAll(path[1:], "/", `\`), nil
}
