package imagefit

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// smooth is a picture that a small network can learn: gradients and a disc.
func smooth(width, height int) *Image {
	img := &Image{Width: width, Height: height}
	for y := range height {
		for x := range width {
			u, v := float64(x)/float64(width), float64(y)/float64(height)
			disc := 0.0
			if math.Hypot(u-0.5, v-0.5) < 0.3 {
				disc = 1
			}
			img.Pixels = append(img.Pixels, float32(u), float32(v), float32(disc))
		}
	}
	return img
}

func small() Config {
	c := Defaults()
	c.Steps, c.Batch, c.Hidden, c.Encoding.Features, c.LR, c.LogEvery = 300, 128, 32, 16, 5e-3, 50
	return c
}

func run(t *testing.T, d tensor.Device, img *Image, cfg Config) *Fit {
	t.Helper()
	f, err := New(d, img, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(context.Background(), Watch{}); err != nil {
		t.Fatal(err)
	}
	return f
}

func psnrOf(t *testing.T, f *Fit, img *Image) float64 {
	t.Helper()
	out, err := f.Model.Render(context.Background(), img.Width, img.Height)
	if err != nil {
		t.Fatal(err)
	}
	return PSNR(img, out)
}

// TestFit trains on a picture that is not square, on every device: it learns it, and the devices
// agree.
func TestFit(t *testing.T) {
	img := smooth(40, 28)
	var results []float64
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		live := d.Stats().LiveBytes
		f := run(t, d, img, small())
		p := psnrOf(t, f, img)
		if p < 24 {
			t.Errorf("PSNR %.2f dB after %d steps", p, f.Steps())
		}
		if f.StepMicros() <= 0 || f.LaunchesPerStep() <= 0 {
			t.Errorf("step time %v, launches %d", f.StepMicros(), f.LaunchesPerStep())
		}
		results = append(results, p)
		f.Free()
		if now := d.Stats().LiveBytes; now != live {
			t.Errorf("%d bytes live before, %d after Free", live, now)
		}
	})
	for _, p := range results {
		if math.Abs(p-results[0]) > 1 { // short runs amplify rounding; long ones agree to 0.1 dB
			t.Errorf("devices disagree: %v", results)
		}
	}
}

// TestNoTransfers: after the first step, nothing moves between host and device but a logged loss,
// and memory stays flat.
func TestNoTransfers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		f, err := New(d, smooth(17, 9), small())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Step(); err != nil {
			t.Fatal(err)
		}
		start := d.Stats()
		for range 200 {
			if err := f.Step(); err != nil {
				t.Fatal(err)
			}
		}
		s := d.Stats()
		if s.Uploads != start.Uploads || s.Downloads != start.Downloads {
			t.Errorf("200 steps made %d uploads and %d downloads", s.Uploads-start.Uploads, s.Downloads-start.Downloads)
		}
		if s.LiveBytes != start.LiveBytes || s.PeakBytes != start.PeakBytes {
			t.Errorf("live bytes went from %d to %d, peak from %d to %d", start.LiveBytes, s.LiveBytes, start.PeakBytes, s.PeakBytes)
		}
		if n := s.Launches - start.Launches; n != 200*f.LaunchesPerStep() {
			t.Errorf("%d launches in 200 steps of %d", n, f.LaunchesPerStep())
		}
		if _, err := f.Loss(); err != nil {
			t.Fatal(err)
		}
		if s := d.Stats(); s.Downloads != start.Downloads+1 || s.DownloadBytes != start.DownloadBytes+4 {
			t.Errorf("reading the loss moved %d bytes", s.DownloadBytes-start.DownloadBytes)
		}
	})
}

// TestReproducible: one seed, one device, the same bits; another seed, others.
func TestReproducible(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		files := func(seed uint64) []byte {
			cfg := small()
			cfg.Seed, cfg.Steps = seed, 60
			f := run(t, d, smooth(20, 20), cfg)
			defer f.Free()
			var b bytes.Buffer
			if err := f.Model.Write(&b, FP32); err != nil {
				t.Fatal(err)
			}
			img, err := f.Model.Render(context.Background(), 20, 20)
			if err != nil {
				t.Fatal(err)
			}
			if err := img.WritePNG(&b); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		if !bytes.Equal(files(5), files(5)) {
			t.Error("the same seed gave other files")
		}
		if bytes.Equal(files(5), files(6)) {
			t.Error("another seed gave the same files")
		}
	})
}

