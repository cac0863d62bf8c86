package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Sentinels that an Error may wrap.
var (
	// ErrCut is a stream that ended before the answer was complete.
	ErrCut = errors.New("the stream was cut")
	// ErrContextLength is a request that the model's window does not hold: it
	// succeeds once it is shorter.
	ErrContextLength = errors.New("the request is longer than the model's context window")
)

const (
	maxErrorBytes   = 64 << 10 // of an error's body that are read
	maxMessageRunes = 600      // of a provider's words that are shown
)

// fail makes an error that trying again does not mend.
func (e *Endpoint) fail(model, message string, err error) *Error {
	return &Error{Provider: e.Provider, Model: model, Message: message, Err: err}
}

// Cut is the error of a stream that ended too early. Trying again may help.
func (e *Endpoint) Cut(model string) *Error {
	return &Error{Provider: e.Provider, Model: model, Retry: true, Err: ErrCut,
		Message: "the stream was cut before the answer was complete"}
}

// Broken is the error of a request or a body that broke off. Where ctx is done
// it is that of the context: the caller ended it.
func (e *Endpoint) Broken(ctx context.Context, model string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return e.Cut(model)
	}
	var urlErr *url.Error // repeats the URL, which may hold a secret
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	host := displayURL(e.BaseURL)
	out := &Error{Provider: e.Provider, Model: model, Err: err, Retry: true}
	var dns *net.DNSError
	var netErr net.Error
	switch {
	case errors.Is(err, errSilent):
		out.Message = fmt.Sprintf("%s was silent for %s", host, e.idle())
	case errors.Is(err, ErrEventTooLarge), errors.Is(err, ErrAnswerTooLarge):
		out.Message, out.Retry = err.Error(), false
	case isCertificate(err):
		out.Message, out.Retry = fmt.Sprintf("no trusted connection to %s: %v; check the base URL, and set caFile where the authority is your own", host, err), false
	case errors.As(err, &dns) && dns.IsNotFound:
		out.Message, out.Retry = fmt.Sprintf("no host %s is known: check the base URL %s and the network", dns.Name, host), false
	case errors.Is(err, syscall.ECONNREFUSED):
		out.Message = fmt.Sprintf("nothing answers at %s: is the server running, is the base URL right?", host)
	case errors.As(err, &netErr) && netErr.Timeout():
		out.Message = fmt.Sprintf("%s did not answer in time", host)
	default:
		out.Message = fmt.Sprintf("the connection to %s broke: %s", host, e.clean(err.Error()))
	}
	return out
}

func isCertificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// Unexpected is the error of an answer with status 200 that is none of the
// API's: a captive portal's page, another program on the port. raw is what of
// it was read.
func (e *Endpoint) Unexpected(model string, a *Answer, raw []byte) *Error {
	if raw == nil {
		raw, _ = a.Peek(a.Buffered())
	}
	what := a.ct
	if what == "" {
		what = "no content type"
	}
	text := e.clean(bodyText(raw))
	if text != "" {
		what += ", " + strconv.Quote(text)
	}
	return e.fail(model, fmt.Sprintf("%s sent no answer of a model but %s: check the base URL, and whether a proxy or a login page stands between",
		displayURL(e.BaseURL), what), nil)
}

// Malformed is the error of an event that is not what the API says. Trying
// again may help: what cuts streams also cuts events.
func (e *Endpoint) Malformed(model string, data []byte, err error) *Error {
	return &Error{Provider: e.Provider, Model: model, Retry: true, Err: err,
		Message: fmt.Sprintf("the stream holds what is no event of the API: %s", strconv.Quote(e.clean(clip(string(data), 80))))}
}

// Reported is the error that a provider sent inside of an answer with status
// 200. body is the error itself, or an object that has it as "error".
func (e *Endpoint) Reported(model string, body []byte) *Error {
	r := parseReport(body)
	out := &Error{Provider: e.Provider, Model: model, Message: e.clean(r.message), Retry: r.passing()}
	if out.Message == "" {
		out.Message = "the provider reported an error without a word on it"
	}
	if r.tooLong() {
		out.Err = ErrContextLength
	}
	return out
}

