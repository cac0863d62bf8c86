package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// form is what a mount makes of a path. Of two for one path the later one here
// holds.
type form int

const (
	writable form = iota
	private       // another folder in its place, writable
	readOnly
	hidden // a folder: empty; a file: not to be opened
)

// mount is one path that differs from the read-only rest of the system.
type mount struct {
	form form
	path string // absolute, links resolved, existing
	from string // of private: the folder that stands there
	dir  bool   // of hidden: it is a folder
}

// plan is how one command is confined. The system is read-only but for the mounts.
type plan struct {
	way     way
	level   Level
	network bool     // it has the host's
	apart   bool     // other commands of the session have another
	join    *network // the one it has instead; nil: one of its own
	mounts  map[string]mount
	drop    []string // variables taken out of its environment
	temp    string   // TMPDIR; empty: stays
}

// hostVariables name sockets and services of the host.
var hostVariables = []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "CONTAINER_HOST", "XDG_RUNTIME_DIR"}

// plan makes the plan for a command; done frees what it needs while the command
// runs.
func (b *Box) plan(w way, c Command) (p *plan, done func()) {
	p = &plan{way: w, level: c.Level, network: b.o.Network || c.Level == Approved, mounts: map[string]mount{}}
	if c.Level == Approved && b.serves(c.Ports) {
		p.network = false
	}
	if p.network {
		p.apart = b.net.Load() != nil
	} else {
		p.join = b.network()
	}
	if temp := b.private(); temp != "" {
		b.tempMounts(p, temp)
	}
	if c.Level != Approved {
		b.hostMounts(p)
	}
	for _, dir := range b.writable(c.Level) {
		p.add(mount{form: writable, path: dir})
	}
	done = func() {}
	for _, root := range b.roots {
		f := writable
		if c.Level == Reads {
			f = readOnly
		}
		p.add(mount{form: f, path: root})
		b.repositoryMounts(p, root, c)
		free := b.guardRoot(p, root, c)
		done = both(done, free)
	}
	b.homeMounts(p)
	b.ownMounts(p)
	return p, done
}

func both(a, b func()) func() { return func() { a(); b() } }

// add adds a mount, where nothing stricter is known for its path.
func (p *plan) add(m mount) {
	if old, ok := p.mounts[m.path]; ok && old.form >= m.form {
		return
	}
	p.mounts[m.path] = m
}

// addPath adds a mount for what is at the path, links followed; nothing where
// nothing is.
func (p *plan) addPath(f form, path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	info, err := os.Stat(real)
	if err != nil {
		return
	}
	p.add(mount{form: f, path: real, dir: info.IsDir()})
}

// sorted are the mounts, folders before what is in them.
func (p *plan) sorted() []mount {
	return slices.SortedFunc(maps.Values(p.mounts), func(a, b mount) int { return strings.Compare(a.path, b.path) })
}

// tempMounts puts the private folder in the place of the system's. What of the
// latter the command needs shows through.
func (b *Box) tempMounts(p *plan, temp string) {
	p.temp = temp
	p.add(mount{form: writable, path: temp})
	if p.level == Approved {
		for _, dir := range tempDirs {
			p.addPath(writable, dir)
		}
		return
	}
	for _, dir := range tempDirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || slices.ContainsFunc(b.roots, func(r string) bool { return within(r, real) }) {
			continue
		}
		p.add(mount{form: private, path: real, from: temp})
		for _, seen := range []string{b.o.Home} {
			if home, err := filepath.EvalSymlinks(seen); seen != "" && err == nil && within(real, home) {
				p.add(mount{form: readOnly, path: home})
			}
		}
	}
}

// repositoryMounts lets git at a root's repository outside of it: to write, where
// the user approved that.
func (b *Box) repositoryMounts(p *plan, root string, c Command) {
	dirs, pointer := repositories(root)
	if len(dirs) > 0 && pointer != "" {
		dirs = append(dirs, pointer)
	}
	for _, dir := range dirs {
		if slices.ContainsFunc(b.roots, func(r string) bool { return within(r, dir) }) {
			continue
		}
		switch {
		case c.Level == Approved && c.Git && dir != pointer:
			p.add(mount{form: writable, path: dir})
		case slices.ContainsFunc(tempDirs, func(t string) bool { return within(resolved(t), dir) }) && c.Level != Approved:
			p.add(mount{form: readOnly, path: dir}) // which would be hidden else
		}
	}
}

