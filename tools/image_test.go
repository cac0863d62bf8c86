package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// webpImage is one pixel.
const webpImage = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA="

// drawn is a picture of one colour, or of noise where that is nil.
func drawn(w, h int, c color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(random.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 0xff
		}
	}
	if c != nil {
		for i := range w * h {
			img.Set(i%w, i/w, c)
		}
	}
	return img
}

func encoded(t testing.TB, format string, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 95})
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// declaring is the beginning of a PNG that says it has so many pixels.
func declaring(w, h uint32) string {
	b := []byte("IHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 2, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(b)
}

func TestReadShowsImages(t *testing.T) {
	webp, err := base64.StdEncoding.DecodeString(webpImage)
	if err != nil {
		t.Fatal(err)
	}
	red := color.NRGBA{0xff, 0, 0, 0xff}
	small := encoded(t, "png", drawn(30, 20, red))
	photo := encoded(t, "jpeg", drawn(100, 50, red))
	ws := diskWorkspace(t, map[string]string{
		"small.png": small, "photo.jpg": photo, "anim.gif": encoded(t, "gif", drawn(9, 8, red)), "p.webp": string(webp),
		"wide.png": encoded(t, "png", drawn(4000, 1000, red)), "tall.png": encoded(t, "png", drawn(3, 5000, red)),
		"noise.png": encoded(t, "png", drawn(1500, 1500, nil)), "noise.jpg": encoded(t, "jpeg", drawn(1700, 1100, nil)),
		"named.txt": small,
	})
	for _, c := range []struct {
		path, text, mime string
		size             image.Point
		same             string // the bytes, where they stay
	}{
		{"small.png", "[small.png: image/png, 30x20 pixels, ", "image/png", image.Pt(30, 20), small},
		{"named.txt", "[named.txt: image/png, 30x20 pixels, ", "image/png", image.Pt(30, 20), small},
		{"photo.jpg", "[photo.jpg: image/jpeg, 100x50 pixels, ", "image/jpeg", image.Pt(100, 50), photo},
		{"anim.gif", "[anim.gif: image/gif, 9x8 pixels, ", "image/png", image.Pt(9, 8), ""},
		{"p.webp", "[p.webp: image/webp, 1x1 pixels, 44 bytes]", "image/png", image.Pt(1, 1), ""},
		{"wide.png", "; shown at 1568x392]", "image/png", image.Pt(1568, 392), ""},
		{"tall.png", "; shown at 1x1568]", "image/png", image.Pt(1, 1568), ""},
		{"noise.png", "1500x1500 pixels", "image/jpeg", image.Pt(1500, 1500), ""},
		{"noise.jpg", "1700x1100 pixels", "image/jpeg", image.Pt(1568, 1014), ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			r := must(t, ws, Read(), args{"path": c.path})
			if !strings.Contains(r.Text, c.text) || len(r.Media) != 1 || r.Media[0].MIME != c.mime || len(r.Media[0].Data) > maxImage {
				t.Fatalf("%q, %d media of %s", r.Text, len(r.Media), r.Media[0].MIME)
			}
			if c.same != "" && string(r.Media[0].Data) != c.same {
				t.Error("it was changed")
			}
			img, format, err := image.Decode(bytes.NewReader(r.Media[0].Data))
			if err != nil || "image/"+format != c.mime || img.Bounds().Size() != c.size {
				t.Fatalf("%s of %v, %v", format, img.Bounds(), err)
			}
			if strings.HasPrefix(c.path, "noise") || c.path == "p.webp" {
				return
			}
			if r, g, b, _ := img.At(0, img.Bounds().Dy()-1).RGBA(); r < 0xf000 || g > 0x1000 || b > 0x1000 {
				t.Errorf("the colour is %x %x %x", r, g, b)
			}
		})
	}
}

// exif is a JPEG with an orientation.
func exif(jpeg string, orientation uint16, order binary.AppendByteOrder) string {
	tiff := []byte("II*\x00")
	if order == binary.BigEndian {
		tiff = []byte("MM\x00*")
	}
	tiff = order.AppendUint16(order.AppendUint32(tiff, 8), 2)
	for _, tag := range []uint16{256, 274} { // a width, which is not asked for, and the orientation
		tiff = order.AppendUint16(order.AppendUint16(tiff, tag), 3)
		tiff = order.AppendUint16(order.AppendUint16(order.AppendUint32(tiff, 1), orientation), 0)
	}
	segment := "Exif\x00\x00" + string(tiff)
	return jpeg[:2] + "\xff\xe1" + string(binary.BigEndian.AppendUint16(nil, uint16(len(segment)+2))) + segment + jpeg[2:]
}

