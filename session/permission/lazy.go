package permission

import (
	"regexp"
	"sync"
)

// lazy is a regular expression that is compiled when it is first used: the start
// does not wait for what most sessions never need.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
