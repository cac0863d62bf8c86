package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackWord makes the test program an attacker from within.
const attackWord = "sandbox-attack"

// attacks need more than a shell. Each returns nil where it got through.
var attacks = map[string]func(args []string) error{
	"dial": func(args []string) error {
		c, err := net.DialTimeout(args[0], args[1], 2*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.Write([]byte("out")); err != nil {
			return err
		}
		_, err = c.Read(make([]byte, 8)) // the listener answers
		return err
	},
	"park": func([]string) error {
		fmt.Println("parked")
		select {}
	},
	"serve": func(args []string) error {
		l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
		if err != nil {
			return err
		}
		fmt.Println("listening")
		for { // until it is ended
			c, err := l.Accept()
			if err != nil {
				return err
			}
			_, _ = c.Write([]byte("in"))
			c.Close()
		}
	},
	"dns": func([]string) error {
		r := net.Resolver{PreferGo: true}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_, err := r.LookupHost(ctx, "example.com")
		return err
	},
	"descriptors": func([]string) error {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		for _, e := range entries {
			n, _ := strconv.Atoi(e.Name())
			to, err := os.Readlink("/proc/self/fd/" + e.Name())
			if n > 2 && err == nil && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "/sys/fs/cgroup") {
				fmt.Println(n, to)
				return nil
			}
		}
		return errors.New("there is none")
	},
	"ptrace": func(args []string) error {
		pid, _ := strconv.Atoi(args[0])
		return unix.PtraceSeize(pid)
	},
	"memory": func(args []string) error {
		f, err := os.OpenFile("/proc/"+args[0]+"/mem", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	},
	"environ": func(args []string) error {
		data, err := os.ReadFile("/proc/" + args[0] + "/environ")
		if err == nil && !strings.Contains(string(data), "SANDBOX_TEST_MARK") {
			return errors.New("another process has the number")
		}
		return err
	},
	"signal": func(args []string) error {
		pid, _ := strconv.Atoi(args[0])
		if _, err := os.Stat("/proc/" + args[0]); err != nil {
			return err
		}
		return unix.Kill(pid, 0)
	},
	"tiocsti": func([]string) error {
		for _, name := range []string{"/dev/tty", "/dev/pts/0", "/dev/pts/1", "/dev/console", "/proc/self/fd/0"} {
			f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				continue
			}
			c := byte('x')
			err = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSTI, int(c))
			f.Close()
			if err == nil {
				return nil
			}
		}
		return errors.New("no terminal takes it")
	},
	"pages": func(args []string) error {
		f, err := os.OpenFile(args[0], os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		if err := unix.Mprotect(data, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return err
		}
		data[0] = 'X'
		return nil
	},
	"nameless": func(args []string) error {
		fd, err := unix.Open(args[0], unix.O_TMPFILE|unix.O_RDWR, 0o755)
		if err != nil {
			return err
		}
		return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, args[1], unix.AT_SYMLINK_FOLLOW)
	},
	"memfd": func(args []string) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, []byte("#!/bin/sh\necho x > "+args[0]+"\n")); err != nil {
			return err
		}
		if out, err := exec.Command("/bin/sh", "/proc/"+strconv.Itoa(os.Getpid())+"/fd/"+strconv.Itoa(fd)).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		_, err = os.Stat(args[0])
		return err
	},
	// Rings open files and connect sockets on behalf of a process; theirs are its
	// rights.
	"ring": func(args []string) error {
		var params [120]byte
		fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			return errno
		}
		return openByRing(int(fd), params[:], args[0])
	},
	"keys": func([]string) error {
		id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "acp-agent-sandbox-test", 0)
		if err != nil {
			return err
		}
		_, err = unix.KeyctlBuffer(unix.KEYCTL_READ, id, make([]byte, 64), 64)
		return err
	},
	"hostname": func([]string) error { // of its own it may be another
		if err := unix.Sethostname([]byte("evil")); err != nil {
			return err
		}
		return nil
	},
	"netlink": func([]string) error {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
		if err != nil {
			return err
		}
		if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}); err != nil {
			return err
		}
		return unix.Sendto(fd, []byte("add@/x\x00"), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1})
	},
	"umount": func(args []string) error { return unix.Unmount(args[0], unix.MNT_DETACH) },
	"bind": func(args []string) error {
		return unix.Mount(args[0], args[1], "", unix.MS_BIND, "")
	},
	"rewritable": func(args []string) error {
		return unix.Mount("", args[0], "", unix.MS_BIND|unix.MS_REMOUNT, "")
	},
	"setattr": func(args []string) error {
		return unix.MountSetattr(unix.AT_FDCWD, args[0], unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	},
	"handle": func(args []string) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, args[0], 0)
		if err != nil {
			return err
		}
		at, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(at, h, unix.O_RDWR)
		return err
	},
	"setns": func(args []string) error {
		f, err := os.Open("/proc/" + args[0] + "/ns/mnt")
		if err != nil {
			return err
		}
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
		return unix.Setns(int(f.Fd()), unix.CLONE_NEWNS)
	},
	// A clone of a tree of mounts must not show what is mounted over.
	"tree": func(args []string) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, args[0], unix.OPEN_TREE_CLONE)
		if err != nil {
			return err
		}
		if err := unix.MoveMount(fd, "", unix.AT_FDCWD, args[1], unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(args[1], ".env"))
		if err == nil && len(data) == 0 {
			err = errors.New("it is masked there too")
		}
		return err
	},
	"powers": func(args []string) error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return err
		}
		pid, _ := strconv.Atoi(args[0])
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
		_, perf := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		_, _, clock := unix.Syscall(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&now)), 0)
		for name, err := range map[string]error{"clock": clock, "module": unix.InitModule(nil, ""), "perf": perf, "chroot": unix.Chroot("/"), "handle": unix.Mount("none", "/sys", "sysfs", 0, ""), "swap": swapOff()} {
			if err == nil || err == syscall.Errno(0) {
				fmt.Println(name)
				return nil
			}
		}
		return errors.New("none of them")
	},
	"linkdown": func([]string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		ifr, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		ifr.SetUint16(0)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
	},
	"rawsocket": func([]string) error {
		_, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		return err
	},
	"setnsnet":  func(args []string) error { return enterNetwork("/proc/" + args[0] + "/ns/net") },
	"setnsfile": func(args []string) error { return enterNetwork(args[0]) },
	"sysctl": func([]string) error {
		f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	},
	"device": func([]string) error {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return err
		}
		name := filepath.Join(dir, "mem")
		if err := unix.Mknod(name, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))); err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return f.Close()
	},
}

