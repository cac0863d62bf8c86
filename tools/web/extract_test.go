package web

import (
	"context"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

func TestExtract(t *testing.T) {
	at, _ := kinds.ParseURL("https://docs.example.com/guide/index.html")
	for _, c := range []struct{ name, in, want string }{
		{"structure", "<h1>A</h1><p>b <b>c</b> <em>d</em> <code>e</code></p><ul><li>f<li>g</ul><ol><li>h</ol><blockquote>i</blockquote><hr>",
			"# A\n\nb **c** *d* `e`\n\n- f\n- g\n\n1. h\n\n> i\n\n* * *"},
		{"table", "<table><tr><th>A<th>B<tr><td>1<td>a|b</table>", "| A | B |\n|---|---|\n| 1 | a\\|b |"},
		{"spans", "<table><tr><td colspan=1000000000 rowspan=1000000000>x<td>y</table>", "| x | y |\n|---|---|"},
		{"code", "<pre><code class=language-go>func x() {\n\t``\n}</code></pre>", "```go\nfunc x() {\n\t``\n}\n```"},
		{"links", `<a href="../x?y=z#part">a</a> <a href="//other.example">b</a> <a href="#here">c</a> <a href="http://h.example/p(1)">d</a>`,
			"[a](https://docs.example.com/x?y=z#part) [b](https://other.example/) c [d](http://h.example/p%281%29)"},
		{"dangerous links", `<a href="javascript:x()">a</a> <a href="command:x">b</a> <a href="file:///etc/passwd">c</a> <a href="vscode://x">d</a> <a href="https://a:b@c.example/">e</a> <a href="https://x.example/ y">f</a> <a href="data:text/html,x">g</a>`,
			"a b c d e [f](https://x.example/%20y) g"},
		{"base", `<base href="https://cdn.example/d/"><a href="x">a</a>`, "[a](https://cdn.example/d/x)"},
		{"images", `<p>see <img src="https://track.example/p.png?d=1" alt="a  cat"> and <img src=x> <picture><source srcset=x><img src=y alt=z></picture>`, "see (image: a cat) and (image: z)"},
		{"programs", "<script>alert(1)</script><style>p{}</style><p>x<noscript>n</noscript><iframe src=y>f</iframe><svg><text>s</text></svg><template>t</template>", "x"},
		{"hidden", `<p>x<span hidden>a</span><span style="display: none">b</span><span style="color:red;VISIBILITY:hidden">c</span><span aria-hidden=true>d</span><!-- e --></p>`, "x"},
		{"main", "<nav>menu</nav><div>side</div><main><p>" + strings.Repeat("long ", 60) + "</main>", strings.TrimSpace(strings.Repeat("long ", 60))},
		{"small main", "<p>intro</p><main>x</main>", "intro\n\nx"},
		{"forms", "<form><input value=v><textarea>t</textarea><select><option>o</select><button>b</button><label>l</label></form>", "l"},
		{"article", "<header><a href=/>Logo</a></header><div><article><p>" + strings.Repeat("long ", 60) + "<footer>by A</footer></article></div><aside>related</aside><footer>foot</footer>",
			strings.TrimSpace(strings.Repeat("long ", 60)) + "\n\nby A"},
		{"main by its role", "<div>side</div><div role=main><p>" + strings.Repeat("long ", 60) + "</div>", strings.TrimSpace(strings.Repeat("long ", 60))},
		{"several articles", "<article>a</article><article>b</article><footer>foot</footer><div role=navigation>n</div>", "a\n\nb"},
		{"nothing but navigation", "<nav><a href=/a>A</a></nav><footer>foot</footer>", "[A](https://docs.example.com/a)\n\nfoot"},
		{"lines in cells", "<table><tr><th>A<th>B<tr><td>x<br>y<td><p>p<p>q<ul><li>r<li>s</ul></table>",
			"| A | B |\n|---|---|\n| x  <br />y | p  <br />q  <br />• r  <br />• s |"},
		{"cells that span", "<table><tr><th>A<th>B<th>C<tr><td rowspan=2>x<td colspan=2>y<tr><td>z<td>w</table>",
			"| A | B | C |\n|---|---|---|\n| x | y |  |\n|  | z | w |"},
		{"table as layout", "<table><tr><td><h2>H</h2><table><tr><td>a<td>b</table><td>side</table>", "## H\n\n| a | b |\n|---|---|\n\nside"},
		{"code in a table", "<table><tr><td>1<td><pre>a\nb</pre></table>", "1\n\n```\na\nb\n```"},
		{"table in a link", "<a href=/x><table><tr><td>a<td>b</table></a>", "[a  \n\\\nb](https://docs.example.com/x)"},
		{"powers", "10<sup>6</sup> x<sup>-n</sup> 1<sup>st</sup>", "10^6 x^-n 1st"},
		{"struck out", "<del>a</del><s></s> ~/b", "~~a~~ ~/b"},
		{"links as browsers take them", "<a href=' /a b\"c '>x</a> <a href='/d\n e'>y</a> <a href=/f><svg></svg></a><h2>T<a href=#t>¶</a></h2>",
			"[x](https://docs.example.com/a%20b%22c) [y](https://docs.example.com/d%20e)\n\n## T"},
		{"nothing", "", ""},
		{"no page", "just text", "just text"},
	} {
		got, _ := extract(t.Context(), c.in, at, tools.WebMarkdown)
		if got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
	if _, title := extract(t.Context(), "<title> A\n b </title><svg><title>c</title></svg>", at, tools.WebMarkdown); title != "A b" {
		t.Errorf("the title is %q", title)
	}
}

func TestStrip(t *testing.T) {
	for _, c := range []struct{ in, want, title string }{
		{"<title>T</title><h1>A</h1><p>b <b>c</b>d<br>e</p><script>f</script><ul><li>g<li>h</ul>", "A\n\nb cd\ne\n\ng\nh", "T"},
		{"<pre>a\n  b</pre>c", "a\n  b\n\nc", ""},
		{"<table><tr><td>a<td>b<tr><td>c", "a b\nc", ""},
		{"a &lt;b&gt; &amp;amp; c", "a <b> &amp; c", ""},
		{"<p>a<script>x</p>b", "a", ""},
		{"<<<>< a <b", "<<<>< a", ""},
		{"</p></p></p>", "", ""},
		{"a<p hidden>b <b>c</b><p>d<div style='display:none'>e<div>f</div>g</div><img hidden>h<li aria-hidden=true>i<li>j", "a\n\nd\nh\nj", ""},
		{"a<div hidden>b", "a", ""},
	} {
		if got, title := strip(c.in); got != c.want || title != c.title {
			t.Errorf("strip(%q) = %q, %q; want %q, %q", c.in, got, title, c.want, c.title)
		}
	}
}

// TestPlainTextLeavesOutWhatIsHidden holds that a format shows no more than another.
func TestPlainTextLeavesOutWhatIsHidden(t *testing.T) {
	at, _ := kinds.ParseURL("https://docs.example.com/")
	const page = `<title>T</title><nav>menu</nav><p>x<span hidden>SEC1</span><span style="display: none">SEC2</span><span aria-hidden=true>SEC3</span><textarea>SEC4</textarea></p>`
	for _, page := range []string{page, strings.Repeat("<div>", 1000) + page} {
		got, title := extract(t.Context(), page, at, tools.WebText)
		if strings.Contains(got, "SEC") || !strings.Contains(got, "x") || title != "T" {
			t.Errorf("%q, titled %q", got, title)
		}
	}
}

// hostilePages are pages made to take long, or to become large.
func hostilePages() map[string]string {
	const size = maxBody / 8 // what is worse than linear shows, and the tests go on
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"deep":           fill("<div>"),
		"deep text":      strings.Repeat("<div>x", 400) + strings.Repeat("</div>", 400) + "end",
		"deep lists":     strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>x", 50_000),
		"deep quotes":    strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 100_000),
		"formatting":     fill("<b><i><p>"),
		"formatting one": fill("<font size=1>x<p>"),
		"adoption":       fill("<a href=x><p>"),
		"tables":         fill("<table><td>"),
		"cells":          "<table><tr>" + fill("<td>"),
		"rows":           "<table>" + fill("<tr><td>x"),
		"wide and high":  "<table><tr>" + strings.Repeat("<td>", 60_000) + strings.Repeat("<tr><td>x", 40_000),
		"spans":          "<table>" + strings.Repeat("<tr><td colspan=99 rowspan=99>x", 20_000),
		"spans down":     "<table><tr>" + strings.Repeat("<td>x", 20_000) + "<td rowspan=99>x",
		"many tables":    fill("<table><tr><td><td><td><td><td><td><td><td><tr><td></table>"),
		"list in cells":  "<table>" + fill("<tr><td><ul><li>x<li>y</ul>"),
		"breaks in cell": "<table><tr><td>" + fill("<br>"),
		"wide cell":      "<table><tr><td>" + strings.Repeat("w", 500_000) + strings.Repeat("<tr><td>x", 100_000),
		"links":          fill(`<a href="/x">y</a>`),
		"nested links":   fill(`<a href="/x"><b>`),
		"text":           fill("word "),
		"marks":          fill("*_`[]<>#"),
		"back-ticks":     "<pre>" + fill("`"),
		"entities":       fill("&amp;"),
		"open tag":       "<a " + fill("b=c "),
		"open comment":   "<!--" + fill("-"),
		"select":         fill("<select><option>"),
		"attributes":     fill(`<p a=b c=d e=f style="display:none">`),
		"headings":       fill("<h1>x</h1>"),
		"breaks":         fill("<br>"),
		"list items":     "<ol>" + fill("<li>x"),
		"foreign":        fill("<svg><g>"),
		"framesets":      fill("<frameset>"),
		"templates":      fill("<template>"),
		"emphasis":       fill("<b>x</b>"),
		"blanks":         fill("<b> </b>"),
		"base":           `<base href="https://x.example/` + strings.Repeat("a", 60_000) + `/">` + strings.Repeat("<a href=y>z</a>", 20_000),
		"long base":      `<base href="https://x.example/` + strings.Repeat("a", 2_000) + `/">` + strings.Repeat("<a href=y>z</a>", 20_000),
	}
}

