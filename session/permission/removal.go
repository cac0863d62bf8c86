package permission

import (
	"path/filepath"
	"slices"
	"strings"
)

// catastrophic denies what nothing allows (policy section 9).
func (s *shell) catastrophic(argv []string, at dirs) {
	name := baseName(argv[0])
	args := argv[1:]
	switch {
	case strings.HasPrefix(name, "mkfs"), name == "wipefs", name == "shred" && anyArg(args, rawDisk):
		s.deny("`" + name + "` destroys what a disk holds")
		return
	case name == "dd":
		for _, a := range args {
			if to, ok := strings.CutPrefix(a, "of="); ok && rawDisk(to) {
				s.deny("it writes to the disk " + visible(to) + " itself")
				return
			}
		}
	case rawDiskWriter(name) && anyArg(args, rawDisk):
		s.deny("it writes to a disk itself")
		return
	}
	for _, target := range removals(name, args) {
		for _, dir := range slices.Concat(at, s.astray) {
			for _, path := range s.destroyed(target, dir) {
				s.removal(name, path)
			}
		}
	}
}

func anyArg(args []string, f func(string) bool) bool {
	for _, a := range args {
		if f(a) {
			return true
		}
	}
	return false
}

func rawDiskWriter(name string) bool {
	switch name {
	case "cp", "tee", "mv", "install", "shred", "blkdiscard", "fdisk", "sfdisk", "parted", "sgdisk", "mkswap":
		return true
	}
	return false
}

// rawDisk reports whether a path is the device of a disk.
func rawDisk(path string) bool {
	rest, ok := strings.CutPrefix(filepath.ToSlash(filepath.Clean(path)), "/dev/")
	if !ok {
		return false
	}
	for _, p := range []string{"sd", "hd", "nvme", "vd", "xvd", "disk", "rdisk", "mmcblk", "dm-", "mapper/", "md", "loop", "block/"} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// removals are the operands that a command would remove, move away or change
// with all that lies below.
func removals(name string, args []string) []string {
	operands, recursive := splitRemoval(args)
	switch name {
	case "rm", "chmod", "chown", "chgrp":
		if recursive {
			return operands
		}
	case "mv":
		if len(operands) > 1 && !anyArg(args, func(a string) bool { return strings.HasPrefix(a, "-t") || strings.HasPrefix(a, "--target") }) {
			return operands[:len(operands)-1]
		}
		return operands
	case "find":
		if anyArg(args, func(a string) bool { return a == "-delete" }) || len(afterFlags(args, "-exec", "-execdir")) > 0 && anyArg(args, func(a string) bool { return baseName(a) == "rm" }) {
			return findStarts(args)
		}
	}
	return nil
}

func splitRemoval(args []string) (operands []string, recursive bool) {
	for i, a := range args {
		switch {
		case a == "--":
			return append(operands, args[i+1:]...), recursive
		case strings.HasPrefix(a, "--"):
			recursive = recursive || strings.HasPrefix("--recursive", a) && len(a) > 2
		case strings.HasPrefix(a, "-") && len(a) > 1:
			recursive = recursive || strings.ContainsAny(a, "rR")
		default:
			operands = append(operands, a)
		}
	}
	return operands, recursive
}

func findStarts(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			if a == "-H" || a == "-L" || a == "-P" {
				continue
			}
			break
		}
		out = append(out, a)
	}
	if out == nil {
		out = []string{"."}
	}
	return out
}

// destroyed are the folders that a removal of an operand takes, or all that lies in
// them, absolute: the operand's own, and where it is a pattern those that it stands
// for at this moment.
func (s *shell) destroyed(target, dir string) []string {
	what := s.homeOf(target)
	for {
		t := strings.TrimRight(what, "/")
		for _, all := range []string{"/*", "/**", "/.*", "/?*"} {
			t = strings.TrimSuffix(t, all)
		}
		if t == what || t == "" {
			break
		}
		what = t
	}
	switch {
	case what == "" && !strings.HasPrefix(target, "/"):
		return nil // no path at all
	case what == "":
		return []string{string(filepath.Separator)}
	case strings.Trim(what, "*") == "", what == ".*", what == "?*":
		what = "."
	case what[0] == '~' && !strings.Contains(what, "/"):
		return []string{what} // another user's home
	}
	what = from(dir, what)
	if m := otherRoot().FindStringSubmatch(filepath.ToSlash(what)); m != nil {
		if what = from("/", m[2]); m[1] == "cwd" {
			what = from(dir, strings.TrimPrefix(m[2], "/"))
		}
	}
	paths := []string{what}
	if strings.ContainsAny(what, "*?[") {
		g := globber{left: maxGlob}
		if names, ok := g.names(dir, what); ok {
			paths = append(paths, names...)
		}
	}
	return paths
}

// otherRoot is another name of a process for the whole system, or for where it is.
var otherRoot = lazy(`^/proc/[^/]+/(root|cwd)(/.*|)$`)

// removal judges a folder that would go: one of the system, the home, or an ancestor
// of the workspace is denied; the workspace itself is asked about.
func (s *shell) removal(name, what string) {
	for _, path := range []string{what, s.resolved(what)} {
		if why := s.precious(path); why != "" {
			s.deny("`" + name + "` would destroy " + why)
			return
		}
		if s.isRoot(path) {
			s.floor("`" + name + "` would change the whole project folder")
			return
		}
	}
}

func (s *shell) isRoot(path string) bool {
	if s.Roots == nil {
		return false
	}
	for _, dir := range s.Roots.Dirs() {
		if path == dir || path == s.resolved(dir) {
			return true
		}
	}
	return false
}

// systemFolders are those of the system that must never go.
func systemFolders() []string {
	return []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/var", "/boot", "/opt", "/root", "/home", "/System", "/Library", "/Users", "/Applications", "/dev", "/proc", "/sys"}
}

// precious says what a folder is that must never go.
func (s *shell) precious(path string) string {
	if path == filepath.VolumeName(path)+string(filepath.Separator) {
		return "the whole system"
	}
	if s.Home != "" && (path == filepath.Clean(s.Home) || path == s.resolved(s.Home)) {
		return "the home folder"
	}
	p := filepath.ToSlash(path)
	for _, dir := range systemFolders() {
		if p == dir || path == s.resolved(dir) {
			return "the system folder " + dir
		}
	}
	switch {
	case strings.HasPrefix(p, "/lib") && !strings.Contains(p[1:], "/"):
		return "the system folder " + p
	case p[0] == '~':
		return "the home folder of " + visible(p[1:])
	}
	if s.Roots != nil {
		for _, dir := range s.Roots.Dirs() {
			for _, d := range []string{dir, s.resolved(dir)} {
				if d != path && below(path, d) {
					return visible(path) + ", which the project lies in"
				}
			}
		}
	}
	return ""
}
