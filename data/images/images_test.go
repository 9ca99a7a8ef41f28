package images

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// TestResize: pixels are those of Pillow 12.0, which testdata/resize.py wrote.
func TestResize(t *testing.T) {
	text, err := os.ReadFile("testdata/resize.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		var height, width, channels, high, wide int
		var name, digits string
		if _, err := fmt.Sscan(line, &height, &width, &channels, &high, &wide, &name, &digits); err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		p := &Picture{width, height, channels, make([]uint8, height*width*channels)}
		for i := range p.Pixels {
			p.Pixels[i] = uint8((i*i*7919 + i*104729 + 12345) % 65521 >> 3)
		}
		before := slices.Clone(p.Pixels)
		f := map[string]Filter{"bilinear": Bilinear, "bicubic": Bicubic}[name]
		got := p.Resize(high, wide, f)
		if !slices.Equal(got.Pixels, want) || got.Height != high || got.Width != wide || got.Channels != channels {
			t.Errorf("%.30s: %v, want %v", line, got.Pixels, want)
		}
		got.Pixels[0]++
		if !slices.Equal(p.Pixels, before) {
			t.Errorf("%.30s: it changes the picture", line)
		}
	}
	if len(lines) < 40 {
		t.Errorf("%d cases", len(lines))
	}
}