// TestHostilePages holds that no page becomes much more than it is, nor takes
// for ever. How long each takes is in the log.
func TestHostilePages(t *testing.T) {
	at, _ := kinds.ParseURL("https://docs.example.com/")
	for name, page := range hostilePages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := extract(t.Context(), page, at, tools.WebMarkdown)
			if len(got) > 4*len(page)+1000 {
				t.Errorf("%d bytes become %d", len(page), len(got))
			}
		})
	}
}

// TestExtractEnds holds that a page is not parsed on when nobody waits for it.
func TestExtractEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at, _ := kinds.ParseURL("https://docs.example.com/")
	if got, _ := extract(ctx, "<b>x</b> y", at, tools.WebMarkdown); got != "x y" {
		t.Errorf("it was converted: %q", got)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("<h1>A</h1><p>b <a href=../x>c</a><table><tr><td>d</table>")
	f.Add(`<ul><li><blockquote><pre><code>x</code></pre><img alt="](javascript:x)"></ul>`)
	f.Add("<a href='https://x.example/\">\n<'><b>]( x</a><!--")
	at, _ := kinds.ParseURL("https://docs.example.com/")
	f.Fuzz(func(t *testing.T, page string) {
		for _, format := range []string{tools.WebMarkdown, tools.WebText} {
			text, _ := extract(t.Context(), page, at, format)
			if len(text) > 100*len(page)+1000 {
				t.Fatalf("%d bytes become %d", len(page), len(text))
			}
			if strings.Contains(text, "](javascript:") && !strings.Contains(page, "](javascript:") {
				t.Fatalf("a dangerous link: %q", text)
			}
		}
	})
}
