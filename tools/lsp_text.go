package tools

import (
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
)

// maxLineText is how many characters of a line of code are shown.
const maxLineText = 300

// lineText is a line of code, cut where it is long.
func lineText(line string) string {
	if r := []rune(line); len(r) > maxLineText {
		return string(r[:maxLineText]) + "…"
	}
	return line
}

// found words the places of a look-up.
func (a *lspCall) found(answer lsp.Answer) Result {
	if len(answer.Found) == 0 {
		what := a.in.Symbol
		if what == "" {
			what = fmt.Sprintf("what stands at line %d, character %d", a.in.Line, a.in.Character)
		}
		text := fmt.Sprintf("%s knows of no %s of %s%s.", answer.Server, strings.ReplaceAll(a.in.Operation, "_", " "), what, answer.Busy)
		if answer.Left != "" {
			text += "\n" + mayBeMore(answer.Left)
		}
		return plainResult(strings.TrimSuffix(text, "\n"))
	}
	var b strings.Builder
	shown := answer.Found
	for i, f := range shown {
		if b.Len() > maxFoundText {
			shown = shown[:i]
			break
		}
		a.place(&b, f)
	}
	a.rest(&b, len(shown), answer.All)
	if answer.Left != "" {
		b.WriteString(mayBeMore(answer.Left))
	}
	if answer.Busy != "" {
		fmt.Fprintf(&b, "(There may be more: %s has not finished%s.)\n", answer.Server, answer.Busy)
	}
	r := plainResult(strings.TrimSuffix(b.String(), "\n"))
	r.Locations, r.Truncated = a.places(shown), len(shown) < answer.All
	r.Metadata = map[string]any{"results": answer.All}
	return r
}

// mayBeMore says why a list may not be whole.
func mayBeMore(why string) string { return fmt.Sprintf("(There may be more: %s.)\n", oneLine(why)) }

// rest says how many there are where not all are shown, and how to see more.
func (a *lspCall) rest(b *strings.Builder, shown, all int) {
	switch {
	case shown == all:
	case shown < a.in.MaxResults || a.in.MaxResults == maxFound:
		fmt.Fprintf(b, "(%d of %d; ask for less to see all)\n", shown, all)
	default:
		fmt.Fprintf(b, "(%d of %d; max_results gives more)\n", shown, all)
	}
}

// place writes one place.
func (a *lspCall) place(b *strings.Builder, f lsp.Found) {
	name := oneLine(f.URI) // of what is no file
	if name == "" {
		name = a.ws.Name(f.Path)
	}
	fmt.Fprintf(b, "%s:%d:%d", name, f.At.Line, f.At.Column)
	if f.Name != "" {
		fmt.Fprintf(b, " %s %s", f.Kind, a.called(f.Name))
	}
	if f.URI != "" {
		b.WriteString(" (no file)")
	}
	if f.Shown && f.Line != "" && !a.hidden(f.Path) {
		b.WriteString(" " + f.Line)
	}
	b.WriteString("\n")
	if d := f.In; d != nil && !(d.First == d.Last && d.At == f.At) {
		fmt.Fprintf(b, "    in %s %s, lines %d-%d\n", d.Kind, a.joinName(*d), d.First, d.Last)
	}
	if len(f.Calls) > 0 {
		var at []string
		for _, c := range f.Calls {
			at = append(at, fmt.Sprintf("%d:%d", c.Line, c.Column))
		}
		fmt.Fprintf(b, "    calls at %s\n", strings.Join(at, ", "))
	}
}

// maxIndent is how many steps an outline is indented by.
const maxIndent = 20

// outline words the symbols of a file.
func (a *lspCall) outline(list []lsp.Symbol) Result {
	if len(list) == 0 {
		return plainResult("The file declares nothing.")
	}
	var b strings.Builder
	shown := list[:min(len(list), max(a.in.MaxResults, defaultFound))]
	for i, s := range shown {
		if b.Len() > maxFoundText {
			shown = shown[:i]
			break
		}
		lines := fmt.Sprint(s.First)
		if s.Last > s.First {
			lines = fmt.Sprintf("%d-%d", s.First, s.Last)
		}
		fmt.Fprintf(&b, "%s%s %s%s  [%s]\n", strings.Repeat("  ", min(s.Depth, maxIndent)), s.Kind, a.called(s.Name), detail(s), lines)
	}
	a.rest(&b, len(shown), len(list))
	r := plainResult(strings.TrimSuffix(b.String(), "\n"))
	r.Truncated = len(shown) < len(list)
	return r
}

// detail is what a server adds to a symbol's name, on one line.
func detail(s lsp.Symbol) string {
	if s.Detail == "" {
		return ""
	}
	return " " + lineText(oneLine(s.Detail))
}

