package process

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// cgroup is a job object, which holds all that descends from a process. Windows
// ends what is in it when its handle is closed, and so when the agent is killed.
// That of a supervisor holds nothing by itself.
type cgroup struct {
	once sync.Once
	job  windows.Handle // 0: none
}

func newCgroup(string) *cgroup { return &cgroup{} }

// sub makes a job object; nil: that is not possible.
func (g *cgroup) sub(string) *cgroup {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return nil
	}
	return &cgroup{job: job}
}

// into returns what is to be called with a child that is born, or with nil where
// there is none, and puts it into the job. What the child has started by then stays
// outside.
func (g *cgroup) into(*syscall.SysProcAttr) (born func(*os.Process)) {
	return func(child *os.Process) {
		if g == nil || child == nil {
			return
		}
		process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(child.Pid))
		if err != nil {
			return
		}
		defer windows.CloseHandle(process)
		// A child that is in no job is killed alone.
		_ = windows.AssignProcessToJobObject(g.job, process)
	}
}

// kill kills all that is in the job, and reports whether anything was.
func (g *cgroup) kill() bool {
	return g != nil && g.job != 0 && g.populated() && windows.TerminateJobObject(g.job, 1) == nil
}

// populated reports whether anything lives in the job.
func (g *cgroup) populated() bool {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		_      [4]int64
		_, _   uint32
		Active uint32
		_      uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.Active > 0
}

// await waits until nothing lives in the job any more. Windows tells that only to
// who also hears of all that happens in it.
func (g *cgroup) await(deadline time.Time) {
	for g != nil && g.job != 0 && g.populated() && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
}

// remove ends what is left in the job and closes it.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		if g.job != 0 {
			_ = windows.CloseHandle(g.job)
		}
	})
}
