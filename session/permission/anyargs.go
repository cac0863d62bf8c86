package permission

import (
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// takesDynamic reports whether a command is harmless though some of its words
// are not known before it runs (policy section 3, "Words").
func takesDynamic(name string, args []word) bool {
	switch name {
	case "echo", "true", ":", "basename", "dirname":
		return true
	case "printf": // a format of its own, so that nothing else is taken for a flag
		return len(args) > 0 && args[0].static() && !strings.HasPrefix(args[0].text, "-")
	case "test", "[":
		return plainTest(name, args)
	}
	return false
}

// plainTest reports whether test has its operators where they cannot be anything
// else, and whatever is not known between quotes: other forms can run code.
func plainTest(name string, args []word) bool {
	if name == "[" {
		if len(args) == 0 || !args[len(args)-1].static() || args[len(args)-1].text != "]" {
			return false
		}
		args = args[:len(args)-1]
	}
	for _, a := range args {
		if a.bare || a.glob {
			return false
		}
	}
	if len(args) > 1 && args[0].static() && args[0].text == "!" {
		args = args[1:]
	}
	switch len(args) {
	case 1:
		return true
	case 2:
		return args[0].static() && testUnary(args[0].text)
	case 3:
		return args[1].static() && testBinary(args[1].text)
	}
	return false
}

func testUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.Contains("abcdefghkLnNOGprsStuwxz", op[1:])
}

func testBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

// asksOnlyWhether reports whether a word of test is only held against nothing:
// that tells nothing of a secret but that it is there.
func asksOnlyWhether(words []word, i int) bool {
	name := words[0].text
	return (name == "test" || name == "[") && i > 1 && (words[i-1].text == "-n" || words[i-1].text == "-z")
}

// testOperands judges test and [: what is compared stays inside like any path,
// and nothing that evaluates the name of a variable.
func testOperands(s *shell, u *usage) string {
	for i, o := range u.operands {
		switch {
		case o == "-v" || o == "-R":
			return "`" + u.program + " " + o + "` can run code"
		case o == "" || o == "]" || o == "!" || o == "(" || o == ")" || testBinary(o) || strings.Contains(o, "\uFFFD"):
		case strings.HasPrefix(o, "-"):
		case i > 0 && (u.operands[i-1] == "-n" || u.operands[i-1] == "-z" || u.operands[i-1] == "=" || u.operands[i-1] == "==" || u.operands[i-1] == "!="):
		default:
			s.operand(kinds.List, o, u.at)
		}
	}
	return ""
}