// symbols words symbols of the project.
func (a *lspCall) symbols(list []lsp.Symbol, failed []error) Result {
	var b strings.Builder
	if len(list) == 0 {
		fmt.Fprintf(&b, "No symbol is like %s.\n", kinds.Quote(a.in.Query))
	}
	shown := list[:min(len(list), a.in.MaxResults)]
	var places []lsp.Found
	for i, s := range shown {
		if b.Len() > maxFoundText {
			shown = shown[:i]
			break
		}
		fmt.Fprintf(&b, "%s:%d:%d %s %s", a.ws.Name(s.Path), s.At.Line, s.At.Column, s.Kind, a.called(s.Name))
		if s.In != "" {
			fmt.Fprintf(&b, " (in %s)", a.called(s.In))
		}
		b.WriteString("\n")
		places = append(places, lsp.Found{Path: s.Path, At: s.At})
	}
	a.rest(&b, len(shown), len(list))
	for _, err := range failed {
		fmt.Fprintf(&b, "(There may be more: %v)\n", err)
	}
	r := plainResult(strings.TrimSuffix(b.String(), "\n"))
	r.Locations, r.Truncated = a.places(places), len(shown) < len(list)
	return r
}

// severities by name, the gravest first.
var severities = [...]string{"error", "warning", "info", "hint"}

// problems words diagnostics.
func (a *lspCall) problems(p lsp.Problems) Result {
	least := len(severities)
	for i, name := range severities {
		if name == a.in.Severity {
			least = i + 1
		}
	}
	var b strings.Builder
	var places []lsp.Found
	shown, all := 0, 0
	for _, d := range p.Items {
		if int(d.Severity) > least {
			continue
		}
		if all++; shown == a.in.MaxResults || b.Len() > maxFoundText {
			continue
		}
		shown++
		b.WriteString(ProblemLine(a.withhold(d), a.ws.Name) + "\n")
		places = append(places, lsp.Found{Path: d.Path, At: d.At})
	}
	if all += p.More; shown < all {
		fmt.Fprintf(&b, "(%d of %d; max_results gives more)\n", shown, all)
	}
	if all == 0 && len(p.NotReady) == 0 {
		what := "problems"
		if least < len(severities) {
			what = severities[least-1] + "s or worse"
		}
		if len(p.Partly) > 0 {
			what += " in what is judged"
		}
		fmt.Fprintf(&b, "No %s, says %s.\n", what, strings.Join(p.Servers, " and "))
	}
	for _, why := range p.NotReady {
		fmt.Fprintf(&b, "Not ready yet: %s. What is listed may be incomplete or out of date; ask again.\n", why)
	}
	for _, left := range p.Partly {
		fmt.Fprintf(&b, "(There may be more: %s; name a file with path.)\n", left)
	}
	r := plainResult(strings.TrimSuffix(b.String(), "\n"))
	r.Locations, r.Truncated = a.places(places), shown < all
	r.Metadata = map[string]any{"problems": all, "ready": len(p.NotReady) == 0}
	return r
}

// withhold is a diagnostic without its message where that is of a file that may not be
// read: servers put what stands there into it, as of a constant of the wrong type. A
// file that the call names was judged with it.
func (a *lspCall) withhold(d lsp.Diagnostic) lsp.Diagnostic {
	if a.in.Path == "" && a.hidden(d.Path) {
		d.Message = "in a file that may not be read, so that what it says is not told"
	}
	return d
}

// Withhold takes the messages of problems in files that may not be read.
func Withhold(ws *Workspace, lists ...[]lsp.Diagnostic) {
	a := newLSPCall(ws, lspInput{})
	for _, list := range lists {
		for i, d := range list {
			list[i] = a.withhold(d)
		}
	}
}

// ProblemLine is a diagnostic on one line: path:line:column severity code message
// (source).
func ProblemLine(d lsp.Diagnostic, name func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d %s", name(d.Path), d.At.Line, d.At.Column, d.Severity)
	if d.Code != "" && d.Code != "0" && d.Code != "default" {
		b.WriteString(" " + lineText(oneLine(d.Code)))
	}
	b.WriteString(" " + lineText(oneLine(d.Message)))
	if d.Source != "" {
		b.WriteString(" (" + lineText(oneLine(d.Source)) + ")")
	}
	return b.String()
}

// actions words what servers offer. What cannot be applied is only counted.
func (a *lspCall) actions(list []lsp.Action) Result {
	var b strings.Builder
	shown, offered, disabled, runs := 0, 0, 0, 0
	for _, one := range list {
		switch {
		case one.Disabled != "":
			disabled++
			continue
		case one.Runs != "":
			runs++
			continue
		}
		if offered++; shown == a.in.MaxResults || b.Len() > maxFoundText {
			continue
		}
		shown++
		b.WriteString(oneLine(one.Title))
		if one.Kind != "" {
			b.WriteString("  [" + oneLine(one.Kind) + "]")
		}
		if one.Preferred {
			b.WriteString(" (preferred)")
		}
		b.WriteString("\n")
	}
	a.rest(&b, shown, offered)
	if offered > 0 {
		b.WriteString("One is applied with apply: its title.\n")
	} else {
		b.WriteString("No code action is offered there.\n")
	}
	var left []string
	if disabled > 0 {
		left = append(left, fmt.Sprintf("%d that cannot be done there", disabled))
	}
	if runs > 0 {
		left = append(left, fmt.Sprintf("%d that only run something of the server's", runs))
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "(Left out: %s.)\n", strings.Join(left, ", "))
	}
	r := plainResult(strings.TrimSuffix(b.String(), "\n"))
	r.Truncated = shown < offered
	return r
}
