package main

import (
	"context"
	"errors"
	"os"

	"github.com/acp-agent/acp-agent/tools/sandbox"
)

// confineWord, as the first argument, makes this program the sandbox's helper. Its
// further arguments are no flags of this program.
const confineWord = "confine"

// confine confines this process and becomes the command that the arguments name.
func confine(args []string) error {
	err := sandbox.Enter(args)
	if exited, ok := errors.AsType[*sandbox.Exited](err); ok {
		return &statusError{Status: exited.Status}
	}
	return &statusError{125, err}
}

// prober finds out what the system can confine commands with.
func prober() *sandbox.Prober {
	program, err := os.Executable()
	if err != nil {
		return &sandbox.Prober{}
	}
	return &sandbox.Prober{Helper: []string{program, confineWord}}
}

// sandbox says how commands are confined. Without the means the agent works all the
// same, unless the user has said that it must not.
func (d *patient) sandbox(context.Context) []finding {
	f := finding{Check: "sandbox", Severity: fine}
	mode := d.cfg.Sandbox.Mode
	if mode == string(sandbox.Off) {
		f.Severity, f.Text = noted, "off, by sandbox.mode: commands are not confined"
		return []finding{f}
	}
	status := prober().Status()
	f.Text = status.Text
	if !status.Whole {
		f.Severity, f.Advice = warning, status.Advice
		if mode == string(sandbox.On) {
			f.Severity, f.Text = broken, f.Text+"; since sandbox.mode is \"on\", no command runs"
		}
	}
	if d.cfg.Sandbox.Network {
		f.Text += "; commands that nobody was asked about have the network"
	}
	return []finding{f}
}
