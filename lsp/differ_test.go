package lsp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// written are diagnostics written as "LINE SEVERITY MESSAGE, ...".
func written(text string) []wireDiagnostic {
	var out []wireDiagnostic
	for one := range strings.SplitSeq(text, ", ") {
		part := strings.SplitN(one, " ", 3)
		if len(part) < 3 {
			continue
		}
		n, _ := strconv.Atoi(part[0])
		severity, _ := strconv.Atoi(part[1])
		out = append(out, wireDiagnostic{Range: lineRange(n-1, 0, 1), Severity: protocol.DiagnosticSeverity(severity), Message: marked(part[2])})
	}
	return out
}

// writtenAs is the way back.
func writtenAs(list []wireDiagnostic) string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%d %d %s", d.Range.Start.Line+1, int(d.Severity), d.Message))
	}
	return strings.Join(out, ", ")
}

func TestDiffer(t *testing.T) {
	for _, tt := range []struct {
		name, old, new, past, present, fresh, gone string
	}{
		{name: "nothing"},
		{"the same", "a b c", "a b c", "2 1 x", "2 1 x", "", ""},
		{"a line went in above", "a b c", "z a b c", "2 1 x, 3 2 y", "3 1 x, 4 2 y", "", ""},
		{"lines went out above", "a b c d", "d", "4 1 x", "1 1 x", "", ""},
		{"the same message twice, one gone", "a b c", "a c", "1 1 x, 2 1 x", "1 1 x", "", "2 1 x"},
		{"the same message a second time", "a b c", "a b q c", "2 1 x", "2 1 x, 3 1 x", "3 1 x", ""},
		{"the same message elsewhere", "a b c", "A b C", "1 1 x", "3 1 x", "", ""},
		{"it moved among the lines that changed", "a b c d", "a c2 b d", "2 1 x", "3 1 x", "", ""},
		{"one on a line that did not change is new", "a b c d", "a B c d", "2 1 x", "4 1 x", "4 1 x", "2 1 x"},
		{"a warning became an error", "a b", "a b c", "2 2 x", "2 1 x", "2 1 x", ""},
		{"an error became a warning", "a b", "a b c", "2 1 x", "2 2 x", "", "2 1 x"},
		{"a line that is named moved", "a b c", "z a b c", "3 1 see line 2", "4 1 see line 13", "", ""},
		{"another message at the place", "a b", "a B", "2 1 x", "2 1 y", "2 1 y", "2 1 x"},
		{"another number of fixes is known", "a b", "a b", "1 1 x (fix available), 2 1 y", "1 1 x, 2 1 y (fixes available)", "", ""},
		{"all new", "a", "a b", "", "1 1 x, 2 1 x", "1 1 x, 2 1 x", ""},
		{"all gone", "a b", "a", "1 1 x, 2 1 x", "", "", "1 1 x, 2 1 x"},
		{"an empty text", "", "a b", "1 1 x", "1 1 x", "", ""},
		{"a place behind the end", "a b", "z a b", "9 1 x", "10 1 x", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := moved(strings.ReplaceAll(tt.old, " ", "\n"), strings.ReplaceAll(tt.new, " ", "\n"))
			fresh, gone := differ(written(tt.past), written(tt.present), lines)
			if writtenAs(fresh) != tt.fresh || writtenAs(gone) != tt.gone {
				t.Errorf("new %q, want %q; gone %q, want %q", writtenAs(fresh), tt.fresh, writtenAs(gone), tt.gone)
			}
		})
	}
}

// FuzzDiffer: what is new, what is gone and what stays add up, and nothing is new or
// gone where nothing changed.
func FuzzDiffer(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nb\nc", []byte{1, 1, 2, 7, 3, 1}, []byte{1, 1, 3, 7})
	f.Add("", "a", []byte{}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, old, new string, was, is []byte) {
		list := func(data []byte) []wireDiagnostic {
			var out []wireDiagnostic
			for i := 0; i+1 < len(data); i += 2 {
				out = append(out, wireDiagnostic{Range: lineRange(int(data[i]), 0, 1), Severity: protocol.DiagnosticSeverity(data[i+1]%5 + 1), Message: marked(strconv.Itoa(int(data[i+1] / 5 % 3)))})
			}
			return out
		}
		past, present := list(was), list(is)
		fresh, gone := differ(past, present, moved(old, new))
		if len(fresh) > len(present) || len(gone) > len(past) {
			t.Errorf("%d new of %d, %d gone of %d", len(fresh), len(present), len(gone), len(past))
		}
		if fresh, gone = differ(past, past, moved(old, old)); len(fresh)+len(gone) > 0 {
			t.Errorf("nothing changed, and %v is new, %v gone", fresh, gone)
		}
	})
}
