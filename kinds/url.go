package kinds

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// URL is an address on the web as it was parsed, once and strictly (policy
// section 11): what is shown, judged and dialled are all this value. Make one
// with ParseURL.
type URL struct {
	Scheme string     // http or https, as written; see Private.Secure
	Host   string     // in ASCII and lower case, an IPv6 address without its brackets
	Addr   netip.Addr // the host where it is an address; else invalid
	Port   int
	Path   string // escaped; begins with a slash
	Query  string // as it is sent, without its question mark
}

// maxURL is the longest URL that is parsed at all, in bytes.
const maxURL = 64 << 10

// The ports of the two schemes.
const (
	portHTTP  = 80
	portHTTPS = 443
)

// ParseURL reads an absolute URL of the web. Its errors say what to write
// instead; they are a refusal that nothing lifts.
func ParseURL(text string) (*URL, error) {
	if err := checkURLText(text); err != nil {
		return nil, err
	}
	scheme, rest, ok := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	if !ok || strings.ContainsAny(scheme, "/?#[") {
		return nil, errors.New("the URL is not absolute: begin it with https://")
	}
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("the scheme %s: is not allowed: only http and https are", head(scheme, 20))
	}
	if !strings.HasPrefix(rest, "//") {
		return nil, errors.New("the URL names no host: write it as https://HOST/PATH")
	}
	u := &URL{Scheme: scheme}
	authority, _, _ := strings.Cut(rest[2:], "/")
	if end := strings.IndexAny(authority, "?#"); end >= 0 {
		authority = authority[:end]
	}
	if err := u.setAuthority(authority); err != nil {
		return nil, err
	}
	parsed, err := url.Parse("https://host" + rest[2+len(authority):])
	if err != nil {
		return nil, errors.New("the URL's path is malformed: check what stands behind each %")
	}
	parsed = parsed.ResolveReference(&url.URL{Path: parsed.Path, RawPath: parsed.RawPath, RawQuery: parsed.RawQuery}) // without dots
	u.Path, u.Query = cmp.Or(parsed.EscapedPath(), "/"), escapeBytes(parsed.RawQuery)
	return u, nil
}

// checkURLText refuses characters that programs read in different ways, or that
// a person would not see.
func checkURLText(text string) error {
	switch {
	case text == "":
		return errors.New("the URL is empty")
	case len(text) > maxURL:
		return fmt.Errorf("the URL is longer than %d bytes", maxURL)
	case !utf8.ValidString(text):
		return errors.New("the URL is not valid UTF-8")
	}
	for _, r := range text {
		switch {
		case r == ' ':
			return errors.New("the URL has a space in it: write %20")
		case r == '\\':
			return errors.New("the URL has a backslash in it, which is not allowed: write /")
		case strings.ContainsRune("\"<>`", r):
			return fmt.Errorf("the URL has a %c in it: write it with a percent sign", r)
		case r < ' ', r == 0x7f, r == utf8.RuneError, Hidden(r):
			return fmt.Errorf("the URL holds the hidden character %s, which is not allowed", Escape(strconv.QuoteRuneToASCII(r)))
		}
	}
	return nil
}

// setAuthority reads the part between the scheme and the path.
func (u *URL) setAuthority(s string) error {
	if strings.Contains(s, "@") {
		return errors.New("the URL holds a user name or password, which is not allowed: leave out what stands before the @")
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port = s[:i], s[i+1:]
	}
	var err error
	if u.Host, u.Addr, err = ParseHost(host); err != nil {
		return err
	}
	u.Port = u.usualPort()
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '+' {
		return fmt.Errorf("the URL's port %q is no number from 1 to 65535", head(port, 20))
	}
	u.Port = int(n)
	return nil
}

func (u *URL) usualPort() int {
	if u.Scheme == "http" {
		return portHTTP
	}
	return portHTTPS
}

// escapeBytes writes what is not ASCII with percent signs.
func escapeBytes(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Resolve reads a reference as a redirect or a link of this URL's page gives
// it, as strictly as ParseURL.
func (u *URL) Resolve(reference string) (*URL, error) {
	if reference == "" {
		return u, nil
	}
	if err := checkURLText(reference); err != nil {
		return nil, err
	}
	if strings.HasPrefix(reference, "//") {
		return ParseURL(u.Scheme + ":" + reference)
	}
	ref, err := url.Parse(reference)
	if err != nil {
		return nil, errors.New("the reference is malformed")
	}
	if ref.Scheme != "" {
		return ParseURL(reference)
	}
	base, err := url.Parse(u.String())
	if err != nil {
		return nil, err
	}
	return ParseURL(base.ResolveReference(ref).String())
}

// String is the URL in full; the port of its scheme is left out.
func (u *URL) String() string { return u.Scheme + "://" + u.Name() }

// Name is the URL without its scheme, as titles show it.
func (u *URL) Name() string {
	s := u.authority() + u.Path
	if u.Query != "" {
		s += "?" + u.Query
	}
	return s
}

// HostPort is what is dialled: the host, and always the port.
func (u *URL) HostPort() string { return u.bracketed() + ":" + strconv.Itoa(u.Port) }

// Origin is scheme, host and port, which is always there.
func (u *URL) Origin() string { return u.Scheme + "://" + u.HostPort() }

func (u *URL) authority() string {
	if u.Port == u.usualPort() {
		return u.bracketed()
	}
	return u.HostPort()
}

func (u *URL) bracketed() string {
	if strings.Contains(u.Host, ":") {
		return "[" + u.Host + "]"
	}
	return u.Host
}

// Fetch is the card of a call that reads something from the web: where and what.
func Fetch(u *URL) Card { return Card{Title: cut("Fetch " + u.Name()), Kind: KindFetch} }

// SearchWeb is the card of a call that asks a search engine.
func SearchWeb(query string) Card {
	return Card{Title: cut("Search the web for " + Quote(Line(query))), Kind: KindFetch}
}
