package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/image/webp"
)

// stillOfWebP is one pixel as VP8L.
const stillOfWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

// chunk is a part of a WebP file.
func chunk(name string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), slices.Concat(chunks...)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// TestReadAnimatedWebP: of an animation the first picture is shown.
func TestReadAnimatedWebP(t *testing.T) {
	still, err := base64.StdEncoding.DecodeString(stillOfWebP)
	if err != nil {
		t.Fatal(err)
	}
	frame := append(make([]byte, frameHead), still[riffHeader:]...) // 1x1 at 0,0
	moving := riff(chunk("VP8X", []byte{animated, 0, 0, 0, 0, 0, 0, 0, 0, 0}), chunk("ANIM", make([]byte, 6)), chunk("ANMF", frame), chunk("ANMF", frame))
	if _, err := webp.Decode(bytes.NewReader(moving)); err == nil {
		t.Error("the library knows animations now: leave it to it")
	}
	ws := diskWorkspace(t, map[string]string{"still.webp": string(still), "moving.webp": string(moving), "cut.webp": string(moving[:60]), "head.webp": string(moving[:20])})
	for _, name := range []string{"still.webp", "moving.webp"} {
		r := must(t, ws, Read(), args{"path": name})
		if len(r.Media) != 1 || r.Metadata["width"] != 1 || r.Metadata["height"] != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, name := range []string{"cut.webp", "head.webp"} {
		_, err := call(t, ws, Read(), args{"path": name})
		wants(t, err, name, "damaged")
	}
}

func FuzzWebP(f *testing.F) {
	still, _ := base64.StdEncoding.DecodeString(stillOfWebP)
	f.Add(riff(chunk("VP8X", []byte{animated, 0, 0, 0, 0, 0, 0, 0, 0, 0}), chunk("ANMF", append(make([]byte, frameHead), still[riffHeader:]...))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if still := firstFrame(data); still != nil && len(still) > len(data)+64 {
			t.Fatalf("%d bytes became %d", len(data), len(still))
		}
	})
}
