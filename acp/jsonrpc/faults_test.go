package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// after is sent behind each fault: it shows that the connection lives on.
const after = `{"jsonrpc":"2.0","id":"after","method":"ready"}`

// afterLine is its answer.
const afterLine = `{"jsonrpc":"2.0","id":"after","result":null}`

// fault is the answer to a fault, and result that to a request.
func fault(id string, code int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

func result(id, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`
}

const (
	notJSON   = "parse error: the line is not JSON, or nested too deeply"
	notUTF8   = "parse error: the line is not valid UTF-8"
	noMethod  = "invalid request: there is no method"
	badMethod = "invalid request: the method must be a string"
	badID     = "invalid request: the id must be a string, a number or null"
	both      = "invalid request: a request has no result and no error"
	noObject  = "invalid request: a message must be a JSON object"
	noBatch   = "invalid request: batches are not supported, send one message a line"
)

func TestFaultyLines(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	tests := []struct {
		name, input string
		want        []string
	}{
		{"malformed line", "%% not json", []string{fault("null", CodeParse, notJSON)}},
		{"half an object", `{"id":1,"method":"ready"`, []string{fault("null", CodeParse, notJSON)}},
		{"two messages in a line", `{"id":1,"method":"ready"}{"id":2,"method":"ready"}`, []string{fault("null", CodeParse, notJSON)}},
		{"invalid UTF-8", "{\"id\":1,\"method\":\"echo\",\"params\":[\"\xff\"]}", []string{fault("null", CodeParse, notUTF8)}},
		{"nested a million deep", `{"id":1,"method":"echo","params":` + deep, []string{fault("null", CodeParse, notJSON)}},
		{"nested and closed", `{"id":1,"method":"echo","params":` + deep + strings.Repeat("]", len(deep)) + `}`, []string{fault("null", CodeParse, notJSON)}},
		{"batch", `[` + after + `]`, []string{fault("null", CodeInvalidRequest, noBatch)}},
		{"empty batch", `[]`, []string{fault("null", CodeInvalidRequest, noBatch)}},
		{"a number", `17`, []string{fault("null", CodeInvalidRequest, noObject)}},
		{"null", `null`, []string{fault("null", CodeInvalidRequest, noObject)}},
		{"empty object", `{}`, []string{fault("null", CodeInvalidRequest, noMethod)}},
		{"no method", `{"jsonrpc":"2.0","id":5}`, []string{fault("null", CodeInvalidRequest, noMethod)}},
		{"method is null", `{"jsonrpc":"2.0","id":5,"method":null}`, []string{fault("null", CodeInvalidRequest, noMethod)}},
		{"method is a number", `{"id":7,"method":5}`, []string{fault("7", CodeInvalidRequest, badMethod)}},
		{"method is an object, id is a string", `{"id":"x","method":{}}`, []string{fault(`"x"`, CodeInvalidRequest, badMethod)}},
		{"method and result", `{"id":7,"method":"ready","result":1}`, []string{fault("7", CodeInvalidRequest, both)}},
		{"method and error", `{"id":7,"method":"ready","error":{}}`, []string{fault("7", CodeInvalidRequest, both)}},
		{"method and null result", `{"id":7,"method":"ready","result":null}`, []string{result("7", "null")}},
		{"id 1.5", `{"id":1.5,"method":"ready"}`, []string{result("1.5", "null")}},
		{"id 1.0", `{"id":1.0,"method":"ready"}`, []string{result("1.0", "null")}},
		{"id -1", `{"id":-1,"method":"ready"}`, []string{result("-1", "null")}},
		{"id 1e400", `{"id":1e400,"method":"ready"}`, []string{result("1e400", "null")}},
		{"id 2^63 and more", `{"id":9223372036854775808,"method":"ready"}` + "\n" + `{"id":123456789012345678901234567890,"method":"ready"}`,
			[]string{result("123456789012345678901234567890", "null"), result("9223372036854775808", "null")}},
		{"id is an object", `{"id":{},"method":"ready"}`, []string{fault("null", CodeInvalidRequest, badID)}},
		{"id is a list", `{"id":[],"method":"ready"}`, []string{fault("null", CodeInvalidRequest, badID)}},
		{"id is true", `{"id":true,"method":"ready"}`, []string{fault("null", CodeInvalidRequest, badID)}},
		{"id null is a request", `{"id":null,"method":"ready"}`, []string{result("null", "null")}},
		{"two of them", `{"id":null,"method":"ready"}` + "\n" + `{"id":null,"method":"ready"}`, []string{result("null", "null"), result("null", "null")}},
		{"id with escapes", `{"id":"\u0061<\/","method":"ready"}`, []string{result(`"\u0061<\/"`, "null")}},
		{"empty id", `{"id":"","method":"ready"}`, []string{result(`""`, "null")}},
		{"id like one of our own", `{"id":"call-1","method":"ready"}`, []string{result(`"call-1"`, "null")}},
		{"id like one inside the library", `{"id":"1","method":"ready"}`, []string{result(`"1"`, "null")}},
		{"no jsonrpc, wrong jsonrpc", `{"id":1,"method":"ready"}` + "\n" + `{"id":2,"method":"ready","jsonrpc":1}`, []string{result("1", "null"), result("2", "null")}},
		{"unknown members", `{"id":1,"method":"ready","meta":null,"_meta":{},"x":[1]}`, []string{result("1", "null")}},
		{"escaped member name", `{"\u0069d":1,"\u006dethod":"ready"}`, []string{result("1", "null")}},
		{"escaped method", `{"id":1,"method":"\u0072eady"}`, []string{result("1", "null")}},
		{"method is a lone surrogate", `{"id":1,"method":"\ud800"}`, []string{fault("1", CodeMethodNotFound, "method not found: \ufffd")}},
		{"empty method", `{"id":1,"method":""}`, []string{fault("1", CodeMethodNotFound, "method not found: ")}},
		{"the last of two ids", `{"id":1,"id":2,"method":"ready"}`, []string{result("2", "null")}},
		{"unknown method", `{"id":1,"method":"nope"}`, []string{fault("1", CodeMethodNotFound, "method not found: nope")}},
		{"unknown notification", `{"method":"nope"}`, nil},
		{"unknown protocol notification", `{"method":"$/nope"}`, nil},
		{"cancel without or with odd params", `{"method":"$/cancel_request"}` + "\n" + `{"method":"$/cancel_request","params":[]}` + "\n" +
			`{"method":"$/cancel_request","params":{"requestId":{}}}` + "\n" + `{"method":"$/cancel_request","params":{"requestId":null}}` + "\n" + `{"method":"$/cancel_request","params":5}`, nil},
		{"cancel as a request", `{"id":3,"method":"$/cancel_request","params":{"requestId":99}}`, []string{result("3", "null")}},
		{"answer with a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, nil},
		{"answers with unknown ids", `{"id":0,"result":1}` + "\n" + `{"id":"0","result":1}` + "\n" + `{"id":"call-9","result":1}` + "\n" + `{"result":1}` + "\n" + `{"id":{},"result":1}`, nil},
		{"blank lines and CRLF", "\r\n\n  \t\r\n" + `{"id":1,"method":"ready"}` + "\r", []string{result("1", "null")}},
		{"byte order mark at the start", "\ufeff" + `{"id":1,"method":"ready"}`, []string{result("1", "null")}},
		{"byte order mark later", after[:0] + "\n\ufeff" + `{"id":1,"method":"ready"}`, []string{fault("null", CodeParse, notJSON)}},
		{"params null are none", `{"id":1,"method":"echo","params":null}`, []string{result("1", "null")}},
		{"params of any kind are passed on", `{"id":1,"method":"echo","params":5}`, []string{result("1", "5")}},
		{"text unescaped", `{"id":1,"method":"echo","params":["<a href='x'>&</a>","日本語 🙂"]}`, []string{result("1", `["<a href='x'>&</a>","日本語 🙂"]`)}},
		{"order of keys and numbers kept", `{"id":1,"method":"echo","params":{"z":1.0,"a":12345678901234567890,"A":1e2}}`, []string{result("1", `{"z":1.0,"a":12345678901234567890,"A":1e2}`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := slices.Sorted(slices.Values(append(tt.want, afterLine)))
			got := exchange(t, echo, Options{}, tt.input+"\n"+after+"\n")
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestFaultTooLongLineIsSkipped(t *testing.T) {
	const limit = 200_000
	exact := `{"id":1,"method":"ready","x":"`
	exact += strings.Repeat("x", limit-len(exact)-2) + `"}`
	text := fmt.Sprintf("invalid request: the message is longer than %d bytes and was skipped, send less at once", limit)
	for _, end := range []string{"\n", "\r\n"} {
		got := exchange(t, echo, Options{MaxMessage: limit}, exact+end+exact+" "+end+exact+strings.Repeat("z", 3*limit)+end+after+end)
		want := slices.Sorted(slices.Values([]string{result("1", "null"), fault("null", CodeInvalidRequest, text), fault("null", CodeInvalidRequest, text), afterLine}))
		if !slices.Equal(got, want) {
			t.Errorf("end %q: got\n%s\nwanted\n%s", end, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestFaultEOFInsideLine(t *testing.T) {
	if got := exchange(t, echo, Options{}, after); !slices.Equal(got, []string{afterLine}) {
		t.Errorf("a whole message without newline: %q", got)
	}
	if got := exchange(t, echo, Options{}, after[:20]); !slices.Equal(got, []string{fault("null", CodeParse, notJSON)}) {
		t.Errorf("half a message: %q", got)
	}
	if got := exchange(t, echo, Options{}, ""); got != nil {
		t.Errorf("no input: %q", got)
	}
}

func TestFaultDuplicateID(t *testing.T) {
	release := make(chan struct{})
	handler := func(_ context.Context, r *Request) (Work, error) {
		if r.Method == "go" {
			close(release)
			return nil, nil
		}
		return func(context.Context) (any, error) {
			<-release
			return r.Params, nil
		}, nil
	}
	got := exchange(t, handler, Options{}, `{"id":"a","method":"x","params":[1]}
{"id":"\u0061","method":"x","params":[2]}
{"method":"go"}
`)
	want := []string{
		result(`"a"`, "[1]"),
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: a request with this id is still in flight, give each its own","data":{"requestId":"\u0061"}}}`,
	}
	if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestFaultHandlerErrors(t *testing.T) {
	inner := &Error{Code: CodeNotFound, Message: "session not found", Data: map[string]string{"sessionId": "s<1>"}}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("disk full"), `{"code":-32603,"message":"disk full","data":{"details":"disk full"}}`},
		{"wire error", inner, `{"code":-32002,"message":"session not found","data":{"sessionId":"s<1>"}}`},
		{"wrapped", fmt.Errorf("loading: %w", inner), `{"code":-32002,"message":"session not found","data":{"sessionId":"s<1>"}}`},
		{"cancelled", fmt.Errorf("reading: %w", context.Canceled), `{"code":-32800,"message":"request cancelled"}`},
		{"too late", context.DeadlineExceeded, `{"code":-32603,"message":"context deadline exceeded","data":{"details":"context deadline exceeded"}}`},
		{"internal wire error", &Error{Code: CodeInternal, Message: "x"}, `{"code":-32603,"message":"x","data":{"details":"x"}}`},
		{"data that cannot be encoded", &Error{Code: CodeNotFound, Message: "x", Data: func() {}}, `{"code":-32002,"message":"x"}`},
		{"not UTF-8", errors.New("a\xffb"), `{"code":-32603,"message":"a\ufffdb","data":{"details":"a\ufffdb"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			handler := func(_ context.Context, r *Request) (Work, error) {
				if r.Method == "admit" {
					return nil, tt.err
				}
				return func(context.Context) (any, error) { return nil, tt.err }, nil
			}
			for _, method := range []string{"admit", "work"} {
				got := exchange(t, handler, Options{}, `{"id":1,"method":"`+method+`"}`+"\n"+`{"method":"`+method+`"}`+"\n")
				if want := `{"jsonrpc":"2.0","id":1,"error":` + tt.want + `}`; !slices.Equal(got, []string{want}) {
					t.Errorf("%s: got %s\nwanted %s", method, got, want)
				}
			}
		})
	}
	if ErrorOf(nil) != nil {
		t.Error("no error has a wire form")
	}
}

// panicker panics when it is encoded.
type panicker struct{}

func (panicker) MarshalJSON() ([]byte, error) { panic("in the answer") }

func TestFaultPanics(t *testing.T) {
	handler := func(_ context.Context, r *Request) (Work, error) {
		switch r.Method {
		case "ready":
			return nil, nil
		case "admit":
			panic("on the read loop")
		case "result":
			return func(context.Context) (any, error) { return panicker{}, nil }, nil
		case "func":
			return func(context.Context) (any, error) { return func() {}, nil }, nil
		}
		return func(context.Context) (any, error) {
			panic("assignment to entry in nil map")
		}, nil
	}
	log := &testLog{}
	got := exchange(t, handler, Options{Logger: log.logger()}, `{"id":1,"method":"admit"}
{"id":2,"method":"work"}
{"id":3,"method":"result"}
{"id":4,"method":"func"}
{"method":"admit"}
{"method":"work"}
`+after)
	for id, text := range []string{1: "internal error in admit: on the read loop", 2: "internal error in work: assignment to entry in nil map", 3: "internal error in result: in the answer", 4: "unsupported type: func()"} {
		if id > 0 && !slices.ContainsFunc(got, func(line string) bool {
			return strings.Contains(line, fmt.Sprintf(`"id":%d,"error":{"code":-32603,`, id)) && strings.Contains(line, text)
		}) {
			t.Errorf("no internal error %q in\n%s", text, strings.Join(got, "\n"))
		}
	}
	if len(got) != 5 || !slices.Contains(got, afterLine) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if strings.Count(log.String(), "level=ERROR msg=panic") != 5 || !strings.Contains(log.String(), "faults_test.go") {
		t.Errorf("each panic is logged with its stack:\n%s", log.String())
	}
}

func TestFaultLargeParamsAreNotCopiedOften(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 24 MB; -short was asked for")
	}
	const size = 24 << 20
	input := `{"id":1,"method":"x","params":{"b":1,"text":"` + strings.Repeat("<", size) + `"}}` + "\n"
	var got int
	handler := func(_ context.Context, r *Request) (Work, error) {
		got = len(r.Params)
		return nil, nil
	}
	bytes := allocated(func() {
		if out := exchange(t, handler, Options{}, input); !slices.Equal(out, []string{result("1", "null")}) {
			t.Errorf("got %.200s", out)
		}
	})
	if want := size + len(`{"b":1,"text":""}`); got != want {
		t.Errorf("params of %d bytes, wanted %d", got, want)
	}
	if bytes > 2.5*size {
		t.Errorf("%d bytes allocated for a message of %d", bytes, size)
	}
}
