package permission

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// local are the ports of this host that a command's parts reach, where they use the
// network for nothing else; nil: they do, or none is known.
func (j *judge) local() (ports []int) {
	for _, part := range j.parts {
		argv := guesses(part.words)
		if len(argv) == 0 || !reachesOut(argv) {
			continue
		}
		found := localPorts(argv)
		if found == nil {
			return nil
		}
		ports = append(ports, found...)
	}
	return ports
}

// localPorts are the ports of this host that a client's arguments name; nil where
// they name another host too, or none that is known.
func localPorts(argv []string) (ports []int) {
	switch argv[0] {
	case "curl", "wget":
	default:
		return nil
	}
	for _, word := range argv[1:] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		scheme, rest, ok := strings.Cut(word, "://")
		if !ok {
			scheme, rest = "http", word
		}
		host, _, _ := strings.Cut(rest, "/")
		u, err := url.Parse(scheme + "://" + host)
		switch {
		case err == nil && (u.Hostname() == "localhost" || u.Hostname() == "::1" || strings.HasPrefix(u.Hostname(), "127.")):
			port, err := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[scheme]))
			if err != nil {
				return nil
			}
			ports = append(ports, port)
		case ok:
			return nil
		}
	}
	return ports
}
