package imagefit

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Three WebP files of cwebp 1.2.4: two pixels, red at 51 of 255 and opaque green, without loss and
// with; and 16×8 pixels, the left half black, the right half white.
const (
	webpLossless = "524946461e000000574542505650384c120000002f010000100fb0fff31fa7f98f0a19d1ff00"
	webpAlpha    = "524946466400000057454250565038580a00000010000000010000000000414c5048030000000033ff00565038203a0000007002009d012a0200010000c01225a00274ba01f801fa00038d381fbc00ce3ff58effeffa791fffd72d70c0543fec013ffd72d70c0543febe1800"
	webpLossy    = "524946462a00000057454250565038201e0000005001009d012a1000080000000025a40004740000fed89fffffdf38ac0000"
)

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func encodeTIFF(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tiff.Encode(&b, m, &tiff.Options{Compression: tiff.Deflate}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodeBMP(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bmp.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// encodeGIF writes frames of palettes onto a canvas.
func encodeGIF(t testing.TB, width, height int, frames ...*image.Paletted) []byte {
	t.Helper()
	var b bytes.Buffer
	g := &gif.GIF{Image: frames, Delay: make([]int, len(frames)), Config: image.Config{Width: width, Height: height}}
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFormats: channels, depth and pixels of each format that has no test of its own.
func TestFormats(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	gray := image.NewGray(r)
	gray.SetGray(1, 0, color.Gray{51})
	deep := image.NewGray16(r)
	deep.SetGray16(1, 0, color.Gray16{257})
	rgb := image.NewRGBA(r)
	rgb.SetRGBA(0, 0, color.RGBA{0, 0, 255, 255})
	rgb.SetRGBA(1, 0, color.RGBA{0, 51, 0, 255})
	alpha := image.NewNRGBA(r)
	alpha.SetNRGBA(1, 0, color.NRGBA{255, 0, 0, 51})
	deepAlpha := image.NewNRGBA64(r)
	deepAlpha.SetNRGBA64(1, 0, color.NRGBA64{0xffff, 0, 0, 0x3333})
	colours := image.NewPaletted(r, color.Palette{color.Black, color.RGBA{255, 0, 51, 255}})
	colours.SetColorIndex(1, 0, 1)
	grays := image.NewPaletted(r, color.Palette{color.Black, color.White})
	grays.SetColorIndex(1, 0, 1)
	white := image.NewPaletted(r, color.Palette{color.White, color.RGBA{255, 0, 0, 255}})
	corner := image.NewPaletted(image.Rect(1, 0, 2, 1), color.Palette{color.White, color.Black})
	for name, c := range map[string]struct {
		raw  []byte
		want Colour
		p    []float32
		tol  float64
	}{
		"TIFF gray":          {encodeTIFF(t, gray), Colour{Gray: true}, []float32{0, 0.2}, 0},
		"TIFF gray 16":       {encodeTIFF(t, deep), Colour{Gray: true, Deep: true}, []float32{0, 1.0 / 255}, 0},
		"TIFF colour":        {encodeTIFF(t, rgb), Colour{}, []float32{0, 0, 1, 0, 0.2, 0}, 0},
		"TIFF alpha":         {encodeTIFF(t, alpha), Colour{Alpha: true}, []float32{0, 0, 0, 0, 0.2, 0, 0, 0.2}, 0},
		"TIFF alpha 16":      {encodeTIFF(t, deepAlpha), Colour{Alpha: true, Deep: true}, []float32{0, 0, 0, 0, 0.2, 0, 0, 0.2}, 0},
		"TIFF palette":       {encodeTIFF(t, colours), Colour{}, []float32{0, 0, 0, 1, 0, 0.2}, 0},
		"BMP gray":           {encodeBMP(t, gray), Colour{Gray: true}, []float32{0, 0.2}, 0},
		"BMP colour":         {encodeBMP(t, rgb), Colour{}, []float32{0, 0, 1, 0, 0.2, 0}, 0},
		"BMP palette":        {encodeBMP(t, colours), Colour{}, []float32{0, 0, 0, 1, 0, 0.2}, 0},
		"GIF":                {encodeGIF(t, 2, 1, colours), Colour{}, []float32{0, 0, 0, 1, 0, 0.2}, 0},
		"GIF gray":           {encodeGIF(t, 2, 1, grays), Colour{Gray: true}, []float32{0, 1}, 0},
		"GIF of two frames":  {encodeGIF(t, 2, 1, colours, white), Colour{}, []float32{0, 0, 0, 1, 0, 0.2}, 0},
		"GIF, part of it":    {encodeGIF(t, 2, 1, corner), Colour{Gray: true, Alpha: true}, []float32{0, 0, 1, 1}, 0},
		"WebP without loss":  {fromHex(t, webpLossless), Colour{Alpha: true}, []float32{0.2, 0, 0, 0.2, 0, 1, 0, 1}, 0},
		"WebP with alpha":    {fromHex(t, webpAlpha), Colour{Alpha: true}, []float32{0.1, 0, 0, 0.2, 0, 0.5, 0, 1}, 0.6},
		"one pixel, as TIFF": {encodeTIFF(t, image.NewGray(image.Rect(0, 0, 1, 1))), Colour{Gray: true}, []float32{0}, 0},
		"one pixel, as BMP":  {encodeBMP(t, image.NewGray(image.Rect(0, 0, 1, 1))), Colour{Gray: true}, []float32{0}, 0},
	} {
		img, err := DecodeImage(c.raw)
		if err != nil {
			t.Error(name, err)
			continue
		}
		if img.Colour != c.want || len(img.Pixels) != len(c.p) {
			t.Errorf("%s: %d×%d of %v with %d values", name, img.Width, img.Height, img.Colour, len(img.Pixels))
			continue
		}
		for i, v := range c.p {
			if math.Abs(float64(img.Pixels[i]-v)) > max(c.tol, 2e-5) {
				t.Errorf("%s: pixels %v, want %v", name, img.Pixels, c.p)
				break
			}
		}
	}
	img, err := DecodeImage(fromHex(t, webpLossy))
	if err != nil || img.Width != 16 || img.Height != 8 || img.Colour != (Colour{}) || img.Pixels[0] > 0.1 || img.Pixels[15*3] < 0.9 {
		t.Errorf("WebP with loss: %d×%d, %v (err %v)", img.Width, img.Height, img.Pixels, err)
	}
}

// rawTIFF is a TIFF of entries of one LONG each, and nothing behind them.
func rawTIFF(entries ...[2]uint32) []byte {
	raw := []byte("II*\x00\x08\x00\x00\x00")
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(entries)))
	for _, e := range entries {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(e[0]))
		raw = binary.LittleEndian.AppendUint16(raw, 4)
		raw = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(raw, 1), e[1])
	}
	return append(raw, 0, 0, 0, 0)
}

