//go:build unix

package permission

import (
	"math/rand/v2"
	"strings"
)

// generated is a text that is a command, or nearly one: of the grammar, often
// with some of its pieces changed, or pieces in any order. It holds no slash, no
// "..", and no name of a program that exists.
func generated(r *rand.Rand) string {
	g := &generator{r: r}
	switch r.IntN(10) {
	case 0:
		for range 1 + r.IntN(12) {
			g.add(pieces[r.IntN(len(pieces))])
		}
	default:
		g.list(0)
	}
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(3) {
			g.mutate()
		}
	}
	return strings.Join(g.out, "")
}

// pieces are what commands are made of, above all where parsers differ.
var pieces = []string{
	"p1", "p2", "p3", "p4", "p5", "a", "b", " ", " ", " ", "\t", "\n", "\n", "\\\n", "\r", ";", "&", "&&", "||", "|", "|&", "(", ")", "{ ", "; }",
	"'", "'", "\"", "\"", "`", "`", "$(", "${", "}", "$x", "${x}", "${x:-p6}", "$((1+2))", "$((", "))", "#", " #", "# p6 \\\n", "\\", "\\'", "$'", "$'p\\x36'", "$'\\n'", "$\"",
	"!", "! ", "[[ ", " ]]", "[ ", " ]", "case a in ", "a) ", "(a) ", " esac", ";;", ";&", ";;&", "if ", "; then ", "; else ", "; elif ", "; fi", "for x in ", "; do ", "; done", "while ", "until ",
	"<<E\n", "\nE\n", "<<-E\n", "\n\tE\n", "<<'E'\n", "<<\\E\n", "<<\"E\"\n", "<(", ">(", ">", ">>", "<", "2>&1", ">&", "&>", ">|", "<>", "<<<", "<<< ", "{p1,a}", "{a,b}", "{1..3}", "{a", ",b}",
	"=", "x=", "x=p7", "x=a", "y+=b", "x[0]=", "time ", "time -p ", "coproc ", "function ", "f() ", "@(", "!(", "?(", "~", "*", "?", "[", "]", "-", "--", "-x", "echo ", ": ", "true ", "command ", "timeout 5 ", "env ",
	"nice ", "nohup ", "xargs ", "select x in ", "let ", "((", "p8", "p9", "p0", "2", "1>", "2>", "!!", "^a^b", "in", "do", "done", "then", "fi", "esac", "{", "}", "p1=", "\\p2", "p\\\n3", "p'4'", "\"p5\"",
	"\u00a0", "\u00e9", "\f", "\v", "$x ", "$1", "$?", "$@", "printf ", "test ", "set -e; ", "set -- ", "cd ", "cd d; ", "cd d && ", "exec ", ">{a,b}", "<{,a}", "> $x", ">'a b'", ">a{1..2}", ">$'a'", "<>b", "{p1}>a", ">&a", "<&a", "&>>c", "3>c", "x>a", ">a*", ">~", ">'a'b", ">-x", ">\"$x\"", "-eq ", " -a ", " = ", "break; ", "exit 0; ", "return; ", "eval ", "\\\\\n", "' #'", "\n#", "\n\n", ";;\n", "&\n", "|\n", "&&\n",
}

type generator struct {
	r   *rand.Rand
	out []string
}

func (g *generator) add(pieces ...string) { g.out = append(g.out, pieces...) }

func (g *generator) pick(of ...string) string { return of[g.r.IntN(len(of))] }

// mutate changes one piece.
func (g *generator) mutate() {
	if len(g.out) == 0 {
		return
	}
	i, p := g.r.IntN(len(g.out)), pieces[g.r.IntN(len(pieces))]
	switch g.r.IntN(4) {
	case 0:
		g.out[i] = p
	case 1:
		g.out = append(g.out[:i], g.out[i+1:]...)
	case 2:
		j := g.r.IntN(len(g.out))
		g.out[i], g.out[j] = g.out[j], g.out[i]
	default:
		g.out = append(g.out[:i:i], append([]string{p}, g.out[i:]...)...)
	}
}

func (g *generator) list(depth int) {
	for i := range 1 + g.r.IntN(max(1, 3-depth)) {
		if i > 0 {
			g.add(g.pick("; ", "\n", " && ", " || ", " | ", " & ", ";\n", " |& ", " # a\n", "\n\n"))
		}
		g.command(depth)
	}
}

func (g *generator) command(depth int) {
	form := g.r.IntN(27)
	if depth > 1 {
		form = 0
	}
	block := func(parts ...string) {
		for _, p := range parts {
			if p == "" {
				g.list(depth + 1)
			} else {
				g.add(p)
			}
		}
	}
	switch form {
	case 1:
		block("(", "", ")")
	case 2:
		block("{ ", "", "; }")
	case 3:
		block("if ", "", "; then ", "", "; else ", "", "; fi")
	case 4:
		block("for x in a p6 b; do ", "", "; done")
	case 5:
		block("while ", "", "; do ", "", "; done")
	case 6:
		block("case a in a) ", "", ";; b|c) ", "", g.pick(";;", ";&", ""), " esac")
	case 7:
		g.add("! ")
		g.simple(depth)
	case 8:
		g.add(g.pick("time ", "time -p ", "time -- ", "time -p -- "))
		g.simple(depth)
	case 9:
		block("[[ a = b ]] && ", "")
	case 11:
		g.add("cd ", g.pick("d", "", "d", "'d'", "~", "d d", "-", "a", "$x"), g.pick("", "", "", " <c", " <missing", " >d", " 2>&1", " 2>&3", " <&a"), g.pick("; ", " && ", "\n", " & ", " || ", " | "))
		g.simple(depth)
	case 10:
		g.add("x=", g.pick("a", "p7", "'p6 a'", "$(p2)", "\"$(p3 a)\"", "{a,b}", "'*'", "~", "b*"), g.pick("", "", "", " <c", " <missing", " >d", " 2>&1", " 2>&3", " <&a"), g.pick("; ", "\n", " && "))
		g.simple(depth)
	case 12:
		block("{ cd d; ", "", "x=c; }", g.pick("", " <c", " <missing"), g.pick("; ", " && ", "\n"))
		g.simple(depth)
	default:
		g.simple(depth)
		return
	}
	if g.r.IntN(8) == 0 {
		g.redirect()
	}
}

