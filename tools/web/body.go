package web

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// counter counts what is read through it and ends at a limit.
type counter struct {
	r    io.Reader
	left int64 // bytes that may still be read
	over bool  // there was more
}

func (c *counter) Read(p []byte) (int, error) {
	if c.left == 0 {
		var one [1]byte
		n, err := io.ReadFull(c.r, one[:])
		c.over = c.over || n > 0
		if n > 0 {
			err = io.EOF
		}
		return 0, err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// body reads an answer's body up to maxBody, both as it comes and once it is
// unpacked; partial says that there was more, or
// that the server ended before all was sent.
func body(resp *http.Response) (data []byte, partial bool, err error) {
	packed := &counter{r: resp.Body, left: maxBody}
	var unpacked io.Reader = packed
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(packed)
		if errors.Is(err, io.EOF) {
			return nil, false, nil // an empty body
		}
		if err != nil {
			return nil, false, fmt.Errorf("it says that it is packed with gzip and is not: %w", err)
		}
		unpacked = z
	default:
		return nil, false, fmt.Errorf("it is packed as %q, which was not asked for", shorten(encoding))
	}
	plain := &counter{r: unpacked, left: maxBody}
	data, err = io.ReadAll(plain)
	partial = packed.over || plain.over || len(data) > 0 && errors.Is(err, io.ErrUnexpectedEOF) // the server hung up
	if partial {
		err = nil // a packed stream that was cut ends in an error
	}
	return data, partial, err
}
