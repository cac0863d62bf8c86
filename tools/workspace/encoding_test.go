package workspace

import (
	"bytes"
	"strings"
	"testing"
)

// legacyTexts are texts as they stand in sources of many countries, long enough
// to be told apart.
func legacyTexts() map[Encoding]string {
	return map[Encoding]string{
		Windows1252: "// Überprüft, ob die Größe gültig ist, und gibt zurück, was übrig bleibt.\n// „Naïveté“ kostet 5 €.\n",
		Windows1251: "// Проверяет, что размер допустим, и возвращает остаток.\n// Если файла нет, возвращается ошибка.\n",
		KOI8R:       "# Проверяет, что размер допустим, и возвращает остаток.\n# Если файла нет, возвращается ошибка.\n",
		ShiftJIS:    "// サイズが正しいかどうかを調べ、残りを返します。\n// ファイルがない場合はエラーになります。\n",
		EUCJP:       "# サイズが正しいかどうかを調べ、残りを返します。\n# ファイルがない場合はエラーになります。\n",
		EUCKR:       "// 크기가 올바른지 확인하고 나머지를 반환합니다.\n// 파일이 없으면 오류가 발생합니다.\n",
		GB18030:     "// 检查大小是否有效，并返回剩余部分。\n// 如果文件不存在，则返回错误。我们的代码在这里。\n",
	}
}

func TestGuess(t *testing.T) {
	for want, text := range legacyTexts() {
		t.Run(want.String(), func(t *testing.T) {
			data, err := want.Encode("package main\n\n" + text + "\nfunc main() {}\n")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if err != nil || got.Encoding() != want || !strings.Contains(got.LF(), text) {
				t.Fatalf("%v, %v, want %v", got.Encoding(), err, want)
			}
			for range 20 { // it asks many at once
				if again, _ := Decode(data); again.Encoding() != got.Encoding() {
					t.Fatalf("now it is %v", again.Encoding())
				}
			}
		})
	}
}

