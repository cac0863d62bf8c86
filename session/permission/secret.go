package permission

import (
	"regexp"
	"sync"
)

// secretShape reports whether a text holds what keys and tokens look like
// (policy section 12).
func secretShape(s string) bool { return secretShapes().MatchString(s) }

var secretShapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^A-Za-z0-9])(?:` +
		`gh[opsur]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}` +
		`|sk-[A-Za-z0-9]{20,}|sk-(?:ant|proj|or|svcacct|admin|live|test)[A-Za-z0-9]*-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}` +
		`|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|xox[a-z]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}` +
		`|eyJ[A-Za-z0-9_-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY|[Bb]earer[ +][A-Za-z0-9._~+/-]{16,}` +
		`|[a-z][a-z0-9+.-]*://[^/@\s:]+:[^/@\s]+@)`)
})
