package session

import (
	"context"
	"errors"
	"sync"
)

// errWithdrawn is the cause of the end of a question that is asked again.
var errWithdrawn = errors.New("the question is asked again")

// floor is where the sub-agents of a session ask its user, one at a time.
//
// One that its parent waits for asks in its parent's turn, and what ends the turn
// ends it. One in the background outlives turns, and so does its question:
//
//   - While a turn runs, it is asked in that turn, which does not end before it is
//     answered: editors lose what stands open behind a turn's answer.
//   - Between turns it is asked at once, on a card that comes and ends between
//     them; where the editor is one that shows nothing then (Ends.TurnsOnly), it
//     waits for the next turn.
//   - A cancel ends the turn and not the sub-agent. It is asked again in the next
//     turn, and so is what was asked between turns and not answered when one began.
//
// The end of the sub-agent, with its session or by task_stop, ends it always.
type floor struct {
	turnsOnly bool
	one       chan struct{} // held while a sub-agent asks

	mu      sync.Mutex
	turn    *Turn           // the running one; nil: none runs
	next    context.Context // ends when the next turn begins
	begins  context.CancelFunc
	open    int           // questions from the background that are not answered
	shown   int           // those of them that stand before the user
	changed chan struct{} // closed and renewed when one of both changes
}

func newFloor(turnsOnly bool) *floor {
	f := &floor{turnsOnly: turnsOnly, one: make(chan struct{}, 1), changed: make(chan struct{})}
	f.next, f.begins = context.WithCancel(context.Background())
	return f
}

// begin says that a turn runs.
func (f *floor) begin(t *Turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn = t
	f.begins()
	f.next, f.begins = context.WithCancel(context.Background())
}

// end returns when the turn may end: when no question stands open, or, where it is
// cancelled, none is shown any more.
func (f *floor) end(t *Turn) {
	for {
		f.mu.Lock()
		cancelled := t.ctx.Err() != nil
		if f.shown == 0 && (f.open == 0 || cancelled) {
			f.turn = nil
			f.mu.Unlock()
			return
		}
		changed := f.changed
		f.mu.Unlock()
		done := t.ctx.Done()
		if cancelled {
			done = nil
		}
		select {
		case <-changed:
		case <-done:
		}
	}
}

// take waits until no other sub-agent asks.
func (f *floor) take(ctx context.Context) (release func(), err error) {
	select {
	case f.one <- struct{}{}:
		return func() { <-f.one }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask has a sub-agent in the background ask, as often as it takes. Put shows the
// question and returns nil, or tools.ErrNoUser, when it is answered;
// errCancelledByUser where the answer is a cancel; and ctx's cause where the
// question is withdrawn. It returns only when the user sees it no more.
func (f *floor) ask(ctx context.Context, put func(ctx context.Context) error) error {
	f.count(&f.open, 1)
	defer f.count(&f.open, -1)
	for {
		next, answered, err := f.askOnce(ctx, put)
		if answered || err != nil {
			return err
		}
		select {
		case <-next.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// askOnce asks in the running turn, or before the next one. Where that brings no
// answer, it is to be asked again when next has ended.
func (f *floor) askOnce(ctx context.Context, put func(ctx context.Context) error) (next context.Context, answered bool, err error) {
	release, err := f.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	turn, next, err := f.enter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer f.count(&f.shown, -1)
	until := next
	if turn != nil {
		until = turn.ctx
	}
	asked, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	defer context.AfterFunc(until, func() { withdraw(errWithdrawn) })()
	switch err := put(asked); {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil && asked.Err() != nil:
		return next, false, nil
	case errors.Is(err, errCancelledByUser):
		if turn != nil {
			turn.cancel(errCancelledByUser)
		}
		return next, false, nil
	default:
		return nil, true, err
	}
}

// enter waits until there is somebody to ask: in the turn, if it is not nil, or
// before the next one.
func (f *floor) enter(ctx context.Context) (turn *Turn, next context.Context, err error) {
	for {
		f.mu.Lock()
		turn, next = f.turn, f.next
		idle := turn == nil && !f.turnsOnly
		if idle || turn != nil && turn.ctx.Err() == nil {
			f.countLocked(&f.shown, 1)
			f.mu.Unlock()
			return turn, next, nil
		}
		f.mu.Unlock()
		select {
		case <-next.Done():
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

func (f *floor) count(n *int, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.countLocked(n, by)
}

func (f *floor) countLocked(n *int, by int) {
	*n += by
	close(f.changed)
	f.changed = make(chan struct{})
}