// TestImagesAreUpright turns a picture whose first corner is white, all else
// being black: it stands at the corner that the orientation says.
func TestImagesAreUpright(t *testing.T) {
	img := drawn(60, 40, color.Black)
	for i := range 20 * 20 {
		img.Set(i%20, i/20, color.White)
	}
	plain := encoded(t, "jpeg", img)
	for o, corner := range map[uint16]string{1: "top left", 2: "top right", 3: "bottom right", 4: "bottom left", 5: "top left", 6: "top right", 7: "bottom right", 8: "bottom left", 9: "top left"} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := exif(plain, o, order)
			p, err := FitImage(t.Context(), "image/jpeg", strings.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := image.Decode(bytes.NewReader(p.Data))
			if err != nil {
				t.Fatal(err)
			}
			size := image.Pt(60, 40)
			if o >= 5 && o <= 8 {
				size = image.Pt(40, 60)
			}
			if got.Bounds().Size() != size || p.Size != size {
				t.Errorf("%d: %v, %v", o, got.Bounds(), p.Size)
			}
			at := image.Pt(3, 3)
			if strings.HasSuffix(corner, "right") {
				at.X = size.X - 4
			}
			if strings.HasPrefix(corner, "bottom") {
				at.Y = size.Y - 4
			}
			if r, _, _, _ := got.At(at.X, at.Y).RGBA(); r < 0xe000 {
				t.Errorf("%d: the corner is not %s", o, corner)
			}
		}
	}
}

// TestReadLargeImage reads one that is larger than what is read as a whole.
func TestReadLargeImage(t *testing.T) {
	data := encoded(t, "png", drawn(1000, 1000, nil))
	if len(data) <= wholeMax {
		t.Fatalf("%d bytes", len(data))
	}
	ws := diskWorkspace(t, map[string]string{"a.png": data})
	if r := must(t, ws, Read(), args{"path": "a.png"}); len(r.Media) != 1 || len(r.Media[0].Data) > maxImage {
		t.Errorf("%q", r.Text)
	}
}

func TestReadRefusesImages(t *testing.T) {
	whole := encoded(t, "png", drawn(40, 40, nil))
	ws := diskWorkspace(t, map[string]string{
		"bomb.png": declaring(60_000, 60_000), "huge.png": declaring(1<<31-1, 1<<31-1), "none.png": declaring(0, 4),
		"cut.png": whole[:len(whole)/2], "cut.jpg": encoded(t, "jpeg", drawn(40, 40, nil))[:300], "bad.webp": "RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00xxxx",
		"cut.gif": "GIF89a\x01\x00",
	})
	for path, want := range map[string]string{
		"bomb.png": "declares 60000x60000 pixels, and at most 50000000", "huge.png": "cannot be shown", "none.png": "damaged",
		"cut.png": "it is damaged", "cut.jpg": "damaged", "bad.webp": "damaged", "cut.gif": "damaged",
	} {
		_, err := call(t, ws, Read(), args{"path": path})
		wants(t, err, path+" (image/", want)
	}
}

// slowImage ends a context once its first bytes have been read.
type slowImage struct {
	*strings.Reader
	cancel context.CancelCauseFunc
	cause  error
}

func (s *slowImage) ReadAt(p []byte, at int64) (int, error) {
	if at > 0 {
		s.cancel(s.cause)
	}
	return s.Reader.ReadAt(p, at)
}

func TestImageEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	data := encoded(t, "png", drawn(800, 800, nil))
	cause := errors.New("cancelled by the user")
	if _, err := FitImage(ctx, "image/png", &slowImage{strings.NewReader(data), cancel, cause}, int64(len(data))); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// TestImagesWaitForEachOther: a call that waits for another's image ends with
// its own context.
func TestImagesWaitForEachOther(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.png": encoded(t, "png", drawn(3, 3, nil))})
	busy := &reader{make(chan struct{}, 1)}
	busy.decoding <- struct{}{}
	a, err := busy.prepare(t.Context(), ws, readInput{Path: "a.png"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := a.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	<-busy.decoding
	if r, err := a.Run(t.Context(), nil); err != nil || len(r.Media) != 1 {
		t.Errorf("%v", err)
	}
}

// FuzzFitImage: whatever the bytes, an image comes out that a model takes, or
// an error.
func FuzzFitImage(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		f.Add("image/"+format, []byte(encoded(f, format, drawn(5, 4, nil))))
	}
	webp, _ := base64.StdEncoding.DecodeString(webpImage)
	f.Add("image/webp", webp)
	f.Fuzz(func(t *testing.T, mime string, data []byte) {
		if format := imageFormatOf(mime); format != nil { // what is large is slow here, and bounded
			if c, err := format.config(bytes.NewReader(data)); err == nil && c.Width*c.Height > 1<<16 {
				return
			}
		}
		p, err := FitImage(t.Context(), mime, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if c, _, err := image.DecodeConfig(bytes.NewReader(p.Data)); err != nil || image.Pt(c.Width, c.Height) != p.Size {
			t.Fatalf("%v, %v, want %v", c, err, p.Size)
		}
	})
}
