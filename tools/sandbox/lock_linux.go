package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// holdPlace says to other sessions, by a lock, that something stands in the place of
// nothing there. Held is false where it has gone meanwhile. Where files cannot be
// locked, as on some network file systems, there is none.
func holdPlace(path string) (lock *os.File, held bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, exists(path)
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_SH) != nil {
		f.Close()
		return nil, exists(path)
	}
	if !same(f, path) {
		f.Close()
		return nil, false
	}
	return f, true
}

// lockAlone reports whether no other session holds it.
func lockAlone(lock *os.File) bool {
	return lock == nil || unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
