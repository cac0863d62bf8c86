//go:build unix

package session

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestSkillsNeverBlock: a FIFO is neither a folder nor a skill.
func TestSkillsNeverBlock(t *testing.T) {
	p := newSkillPlace(t)
	dir := filepath.Join(p.project, ".agents", "skills")
	p.skill(dir, "good", "")
	for _, path := range []string{filepath.Join(dir, "fifo", skillFile), filepath.Join(dir, "entry"), filepath.Join(p.home, ".agents", "skills")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := p.open(p.project)
	if got := skillNames(s.findSkills()); !slices.Equal(got, []string{"good"}) || len(s.notices) != 1 {
		t.Errorf("found %v, told %q", got, s.notices)
	}
}