// TestMandrill is the start of the reference run: PyTorch reaches 18.1 dB after 1,000 steps.
func TestMandrill(t *testing.T) {
	const path = "../../shared/images/mandrill.png"
	if _, err := os.Stat(path); err != nil || testing.Short() {
		t.Skip("the reference image is not there, or -short")
	}
	img, err := ReadImage(path)
	if err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		cfg := Defaults()
		cfg.Steps = 1000
		if p := psnrOf(t, run(t, d, img, cfg), img); p < 17.9 {
			t.Errorf("PSNR %.2f dB after 1000 steps, want at least 17.9", p)
		}
	})
}

// TestFusedQuality: the fused step reaches what the layers reach.
func TestFusedQuality(t *testing.T) {
	img := smooth(40, 28)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		cfg := small()
		fused := run(t, d, img, cfg)
		if on, why := fused.Fused(); !on {
			t.Fatalf("not fused: %v", why)
		}
		cfg.Eager = true
		plain := run(t, d, img, cfg)
		if on, _ := plain.Fused(); on {
			t.Error("fused in spite of Eager")
		}
		if a, b := psnrOf(t, fused, img), psnrOf(t, plain, img); math.Abs(a-b) > 1 {
			t.Errorf("fused %.2f dB, layer by layer %.2f dB", a, b)
		}
		if a, b := fused.LaunchesPerStep(), plain.LaunchesPerStep(); a >= b/2 {
			t.Errorf("%d launches fused, %d layer by layer", a, b)
		}
		cfg.Eager, cfg.Hidden = false, 132
		odd := run(t, d, img, cfg)
		if on, why := odd.Fused(); on || why == nil {
			t.Errorf("a width of 132: fused %v, %v", on, why)
		}
	})
}

func TestDivergence(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	cfg := small()
	cfg.LR = 1e38
	f, err := New(d, smooth(8, 8), cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Run(context.Background(), Watch{})
	if !errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), fmt.Sprint("at step ", f.Steps())) {
		t.Errorf("err = %v", err)
	}
}

func TestCancel(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f, err := New(d, smooth(8, 8), small())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	why, err := f.Run(ctx, Watch{Report: func(p Progress) {
		if p.Step >= 50 {
			cancel()
		}
	}})
	if err != nil || f.Steps() != 50 || why != Interrupted {
		t.Errorf("cancelled at step 50: stands at %d, %q, err %v", f.Steps(), why, err)
	}
	if _, err := f.Model.Render(ctx, 8, 8); !errors.Is(err, context.Canceled) {
		t.Errorf("render: err = %v", err)
	}
}

func TestConfig(t *testing.T) {
	for what, set := range map[string]func(*Config){
		"steps":        func(c *Config) { c.Steps = 0 },
		"batch":        func(c *Config) { c.Batch = -1 },
		"hidden":       func(c *Config) { c.Hidden = 0 },
		"layers":       func(c *Config) { c.Layers = 0 },
		"log-every":    func(c *Config) { c.LogEvery = 0 },
		"features":     func(c *Config) { c.Encoding.Features = 6 },
		"lr":           func(c *Config) { c.LR = math.NaN() },
		"lr-decay":     func(c *Config) { c.LRDecay = 1.5 },
		"weight-decay": func(c *Config) { c.WeightDecay = math.Inf(1) },
		"beta1":        func(c *Config) { c.Beta1 = 1 },
		"beta2":        func(c *Config) { c.Beta2 = -0.1 },
		"2³¹":          func(c *Config) { c.Batch = 1 << 30 },
	} {
		c := Defaults()
		set(&c)
		if err := c.Validate(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: err = %v", what, err)
		}
	}
	if err := Defaults().Validate(); err != nil {
		t.Error(err)
	}
}

