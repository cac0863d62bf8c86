package workspace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Limits on git's configuration files.
const (
	maxConfigFile  = 1 << 20 // bytes that are read of one
	maxConfigDepth = 10      // files that include one another, as in git
)

// userExcludes is the file of patterns that the user excludes in the repository
// whose work tree is dir and whose data is in git: core.excludesFile of git's
// configuration, where the repository's holds before the user's and that before
// the machine's, else git's default. Resolved; empty where there is none.
//
// Git is not asked: its configuration may name programs to run. Conditional
// includes and settings from the environment are not looked at.
func userExcludes(dir, git string) string {
	config := configHome()
	name, set := "", false
	take := func(file string) {
		if file != "" {
			readConfig(file, 0, &name, &set)
		}
	}
	for _, file := range globalConfigs(config) {
		take(file)
	}
	if git != "" {
		take(filepath.Join(git, "config"))
	}
	switch {
	case set && name == "":
		return ""
	case set:
		name = configPath(dir, name)
	case config != "":
		name = filepath.Join(config, "git", "ignore")
	}
	if name == "" {
		return ""
	}
	file, err := filepath.EvalSymlinks(name)
	if err != nil || !filepath.IsAbs(file) || isPseudo(file) {
		return ""
	}
	return file
}

// globalConfigs are the configuration files of the machine and the user, the
// weaker first.
func globalConfigs(config string) []string {
	var files []string
	switch system := os.Getenv("GIT_CONFIG_SYSTEM"); {
	case isTrue(os.Getenv("GIT_CONFIG_NOSYSTEM")):
	case system != "":
		files = append(files, system)
	case runtime.GOOS != "windows":
		files = append(files, "/etc/gitconfig")
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		return append(files, file)
	}
	if config != "" {
		files = append(files, filepath.Join(config, "git", "config"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

func isTrue(text string) bool {
	switch strings.ToLower(text) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// configHome is the folder of the user's configuration files; empty where
// nothing says.
func configHome() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config")
}

// configPath is a path of git's configuration, relative to dir.
func configPath(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return joined(dir, filepath.FromSlash(name))
}

// readConfig takes core.excludesFile from a configuration file and from those
// that it includes; the last one holds. A file that cannot be read says nothing.
func readConfig(file string, depth int, name *string, set *bool) {
	file, err := filepath.EvalSymlinks(file)
	if err != nil || isPseudo(file) || depth > maxConfigDepth {
		return
	}
	f, err := openTarget(file)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfigFile))
	if err != nil {
		return
	}
	eachSetting(data, func(key, value string) {
		switch key {
		case "core.excludesfile":
			*name, *set = value, true
		case "include.path":
			readConfig(configPath(filepath.Dir(file), value), depth+1, name, set)
		}
	})
}

// eachSetting calls visit with every variable of a configuration file that has
// a value: the key is in lower case, with its section in front. It stops where
// the file is malformed.
func eachSetting(data []byte, visit func(key, value string)) {
	p := configParser{rest: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	p.rest = bytes.ReplaceAll(p.rest, []byte("\r\n"), []byte("\n"))
	section := ""
	for {
		switch c := p.skipBlank(); {
		case c == 0:
			return
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			var ok bool
			if section, ok = p.section(); !ok {
				return
			}
		default:
			key, value, hasValue, ok := p.variable()
			if !ok {
				return
			}
			if hasValue {
				visit(section+"."+key, value)
			}
		}
	}
}

// configParser reads git's configuration syntax.
type configParser struct{ rest []byte }

// next takes a byte; 0: there is none.
func (p *configParser) next() byte {
	if len(p.rest) == 0 {
		return 0
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

// peek is the byte that comes next; 0: there is none.
func (p *configParser) peek() byte {
	if len(p.rest) == 0 {
		return 0
	}
	return p.rest[0]
}

// skipBlank skips blanks and line ends and tells what follows.
func (p *configParser) skipBlank() byte {
	p.rest = bytes.TrimLeft(p.rest, " \t\r\n\v\f")
	return p.peek()
}

// line skips the rest of a line.
func (p *configParser) line() {
	for c := p.next(); c != 0 && c != '\n'; {
		c = p.next()
	}
}

// section reads a header such as [core] or [remote "x"]; the second part is
// kept as it is.
func (p *configParser) section() (string, bool) {
	p.next()
	var b strings.Builder
	for {
		switch c := p.next(); c {
		case 0, '\n':
			return "", false
		case ']':
			return strings.ToLower(b.String()), true
		case ' ', '\t':
			rest, ok := p.subsection()
			return strings.ToLower(b.String()) + "." + rest, ok
		default:
			b.WriteByte(c)
		}
	}
}

func (p *configParser) subsection() (string, bool) {
	p.rest = bytes.TrimLeft(p.rest, " \t")
	if p.next() != '"' {
		return "", false
	}
	var b strings.Builder
	for {
		switch c := p.next(); c {
		case 0, '\n':
			return "", false
		case '"':
			return b.String(), p.next() == ']'
		case '\\':
			c = p.next()
			if c == 0 || c == '\n' {
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
}

// variable reads a name and what is set: not where the name stands alone.
func (p *configParser) variable() (key, value string, hasValue, ok bool) {
	if !isAlpha(p.peek()) {
		return "", "", false, false
	}
	n := 0
	for n < len(p.rest) && (isAlpha(p.rest[n]) || isDigit(p.rest[n]) || p.rest[n] == '-') {
		n++
	}
	key = strings.ToLower(string(p.rest[:n]))
	p.rest = bytes.TrimLeft(p.rest[n:], " \t")
	switch p.next() {
	case 0, '\n':
		return key, "", false, true
	case '=':
		value, ok = p.value()
		return key, value, true, ok
	}
	return "", "", false, false
}

// value reads up to the end of the line, which a backslash puts off. Blanks at
// both ends and comments do not belong to it, but for what stands in quotes.
func (p *configParser) value() (string, bool) {
	p.rest = bytes.TrimLeft(p.rest, " \t")
	var b strings.Builder
	quoted, end := false, 0 // end: behind the last byte that is no blank
	for {
		c := p.next()
		switch {
		case c == 0 || c == '\n':
			return b.String()[:end], !quoted
		case !quoted && (c == '#' || c == ';'):
			p.line()
			return b.String()[:end], true
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case c == '\\':
			if c = p.next(); c == '\n' {
				continue
			}
			i := strings.IndexByte(`tnb\"`, c)
			if c == 0 || i < 0 {
				return "", false
			}
			b.WriteByte("\t\n\b\\\""[i])
			end = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = b.Len()
		}
	}
}