// TestNotRead: what is not read is called by its name, and what is damaged is not taken for
// something else.
func TestNotRead(t *testing.T) {
	ftyp := func(brands string) []byte { return append([]byte("\x00\x00\x00\x1cftyp"+brands), make([]byte, 40)...) }
	animated := append([]byte("RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00"), make([]byte, 20)...)
	// The canvas of a few pixels hides a picture of 16384×16384; a canvas of 2²⁴×2²⁴ would be asked
	// for at once.
	small := append([]byte("RIFF\x40\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x10\x00\x00\x00\x2f\xff\xff\xff\x0f"), make([]byte, 40)...)
	vast := append([]byte("RIFF\x40\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\xff\xff\xff\xff\xff\xffALPH\x10\x00\x00\x00"), make([]byte, 40)...)
	whole := encodeTIFF(t, image.NewGray(image.Rect(0, 0, 30, 30)))
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"HEIC":                         {ftyp("heic\x00\x00\x00\x00mif1heic"), "it is a HEIC picture: PNG, JPEG, WebP, GIF, BMP and TIFF are read"},
		"HEIC of mif1":                 {ftyp("mif1\x00\x00\x00\x00mif1heic"), "a HEIC picture"},
		"AVIF":                         {ftyp("avif\x00\x00\x00\x00avifmif1"), "an AVIF picture"},
		"AVIF of mif1":                 {ftyp("mif1\x00\x00\x00\x00miafavif"), "an AVIF picture"},
		"a video":                      {ftyp("isom\x00\x00\x02\x00isomiso2"), "a video"},
		"CR3":                          {ftyp("crx \x00\x00\x00\x01crx isom"), "raw file"},
		"JPEG XL":                      {[]byte("\xff\x0a\x00\x00"), "a JPEG XL picture"},
		"JPEG XL boxed":                {[]byte("\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a"), "a JPEG XL picture"},
		"SVG":                          {[]byte("<?xml version=\"1.0\"?>\n<!-- a -->\n<svg xmlns=\"\"></svg>"), "an SVG drawing"},
		"PDF":                          {[]byte("%PDF-1.7\n"), "a PDF document"},
		"EXR":                          {[]byte("\x76\x2f\x31\x01\x02\x00\x00\x00"), "an OpenEXR picture"},
		"QOI":                          {[]byte("qoif\x00\x00\x00\x01"), "a QOI picture"},
		"PPM":                          {[]byte("P6\n2 1\n255\n123456"), "a Netpbm picture"},
		"HTML":                         {[]byte("\n<!DOCTYPE html><html>"), "a web page"},
		"a model":                      {zipHead, "an archive (of a model or a checkpoint, perhaps, which mlpimage render draws)"},
		"CR2":                          {[]byte("II*\x00\x10\x00\x00\x00CR\x02\x00"), "raw file"},
		"DNG":                          {rawTIFF([2]uint32{256, 4}, [2]uint32{257, 4}, [2]uint32{50706, 0x401}), "raw file"},
		"NEF":                          {rawTIFF([2]uint32{254, 1}, [2]uint32{256, 160}, [2]uint32{257, 120}, [2]uint32{330, 99}), "raw file"},
		"animated WebP":                {animated, "it is a WebP of a kind that is not read (unsupported: it is animated)"},
		"false WebP":                   {small, "not the size of its canvas"},
		"vast WebP":                    {vast, "damaged WebP"},
		"TIFF of floats":               {rawTIFF([2]uint32{256, 4}, [2]uint32{257, 4}, [2]uint32{258, 32}), "it is a TIFF of a kind that is not read"},
		"cut TIFF":                     {whole[:len(whole)/2], "damaged TIFF"},
		"cut BMP":                      {encodeBMP(t, image.NewGray(image.Rect(0, 0, 30, 30)))[:1500], "damaged BMP"},
		"cut GIF":                      {encodeGIF(t, 9, 9, image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White}))[:30], "damaged GIF"},
		"cut WebP":                     {fromHex(t, webpLossy)[:40], "damaged WebP"},
		"GIF of nothing":               {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "0×0 pixels"},
		"PNG of a claim past counting": {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\x00\x00\x00\xf3\x8b\xbe\xc6"), "more pixels than can be indexed"},
		"BMP of a claim":               {append(encodeBMP(t, image.NewGray(image.Rect(0, 0, 2, 1)))[:18], append([]byte("\x10\x27\x00\x00\x10\x27\x00\x00"), encodeBMP(t, image.NewGray(image.Rect(0, 0, 2, 1)))[26:]...)...), "claims 10000×10000"},
	} {
		_, err := DecodeImage(c.raw)
		if !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
}