// TestSizes: the shorter side is as long as was said, and windows are cut where torchvision cuts them.
func TestSizes(t *testing.T) {
	for _, c := range [][4]int{{30, 50, 12, 20}, {50, 30, 20, 12}, {30, 47, 12, 18}, {7, 7, 12, 12}, {1, 100, 12, 1200}} {
		p := (&Picture{c[1], c[0], 1, make([]uint8, c[0]*c[1])}).ResizeShorter(12, Bilinear)
		if p.Height != c[2] || p.Width != c[3] {
			t.Errorf("%v: %d × %d", c, p.Height, p.Width)
		}
	}
	p := &Picture{9, 6, 1, nil}
	for i := range 54 {
		p.Pixels = append(p.Pixels, uint8(i))
	}
	for _, c := range [][4]int{{6, 9, 0, 0}, {2, 2, 2, 4}, {3, 4, 2, 2}, {1, 1, 2, 4}, {5, 8, 0, 0}} { // round(2.5) is 2, round(0.5) is 0, round(3.5) is 4
		if w := p.CenterCrop(c[0], c[1]); int(w.Pixels[0]) != c[2]*9+c[3] || len(w.Pixels) != c[0]*c[1] {
			t.Errorf("%v: begins with %d", c, w.Pixels[0])
		}
	}
	for says, f := range map[string]func(){
		"a window of 7 × 2 in a picture of 6 × 9": func() { p.CenterCrop(7, 2) },
		"a window of 0 × 2":                       func() { p.CenterCrop(0, 2) },
		"to 0 × 5 pixels":                         func() { p.Resize(0, 5, Bilinear) },
		"to 65536 × 65536 pixels":                 func() { p.Resize(1<<16, 1<<16, Bilinear) },
		"there is no filter 2":                    func() { p.Resize(2, 2, 2) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, m image.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

// TestDecode: the colours of every kind of picture, in 8 bits, without transparency.
func TestDecode(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	gray, deep := image.NewGray(r), image.NewGray16(r)
	gray.Pix[1] = 77
	deep.SetGray16(1, 0, color.Gray16{Y: 0x4dff})
	clear := image.NewNRGBA(r)
	clear.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 0})
	clear.SetNRGBA(1, 0, color.NRGBA{9, 8, 7, 255})
	wide := image.NewNRGBA64(r)
	wide.SetNRGBA64(0, 0, color.NRGBA64{0xc8ff, 0x6400, 0x3201, 0x10})
	wide.SetNRGBA64(1, 0, color.NRGBA64{0x0900, 0x0800, 0x0700, 0xffff})
	solid := image.NewRGBA(r)
	solid.SetRGBA(0, 0, color.RGBA{1, 2, 3, 255})
	solid.SetRGBA(1, 0, color.RGBA{250, 251, 252, 255})
	table := image.NewPaletted(r, color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{40, 50, 60, 0}})
	table.Pix[1] = 1
	flat := image.NewYCbCr(image.Rect(0, 0, 16, 16), image.YCbCrSubsampleRatio420)
	for i := range flat.Y {
		flat.Y[i] = 100
	}
	for i := range flat.Cb {
		flat.Cb[i], flat.Cr[i] = 128, 128
	}
	for name, c := range map[string]struct {
		raw  []byte
		want []uint8
	}{
		"PNG gray":    {pngOf(t, gray), []uint8{0, 0, 0, 77, 77, 77}},
		"PNG gray 16": {pngOf(t, deep), []uint8{0, 0, 0, 77, 77, 77}},
		"PNG clear":   {pngOf(t, clear), []uint8{200, 100, 50, 9, 8, 7}},
		"PNG wide":    {pngOf(t, wide), []uint8{200, 100, 50, 9, 8, 7}},
		"PNG palette": {pngOf(t, table), []uint8{1, 2, 3, 40, 50, 60}},
		"PNG":         {pngOf(t, solid), []uint8{1, 2, 3, 250, 251, 252}},
		"BMP":         {encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, solid) }), []uint8{1, 2, 3, 250, 251, 252}},
		"TIFF":        {encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, solid, nil) }), []uint8{1, 2, 3, 250, 251, 252}},
		"GIF": {encoded(t, func(b *bytes.Buffer) error {
			return gif.Encode(b, image.NewPaletted(r, color.Palette{color.NRGBA{9, 9, 9, 255}}), nil)
		}), []uint8{9, 9, 9, 9, 9, 9}},
		"JPEG": {encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, flat, nil) }), slices.Repeat([]uint8{100}, 3*256)},
	} {
		p, err := Decode(c.raw)
		if err != nil || !slices.Equal(p.Pixels, c.want) || p.Channels != 3 {
			t.Errorf("%s: %+v, want %v (err %v)", name, p, c.want, err)
		}
	}
	p, _ := Decode(pngOf(t, solid))
	if g := p.Gray(); g.Channels != 1 || g.Width != 2 || !slices.Equal(g.Pixels, []uint8{2, 251}) || !slices.Equal(g.Gray().Pixels, g.Pixels) {
		t.Errorf("gray: %v", g)
	}
	for says, raw := range map[string][]byte{
		"images: not a usable image: the file is empty": nil, "it is no picture that is known here": []byte("hello"), "damaged PNG": pngOf(t, solid)[:40],
		"it is an archive: PNG, JPEG": []byte("PK\x03\x04"),
		"and 134217728 are the most":  vast(),
	} {
		if _, err := Decode(raw); !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
}

// vast is a PNG that claims 2²⁸ pixels.
func vast() []byte {
	head := []byte("IHDR\x00\x00\x40\x00\x00\x00\x40\x00\x08\x00\x00\x00\x00")
	raw := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return append(binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(head)), make([]byte, 1<<16)...)
}

// TestUpright: EXIF's eight orientations of a picture are one.
func TestUpright(t *testing.T) {
	// The pixels 1 2 3 / 4 5 6 as they are stored: source EXIF 2.32, tag 274.
	for o, stored := range map[uint16][]string{
		1: {"123", "456"}, 2: {"321", "654"}, 3: {"654", "321"}, 4: {"456", "123"},
		5: {"14", "25", "36"}, 6: {"36", "25", "14"}, 7: {"63", "52", "41"}, 8: {"41", "52", "63"},
	} {
		m := image.NewGray(image.Rect(0, 0, len(stored[0]), len(stored)))
		for y, row := range stored {
			for x, v := range row {
				m.SetGray(x, y, color.Gray{Y: uint8(v - '0')})
			}
		}
		raw := pngOf(t, m)
		p, err := Decode(withEXIF(raw, o))
		if err != nil || p.Width != 3 || p.Height != 2 || !slices.Equal(p.Gray().Pixels, []uint8{1, 2, 3, 4, 5, 6}) {
			t.Errorf("orientation %d: %+v (err %v)", o, p, err)
		}
	}
}

