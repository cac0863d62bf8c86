package pdf

import (
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// Names of glyphs, in the order of their characters (Adobe Glyph List).
const (
	asciiNames = "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma " +
		"hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at " +
		"A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave " +
		"a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde"
	latinNames = "exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot " +
		"sfthyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla " +
		"onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde " +
		"Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve " +
		"Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave " +
		"aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex " +
		"idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute " +
		"thorn ydieresis"
	greekNames = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi " +
		"Chi Psi Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa lambda - nu xi omicron pi rho " +
		"sigma1 sigma tau upsilon phi chi psi omega"
	// otherNames are names, each with what it means.
	otherNames = "quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ endash – emdash — bullet • " +
		"ellipsis … dagger † daggerdbl ‡ perthousand ‰ guilsinglleft ‹ guilsinglright › fraction / Euro € trademark ™ minus − " +
		"fi fi fl fl ff ff ffi ffi ffl ffl florin ƒ circumflex ˆ tilde ˜ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ " +
		"hungarumlaut ˝ dotlessi ı Lslash Ł lslash ł OE Œ oe œ Scaron Š scaron š Zcaron Ž zcaron ž Ydieresis Ÿ " +
		"Cacute Ć cacute ć Ccaron Č ccaron č Eogonek Ę eogonek ę Aogonek Ą aogonek ą Nacute Ń nacute ń Sacute Ś sacute ś " +
		"Zacute Ź zacute ź Zdotaccent Ż zdotaccent ż Rcaron Ř rcaron ř Ecaron Ě ecaron ě Uring Ů uring ů Gbreve Ğ gbreve ğ " +
		"infinity ∞ lessequal ≤ greaterequal ≥ notequal ≠ approxequal ≈ equivalence ≡ partialdiff ∂ summation ∑ product ∏ " +
		"integral ∫ radical √ lozenge ◊ arrowleft ← arrowup ↑ arrowright → arrowdown ↓ arrowboth ↔ element ∈ universal ∀ " +
		"existential ∃ intersection ∩ union ∪ logicaland ∧ logicalor ∨ proportional ∝ asteriskmath ∗ similar ∼ visiblespace ␣"
)

// glyphs is what the names of glyphs mean.
func glyphs() map[string]string {
	known := map[string]string{}
	for first, names := range map[rune]string{' ': asciiNames, '\u00a1': latinNames, '\u0391': greekNames} {
		for i, name := range strings.Fields(names) {
			known[name] = string(first + rune(i))
		}
	}
	other := strings.Fields(otherNames)
	for i := 0; i+1 < len(other); i += 2 {
		known[other[i]] = other[i+1]
	}
	return known
}

// glyph is what one name means: a known one, or uniXXXX and uXXXXXX. What stands
// behind a point in it is a form of the same character.
func glyph(known map[string]string, name string) (string, bool) {
	name, _, _ = strings.Cut(name, ".")
	if text, ok := known[name]; ok {
		return text, true
	}
	for _, prefix := range []string{"uni", "u"} {
		digits, found := strings.CutPrefix(name, prefix)
		if !found || len(digits) < 4 || len(digits) > 6 {
			continue
		}
		if code, err := strconv.ParseUint(digits, 16, 21); err == nil {
			return string(rune(code)), true
		}
	}
	return "", false
}

// simpleCodes is what the 256 codes of a font of one byte a code mean, by its
// Encoding (ISO 32000-1, 9.6.6). Where none is named it is taken as WinAnsi,
// with which the fonts' own share the letters.
func simpleCodes(encoding pdf.Value) *[256]string {
	base := encoding.Name()
	if encoding.Kind() == pdf.Dict {
		base = encoding.Key("BaseEncoding").Name()
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	var codes [256]string
	for i := range codes {
		codes[i] = string(table.DecodeByte(byte(i)))
	}
	list := encoding.Key("Differences")
	if list.Len() == 0 {
		return &codes
	}
	known, code := glyphs(), 0
	for i := range list.Len() {
		switch v := list.Index(i); v.Kind() {
		case pdf.Integer:
			code = int(v.Int64())
		case pdf.Name:
			if text, ok := glyph(known, v.Name()); ok && code >= 0 && code < len(codes) {
				codes[code] = text
			}
			code++
		}
	}
	return &codes
}