var zipHead = []byte("PK\x03\x04\x14\x00\x00\x00")

// TestOrientationOfTIFF: EXIF's tag is TIFF's own.
func TestOrientationOfTIFF(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 3, 2))
	m.SetGray(0, 0, color.Gray{255})
	raw := encodeTIFF(t, m)
	// x/image writes no orientation: a tag that it does not need, XResolution, becomes one, and the
	// order of tags with it.
	at := bytes.Index(raw, []byte{0x1a, 0x01, 0x05, 0x00})
	before := bytes.Index(raw, []byte{0x15, 0x01, 0x03, 0x00})
	if at < 0 || before < 0 {
		t.Fatal("no such tags")
	}
	entries := bytes.Clone(raw[before:at])
	copy(raw[before:], "\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00")
	copy(raw[before+12:], entries)
	img, err := DecodeImage(raw)
	if err != nil || img.Width != 2 || img.Height != 3 || img.Pixels[1] != 1 {
		t.Errorf("%+v (err %v)", img, err)
	}
}

// slow is a PNG of very many pixels in few bytes.
func slow(side int) []byte {
	return pngOf(uint32(side), uint32(side), 1, 0, make([]byte, side*(side/8+1)))
}

// TestMemory: what a picture takes is estimated before it is asked for.
func TestMemory(t *testing.T) {
	raw := slow(8000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Bounds{Memory: 500 << 20}.DecodeImage(context.Background(), raw)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "reading and fitting 8000×8000 pixels takes about 916 MB, and the limit is 500 MB") {
		t.Errorf("err = %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were asked for", took)
	}
	if _, err := (Bounds{Memory: 1 << 30}).DecodeImage(context.Background(), encodePNG(t, image.NewGray(image.Rect(0, 0, 30, 30)))); err != nil {
		t.Error(err)
	}
}

// TestMemoryOfTiles: a strip that no header gives the size of is stopped when it has filled what
// there is.
func TestMemoryOfTiles(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 20000, 20000))
	raw := encodeTIFF(t, m)
	for _, field := range []string{"\x01\x01", "\x00\x01"} { // its height, then its width, and not the rows of its strip
		at := bytes.Index(raw, append([]byte(field), 4, 0, 1, 0, 0, 0))
		if at < 0 {
			at = bytes.Index(raw, append([]byte(field), 3, 0, 1, 0, 0, 0))
		}
		if at < 0 {
			t.Fatal("no size")
		}
		if field == "\x01\x01" {
			raw[at+8], raw[at+9] = 10, 0
		}
	}
	runtime.KeepAlive(m)
	m = nil
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(120 << 20))
	_, err := DecodeImage(raw)
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "has filled") {
		t.Errorf("err = %v", err)
	}
}
