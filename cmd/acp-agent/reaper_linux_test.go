package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// statusLeft is what reap ends with where the program left something behind.
const statusLeft = 9

// reap is the program as a child, to which signals are passed on. All that the
// program leaves behind, daemons too, becomes a child of this process, which waits
// for its end. What does not end is named on stderr and killed.
func reap() {
	runtime.LockOSThread() // the program is to end with this thread
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "subreaper:", err)
		os.Exit(statusLeft)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGQUIT)
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(statusLeft)
	}
	program := exec.Command(filepath.Join(filepath.Dir(exe), "acp-agent"), os.Args[1:]...)
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := program.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(statusLeft)
	}
	go func() { // ends with the process
		for s := range signals {
			_ = program.Process.Signal(s)
		}
	}()
	_ = program.Wait() // its error is the status
	status := program.ProcessState.ExitCode()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var err error
		for err == nil || err == unix.EINTR {
			_, err = unix.Wait4(-1, nil, 0, nil)
		}
	}()
	select {
	case <-gone:
	case <-time.After(hangs):
		status = statusLeft
		for _, pid := range childrenOf(os.Getpid()) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			fmt.Fprintf(os.Stderr, "left behind: %d %q\n", pid, line)
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	os.Exit(status)
}

// childrenOf lists the children of a process.
func childrenOf(parent int) (pids []int) {
	list, _ := os.ReadDir("/proc")
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}
