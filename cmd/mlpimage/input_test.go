package main

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/imagefit"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// drawOddInputs writes pictures of other formats than PNG and JPEG, and files that are made to be
// trouble.
func drawOddInputs(dir string) error {
	webp, err := hex.DecodeString("524946462a00000057454250565038201e0000005001009d012a1000080000000025a40004740000fed89fffffdf38ac0000")
	if err != nil {
		return err
	}
	colours := image.NewPaletted(image.Rect(0, 0, 12, 8), color.Palette{color.Black, color.RGBA{200, 60, 30, 255}})
	deep := image.NewGray16(image.Rect(0, 0, 12, 8))
	for i := range 12 * 8 {
		colours.Pix[i] = uint8(i / 7 % 2)
		deep.SetGray16(i%12, i/12, color.Gray16{uint16(i * 600)})
	}
	var moving, bitmap, tagged bytes.Buffer
	for _, err := range []error{
		gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{colours, colours}, Delay: []int{1, 1}}),
		bmp.Encode(&bitmap, colours), tiff.Encode(&tagged, deep, nil),
	} {
		if err != nil {
			return err
		}
	}
	var inflated bytes.Buffer
	z := zip.NewWriter(&inflated)
	w, err := z.Create("metadata.npy")
	if err != nil {
		return err
	}
	text := "{'descr': '|u1', 'fortran_order': False, 'shape': (9,), }\n"
	if _, err := w.Write(append([]byte("\x93NUMPY\x01\x00"+string(rune(len(text)))+"\x00"+text), make([]byte, 1<<26)...)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	for name, raw := range map[string][]byte{
		"p.webp": webp, "p.gif": moving.Bytes(), "p.bmp": bitmap.Bytes(), "p.tiff": tagged.Bytes(), "bomb.npz": inflated.Bytes(),
		"bomb.png": bitPNG(20000), "photo.heic": []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bitPNG returns a PNG of black pixels of one bit each: 50 KB are 400 million of them.
func bitPNG(side int) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		body := append([]byte(kind), data...)
		b.Write(binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(body)))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(side)), uint32(side))
	chunk("IHDR", append(header, 1, 0, 0, 0, 0))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	row := make([]byte, 1+(side+7)/8)
	for range side {
		z.Write(row) // into memory: it does not fail
	}
	z.Close()
	chunk("IDAT", packed.Bytes())
	chunk("IEND", nil)
	return b.Bytes()
}

func TestSize(t *testing.T) {
	m := imagefit.Spec{Width: 320, Height: 240}
	for text, want := range map[string][2]int{
		"": {320, 240}, "512x": {512, 384}, "x512": {683, 512}, "2x": {640, 480}, "1.5x": {480, 360}, "0.5x": {160, 120},
		"32x": {10240, 7680}, "256x": {256, 192}, "33x25": {33, 25}, "640X300": {640, 300}, "0.0001x": {1, 1}, "x1": {1, 1},
	} {
		s, err := parseSize(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if w, h := s.of(m); [2]int{w, h} != want {
			t.Errorf("%q: %dx%d, want %v", text, w, h, want)
		}
	}
	for _, text := range []string{"x", "0x", "x0", "-2x", "NaNx", "1e99x", "1x2x3", "big", "x1.5", "33x", "255x", "33.5x", "1e9x", "1_0.5x", "100.5x20", "3000000000x3", "512", "0", "1.5"} {
		if s, err := parseSize(text); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if lines := remarks(m, 640, 300); len(lines) != 1 || !strings.Contains(lines[0], "--size 640x draws it 640x480") {
		t.Errorf("stretched: %q", lines)
	}
	if lines := remarks(m, 683, 512); lines != nil {
		t.Errorf("not stretched: %q", lines)
	}
}

func TestMemoryFlag(t *testing.T) {
	for text, want := range map[string]int64{"512M": 512 << 20, "4G": 4 << 30, "1.5GiB": 3 << 29, "100kb": 100 << 10, "77": 77, "1T": 1 << 40} {
		var m memory
		if err := m.Set(text); err != nil || m.bytes != want {
			t.Errorf("%q: %d, %v; want %d", text, m.bytes, err, want)
		}
	}
	for _, text := range []string{"", "G", "0", "-1G", "NaN", "1e40", "four", "4X", "infT"} {
		var m memory
		if err := m.Set(text); err == nil {
			t.Errorf("%q: %d", text, m.bytes)
		}
	}
	var m memory
	if n := m.limit(); n < 1<<26 || n == math.MaxInt64 {
		t.Errorf("half of what there is: %d bytes", n)
	}
}
