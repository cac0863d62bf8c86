package store

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockFile takes the lock that belongs to the file at path, which it makes, and
// returns what gives it back. It waits at most for the given time. The system
// drops the lock of a process that ends.
func lockFile(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		locked, err := tryLock(f)
		if locked {
			return func() { _ = f.Close() }, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = fmt.Errorf("another acp-agent has been opening it for %v: %w", wait, ErrBusy)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