// swapOff ends the use of what is no swap file.
func swapOff() error {
	name, err := unix.BytePtrFromString("/nothing")
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SWAPOFF, uintptr(unsafe.Pointer(name)), 0, 0)
	return errno
}

// enterNetwork enters a network namespace.
func enterNetwork(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
}

// attempt is one try to get out: bash text. A in it is the attacker's program, R
// the project, O the outside, H the home, D the agent's own data, P the agent's
// process.
type attempt struct {
	name, text string
	partial    bool // Landlock alone does not prevent it
	reads      bool // it may be another thing for what only reads
}

var attempts = []attempt{
	{name: "outside", reads: true, text: `echo x > $O/new; echo x >> $O/theirs.txt; rm -f $O/theirs.txt; mkdir $O/d; mv $O/theirs.txt $O/t; chmod 777 $O/theirs.txt`, partial: true},
	{name: "outside, files", reads: true, text: `echo x > $O/new; echo x >> $O/theirs.txt; rm -f $O/theirs.txt; mkdir $O/d; mv $O/theirs.txt $O/t; ln $O/theirs.txt h; echo x >> h`},
	{name: "dot dot", text: `cd sub/repo && echo x > ../../../home/outside/new`},
	{name: "symlink", text: `ln -s $O link; echo x > link/new; echo x >> link/theirs.txt; ln -s $O/theirs.txt file; echo x >> file`},
	{name: "hard link", text: `ln $O/theirs.txt mine; echo x >> mine`},
	{name: "rename in", text: `mv $O/theirs.txt mine; echo x >> mine`},
	{name: "own root", text: `echo x > /proc/self/root$O/new; echo x > /proc/thread-self/root$O/new; echo x > /proc/self/cwd/../home/outside/new`},
	{name: "root of others", text: `for p in /proc/[0-9]*; do echo x > $p/root$O/new; echo x > $p/cwd/../home/outside/new; cat $p/root$R/.env; done`, partial: true},
	{name: "home", text: `echo x > $H/.bashrc; echo x > $H/.profile; mkdir -p $H/.config/autostart; echo x >> $H/.ssh/authorized_keys`},
	{name: "own data", reads: true, text: `echo x > $D/config.json; rm -rf $D; mv $D $D.old; rm -f $D/credentials.json; echo '{}' > $D/trust.json`},
	{name: "own data read", text: `cat $D/credentials.json; grep -r . $D`, partial: true},
	{name: "git config", reads: true, text: `echo '[core]' >> .git/config; rm .git/config; mv .git/config .git/c; echo x > .git/x && mv .git/x .git/config; chmod 777 .git/config`, partial: true},
	{name: "git hooks", reads: true, text: `mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; echo x > .git/config.worktree; echo $R/sub > .git/commondir`, partial: true},
	{name: "git moved", text: `mv .git .git2 && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; mv sub sub2 && mkdir -p sub/repo/.git/hooks && echo x > sub/repo/.git/hooks/h; mv sub/repo sub/other && mkdir -p sub/repo/.git; rm -rf .git`, partial: true},
	{name: "nested git", text: `echo x > sub/repo/.git/hooks/h; echo x >> sub/repo/.git/config; (cd sub/repo/.git && echo x > hooks/h); ln -s sub/repo/.git/hooks hk; echo x > hk/h`, partial: true},
	{name: "exchange", text: `mkdir -p fake/hooks; echo x > fake/hooks/h; mv -T --exchange fake .git; mv -fT fake sub/repo/.git`, partial: true},
	{name: "absent", reads: true, text: `mkdir -p .acp-agent && echo '{}' > .acp-agent/config.json; echo '{}' > .mcp.json; rmdir .mcp.json && echo '{}' > .mcp.json; mkdir -p .vscode && echo '{}' > .vscode/settings.json; mkdir -p .husky && echo x > .husky/pre-commit; mkdir -p .github/workflows && echo x > .github/workflows/x.yml; mkdir x && mv x .vscode; ln -sfn sub .acp-agent; rm -rf .acp-agent; mv .vscode .v`, partial: true},
	{name: "secrets", text: `cat .env sub/.env $H/.ssh/id_rsa; cp .env copy; cat copy; dd if=.env; grep -r SECRET . $H`, partial: true},
	{name: "secrets by other names", reads: true, text: `ln .env e; cat e; ln -s .env s; cat s; mv .env f; cat f; mv sub sub2; cat sub2/.env; cat /proc/self/root$R/.env /proc/self/cwd/.env; exec 9<.env; cat /proc/self/fd/9 <&9; cat < .env; tar cf - . | grep -a SECRET`, partial: true},
	{name: "secrets umounted", text: `umount .env; umount -l .env; cat .env; unshare -Urm sh -c 'umount -l .env; cat .env'; unshare -Urm sh -c 'mkdir m; mount --bind . m; cat m/.env; mount --rbind . m; cat m/.env'`, partial: true},
	{name: "protected umounted", text: `umount -l .git; echo x > .git/hooks/h; unshare -Urm sh -c 'umount -l .git; mkdir -p .git/hooks; echo x > .git/hooks/h; mount -o remount,rw,bind .git; echo x > .git/hooks/h; mkdir m; mount --bind . m && echo x > m/.git/hooks/h'`, partial: true},
	{name: "umount", text: `$A umount $R/.git; $A umount $R/.env; $A umount $R; $A umount /proc; $A umount /tmp`},
	{name: "bind over", text: `mkdir -p m; $A bind $O $R/m; $A bind $R/m $R/.git; $A bind / $R/m`},
	{name: "remount", text: `$A rewritable /; $A rewritable $R/.git; $A setattr /; $A setattr $R/.git`},
	{name: "by handle", text: `$A handle $O/theirs.txt`},
	{name: "namespace of others", text: `$A setns $P; $A setns 1`, partial: true},
	{name: "descriptors", text: `$A descriptors`},
	{name: "ptrace", text: `$A ptrace $P`},
	{name: "memory", text: `$A memory $P; $A environ $P`},
	{name: "signal", text: `$A signal $P`},
	{name: "tcp", reads: true, text: `$A dial tcp $TCP; echo out > /dev/tcp/${TCP%:*}/${TCP#*:} && echo ESCAPED`},
	{name: "udp", text: `$A dial udp $UDP`},
	{name: "dns", text: `$A dns`},
	{name: "path socket", reads: true, text: `$A dial unix $SOCKET`, partial: true},
	{name: "abstract socket", text: `$A dial unix @$ABSTRACT`},
	{name: "terminal", text: `$A tiocsti`},
	{name: "kernel", text: `$A sysctl; $A device; echo x > /sys/kernel/uevent_helper`, partial: true},
	{name: "new user", text: `unshare -Ur sh -c 'echo x > $O/new; echo x > .git/config; cat .env'`, partial: true},
	{name: "protected, absent files", text: `echo evil > AGENTS.md; echo evil > .mcp.json; mkfifo sub/AGENTS.md; mkdir sub/.mcp.json; cp a.txt t; ln t sub/AGENTS.md; mv t .mcp.json`},
	{name: "times and rights", reads: true, text: `touch -d 2001-01-01 $O/theirs.txt .git/config .env; chmod 777 .git/config .env $H/.ssh; chown 1:1 .git/config .env; setfattr -n user.x -v y .git/config`, partial: true},
	{name: "by a descriptor of its own", text: `exec 7<$O/theirs.txt; echo x > /proc/self/fd/7; exec 8<.git/config; echo x > /proc/self/fd/8; cd $O && echo x > theirs.txt; cd $R/.git && echo x > config; echo x > ./hooks/../config`, partial: true},
	{name: "fifo", text: `rm -f .git/config && mkfifo .git/config; mkfifo .git/hooks/pre-commit; mkfifo .acp-agent/config.json; mkfifo $O/f`, partial: true},
	{name: "init's root", text: `echo x > /proc/1/root$O/new; cat /proc/1/root$R/.env; ls /proc/1/root$D && cat /proc/1/root$D/credentials.json; nsenter -t 1 -m sh -c "echo x > $O/new"`, partial: true},
	{name: "a sandbox within", text: `bwrap --bind / / --dev-bind /dev /dev sh -c "echo x > $O/new; echo x > .git/config; cat .env"; unshare -Urm sh -c "mount -t tmpfs none $O; mount --move $O .git; umount -R /; cat .env"; unshare -Urmpf --mount-proc cat .env`, partial: true},
	{name: "programs of others", text: `for s in su sudo mount umount passwd newgrp pkexec fusermount; do p=$(command -v $s) && echo | timeout 2 $p -c "echo x > $O/new" 2>&1; done; su -s /bin/sh root -c "echo x > $O/new" </dev/null`},
	{name: "by pages", text: `$A pages $O/theirs.txt; $A pages $R/.git/config`, partial: true},
	{name: "without a name", text: `$A nameless $R/sub $R/.git/config; $A nameless $R/sub $O/new; $A nameless $R/sub $R/.git/hooks/h`, partial: true},
	{name: "from memory", text: `$A memfd $O/new`},
	{name: "ring", text: `$A ring $O/theirs.txt`},
	{name: "tree of mounts", reads: true, text: `mkdir -p m $TMPDIR/m; for m in $R/m $TMPDIR/m; do $A tree $R $m; unshare -Urm $A tree $R $m; unshare -Urm $A tree $R/sub $m; done`, partial: true},
	{name: "powers", reads: true, text: `$A powers $P`},
	{name: "powers of a new user", text: `unshare -U $A powers $P; unshare -Urm $A setattr $R/.git; unshare -Urm $A rewritable /; unshare -Urm $A handle $O/theirs.txt`, partial: true},
	{name: "core", text: `ulimit -c unlimited; cd $O && kill -SEGV $BASHPID`},
	{name: "maps of others", text: `newuidmap $$ 0 0 1; newgidmap $$ 0 0 1; unshare -U sh -c "echo 0 0 1 > /proc/self/uid_map; echo x > $O/new"; unshare -Ur --map-users=0,0,1 sh -c "echo x > $O/new"`},
	{name: "worktree", text: `git init -q $TMPDIR/r && cd $TMPDIR/r && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x && git worktree add $O/w; git worktree add $R/.vscode/w; git worktree add $R/.git/hooks/w; git worktree add $R/.acp-agent/w`, partial: true},
	{name: "parents moved", text: `mv sub s2; mv $R $R.old; mv $R/sub/repo/.git $R/g && mkdir -p $R/g/hooks && echo x > $R/g/hooks/h && mv $R/g $R/sub/repo/.git; cd .. && mv work w2; rmdir sub/repo/.git; mv sub/repo r && mkdir -p r/.git/hooks && echo x > r/.git/hooks/h && mv r sub/repo`, partial: true},
	{name: "keys", text: `$A keys`},
	{name: "hosts", reads: true, text: `hostname evil; $A hostname; echo x > /etc/hosts; date -s 2001-01-01; dmesg -C`, partial: true},
	{name: "netlink", text: `$A netlink`, partial: true},
	{name: "renamed over", text: `cp a.txt c && mv -f c .git/config; cp a.txt c && mv -f c sub/repo/.git/config; cp -r sub c && mv -fT c .git; ln -f a.txt .git/config; cp --remove-destination a.txt .git/config; install a.txt .git/config; truncate -s 0 .git/config; dd if=a.txt of=.git/config; sed -i s/core/x/ .git/config; tar cf t.tar a.txt && tar xf t.tar --transform s,a.txt,.git/config, --overwrite`, partial: true},
	{name: "left behind", text: `setsid sh -c 'sleep 0.1; echo x > $O/new; mkdir -p .git/hooks; echo x > .git/hooks/h; cat .env' & (setsid sh -c '(sleep 0.1; echo x > $O/late) &' &) ; sleep 0.3`, partial: true},
}