// TestEncoding holds the features against their formula.
func TestEncoding(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const width, height, octaves = 7, 5, 10
		v, err := frequencies{octaves: octaves}.encode(autograd.Const(pixelCentres(d, 4, 2, 1, 3, width, height))).Value().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			pixel := (1+i/3)*width + 2 + i%3 // of a window three wide
			pos := []float64{(float64(pixel%width) + 0.5) / width, (float64(pixel/width) + 0.5) / height}
			for axis, p := range pos {
				if d.DefaultType().Size() == 4 {
					p = float64(float32(p))
				}
				for o := range octaves {
					sin, cos := math.Sincos(math.Pow(2, float64(o+1)) * math.Pi * p)
					at := (i*2*octaves + axis*octaves + o) * 2
					// A float32 position is off by up to 2⁻²⁴, which octave o magnifies.
					tol := 1e-6 + math.Pow(2, float64(o+2))*math.Pi*0x1p-24
					if math.Abs(v[at]-sin) > tol || math.Abs(v[at+1]-cos) > tol {
						t.Fatalf("pixel %d axis %d octave %d: %v %v, want %v %v", pixel, axis, o, v[at], v[at+1], sin, cos)
					}
				}
			}
		}
	})
}

// TestSampling: every pixel is drawn, equally often, with its own colour.
func TestSampling(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const width, height, n = 6, 4, 24000
		img := &Image{Width: width, Height: height}
		for i := range width * height * 3 {
			img.Pixels = append(img.Pixels, float32(i))
		}
		pixels := devtest.New(d, img.Pixels, width*height, 3)
		features, colours := sampleEncoded(pixels, tensor.NewRNG(4), n, width, height, 1)
		f, err := features.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		v, err := colours.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		hist := make([]int, width*height)
		for i := range n {
			// The first octave is one turn over the picture.
			turn := func(sin, cos float64) float64 { return math.Mod(math.Atan2(sin, cos)/(2*math.Pi)+1, 1) }
			x, y := turn(f[4*i], f[4*i+1])*width-0.5, turn(f[4*i+2], f[4*i+3])*height-0.5
			pixel := int(math.Round(y))*width + int(math.Round(x))
			hist[pixel]++
			if v[3*i] != float64(3*pixel) || v[3*i+2] != float64(3*pixel+2) {
				t.Fatalf("sample %d is pixel %d with colour %v", i, pixel, v[3*i:3*i+3])
			}
		}
		for pixel, h := range hist {
			if h < 800 || h > 1200 { // 1000 expected, standard deviation 31
				t.Errorf("pixel %d was drawn %d times", pixel, h)
			}
		}
	})
}

func encodePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// huge returns a PNG whose header claims the given size, and that holds next to nothing.
func huge(width, height uint32) []byte { return pngOf(width, height, 8, 2, nil) }

// pngOf returns a PNG of a colour type with the given rows, each after the byte of its filter.
func pngOf(width, height uint32, depth, colour byte, rows []byte) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		binary.Write(&b, binary.BigEndian, uint32(len(data)))
		body := append([]byte(kind), data...)
		b.Write(body)
		binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(header, depth, colour, 0, 0, 0))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(rows)
	z.Close()
	chunk("IDAT", packed.Bytes())
	chunk("IEND", nil)
	return b.Bytes()
}

func TestBadImage(t *testing.T) {
	whole := encodePNG(t, image.NewGray(image.Rect(0, 0, 30, 30)))
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"empty":      {nil, "empty"},
		"text":       {[]byte("not a picture"), "no picture that is known here: PNG, JPEG, WebP, GIF, BMP and TIFF are read"},
		"truncated":  {whole[:len(whole)-20], "damaged PNG: it ends too early"},
		"huge":       {huge(20000, 20000), "claims 20000×20000"},
		"impossible": {huge(1<<20, 1<<20), "more than"},
		"checksum":   {append(bytes.Clone(whole[:40]), append([]byte{whole[40] ^ 1}, whole[41:]...)...), "damaged PNG: invalid checksum"},
	} {
		if _, err := DecodeImage(c.raw); !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
	if _, err := ReadImage(filepath.Join(t.TempDir(), "none.png")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: err = %v", err)
	}
}

