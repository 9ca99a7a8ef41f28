package imagefit

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"testing"
)

func encodeJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// oriented returns a JPEG with an EXIF block that says how it is to be seen.
func oriented(raw []byte, orientation uint16) []byte {
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00")
	tiff = binary.LittleEndian.AppendUint16(tiff, 0x0112) // Orientation
	tiff = binary.LittleEndian.AppendUint16(tiff, 3)      // SHORT
	tiff = binary.LittleEndian.AppendUint32(tiff, 1)
	tiff = binary.LittleEndian.AppendUint16(tiff, orientation)
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	body := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, raw[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	out = append(out, body...)
	return append(out, raw[2:]...)
}

// TestDecodeImage: channels and depth of each kind of file, and what a pixel becomes.
func TestDecodeImage(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	gray := image.NewGray(r)
	gray.SetGray(1, 0, color.Gray{51})
	deep := image.NewGray16(r)
	deep.SetGray16(1, 0, color.Gray16{257})
	deepColour := image.NewNRGBA64(r)
	deepColour.SetNRGBA64(0, 0, color.NRGBA64{1, 2, 3, 0xffff})
	deepColour.SetNRGBA64(1, 0, color.NRGBA64{0xffff, 0, 0, 0xffff})
	palette := image.NewPaletted(r, color.Palette{color.Black, color.RGBA{255, 0, 51, 255}})
	palette.SetColorIndex(1, 0, 1)
	alpha := image.NewNRGBA(r)
	alpha.SetNRGBA(0, 0, color.NRGBA{255, 255, 255, 0}) // nobody sees that it is white
	alpha.SetNRGBA(1, 0, color.NRGBA{255, 0, 0, 51})
	opaque := image.NewNRGBA(r)
	opaque.SetNRGBA(0, 0, color.NRGBA{0, 0, 255, 255})
	opaque.SetNRGBA(1, 0, color.NRGBA{0, 255, 0, 255})
	for name, c := range map[string]struct {
		raw  []byte
		want Colour
		p    []float32
	}{
		"gray":           {encodePNG(t, gray), Colour{Gray: true}, []float32{0, 0.2}},
		"gray 16":        {encodePNG(t, deep), Colour{Gray: true, Deep: true}, []float32{0, 1.0 / 255}},
		"gray and alpha": {grayAlphaPNG(), Colour{Gray: true, Alpha: true}, []float32{0.2 * 0.4, 0.4, 1, 1}},
		"gray palette":   {encodePNG(t, image.NewPaletted(r, color.Palette{color.White, color.Black})), Colour{Gray: true}, []float32{1, 1}},
		"palette":        {encodePNG(t, palette), Colour{}, []float32{0, 0, 0, 1, 0, 0.2}},
		"colour 16":      {encodePNG(t, deepColour), Colour{Deep: true}, []float32{1.0 / 65535, 2.0 / 65535, 3.0 / 65535, 1, 0, 0}},
		"alpha":          {encodePNG(t, alpha), Colour{Alpha: true}, []float32{0, 0, 0, 0, 0.2, 0, 0, 0.2}},
		"opaque alpha":   {encodePNG(t, opaque), Colour{}, []float32{0, 0, 1, 0, 1, 0}},
		"JPEG gray":      {encodeJPEG(t, gray), Colour{Gray: true}, []float32{0, 0.2}},
	} {
		img, err := DecodeImage(c.raw)
		if err != nil {
			t.Error(name, err)
			continue
		}
		if img.Colour != c.want || img.Width != 2 || img.Height != 1 || len(img.Pixels) != len(c.p) {
			t.Errorf("%s: %d×%d of %v with %d values", name, img.Width, img.Height, img.Colour, len(img.Pixels))
			continue
		}
		for i, v := range c.p {
			if tol := 2e-5; math.Abs(float64(img.Pixels[i]-v)) > tol && !(name == "JPEG gray" && math.Abs(float64(img.Pixels[i]-v)) < 0.01) {
				t.Errorf("%s: pixels %v, want %v", name, img.Pixels, c.p)
				break
			}
		}
	}
}

// grayAlphaPNG is two pixels of gray with alpha, 51 at 102 and 255 at 255, which Go's encoder does
// not write.
func grayAlphaPNG() []byte {
	return pngOf(2, 1, 8, 4, []byte{0, 51, 102, 255, 255})
}

// TestOrientation: a JPEG whose corners differ, seen in each of the eight ways.
func TestOrientation(t *testing.T) {
	const side = 16 // a block of a JPEG: each corner is flat
	m := image.NewGray(image.Rect(0, 0, 3*side, 2*side))
	for y := range 2 * side {
		for x := range 3 * side {
			v := uint8(128)
			switch {
			case x < side && y < side:
				v = 0 // top left
			case x >= 2*side && y < side:
				v = 255 // top right
			}
			m.SetGray(x, y, color.Gray{v})
		}
	}
	// Where the dark and the light corner are to be seen: x and y of the corner, 0 or 1.
	want := map[uint16][4]int{
		1: {0, 0, 1, 0}, 2: {1, 0, 0, 0}, 3: {1, 1, 0, 1}, 4: {0, 1, 1, 1},
		5: {0, 0, 0, 1}, 6: {1, 0, 1, 1}, 7: {1, 1, 1, 0}, 8: {0, 1, 0, 0},
	}
	for o, at := range want {
		img, err := DecodeImage(oriented(encodeJPEG(t, m), o))
		if err != nil {
			t.Fatal(err)
		}
		w, h := 3*side, 2*side
		if o >= 5 {
			w, h = h, w
		}
		if img.Width != w || img.Height != h {
			t.Errorf("orientation %d: %d×%d", o, img.Width, img.Height)
			continue
		}
		corner := func(cx, cy int) float32 { return img.Pixels[(cy*(h-1))*w+cx*(w-1)] }
		if dark, light := corner(at[0], at[1]), corner(at[2], at[3]); dark > 0.1 || light < 0.9 {
			t.Errorf("orientation %d: dark corner %v, light corner %v", o, dark, light)
		}
	}
	for name, raw := range map[string][]byte{
		"out of range":    oriented(encodeJPEG(t, m), 77),
		"damaged EXIF":    bytes.Replace(oriented(encodeJPEG(t, m), 6), []byte("II*\x00\x08"), []byte("II*\x00\xff"), 1),
		"PNG without any": encodePNG(t, m),
	} {
		if img, err := DecodeImage(raw); err != nil || img.Width != 3*side {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// TestWritePNG: what is read comes back in its channels and depth, exactly where alpha leaves that
// possible.
func TestWritePNG(t *testing.T) {
	for _, c := range []Colour{{}, {Gray: true}, {Deep: true}, {Gray: true, Deep: true}, {Alpha: true}, {Alpha: true, Deep: true}, {Gray: true, Alpha: true}} {
		img := &Image{Width: 3, Height: 2, Colour: c}
		for i := range 6 * c.Channels() {
			img.Pixels = append(img.Pixels, float32(i%7)/12)
		}
		if c.Alpha {
			for i := range 6 {
				img.Pixels[(i+1)*c.Channels()-1] = 0.5 + float32(i)/20
			}
		}
		var b bytes.Buffer
		if err := img.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		back, err := DecodeImage(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want := c
		if c.Gray && c.Alpha {
			want.Gray = false // Go's encoder has no gray with alpha
			if p := back.Pixels; p[0] != p[1] || p[1] != p[2] {
				t.Errorf("%v: gray became %v", c, p[:4])
			}
		}
		if back.Colour != want || back.Width != 3 || back.Height != 2 {
			t.Errorf("%v came back as %v", c, back.Colour)
			continue
		}
		if want == c {
			for i, v := range img.Pixels {
				if d := math.Abs(float64(v - back.Pixels[i])); d > 1/c.peak() {
					t.Errorf("%v: value %d is %v, was %v", c, i, back.Pixels[i], v)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := (&Image{Width: 1, Height: 1, Colour: Colour{Alpha: true}, Pixels: []float32{0.3, 2, -1, -0.2}}).WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(&b); err != nil || m.At(0, 0) != (color.NRGBA{}) {
		t.Errorf("a clear pixel is stored as %v (err %v)", m.At(0, 0), err)
	}
}
