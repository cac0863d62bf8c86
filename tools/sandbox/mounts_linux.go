package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// arrange makes the file system of this mount namespace what the request says.
func (r *request) arrange() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("parting from the host's mounts: %w", err)
	}
	mounts := r.mounts
	if len(mounts) > 0 && mounts[0] == (bind{"/", "/", true}) {
		mounts = mounts[1:] // what is there is made read-only below
	}
	// What is mounted may be covered by what is mounted before it.
	sources := make([]int, len(mounts))
	for i, m := range mounts {
		sources[i] = -1
		if m.from == "" {
			continue
		}
		if sources[i], err = unix.Open(m.from, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("opening %s: %w", m.from, err)
		}
		defer unix.Close(sources[i])
	}
	for i, m := range mounts {
		if err := m.put(sources[i]); err != nil {
			return fmt.Errorf("mounting on %s: %w", m.to, err)
		}
	}
	if err := setReadOnly("/", true); err != nil {
		return fmt.Errorf("making the system read-only: %w", err)
	}
	for _, m := range mounts {
		if err := setReadOnly(m.to, m.readOnly); err != nil {
			return fmt.Errorf("setting the mount on %s: %w", m.to, err)
		}
	}
	for _, path := range r.readOnlyLate {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("closing %s: %w", path, err)
		}
	}
	if !r.wholeDev {
		// Programs share memory by files there.
		_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	}
	if err := unix.Chdir(dir); err != nil { // through the new mounts
		return fmt.Errorf("going to %s: %w", dir, err)
	}
	return nil
}

// put mounts what the descriptor refers to, or an empty folder.
func (m bind) put(source int) error {
	if m.from == "" {
		return unix.Mount("tmpfs", m.to, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755")
	}
	if err := makeTarget(m.to, source); err != nil {
		return err
	}
	return unix.Mount("/proc/self/fd/"+strconv.Itoa(source), m.to, "", unix.MS_BIND|unix.MS_REC, "")
}

// makeTarget makes what is mounted on, where another mount covers it.
func makeTarget(path string, source int) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// setReadOnly sets whether a mount, and all below it, can be written to. Devices
// are none on what is read-only.
func setReadOnly(path string, on bool) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if on && path != "/" {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !on {
		attr = unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	}
	err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &attr)
	if err != nil && !on { // the host has some of it read-only, for good
		err = unix.MountSetattr(unix.AT_FDCWD, path, 0, &attr)
	}
	return err
}
