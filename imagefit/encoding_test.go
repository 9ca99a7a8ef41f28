package imagefit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// grayAlpha returns an image of the red and the green of another, as gray and alpha in 16 bits.
func grayAlpha(rgb *Image) *Image {
	img := &Image{Width: rgb.Width, Height: rgb.Height, Colour: Colour{Gray: true, Alpha: true, Deep: true}}
	for i := 0; i < len(rgb.Pixels); i += 3 {
		img.Pixels = append(img.Pixels, rgb.Pixels[i:i+2]...)
	}
	return img
}

func smallOf(kind string) Config {
	c := DefaultsFor(kind)
	c.Steps, c.Batch, c.Hidden, c.LogEvery = 300, 256, 32, 50
	switch kind {
	case Frequency:
		c.LR, c.Encoding.Features = 5e-3, 16
	case Fourier:
		c.Encoding.Features, c.Encoding.Sigma = 32, 2
	case Hash:
		c.Encoding.Levels, c.Encoding.Coarsest, c.Encoding.Table, c.Encoding.PerEntry = 4, 4, 256, 2
	}
	return c
}

// TestEncodings: a fit with each encoding, loss and kind of colour learns its image on every
// device, and the devices agree.
func TestEncodings(t *testing.T) {
	for _, kind := range Encodings {
		for _, loss := range Losses {
			t.Run(kind+"/"+loss, func(t *testing.T) {
				if testing.Short() && (kind == SIREN || loss == L1) {
					t.Skip("slow")
				}
				img := smooth(40, 28)
				if loss == L1 {
					img = grayAlpha(img)
				}
				var results []float64
				devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
					live := d.Stats().LiveBytes
					cfg := smallOf(kind)
					cfg.Loss = loss
					f := run(t, d, img, cfg)
					p := psnrOf(t, f, img)
					if p < 20 {
						t.Errorf("PSNR %.2f dB after %d steps", p, f.Steps())
					}
					results = append(results, p)
					mse, err := f.MSE()
					if err != nil || math.Abs(psnrOfMSE(mse)-p) > 5 {
						t.Errorf("estimate %.2f dB, measured %.2f (err %v)", psnrOfMSE(mse), p, err)
					}
					f.Free()
					if now := d.Stats().LiveBytes; now != live {
						t.Errorf("%d bytes live before, %d after Free", live, now)
					}
				})
				for _, p := range results {
					if math.Abs(p-results[0]) > 4 { // the last steps of a short run differ that much
						t.Errorf("devices disagree: %v", results)
					}
				}
			})
		}
	}
}

// TestHashGPU: the gradient of the table in fixed point, as GPUs compute it, trains as well as the
// sums of a CPU, and repeats its bits.
func TestHashGPU(t *testing.T) {
	if !devtest.More() {
		t.Skip("make test-more runs it: a CPU is slow in the kernels for GPUs")
	}
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		img, cfg := smooth(40, 28), smallOf(Hash)
		d := devtest.Open(t, sel, devtest.GPUKernels())
		a, b := run(t, d, img, cfg), run(t, d, img, cfg)
		if pa, pb := psnrOf(t, a, img), psnrOf(t, b, img); pa < 20 || pa != pb {
			t.Errorf("PSNR %v and %v dB", pa, pb)
		}
	}
}

// TestSamplePixels: the same pixels, with the same colours, whether the encoding is part of the
// launch or not.
func TestSamplePixels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		img := smooth(9, 7)
		pixels := devtest.New(d, img.Pixels, 63, 3)
		positions, a := samplePixels(pixels, tensor.NewRNG(5), 30, 9, 7)
		features, b := sampleEncoded(pixels, tensor.NewRNG(5), 30, 9, 7, 4)
		equal(t, "colours", a, b)
		equal(t, "features", frequencies{octaves: 4}.encode(autograd.Const(positions)).Value(), features)
	})
}

func equal(t *testing.T, what string, a, b *tensor.Tensor) {
	t.Helper()
	x, err := a.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-5 {
			t.Fatalf("%s: element %d is %v and %v", what, i, x[i], y[i])
		}
	}
}

