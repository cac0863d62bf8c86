package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// dirs are the folders that a command may run in, absolute, as the shell would
// name them.
type dirs []string

const maxDirs = 8

// cd follows a change of the folder. One that is not to be followed is a question,
// and what comes next is judged where it may lead all the same: nothing is to be
// destroyed there either.
func (s *shell) cd(c *command) dirs {
	target, ok := cdOperand(c.words)
	if !ok || s.looping || s.Roots == nil {
		s.opaque("the folder that `" + visible(c.text) + "` goes to is not known")
		s.strays(guesses(c.words), c.at)
		return c.at
	}
	var out dirs
	for _, dir := range c.at {
		to := target
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to) // as cd does: by the letter
		}
		p, err := s.Roots.Resolve(to)
		if err != nil {
			s.beyondSandbox("it goes to " + visible(target) + ", outside of the project")
			return c.at
		}
		switch {
		case p.Inside:
			s.commandAccess(kinds.List, p)
		case s.OutsideDenied:
			s.deny("it goes to " + visible(target) + ", outside of the project, which is not allowed here")
		default:
			s.beyondSandbox("it goes to " + visible(target) + ", outside of the project")
		}
		out = s.union(out, dirs{filepath.Clean(to)})
		if !enterable(p.Target) {
			out = s.union(out, dirs{dir})
		}
	}
	return out
}

// cdOperand is the folder that a cd of the plainest form goes to.
func cdOperand(words []word) (string, bool) {
	rest := words[1:]
	if len(rest) == 2 && rest[0].static() && rest[0].text == "--" {
		rest = rest[1:]
	}
	if len(rest) != 1 || !rest[0].static() || rest[0].text == "" || strings.HasPrefix(rest[0].text, "-") {
		return "", false
	}
	return rest[0].text, true
}

// enterable reports whether a cd to a folder would succeed now.
func enterable(dir string) bool {
	info, err := os.Stat(dir + string(filepath.Separator) + ".")
	return err == nil && info.IsDir()
}

// strays notes where a command may lead that changes the folder in a way which is
// not followed: behind an option or a wrapper, in a loop, on the shell's stack. From
// there on, what destroys is judged there too (policy section 9).
func (s *shell) strays(argv []string, at dirs) {
	target, back := "", false
	switch name := baseName(argv[0]); name {
	case "cd", "pushd":
		rest := argv[1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && len(rest[0]) > 1 {
			rest = rest[1:]
		}
		switch {
		case len(rest) > 0 && rest[0] != "-" && !strings.HasPrefix(rest[0], "+"):
			target = rest[0]
		case len(rest) == 0 && name == "cd":
			target = s.Home
		default:
			back = true
		}
	case "popd":
		back = true
	default:
		return
	}
	switch {
	case back:
		s.stray(s.been)
	case target != "":
		for _, dir := range at {
			s.stray(dirs{from(dir, s.homeOf(target))})
		}
	}
}

// stray adds to the folders that only what destroys is judged in.
func (s *shell) stray(to dirs) {
	for _, dir := range to {
		if !slices.Contains(s.astray, dir) && len(s.astray) < maxDirs {
			s.astray = append(s.astray, dir)
		}
	}
}

// subshell judges a list that runs in a shell of its own: where it goes, nothing
// behind it does.
func (s *shell) subshell(list []*syntax.Stmt, at dirs) {
	defer func(been, astray dirs) { s.been, s.astray = been, astray }(slices.Clip(s.been), slices.Clip(s.astray))
	s.stmtsApart(list, at)
}

// moves follows a plain cd, and remembers where it may come back to.
func (s *shell) moves(c *command) dirs {
	to := s.cd(c)
	for _, dir := range slices.Concat(c.at, to) {
		if !slices.Contains(s.been, dir) && len(s.been) < maxDirs {
			s.been = append(s.been, dir)
		}
	}
	return to
}

// homeOf is a path with a ~ at its beginning expanded.
func (s *shell) homeOf(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return s.Home + path[1:]
	}
	return path
}

// from is what a path means in a folder, by the letter.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// sentTo are the folders that a wrapper runs its command in, beside its own.
func sentTo(name string, args []string, at dirs) dirs {
	short, long := "", ""
	switch name {
	case "env":
		short, long = "-C", "--chdir"
	case "sudo":
		short, long = "-D", "--chdir"
	case "nsenter", "unshare":
		short, long = "", "--wd"
	case "systemd-run":
		short, long = "", "--working-directory"
	case "chroot":
		return append(slices.Clone(at), string(filepath.Separator))
	default:
		return at
	}
	out := slices.Clone(at)
	for i, a := range args {
		to, ok := strings.CutPrefix(a, long+"=")
		switch {
		case ok:
		case (a == long || short != "" && a == short) && i+1 < len(args):
			to = args[i+1]
		case short != "" && strings.HasPrefix(a, short) && len(a) > 2:
			to = a[2:]
		default:
			continue
		}
		for _, dir := range at {
			out = append(out, from(dir, to))
		}
	}
	return out
}

func (s *shell) union(a, b dirs) dirs {
	out := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if len(out) > maxDirs {
		s.floor("it may run in too many folders")
		out = out[:maxDirs]
	}
	return out
}
