package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is the child too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "read-pdf" {
		if err := Serve(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func testReader(t testing.TB) *Reader {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Reader{Program: program, Args: []string{"read-pdf"}}
}

// document is a PDF file of objects, of which the first is the catalogue; more
// are further entries of its trailer.
func document(objects []string, more string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, more, xref)
	return b.String()
}

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflated(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(data))
	w.Close()
	return stream("/Filter/FlateDecode", b.String())
}

// pages is a document whose pages draw what is given. Fonts: F1 is Helvetica,
// F2 has two bytes a code, F3 names its glyphs. X1 is a form that says "form".
func pages(contents ...string) string {
	kids := ""
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Font<</F1 4 0 R/F2 5 0 R/F3<</Type/Font/Subtype/Type1/Encoding<</BaseEncoding/MacRomanEncoding/Differences[1/fi/A.sc/uni20AC 66/alpha/nonesuch 300/B]>>>>>>/XObject<</X1 8 0 R>>>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/FirstChar 32/Widths[" + strings.Repeat("500 ", 224) + "]>>",
		"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
		"<</Type/Font/Subtype/CIDFontType2/DW 1000/W[1[500 500]3 9 600]>>",
		deflated("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n1 begincodespacerange <0000><FFFF> endcodespacerange\n" +
			"2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar\n2 beginbfrange <0003> <0005> <65E5> <0006> <0007> [<0078> <D83DDE00>] endbfrange endcmap"),
		stream("/Type/XObject/Subtype/Form/Matrix[1 0 0 1 0 -50]", "BT /F1 10 Tf (form) Tj ET /X1 Do"),
	}
	for _, c := range contents {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources 3 0 R/Contents %d 0 R>>", n+1), deflated(c))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(contents))
	return document(objects, "")
}

