package workspace

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// Encoding is how a text file is written in bytes.
type Encoding int

// The encodings that are read and kept. UTF-16 is known by its byte order mark;
// those from Latin1 on are legacy encodings, which are guessed.
const (
	UTF8 Encoding = iota
	UTF8BOM
	UTF16LE
	UTF16BE
	DamagedUTF8 // UTF-8 but for a few bytes, each of which reads as U+FFFD
	Latin1
	Latin2
	Cyrillic
	Arabic
	Greek
	Hebrew
	Windows1250
	Windows1251
	Windows1252
	Windows1253
	Windows1254
	Windows1255
	Windows1256
	KOI8R
	ShiftJIS
	EUCJP
	EUCKR
	GB18030
	Big5
	encodings // how many there are
)

// String names the encoding as the registry of the internet does.
func (e Encoding) String() string {
	return [encodings]string{"UTF-8", "UTF-8 with BOM", "UTF-16 LE", "UTF-16 BE", "UTF-8 with errors",
		"ISO-8859-1", "ISO-8859-2", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7", "ISO-8859-8",
		"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "KOI8-R",
		"Shift_JIS", "EUC-JP", "EUC-KR", "GB18030", "Big5"}[e]
}

// Legacy reports whether the encoding was guessed: nothing in a file says that
// it is written so.
func (e Encoding) Legacy() bool { return e >= Latin1 }

func (e Encoding) wide() bool { return e == UTF16LE || e == UTF16BE }

// mark is the byte order mark that begins a file of the encoding.
func (e Encoding) mark() string {
	return [encodings]string{UTF8BOM: "\xef\xbb\xbf", UTF16LE: "\xff\xfe", UTF16BE: "\xfe\xff"}[e]
}

// codec is x/text's form of the encoding; nil for all of UTF-8. To that of UTF-16 byte
// order marks are characters.
func (e Encoding) codec() encoding.Encoding {
	switch e {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case Latin1:
		return charmap.ISO8859_1
	case Latin2:
		return charmap.ISO8859_2
	case Cyrillic:
		return charmap.ISO8859_5
	case Arabic:
		return charmap.ISO8859_6
	case Greek:
		return charmap.ISO8859_7
	case Hebrew:
		return charmap.ISO8859_8
	case Windows1250:
		return charmap.Windows1250
	case Windows1251:
		return charmap.Windows1251
	case Windows1252:
		return charmap.Windows1252
	case Windows1253:
		return charmap.Windows1253
	case Windows1254:
		return charmap.Windows1254
	case Windows1255:
		return charmap.Windows1255
	case Windows1256:
		return charmap.Windows1256
	case KOI8R:
		return charmap.KOI8R
	case ShiftJIS:
		return japanese.ShiftJIS
	case EUCJP:
		return japanese.EUCJP
	case EUCKR:
		return korean.EUCKR
	case GB18030:
		return simplifiedchinese.GB18030
	case Big5:
		return traditionalchinese.Big5
	}
	return nil
}

// charset is the encoding that chardet means by a name; false where it is none
// that is read. ISO-8859-1 is taken as what Windows made of it, as everywhere.
func charset(name string) (Encoding, bool) {
	switch name {
	case "ISO-8859-1":
		return Windows1252, true
	case "ISO-8859-8-I":
		return Hebrew, true
	case "ISO-8859-9":
		return Windows1254, true
	}
	for e := Latin1; e < encodings; e++ {
		if e.String() == name {
			return e, true
		}
	}
	return 0, false
}

// encodingOf tells a file's encoding by its mark.
func encodingOf(data []byte) Encoding {
	for _, e := range []Encoding{UTF8BOM, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(data, []byte(e.mark())) {
			return e
		}
	}
	return UTF8
}

