// Package pdf reads the text of PDF files, page by page. The library that parses
// them panics on many damaged files, and a file can be made on which it takes
// all memory or never ends; so it runs in a child process that has little time
// and little memory (Reader), and what it does there harms nobody (Serve).
//
// It leaves out how the text is shown (package tools), text in pictures, and
// files that need a password.
package pdf

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// Limits of a reading.
const (
	MaxFile   = 512 << 20 // bytes of a file
	MaxText   = 1 << 20   // bytes of text of one reading; a page that reaches it is cut
	maxPages  = 1 << 20   // of a document, as far as they are looked for
	maxMemory = 1 << 30   // bytes that the child may take
	maxTime   = 30 * time.Second
)

// Pages is some of a document's pages.
type Pages struct {
	Count int      `json:"count"` // of the whole document
	Texts []string `json:"texts"` // of the pages asked for, as many as fit; empty: a page without text
	Cut   bool     `json:"cut"`   // the last of Texts is not all of its page
	Lost  bool     `json:"lost"`  // fonts do not tell what some of the characters are
}

// What is wrong with a file, as in "it is encrypted".
var (
	ErrEncrypted = errors.New("it is encrypted: it needs a password, without which its text cannot be read")
	errDamaged   = errors.New("it is damaged, or uses what is not supported")
	errTooMuch   = errors.New("reading it takes too much memory, as with a page that is damaged: ask for other pages, or for one by one")
	errTooLong   = errors.New("reading it takes too long, as with a file that is damaged: ask for fewer pages")
)

// Reader reads PDF files in a child process.
type Reader struct {
	Program string   // absolute: this program, or one that calls Serve
	Args    []string // that make it call Serve

	memory uint64        // bytes; 0: maxMemory
	time   time.Duration // 0: maxTime
}

// Pages reads the text of count pages from the first on, counted from 1; with
// count 0 all that follow. It stops after the page with which the text has limit
// bytes, and where the pages take long. It returns no pages where first is behind the last one. The error says
// what is wrong with the file, or is the cause of ctx's end.
func (r *Reader) Pages(ctx context.Context, file *os.File, first, count, limit int) (Pages, error) {
	if first < 1 {
		return Pages{}, errors.New("pages are counted from 1")
	}
	info, err := file.Stat()
	if err != nil {
		return Pages{}, err
	}
	if info.Size() > MaxFile {
		return Pages{}, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), int64(MaxFile))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(r.time, maxTime), errTooLong)
	defer cancel()
	request, err := json.Marshal(request{first, count, limit, cmp.Or(r.memory, maxMemory), cmp.Or(r.time, maxTime)})
	if err != nil {
		return Pages{}, err
	}
	var children process.Supervisor
	defer children.Close()
	out := &bounded{left: 8 * MaxText} // JSON writes a character in at most six bytes
	child, err := children.Start(process.Command{
		Path: r.Program, Args: append(r.Args[:len(r.Args):len(r.Args)], string(request)), Dir: os.TempDir(),
		Env: process.Environment(os.Environ(), process.Rules{}), Stdin: file, Output: out, Stderr: io.Discard,
	})
	if err != nil {
		return Pages{}, err
	}
	exit, err := child.Wait(ctx)
	if err != nil {
		return Pages{}, err
	}
	return out.answer(exit)
}

// request is what a child is asked, as its last argument.
type request struct {
	First  int    `json:"first"`
	Count  int    `json:"count"`
	Limit  int    `json:"limit"`
	Memory uint64 `json:"memory"` // bytes that the child may take

	Time time.Duration `json:"time"` // after half of which no further page is begun
}

// answer is what the child says.
type answer struct {
	Pages
	Error string `json:"error,omitzero"`
}

// statusTooMuch is what the child ends with when it takes too much memory.
const statusTooMuch = 3

// bounded keeps what a child writes, up to a limit.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.left)
	b.left -= keep
	b.Buffer.Write(p[:keep])
	return len(p), nil
}

// answer reads what a child that has ended said.
func (b *bounded) answer(exit process.Exit) (Pages, error) {
	if exit.Code == statusTooMuch {
		return Pages{}, errTooMuch
	}
	var a answer
	if !exit.Success() || json.Unmarshal(b.Bytes(), &a) != nil {
		return Pages{}, errDamaged
	}
	switch a.Error {
	case "":
		return a.Pages, nil
	case ErrEncrypted.Error():
		return Pages{}, ErrEncrypted
	}
	return Pages{}, fmt.Errorf("%w (%s)", errDamaged, a.Error)
}
