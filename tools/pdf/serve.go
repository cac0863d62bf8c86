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
	last := pages.Count
	if r.Count > 0 && r.Count < last-r.First+1 {
		last = r.First + r.Count - 1
	}
	total, limit := 0, min(r.Limit, MaxText)
	for n := r.First; n <= last && total < limit; n++ {
		page := doc.Page(n)
		if page.V.IsNull() {
			return pages, fmt.Errorf("page %d is missing", n)
		}
		text, cut := pageText(page, limit)
		pages.Texts = append(pages.Texts, text)
		pages.Cut = cut
		total += len(text) + 1 // pages without text end too
	}
	return pages, nil
}
