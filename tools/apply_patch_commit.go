package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// undoTime is how long editors may take to put everything back, after a cancel too.
// What they have not put back by then is put back on the disk.
const undoTime = 30 * time.Second

// patchCommit is a patch that is being made: all of it or nothing.
type patchCommit struct {
	ws   *Workspace
	disk *workspace.Disk // for what editors do not do: removing, moving, modes
	undo []func(ctx context.Context) error
	late bool // the editor had its time for putting back
}

// commit makes the patch. Removals come last, since they are what is put back
// the least well. Where a step fails, those before it are undone; the error says
// so, or what could not be put back.
func (p *patchPlan) commit(ctx context.Context) error {
	c := &patchCommit{ws: p.ws, disk: workspace.NewDisk(p.ws.Roots)}
	steps := slices.Clone(p.steps)
	slices.SortStableFunc(steps, func(a, b *patchStep) int { return int(a.does) - int(b.does) })
	for _, s := range steps {
		if err := c.check(ctx, p, s); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	for _, do := range []func(context.Context, *patchStep) error{p.park(c), c.step} {
		for _, s := range steps {
			err := context.Cause(ctx)
			if err == nil {
				err = do(ctx, s)
			}
			if err != nil {
				return c.back(ctx, err)
			}
		}
	}
	return nil
}

// park makes the place free of a file that leaves it and for which another comes:
// it gets a name beside it, which no other file has, until its own step. The
// other is not written by an editor, which may still show the one that was there;
// check found that nothing of that is unsaved.
func (p *patchPlan) park(c *patchCommit) func(context.Context, *patchStep) error {
	return func(ctx context.Context, s *patchStep) error {
		next := p.known[s.lies.Target]
		if next == nil || p.gone[s.lies.Target] != s {
			return nil
		}
		from, to := s.lies, s.lies
		to.Target = filepath.Join(filepath.Dir(from.Target), workspace.TemporaryName())
		if err := c.disk.Move(ctx, from, to, s.raw); err != nil {
			return s.changed(err)
		}
		s.lies = to
		c.ws.Seen.Forget(from.Target)
		c.undo = append(c.undo, func(ctx context.Context) error {
			err := c.disk.Move(ctx, to, from, s.raw)
			if err == nil {
				c.ws.Seen.Saw(from.Target, s.raw)
			}
			return err
		})
		next.ws = c.onDisk()
		return nil
	}
}

// back undoes what was done, the last first.
func (c *patchCommit) back(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var left []string
	for _, undo := range slices.Backward(c.undo) {
		err := undo(ctx)
		if ctx.Err() != nil && !c.late {
			c.late, ctx = true, context.WithoutCancel(ctx)
			if err != nil {
				err = undo(ctx)
			}
		}
		if err != nil {
			left = append(left, err.Error())
		}
	}
	switch {
	case len(left) > 0:
		return &LeftError{failed, left}
	case len(c.undo) > 0:
		return fmt.Errorf("the change was not made: %w. What was changed before was put back", failed)
	}
	return fmt.Errorf("nothing was changed: %w", failed)
}

// LeftError is a change that was not made as a whole, and of which a part stays.
type LeftError struct {
	Err  error
	Left []string // what could not be put back, a clause each
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("the change was not made: %v. %s", e.Err, e.Remains())
}

func (e *LeftError) Unwrap() error { return e.Err }

// Remains says what stays.
func (e *LeftError) Remains() string {
	return "Of what was changed before, this could not be put back: " + strings.Join(e.Left, "; ")
}

// check reports as ErrChanged that a file is not as it was when the step was
// worked out.
func (c *patchCommit) check(ctx context.Context, p *patchPlan, s *patchStep) error {
	from, want := s.target, s.raw
	switch s.does {
	case patchMoves:
		from = s.source
	case patchEdits:
		if s.before == nil {
			return nil // the mode alone
		}
		want = s.before.Bytes()
	case patchCreates, patchCopies:
		return p.room(ctx, s)
	}
	now, err := from.read(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = workspace.ErrChanged
	case err == nil && !bytes.Equal(now, want):
		err = workspace.ErrChanged
	case err == nil && s.does == patchMoves:
		err = p.room(ctx, s)
	}
	if errors.Is(err, workspace.ErrChanged) {
		return fmt.Errorf("%s: %w; read it again, then make the change", from.name, workspace.ErrChanged)
	}
	if err != nil || s.does == patchEdits {
		return err
	}
	if disk, err := c.disk.ReadFile(ctx, from.Path); err != nil || !bytes.Equal(disk, want) {
		return fmt.Errorf("%s has changes in the editor that are not saved: have it saved before it is moved or removed", from.name)
	}
	return nil
}

// step makes one step.
func (c *patchCommit) step(ctx context.Context, s *patchStep) (err error) {
	switch s.does {
	case patchDeletes:
		return s.changed(c.remove(ctx, s))
	case patchMoves:
		err = s.source.changed(c.move(ctx, s))
	}
	if err == nil && s.edits() {
		err = c.write(ctx, s)
	}
	if err == nil && (s.exec != execKept || s.does == patchCopies) {
		err = c.setMode(ctx, s)
	}
	return err
}

// write gives a file its new content, through the editor where it has files.
func (c *patchCommit) write(ctx context.Context, s *patchStep) error {
	folder := presentFolder(s.Target)
	sent := s.after.Bytes()
	c.undo = append(c.undo, func(ctx context.Context) error {
		var before []byte
		if s.before != nil {
			before = s.before.Bytes()
		}
		if c.late {
			s.ws = c.onDisk()
		}
		now, err := s.bytesNow(ctx)
		switch {
		case err != nil:
		case (now == nil) == (before == nil) && bytes.Equal(now, before): // it did not come to it
		case !bytes.Equal(now, sent) && !bytes.Equal(now, s.now):
			err = fmt.Errorf("%s, which holds something else by now", s.name)
		case before == nil:
			err = c.disk.Remove(ctx, s.Path, now)
			c.ws.Seen.Forget(s.Target)
		default:
			err = c.putBack(ctx, s, now, before)
			c.ws.Seen.Saw(s.Target, before)
		}
		if before == nil {
			c.disk.RemoveFolders(s.Path, folder)
		}
		return err
	})
	note, err := s.commit(ctx)
	if err == nil && note != "" {
		s.notes = append(s.notes, strings.TrimPrefix(note, "\n"))
		if s.before != nil {
			s.lines = diffedLines(s.before.LF(), s.after.LF())
		}
	}
	return err
}

// putBack gives a file the content that it had before, through the editor. Where that
// is gone, does not answer or says no, what is on the disk is put back there if it is
// what was written: that a half of the change stays is worse than to go past it.
func (c *patchCommit) putBack(ctx context.Context, s *patchStep, now, before []byte) error {
	_, err := s.ws.Files.WriteFile(ctx, s.Path, now, before)
	if err == nil || errors.Is(err, workspace.ErrChanged) {
		return err
	}
	if _, failed := c.disk.WriteFile(context.WithoutCancel(ctx), s.Path, now, before); failed != nil {
		return err
	}
	return nil
}

// onDisk is the workspace as the disk has it.
func (c *patchCommit) onDisk() *Workspace {
	ws := *c.ws
	ws.Files = c.disk
	return &ws
}

// bytesNow is what the file holds; nil where there is none.
func (t target) bytesNow(ctx context.Context) ([]byte, error) {
	now, err := t.read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return now, err
}

// presentFolder is the deepest folder above a resolved path that exists.
func presentFolder(path string) string {
	for {
		dir := filepath.Dir(path)
		if _, err := os.Lstat(dir); err == nil || dir == path {
			return dir
		}
		path = dir
	}
}

func (c *patchCommit) move(ctx context.Context, s *patchStep) error {
	folder := presentFolder(s.Target)
	if err := c.disk.Move(ctx, s.lies, s.Path, s.raw); err != nil {
		return err
	}
	seen := func(from, to workspace.Path) {
		c.ws.Seen.Forget(from.Target)
		c.ws.Seen.Saw(to.Target, s.raw)
	}
	seen(s.lies, s.Path)
	c.undo = append(c.undo, func(ctx context.Context) error {
		err := c.disk.Move(ctx, s.Path, s.lies, s.raw)
		if err == nil {
			seen(s.Path, s.lies)
			c.disk.RemoveFolders(s.Path, folder)
		}
		return err
	})
	return nil
}

func (c *patchCommit) remove(ctx context.Context, s *patchStep) error {
	mode, err := c.disk.Mode(s.lies)
	if err != nil {
		return err
	}
	if err := c.disk.Remove(ctx, s.lies, s.raw); err != nil {
		return err
	}
	c.ws.Seen.Forget(s.lies.Target)
	c.undo = append(c.undo, func(ctx context.Context) error {
		if _, err := c.disk.WriteFile(ctx, s.lies, nil, s.raw); err != nil {
			return err
		}
		c.ws.Seen.Saw(s.lies.Target, s.raw)
		return c.disk.SetMode(ctx, s.lies, mode)
	})
	return nil
}

// setMode gives a copy the mode of its source, and sets or clears the executable
// bits as the patch says: for whom may read, as git does.
func (c *patchCommit) setMode(ctx context.Context, s *patchStep) error {
	was, err := c.disk.Mode(s.Path)
	if err != nil {
		return err
	}
	mode := was
	if s.does == patchCopies {
		mode = s.mode
	}
	switch s.exec {
	case execSet:
		mode |= mode & 0o444 >> 2
	case execCleared:
		mode &^= 0o111
	}
	if mode.Perm() == was.Perm() {
		return nil
	}
	if err := c.disk.SetMode(ctx, s.Path, mode); err != nil {
		return err
	}
	if s.does == patchEdits || s.does == patchMoves { // else it goes as a whole
		c.undo = append(c.undo, func(ctx context.Context) error { return c.disk.SetMode(ctx, s.Path, was) })
	}
	return nil
}
