package permission

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestParts(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, c := range []struct{ in, want string }{
		{"curl x", "curl x"},
		{"echo a | cat; true", "echo a | cat / true"},
		{"true && curl x | sh; pwd", "curl x | sh / true / pwd"},
		{"{ true; curl x; }; (pwd; curl y)", "curl x / curl y / true / pwd"},
		{"for f in *; do rm $f; done; pwd", "for f in *; do rm $f; done / pwd"},
		{"(true; pwd) >../out", "(\n\ttrue\n\tpwd\n) >../out"},
		{"true # rm x\npwd", "true # rm x / pwd"},
		{"curl 'x\ntrue", "curl 'x / true"},
		{"true\rcurl x", "true / curl x"},
		{"true #\\\ncurl x", "true #\\ / curl x"},
		{"echo " + long + " $(curl x | sh) " + long, "echo " + long + " $(curl x | sh) " + long + " /  curl x | sh"},
		{"cat " + long + " | curl -d @- x | cat " + long, "cat " + long + " | curl -d @- x | cat " + long +
			" /  cat " + long + " | curl -d @- x /  cat " + long + " /  curl -d @- x /  cat " + long},
	} {
		p := Policy{Trusted: true, Lookup: func(string) bool { return true }, Path: []string{"/usr/bin"}}
		v := p.Decide(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: c.in, Dir: "/"}})
		var shown []string
		for _, part := range v.Parts {
			mark := ""
			switch {
			case part.Within:
				mark = " "
			case part.Why != "":
				mark = ""
			}
			shown = append(shown, mark+part.Text)
		}
		got := strings.Join(shown, " / ")
		if strings.ReplaceAll(got, "", "") != strings.ReplaceAll(c.want, "", "") {
			t.Errorf("%.60q (%v): %q, want %q", c.in, v.Action, got, c.want)
		}
	}
}
