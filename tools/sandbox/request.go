package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Exited is an error of Enter that says how the command ended.
type Exited struct{ Status int }

func (e *Exited) Error() string { return "status " + strconv.Itoa(e.Status) }

// request is what a helper is asked to do: arguments of bubblewrap, read back.
type request struct {
	way          way
	inside       bool // the namespaces are there already
	mounts       []bind
	readOnlyLate []string
	wholeDev     bool
	netOff       bool
	apart        bool // it is not to reach other processes of the user
	capabilities []string
	dropsCaps    bool
	session      bool
	unset        []string
	set          [][2]string
	command      []string
}

// bind is one mount of a request.
type bind struct {
	from, to string // from is empty for an empty folder
	readOnly bool
}

// twoWords are the arguments that take two words behind them, oneWord one.
var (
	twoWords = []string{"--ro-bind", "--bind", "--dev-bind", "--setenv"}
	oneWord  = []string{"--way", "--tmpfs", "--remount-ro", "--dev", "--proc", "--cap-drop", "--cap-add", "--unsetenv"}
)

func parseRequest(args []string) (*request, error) {
	r := &request{}
	for len(args) > 0 {
		word := args[0]
		if word == "--" {
			r.command = args[1:]
			break
		}
		n := 1
		switch {
		case slices.Contains(twoWords, word):
			n = 3
		case slices.Contains(oneWord, word):
			n = 2
		}
		if len(args) < n {
			return nil, fmt.Errorf("%s lacks what it is about", word)
		}
		if err := r.take(word, args[1:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	if len(r.command) == 0 {
		return nil, errors.New("there is no command")
	}
	return r, nil
}

func (r *request) take(word string, values []string) error {
	switch word {
	case "--way":
		for _, w := range []way{files, namespaces} {
			if w.String() == values[0] {
				r.way = w
			}
		}
		if r.way == none {
			return fmt.Errorf("%s is no way to confine", values[0])
		}
	case "--inside":
		r.inside = true
	case "--ro-bind", "--bind":
		r.mounts = append(r.mounts, bind{values[0], values[1], word == "--ro-bind"})
	case "--dev-bind":
		r.wholeDev = true
	case "--tmpfs":
		r.mounts = append(r.mounts, bind{to: values[0]})
	case "--remount-ro":
		r.readOnlyLate = append(r.readOnlyLate, values[0])
	case "--unshare-net":
		r.netOff = true
	case "--unshare-pid":
		r.apart = true
	case "--new-session":
		r.session = true
	case "--cap-drop":
		r.dropsCaps = true
	case "--cap-add":
		r.capabilities = append(r.capabilities, values[0])
	case "--unsetenv":
		r.unset = append(r.unset, values[0])
	case "--setenv":
		r.set = append(r.set, [2]string{values[0], values[1]})
	case "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--dev", "--proc":
	default:
		return fmt.Errorf("%s is not known", word)
	}
	return nil
}

// environ is the command's environment.
func (r *request) environ(base []string) []string {
	var env []string
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		keep := !slices.Contains(r.unset, name)
		for _, s := range r.set {
			keep = keep && s[0] != name
		}
		if keep {
			env = append(env, entry)
		}
	}
	for _, s := range r.set {
		env = append(env, s[0]+"="+s[1])
	}
	return env
}
