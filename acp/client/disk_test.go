package client

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

func TestDiskReads(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line, limit *uint32
		want        string
	}{
		{nil, nil, "one\ntwo\nthree"},
		{new(uint32(1)), nil, "one\ntwo\nthree"},
		{new(uint32(2)), nil, "two\nthree"},
		{new(uint32(2)), new(uint32(1)), "two\n"},
		{nil, new(uint32(0)), ""},
		{new(uint32(3)), new(uint32(9)), "three"},
		{new(uint32(4)), nil, ""},
		{new(uint32(1 << 31)), new(uint32(1)), ""},
	} {
		resp, err := NewDisk(dir).ReadTextFile(t.Context(), acp.ReadTextFileRequest{Path: path, Line: test.line, Limit: test.limit})
		if err != nil || resp.Content != test.want {
			t.Errorf("got %q, %v, want %q", resp.Content, err, test.want)
		}
	}
}

func TestDiskWritesAndStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	disk := NewDisk(dir)
	inside := filepath.Join(dir, "new", "b.txt")
	if _, err := disk.WriteTextFile(t.Context(), acp.WriteTextFileRequest{Path: inside, Content: "hi\n"}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(inside); err != nil || string(b) != "hi\n" {
		t.Errorf("got %q, %v", b, err)
	}
	_, err := disk.ReadTextFile(t.Context(), acp.ReadTextFileRequest{Path: filepath.Join(dir, "none")})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeNotFound {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	for _, path := range []string{filepath.Join(outside, "x"), filepath.Join(dir, "..", "x"), "x", filepath.Join(dir, "link", "x")} {
		if _, err := disk.WriteTextFile(t.Context(), acp.WriteTextFileRequest{Path: path}); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside: %v, %v", left, err)
	}
}