// refused makes the error of a status other than 200.
func (e *Endpoint) refused(model string, resp *http.Response, body []byte) *Error {
	r := parseReport(body)
	out := &Error{Provider: e.Provider, Model: model, Status: resp.StatusCode, Message: e.clean(r.message)}
	if out.Message == "" {
		out.Message = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		out.Message += "; " + e.keyHint()
	case s == http.StatusNotFound:
		out.Message += fmt.Sprintf("; check the model %q and the base URL %s", model, displayURL(e.BaseURL))
	case s >= 300 && s < 400:
		out.Message += fmt.Sprintf("; the base URL %s leads to %s: set it to where the API is", displayURL(e.BaseURL), displayURL(resp.Header.Get("Location")))
	case r.quota():
		out.Message += "; check the account's credit"
	case s == http.StatusRequestTimeout || s == http.StatusConflict || s == http.StatusTooEarly || s == http.StatusTooManyRequests:
		out.Retry = true
	case s >= 500 && s != http.StatusNotImplemented && s != http.StatusHTTPVersionNotSupported:
		out.Retry = true
	}
	if r.tooLong() {
		out.Err = ErrContextLength
	}
	if out.Retry && resp.Header.Get("X-Should-Retry") == "false" {
		out.Retry = false
	}
	if out.Retry {
		out.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	return out
}

func (e *Endpoint) keyHint() string {
	set := "set its key"
	if e.KeyEnv != "" {
		set = "set " + e.KeyEnv
	}
	return fmt.Sprintf("%s or run `acp-agent login %s` with a key that %s takes", set, e.Provider, displayURL(e.BaseURL))
}

// retryAfter reads what a server asks for: milliseconds, seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms, time.Millisecond)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s, time.Second)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// span is n units, within what a Duration holds.
func span(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(math.Min(n*float64(unit), float64(math.MaxInt64/2)))
}

// report is what a provider says of an error: the forms of all that are known,
// in one.
type report struct {
	message string
	code    string // code and type, lower case
	status  int    // a code that is an HTTP status
}

func parseReport(body []byte) report { return parseNested(body, 3) }

// parseNested reads errors within errors, as gateways make them, so many deep.
func parseNested(body []byte, depth int) report {
	var doc struct {
		Error   json.RawMessage
		Message json.RawMessage
		Detail  json.RawMessage
		Code    json.RawMessage
		Type    string
		Status  json.RawMessage
	}
	if json.Unmarshal(body, &doc) != nil {
		var list []json.RawMessage // some put the error into a list
		if json.Unmarshal(body, &list) == nil && len(list) > 0 && depth > 0 && bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("{")) {
			return parseNested(list[0], depth-1)
		}
		return report{message: bodyText(body)}
	}
	var r report
	if e := bytes.TrimSpace(doc.Error); len(e) > 0 && e[0] == '{' && depth > 0 {
		r = parseNested(e, depth-1)
	} else {
		r.message = jsonText(doc.Error)
	}
	for _, m := range []json.RawMessage{doc.Message, doc.Detail} {
		if r.message == "" {
			r.message = jsonText(m)
		}
	}
	for _, c := range []string{jsonText(doc.Code), doc.Type, jsonText(doc.Status)} {
		r.code = strings.TrimSpace(r.code + " " + strings.ToLower(c))
		if n, err := strconv.Atoi(c); err == nil && r.status == 0 {
			r.status = n
		}
	}
	if r.message == "" {
		r.message = r.code
	}
	return r
}

// jsonText is a value as text: a string as it is, null as nothing, anything else
// as JSON.
func jsonText(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// passing tells whether an error inside of an answer may go away by itself.
func (r report) passing() bool {
	if r.quota() || r.tooLong() {
		return false
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout || r.status >= 500 {
		return true
	}
	return containsAny(r.code+" "+strings.ToLower(r.message), "overload", "rate_limit", "rate limit", "too many requests",
		"timeout", "timed out", "unavailable", "server_error", "internal server error", "api_error", "capacity", "try again")
}

func (r report) quota() bool {
	return containsAny(r.code, "insufficient_quota", "billing", "insufficient_balance")
}

func (r report) tooLong() bool {
	return containsAny(r.code+" "+strings.ToLower(r.message), "context_length_exceeded", "prompt is too long",
		"maximum context length", "exceeds the context window", "context window exceeded", "exceed context limit")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// bodyText is the text of a body that is not JSON: of a page its title, else
// the body itself.
func bodyText(body []byte) string {
	text := strings.ToValidUTF8(string(body), "")
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "<") {
		return trimmed
	}
	lower := strings.ToLower(trimmed)
	if len(lower) == len(trimmed) { // the same places
		if i := strings.Index(lower, "<title>"); i >= 0 {
			i += len("<title>")
			if n := strings.Index(lower[i:], "</title>"); n >= 0 {
				return "the page " + strconv.Quote(strings.TrimSpace(trimmed[i:i+n]))
			}
		}
	}
	return "an HTML page"
}

// clean makes a provider's words fit to be shown: one line, of bounded length,
// without our keys.
func (e *Endpoint) clean(s string) string {
	for _, values := range e.Header {
		for _, v := range values {
			for _, secret := range []string{v, strings.TrimPrefix(v, "Bearer ")} {
				if len(secret) >= 8 && secret != "application/json" && secret != "acp-agent" {
					s = strings.ReplaceAll(s, secret, "[redacted]")
				}
			}
		}
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), maxMessageRunes)
}

// clip cuts s to n runes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}

// displayURL is a URL without what may be secret: user, query, fragment.
func displayURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "the server"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