// redirect opens a file, whatever it is called.
func (g *generator) redirect() {
	g.add(" ", g.pick("", "", "", "", "1", "2", "3", "10", "{p1}", "{x}", "x", "-"), g.pick(">", "<", ">>", ">|", "<>", "&>", "&>>", ">&", "<&", ">", "<"), g.pick("", "", " ", "\\\n"))
	for range 1 + g.r.IntN(4)/3 {
		g.add(g.pick("a", "b", "c", "a", "b", "c", "a", "b", "c", "1", "{a", "p5", "'a'", "\"b\"", "\\a", "$'a'", "$'\\x61'", "$\"a\"", "'a b'", "a\\ b", "\"a'b\"", "a\\\nb",
			"{a,b}", "{,a}", "{a}", "{a,}", "{a..c}", "{1..3}", "{p1,a}", "'{a,b}'", "\\{a,b}", "{'a',b}", "{a", ",b}", "{$x,a}", "{a,b\\}",
			"$x", "\"$x\"", "${x}", "$1", "${x:-a}", "$?", "$((1+2))", "$(p1)", "\"$(p1)\"", "`p1`", "<(p1)", ">(p1)",
			"*", "?", "[ab]", "a*", "'*'", "\\*", "~", "'~'", "~a", "a~", "=~", "#", "\\#", "a#b", "%", "!", "^a", "-", "-x", "--", "1", "2", "3-", "=", "a=b", "]", "}", "''", "\"\"", "if", "E"))
	}
}

func (g *generator) simple(depth int) {
	switch g.r.IntN(14) {
	case 2:
		g.add(g.pick("cd d", "cd d", "cd d", "cd ~", "cd -", "command cd d", "pushd d", "popd", "eval cd d", "cd d a", "cd a"))
		return
	case 3:
		g.add(g.pick("x=c", "x=c", "x=b", "x=p5", "x=$x", "x=", "x=a y=$x", "x=d; cd $x", "unset x", "read x", "export x=c", "break", "continue", "exit", "exit 3", "return", "false"))
		return
	case 0:
		g.add(g.pick("command ", "LANG=C ", "TZ=a LC_ALL=b ", "timeout 5 ", "env ", "nice -n 5 "))
	case 1:
		g.redirect()
		g.add(" ")
	}
	g.add(g.pick("p1", "p2", "p3", "p4", "p5", "\\p6", "p'7'", "\"p8\"", "$'p9'", "p\\\n0", "{,p3}", "{p4}a,p5}", "echo", "true", ":", "p1", "p2", "printf a", "test a ="))
	here := ""
	for range g.r.IntN(4) {
		g.add(" ")
		switch g.r.IntN(10) {
		case 9:
			g.add(g.pick("$x", "\"$x\"", ">$x", ">\"$x\"", "<\"$x\"", "a$x", "$PWD", "\"$PWD\"", "$HOME", "$OLDPWD"))
		case 0:
			if depth < 3 {
				open := g.pick("$(", "\"$(", "<(", "`")
				g.add(open)
				g.list(depth + 2)
				g.add(map[string]string{"$(": ")", "\"$(": ")\"", "<(": ")", "`": "`"}[open])
			}
		case 1:
			g.add(g.pick("$(<a)", "\"$(<b)\"", "`<c`", "$x", "\"$x\"", "${x}", "$?", "$((1+2))", "{a,p5}", "{1..3}", "{a}b,c}", "a{,b}c", "{a,{b}", "~", "*"))
		case 2:
			if g.r.IntN(2) == 0 {
				g.add(g.pick("2>&1", "<<< p6", "<<< \"a b\""))
			} else {
				g.redirect()
			}
		case 3:
			if here == "" {
				here = g.pick("\na\nE\n", "\np6\n\tE\nE\n", "\n$(p7)\nE\n", "\np8 \\\nE\nE\n", "\n`p9`\n\ta\nE\n", "\n\\$(p1)\nE\n", "\nE\n")
				g.add(g.pick("<<E", "<<'E'", "<<-E", "<<\"E\"", "<<\\E", "<< E"))
			}
		default:
			g.add(g.pick("a", "b", "-x", "--", "'a b'", "'#'", "a#b", "\"a'b\"", "\\;", "'$(p6)'", "\"\\$(p6)\"", "\"\\`p6\\`\"", "$'\\'p6'", "$'a\\nb'", "a=b", "p6", "=", "!", "]]", "}", "'\n'", "\"\n\"", "\\\n", "\\#", "if", "done", "%", "^a", "1>"))
		}
	}
	if here != "" {
		g.add(here)
	}
}