func FuzzDecodeImage(f *testing.F) {
	f.Add(encodePNG(f, image.NewGray(image.Rect(0, 0, 3, 2))))
	f.Add(huge(20000, 20000))
	f.Add(grayAlphaPNG())
	f.Add(oriented(encodeJPEG(f, image.NewGray(image.Rect(0, 0, 9, 7))), 6))
	f.Add(encodeTIFF(f, image.NewNRGBA64(image.Rect(0, 0, 5, 4))))
	f.Add(encodeBMP(f, image.NewGray(image.Rect(0, 0, 5, 4))))
	f.Add(encodeGIF(f, 5, 4, image.NewPaletted(image.Rect(1, 1, 3, 4), color.Palette{color.Black, color.White})))
	for _, webp := range []string{webpLossless, webpAlpha, webpLossy} {
		f.Add(fromHex(f, webp))
	}
	f.Add(rawTIFF([2]uint32{254, 1}, [2]uint32{256, 160}, [2]uint32{257, 120}, [2]uint32{330, 99}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		img, err := Bounds{Memory: 256 << 20}.DecodeImage(context.Background(), raw)
		if err != nil {
			if !errors.Is(err, ErrImage) && !errors.Is(err, ErrMemory) {
				t.Fatal(err)
			}
			return
		}
		if len(img.Pixels) != img.Width*img.Height*img.Channels() {
			t.Fatalf("%d×%d with %d values", img.Width, img.Height, len(img.Pixels))
		}
	})
}

func TestPSNR(t *testing.T) {
	a := &Image{Width: 1, Height: 1, Pixels: []float32{0, 0.5, 1.5}}
	b := &Image{Width: 1, Height: 1, Pixels: []float32{-3, 0.5, 1}}
	if p := PSNR(a, b); !math.IsInf(p, 1) {
		t.Errorf("images equal once clamped: %v dB", p)
	}
	b.Pixels[1] = 0.5 + 10.0/255
	if p, want := PSNR(a, b), 10*math.Log10(255*255/(100.0/3)); math.Abs(p-want) > 1e-9 {
		t.Errorf("%v dB, want %v", p, want)
	}
}

// edited returns an archive after an edit.
func edited(t *testing.T, raw []byte, edit func(map[string]npz.Array)) []byte {
	t.Helper()
	arrays, err := npz.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	edit(arrays)
	var b bytes.Buffer
	if err := npz.Write(&b, arrays); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestModelFile(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f := run(t, d, smooth(12, 9), small())
	var b bytes.Buffer
	if err := f.Model.Write(&b, FP32); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	m, err := DecodeModel(d, raw)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := f.Model.Render(context.Background(), 12, 9)
	got, err := m.Render(context.Background(), m.Width, m.Height)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the model read back draws another image (err %v)", err)
	}
	if _, err := m.Render(context.Background(), 0, 5); !errors.Is(err, ErrConfig) {
		t.Errorf("size 0×5: err = %v", err)
	}

	live := d.Stats().LiveBytes
	change := func(edit func(map[string]npz.Array)) []byte { return edited(t, raw, edit) }
	meta := func(edit func(*Spec)) func(map[string]npz.Array) {
		return func(a map[string]npz.Array) {
			spec := f.Model.Spec
			edit(&spec)
			if err := addJSON(a, metadataName, spec); err != nil {
				t.Fatal(err)
			}
		}
	}
	put := func(array string, i int, v float32) func(map[string]npz.Array) {
		return func(a map[string]npz.Array) { a[array].Data.([]float32)[i] = v }
	}
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"empty":           {nil, "npz"},
		"cut":             {raw[:len(raw)/2], "npz"},
		"no metadata":     {change(func(a map[string]npz.Array) { delete(a, metadataName) }), "metadata"},
		"bad metadata":    {change(func(a map[string]npz.Array) { a[metadataName] = npz.Array{Shape: []int{1}, Data: []uint8("{")} }), "metadata"},
		"format":          {change(meta(func(s *Spec) { s.Format = 99 })), "format 99"},
		"absurd layers":   {change(meta(func(s *Spec) { s.Network.Layers = 2000000000 })), "layers"},
		"absurd hidden":   {change(meta(func(s *Spec) { s.Network.Hidden = 2000000000 })), "hidden"},
		"absurd levels":   {change(meta(func(s *Spec) { s.Encoding = DefaultEncoding(Hash); s.Encoding.Levels, s.Encoding.Finest = 32, 32 })), "levels"},
		"another shape":   {change(meta(func(s *Spec) { s.Network.Hidden = 64 })), "the metadata says"},
		"another network": {change(meta(func(s *Spec) { s.Network.Activation = "sine" })), "sine"},
		"no encoding":     {change(meta(func(s *Spec) { s.Encoding.Kind = "" })), "no encoding"},
		"negative size":   {change(meta(func(s *Spec) { s.Width = -3 })), "-3"},
		"layer shape":     {change(func(a map[string]npz.Array) { a["layer1.bias"] = npz.Array{Shape: []int{1}, Data: []float32{0}} }), "layer1.bias"},
		"renamed":         {change(func(a map[string]npz.Array) { a["x"] = a["layer1.bias"]; delete(a, "layer1.bias") }), "layer1.bias"},
		"NaN":             {change(put("layer0.weight", 3, float32(math.NaN()))), `"layer0.weight" holds NaN at 3`},
		"infinite":        {change(put("layer1.bias", 0, float32(math.Inf(-1)))), `"layer1.bias" holds -Inf`},
		"overflowing":     {change(put("layer1.weight", 1, 3e38)), `"layer1.weight" holds 3e+38`},
		"steps below 0":   {change(meta(func(s *Spec) { s.Steps = -4 })), "steps is -4"},
		"no weights":      {change(meta(func(s *Spec) { s.Weights = "fp4" })), `there are no weights "fp4"`},
		"other weights":   {change(meta(func(s *Spec) { s.Weights = FP16 })), "holds float32: with the weights fp16 it holds float16"},
		"unknown entry":   {change(func(a map[string]npz.Array) { a["extra"] = npz.Array{Shape: []int{1}, Data: []float32{0}} }), `array "extra" belongs to no such model`},
		"a picture":       {encodePNG(t, image.NewGray(image.Rect(0, 0, 2, 2))), "it is a PNG picture, which mlpimage train learns"},
		"double weights": {change(func(a map[string]npz.Array) {
			a["layer1.bias"] = npz.Array{Shape: []int{32}, Data: make([]float64, 32)}
		}), "float64"},
	} {
		if _, err := DecodeModel(d, c.raw); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
		if _, err := Inspect(c.raw); !errors.Is(err, ErrModel) {
			t.Errorf("%s: Inspect: err = %v", name, err)
		}
	}
	if _, err := (Bounds{Memory: 1 << 10}).DecodeModel(d, raw); !errors.Is(err, ErrMemory) {
		t.Errorf("more than there may be: err = %v", err)
	}
	if now := d.Stats().LiveBytes; now != live {
		t.Errorf("failed reads left %d bytes behind", now-live)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(m)
}

