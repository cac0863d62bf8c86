package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as one JSON object."`
}

// severity is how bad a finding is.
type severity string

// From good to bad. Only what is broken makes the doctor end with
// statusFailed.
const (
	fine    severity = "ok"
	noted   severity = "note"
	warning severity = "warning"
	broken  severity = "broken"
)

// finding is one thing that the doctor looked at. It never holds a secret.
type finding struct {
	Check    string   `json:"check"`
	Severity severity `json:"severity"`
	Text     string   `json:"text"`
	Advice   string   `json:"advice,omitzero"` // what to do
}

// findings is a report.
type findings struct {
	Version  string    `json:"version"`
	OK       bool      `json:"ok"` // nothing is broken
	Findings []finding `json:"findings"`
}

// patient is what the doctor looks at, found once.
type patient struct {
	*process
	paths    config.Paths
	folder   string // this one; empty where it is gone
	root     string // what is trusted as one
	trusted  bool
	why      string // not trusted
	cfg      *config.Config
	problems []config.Problem
}

// Run looks at everything and ends with statusFailed where something that
// matters is broken. It changes nothing.
func (c *doctorCommand) Run(p *process) error {
	d := newPatient(p)
	report := findings{Version: version(), OK: true}
	for _, look := range []func(context.Context) []finding{
		d.program, d.model, d.credentials, d.database, d.tools, d.sandbox, d.languages, d.configuration, d.trust, d.editors,
	} {
		report.Findings = append(report.Findings, look(context.Background())...)
	}
	secrets := d.secrets()
	for i, f := range report.Findings {
		report.Findings[i].Text, report.Findings[i].Advice = secrets.Keys(f.Text), secrets.Keys(f.Advice)
		report.OK = report.OK && f.Severity != broken
	}
	if err := c.show(p, report); err != nil {
		return err
	}
	if !report.OK {
		return &statusError{Status: statusFailed}
	}
	return nil
}

// secrets knows what the report must not hold.
func (d *patient) secrets() *kinds.Redactor {
	r := &kinds.Redactor{}
	r.KnowEnvironment(os.Environ())
	r.Know(d.paths.StoredKeys()...)
	return r
}

func newPatient(p *process) *patient {
	d := &patient{process: p, paths: config.NewPaths(p.getenv)}
	if folder, err := os.Getwd(); err == nil {
		d.folder = folder
		o := d.paths.Open(folder)
		d.root, d.trusted, d.why, d.cfg, d.problems = o.Root, o.Trusted, o.Why, o.Config, o.Problems
		return d
	}
	d.cfg, d.problems = config.Load(config.LoadOptions{Paths: d.paths})
	return d
}

func (c *doctorCommand) show(p *process, report findings) error {
	if c.JSON {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	var b strings.Builder
	for _, f := range report.Findings {
		fmt.Fprintf(&b, "%-8s %-13s %s\n", f.Severity, f.Check, f.Text)
		if f.Advice != "" {
			fmt.Fprintf(&b, "%-8s %-13s -> %s\n", "", "", f.Advice)
		}
	}
	if report.OK {
		b.WriteString("\nNothing is broken.\n")
	} else {
		b.WriteString("\nSomething is broken: see above.\n")
	}
	_, err := fmt.Fprint(p.out, b.String())
	return err
}
