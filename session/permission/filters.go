package permission

import (
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// awk says why an awk may do more than filter: it may have one program, which
// runs nothing, opens nothing and does not see the environment.
func (s *shell) awk(args []string, at dirs) string {
	r := reader{valued: "Fv", longValued: "field-separator assign"}
	u, why := r.parse("awk", args)
	if why != "" {
		return why
	}
	if len(u.operands) == 0 || !awkFilters(u.operands[0]) {
		return "the program of `awk` is not known to only filter"
	}
	for _, f := range u.operands[1:] {
		if f != "-" {
			s.operand(kinds.Read, f, at)
		}
	}
	return ""
}

var (
	awkWord = lazy(`^[A-Za-z_][A-Za-z0-9_]*`)
	awkMore = nameSet(`system getline ENVIRON SYMTAB FUNCTAB PROCINFO ARGV ARGC close fflush`)
)

// awkFilters reports whether a program holds nothing that runs a command, or
// reads or writes another file. It takes a slash for the start of a regular
// expression only where it cannot be a division.
func awkFilters(text string) bool {
	braces, parens := 0, 0
	last := byte('\n')
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			n := quotedEnd(text[i+1:], '"')
			if n < 0 {
				return false
			}
			i += n + 1
		case c == '/' && strings.IndexByte("\n{};,(!~&|", last) >= 0:
			n := quotedEnd(text[i+1:], '/')
			if n < 0 || strings.Count(text[i+1:i+1+n], "[") != strings.Count(text[i+1:i+1+n], "]") {
				return false
			}
			i += n + 1
			c = '"' // an operand
		case c == '#':
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return true
			}
			i += n
			c = '\n'
		case c == '\\' || c == '@' || c == '`':
			return false
		case c == '|':
			if !strings.HasPrefix(text[i:], "||") || strings.HasPrefix(text[i:], "||&") {
				return false
			}
			i++
		case c == '>':
			if strings.HasPrefix(text[i:], ">>") || braces > 0 && parens == 0 && !strings.HasPrefix(text[i:], ">=") {
				return false
			}
		case c == '{':
			braces++
		case c == '}':
			braces--
		case c == '(':
			parens++
		case c == ')':
			parens--
		default:
			word := awkWord().FindString(text[i:])
			if awkMore[word] {
				return false
			}
			if word != "" {
				i += len(word) - 1
			}
		}
		if c != ' ' && c != '\t' {
			last = c
		}
		if braces < 0 || parens < 0 {
			return false
		}
	}
	return true
}

// quotedEnd is the offset of the closing sign, which a backslash hides; -1: there
// is none on the line.
func quotedEnd(text string, end byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i
		case '\n':
			return -1
		}
	}
	return -1
}

var jqMore = lazy(`(^|[^.A-Za-z0-9_$]|\.\.)(env|import|include|input_filename|debug|stderr)\b|\$ENV|\$__`)

// jq says why a jq may do more than filter.
func (s *shell) jq(args []string, at dirs) string {
	u := &usage{}
	var rest []string
	for i := 0; i < len(args); i++ { // options of two values
		if (args[i] == "--arg" || args[i] == "--argjson") && i+2 < len(args) {
			i += 2
			continue
		}
		rest = append(rest, args[i])
	}
	r := reader{short: "rcesnSMCja", long: "raw-output compact-output exit-status slurp null-input sort-keys monochrome-output color-output join-output ascii-output tab", longValued: "indent"}
	u, why := r.parse("jq", rest)
	if why != "" {
		return why
	}
	if len(u.operands) == 0 || jqMore().MatchString(u.operands[0]) {
		return "the filter of `jq` is not known to only filter"
	}
	for _, f := range u.operands[1:] {
		s.operand(kinds.Read, f, at)
	}
	return ""
}

var psColumns = lazy(`^[a-z%_,=]+$`)

// processes judges ps: it shows no environment.
func processes(_ *shell, u *usage) string {
	for _, o := range u.operands {
		if strings.Trim(o, "auxfwlj") != "" {
			return "`ps " + visible(o) + "` is not known to hide the environment"
		}
	}
	for _, v := range u.all("o", "format") {
		if !psColumns().MatchString(v) || strings.Contains(v, "env") {
			return "the columns of `ps` are not known to hide the environment"
		}
	}
	return ""
}
