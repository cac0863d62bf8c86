package tools

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/draw"
)

// Limits of images. A model sees no more in a larger one, and every request
// from then on carries it.
const (
	maxImageFile = 64 << 20   // bytes of a file that is decoded
	maxPixels    = 50_000_000 // that a file may declare
	maxSide      = 1568       // pixels of the longer side, as a model gets it
	maxImage     = 768 << 10  // bytes, as a model gets it
	imageTime    = 20 * time.Second
)

// Picture is an image that fits a model, and what it was before.
type Picture struct {
	Media
	Size     image.Point // in pixels, as Media has it
	Original image.Point // in pixels, as the file has it
}

// imageFormat is a format that is read.
type imageFormat struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	asIs   bool // every model that takes images takes it
}

// imageFormatOf finds a format by its media type; nil where it is not read.
func imageFormatOf(mime string) *imageFormat {
	switch mime {
	case "image/png":
		return &imageFormat{png.DecodeConfig, png.Decode, true}
	case "image/jpeg":
		return &imageFormat{jpeg.DecodeConfig, jpeg.Decode, true}
	case "image/gif": // of an animation the first picture, as of WebP
		return &imageFormat{gif.DecodeConfig, gif.Decode, false}
	case "image/webp":
		return &imageFormat{configWebP, decodeWebP, false}
	}
	return nil
}

// FitImage makes an image fit a model: decoded as a whole, since a provider
// refuses a damaged one in every later request too, at most maxSide pixels long
// and maxImage bytes large, as PNG or JPEG. What fits stays as it is. mime is
// image/png, image/jpeg, image/gif or image/webp. An error says what is wrong
// with the image, as in "it is damaged".
func FitImage(ctx context.Context, mime string, src io.ReaderAt, size int64) (*Picture, error) {
	format := imageFormatOf(mime)
	if format == nil {
		return nil, fmt.Errorf("images of type %s are not read, only PNG, JPEG, GIF and WebP", mime)
	}
	if size > maxImageFile {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are decoded: make it smaller with a command first", size, maxImageFile)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, imageTime, fmt.Errorf("decoding it takes longer than %v", imageTime))
	defer cancel()
	reader := func() io.Reader { return &patient{ctx, bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 64<<10)} }
	config, err := format.config(reader())
	if err != nil {
		return nil, damaged(ctx, err)
	}
	p := &Picture{Size: image.Pt(config.Width, config.Height), Original: image.Pt(config.Width, config.Height)}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("it declares %dx%d pixels, and at most %d are decoded: make it smaller with a command first", config.Width, config.Height, maxPixels)
	}
	img, err := format.decode(reader())
	if err != nil {
		return nil, damaged(ctx, err)
	}
	turned := 1
	if mime == "image/jpeg" {
		turned = orientation(src)
	}
	fits := format.asIs && max(config.Width, config.Height) <= maxSide && size <= maxImage
	if fits && turned == 1 && config.ColorModel != color.CMYKModel {
		data, err := io.ReadAll(reader())
		p.Media = Media{MIME: mime, Data: data}
		return p, err
	}
	return p, p.encode(upright(shrink(img, maxSide), turned))
}

func damaged(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("it is damaged (%w)", err)
}

// patient reads in small pieces, so that a decoder that makes much work of few
// bytes ends soon after ctx does.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p *patient) Read(buf []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.r.Read(buf[:min(len(buf), 256)])
}

// encode writes the picture small enough: exactly where that is possible, else
// as JPEG, which gets coarser and then smaller.
func (p *Picture) encode(scaled image.Image) error {
	var out bytes.Buffer
	if err := png.Encode(&out, scaled); err != nil {
		return err
	}
	p.Media = Media{MIME: "image/png", Data: out.Bytes()}
	for side := maxSide; len(p.Data) > maxImage; side /= 2 {
		scaled = shrink(scaled, side)
		for _, quality := range []int{85, 60, 40} {
			var out bytes.Buffer
			if err := jpeg.Encode(&out, onWhite(scaled), &jpeg.Options{Quality: quality}); err != nil {
				return err
			}
			p.Media = Media{MIME: "image/jpeg", Data: out.Bytes()}
			if out.Len() <= maxImage {
				break
			}
		}
	}
	p.Size = scaled.Bounds().Size()
	return nil
}

// shrink scales an image down until its longer side has at most so many pixels.
// It goes by halves, each of which is the mean of four pixels, and needs no
// memory beside the results.
func shrink(img image.Image, side int) image.Image {
	for {
		size := img.Bounds().Size()
		long := max(size.X, size.Y)
		if long <= side {
			return img
		}
		next := max(side, (long+1)/2)
		to := image.Rect(0, 0, max(size.X*next/long, 1), max(size.Y*next/long, 1))
		small := image.NewRGBA(to)
		draw.ApproxBiLinear.Scale(small, to, img, img.Bounds(), draw.Src, nil)
		img = small
	}
}

// onWhite is the image without what shows through.
func onWhite(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Over)
	return flat
}

// showImage hands the image to the model and to the editor.
func (r *reading) showImage(ctx context.Context, mime string, src io.ReaderAt, size int64) (Result, error) {
	if err := r.begin(ctx); err != nil {
		return Result{}, err
	}
	defer r.end()
	p, err := FitImage(ctx, mime, src, size)
	if err != nil {
		return Result{}, fmt.Errorf("%s (%s, %d bytes) cannot be shown: %w", r.name, mime, size, err)
	}
	text := fmt.Sprintf("[%s: %s, %dx%d pixels, %d bytes", r.name, mime, p.Original.X, p.Original.Y, size)
	if p.Size != p.Original {
		text += fmt.Sprintf("; shown at %dx%d", p.Size.X, p.Size.Y)
	}
	return Result{
		Text:     text + "]",
		Media:    []Media{p.Media},
		Metadata: map[string]any{"mime": mime, "width": p.Original.X, "height": p.Original.Y},
	}, nil
}
