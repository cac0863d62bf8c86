package tools

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// decodeWebP decodes a WebP file; of an animation, which the library does not
// know, the first picture.
func decodeWebP(r io.Reader) (image.Image, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if still := firstFrame(data); still != nil {
		data = still
	}
	return webp.Decode(bytes.NewReader(data))
}

// configWebP reads the size that decodeWebP will make of the file.
func configWebP(r io.Reader) (image.Config, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return image.Config{}, err
	}
	if still := firstFrame(data); still != nil {
		data = still
	}
	return webp.DecodeConfig(bytes.NewReader(data))
}

// Parts of a WebP file (RFC 9649).
const (
	riffHeader = 12     // RIFF, the size, WEBP
	animated   = 1 << 1 // of the flags of VP8X
	frameHead  = 16     // of an ANMF chunk: place, size, duration, flags
)

var errRIFF = errors.New("a chunk is cut")

// firstFrame is the first picture of an animation as a file of its own; nil where
// the file is none.
func firstFrame(data []byte) []byte {
	if len(data) < riffHeader || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return nil
	}
	rest, moves := data[riffHeader:], false
	for {
		name, body, after, err := riffChunk(rest)
		switch {
		case err != nil:
			return nil
		case name == "VP8X" && len(body) > 0:
			moves = body[0]&animated != 0
		case name == "ANMF" && moves && len(body) > frameHead:
			return stillWebP(body[6:12], body[frameHead:])
		}
		rest = after
	}
}

// stillWebP makes a file of a frame's chunks. size is width and height as a frame
// has them, which VP8X has in the same form.
func stillWebP(size, chunks []byte) []byte {
	const alpha = 1 << 4
	flags := byte(0)
	if name, _, _, err := riffChunk(chunks); err == nil && name == "ALPH" {
		flags = alpha
	}
	head := append([]byte("WEBPVP8X\x0a\x00\x00\x00"), flags, 0, 0, 0)
	head = append(head, size...)
	if name, _, _, err := riffChunk(chunks); err == nil && name == "VP8L" { // which says all by itself
		head = []byte("WEBP")
	}
	file := append([]byte("RIFF"), 0, 0, 0, 0)
	file = append(append(file, head...), chunks...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// riffChunk cuts the first chunk off.
func riffChunk(data []byte) (name string, body, rest []byte, err error) {
	const head = 8
	if len(data) < head {
		return "", nil, nil, errRIFF
	}
	size := int64(binary.LittleEndian.Uint32(data[4:]))
	if size > int64(len(data)-head) {
		return "", nil, nil, errRIFF
	}
	end := head + int(size)
	return string(data[:4]), data[head:end], data[min(end+end%2, len(data)):], nil
}
