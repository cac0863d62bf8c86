package main

import (
	"os"

	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/pdf"
)

// readPDFCommand is the child that reads a PDF file, on stdin, for the agent.
type readPDFCommand struct {
	Request string `arg:""`
}

// Run answers the request on stdout.
func (c *readPDFCommand) Run(p *process) error { return pdf.Serve(p.in, p.out, c.Request) }

// pdfReader has this program read PDF files in a child process; nil where the
// program does not know where it is.
func pdfReader() tools.PDF {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return &pdf.Reader{Program: program, Args: []string{"read-pdf"}}
}
