package pdf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ledongthuc/pdf"
)

// Serve is the child: it reads the pages of file that the argument asks for and
// writes the answer. It ends the process where that takes too much memory; a
// hang is ended from outside.
func Serve(file *os.File, out io.Writer, arg string) error {
	var r request
	if err := json.Unmarshal([]byte(arg), &r); err != nil {
		return fmt.Errorf("the argument is no request: %w", err)
	}
	debug.SetMaxStack(maxMemory / 8)
	go watchMemory(r.Memory)                                     // as long as the process lives
	time.AfterFunc(2*maxTime, func() { os.Exit(statusTooMuch) }) // where who asked is gone
	info, err := file.Stat()
	if err != nil {
		return err
	}
	pages, err := read(file, info.Size(), r)
	a := answer{Pages: pages}
	if err != nil {
		a.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(a)
}

// watchMemory ends the process when it takes more than it may. Limits of the
// system would do the same, but not on all systems.
func watchMemory(most uint64) {
	var memory runtime.MemStats
	for range time.Tick(10 * time.Millisecond) {
		runtime.ReadMemStats(&memory)
		if memory.Sys-memory.HeapReleased > most {
			os.Exit(statusTooMuch)
		}
	}
}

// read reads the pages. It fails, but does not panic, where the library does;
// the pages before that stay.
func read(file io.ReaderAt, size int64, r request) (pages Pages, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if len(pages.Texts) > 0 {
			err = nil
		}
	}()
	doc, err := open(file, size)
	if err != nil {
		return Pages{}, err
	}
	pages.Count = doc.NumPage()
	if pages.Count <= 0 {
		return Pages{}, errors.New("it has no pages")
	}
	if r.First > pages.Count {
		return pages, nil
	}
	total, limit, until := 0, min(r.Limit, MaxText), time.Now().Add(r.Time/2)
	t := &tree{skip: r.First - 1, nodes: 4*min(pages.Count, maxPages) + maxExtra}
	t.visit = func(page pdf.Page) bool {
		text, cut, lost := pageText(page, limit)
		pages.Texts = append(pages.Texts, text)
		pages.Cut, pages.Lost = cut, pages.Lost || lost
		total += len(text) + 1 // pages without text end too
		return total < limit && len(pages.Texts) != r.Count && time.Now().Before(until)
	}
	all := t.walk(doc.Trailer().Key("Root").Key("Pages"), 0)
	switch {
	case t.err != nil:
		return pages, t.err
	case len(pages.Texts) == 0:
		return pages, fmt.Errorf("page %d is missing", r.First)
	case all: // whatever the document says
		pages.Count = r.First - 1 + len(pages.Texts)
	}
	return pages, nil
}
