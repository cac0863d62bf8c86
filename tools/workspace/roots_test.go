package workspace

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Where roots are closed while something works beneath them, it fails; it never
// goes on in a folder that was opened under the same number since.
func TestRootsAreClosedMeanwhile(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("%d/a.txt", i)] = "text"
	}
	tree(t, dir, files)
	tree(t, other, map[string]string{"0/a.txt": "secret"})
	for range 20 {
		r, err := NewRoots(dir)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Resolve("0/a.txt")
		if err != nil {
			t.Fatal(err)
		}
		top, err := r.Resolve(".")
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		begun := make(chan struct{}, 2)
		work.Go(func() {
			for err := error(nil); err == nil; {
				var data []byte
				if data, err = NewDisk(r).ReadFile(t.Context(), p); err == nil && string(data) != "text" {
					t.Errorf("it reads %q", data)
				}
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
		work.Go(func() {
			for err := error(nil); err == nil; {
				_, err = Walk(t.Context(), r, top, WalkOptions{})
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
		<-begun
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		held, err := os.Open(other) // under the number that is free now
		if err != nil {
			t.Fatal(err)
		}
		work.Wait()
		held.Close()
		if _, err := NewDisk(r).ReadFile(t.Context(), p); !errors.Is(err, os.ErrClosed) {
			t.Errorf("closed roots: %v", err)
		}
	}
}
