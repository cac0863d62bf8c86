package permission

import (
	"regexp"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// sed says why a sed may do more than print.
func (s *shell) sed(args []string, at dirs) string {
	files, why := sedFiles(args)
	if why != "" {
		return why
	}
	for _, f := range files {
		if f != "-" {
			s.operand(kinds.Read, f, at)
		}
	}
	return ""
}

// sedFiles takes a sed apart whose scripts only print and change what is
// printed, and gives the files that it reads; why is why it may do more.
func sedFiles(args []string) (files []string, why string) {
	r := reader{short: "nErsuz", valued: "e", long: "quiet silent regexp-extended null-data separate unbuffered", longValued: "expression"}
	u, why := r.parse("sed", args)
	if why != "" {
		return nil, why
	}
	scripts := u.all("e", "expression")
	files = u.operands
	if len(scripts) == 0 {
		if len(files) == 0 {
			return nil, "`sed` has no script"
		}
		scripts, files = files[:1], files[1:]
	}
	for _, script := range scripts {
		p := sedScript{rest: script}
		if !p.prints() {
			return nil, "the script of `sed` is not known to only print"
		}
	}
	return files, ""
}

// sedScript reads a script of sed.
type sedScript struct{ rest string }

var (
	sedAddress = lazy(`^([0-9]+(~[0-9]+)?|\$)`)
	sedSecond  = lazy(`^([0-9]+|\$|[+~][0-9]+)`)
	sedLabel   = lazy(`^[ \t]*[A-Za-z0-9_]*[ \t]*`)
	sedCode    = lazy(`^[ \t]*[0-9]*`)
	sedFlags   = lazy(`^[0-9gpiIMm]*`)
)

// prints reports whether the script is made of nothing but commands that print,
// and change what is printed.
func (p *sedScript) prints() bool {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n;")
		if p.rest == "" {
			return true
		}
		if !p.addresses() || !p.command() {
			return false
		}
	}
}

func (p *sedScript) addresses() bool {
	if !p.address(sedAddress()) {
		return false
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	if rest, ok := strings.CutPrefix(p.rest, ","); ok {
		p.rest = strings.TrimLeft(rest, " \t")
		before := p.rest
		if !p.address(sedSecond()) || p.rest == before {
			return false
		}
	}
	p.rest = strings.TrimLeft(p.rest, " \t!")
	return p.rest != ""
}

// address skips an address, if there is one.
func (p *sedScript) address(form *regexp.Regexp) bool {
	if strings.HasPrefix(p.rest, "/") {
		p.rest = p.rest[1:]
		if !p.delimited('/', true) {
			return false
		}
		p.rest = strings.TrimLeft(p.rest, "IM")
		return true
	}
	p.rest = p.rest[len(form.FindString(p.rest)):]
	return true
}

// delimited skips up to the delimiter, which a backslash hides. A bracket in a
// regular expression that holds the delimiter is read in different ways.
func (p *sedScript) delimited(end byte, regular bool) bool {
	open := false
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\' && i+1 < len(p.rest):
			if i++; p.rest[i] == '\n' && regular {
				return false
			}
		case c == end:
			p.rest = p.rest[i+1:]
			return !open
		case c == '\n':
			return false
		case regular && c == '[':
			open = true
		case regular && c == ']':
			open = false
		}
	}
	return false
}

// command skips one command.
func (p *sedScript) command() bool {
	c := p.rest[0]
	p.rest = p.rest[1:]
	switch {
	case c == '{' || c == '}':
		return true
	case strings.IndexByte("pPdDnNhHgGx=", c) >= 0:
		return p.ends()
	case strings.IndexByte("qQl", c) >= 0:
		p.rest = p.rest[len(sedCode().FindString(p.rest)):]
		return p.ends()
	case strings.IndexByte("tbT:", c) >= 0:
		p.rest = p.rest[len(sedLabel().FindString(p.rest)):]
		return p.ends()
	case strings.IndexByte("aic", c) >= 0:
		line, rest, _ := strings.Cut(p.rest, "\n")
		switch {
		case line == `\`: // the text is the next line
			line, rest, _ = strings.Cut(rest, "\n")
			line = " " + line
		case strings.HasPrefix(line, `\`):
			line = " " + line[1:]
		}
		p.rest = rest
		return !strings.Contains(line, `\`) && strings.HasPrefix(line, " ") && strings.TrimSpace(line) != ""
	case c == 's' || c == 'y':
		return p.substitute(c == 's')
	}
	return false
}

func (p *sedScript) substitute(flags bool) bool {
	if p.rest == "" || strings.IndexByte("/|,#:@!%_+~", p.rest[0]) < 0 {
		return false
	}
	end := p.rest[0]
	p.rest = p.rest[1:]
	if !p.delimited(end, true) || !p.delimited(end, false) {
		return false
	}
	if flags {
		p.rest = p.rest[len(sedFlags().FindString(p.rest)):]
	}
	return p.ends()
}

// ends reports whether a command is over.
func (p *sedScript) ends() bool {
	p.rest = strings.TrimLeft(p.rest, " \t")
	return p.rest == "" || strings.IndexByte(";}\n", p.rest[0]) >= 0
}
