package workspace

import (
	"bytes"
	"fmt"
	"unicode/utf8"

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
