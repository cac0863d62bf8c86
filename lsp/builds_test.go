package lsp

import (
	"go/build"
	"os"
	"path/filepath"
	"testing"
)

// TestPort: a file is seen in the build of this system, or where that leaves it out in one
// that has it.
func TestPort(t *testing.T) {
	dir := t.TempDir()
	here := build.Default.GOOS + "/" + build.Default.GOARCH
	for _, tt := range []struct{ name, body, want string }{
		{"a.go", "package p\n", here},
		{"a_plan9.go", "package p\n", "plan9/" + build.Default.GOARCH},
		{"a_js_wasm.go", "package p\n", "js/wasm"},
		{"a_test.go", "//go:build windows && 386\n\npackage p\n", "windows/386"},
		{"ignored.go", "//go:build ignore\n\npackage p\n", here},
		{"broken.go", "//go:build (\n\npackag", here},
		{"empty.go", "", here},
		{"_left.go", "//go:build windows\n\npackage p\n", here},
		{"c.go", "package p\n\nimport \"C\"\n", here},
		{"go.mod", "module m\n", here},
		{"missing.go", "", here},
	} {
		path := filepath.Join(dir, tt.name)
		if tt.name != "missing.go" {
			if err := os.WriteFile(path, []byte(tt.body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := portName(portOf(path)); got != tt.want {
			t.Errorf("%s is seen in %s, want %s", tt.name, got, tt.want)
		}
	}
}