// fuzzFit returns a fit of few weights.
func fuzzFit(t testing.TB, d tensor.Device) *Fit {
	cfg := Defaults()
	cfg.Encoding.Features, cfg.Hidden, cfg.Layers, cfg.Batch = 4, 2, 1, 4
	f, err := New(d, smooth(3, 2), cfg)
	if err == nil {
		err = f.Step()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func FuzzDecodeModel(f *testing.F) {
	d, err := tensor.Open("cpu")
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := fuzzFit(f, d).Model.Write(&b, FP32); err != nil {
		f.Fatal(err)
	}
	good := b.Bytes()
	f.Add(good, []byte{})
	arrays, err := npz.Read(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, arrays[metadataName].Data.([]uint8))
	f.Fuzz(func(t *testing.T, raw, metadata []byte) {
		if len(metadata) > 0 { // past the checksums of the archive
			raw = edited(t, good, func(a map[string]npz.Array) {
				a[metadataName] = npz.Array{Shape: []int{len(metadata)}, Data: metadata}
			})
		}
		if m, err := DecodeModel(d, raw); err == nil {
			m.Free()
		} else if !errors.Is(err, ErrModel) {
			t.Fatal(err)
		}
	})
}

func TestWriteDOT(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	cfg := small()
	f := run(t, d, smooth(6, 6), cfg)
	live, calls := d.Stats().LiveBytes, f.rng.Calls
	var b bytes.Buffer
	if err := f.WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"features", "layer0.weight", "colours", "target", "loss"} {
		if !strings.Contains(b.String(), w) {
			t.Errorf("no %q in the graph", w)
		}
	}
	if d.Stats().LiveBytes != live || f.rng.Calls != calls {
		t.Error("looking at the graph changed the run")
	}
}

func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	img := &Image{Width: 2, Height: 1, Pixels: []float32{1, 0, 0, 0, 0, 1}} // red, blue
	cfg := Defaults()
	cfg.Steps, cfg.Batch, cfg.Encoding.Features, cfg.LR = 200, 16, 4, 0.01
	f, err := New(d, img, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := f.Run(context.Background(), Watch{}); err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Model.Render(context.Background(), 2, 1)
	fmt.Println(PSNR(img, out) > 20, err)
	// Output: true <nil>
}
