package pdf

import (
	"math"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// pageText is a page's text as it is read: in the order in which it is drawn,
// with a line end where the next piece stands on another line, and a blank where
// it stands apart. Of a page that cannot be read to its end it is what came
// before. It is cut where it reaches limit bytes. Lost says that characters are
// missing whose font does not tell what they are.
func pageText(p pdf.Page, limit int) (text string, cut, lost bool) {
	w := &walker{limit: limit}
	w.state.ctm, w.state.scale = identity, 1
	w.page(p)
	return w.text(), w.full, w.lost
}

func (w *walker) page(p pdf.Page) {
	defer w.recovered()
	contents, resources := p.V.Key("Contents"), p.Resources()
	if contents.Kind() != pdf.Array {
		w.run(contents, resources, 0)
		return
	}
	for i := range contents.Len() {
		w.run(contents.Index(i), resources, 0)
	}
}

// recovered keeps what was read before the library panicked.
func (w *walker) recovered() { _ = recover() }

// matrix is a map of the plane: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then is the map that does m first and n after it.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the graphics state that says where text stands.
type state struct {
	ctm           matrix
	font          *font
	size, leading float64
	char, word    float64 // further space behind characters and blanks
	scale         float64 // horizontal
}

// walker follows a page's drawing and gathers its text.
type walker struct {
	state
	saved      []state
	line, at   matrix // of the text line, and of the next character
	out        strings.Builder
	limit      int
	full, lost bool
	endX, endY float64 // where the last character ended, on the page
	height     float64 // of the last characters
}

func (w *walker) text() string { return strings.TrimSpace(w.out.String()) }

// maxForms is how deep forms may stand in each other, and maxSaved how deep
// states are saved.
const (
	maxForms = 8
	maxSaved = 256
)

// stop is what a full walker panics with, to leave the library's loop.
type stop struct{}

// run follows one stream of drawing operators.
func (w *walker) run(stream, resources pdf.Value, depth int) {
	if stream.Kind() != pdf.Stream {
		return
	}
	fonts := map[string]*font{}
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		switch op {
		case "Tf":
			if len(args) == 2 {
				w.font, w.size = fontOf(resources, args[0].Name(), fonts), args[1].Float64()
			}
		case "Do":
			if len(args) == 1 && depth < maxForms {
				w.form(resources.Key("XObject").Key(args[0].Name()), resources, depth)
			}
		default:
			w.operate(op, args)
		}
		if w.full {
			panic(stop{})
		}
	})
}

// form follows a form, which is a drawing of its own.
func (w *walker) form(form, resources pdf.Value, depth int) {
	if form.Key("Subtype").Name() != "Form" {
		return
	}
	before := w.state
	if own := form.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	if m := form.Key("Matrix"); m.Len() == 6 {
		w.ctm = matrixOf(func(i int) pdf.Value { return m.Index(i) }).then(w.ctm)
	}
	w.run(form, resources, depth+1)
	w.state = before
}

func matrixOf(at func(i int) pdf.Value) (m matrix) {
	for i := range m {
		m[i] = at(i).Float64()
	}
	return m
}

// operands is how many each operator takes (ISO 32000-1, annex A).
func operands(op string) int {
	switch op {
	case "cm", "Tm":
		return 6
	case "Td", "TD":
		return 2
	case "\"":
		return 3
	case "TL", "Tc", "Tw", "Tz", "Tj", "TJ", "'":
		return 1
	}
	return 0
}

// operate does one operator. One with too few operands does nothing.
func (w *walker) operate(op string, args []pdf.Value) {
	n := operands(op)
	if len(args) < n {
		return
	}
	args = args[len(args)-n:]
	number := func(i int) float64 { return args[i].Float64() }
	switch op {
	case "q":
		if len(w.saved) < maxSaved {
			w.saved = append(w.saved, w.state)
		}
	case "Q":
		if n := len(w.saved); n > 0 {
			w.state, w.saved = w.saved[n-1], w.saved[:n-1]
		}
	case "cm":
		w.ctm = matrixOf(func(i int) pdf.Value { return args[i] }).then(w.ctm)
	case "BT":
		w.line, w.at = identity, identity
	case "Tm":
		w.line = matrixOf(func(i int) pdf.Value { return args[i] })
		w.at = w.line
	case "TD":
		w.leading = -number(1)
		w.move(number(0), number(1))
	case "Td":
		w.move(number(0), number(1))
	case "T*":
		w.move(0, -w.leading)
	case "TL":
		w.leading = number(0)
	case "Tc":
		w.char = number(0)
	case "Tw":
		w.word = number(0)
	case "Tz":
		w.scale = number(0) / 100
	case "Tj":
		w.show(args[0].RawString())
	case "TJ":
		w.showPieces(args[0])
	case "'":
		w.move(0, -w.leading)
		w.show(args[0].RawString())
	case "\"":
		w.word, w.char = number(0), number(1)
		w.move(0, -w.leading)
		w.show(args[2].RawString())
	}
}

// move begins another line.
func (w *walker) move(x, y float64) {
	w.line = matrix{1, 0, 0, 1, x, y}.then(w.line)
	w.at = w.line
}

func (w *walker) showPieces(pieces pdf.Value) {
	for i := range pieces.Len() {
		if p := pieces.Index(i); p.Kind() == pdf.String {
			w.show(p.RawString())
		} else {
			w.advance(-p.Float64() / 1000 * w.size * w.scale)
		}
	}
}

// advance moves on in the line.
func (w *walker) advance(x float64) { w.at = matrix{1, 0, 0, 1, x, 0}.then(w.at) }

// show adds a string of the font's codes.
func (w *walker) show(codes string) {
	if w.font == nil || codes == "" {
		return
	}
	text, width, count := w.font.decode(codes)
	w.lost = w.lost || w.font.unknown()
	page := w.at.then(w.ctm)
	height := math.Abs(w.size) * math.Hypot(page[2], page[3])
	text = clean(text)
	if text != "" {
		w.separate(page[4], page[5], height)
		w.add(text)
	}
	w.advance((width*w.size + w.char*float64(count) + w.word*float64(strings.Count(codes, " "))) * w.scale)
	if text != "" {
		end := w.at.then(w.ctm)
		w.endX, w.endY, w.height = end[4], end[5], height
	}
}

// separate puts between two pieces of text what their places say.
func (w *walker) separate(x, y, height float64) {
	const (
		sameLine = 0.5 // of the height: as far as sub- and superscripts go
		apart    = 0.2 // of the height: wider than what is between letters
	)
	if w.out.Len() == 0 {
		return
	}
	last := w.out.String()[w.out.Len()-1]
	high := max(height, w.height)
	switch {
	case math.Abs(y-w.endY) > sameLine*high:
		w.add("\n")
	case (x-w.endX > apart*high || w.endX-x > high) && last != ' ' && last != '\n':
		w.add(" ")
	}
}

func (w *walker) add(text string) {
	if w.out.Len()+len(text) > w.limit {
		w.full = true
		return
	}
	w.out.WriteString(text)
}

// clean is text without characters that mean nothing in text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\u00a0':
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
}