// tempDirs are the folders that programs put temporary files in.
var tempDirs = []string{"/tmp", "/var/tmp"}

// hostMounts hides the sockets of the host.
func (b *Box) hostMounts(p *plan) {
	p.drop = hostVariables
	run, err := filepath.EvalSymlinks("/run")
	if err == nil {
		p.add(mount{form: hidden, path: run, dir: true})
		// What of it is no socket, and programs need.
		for _, path := range []string{"/etc/resolv.conf", "/run/current-system", "/run/opengl-driver"} {
			if real, err := filepath.EvalSymlinks(path); err == nil && within(run, real) {
				p.addPath(readOnly, real)
			}
		}
	}
	for _, socket := range hostSockets() {
		if slices.ContainsFunc(b.roots, func(r string) bool { return within(r, socket) }) || within(run, socket) {
			continue
		}
		p.addPath(hidden, socket)
	}
}

// homeMounts masks the user's keys and tokens.
func (b *Box) homeMounts(p *plan) {
	if b.o.Home == "" || p.level == Approved {
		return
	}
	entries, err := os.ReadDir(b.o.Home)
	if err != nil {
		return
	}
	var candidates []string
	for _, e := range entries {
		candidates = append(candidates, e.Name())
	}
	candidates = append(candidates, ".docker/config.json", ".kube/config", ".config/gh", ".config/gcloud", ".config/git/credentials", ".azure", ".config/op")
	home := names("/", b.o.Home)
	for _, c := range candidates {
		if strings.Contains(c, "/") || c == ".azure" || b.o.Names.Secret(append(slices.Clone(home), c)) {
			p.mask(b, filepath.Join(b.o.Home, c))
		}
	}
}

// mask hides a secret, unless one of the session's folders is in it.
func (p *plan) mask(b *Box, path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || slices.ContainsFunc(b.roots, func(r string) bool { return within(real, r) }) {
		return
	}
	p.addPath(hidden, real)
}

// ownMounts keeps the agent's own folders from every command.
func (b *Box) ownMounts(p *plan) {
	for _, dir := range b.o.Own {
		if slices.ContainsFunc(b.roots, func(r string) bool { return within(resolved(dir), r) }) {
			continue // somebody works on them
		}
		if p.level == Approved {
			p.addPath(readOnly, dir)
		} else {
			p.addPath(hidden, dir)
		}
	}
	for _, file := range b.o.Secrets {
		p.addPath(hidden, file)
	}
}

// writable are the folders beside the session's that a command at the level may
// write to, of those that exist.
func (b *Box) writable(level Level) []string {
	if level == Reads {
		return nil
	}
	dirs := append(slices.Clone(b.o.Writable), caches(b.o.Home, b.o.Getenv)...)
	if level == Approved {
		dirs = append(dirs, installs(b.o.Home, b.o.Getenv)...)
	}
	var found []string
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || real == "/" || within(real, b.o.Home) {
			continue // a cache that is the home itself is none
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			found = append(found, real)
		}
	}
	return found
}

// private is the session's private temporary folder, made when it is first
// needed; empty: none could be made.
func (b *Box) private() string {
	b.once.Do(func() {
		dir, err := os.MkdirTemp("", "acp-agent-tmp-")
		if err == nil {
			b.temp = resolved(dir)
		}
	})
	return b.temp
}

// network is the session's network, made when it is first needed; nil: there can be
// none.
func (b *Box) network() *network {
	b.netOnce.Do(func() { b.net.Store(b.o.Prober.network()) })
	return b.net.Load()
}

// serves reports whether the ports are listened at in the session's network, and
// not on the host.
func (b *Box) serves(ports []int) bool {
	n := b.net.Load()
	if n == nil || len(ports) == 0 {
		return false
	}
	inside, host := n.listening(), listening()
	return !slices.ContainsFunc(ports, func(port int) bool { return !inside[port] || host[port] })
}

func removeTemp(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir) // what a command left unreadable there stays
	}
}

// resolveAll resolves the links of those that exist.
func resolveAll(paths []string) []string {
	var found []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, real)
		}
	}
	return found
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// outermost leaves out what is inside of another one.
func outermost(dirs []string) []string {
	slices.Sort(dirs)
	var kept []string
	for _, dir := range slices.Compact(dirs) {
		if !slices.ContainsFunc(kept, func(k string) bool { return within(k, dir) }) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// within reports whether a path is a folder or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
