package workspace

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of guessing.
const (
	guessed      = 8 << 10 // bytes of a file that are weighed, from the first on that is no ASCII
	likely       = 0.3     // of 1: the least with which a guess is believed
	maxLikely    = 3       // guesses that are tried
	controlShare = 100     // one control character among so many is too many for text
	damageShare  = 5       // one byte that is no UTF-8 beside so many characters of several bytes is damage
)

// guess finds the encoding of bytes that are neither UTF-8 nor marked: UTF-8 that
// is damaged, as no other encoding looks like it by chance; the one in which they
// read most like a language that is written so; else Windows's for western
// Europe, else the one in which all bytes mean something. Bytes that no text has
// are ErrBinary. The same bytes always give the same answer, so that who changes
// a file and who read it agree.
func guess(data []byte) (Encoding, string, error) {
	if controls(data)*controlShare > len(data) {
		return 0, "", ErrBinary
	}
	if damagedUTF8(data) {
		return DamagedUTF8, lossy(data), nil
	}
	for _, e := range append(likeliest(data), Windows1252, Latin1) {
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

// likeliest lists the encodings that the bytes may well be written in, the best
// first.
func likeliest(data []byte) []Encoding {
	type scored struct {
		Encoding
		score float64
	}
	var found []scored
	sample := sampleOf(data)
	for _, t := range tongues() {
		for _, e := range t.encodings {
			text, ok := e.decodeCut(sample)
			if !ok {
				continue
			}
			if score := t.score(text); score >= likely {
				found = append(found, scored{e, score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	best := make([]Encoding, min(len(found), maxLikely)) // each may mean to read the whole file
	for i, f := range found[:len(best)] {
		best[i] = f.Encoding
	}
	return best
}

// sampleOf is the part of a text that tells its encoding: from a little before
// the first byte that is no ASCII.
func sampleOf(data []byte) []byte {
	first := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	from := max(first-64, 0)
	return data[from:min(len(data), from+guessed)]
}

// decodeCut reads bytes of which the last character may be cut.
func (e Encoding) decodeCut(data []byte) (text string, ok bool) {
	for cut := range min(utf8.UTFMax, len(data)) {
		if text, ok = e.decode(data[:len(data)-cut]); ok || len(data) < guessed {
			break
		}
	}
	return text, ok
}

// tongue is a language, or several that share their letters, and the encodings
// that it is written in.
type tongue struct {
	encodings []Encoding
	usual     string // letters beside ASCII's; of many the most frequent
	others    string // further letters, less frequent
	ideograms bool   // usual are some of thousands of characters
}

// tongues lists languages, and where a text reads as well in one as in another,
// the one that comes first counts.
func tongues() []tongue {
	western, central := []Encoding{Windows1252}, []Encoding{Windows1250, Latin2}
	return []tongue{
		{western, "äöüß", "ÄÖÜéàëï", false},                             // German
		{western, "éèàêçùâîôûëïœ", "ÉÈÀÊÇÙÂÎÔÛËÏŒæÆÿüöó", false},        // French
		{western, "áéíóúñü", "ÁÉÍÓÚÑÜçïò·àè", false},                    // Spanish, Catalan
		{western, "ãõáéíóúâêôçà", "ÃÕÁÉÍÓÚÂÊÔÇÀü", false},               // Portuguese
		{western, "àèéìòùî", "ÀÈÉÌÒÙÎóí", false},                        // Italian
		{western, "åäöæøé", "ÅÄÖÆØÉüóôèà", false},                       // Scandinavian, Finnish
		{western, "ëïéèóöü", "ËÏÉÈÓÖÜáêç", false},                       // Dutch
		{central, "ąćęłńóśźż", "ĄĆĘŁŃÓŚŹŻ", false},                      // Polish
		{central, "áčďéěíňóřšťúůýž", "ÁČĎÉĚÍŇÓŘŠŤÚŮÝŽäĺľôŕĹĽÔŔ", false}, // Czech, Slovak
		{central, "áéíóöőúüű", "ÁÉÍÓÖŐÚÜŰ", false},                      // Hungarian
		{central, "čćđšž", "ČĆĐŠŽ", false},                              // Croatian, Slovenian
		{central, "ăâîşţ", "ĂÂÎŞŢ", false},                              // Romanian
		{[]Encoding{Windows1254}, "çğıöşü", "ÇĞİÖŞÜâîûÂÎÛ", false},      // Turkish
		{western, "áðéíóúýþæö", "ÁÐÉÍÓÚÝÞÆÖ", false},                    // Icelandic
		{[]Encoding{Windows1251, KOI8R, Cyrillic}, "аеинорстлвкмдпуОЕАИНТСРВЛКМДПУ", "бгжзйфхцчшщъыьэюяёБГЖЗЙФХЦЧШЩЪЫЬЭЮЯЁіїєґІЇЄҐўЎђјљњћџЂЈЉЊЋЏ", false},
		{[]Encoding{Windows1253, Greek}, "αειονσςτρκλμπυηωάέίόήύ", "βγδζθξφχψώΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌΎΏϊϋΐΰΪΫ", false},
		{[]Encoding{Windows1255, Hebrew}, "יוהלאמרבתנש", "גדזחטכסעפצקםןץףך\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05c1\u05c2", false},
		{[]Encoding{Windows1256, Arabic}, "المينوربتةعدسفهكقأح", "ثجخذزشصضطظغىإآؤئء\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652ـ،؛؟پچژگک", false},
		{[]Encoding{GB18030}, hanziUsual, "", true},
		{[]Encoding{ShiftJIS, EUCJP}, kanjiUsual, "", true},
		{[]Encoding{EUCKR}, hangulUsual, "", true},
		{[]Encoding{Big5}, hanziTraditional, "", true},
	}
}

// The most frequent characters of texts, and of what programs say in comments
// and messages.
const (
	hanziUsual = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多" +
		"经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点" +
		"正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声" +
		"提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指许" +
		"统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北交该规万取格望觉共确传观清今切" +
		"让候带导运除错误返值参函注释串测试配置初始参码型户输检查删添循环配服器端网络请响执析默停启序列引键存读写版载图组节选项栈缓异符编译库源" +
		"始改单例调试连接示例说明文简繁汉字输入输出失败成效剩余是否确认处理显示按钮页功能创建更新"
	kanjiUsual = "日一人年大中本出時上生分会者国行事自間場見手学部合同業目全定地方発後前用今動作気度家所理体内力文下新入化法高対実表意関物数" +
		"変開通取名式性言書思成明最現不当設定通信待機能主相身加心問使指示品点経要以多切注重外口他回考情報制結果続必道期持次第小長画面予定選択値型" +
		"引数戻処理追加削除変更更新確認検索終了開始初期化読込書込表示漢字計算配列文字列関数変数定数条件例外保存画像番号件数結失敗成功接続送受電話" +
		"語解説明使用版権利項目種類別名前後左右空白行列正誤無効有効存在可能不要必要残調"
	hangulUsual = "이다는을가의에은로하고지를기도사리한서자나어인시대해라아일정수그과전여게부들으보주스있적제원상니것만동오유구공세학선장무소안조" +
		"위신경내비마면관국성방중트연생할교모금드당회계실산없저단였통데문화입우용야때개바상민체물진후같관업려습합미었더된렇위분법식태르래양되않러와" +
		"역했던두력까음결직발간목등전요류크불심재행파반명현건남프새현표각외치호본질설확인환기록함값객체변배열파일출력입력오류확인반환크기올바른글석" +
		"숫초화실패추삭검색너줄말날많알될달써씨살길늘레네엔터클릭버튼페널키티판매처며면운영름처음끝"
	hanziTraditional = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多" +
		"經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業" +
		"外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比" +
		"員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命山金指許統區保至隊形社" +
		"便空決治展科司五基書非則聽界達光放強即像難且權思完設式色路記南品住告類求據程北交該規萬取格望覺共確傳觀清今切讓候帶導運除錯誤返值參函註解串" +
		"測試配置初始碼型戶輸檢查刪添迴圈服器端網路請執析默停啟序列引鍵存讀寫版載圖組選項異符編譯庫源單例調連示檔案繁簡字功"
)

// score is how much a text reads like the language, by its characters beside
// ASCII's: 1 where each does, and less where letters are none of it, or stand as
// they do in no word.
func (t *tongue) score(text string) float64 {
	good, total := 0.0, 0
	before, known := ' ', map[rune]float64{}
	for i, r := range text {
		if r >= utf8.RuneSelf {
			total++
			worth, ok := known[r]
			if !ok {
				worth = t.worth(r)
				known[r] = worth
			}
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			good += worth - t.oddity(before, r, after)
		}
		before = r
	}
	if total == 0 {
		return 0
	}
	return good / float64(total)
}

// worth is how much a character speaks for the language.
func (t *tongue) worth(r rune) float64 {
	if !unicode.Is(unicode.Latin, r) && unicode.IsUpper(r) { // words in capitals are rare
		return 0.85 * t.worthOf(r)
	}
	return t.worthOf(r)
}

func (t *tongue) worthOf(r rune) float64 {
	const frequent, rare, mark, any, symbol = 1, 0.7, 0.9, 0.3, 0.2
	switch {
	case strings.ContainsRune(t.usual, r), t.ideograms && (unicode.In(r, unicode.Hiragana, unicode.Katakana) && r < 0xff00 && t.kana()):
		return frequent
	case strings.ContainsRune(t.others, r):
		return rare
	case t.ideograms && unicode.In(r, unicode.Han, unicode.Hangul):
		return any // as any code of two bytes may mean
	case t.ideograms && (r >= 0x3000 && r < 0x3020 || r >= 0xff01 && r < 0xff60):
		return rare
	case t.ideograms && t.kana() && halfWidth(r):
		return symbol
	case !t.ideograms && strings.ContainsRune("–—…„“”‚‘’«»‹›•·°§©®™€£×½¼¿¡ºª№\u00a0\u00ad", r):
		return mark
	case unicode.IsLetter(r), unicode.IsControl(r), r == utf8.RuneError:
		return 0
	}
	return symbol
}

// halfWidth reports whether a character is a syllable of half the width, of one
// byte.
func halfWidth(r rune) bool { return r >= 0xff61 && r < 0xffa0 }

// kana reports whether the language is written with syllables too.
func (t *tongue) kana() bool { return t.usual == kanjiUsual }

// oddity is how much a character speaks against the language between its
// neighbours.
func (t *tongue) oddity(before, r, after rune) float64 {
	const odd, unusual, broken = 1, 0.5, 3
	letters := unicode.IsLetter(before) && unicode.IsLetter(after)
	switch {
	case unicode.IsControl(r) && r != 0x85, r == utf8.RuneError, unicode.Is(unicode.Co, r):
		return broken
	case t.ideograms && t.kana() && halfWidth(r) && (halfWidth(before) || halfWidth(after)):
		return -unusual // several are a word
	case t.ideograms:
		return 0
	case unicode.IsMark(r) && (before < utf8.RuneSelf || !unicode.IsLetter(before) && !unicode.IsMark(before)):
		return odd // it stands on nothing
	case unicode.IsLetter(r):
		if !unicode.Is(unicode.Latin, r) && (isASCIILetter(before) || isASCIILetter(after)) || unicode.IsUpper(r) && unicode.IsLower(before) {
			return odd
		}
		if unicode.Is(unicode.Latin, r) && letters && before >= utf8.RuneSelf && after >= utf8.RuneSelf {
			return unusual
		}
		return wordOddity(before, r, after)
	case letters && !strings.ContainsRune("’·-\u00ad", r) && !unicode.IsMark(r):
		return odd
	}
	return 0
}

// wordOddity is the part of oddity that letters have by their place in a word.
func wordOddity(before, r, after rune) float64 {
	const odd, usual = 1, -0.3
	switch {
	case strings.ContainsRune("ςךםןףץ", r): // which end words
		if unicode.IsLetter(after) {
			return odd
		}
		return usual
	case strings.ContainsRune("ьъы", r) && !unicode.IsLetter(before): // which begin none
		return odd
	}
	return 0
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

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
