package sandbox

import "slices"

// confine are the words of a program that confines a command as planned: the
// program, its arguments and those of the command.
func (a ability) confine(p *plan, further ...string) []string {
	var words []string
	if p.join != nil {
		words, _ = p.join.within()
	}
	return slices.Concat(words, []string{a.program}, a.first, p.arguments(a), further)
}

// arguments are the plan in the words of bubblewrap, which the helper of this
// program knows as well, as far as they stand here.
func (p *plan) arguments(can ability) []string {
	var args []string
	add := func(words ...string) { args = append(args, words...) }
	if can.way != bubblewrap {
		add("--way", can.way.String())
	}
	add("--ro-bind", "/", "/")
	if p.level == Approved {
		add("--dev-bind", "/dev", "/dev")
	} else {
		add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--dev", "/dev", "--proc", "/proc")
	}
	if !p.network && p.join == nil {
		add("--unshare-net")
	}
	if can.root {
		if can.way == bubblewrap {
			for _, path := range kernelFiles {
				add("--ro-bind-try", path, path)
			}
		}
		add("--cap-drop", "ALL")
		for _, c := range keptCapabilities {
			add("--cap-add", c)
		}
	}
	var late []string
	for _, m := range p.sorted() {
		switch {
		case m.form == writable:
			add("--bind", m.path, m.path)
		case m.form == private:
			add("--bind", m.from, m.path)
		case m.form == readOnly:
			add("--ro-bind", m.path, m.path)
		case m.dir:
			add("--tmpfs", m.path)
			late = append(late, "--remount-ro", m.path)
		default:
			add("--ro-bind", "/dev/null", m.path)
		}
	}
	add(late...)
	for _, name := range p.drop {
		add("--unsetenv", name)
	}
	if p.temp != "" {
		add("--setenv", "TMPDIR", p.temp)
	}
	return args
}

// keptCapabilities are what a root without others can still do: work with files
// of all users, and become another one. None of them reaches out of a mount.
var keptCapabilities = []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_NET_BIND_SERVICE"}

// kernelFiles are set by a root alone, who has no capability that is asked for.
var kernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"}
