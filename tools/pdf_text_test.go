package tools

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools/pdf"
)

// fakePDF is a document of pages, or what is wrong with it.
type fakePDF struct {
	texts []string
	cut   bool
	err   error
	asked []int // first, count and limit of the last call
}

func (f *fakePDF) Pages(ctx context.Context, file *os.File, first, count, limit int) (pdf.Pages, error) {
	f.asked = []int{first, count, limit}
	if f.err != nil {
		return pdf.Pages{}, f.err
	}
	texts := f.texts[min(first-1, len(f.texts)):]
	if count > 0 {
		texts = texts[:min(count, len(texts))]
	}
	return pdf.Pages{Count: len(f.texts), Texts: texts, Cut: f.cut}, nil
}

func TestReadPDF(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.pdf": "%PDF-1.4\n...", "not.pdf": "text\n"})
	long := strings.Repeat("0123456789abcde\n", maxRead/16/2) + "end"
	head := func(n string) string { return "[a.pdf: PDF of " + n + "; offset and limit count pages]\n" }
	for _, c := range []struct {
		name      string
		doc       fakePDF
		in        args
		want      string
		truncated bool
	}{
		{"all", fakePDF{texts: []string{"one", "", "three"}}, args{}, head("3 pages") + "\n[page 1]\none\n\n[page 2]\n[no text]\n\n[page 3]\nthree", false},
		{"a range", fakePDF{texts: []string{"one", "two", "three"}}, args{"offset": 2, "limit": 1}, head("3 pages") + "\n[page 2]\ntwo\n[page 2 of 3; continue with offset 3]", false},
		{"to the end", fakePDF{texts: []string{"one", "two"}}, args{"offset": 2, "limit": 9}, head("2 pages") + "\n[page 2]\ntwo", false},
		{"what fits", fakePDF{texts: []string{long, long, "three"}}, args{}, head("3 pages") + "\n[page 1]\n" + long + "\n[page 1 of 3; continue with offset 2]", true},
		{"a page cut by who read it", fakePDF{texts: []string{"one"}, cut: true}, args{}, head("1 page") + "\n[page 1]\none\n[page 1 is cut]", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws.PDF = &c.doc
			c.in["path"] = "a.pdf"
			r := must(t, ws, Read(), c.in)
			if r.Text != c.want || r.Truncated != c.truncated || r.Metadata["pages"] != len(c.doc.texts) {
				t.Errorf("%v %v %.300q\nwant %.300q", r.Truncated, r.Metadata, r.Text, c.want)
			}
		})
	}
	doc := &fakePDF{texts: []string{long + long + long, "two"}}
	ws.PDF = doc
	r := must(t, ws, Read(), args{"path": "a.pdf", "offset": 1, "limit": 2})
	if len(r.Text) > maxRead || !strings.HasSuffix(r.Text, "\n[page 1 is cut]\n[page 1 of 2; continue with offset 2]") || !r.Truncated {
		t.Errorf("%d bytes, %q", len(r.Text), r.Text[len(r.Text)-200:])
	}
	if !slices.Equal(doc.asked, []int{1, 2, maxRead}) {
		t.Errorf("asked for %v", doc.asked)
	}
	if a, err := prepared(t, ws, Read(), args{"path": "a.pdf", "offset": 7}); err != nil || a.Locations[0].Line != 0 {
		t.Errorf("a page is no line: %+v, %v", a, err)
	}
	if r := must(t, ws, Read(), args{"path": "not.pdf"}); r.Text != "     1\ttext" {
		t.Errorf("%q", r.Text)
	}
}

func TestReadPDFFails(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.pdf": "%PDF-1.4\n..."})
	for _, c := range []struct {
		name string
		doc  PDF
		in   args
		want []string
	}{
		{"no reader", PDF(nil), args{}, []string{"a.pdf (application/pdf, 12 bytes) cannot be read", "a command"}},
		{"encrypted", &fakePDF{err: pdf.ErrEncrypted}, args{}, []string{"a.pdf", "it is encrypted"}},
		{"scanned", &fakePDF{texts: []string{"", ""}}, args{}, []string{"a.pdf has 2 pages, and no text on pages 1 to 2", "pictures"}},
		{"past the end", &fakePDF{texts: []string{"one"}}, args{"offset": 3}, []string{"has 1 pages: offset 3"}},
		{"bytes", &fakePDF{}, args{"byte_offset": 0, "byte_limit": 9}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws.PDF, c.in["path"] = c.doc, "a.pdf"
			r, err := call(t, ws, Read(), c.in)
			if c.want == nil {
				if err != nil || !strings.HasPrefix(r.Text, "%PDF-1.4\n") {
					t.Errorf("%q, %v", r.Text, err)
				}
				return
			}
			wants(t, err, c.want...)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cancelled by the user")
	cancel(cause)
	ws.PDF = &fakePDF{err: errors.New("ended")}
	a, err := prepared(t, ws, Read(), args{"path": "a.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
