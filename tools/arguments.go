package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// decodeArguments reads a call's arguments, which fit the schema, into in. What
// would come out as other text than was sent is an error: half a surrogate pair,
// and bytes that are no UTF-8. Integers may be written as JSON Schema has them:
// 2.0 and 2e3 too.
func decodeArguments(args json.RawMessage, in any) error {
	if at := notText(args); at >= 0 {
		end := min(at+6, len(args)) // as long as an escape
		return fmt.Errorf("%q at byte %d is no whole character: send the text again", args[at:end], at)
	}
	err := json.Unmarshal(args, in)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if value, again := parseJSON(args); again == nil {
		if plain, again := json.Marshal(plainNumbers(value)); again == nil {
			err = json.Unmarshal(plain, in)
		}
	}
	return misfitJSON(err)
}

// misfitJSON words an error of decoding without the names of Go's types.
func misfitJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	return fmt.Errorf("%s cannot be: %s", wrong.Field, wrong.Value)
}

// notText is where JSON has something that is no character; below 0 where it has
// nothing of the kind.
func notText(raw []byte) int {
	if !utf8.Valid(raw) {
		at := 0
		for r, size := utf8.DecodeRune(raw); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(raw[at:]) {
			at += size
		}
		return at
	}
	for at := 0; ; at += 2 {
		next := bytes.IndexByte(raw[min(at, len(raw)):], '\\')
		if next < 0 {
			return -1
		}
		at += next
		half, ok := surrogateEscape(raw[at:])
		switch second, paired := surrogateEscape(raw[min(at+6, len(raw)):]); {
		case !ok:
		case half < 0xdc00 && paired && second >= 0xdc00:
			at += 10
		default:
			return at
		}
	}
}

// surrogateEscape reads an escape of half a surrogate pair.
func surrogateEscape(raw []byte) (half uint64, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	half, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return half, err == nil && half >= 0xd800 && half < 0xe000
}

// plainNumbers writes all integers of a JSON value as such.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			v[key] = plainNumbers(one)
		}
	case []any:
		for i, one := range v {
			v[i] = plainNumbers(one)
		}
	case json.Number:
		return plainNumber(v)
	}
	return value
}

// plainNumber writes a number as an integer where it is one that is not too large.
func plainNumber(n json.Number) json.Number {
	const digits = 400 // an exponent makes a huge number of few characters
	f, _, err := big.ParseFloat(n.String(), 10, digits, big.ToZero)
	if err != nil || !f.IsInt() {
		return n
	}
	i, exact := f.Int64()
	if exact != big.Exact {
		return n
	}
	return json.Number(strconv.FormatInt(i, 10))
}
