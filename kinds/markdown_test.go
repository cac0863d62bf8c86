package kinds

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMarkdownCorpus runs the cases of render_markdown.
func TestMarkdownCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "testdata", "security", "net_cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ ID, Op, URL, Want string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Op != "render_markdown" {
			continue
		}
		ran++
		if got := SafeMarkdown(c.URL); (got == c.URL) != (c.Want == "allow") || c.Want != "allow" && strings.Contains(got, c.URL) {
			t.Errorf("%s: %q becomes %q; want %s", c.ID, c.URL, got, c.Want)
		}
	}
	if ran < 5 {
		t.Errorf("only %d cases ran", ran)
	}
}

// TestMarkdownKeeps holds that everyday text stays as it is, code above all.
func TestMarkdownKeeps(t *testing.T) {
	for _, text := range []string{
		"", "plain", "a < b && c > d, x <- y, i<3, Vec<T>, Map<K, V>, a <= b", "<b>bold</b> <br> <br/> <details>\n<summary>x</summary>\n</details>",
		"[a](https://x.example/y_(z)?q=1#f) [b](src/main.go:12) [c](#part) [d](mailto:a@b.example) [e](/abs/path) [f](main.go:12) [g](<a b.md> \"title\")",
		"<https://x.example/> <a@b.example> https://x.example/?a=b", "[ref]: https://x.example/ \"t\"\n[ref]", "![a](diagram.png) ![b](../x/y.svg 'T')",
		"![x](data:image/png;base64,AA+/=) after", "Hello! [a](b) wow!! and [WARN]: text, arr[0](1), m[k]: v",
		"`![x](https://e.example/p)` and ``<img src=` x>`` end", "```html\n<img src=https://e.example/p>\n![x](https://e.example/p)\n```\nafter",
		"~~~\n<a href=command:x>\n~~~~\n", "```\n```` \n```\nafter", "- item\n\n  ```sh\n  echo <img src=x>\n  ```\n- next `[x](file:///y)`",
		"1. step\n   ```go\n   x <- y[0](z)\n\n   <img src=x>\n   ```\n2. step", "   ```\n   <img src=x>\n   ```", "```\n<img src=x> without an end",
		"\\![x] \\` \\<img src=x\\>"[:7], "日本 😀 é", "a\n\n\tb\n", "| a | b |\n|---|---|\n| `x` | y |", "# H\n\n> quote `code`\n",
	} {
		if got := SafeMarkdown(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestMarkdownTakes holds that what would load or start something does not, however
// it is written, and whatever stands around it.
func TestMarkdownTakes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"![x](https://e.example/p)", "(image) [x](https://e.example/p)"},
		{"!![x](//e.example/p)", "!(image) [x](//e.example/p)"},
		{"![x][r]\n\n[r]: https://e.example/p", "(image) [x][r]\n\n[r]: https://e.example/p"},
		{"![r]", "(image) [r]"},
		{"![x]( <https://e.example/p> 't')", "(image) [x]( <https://e.example/p> 't')"},
		{"![x](file:///p)", "(image) [x]\\(file:///p)"},
		{"![a`](b)![x](https://e.example/p)`", "(image) [a`](b)![x](https://e.example/p)`"},
		{"![x](\\/\\/e.example/p)", "(image) [x](\\/\\/e.example/p)"},
		{"![x](&#104;ttps://e.example/p)", "(image) [x](&#104;ttps://e.example/p)"},
		{"[![x](https://e.example/p)](y)", "[(image) [x](https://e.example/p)](y)"},
		{"![x](data:image/png;base64,AA`)![y](https://e.example/)`", "![x](data:image/png;base64,AA)`)![y](https://e.example/)`"},
		{"![x](data:image/svg+xml;base64,PHN2Zz4=)", "(image) [x]\\(data:image/svg+xml;base64,PHN2Zz4=)"},
		{"![x](data:image/svg+xml,%3Csvg%3E)", "(image) [x]\\(data:image/svg+xml,%3Csvg%3E)"},
		{"![x](data:image/SVG+xml;base64,AA)", "(image) [x]\\(data:image/SVG+xml;base64,AA)"},
		{"![x](data:image/;base64,AA)", "(image) [x]\\(data:image/;base64,AA)"},
		{"![x](DATA:image/svg+xml,A)", "(image) [x]\\(DATA:image/svg+xml,A)"},
		{"[c](command:x)", "[c]\\(command:x)"},
		{"[c](COMMAND:x)", "[c]\\(COMMAND:x)"},
		{"[c](&#99;ommand:x)", "[c]\\(&#99;ommand:x)"},
		{"[c](command\\:x)", "[c]\\(command\\:x)"},
		{"[c](<java\tscript:x>)", "[c]\\(&lt;java\tscript:x>)"},
		{"[c](\ncommand:x)", "[c]\\(\ncommand:x)"},
		{"[c](vscode://x)", "[c]\\(vscode://x)"},
		{"[c](file:///etc/passwd)", "[c]\\(file:///etc/passwd)"},
		{"[c](data:text/html,x)", "[c]\\(data:text/html,x)"},
		{"[c](https://a:b@e.example/)", "[c]\\(https://a:b@e.example/)"},
		{"[c](https://e.ex\u0430mple/)", "[c]\\(https://e.ex\u0430mple/)"},
		{"[c](http://0x7f.1/)", "[c]\\(http://0x7f.1/)"},
		{"[r]: command:x\n[r]", "[r]\\: command:x\n[r]"},
		{"> [r]:\n> command:x", "> [r]:\n> command:x"},
		{"<command:x> <file:///x> <x.y+z:w>", "&lt;command:x> &lt;file:///x> &lt;x.y+z:w>"},
		{"<img src=https://e.example/p>", "&lt;img src=https://e.example/p>"},
		{"<IMG\nSRC=x>", "&lt;IMG\nSRC=x>"}, {"<img/src=x>", "&lt;img/src=x>"}, {"<a href='command:x'>y</a>", "&lt;a href='command:x'>y</a>"},
		{"<style>@import x</style>", "&lt;style>@import x&lt;/style>"}, {"<script>", "&lt;script>"}, {"<!-- x", "&lt;!-- x"}, {"<?x", "&lt;?x"},
		// What only looks like code.
		{"`![x](https://e.example/p)", "`(image) [x](https://e.example/p)"},
		{"``![x](https://e.example/p)`", "``(image) [x](https://e.example/p)`"},
		{"`a\nb` ![x](https://e.example/p) `", "`a\nb` (image) [x](https://e.example/p) `"},
		{"`a|b` ![x](https://e.example/p) `", "`a|b` (image) [x](https://e.example/p) `"},
		{"\\`![x](https://e.example/p)`", "\\`(image) [x](https://e.example/p)`"},
		{"[a](`)![x](https://e.example/p)`", "[a]\\(`)![x](https://e.example/p)`"},
		{"[a](/u \"`\")![x](https://e.example/p)\"`\"", "[a]\\(/u \"`\")![x](https://e.example/p)\"`\""},
		{"    ```\n![x](https://e.example/p)", "    ```\n(image) [x](https://e.example/p)"},
		{"``` a`b\n![x](https://e.example/p)", "``` a`b\n(image) [x](https://e.example/p)"},
		{"~~~\r~~~\r![x](https://e.example/p)", "~~~\n~~~\n(image) [x](https://e.example/p)"},
		{"```\n```\n![x](https://e.example/p)", "```\n```\n(image) [x](https://e.example/p)"},
		{"- a\n  ```\n![x](https://e.example/p)", "- a\n  ```\n(image) [x](https://e.example/p)"},
		{"- ```\n  a\n  ```\n  ![x](https://e.example/p)", "- ```\n  a\n  ```\n  (image) [x](https://e.example/p)"},
		{"> ```\n![x](https://e.example/p)", "> ```\n(image) [x](https://e.example/p)"},
		{"<div>\n```\n<img src=x>", "<div>\n```\n&lt;img src=x>"},
		{"- <div>\n  ```\n  <img src=x>", "- <div>\n  ```\n  &lt;img src=x>"},
		{"<!--\n```\n-->\n<img src=x>", "&lt;!--\n```\n-->\n&lt;img src=x>"},
		{"- a\n  - b\n   ```\n ![x](https://e.example/p)", "- a\n  - b\n   ```\n (image) [x](https://e.example/p)"},
		{"a\n2. b\n      ```\n      ![x](https://e.example/p)", "a\n2. b\n      ```\n      (image) [x](https://e.example/p)"},
		{"- a\n        - b\n          ```\n          ![x](https://e.example/p)", "- a\n        - b\n          ```\n          (image) [x](https://e.example/p)"},
		{"[the code]:\n~~~\na\n~~~\n![x](https://e.example/p)", "[the code]:\n~~~\na\n~~~\n(image) [x](https://e.example/p)"},
	} {
		if got := SafeMarkdown(c.in); got != c.want {
			t.Errorf("%q:\n%q\nwant\n%q", c.in, got, c.want)
		}
	}
}

