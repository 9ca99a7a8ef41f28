package imagefit

import (
	"bytes"
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
	c.Steps, c.Batch, c.Hidden, c.Features, c.LR, c.LogEvery = 300, 128, 32, 16, 5e-3, 50
	return c
}

func run(t *testing.T, d tensor.Device, img *Image, cfg Config) *Fit {
	t.Helper()
	f, err := New(d, img, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(context.Background(), func(Progress) {}); err != nil {
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

// TestFit trains on a picture that is not square, on every device: it learns it, and the devices agree.
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

// TestNoTransfers: after the first step, nothing moves between host and device but a logged loss, and
// memory stays flat.
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
			if err := f.Model.Write(&b); err != nil {
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
	img, err := ReadPNG(path)
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

// TestFusedQuality: the fused pass reaches what the layers reach.
func TestFusedQuality(t *testing.T) {
	img := smooth(40, 28)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		cfg := small()
		fused := run(t, d, img, cfg)
		if on, why := fused.Fused(); !on {
			t.Fatalf("not fused: %v", why)
		}
		cfg.NoFuse = true
		plain := run(t, d, img, cfg)
		if on, _ := plain.Fused(); on {
			t.Error("fused in spite of NoFuse")
		}
		if a, b := psnrOf(t, fused, img), psnrOf(t, plain, img); math.Abs(a-b) > 1 {
			t.Errorf("fused %.2f dB, layer by layer %.2f dB", a, b)
		}
		if a, b := fused.LaunchesPerStep(), plain.LaunchesPerStep(); a >= b/2 {
			t.Errorf("%d launches fused, %d layer by layer", a, b)
		}
		cfg.NoFuse, cfg.Hidden = false, 20
		odd := run(t, d, img, cfg)
		if on, why := odd.Fused(); on || why == nil {
			t.Errorf("a width of 20: fused %v, %v", on, why)
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
	err = f.Run(context.Background(), func(Progress) {})
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
	if err := f.Run(ctx, func(p Progress) {
		if p.Step >= 50 {
			cancel()
		}
	}); err != nil || f.Steps() != 50 {
		t.Errorf("cancelled at step 50: stands at %d, err %v", f.Steps(), err)
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
		"features":     func(c *Config) { c.Features = 6 },
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
		v, err := encode(pixelCentres(d, 4, 2, 1, 3, width, height), octaves).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			pixel := (1+i/3)*width + 2 + i%3 // of a window three wide
			pos := []float64{(float64(pixel%width) + 0.5) / width, (float64(pixel/width) + 0.5) / height}
			for axis, p := range pos {
				if d.Real().Size() == 4 {
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
		for i := range width * height * Channels {
			img.Pixels = append(img.Pixels, float32(i))
		}
		pixels := tensor.New(d, img.Pixels, width*height, Channels)
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

func TestDecodePNG(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	gray := image.NewGray(r)
	gray.SetGray(1, 0, color.Gray{51})
	deep := image.NewGray16(r)
	deep.SetGray16(1, 0, color.Gray16{257})
	palette := image.NewPaletted(r, color.Palette{color.Black, color.RGBA{255, 0, 51, 255}})
	palette.SetColorIndex(1, 0, 1)
	alpha := image.NewNRGBA(r)
	alpha.SetNRGBA(1, 0, color.NRGBA{255, 0, 0, 51}) // a fifth of red over white; the other is clear
	for name, c := range map[string]struct {
		m    image.Image
		want []float32
	}{
		"gray":    {gray, []float32{0, 0, 0, 0.2, 0.2, 0.2}},
		"16-bit":  {deep, []float32{0, 0, 0, 1.0 / 255, 1.0 / 255, 1.0 / 255}},
		"palette": {palette, []float32{0, 0, 0, 1, 0, 0.2}},
		"alpha":   {alpha, []float32{1, 1, 1, 1, 0.8, 0.8}},
	} {
		img, err := DecodePNG(encodePNG(t, c.m))
		if err != nil {
			t.Fatal(name, err)
		}
		for i, v := range c.want {
			if math.Abs(float64(img.Pixels[i]-v)) > 1e-4 {
				t.Errorf("%s: pixels %v, want %v", name, img.Pixels, c.want)
				break
			}
		}
	}
}

// huge returns a PNG whose header claims the given size, and that holds next to nothing.
func huge(width, height uint32) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		binary.Write(&b, binary.BigEndian, uint32(len(data)))
		body := append([]byte(kind), data...)
		b.Write(body)
		binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(header, 8, 2, 0, 0, 0))
	chunk("IDAT", []byte{0x78, 0x9c, 3, 0})
	chunk("IEND", nil)
	return b.Bytes()
}

func TestBadPNG(t *testing.T) {
	whole := encodePNG(t, image.NewGray(image.Rect(0, 0, 30, 30)))
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"empty":      {nil, "empty"},
		"text":       {[]byte("not a picture"), "PNG"},
		"truncated":  {whole[:len(whole)-20], "unexpected EOF"},
		"huge":       {huge(20000, 30000), "claims 20000×30000"},
		"impossible": {huge(1<<20, 1<<20), "more than"},
		"checksum":   {append(bytes.Clone(whole[:40]), append([]byte{whole[40] ^ 1}, whole[41:]...)...), "PNG"},
	} {
		if _, err := DecodePNG(c.raw); !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
	if _, err := ReadPNG(filepath.Join(t.TempDir(), "none.png")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: err = %v", err)
	}
}

func FuzzDecodePNG(f *testing.F) {
	f.Add(encodePNG(f, image.NewGray(image.Rect(0, 0, 3, 2))))
	f.Add(huge(20000, 30000))
	f.Fuzz(func(t *testing.T, raw []byte) {
		img, err := DecodePNG(raw)
		if err != nil {
			if !errors.Is(err, ErrImage) {
				t.Fatal(err)
			}
			return
		}
		if len(img.Pixels) != img.Width*img.Height*Channels {
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

func TestModelFile(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f := run(t, d, smooth(12, 9), small())
	var b bytes.Buffer
	if err := f.Model.Write(&b); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	m, err := decodeModel(d, raw)
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
	change := func(edit func(map[string]npz.Array)) []byte {
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
	meta := func(text string) func(map[string]npz.Array) {
		return func(a map[string]npz.Array) {
			a[metadataName] = npz.Array{Shape: []int{len(text)}, Data: []uint8(text)}
		}
	}
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"empty":         {nil, "npz"},
		"cut":           {raw[:len(raw)/2], "npz"},
		"no metadata":   {change(func(a map[string]npz.Array) { delete(a, metadataName) }), "metadata"},
		"bad metadata":  {change(meta("{")), "metadata"},
		"format":        {change(meta(`{"format":99}`)), "format 99"},
		"absurd layers": {change(meta(`{"format":1,"width":3,"height":3,"features":16,"hidden":32,"layers":2000000000}`)), "layers"},
		"absurd hidden": {change(meta(`{"format":1,"width":3,"height":3,"features":16,"hidden":2000000000,"layers":3}`)), "hidden"},
		"another shape": {change(meta(`{"format":1,"width":3,"height":3,"features":16,"hidden":64,"layers":3}`)), "[16 32]"},
		"negative size": {change(meta(`{"format":1,"width":-3,"height":3,"features":16,"hidden":32,"layers":3}`)), "-3"},
		"layer shape":   {change(func(a map[string]npz.Array) { a["layer1.bias"] = npz.Array{Shape: []int{1}, Data: []float32{0}} }), "layer1.bias"},
		"renamed":       {change(func(a map[string]npz.Array) { a["x"] = a["layer1.bias"]; delete(a, "layer1.bias") }), "layer1.bias"},
		"double weights": {change(func(a map[string]npz.Array) {
			a["layer1.bias"] = npz.Array{Shape: []int{32}, Data: make([]float64, 32)}
		}), "float64"},
	} {
		if _, err := decodeModel(d, c.raw); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
	if now := d.Stats().LiveBytes; now != live {
		t.Errorf("failed reads left %d bytes behind", now-live)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(m)
}

func FuzzDecodeModel(f *testing.F) {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := newModel(d, Spec{format, 3, 2, 4, 2, 1}, tensor.NewRNG(1)).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := decodeModel(d, raw); err == nil {
			m.free()
		} else if !errors.Is(err, ErrModel) {
			t.Fatal(err)
		}
	})
}

func TestWriteDOT(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	cfg := small()
	cfg.NoFuse = true // the fused pass is one node
	f := run(t, d, smooth(6, 6), cfg)
	live, calls := d.Stats().LiveBytes, f.rng.Calls
	var b bytes.Buffer
	if err := f.WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"features", "layer0.weight", "colours", "target", "loss", "k_sample_encode"} {
		if !strings.Contains(b.String(), w) {
			t.Errorf("no %q in the graph", w)
		}
	}
	if d.Stats().LiveBytes != live || f.rng.Calls != calls {
		t.Error("looking at the graph changed the run")
	}
}

func Example() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	img := &Image{Width: 2, Height: 1, Pixels: []float32{1, 0, 0, 0, 0, 1}} // red, blue
	cfg := Defaults()
	cfg.Steps, cfg.Batch, cfg.Features, cfg.LR = 200, 16, 4, 0.01
	f, err := New(d, img, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := f.Run(context.Background(), func(Progress) {}); err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Model.Render(context.Background(), 2, 1)
	fmt.Println(PSNR(img, out) > 20, err)
	// Output: true <nil>
}