func TestEncodingSettings(t *testing.T) {
	for say, set := range map[string]func(*Config){
		"no encoding":           func(c *Config) { c.Encoding.Kind = "wavelets" },
		"sigma is a setting":    func(c *Config) { c.Encoding.Sigma = 3 },
		"omega is 0":            func(c *Config) { c.Encoding = Encoding{Kind: SIREN} },
		"sigma is NaN":          func(c *Config) { c.Encoding = DefaultEncoding(Fourier); c.Encoding.Sigma = math.NaN() },
		"a multiple of 2":       func(c *Config) { c.Encoding = DefaultEncoding(Fourier); c.Encoding.Features = 7 },
		"table is 1000":         func(c *Config) { c.Encoding = DefaultEncoding(Hash); c.Encoding.Table = 1000 },
		"levels is 99":          func(c *Config) { c.Encoding = DefaultEncoding(Hash); c.Encoding.Levels = 99 },
		"finest is 3":           func(c *Config) { c.Encoding = DefaultEncoding(Hash); c.Encoding.Finest = 3 },
		"coarsest is 0":         func(c *Config) { c.Encoding = DefaultEncoding(Hash); c.Encoding.Coarsest = 0 },
		"per-entry is 9":        func(c *Config) { c.Encoding = DefaultEncoding(Hash); c.Encoding.PerEntry = 9 },
		"there is no loss \"\"": func(c *Config) { c.Loss = "" },
	} {
		c := Defaults()
		set(&c)
		if err := c.Validate(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), say) {
			t.Errorf("err = %v, want one that says %q", err, say)
		}
	}
	for _, kind := range Encodings {
		if err := DefaultsFor(kind).Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range Presets {
		for _, size := range [][2]int{{1, 1}, {512, 512}, {1, 9000}, {12000, 9000}} {
			c, err := Preset(name, size[0], size[1])
			if err != nil || c.Validate() != nil {
				t.Errorf("preset %s at %v: %v, %v", name, size, err, c.Validate())
			}
			if _, err := newSpec(&Image{Width: size[0], Height: size[1]}, c); err != nil {
				t.Errorf("preset %s at %v: %v", name, size, err)
			}
		}
	}
	for _, small := range []struct{ width, height, batch int }{{1, 1, 1}, {64, 48, 2048}, {512, 512, 8192}} {
		if c, err := Preset(Good, small.width, small.height); err != nil || c.Batch != small.batch {
			t.Errorf("good at %d×%d has batch %d, want %d (%v)", small.width, small.height, c.Batch, small.batch, err)
		}
	}
	if c, err := Preset(Classic, 512, 512); err != nil || c != Defaults() {
		t.Errorf("classic is %+v: %v", c, err)
	}
	if _, err := Preset("perfect", 3, 3); !errors.Is(err, ErrConfig) {
		t.Errorf("err = %v", err)
	}
	huge := DefaultsFor(Hash)
	huge.Encoding.Levels, huge.Encoding.Coarsest, huge.Encoding.Finest, huge.Encoding.Table = 32, 30000, 32000, maxTable
	if _, err := newSpec(&Image{Width: 32000, Height: 32000}, huge); !errors.Is(err, ErrConfig) {
		t.Errorf("a table of 2³¹ numbers: err = %v", err)
	}
}

// TestMeanLoss: a report has the mean error of a value, whatever the batch and the channels, so its
// PSNR follows from it.
func TestMeanLoss(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, batch := range []int{16, 256} {
		cfg := small()
		cfg.Batch, cfg.Steps = batch, 20
		f, err := New(d, smooth(24, 16), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var last Progress
		if _, err := f.Run(t.Context(), Watch{Report: func(p Progress) { last = p }}); err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(-10*math.Log10(last.Loss) - last.PSNR); !(off < 1e-6) {
			t.Errorf("batch %d: the loss is %v, the PSNR %v dB", batch, last.Loss, last.PSNR)
		}
		f.Free()
	}
}

// TestUntilFlat: a run ends by itself, at the PSNR or the time asked for, and says why.
func TestUntilFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(24, 16)
	preset, err := Preset(Fast, 24, 16)
	if err != nil {
		t.Fatal(err)
	}
	preset.Batch, preset.Schedule, preset.LRDecay, preset.UntilFlat, preset.Steps = 128, Exponential, 0.99, true, 100_000
	for _, c := range []struct {
		cfg  Config
		w    Watch
		want Reason
	}{
		{preset, Watch{}, Flat},
		{preset, Watch{PSNR: 15}, ReachedPSNR},
		{preset, Watch{Time: 1}, OutOfTime},
		{small(), Watch{}, AllSteps},
		{small(), Watch{PSNR: 15}, ReachedPSNR},
	} {
		f, err := New(d, img, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var last Progress
		c.w.Report = func(p Progress) { last = p }
		why, err := f.Run(context.Background(), c.w)
		if err != nil || why != c.want || last.Step != f.Steps() {
			t.Errorf("%+v: ended because %q after %d steps, reported %d (err %v)", c.w, why, f.Steps(), last.Step, err)
		}
		if p := psnrOf(t, f, img); why == ReachedPSNR && p < 15 {
			t.Errorf("ended at %v dB", p)
		}
		if again, err := f.Run(context.Background(), Watch{}); c.want == Flat && (err != nil || again != Flat) {
			t.Errorf("run once more: %q, %v", again, err)
		}
		// Whatever ended it, it is at its end when it is resumed.
		saved, err := DecodeCheckpoint(checkpointOf(t, f))
		if err != nil {
			t.Fatal(err)
		}
		steps := f.Steps()
		f.Free()
		if f, err = Resume(d, img, saved, c.cfg); err != nil {
			t.Fatal(err)
		}
		c.w.Report = func(p Progress) { t.Errorf("%q: a step more after the end", c.want) }
		if again, err := f.Run(context.Background(), c.w); err != nil || again != c.want || f.Steps() != steps {
			t.Errorf("resumed after it ended because %q: %q after %d of %d steps (err %v)", c.want, again, f.Steps(), steps, err)
		}
		f.Free()
	}
	exact := flatness(slices.Repeat([]float64{1e-9}, leastWindow))
	if !exact.exact(255) || exact.exact(65535) {
		t.Error("an error of 1e-9 is exact in 8 bits, and not in 16")
	}
	if exact[1:].exact(255) || append(exact[1:], 1e-3).exact(255) {
		t.Error("few readings, or one that is not small, are exact")
	}
}
