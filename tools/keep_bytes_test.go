package tools

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// writtenFile is a file of the property tests: the pieces of text between what
// is edited, each with the bytes that it stands in the file as.
type writtenFile struct {
	encoding workspace.Encoding
	mark     string
	pieces   []string // with their line ends
	damage   bool     // one has a byte that is no UTF-8
}

const edited = "<edited>"

// bytes is the file with text for what is edited. In a damaged file * stands for
// a byte that means nothing.
func (w *writtenFile) bytes(t *testing.T, text string) string {
	return w.mark + strings.Join(w.encoded(t), w.encode(t, text))
}

func (w *writtenFile) encoded(t *testing.T) []string {
	out := make([]string, len(w.pieces))
	for i, piece := range w.pieces {
		out[i] = w.encode(t, piece)
		if w.damage {
			out[i] = strings.ReplaceAll(out[i], "*", "\xff")
		}
	}
	return out
}

func (w *writtenFile) encode(t *testing.T, text string) string {
	t.Helper()
	data, err := w.encoding.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(string(data), w.mark)
}

// inventFile makes up a file of an encoding.
func inventFile(r *rand.Rand, e workspace.Encoding) *writtenFile {
	w := &writtenFile{encoding: e}
	letters := []string{"a", "b", " ", "\t", "x = 1;", "Größe", "übrig", "naïve", "die Straße"}
	switch e {
	case workspace.UTF8BOM:
		w.mark = "\ufeff"
	case workspace.UTF16LE:
		w.mark = "\xff\xfe"
	case workspace.UTF16BE:
		w.mark = "\xfe\xff"
	case workspace.DamagedUTF8:
		w.encoding, w.damage = workspace.UTF8, true
	}
	if e == workspace.UTF8 || w.mark != "" {
		letters = append(letters, "茶", "😀", "e\u0301", "\u2028")
	}
	ends := [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}[r.IntN(3)]
	for range 2 + r.IntN(4) {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(letters[r.IntN(len(letters))])
			if r.IntN(3) == 0 {
				b.WriteString(ends[r.IntN(len(ends))])
			}
		}
		w.pieces = append(w.pieces, b.String())
	}
	if e.Legacy() || w.damage { // enough to be told by
		w.pieces[0] = "// Überprüft die Größe und gibt zurück, was übrig bleibt." + ends[0] + w.pieces[0]
	}
	if w.damage {
		w.pieces[1] += "*"
	}
	return w
}

// holds reports whether data is the pieces with text between them, whose line
// ends are either's.
func (w *writtenFile) holds(t *testing.T, data, text string) error {
	data, ok := strings.CutPrefix(data, w.mark)
	if !ok {
		return fmt.Errorf("the byte order mark is gone")
	}
	for i, piece := range w.encoded(t) {
		if i > 0 {
			for j, line := range strings.Split(text, "\n") {
				if j > 0 {
					after, crlf := strings.CutPrefix(data, w.encode(t, "\r\n"))
					if !crlf {
						if after, ok = strings.CutPrefix(data, w.encode(t, "\n")); !ok {
							return fmt.Errorf("before piece %d: a line end is missing in %q", i, data)
						}
					}
					data = after
				}
				if data, ok = strings.CutPrefix(data, w.encode(t, line)); !ok {
					return fmt.Errorf("before piece %d: %q does not begin with %q", i, data, line)
				}
			}
		}
		if data, ok = strings.CutPrefix(data, piece); !ok {
			return fmt.Errorf("piece %d: %q does not begin with %q", i, data, piece)
		}
	}
	if data != "" {
		return fmt.Errorf("%q is left", data)
	}
	return nil
}

// TestEditKeepsEveryByte: whatever a file is written in, however its lines end,
// behind a link or not, what is outside of what edit replaces stays as it is.
func TestEditKeepsEveryByte(t *testing.T) {
	encodings := []workspace.Encoding{workspace.UTF8, workspace.UTF8BOM, workspace.UTF16LE, workspace.UTF16BE, workspace.Windows1252, workspace.DamagedUTF8}
	r := rand.New(rand.NewPCG(1, 2))
	ws := diskWorkspace(t, nil)
	for i := range 600 {
		e := encodings[i%len(encodings)]
		w := inventFile(r, e)
		news := []string{"", "new", "two\nlines", "ends\n", "\n\n", edited + "\nand more", "größer"}
		text := news[r.IntN(len(news))]
		path, mode := inventPlace(t, r, ws, i, w.bytes(t, edited))
		in := args{"path": path, "old_string": edited, "new_string": text, "replace_all": len(w.pieces) > 2}
		if _, err := call(t, ws, Edit(), in); err != nil {
			t.Fatalf("%v, %q: %v", e, w.pieces, err)
		}
		if err := w.holds(t, onDisk(t, ws, path), text); err != nil {
			t.Errorf("%v, %q by %q: %v", e, w.pieces, text, err)
		}
		keepsPlace(t, ws, i, path, mode)
	}
}

