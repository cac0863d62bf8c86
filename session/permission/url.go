package permission

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/acp-agent/acp-agent/kinds"
)

// fetch judges what is read from the web (policy section 11). It asks no name
// server; what a name stands for is judged when it is dialled.
func (j *judge) fetch(asked *kinds.URL) {
	if err := j.Private.Check(asked); err != nil {
		j.deny(err.Error())
		return
	}
	if j.Hosts != nil && !slices.Contains(j.Hosts, asked.Host) {
		j.deny(asked.Host + " is none of the hosts that may be reached")
		return
	}
	u := j.Private.Secure(asked)
	var ms []match
	for i := range j.rules.all {
		r := &j.rules.all[i]
		if m, ok := r.matchFetch(j.id, asked, u); ok {
			ms = append(ms, m)
		}
	}
	what := visible(u.String())
	r := j.weigh(what, ms)
	what = "`" + what + "`"
	if j.ruled(r, what) && r.action == Deny {
		return
	}
	if why := carries(u); why != "" {
		j.floor("the URL " + why + ", so that it may carry data out")
	}
	if r.rule == nil {
		j.find(plain, "it reads "+what+" from the web")
	}
}

// sends judges a text that goes to a server of the user's choice.
func (j *judge) sends(text string) {
	if r := j.toolRuling(); !j.ruled(r, j.id) && r.rule == nil {
		j.find(plain, "it sends a text to a server")
	}
	if secretShape(text) {
		j.floor("it sends what looks like a key or a token")
	}
}

// Limits of a URL that is fetched without asking: what is longer may carry data.
const (
	maxQuietURL   = 2 << 10 // bytes
	maxQuietRun   = 100     // characters without a separator
	maxQuietLabel = 50      // bytes of one label of the host
)

// carries says what of a URL may carry data out; empty: nothing.
func carries(u *kinds.URL) string {
	text := u.String()
	for label := range strings.SplitSeq(u.Host, ".") {
		if len(label) > maxQuietLabel {
			return "has a very long name in its host"
		}
	}
	plainText := text
	if decoded, err := url.PathUnescape(text); err == nil {
		plainText = decoded
	}
	switch {
	case secretShape(text), secretShape(plainText):
		return "holds what looks like a key or a token"
	case len(text) > maxQuietURL:
		return "is longer than 2 KiB"
	case longestRun(plainText) > maxQuietRun:
		return "holds a very long word"
	}
	return ""
}

// longestRun is the length of the longest run of characters that encodings of
// data are made of.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+%_-=", r) {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// fetchPattern is the pattern of a rule for web_fetch: domain:HOST,
// domain:*.HOST or url:PREFIX.
type fetchPattern struct {
	host   string
	below  bool       // the real subdomains of host, not host itself
	origin *kinds.URL // url:; its path is the prefix; nil: a domain
}

func parseFetch(pattern string) (*fetchPattern, error) {
	if rest, ok := strings.CutPrefix(pattern, "url:"); ok {
		u, err := kinds.ParseURL(rest)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: %w", pattern, err)
		case u.Query != "":
			return nil, fmt.Errorf("%q has a query: a rule ends with the path", pattern)
		}
		return &fetchPattern{host: u.Host, origin: u}, nil
	}
	rest, ok := strings.CutPrefix(pattern, "domain:")
	if !ok {
		return nil, fmt.Errorf("%q is none of domain:HOST, domain:*.HOST, url:PREFIX, *", pattern)
	}
	name, below := strings.CutPrefix(rest, "*.")
	if a, err := netip.ParseAddr(name); err == nil && a.Is6() {
		name = "[" + name + "]"
	}
	host, addr, err := kinds.ParseHost(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is none of domain:HOST, domain:*.HOST: %w", pattern, err)
	case below && addr.IsValid():
		return nil, errors.New("an address has no subdomains")
	}
	return &fetchPattern{host: host, below: below}, nil
}

// matchFetch reports whether the rule covers a URL, as it was written and as it
// is fetched. A permission for a domain covers the two usual ports; a
// restriction covers all. A restriction that cannot be read asks about all.
func (r *compiled) matchFetch(tool string, asked, u *kinds.URL) (match, bool) {
	if !r.names(tool) {
		return match{}, false
	}
	p := r.fetch
	switch {
	case r.all && r.Permission == "*":
		return match{r, weight{}}, true
	case r.all:
		return match{r, weight{chars: 1}}, true
	case p == nil && r.Action > Allow:
		asks := *r
		asks.Action = Ask
		return match{&asks, weight{}}, true
	case p == nil:
		return match{}, false
	case p.origin != nil:
		ok := p.under(asked, r.Action == Allow) || p.under(u, r.Action == Allow)
		return match{r, p.weigh()}, ok
	case r.Action == Allow && u.Port != 443 && u.Port != 80:
		return match{}, false
	case p.below:
		return match{r, p.weigh()}, !u.Addr.IsValid() && strings.HasSuffix(u.Host, "."+p.host)
	}
	return match{r, p.weigh()}, u.Host == p.host
}

// under reports whether a URL is of the pattern's origin and path. A path that a
// server may read as another one is not covered by a permission for a path.
func (p *fetchPattern) under(u *kinds.URL, allow bool) bool {
	if u.Origin() != p.origin.Origin() {
		return false
	}
	prefix := strings.TrimSuffix(p.origin.Path, "/")
	if prefix == "" {
		return true
	}
	decoded, err := url.PathUnescape(u.Path)
	odd := err != nil || path.Clean(decoded) != strings.TrimSuffix(decoded, "/") && decoded != "/" ||
		strings.ContainsAny(decoded, `\;%`) || strings.Contains(strings.ToLower(u.Path), "%2f")
	if odd {
		return !allow
	}
	return u.Path == prefix || u.Path == p.origin.Path || strings.HasPrefix(u.Path, prefix+"/")
}

func (p *fetchPattern) weigh() weight {
	w := weight{exact: !p.below, words: strings.Count(p.host, ".") + 1, chars: len(p.host)}
	if p.origin != nil {
		w.words += 1 + strings.Count(strings.Trim(p.origin.Path, "/"), "/")
		w.chars += len(p.origin.Path)
	}
	return w
}

// offerHost offers the exact host, or where it is not on a usual port the exact
// origin.
func (j *judge) offerHost(asked *kinds.URL) []Grant {
	u := j.Private.Secure(asked)
	pattern := "domain:" + u.Host
	if u.Port != 443 && u.Port != 80 {
		pattern = "url:" + u.Origin() + "/"
	}
	r, err := ParseRule(permFetch, pattern, Allow, Session, "")
	if err != nil || j.id != permFetch {
		return nil
	}
	return []Grant{{Rules: []Rule{r}, Scopes: []Scope{Session, Project}, Label: "`" + pattern + "`"}}
}
