package process

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup is a control group of the kernel's (cgroups(7), version 2) that children
// are born into. It holds all that descends from them, whatever session,
// environment or user they take on, and can be killed as a whole. It is there
// where the agent may make groups below its own, as under systemd's user manager;
// nil is none. It limits nothing.
type cgroup struct{ dir string }

// newCgroup makes a group below the agent's own; nil: that is not possible.
func newCgroup(name string) *cgroup {
	own := ownCgroup()
	if own == "" {
		return nil
	}
	return (&cgroup{own}).sub(name)
}

// sub makes a group below g.
func (g *cgroup) sub(name string) *cgroup {
	if g == nil {
		return nil
	}
	below := &cgroup{filepath.Join(g.dir, name)}
	if os.Mkdir(below.dir, 0o755) != nil {
		return nil
	}
	if unix.Access(below.file("cgroup.kill"), unix.W_OK) != nil { // Linux before 5.14
		below.remove()
		return nil
	}
	return below
}

// ownCgroup is the folder of the group that the agent is in; empty: not known.
func ownCgroup() string {
	path := ""
	eachLine("/proc/self/cgroup", func(line string) {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			path = p
		}
	})
	if path == "" {
		return ""
	}
	dir := ""
	eachLine("/proc/self/mountinfo", func(line string) { // proc_pid_mountinfo(5)
		mount, system, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if len(fields) < 5 || !strings.HasPrefix(system, "cgroup2 ") {
			return
		}
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/")); ok && !strings.Contains(rest, "..") {
			dir = filepath.Join(fields[4], rest)
		}
	})
	return dir
}

func eachLine(path string, f func(line string)) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f(lines.Text())
	}
}

func (g *cgroup) file(name string) string { return filepath.Join(g.dir, name) }

// into has a child born in the group. The function is to be called then, with nil
// where there is none.
func (g *cgroup) into(attr *syscall.SysProcAttr) (born func(*os.Process)) {
	if g == nil {
		return func(*os.Process) {}
	}
	dir, err := os.Open(g.dir)
	if err != nil {
		return func(*os.Process) {}
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	return func(*os.Process) { dir.Close() }
}

// kill kills all that is in the group and in those below, and reports whether it
// could.
func (g *cgroup) kill() bool {
	return g != nil && os.WriteFile(g.file("cgroup.kill"), []byte("1"), 0) == nil
}

// populated reports whether anything lives in the group or below.
func (g *cgroup) populated() bool {
	events, _ := os.ReadFile(g.file("cgroup.events"))
	return strings.Contains(string(events), "populated 1")
}

// await waits until nothing lives in the group any more.
func (g *cgroup) await(deadline time.Time) {
	if g == nil {
		return
	}
	fd, err := unix.Open(g.file("cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buf := make([]byte, 256)
	for {
		n, err := unix.Pread(fd, buf, 0)
		if err != nil || !strings.Contains(string(buf[:n]), "populated 1") {
			return
		}
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		// The file has an event when it changes, and it has one already where it
		// did since it was read.
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, int(left.Milliseconds())+1)
	}
}

// remove removes the group with those below, where nothing lives in them.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	below, _ := os.ReadDir(g.dir)
	for _, e := range below {
		if e.IsDir() {
			(&cgroup{g.file(e.Name())}).remove()
		}
	}
	_ = syscall.Rmdir(g.dir) // one that is in use stays
}

// path is the group's folder; empty: there is none.
func (g *cgroup) path() string {
	if g == nil {
		return ""
	}
	return g.dir
}