// withEXIF puts a block of EXIF that says an orientation behind the header of a PNG.
func withEXIF(raw []byte, orientation uint16) []byte {
	block := []byte("eXIfII*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	block = binary.LittleEndian.AppendUint16(block, orientation)
	block = append(block, 0, 0, 0, 0, 0, 0)
	out := binary.BigEndian.AppendUint32(slices.Clone(raw[:33]), uint32(len(block)-4))
	out = binary.BigEndian.AppendUint32(append(out, block...), crc32.ChecksumIEEE(block))
	return append(out, raw[33:]...)
}

// folderOf makes a folder of pictures of one colour: of the class and the number in the name.
func folderOf(t testing.TB, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i, name := range files {
		m := image.NewGray(image.Rect(0, 0, 8+i, 6))
		for k := range m.Pix {
			m.Pix[k] = uint8(10 * (i + 1))
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pngOf(t, m), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestOpenFolder: classes and pictures are sorted as torchvision sorts them; other files are left out.
func TestOpenFolder(t *testing.T) {
	root := folderOf(t, "b/2.png", "b/10.PNG", "b/sub/1.jpeg", "a/x.webp", "a/.hidden/y.tif", "a/notes.txt", "loose.png", "b/sub-1/3.gif")
	if err := os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "c")); err != nil {
		t.Skip("no links here:", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "b", "0.png")); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, path := range f.Paths {
		rel, _ := filepath.Rel(root, path)
		got = append(got, fmt.Sprint(data.Elements[int64](f.Labels)[i], " ", filepath.ToSlash(rel)))
	}
	want := []string{"0 a/x.webp", "0 a/.hidden/y.tif", "1 b/10.PNG", "1 b/2.png", "1 b/sub/1.jpeg", "1 b/sub-1/3.gif", "2 c/x.webp", "2 c/.hidden/y.tif"}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(folderFirst(a), folderFirst(b)) })
	if !slices.Equal(got, want) || !slices.Equal(f.Classes, []string{"a", "b", "c"}) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if err := os.Symlink("..", filepath.Join(root, "b", "sub", "loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(root); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), "loop: the link leads to a folder that it lies in") {
		t.Errorf("a link in a circle: err = %v", err)
	}
	for name, c := range map[string]struct{ root, says string }{
		"no classes":     {folderOf(t, "loose.png"), "there is no folder of a class in it"},
		"an empty class": {folderOf(t, "a/1.png", "b/notes.txt"), `class "b" has no picture: files end in .png, .jpg`},
	} {
		if _, err := OpenFolder(c.root); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), c.root+": "+c.says) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if _, err := OpenFolder(filepath.Join(root, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

// folderFirst is a line of TestOpenFolder as os.walk orders it: by folder, then by name.
func folderFirst(line string) string {
	folder, name := filepath.Split(line)
	return strings.TrimSuffix(folder, "/") + "\x00" + name
}

// TestTransform: batches have the pictures in one size, and their labels; a gray one has one channel.
func TestTransform(t *testing.T) {
	d := devtest.CPU(t)
	f, err := OpenFolder(folderOf(t, "a/1.png", "a/2.png", "b/3.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Height: 4, Width: 3}, {Height: 3, Width: 4, Resize: 5, Filter: Bicubic, Gray: true, Workers: 2}} {
		l := data.NewLoader(d, []data.Array{f.Labels}, data.LoaderConfig{Batch: 3, InOrder: true, Transform: f.Transform(o)})
		for b := range l.Epoch() {
			channels := map[bool]int{false: 3, true: 1}[o.Gray]
			if want := []int{3, channels, o.Height, o.Width}; b[0].Type() != tensor.Uint8 || !slices.Equal(b[0].Shape(), want) || b[1].Type() != tensor.Int64 {
				t.Errorf("%v and %v", b[0], b[1])
			}
			v, n := devtest.Float64s(t, b[0]), channels*12
			for i := range 3 {
				if part := v[i*n:][:n]; slices.Min(part) != float64(10*(i+1)) || slices.Max(part) != slices.Min(part) {
					t.Errorf("picture %d: %v", i, part)
				}
			}
			if labels := devtest.Float64s(t, b[1]); !slices.Equal(labels, []float64{0, 0, 1}) {
				t.Errorf("labels %v", labels)
			}
		}
		if err := l.Err(); err != nil {
			t.Error(err)
		}
	}
}

// TestTransformFails: a damaged file, one that is gone, and one too long for its width end the loop
// with an error that names it.
func TestTransformFails(t *testing.T) {
	d := devtest.CPU(t)
	f, err := OpenFolder(folderOf(t, "a/1.png", "a/2.png"))
	if err != nil {
		t.Fatal(err)
	}
	bad := f.Paths[1]
	good, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	for says, c := range map[string]struct {
		raw  []byte
		kind error
	}{
		"damaged PNG":                       {good[:len(good)/2], ErrImage},
		"it is a web page":                  {[]byte("<html>"), ErrImage},
		"the file is empty":                 {[]byte{}, ErrImage},
		"no such file":                      {nil, os.ErrNotExist},
		"pixels, with the shorter side 256": {pngOf(t, image.NewGray(image.Rect(0, 0, 1, 3000))), ErrImage},
	} {
		if err := os.WriteFile(bad, c.raw, 0o666); err != nil {
			t.Fatal(err)
		}
		if c.raw == nil {
			os.Remove(bad)
		}
		cfg := data.LoaderConfig{Batch: 1, InOrder: true, Transform: f.Transform(Options{Height: 4, Width: 4, Resize: 256})}
		l, n := data.NewLoader(d, []data.Array{f.Labels}, cfg), 0
		for range l.Epoch() {
			n++
		}
		if err := l.Err(); n != 1 || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), says) || strings.Count(err.Error(), bad) != 1 || !strings.Contains(err.Error(), "epoch 0, row 1") {
			t.Errorf("%s: %d batches, err = %v", says, n, err)
		}
	}
	for _, o := range []Options{{Height: 4}, {Height: 4, Width: -1}, {Height: 4, Width: 4, Filter: 9}, {Height: 4, Width: 9, Resize: 8}, {Height: 1 << 20, Width: 1 << 20}} {
		if err := tensor.Try(func() { f.Transform(o) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "images: Transform") {
			t.Errorf("%+v: err = %v", o, err)
		}
	}
	l := data.NewLoader(d, []data.Array{data.New(make([]int64, 5))}, data.LoaderConfig{Batch: 5, InOrder: true, Transform: &data.Transform{
		Makes: f.Transform(Options{Height: 1, Width: 1}).Makes, Workers: 1, Do: func(e data.Example) error {
			e.Row += 2
			return f.Transform(Options{Height: 1, Width: 1}).Do(e)
		}}})
	if err := tensor.Try(func() {
		for range l.Epoch() {
		}
	}); !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), "row 2 of 2 pictures") {
		t.Errorf("a loader of other rows: err = %v", err)
	}
}

// FuzzDecode: whatever a file holds, it is a picture of its size or an error that wraps ErrImage.
func FuzzDecode(f *testing.F) {
	f.Add(pngOf(f, image.NewNRGBA(image.Rect(0, 0, 3, 2))))
	f.Add(pngOf(f, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})))
	f.Add([]byte("GIF89a\x01\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<12 {
			return
		}
		p, err := Decode(raw)
		switch {
		case err != nil && !errors.Is(err, ErrImage) && !strings.Contains(err.Error(), "memory"):
			t.Error(err)
		case err == nil && len(p.Pixels) != 3*p.Width*p.Height:
			t.Errorf("%d × %d with %d values", p.Height, p.Width, len(p.Pixels))
		}
	})
}
