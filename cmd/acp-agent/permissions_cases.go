package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/session/permission/corpus"
)

// testRulesCommand judges files of cases with the real engine.
type testRulesCommand struct {
	Files  []string `arg:"" name:"file" help:"Files of cases, one JSON object a line."`
	Layout string   `help:"The files that each command finds: a JSON object with the list fs. Without it the project is empty." placeholder:"FILE"`
	JSON   bool     `name:"json" help:"Print one JSON object a case."`
	Strict bool     `help:"List also the cases that pass with a stricter verdict than wanted."`
}

// Help is what --help says beside the flags.
func (*testRulesCommand) Help() string {
	return `A case: {"id": "1", "cmd": "git push", "mode": "default", "rules": [{"permission": "bash", "pattern": "git push *", "action": "deny"}], "want": "deny"}. ` +
		`A case for a file tool has "op" (read, write, edit, delete, mkdir, list, glob, grep) and "path" instead of "cmd", and "fs", the files that are there. ` +
		"Nothing of a case is run. A verdict that is looser than wanted fails; a stricter one only where the case has no \"kind\", or one that begins with benign. " +
		"Exit status: 0 all passed, 1 one failed or was no case."
}

// tally counts what cases came to.
type tally struct{ passed, failed, stricter, bad int }

// Run judges the cases and ends with statusFailed where one failed.
func (c *testRulesCommand) Run(p *process) error {
	var layout []cases.File
	if c.Layout != "" {
		var err error
		if layout, err = cases.ReadLayout(c.Layout); err != nil {
			return err
		}
	}
	r := corpus.New(layout)
	defer r.Close()
	var n tally
	for _, name := range c.Files {
		for one, err := range cases.Read(name) {
			if err == nil {
				err = c.one(p.out, r, one, &n)
			}
			if err != nil {
				n.bad++
				fmt.Fprintln(p.errout, "acp-agent: "+oneLine(err.Error()))
			}
		}
	}
	if err := c.sum(p.out, n); err != nil {
		return err
	}
	if n.failed+n.bad > 0 {
		return &statusError{Status: statusFailed}
	}
	return nil
}

// one judges a case and prints what it came to.
func (c *testRulesCommand) one(out io.Writer, r *corpus.Runner, one *cases.Case, n *tally) error {
	o, err := r.Run(one)
	if err != nil {
		return fmt.Errorf("%s: %w", one.Place(), err)
	}
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(o.Report); err != nil {
			return err
		}
	}
	line := ""
	switch {
	case o.Failure != "":
		n.failed++
		line = told("FAIL", one, o.Failure)
	case o.Unasked:
		n.passed++
		line = told("", one, o.Found)
	case o.Stricter != "":
		n.passed, n.stricter = n.passed+1, n.stricter+1
		if c.Strict {
			line = told("note", one, o.Stricter)
		}
	default:
		n.passed++
	}
	if line == "" || c.JSON {
		return nil
	}
	_, err = fmt.Fprintln(out, line)
	return err
}

// told is what is told of a case: what it is about, and under that what was found.
func told(word string, one *cases.Case, found string) string {
	about := one.Cmd
	if one.Op != "" {
		about = one.Op + " " + cmp.Or(one.Path, one.URL)
	}
	return fmt.Sprintf("%-5s %s  %s\n      %s", word, oneLine(one.ID), oneLine(about), oneLine(found))
}

// sum prints how many passed; with --json that is left to who reads the lines.
func (c *testRulesCommand) sum(out io.Writer, n tally) error {
	if c.JSON {
		return nil
	}
	text := fmt.Sprintf("%d passed, %d failed\n", n.passed, n.failed)
	if n.bad > 0 {
		text += fmt.Sprintf("%d could not be judged: see above\n", n.bad)
	}
	if n.stricter > 0 && !c.Strict {
		text += fmt.Sprintf("%d of those that passed are stricter than wanted; --strict lists them\n", n.stricter)
	}
	_, err := io.WriteString(out, text)
	return err
}
