package kinds

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Redactor takes secrets out of texts that leave the conversation: logs, errors,
// traces (policy section 12). What a person is asked about never passes it: no
// command, path or destination is hidden from who approves it. It knows the
// values that it was told of, and the shapes of keys, tokens, passwords and PEM
// blocks. The zero value and nil know the shapes; it is safe for concurrent use.
type Redactor struct {
	mu     sync.Mutex
	values []string // longest first, in each form that they may be written in
}

// minSecret is the length of the shortest value that is taken for a secret, in
// bytes: shorter ones stand in texts by chance.
const minSecret = 8

const redacted = "[redacted]"

// KnowEnvironment adds the values of an environment ("NAME=value" entries) whose
// names say that they are secret.
func (r *Redactor) KnowEnvironment(environ []string) {
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && SecretName(name) {
			r.Know(value)
		}
	}
}

// SecretName reports whether a variable, a header or a field of that name usually
// holds a secret.
func SecretName(name string) bool { return secretNames().MatchString(name) }

var secretNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + secretWords + `)$`) })

// secretWords is a name that says that its value is a secret.
const secretWords = `[\w.-]*(?:passw(?:or)?d|passphrase|secret|credentials?|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|signature|authorization|cookie)(?:[_-]?(?:id|value|b64|base64))?`

// Know adds values that are secret from now on.
func (r *Redactor) Know(values ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < minSecret {
			continue
		}
		quoted := strconv.Quote(v)
		for _, form := range []string{v, quoted[1 : len(quoted)-1], url.QueryEscape(v), url.PathEscape(v),
			strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(v)), "="), strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(v)), "=")} {
			if !slices.Contains(r.values, form) {
				r.values = append(r.values, form)
			}
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
}

// Text is a line of a log without its secrets: those that Keys takes out, and what
// stands where a secret usually does, as in NAME=value and --password value.
func (r *Redactor) Text(s string) string {
	s = r.Keys(s)
	s = logins().ReplaceAllString(s, "${1}"+redacted)
	s = named().ReplaceAllString(s, "${1}"+redacted)
	return schemes().ReplaceAllString(s, "${1} "+redacted)
}

// Keys is a text for a person, such as an error, without what is known to be
// secret or looks like nothing else.
func (r *Redactor) Keys(s string) string {
	if r != nil {
		r.mu.Lock()
		for _, v := range r.values {
			s = strings.ReplaceAll(s, v, redacted)
		}
		r.mu.Unlock()
	}
	if strings.Contains(s, "-----BEGIN") {
		s = pemBlocks().ReplaceAllString(s, "${1}"+redacted)
	}
	s = tokens().ReplaceAllString(s, "${1}"+redacted)
	return urlPasswords().ReplaceAllString(s, "${1}"+redacted+"@")
}

// SecretShape reports whether a text holds what keys and tokens look like.
func SecretShape(s string) bool {
	return tokens().MatchString(s) || urlPasswords().MatchString(s) ||
		strings.Contains(s, "-----BEGIN") && privateKeys().MatchString(s) || bearers().MatchString(s)
}

// The shapes of secrets. They are compiled when they are first needed: most runs
// of the program need none.
var (
	tokens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:^|[^A-Za-z0-9])(?:xapp-|xox[a-z]-)?)(?:` + strings.Join([]string{
			`gh[opsur]_[A-Za-z0-9]{16,}`, `github_pat_[A-Za-z0-9_]{16,}`,
			`gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.=-]{16,}`, `GR1348941[A-Za-z0-9_-]{16,}`,
			`sk-[A-Za-z0-9]{20,}`, `sk-(?:ant|proj|or|svcacct|admin|live|test|lf)[A-Za-z0-9]*-[A-Za-z0-9_-]{16,}`, `[spr]k_(?:live|test)_[A-Za-z0-9]{16,}`, `whsec_[A-Za-z0-9]{16,}`,
			`A(?:KIA|SIA|GPA|ROA|IDA)[A-Z0-9]{16}`, `AIza[A-Za-z0-9_-]{30,}`, `ya29\.[A-Za-z0-9_-]{20,}`, `GOCSPX-[A-Za-z0-9_-]{20,}`,
			`xox[a-z]-[A-Za-z0-9-]{10,}`, `xapp-[A-Za-z0-9-]{10,}`,
			`npm_[A-Za-z0-9]{30,}`, `glsa_[A-Za-z0-9_]{30,}`, `hf_[A-Za-z0-9]{30,}`, `pypi-[A-Za-z0-9_-]{30,}`, `rubygems_[a-f0-9]{40,}`, `dckr_pat_[A-Za-z0-9_-]{20,}`,
			`do[opr]_v1_[a-f0-9]{40,}`, `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, `shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}`,
			`ATATT3[A-Za-z0-9_=-]{20,}`, `lin_api_[A-Za-z0-9]{30,}`, `figd_[A-Za-z0-9_-]{30,}`, `ntn_[A-Za-z0-9]{30,}`, `PMAK-[a-f0-9-]{30,}`,
			`hv[sb]\.[A-Za-z0-9_-]{20,}`, `tskey-[a-z]+-[A-Za-z0-9-]{10,}`, `AGE-SECRET-KEY-1[A-Z0-9]{50,}`,
			`gsk_[A-Za-z0-9]{30,}`, `xai-[A-Za-z0-9]{30,}`, `r8_[A-Za-z0-9]{30,}`, `pplx-[A-Za-z0-9]{30,}`, `nvapi-[A-Za-z0-9_-]{30,}`,
			`eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*`, `[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}`,
		}, "|") + `)`)
	})
	privateKeys = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`) })
	pemBlocks   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)(-----BEGIN [A-Z0-9 ]+-----).*?(?:-----END [A-Z0-9 ]+-----|\z)`)
	})
	urlPasswords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^/@\s:'"]*:)[^\s'"/]+@`) })
	bearers      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:^|[^a-z0-9])bearer[ +][a-z0-9._~+/-]{16,}`) })
	schemes      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(bearer|basic|digest|negotiate|token)[ +]+[A-Za-z0-9._~+/=:-]{8,}`)
	})
	// logins are user:password as programs take them by a flag.
	logins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:^|\s)(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\s:"'/]+:)[^\s"']+`)
	})
	// named are values whose name says what they are: NAME=…, "name": "…", --name ….
	named = sync.OnceValue(func() *regexp.Regexp {
		const value = `(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&,;|<>$\[][^\s"'&,;|<>]*)`
		return regexp.MustCompile(`(?i)((?:^|[^\w-])(?:--?` + secretWords + `[ \t]+|(?:--?)?` + secretWords + `\\?["']?\s*[:=]\s*)(?:(?:bearer|basic|digest|negotiate|token)[ +]+)?)` + value)
	})
)
