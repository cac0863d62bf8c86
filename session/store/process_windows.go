package store

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// startOf returns when a process started, and whether it runs.
func startOf(pid int) (started string, ok bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return "", errors.Is(err, windows.ERROR_ACCESS_DENIED) // it is there, but another user's
	}
	defer windows.CloseHandle(h)
	if event, err := windows.WaitForSingleObject(h, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		return "", false // ended, but still referred to
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", true
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), true
}

// processSpace is the machine: process starts are absolute times.
func processSpace() string { return "" }