// listeners are what an attacker may reach on the host.
func listeners(t *testing.T, p *project) (env []string) {
	answer := func(l net.Listener) {
		t.Cleanup(func() { l.Close() })
		go func() { // ends with the listener
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte("in"))
				c.Close()
			}
		}()
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	answer(tcp)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { udp.Close() })
	go func() { // ends with the listener
		buf := make([]byte, 64)
		for {
			_, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo([]byte("in"), from)
		}
	}()
	dir, err := os.MkdirTemp("", "s")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	answer(path)
	abstract, err := net.Listen("unix", "@"+filepath.Base(dir)+strconv.Itoa(os.Getpid()))
	must(t, err)
	answer(abstract)
	return []string{"TCP=" + tcp.Addr().String(), "UDP=" + udp.LocalAddr().String(), "SOCKET=" + filepath.Join(dir, "s"), "ABSTRACT=" + abstract.Addr().String()[1:]}
}

// state is all of the project that no command may change, by path.
func (p *project) state() map[string]string {
	state := map[string]string{}
	note := func(top string) {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			text := info.Mode().String()
			if info.Mode().IsRegular() {
				data, _ := os.ReadFile(path)
				text += " " + string(data)
			} else if info.Mode()&fs.ModeSymlink != 0 {
				to, _ := os.Readlink(path)
				text += " " + to
			}
			state[path] = text
			return nil
		})
	}
	note(p.outside)
	note(filepath.Join(p.home, ".ssh"))
	note(p.own)
	note(filepath.Join(p.home, ".bashrc"))
	note(filepath.Join(p.home, ".config"))
	for _, name := range []string{"AGENTS.md", "sub/.mcp.json", "sub/AGENTS.md", ".git", ".acp-agent", ".mcp.json", ".vscode", ".husky", ".github", ".env", "sub/.env", "sub/repo/.git"} {
		note(filepath.Join(p.root, name))
	}
	return state
}