func written(t testing.TB, content string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestPageText(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"a line", "BT /F1 10 Tf 50 700 Td (Hello, world) Tj ET", "Hello, world"},
		{"lines", "BT /F1 10 Tf 12 TL 50 700 Td (one) Tj T* (two) Tj 0 -20 Td (three) Tj (four) ' ET", "one\ntwo\nthree\nfour"},
		{"words by place", "BT /F1 10 Tf 1 0 0 1 50 700 Tm (two) Tj 1 0 0 1 80 700 Tm (words) Tj ET", "two words"},
		{"one word in pieces", "BT /F1 10 Tf 1 0 0 1 50 700 Tm (two) Tj 1 0 0 1 65 700 Tm (fold) Tj ET", "twofold"},
		{"kerned", "BT /F1 10 Tf [(W) 80 (orld) -300 (peace)] TJ ET", "World peace"},
		{"superscript", "BT /F1 10 Tf (x) Tj 5 3 Td (2) Tj ET", "x2"},
		{"two columns", "BT /F1 10 Tf 50 700 Td (left) Tj 300 0 Td (right) Tj ET", "left right"},
		{"WinAnsi", "BT /F1 10 Tf (caf\\351 \\200) Tj ET", "café €"},
		{"two bytes a code", "BT /F2 10 Tf <00010002> Tj <000300040005> Tj <00060007> Tj ET", "Afi日旦旧x😀"},
		{"named glyphs", "BT /F3 10 Tf <010203> Tj (BCD\\212) Tj ET", "fiA€αCDä"},
		{"a form", "BT /F1 10 Tf 0 100 Td (before) Tj ET q /X1 Do Q BT 0 20 Td (after) Tj ET", "before\nform\nform\nform\nform\nform\nform\nform\nform\nafter"},
		{"under a scaled page", "q 0.1 0 0 0.1 0 0 cm BT /F1 100 Tf 500 7000 Td (big) Tj 0 -120 Td (line) Tj ET Q", "big\nline"},
		{"no font", "BT (nothing) Tj ET", ""},
		{"too few operands", "BT /F1 Tf 1 Td Tj TJ ' \" cm Q Q (x) Do ET", ""},
		{"until it breaks", "BT /F1 10 Tf (good) Tj ET ) >> ]", "good"},
		{"after what means nothing", "BT /F1 10 Tf (one) Tj 0 -20 Td <0102> Tj (two) Tj ET", "one\ntwo"},
		{"a picture", "q 600 0 0 800 0 0 cm /Im1 Do Q", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := written(t, pages(c.content))
			info, _ := f.Stat()
			got, err := read(f, info.Size(), request{First: 1, Limit: 1000})
			if err != nil || got.Count != 1 || len(got.Texts) != 1 || got.Texts[0] != c.want {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestPages(t *testing.T) {
	page := func(s string) string { return "BT /F1 10 Tf (" + s + ") Tj ET" }
	f := written(t, pages(page("one"), page("two"), page("three"), page(strings.Repeat("x", 5000)))+"\n\n")
	for _, c := range []struct {
		first, count, limit int
		want                []string
		cut                 bool
	}{
		{1, 0, 20, []string{"one", "two", "three", ""}, true},
		{2, 1, 9000, []string{"two"}, false},
		{1, 0, 5, []string{"one", "two"}, false},
		{3, 99, 9000, []string{"three", strings.Repeat("x", 5000)}, false},
		{5, 0, 9000, nil, false},
	} {
		got, err := testReader(t).Pages(t.Context(), f, c.first, c.count, c.limit)
		if err != nil || got.Count != 4 || !slices.Equal(got.Texts, c.want) || got.Cut != c.cut {
			t.Errorf("from %d, %d pages, %d bytes: %+v, %v", c.first, c.count, c.limit, got, err)
		}
	}
	if _, err := testReader(t).Pages(t.Context(), f, 0, 0, 9); err == nil {
		t.Error("there is a page 0")
	}
}

// TestManyPages: a flat tree of many pages is read in one pass, and a tree that
// is none, or counts wrongly, does no harm.
func TestManyPages(t *testing.T) {
	const n = 5000
	var kids strings.Builder
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", len(objects)+2),
			stream("", fmt.Sprintf("BT /F1 10 Tf (page %d) Tj ET", i+1)))
	}
	tree := func(count int, kids string) string {
		objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", count, kids)
		return document(objects, "")
	}
	good := tree(n, kids.String())
	for _, c := range []struct {
		name, content string
		first, most   int
		count, pages  int
		want          error
	}{
		{"all", good, 1, 0, n, n, nil},
		{"the last", good, n, 0, n, 1, nil},
		{"one in the middle", good, n / 2, 1, n, 1, nil},
		{"behind the last", good, n + 1, 0, n, 0, nil},
		{"too high a count", tree(1<<30, kids.String()), n - 1, 0, n, 2, nil},
		{"behind the last of too high a count", tree(1<<30, kids.String()), n + 1, 0, 0, 0, errDamaged},
		{"a circle", tree(5, "2 0 R 2 0 R"), 1, 0, 0, 0, errDamaged},
		{"junk before it", "junk\n" + good, 2, 1, n, 1, nil},
	} {
		r := testReader(t)
		r.time = time.Minute
		got, err := r.Pages(t.Context(), written(t, c.content), c.first, c.most, 1<<20)
		if !errors.Is(err, c.want) || got.Count != c.count || len(got.Texts) != c.pages {
			t.Errorf("%s: %d pages of %d, %v", c.name, len(got.Texts), got.Count, err)
			continue
		}
		for i, text := range got.Texts {
			if text != fmt.Sprintf("page %d", c.first+i) {
				t.Fatalf("%s: page %d is %q", c.name, c.first+i, text)
			}
		}
	}
}

// TestTablesOfCodes: fonts of many characters by the names of their tables, and
// those of which nothing tells what their codes mean.
func TestTablesOfCodes(t *testing.T) {
	for table, c := range map[string]struct{ codes, want string }{
		"UniJIS-UCS2-H": {"65E5672C", "日本"}, "UniGB-UTF16-V": {"4E2DD83DDE00", "中😀"}, "90ms-RKSJ-H": {"93FA967B41", "日本A"}, "GBK-EUC-H": {"D6D0B9FA41", "中国A"},
		"KSCms-UHC-H": {"C7D1B1DB", "한글"}, "ETen-B5-V": {"A4A4A4E5", "中文"}, "EUC-H": {"C6FCCBDC", "日本"}, "Identity-H": {"00010002", ""},
	} {
		content := document([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[4 0 R]>>",
			"<</Type/Font/Subtype/Type0/Encoding/" + table + "/DescendantFonts[<</Type/Font/Subtype/CIDFontType0>>]>>",
			"<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>", stream("", "BT /F1 10 Tf <"+c.codes+"> Tj ET")}, "")
		got, err := testReader(t).Pages(t.Context(), written(t, content), 1, 0, 1000)
		if err != nil || len(got.Texts) != 1 || got.Texts[0] != c.want || got.Lost != (c.want == "") {
			t.Errorf("%s: %+v, %v", table, got, err)
		}
	}
}

// TestBadFiles reads files that are made to harm: the process that reads them
// does not take part.
func TestBadFiles(t *testing.T) {
	good := pages("BT /F1 10 Tf (good) Tj ET")
	loop := strings.Replace(good, "/Root 1 0 R", fmt.Sprintf("/Root 1 0 R/Prev %d", strings.LastIndex(good, "xref\n0 ")), 1)
	var endless strings.Builder // an entry of no bytes, for ever
	endless.WriteString("%PDF-1.5\n")
	at := endless.Len()
	endless.WriteString("1 0 obj\n" + stream("/Type/XRef/Size 1/W[0 0 0]/Index[0 9000000000]", "x") + "\nendobj\n")
	fmt.Fprintf(&endless, "startxref\n%d\n%%%%EOF\n", at)
	encrypted := document([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"},
		"/ID[(0123456789abcdef)(0123456789abcdef)]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<"+strings.Repeat("00", 32)+">/U<"+strings.Repeat("11", 32)+">>>")
	for _, c := range []struct {
		name, content string
		want          error
	}{
		{"empty", "", errDamaged},
		{"no PDF", "GIF89a and more", errDamaged},
		{"cut", good[:len(good)/2], errDamaged},
		{"the end missing", strings.Replace(good, "%%EOF", "", 1), errDamaged},
		{"no pages", document([]string{"<</Type/Catalog>>"}, ""), errDamaged},
		{"a page missing", document([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 2000000000>>"}, ""), errDamaged},
		{"a table that comes back to itself", loop, errTooLong},
		{"a table without end", endless.String(), errTooMuch},
		{"encrypted", encrypted, ErrEncrypted},
		{"a page without end", pages("BT <00"), errTooLong},
		{"newer", strings.Replace(good, "%PDF-1.4\n", "%PDF-2.0 ", 1), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testReader(t)
			r.memory, r.time = 128<<20, 2*time.Second
			if c.want != errTooLong {
				r.time = time.Minute
			}
			got, err := r.Pages(t.Context(), written(t, c.content), 1, 0, 1000)
			if !errors.Is(err, c.want) {
				t.Errorf("%+v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	good := pages("BT /F1 10 Tf (good) Tj ET")
	loop := strings.Replace(good, "/Root 1 0 R", fmt.Sprintf("/Root 1 0 R/Prev %d", strings.LastIndex(good, "xref\n0 ")), 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cancelled by the user")
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	if _, err := testReader(t).Pages(ctx, written(t, loop), 1, 0, 1000); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

func TestProgramMissing(t *testing.T) {
	r := &Reader{Program: filepath.Join(t.TempDir(), "none")}
	if _, err := r.Pages(t.Context(), written(t, pages("")), 1, 0, 9); err == nil {
		t.Error("it went well")
	}
}

// FuzzPages reads what comes, in a child as always: of damage and malice nothing
// is left but an error, and of a page that can be read a text within its limit.
func FuzzPages(f *testing.F) {
	f.Add([]byte("BT /F1 10 Tf [(W) 80 (orld)] TJ T* <0001> ' ET q 1 0 0 1 5 5 cm /X1 Do Q"), false)
	f.Add([]byte("BT /F2 1e9 Tf 1 2 (x) \" 0 Tz -1 TL << /a [1 2 >> ET BI ID \x00\xff EI"), false)
	f.Add([]byte(pages("BT /F1 10 Tf (good) Tj ET")), true)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		r := testReader(t)
		r.memory, r.time = 64<<20, time.Second
		if !whole {
			data = []byte(pages(string(data)))
		}
		got, err := r.Pages(t.Context(), written(t, string(data)), 1, 0, 500)
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errTooMuch) && !errors.Is(err, errTooLong) && !errors.Is(err, ErrEncrypted) {
			t.Fatal(err)
		}
		for _, text := range got.Texts {
			if text = strings.ReplaceAll(text, "\n", ""); len(text) > 500 || clean(text) != text {
				t.Fatalf("%q", text)
			}
		}
	})
}
