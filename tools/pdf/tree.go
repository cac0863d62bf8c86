package pdf

import (
	"errors"

	"github.com/ledongthuc/pdf"
)

// Bounds of a document's tree of pages.
const (
	maxDepth = 64
	maxExtra = 1000 // nodes, beside as many as there may be for its pages
)

var errTree = errors.New("its tree of pages has no end")

// tree is a document's pages, from one on, in one pass. The library finds each
// page anew, from the first.
type tree struct {
	skip  int // pages before the first that is wanted
	nodes int // how many more may be looked at
	visit func(pdf.Page) bool
	err   error
}

// walk visits the pages until visit returns false.
func (t *tree) walk(node pdf.Value, depth int) bool {
	t.nodes--
	if t.nodes < 0 || depth > maxDepth {
		t.err = errTree
		return false
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		if t.skip > 0 {
			t.skip--
			return true
		}
		return t.visit(pdf.Page{V: node})
	}
	for i := range kids.Len() {
		kid := kids.Index(i)
		switch count := kid.Key("Count").Int64(); {
		case kid.Kind() != pdf.Dict:
			continue
		case kid.Key("Kids").Kind() == pdf.Array && count > 0 && count <= int64(t.skip):
			t.skip -= int(count)
			continue
		}
		if !t.walk(kid, depth+1) {
			return false
		}
	}
	return true
}