func TestEscapes(t *testing.T) {
	t.Setenv("SANDBOX_TEST_MARK", "1")
	program, err := os.Executable()
	must(t, err)
	forEachWay(t, func(t *testing.T, w way) {
		for _, level := range []Level{Unasked, Reads} {
			p := newProject(t, w, nil)
			attacker := filepath.Join(p.home, "attacker")
			must(t, copyFile(program, attacker))
			p.env = append(p.env, "A="+attacker+" "+attackWord, "R="+p.root, "O="+p.outside, "H="+p.home, "D="+p.own, "P="+strconv.Itoa(os.Getpid()))
			p.env = append(p.env, listeners(t, p)...)
			before := p.state()
			if out, _ := p.run(level, false, "cat $O/theirs.txt; echo x > $O/new"); !strings.HasPrefix(out, "theirs\n") || w > files && !strings.Contains(out, "Read-only file system") {
				t.Errorf("the outside is not there to be attacked: %s", out)
			}
			for _, a := range attempts {
				if w == files && a.partial || level == Reads && !a.reads {
					continue
				}
				t.Run(fmt.Sprintf("%d %s", level, a.name), func(t *testing.T) { p.try(t, level, a, before) })
			}
		}
	})
}

// try makes an attempt and looks for what it came to.
func (p *project) try(t *testing.T, level Level, a attempt, before map[string]string) {
	out, _ := p.run(level, false, a.text)
	if strings.Contains(out, "ESCAPED") || strings.Contains(out, p.secret) {
		t.Errorf("it got through:\n%s", out)
	}
	after := p.state()
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %q, and is %q\n%s", path, was, after[path], out)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s was made\n%s", path, out)
		}
	}
}
