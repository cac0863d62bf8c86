package kinds

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// ParseHost reads a host as a URL has it: a name, which comes back as UTS #46
// makes it ASCII, an IPv4 address in its one canonical form, or an IPv6 address
// in brackets. addr is valid where it is an address.
func ParseHost(s string) (host string, addr netip.Addr, err error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !closed || err != nil || !addr.Is6() {
			return "", addr, fmt.Errorf("the host %q is no IPv6 address", head(s, 60))
		}
		if addr.Zone() != "" {
			return "", addr, errors.New("an address with a zone is not allowed")
		}
		return addr.String(), addr, nil
	}
	switch {
	case s == "":
		return "", addr, errors.New("the URL names no host: write it as https://HOST/PATH")
	case strings.ContainsAny(s, "%[]:"):
		return "", addr, fmt.Errorf("the host %q is malformed: write it as it is, without percent signs or brackets", head(s, 60))
	}
	host, err = asciiHost(s)
	if err != nil {
		return "", addr, err
	}
	labels := strings.Split(host, ".")
	if last := labels[len(labels)-1]; isNumber(last) {
		addr, err = netip.ParseAddr(host)
		if err != nil || !addr.Is4() {
			return "", netip.Addr{}, fmt.Errorf("the host %q is no IPv4 address in its usual form: write four numbers with dots", head(s, 60))
		}
	}
	return host, addr, nil
}

// asciiHost maps a name for the look-up. Labels that were written in Unicode
// must be of one script; those written as punycode are shown as that, so that
// they look like nothing else.
func asciiHost(s string) (string, error) {
	p := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(false), idna.CheckHyphens(false))
	host, err := p.ToASCII(s)
	if err != nil {
		return "", fmt.Errorf("the host %q is no valid name", head(s, 60))
	}
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	if len(host) > 253 || slices.ContainsFunc(labels, func(l string) bool { return l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' }) {
		return "", fmt.Errorf("the host %q is no valid name: check its dots and its length", head(s, 60))
	}
	if isASCII(s) {
		return host, nil
	}
	shown, err := p.ToUnicode(s)
	if err != nil {
		return "", fmt.Errorf("the host %q is no valid name", head(s, 60))
	}
	for label := range strings.SplitSeq(shown, ".") {
		if mixedScript(label) {
			return "", fmt.Errorf("the host %s mixes scripts in one name, so that it may look like another; it is not allowed", host)
		}
	}
	return host, nil
}

// isNumber reports whether systems may take a host's last label for a part of
// an IPv4 address: decimal, octal or hexadecimal.
func isNumber(label string) bool {
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// mixedScript reports whether letters of different writing systems stand in one
// label. Japanese and Korean count as one system each (UTS #39, section 5.1).
func mixedScript(label string) bool {
	var scripts []string
	for _, r := range label {
		if s := scriptOf(r); s != "" && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	if len(scripts) < 2 {
		return false
	}
	for _, system := range [][]string{{"Han", "Hiragana", "Katakana"}, {"Han", "Hangul"}, {"Han", "Bopomofo"}} {
		if !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(system, s) }) {
			return false
		}
	}
	return true
}

// scriptOf is a character's script; empty for those that all scripts use.
func scriptOf(r rune) string {
	switch {
	case unicode.In(r, unicode.Common, unicode.Inherited):
		return ""
	case unicode.Is(unicode.Latin, r):
		return "Latin"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "unknown"
}

// Local reports whether a host is a name of this machine or of a network that
// is not the internet's: no public server has such a name.
func (u *URL) Local() bool {
	if u.Addr.IsValid() {
		return false
	}
	if !strings.Contains(u.Host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".svc"} {
		if strings.HasSuffix(u.Host, suffix) {
			return true
		}
	}
	return false
}
