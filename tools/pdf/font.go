package pdf

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// font turns codes into text.
type font struct {
	wide    bool // two bytes a code
	unicode *toUnicode
	codes   *[256]string      // where unicode is nil
	charset *encoding.Decoder // where both are nil; nil: its codes mean nothing
	widths  map[int]float64   // by code, of a size of 1
	usual   float64           // the width of all others
}

// fontOf is the font that a name means; nil where there is none.
func fontOf(resources pdf.Value, name string, known map[string]*font) *font {
	if f, ok := known[name]; ok {
		return f
	}
	var f *font
	if v := resources.Key("Font").Key(name); v.Kind() == pdf.Dict {
		f = newFont(v)
	}
	known[name] = f
	return f
}

func newFont(v pdf.Value) *font {
	f := &font{wide: v.Key("Subtype").Name() == "Type0", widths: map[int]float64{}, usual: 0.5}
	if cmap := v.Key("ToUnicode"); cmap.Kind() == pdf.Stream {
		f.unicode = readToUnicode(cmap, v)
	}
	if f.unicode == nil && !f.wide {
		f.codes = simpleCodes(v.Key("Encoding"))
	}
	if f.wide {
		if f.unicode == nil {
			f.charset = charsetOf(v.Key("Encoding").Name())
		}
		f.readWide(v.Key("DescendantFonts").Index(0))
		return f
	}
	first, widths := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range widths.Len() {
		f.widths[first+i] = widths.Index(i).Float64() / 1000
	}
	return f
}

// readWide reads the widths of a font of two bytes a code: a list of a code and
// the widths from it on, or of two codes and the width of all between.
func (f *font) readWide(v pdf.Value) {
	f.usual = 1
	if d := v.Key("DW"); d.Kind() == pdf.Integer || d.Kind() == pdf.Real {
		f.usual = d.Float64() / 1000
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len(); {
		first, next := int(list.Index(i).Int64()), list.Index(i+1)
		if next.Kind() == pdf.Array {
			for j := range next.Len() {
				f.widths[first+j] = next.Index(j).Float64() / 1000
			}
			i += 2
			continue
		}
		width := list.Index(i+2).Float64() / 1000
		for code := first; code <= min(int(next.Int64()), 0xffff); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// unknown reports whether nothing says what the codes mean.
func (f *font) unknown() bool { return f.unicode == nil && f.codes == nil && f.charset == nil }

// charsetOf is what the codes of a font of Chinese, Japanese or Korean characters
// mean by the name of one of the usual tables (ISO 32000-1, table 118); nil where
// that is none, or a table of glyphs.
func charsetOf(table string) *encoding.Decoder {
	for _, known := range []struct {
		encoding.Encoding
		parts string // of names
	}{
		{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "-UCS2- -UTF16-"},
		{simplifiedchinese.GB18030, "GB-EUC- GBpc-EUC- GBK-EUC- GBKp-EUC- GBK2K-"},
		{japanese.ShiftJIS, "-RKSJ-"},
		{korean.EUCKR, "KSC-EUC- KSCms-UHC- KSCpc-EUC-"},
		{traditionalchinese.Big5, "B5pc- ETen-B5- ETenms-B5- HKscs-B5-"},
	} {
		for part := range strings.FieldsSeq(known.parts) {
			if strings.Contains(table, part) {
				return known.NewDecoder()
			}
		}
	}
	if table == "EUC-H" || table == "EUC-V" {
		return japanese.EUCJP.NewDecoder()
	}
	return nil
}

// decode is the text of codes, its width for a size of 1, and how many codes
// there are.
func (f *font) decode(codes string) (text string, width float64, count int) {
	if f.charset != nil {
		if text, err := f.charset.String(codes); err == nil {
			count = utf8.RuneCountInString(text)
			return text, float64(count) * f.usual, count
		}
	}
	step := 1
	if f.wide {
		step = 2
	}
	var b strings.Builder
	for i := 0; i+step <= len(codes); i += step {
		code := 0
		for _, c := range []byte(codes[i : i+step]) {
			code = code<<8 | int(c)
		}
		count++
		if w, ok := f.widths[code]; ok {
			width += w
		} else {
			width += f.usual
		}
		switch {
		case f.unicode != nil:
			b.WriteString(f.unicode.text(code))
		case f.codes != nil:
			b.WriteString(f.codes[code])
		}
	}
	return b.String(), width, count
}

// toUnicode is what the codes of a font mean (ISO 32000-1, 9.10.3).
type toUnicode struct {
	chars  map[int]string
	ranges []codeRange
}

// codeRange is a run of codes that mean characters that follow each other, or
// those of a list.
type codeRange struct {
	first, last int
	from        []rune
	list        pdf.Value
}

func (u *toUnicode) text(code int) string {
	if s, ok := u.chars[code]; ok {
		return s
	}
	for _, r := range u.ranges {
		if code < r.first || code > r.last {
			continue
		}
		if r.list.Kind() == pdf.Array {
			return string(utf16Text(r.list.Index(code - r.first)))
		}
		if n := len(r.from); n > 0 {
			return string(r.from[:n-1]) + string(r.from[n-1]+rune(code-r.first))
		}
	}
	return ""
}

// readToUnicode reads the table; nil where it holds nothing. The program that it
// is wants a dictionary to define things in, which may be any.
func readToUnicode(stream, dict pdf.Value) *toUnicode {
	u := &toUnicode{chars: map[int]string{}}
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		var args []pdf.Value
		for stack.Len() > 0 {
			args = append(args, stack.Pop()) // the last first
		}
		switch op {
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				u.chars[codeOf(args[i+1])] = string(utf16Text(args[i]))
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				u.ranges = append(u.ranges, codeRange{codeOf(args[i+2]), codeOf(args[i+1]), utf16Text(args[i]), args[i]})
			}
		case "findresource":
			stack.Push(dict)
		}
	})
	if len(u.chars) == 0 && len(u.ranges) == 0 {
		return nil
	}
	return u
}

func codeOf(v pdf.Value) int {
	code := 0
	for _, c := range []byte(v.RawString()) {
		code = (code<<8 | int(c)) & 0xffffff
	}
	return code
}

// utf16Text is a string in UTF-16.
func utf16Text(v pdf.Value) []rune {
	s := v.RawString()
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return utf16.Decode(units)
}