// decode reads bytes without a mark. What would not come back as the same bytes
// is not written so: ok is false then.
func (e Encoding) decode(data []byte) (text string, ok bool) {
	if e == DamagedUTF8 {
		return lossy(data), true
	}
	if e.codec() == nil {
		return string(data), utf8.Valid(data)
	}
	text, err := e.loose(data)
	if err != nil {
		return "", false
	}
	back, err := e.encode(text)
	return text, err == nil && bytes.Equal(back, data)
}

// loose reads bytes without a mark, with U+FFFD for what means nothing.
func (e Encoding) loose(data []byte) (string, error) {
	if e.codec() == nil {
		return lossy(data), nil
	}
	text, err := e.codec().NewDecoder().Bytes(data)
	return string(text), err
}

// lossy is UTF-8 with U+FFFD for each byte that is none.
func lossy(data []byte) string { return string([]rune(string(data))) }

// encode writes text without a mark. It is an error if the encoding has no form
// of one of its characters.
func (e Encoding) encode(text string) ([]byte, error) {
	codec := e.codec()
	if codec == nil {
		return []byte(text), nil
	}
	data, err := codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("cannot be written in %s, which the file is written in%s", e, e.lacking(text))
	}
	return data, nil
}

// lacking names the first character of text that the encoding has no form of.
func (e Encoding) lacking(text string) string {
	for _, r := range text {
		if _, err := e.codec().NewEncoder().String(string(r)); err != nil {
			return fmt.Sprintf(" and which lacks %q", r)
		}
	}
	return ""
}

// Encode writes a new file's text as it is: with the encoding's mark, and with
// the line ends that it has.
func (e Encoding) Encode(text string) ([]byte, error) {
	data, err := e.encode(text)
	if err != nil {
		return nil, err
	}
	return append([]byte(e.mark()), data...), nil
}

// Bounds of guessing.
const (
	guessed      = 64 << 10 // of a file, what chardet is shown
	confident    = 50       // of 100, from where on it is believed
	controlShare = 100      // one control character among so many is too many for text
	damageShare  = 5        // one byte that is no UTF-8 beside so many characters of several bytes is damage
)

// guess finds the encoding of bytes that are neither UTF-8 nor marked: UTF-8 that
// is damaged, as no other encoding looks like it by chance; what chardet is sure
// of; else Windows's for western Europe, else the one in
// which all bytes mean something. Bytes that no text has are ErrBinary. The same
// bytes always give the same answer, so that who changes a file and who read it
// agree.
func guess(data []byte) (Encoding, string, error) {
	if controls(data)*controlShare > len(data) {
		return 0, "", ErrBinary
	}
	if damagedUTF8(data) {
		return DamagedUTF8, lossy(data), nil
	}
	candidates := []Encoding{Windows1252, Latin1}
	if e, ok := detect(data); ok {
		candidates = append([]Encoding{e}, candidates...)
	}
	for _, e := range candidates {
		if text, ok := e.decode(data); ok {
			return e, text, nil
		}
	}
	return 0, "", ErrBinary
}

// damagedUTF8 reports whether the text is UTF-8 but for a few bytes.
func damagedUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good >= bad*damageShare
}

// detect asks chardet about the part of the text that is not ASCII, for nothing
// else tells legacy encodings apart.
func detect(data []byte) (Encoding, bool) {
	first := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	from := max(first-guessed/8, 0)
	results, err := chardet.NewTextDetector().DetectAll(data[from:min(len(data), from+guessed)])
	if err != nil {
		return 0, false
	}
	best, sure := UTF8, confident
	for _, r := range results { // those of one confidence come in no order
		e, known := charset(r.Charset)
		switch {
		case !known || r.Confidence < sure:
		case r.Confidence > sure, best == UTF8, e == Windows1252, e < best && best != Windows1252:
			best, sure = e, r.Confidence
		}
	}
	return best, best != UTF8
}

// controls counts the control characters that texts do not have.
func controls(data []byte) int {
	n := 0
	for _, c := range data {
		if c < ' ' && !strings.ContainsRune("\a\b\t\n\v\f\r\x1b", rune(c)) || c == 0x7f {
			n++
		}
	}
	return n
}
