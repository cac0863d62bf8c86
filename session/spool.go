package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/tools"
)

// spoolDir is the folder for output of the session that is too large for the
// model.
func spoolDir(paths config.Paths, id string) string {
	return filepath.Join(paths.Data, "output", id)
}

// removeSpool removes it with all in it.
func removeSpool(paths config.Paths, id string) error {
	if id == "" || id != filepath.Base(id) || id == "." || id == ".." {
		return nil // not an id that was ever given
	}
	return os.RemoveAll(spoolDir(paths, id))
}

// spool makes files in a session's folder, each at most tools.SpoolLimit long.
type spool struct{ dir string }

func (s *spool) Create() (io.WriteCloser, string, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, "", err
	}
	f, err := os.CreateTemp(s.dir, "output-*.txt") // 0600
	if err != nil {
		return nil, "", err
	}
	return &bounded{f: f, left: tools.SpoolLimit}, f.Name(), nil
}

// bounded drops what is written beyond its limit, and what a full disk does not
// take: the command that writes is not to fail for it.
type bounded struct {
	f    *os.File
	left int
	err  error
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.left)
	if keep > 0 && b.err == nil {
		n, err := b.f.Write(p[:keep])
		b.left -= n
		b.err = err
	}
	return len(p), nil
}

func (b *bounded) Close() error { return errors.Join(b.err, b.f.Close()) }