// TestPatchKeepsEveryByte does the same with a patch of the lines.
func TestPatchKeepsEveryByte(t *testing.T) {
	encodings := []workspace.Encoding{workspace.UTF8, workspace.UTF8BOM, workspace.UTF16LE, workspace.UTF16BE, workspace.Windows1252, workspace.DamagedUTF8}
	r := rand.New(rand.NewPCG(3, 4))
	ws := diskWorkspace(t, nil)
	for i := range 300 {
		e := encodings[i%len(encodings)]
		w := inventFile(r, e)
		for j := range w.pieces { // what is edited is a line of its own
			if j > 0 {
				w.pieces[j] = []string{"\n", "\r\n"}[r.IntN(2)] + w.pieces[j]
			}
			if j < len(w.pieces)-1 {
				w.pieces[j] += "\n"
			}
		}
		text := []string{"new", "größer"}[r.IntN(2)]
		path, mode := inventPlace(t, r, ws, i, w.bytes(t, edited))
		var patch strings.Builder
		fmt.Fprintf(&patch, "--- %s\n+++ %[1]s\n", path)
		line := 1
		for _, piece := range w.pieces[:len(w.pieces)-1] {
			line += strings.Count(piece, "\n")
			fmt.Fprintf(&patch, "@@ -%d +%[1]d @@\n-%s\n+%s\n", line, edited, text)
		}
		if _, err := call(t, ws, ApplyPatch(), args{"patch": patch.String()}); err != nil {
			t.Fatalf("%v, %q: %v\n%s", e, w.pieces, err, patch.String())
		}
		if err := w.holds(t, onDisk(t, ws, path), text); err != nil {
			t.Errorf("%v, %q by %q: %v", e, w.pieces, text, err)
		}
		keepsPlace(t, ws, i, path, mode)
	}
}

// TestWriteKeepsEveryByte: a file that is written as a whole keeps the bytes of
// the lines that stay, between changed ones too.
func TestWriteKeepsEveryByte(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ws := diskWorkspace(t, nil)
	for i := range 300 {
		e := []workspace.Encoding{workspace.UTF8, workspace.UTF8BOM, workspace.UTF16LE, workspace.Windows1252, workspace.DamagedUTF8}[i%5]
		w := inventFile(r, e)
		for j := range w.pieces {
			w.pieces[j] = "kept\n" + w.pieces[j] + "\r\n"
		}
		path, mode := inventPlace(t, r, ws, i, w.bytes(t, edited+"\n"))
		read, err := workspace.Decode([]byte(onDisk(t, ws, path)))
		if err != nil {
			t.Fatal(err)
		}
		content := strings.ReplaceAll(read.LF(), edited, "other\nlines")
		must(t, ws, Write(), args{"path": path, "content": content})
		if err := w.holds(t, onDisk(t, ws, path), "other\nlines\n"); err != nil {
			t.Errorf("%v, %q: %v", e, w.pieces, err)
		}
		keepsPlace(t, ws, i, path, mode)
	}
}

// inventPlace puts a file somewhere, with some mode, and perhaps behind a link.
func inventPlace(t *testing.T, r *rand.Rand, ws *Workspace, i int, data string) (path string, mode fs.FileMode) {
	t.Helper()
	path = fmt.Sprintf("%d.txt", i)
	put(t, ws, path, data)
	mode = []fs.FileMode{0o644, 0o755, 0o600, 0o640}[r.IntN(4)]
	if err := os.Chmod(at(ws, path), mode); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" || r.IntN(2) == 0 {
		return path, mode
	}
	link := fmt.Sprintf("%d.link", i)
	if err := os.Symlink(path, at(ws, link)); err != nil {
		t.Fatal(err)
	}
	return link, mode
}

// keepsPlace holds the file to its mode, and the link to being one.
func keepsPlace(t *testing.T, ws *Workspace, i int, path string, mode fs.FileMode) {
	t.Helper()
	file := fmt.Sprintf("%d.txt", i)
	info, err := os.Lstat(at(ws, file))
	if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
		t.Errorf("%s: %v, %v, want %v", file, info.Mode(), err, mode)
	}
	if to, err := os.Readlink(at(ws, path)); path != file && (err != nil || to != file) {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	entries, err := os.ReadDir(ws.Dir())
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".acp-agent") }) {
		t.Errorf("temporary files are left, %v", err)
	}
}
