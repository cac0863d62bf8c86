//go:build !unix

package client

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills the child alone; what it started lives on.
func killGroup(p *os.Process) { _ = p.Kill() }

// signalOf is "": there are no signals here.
func signalOf(*os.ProcessState) string { return "" }
