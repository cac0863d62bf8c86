package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// scripted is a file whose reads and size are as a test says.
type scripted struct {
	reads []any // how many bytes a read gives at most, or its error; then none
	data  []byte
	sizes []int64 // what it says its size is, one after the other; then len(data)
	asked int     // how often it was asked for that
	pos   int
}

func (f *scripted) read(buf []byte) (int, error) {
	most := len(buf)
	if len(f.reads) > 0 {
		next := f.reads[0]
		f.reads = f.reads[1:]
		if err, ok := next.(error); ok {
			return 0, err
		}
		most = min(most, next.(int))
	}
	n := copy(buf[:most], f.data[f.pos:])
	f.pos += n
	return n, nil
}

func (f *scripted) size() (int64, error) {
	f.asked++
	if len(f.sizes) > 0 {
		size := f.sizes[0]
		f.sizes = f.sizes[1:]
		if size < 0 {
			return 0, errNotRegular
		}
		return size, nil
	}
	return int64(len(f.data)), nil
}

func TestFileReaderReadsToTheEnd(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 40_000) // 640 000 bytes
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		f     scripted
		sized bool // its size is asked for
		err   error
	}{
		{"a small file is read at once", scripted{data: text[:100]}, false, nil},
		{"an empty file", scripted{}, true, nil},
		{"a file of whole pages", scripted{data: text[:2*pageSize]}, true, nil},
		{"a read that stops at a page's edge is not the end", scripted{data: text[:3*pageSize+5], reads: []any{pageSize}}, true, nil},
		{"nor is what follows it lost without a word", scripted{data: text[:3*pageSize+5], reads: []any{pageSize, broken}}, true, broken},
		{"a large file", scripted{data: text}, true, nil},
		{"just the first read", scripted{data: text[:firstRead+1+firstRead/4]}, true, nil},
		{"a file that grows", scripted{data: text, sizes: []int64{100}}, true, nil},
		{"a file that has got smaller", scripted{data: text[:100], reads: []any{0}, sizes: []int64{500}}, true, nil},
		{"a device without an end", scripted{data: text, sizes: []int64{-1}}, true, errNotRegular},
		{"a device of nothing", scripted{sizes: []int64{-1}}, true, errNotRegular},
		{"too large", scripted{data: text, sizes: []int64{MaxSearched + 1}}, true, errLarge},
		{"an error", scripted{reads: []any{broken}}, false, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.f.data
			if c.name == "a file that has got smaller" {
				want = nil
			}
			r := &fileReader{large: &largeBuffer{}}
			got, err := r.fill(&c.f)
			if !errors.Is(err, c.err) || err == nil && !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(want), c.err)
			}
			if sized := c.f.asked > 0; sized != c.sized {
				t.Errorf("its size was asked for: %v", sized)
			}
		})
	}
}

// TestFileReaderAgain: a buffer that held a longer file before tells nothing of it.
func TestFileReaderAgain(t *testing.T) {
	dir := realDir(t)
	r := rootsOf(t, dir)
	reader := &fileReader{large: &largeBuffer{}}
	for i, size := range []int{300_000, 10, firstRead, 0, largeFile + 7, 4096, largeFile, 5, 3 * largeFile, 7} {
		want := bytes.Repeat([]byte{byte('a' + i)}, size)
		if err := os.WriteFile(filepath.Join(dir, "f"), want, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := reader.read(&r.roots[0], "f")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		if free := reader.large.TryLock(); free != (size < largeFile) {
			t.Errorf("%d bytes: the large buffer is free: %v", size, free)
		} else if free {
			reader.large.Unlock()
		}
		reader.release()
	}
}