// TestEditKeepsLegacyEncoding changes a line of each text; all other bytes stay.
func TestEditKeepsLegacyEncoding(t *testing.T) {
	for e, text := range legacyTexts() {
		t.Run(e.String(), func(t *testing.T) {
			text = strings.ReplaceAll("one\n"+text+"two\n", "\n", "\r\n")
			data, err := e.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			before, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(before.LF(), "two")
			after, err := before.Apply(Splice{at, at + 3, "three\nfour"})
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Replace(data, []byte("two\r\n"), []byte("three\r\nfour\r\n"), 1)
			if !bytes.Equal(after.Bytes(), want) || after.Encoding() != e {
				t.Errorf("%v: %q, want %q", after.Encoding(), after.Bytes(), want)
			}
			if _, err := before.Apply(Splice{at, at, "🎉"}); e != GB18030 && (err == nil || !strings.Contains(err.Error(), `lacks '🎉'`)) {
				t.Errorf("a character that it lacks: %v", err)
			}
			whole, err := before.Replace(strings.ReplaceAll(before.LF(), "one", "1"))
			if err != nil || !bytes.Equal(whole.Bytes(), bytes.Replace(data, []byte("one"), []byte("1"), 1)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDamagedUTF8: what is no UTF-8 in a text that is but for that stays as it is.
func TestDamagedUTF8(t *testing.T) {
	const text = "Grüße aus Köln, schöne äpfel\xff\xfe\r\nzwei \xc3 drei\r\n" + "äöüäöüäöüß"
	before, err := Decode([]byte(text))
	if err != nil || before.Encoding() != DamagedUTF8 || before.Body() != "Grüße aus Köln, schöne äpfel\ufffd\ufffd\r\nzwei \ufffd drei\r\näöüäöüäöüß" {
		t.Fatalf("%v %q, %v", before.Encoding(), before.Body(), err)
	}
	at := strings.Index(before.LF(), "drei")
	after, err := before.Apply(Splice{0, len("Grüße"), "Gruß"}, Splice{at, at + 4, "3 \ufffd\n4"})
	want := "Gruß" + strings.Replace(text[len("Grüße"):], "drei", "3 \ufffd\r\n4", 1)
	if err != nil || string(after.Bytes()) != want {
		t.Errorf("%q, %v, want %q", after.Bytes(), err, want)
	}
}

func TestEveryEncodingIsWhole(t *testing.T) {
	for e := UTF8; e < encodings; e++ {
		data, err := e.Encode("plain\n")
		if err != nil || e.String() == "" {
			t.Errorf("%d %v: %v", e, e, err)
		}
		if text, ok := e.decode(data[len(e.mark()):]); !ok || text != "plain\n" {
			t.Errorf("%v: %q", e, text)
		}
		if (e.codec() == nil) != (e == UTF8 || e == UTF8BOM || e == DamagedUTF8) {
			t.Errorf("%v: codec %v", e, e.codec())
		}
	}
}

// TestGuessOfAFewWords: one comment in a source tells its encoding.
func TestGuessOfAFewWords(t *testing.T) {
	for text, encodings := range map[string][]Encoding{
		"café":                                {Windows1252},
		"naïve":                               {Windows1252},
		"Größe":                               {Windows1252},
		"“quoted” – and … €":                  {Windows1252},
		"función ñandú":                       {Windows1252},
		"Zażółć gęślą jaźń":                   {Windows1250, Latin2},
		"Příliš žluťoučký kůň":                {Windows1250, Latin2},
		"árvíztűrő tükörfúrógép":              {Windows1250, Latin2},
		"Pijamalı hasta yağız şoföre güvendi": {Windows1254},
		"Привет":                              {Windows1251, KOI8R, Cyrillic},
		"Съешь же ещё этих мягких булок":        {Windows1251, KOI8R, Cyrillic},
		"Ξεσκεπάζω την ψυχοφθόρα βδελυγμία":     {Windows1253, Greek},
		"דג סקרן שט בים מאוכזב ולפתע מצא חברה":  {Windows1255, Hebrew},
		"שלום עולם, בודק אם הגודל תקין":         {Windows1255, Hebrew},
		"نص حكيم له سر قاطع وذو شأن عظيم مكتوب": {Windows1256, Arabic},
		"日本語コメント":    {ShiftJIS, EUCJP},
		"初期化処理":      {ShiftJIS, EUCJP},
		"ﾊﾝｶｸｶﾅ":     {ShiftJIS},
		"ﾊﾝｶｸｶﾅ テスト": {ShiftJIS, EUCJP},
		"注释":         {GB18030},
		"检查大小":       {GB18030},
		"한글 주석":      {EUCKR},
		"비밀번호 오류":    {EUCKR},
		"繁體中文測試":     {Big5},
	} {
		text = "int key = 1; // " + text + "\n"
		for _, e := range encodings {
			data, err := e.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if err != nil || got.LF() != text {
				t.Errorf("%v: %q, %v, %v", e, text, got.Encoding(), err)
				continue
			}
			if again, _ := got.Encoding().Encode(text); !bytes.Equal(again, data) {
				t.Errorf("%v: %q would come back otherwise", e, text)
			}
		}
	}
}

// TestGuessOfALongText: the part that is weighed may end within a character.
func TestGuessOfALongText(t *testing.T) {
	for _, e := range []Encoding{ShiftJIS, GB18030, EUCKR, Windows1251} {
		text := map[Encoding]string{ShiftJIS: "設定値を取得", GB18030: "检查大小是否有效", EUCKR: "크기가올바른지", Windows1251: "Проверяет"}[e]
		for shift := range 4 {
			data, err := e.Encode(strings.Repeat("x", shift) + strings.Repeat(text, guessed))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Decode(data); err != nil || got.Encoding() != e {
				t.Errorf("%v: %v, %v", e, got.Encoding(), err)
			}
		}
	}
}
