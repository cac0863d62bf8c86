package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enter is the helper: it confines this process as the arguments say and becomes
// the command in them. It returns only where that fails, or with the command's
// status, an *Exited, where the command needed a process of its own.
func Enter(args []string) error {
	r, err := parseRequest(args)
	if err != nil {
		return fmt.Errorf("the sandbox's helper: %w", err)
	}
	runtime.LockOSThread() // all that follows is this thread's, and the command's
	if r.way == namespaces && !r.inside {
		if !r.dropsCaps {
			return r.enterUser(args)
		}
		if err := unix.Unshare(r.flags()); err != nil {
			return fmt.Errorf("making namespaces: %w", err)
		}
	}
	return r.become()
}

func (r *request) flags() int {
	flags := unix.CLONE_NEWNS
	if r.netOff {
		flags |= unix.CLONE_NEWNET
	}
	if r.apart {
		flags |= unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	}
	return flags
}

// enterUser runs this program anew in a user namespace, in which it may make the
// others; only a process of one thread could enter one.
func (r *request) enterUser(args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	first := os.Args[1 : len(os.Args)-len(args)]
	// It gets this process's mark with the environment, and ends with this thread.
	child, err := os.StartProcess(program, append(append(append([]string{program}, first...), "--inside"), args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{
			Cloneflags:  uintptr(unix.CLONE_NEWUSER | r.flags()),
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
			Pdeathsig:   syscall.SIGKILL,
		},
	})
	if err != nil {
		return fmt.Errorf("making a user namespace: %w", err)
	}
	state, err := child.Wait()
	if err != nil {
		return err
	}
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return &Exited{128 + int(status.Signal())}
	}
	return &Exited{status.ExitStatus()}
}

// become confines this thread and becomes the command.
func (r *request) become() error {
	if r.way == namespaces {
		if err := r.arrange(); err != nil {
			return err
		}
		if r.netOff {
			if err := loopbackUp(); err != nil {
				return fmt.Errorf("setting up the loopback: %w", err)
			}
		}
	}
	rules, err := r.landlock()
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := r.dropCapabilities(); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := restrictSelf(rules); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if r.way == files && r.netOff {
		if err := denySockets(); err != nil {
			return fmt.Errorf("keeping it from the network: %w", err)
		}
	}
	if r.session {
		_, _ = unix.Setsid() // fails for one that leads a session already
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	err = unix.Exec(r.command[0], r.command, r.environ(os.Environ()))
	return fmt.Errorf("running %s: %w", r.command[0], err)
}

// dropCapabilities leaves those that a root keeps, and nobody else any.
func (r *request) dropCapabilities() error {
	keep := map[uintptr]bool{}
	for _, name := range r.capabilities {
		c, ok := capabilityNumbers[name]
		if !ok {
			return fmt.Errorf("%s is not known", name)
		}
		keep[c] = true
	}
	if r.way == files && !r.dropsCaps {
		return nil // there are none
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep[c] {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for c := range keep {
		data[c/32].Permitted |= 1 << (c % 32)
		data[c/32].Effective |= 1 << (c % 32)
	}
	return unix.Capset(&header, &data[0])
}

var capabilityNumbers = map[string]uintptr{
	"CAP_CHOWN": unix.CAP_CHOWN, "CAP_DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "CAP_FOWNER": unix.CAP_FOWNER, "CAP_FSETID": unix.CAP_FSETID,
	"CAP_KILL": unix.CAP_KILL, "CAP_SETGID": unix.CAP_SETGID, "CAP_SETUID": unix.CAP_SETUID, "CAP_NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE,
}

// loopbackUp has this host reach itself, in a network namespace that is new.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return err
	}
	return nil
}
