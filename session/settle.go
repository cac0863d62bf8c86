package session

import (
	"context"
	"errors"
	"sync"
)

// ErrSettled is the cause of the end of a question that a change of the mode or of
// the rules settled while it stood open (security/policy.md, section 1). An answer
// that is there already still counts, as far as the rules of now let it.
var ErrSettled = errors.New("a change of the mode or the rules settled the question")

// bell tells those who wait that something changed. The zero value is ready.
type bell struct {
	mu    sync.Mutex
	rings chan struct{} // closed at the next ring; nil: nobody waits
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rings != nil {
		close(b.rings)
		b.rings = nil
	}
}

// next is closed when the bell rings next.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rings == nil {
		b.rings = make(chan struct{})
	}
	return b.rings
}

// askWhileItStands asks for as long as it is a question. Where a change settles it,
// the editor is told that no answer is wanted any more.
func (t *Turn) askWhileItStands(ctx context.Context, q Question) (Answer, error) {
	asked, withdraw := context.WithCancelCause(ctx)
	settling := &t.session.top().settling
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the question, below
		for {
			rings := settling.next()
			if !q.Stands() {
				withdraw(ErrSettled)
				return
			}
			select {
			case <-rings:
			case <-asked.Done():
				return
			}
		}
	})
	a, err := t.session.ends.Asker.Ask(asked, q)
	withdraw(nil)
	wg.Wait()
	if errors.Is(err, ErrSettled) {
		return Answer{Decision: AllowedOnce, Settled: true}, nil
	}
	return a, err
}
