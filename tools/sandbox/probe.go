package sandbox

import "sync"

// way is what confines commands.
type way int

const (
	none       way = iota
	files          // Landlock alone
	namespaces     // namespaces and Landlock, by a helper
	bubblewrap
)

func (w way) String() string {
	return [...]string{"none", "Landlock", "namespaces and Landlock", "bubblewrap"}[w]
}

// ability is what the system can.
type ability struct {
	way     way
	program string   // that confines
	first   []string // its first arguments
	root    bool     // this process may make namespaces without one of users
	problem string   // why it is no better
}

// whole reports whether protected files, secret ones and the network are all
// taken care of.
func (a ability) whole() bool { return a.way >= namespaces }

func (a ability) masks() bool { return a.way >= namespaces }

// lacking says what is missing, and why.
func (a ability) lacking() string {
	why := ""
	if a.problem != "" {
		why = " (" + a.problem + ")"
	}
	switch a.way {
	case none:
		return "commands are not confined" + why
	case files:
		return "protected and secret files inside the project and the sockets of the system are not kept from commands" + why
	}
	return ""
}

// advice says what would help.
func (a ability) advice() string { return installAdvice }

// Prober finds out, once, what the system can. The zero value confines with
// bubblewrap alone. It is safe for concurrent use.
type Prober struct {
	// Helper is this program and the arguments that make it Enter; empty: there is
	// no helper.
	Helper []string
	// Avoid leaves ways out, for tests.
	Avoid func(way string) bool

	once  sync.Once
	found ability

	netOnce sync.Once
	joins   bool // commands can enter a network that others are in
}

func (p *Prober) probe() ability {
	p.once.Do(func() { p.found = p.look() })
	return p.found
}

func (p *Prober) avoids(w way) bool { return p.Avoid != nil && p.Avoid(w.String()) }

// Status is what the system can, for `doctor`: a line, whether it is whole, and
// what would help.
type Status struct {
	Text   string
	Whole  bool
	Advice string // empty where it is whole
}

// Status probes the system.
func (p *Prober) Status() Status {
	a := p.probe()
	s := Status{Text: a.way.String(), Whole: a.whole()}
	if lacks := a.lacking(); lacks != "" {
		s.Text += ": " + lacks
	}
	if !s.Whole {
		s.Advice = a.advice()
	}
	return s
}
