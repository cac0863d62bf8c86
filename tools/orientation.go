package tools

import (
	"encoding/binary"
	"image"
	"image/draw"
	"io"
)

// orientation is how a JPEG's picture is to be turned, by its Exif tag 274: 1 is
// upright, as is what says nothing. Cameras store pictures as the sensor lay.
func orientation(src io.ReaderAt) int {
	begin := make([]byte, 64<<10) // an Exif segment is no longer
	n, _ := src.ReadAt(begin, 0)
	for rest := begin[min(2, n):n]; len(rest) > 4 && rest[0] == 0xff && rest[1] != 0xda; {
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || 2+length > len(rest) {
			break
		}
		if body := rest[4 : 2+length]; rest[1] == 0xe1 && len(body) > 6 && string(body[:6]) == "Exif\x00\x00" {
			return tiffOrientation(body[6:])
		}
		rest = rest[2+length:]
	}
	return 1
}

// tiffOrientation looks for the tag in the first directory of a TIFF file.
func tiffOrientation(data []byte) int {
	const tag, short, entrySize = 274, 3, 12
	var order binary.ByteOrder = binary.LittleEndian
	if len(data) < 8 {
		return 1
	}
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return 1
	}
	count := int(order.Uint16(data[at:]))
	entries := data[at+2:]
	for ; count > 0 && len(entries) >= entrySize; count, entries = count-1, entries[entrySize:] {
		if order.Uint16(entries) != tag || order.Uint16(entries[2:]) != short {
			continue
		}
		if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
			return o
		}
		return 1
	}
	return 1
}

// upright turns a picture as its orientation says.
func upright(img image.Image, orientation int) image.Image {
	if orientation <= 1 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	from := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(from, from.Bounds(), img, img.Bounds().Min, draw.Src)
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 { // on its side
		size = image.Rect(0, 0, h, w)
	}
	to := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			at := [...]image.Point{2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x}}[orientation]
			to.SetRGBA(at.X, at.Y, from.RGBAAt(x, y))
		}
	}
	return to
}
