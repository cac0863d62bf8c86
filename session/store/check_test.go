package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*c")
	path := filepath.Join(dir, "sessions.db")
	if _, err := Check(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("Check made the folder")
	}
	s := openAt(t, path)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Create(t.Context(), Session{ID: "b", ParentID: "a"}))
	if h, err := Check(t.Context(), path); err != nil || h.Sessions != 1 || h.Bytes == 0 || h.Aside != nil {
		t.Errorf("while it is in use: %+v, %v", h, err)
	}
	must(t, s.Close())

	must(t, os.WriteFile(path, []byte("this is no database\n"), 0o600))
	if _, err := Check(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(got, []byte("this is")) {
		t.Errorf("Check touched it: %q, %v", got, err)
	}
	s = openAt(t, path)
	aside := s.Recovered()
	must(t, os.WriteFile(aside+"-wal", nil, 0o600))
	if h, err := Check(t.Context(), path); err != nil || len(h.Aside) != 1 || h.Aside[0] != aside {
		t.Errorf("put aside as %s: %+v, %v", aside, h, err)
	}
}

func TestCheckOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := Check(t.Context(), path); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}
