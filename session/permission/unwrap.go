package permission

import (
	"strings"
)

// unwrap takes away the programs around a command that change nothing about
// what it does (policy section 5), and the assignments of env. It says why where
// what is left is not understood.
func (s *shell) unwrap(c *command) (words []word, why string) {
	words = c.words
	for wrapped := false; ; wrapped = true {
		if len(words) == 0 {
			return nil, "the command that `" + visible(c.text) + "` would run is missing"
		}
		name, byName := s.nameOf(words[0].text)
		if wrapped && (setsShell(name) || name == "cd" || !words[0].static() || words[0].named) {
			return words, "`" + visible(c.text) + "` runs `" + visible(words[0].text) + "` in an uncommon way"
		}
		if _, runs := runners[name]; !runs || !byName || name == "command" && describes(words) {
			return words, ""
		}
		if why := s.identity(words[0].text, c.at); why != "" {
			return words, why
		}
		rest, ok := s.wrapper(name, words[1:], c)
		if !ok || wrapped && name == "time" {
			return words, "`" + name + "` runs another command"
		}
		words = rest
	}
}

// describes reports whether it is `command -v NAME`, which only tells.
func describes(words []word) bool {
	return len(words) > 1 && (words[1].text == "-v" || words[1].text == "-V")
}

var (
	duration = lazy(`^[0-9]+(\.[0-9]+)?[smhd]?$`)
	integer  = lazy(`^[-+]?[0-9]+$`)
	signal   = lazy(`^[A-Z0-9]+$`)
	ioClass  = lazy(`^-[cn][0-9]?$`)
	bufMode  = lazy(`^-[ioe](0|L|[0-9]+[KM]?)$`)
)

// wrapper skips the options and operands of one wrapper.
func (s *shell) wrapper(name string, words []word, c *command) ([]word, bool) {
	switch name {
	case "timeout":
		return timeoutCommand(words)
	case "nice":
		switch {
		case len(words) > 2 && words[0].text == "-n" && integer().MatchString(words[1].text):
			return words[2:], true
		case len(words) > 1 && strings.HasPrefix(words[0].text, "-n") && integer().MatchString(words[0].text[2:]):
			return words[1:], true
		}
	case "stdbuf":
		n := 0
		for n < len(words) && bufMode().MatchString(words[n].text) {
			n++
		}
		words = words[n:]
	case "ionice":
		for len(words) > 1 && ioClass().MatchString(words[0].text) {
			if len(words[0].text) == 2 {
				if !integer().MatchString(words[1].text) {
					return nil, false
				}
				words = words[1:]
			}
			words = words[1:]
		}
	case "env":
		return envCommand(words, c)
	case "nohup", "setsid", "command":
	default:
		return nil, false
	}
	if len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		return nil, false
	}
	return words, true
}

func timeoutCommand(words []word) ([]word, bool) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		switch w := words[0].text; {
		case w == "--preserve-status", w == "--foreground", w == "-v", w == "--verbose":
		case w == "-k" && len(words) > 1 && duration().MatchString(words[1].text), w == "-s" && len(words) > 1 && signal().MatchString(words[1].text):
			words = words[1:]
		case strings.HasPrefix(w, "--signal=") && signal().MatchString(w[len("--signal="):]), strings.HasPrefix(w, "--kill-after=") && duration().MatchString(w[len("--kill-after="):]):
		default:
			return nil, false
		}
		words = words[1:]
	}
	if len(words) < 2 || !duration().MatchString(words[0].text) {
		return nil, false
	}
	return words[1:], true
}

// envCommand skips env's assignments, which count like those of the shell.
func envCommand(words []word, c *command) ([]word, bool) {
	for len(words) > 0 && isAssignment(words[0].text) {
		name, value, _ := strings.Cut(words[0].text, "=")
		c.assigns = append(c.assigns, assign{name: name, value: word{text: value}})
		words = words[1:]
	}
	if len(words) == 0 || strings.HasPrefix(words[0].text, "-") {
		return nil, false
	}
	return words, true
}