// TestMarkdownStreams holds that a text that comes in pieces is judged as a whole
// is, and that ordinary words are not kept back.
func TestMarkdownStreams(t *testing.T) {
	var m Markdown
	for _, word := range []string{"Hello", " there. ", "- ", "x", " y", "\n- i", "tem"} {
		m.Add(word)
	}
	if m.rest != "" {
		t.Errorf("%q is kept back", m.rest)
	}
	long := strings.Repeat("word ", 5000) + "![" + strings.Repeat("x", 20_000) + "](https://e.example/) `" + strings.Repeat("y", 20_000) + "` ![z](https://e.example/) `"
	if got := SafeMarkdown(long); strings.Contains(got, "![") {
		t.Error("an image passes beyond what is kept")
	}
	data := "![x](data:image/png;base64," + strings.Repeat("A", 1<<20) + ") end"
	if SafeMarkdown(data) != data {
		t.Error("an image's data does not pass")
	}
	for _, evil := range []string{"`", "` ", "[", "![", "](", "<a", "```\n", "- ", "]:", "!", "\\", "~~~~~~", "[a](<"} {
		_ = SafeMarkdown(strings.Repeat(evil, 1<<17/len(evil)))
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"![x](https://e.example/p) `a` <b c> [r]: x", "```\n![x](y)\n```\n- a\n\n  ~~~\n<img src=x>", "[a](b \"c\") \\`![d](data:image/x,`)\r\n>"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole := SafeMarkdown(text)
		if len(text) > maxHeld {
			return
		}
		var m Markdown
		var pieces strings.Builder
		size = max(size%7, 1)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			pieces.WriteString(m.Add(rest[:n]))
			rest = rest[n:]
		}
		pieces.WriteString(m.End())
		if pieces.String() != whole {
			t.Fatalf("%q in pieces of %d is %q, as a whole %q", text, size, pieces.String(), whole)
		}
		if again := SafeMarkdown(whole); strings.Contains(again, "(image)") && !strings.Contains(whole, "(image)") {
			t.Fatalf("%q still holds an image: %q", whole, again)
		}
	})
}
