package permission

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func bracedTexts(t *testing.T, text string) []string {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(": "+text), "")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	args := file.Stmts[0].Cmd.(*syntax.CallExpr).Args[1:]
	if len(args) == 0 {
		return nil // the end of a line alone, escaped
	}
	list, all := bracedWords(args[0])
	if !all {
		t.Fatalf("%q makes too many words", text)
	}
	var out []string
	for _, w := range list {
		d := (&shell{judge: newJudge(&Policy{}, "bash")}).word(w, nil)
		out = append(out, d.text)
	}
	return out
}

func TestBraces(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{`{a,b}`, "a b"}, {`x{a,b}y`, "xay xby"}, {`{a,b}{c,d}`, "ac ad bc bd"}, {`{a,{b,c}}`, "a b c"}, {`{1..3}`, "1 2 3"}, {`{a..e..2}`, "a c e"},
		{`{a}b,c}`, "a}b c"}, {`{},a}`, "{},a}"}, {`x{},a}`, "x} xa"}, {`{a}..{c}`, "{a}..{c}"}, {`{a{b,c}`, "{ab {ac"}, {`{a,b`, "{a,b"},
		{`a{b},c}d{e,f}`, "ab}de ab}df acde acdf"}, {`{a,{b}c,d}`, "a {b}c d"}, {`{1..}x{a,b}`, "{1..}xa {1..}xb"}, {`{a..}}`, "{a..}}"}, {`{..}`, "{..}"},
		{`{a,b}}`, "a} b}"}, {`{{a,b}`, "{a {b"}, {`{,}`, ""}, {`x{,}`, "x x"}, {`{"a"}b,/}`, "a}b /"}, {`{a\,b}`, "{a,b}"}, {`{a,b\}`, "{a,b}"}, {`{a..c,d}`, "a..c d"},
		{`{{}b,c}`, "{}b c"}, {`{x,y{}`, "{x,y{}"}, {`{}{a,b}`, "{}a {}b"}, {`{}a{}b,c}`, "{}a}b {}ac"}, {`{a,'}'}`, "a }"}, {`{1,2}..{3}`, "1..{3} 2..{3}"},
		{`{a..b}..{c}`, "a..{c} b..{c}"}, {`{1..3","}`, "1..3,"}, {`{}`, "{}"}, {`HEAD@{1}`, "HEAD@{1}"}, {`@{u}..@{1}`, "@{u}..@{1}"}, {`{,a}`, "a"},
	} {
		if got := strings.Join(bracedTexts(t, c.word), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}

// What has too many braces to be followed asks, and takes no time.
func TestManyBraces(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "*")}
	for _, word := range []string{
		strings.Repeat("{a,b}", 20), "{1..100000}", "{1..999999999}", strings.Repeat("{a,", 500) + strings.Repeat("}", 500), strings.Repeat("{", 1400) + ",}",
		strings.Repeat("{a", 700) + strings.Repeat(",b", 700), strings.Repeat("{a}", 700) + ",b}",
	} {
		if v := bash(p, "ls "+word); v.Action < ForcedAsk {
			t.Errorf("%.30q…: %v (%s)", word, v.Action, v.Reason)
		}
	}
}

// TestBracesAsBash holds what braces make against bash itself.
func TestBracesAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	pieces := []string{"{", "{", "{", "}", "}", "}", ",", ",", "..", ".", "a", "b", "1", "3", "-", "''", `"a,"`, `\,`, `\{`, `\}`, `\ `, "{a,b}", "{}", "{1..3}", "'}'", "\\\n", "@", `"{"`}
	r := rand.New(rand.NewPCG(1, 2))
	var words []string
	script := "export LC_ALL=C\n"
	for range 4000 {
		word := ""
		for range 1 + r.IntN(9) {
			word += pieces[r.IntN(len(pieces))]
		}
		words = append(words, word)
		script += fmt.Sprintf("printf '%%s\\1' x%s; printf '\\2'\nprintf '%%s\\1' 'x' %s; printf '\\2'\n", word, word)
	}
	cmd := exec.Command(bash, "--noprofile", "--norc")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, printed := range strings.Split(strings.TrimSuffix(string(out), "\x02"), "\x02") {
		want := strings.Split(strings.TrimSuffix(printed, "\x01"), "\x01")
		word := words[i/2]
		if i%2 == 0 {
			word = "x" + word
		} else {
			want = want[1:]
		}
		if got := bracedTexts(t, word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, and bash makes %q", word, got, want)
		}
	}
}
