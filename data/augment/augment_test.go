package augment_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data/augment"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// numbered returns pictures whose numbers all differ, as far as their type has so many.
func numbered(d tensor.Device, typ tensor.Type, shape ...int) *tensor.Tensor {
	n := 1
	for _, dim := range shape {
		n *= dim
	}
	return tensor.ArangeOf(d, typ, 1, float64(n+1), 1).Reshape(shape...)
}

// at returns a function that gives the numbers of [n, c, h, w], 0 outside.
func at(t *testing.T, x *tensor.Tensor) func(n, c, y, x int) float64 {
	v, s := devtest.Float64s(t, x), x.Shape()
	return func(n, c, y, x int) float64 {
		if y < 0 || x < 0 || y >= s[2] || x >= s[3] {
			return 0
		}
		return v[((n*s[1]+c)*s[2]+y)*s[3]+x]
	}
}

// TestRandomCrop: every crop is a window of its picture, in all channels the same; every place is as
// frequent as the others, and there is no other place.
func TestRandomCrop(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Float32, tensor.Uint8, tensor.Int16, tensor.Float16} {
			for _, c := range []struct{ n, channels, h, w, height, width, pad int }{
				{5, 2, 4, 3, 3, 2, 0}, {4, 1, 5, 5, 5, 5, 0}, {3, 3, 2, 4, 1, 1, 0}, {6, 1, 3, 3, 3, 3, 2}, {2, 2, 1, 1, 3, 3, 1}, {1, 1, 3, 7, 3, 1, 0},
			} {
				x := numbered(d, typ, c.n, c.channels, c.h, c.w)
				y := augment.RandomCrop(x, c.height, c.width, tensor.NewRNG(5), augment.CropOptions{Padding: c.pad})
				if y.Type() != typ || !slices.Equal(y.Shape(), []int{c.n, c.channels, c.height, c.width}) {
					t.Fatalf("%v of %+v: %v %v", typ, c, y.Type(), y.Shape())
				}
				for n := range c.n {
					if len(places(t, x, y, n, c.pad)) == 0 {
						t.Errorf("%v of %+v: picture %d is no window: %v", typ, c, n, devtest.Float64s(t, y))
					}
				}
			}
		}
		const n, seed = 3000, 9
		x := numbered(d, tensor.Float32, 1, 1, 3, 4).Expand(n, 1, 3, 4)
		counts := map[[2]int]int{}
		y := augment.RandomCrop(x, 2, 3, tensor.NewRNG(seed))
		for i := range n {
			counts[places(t, x, y, i, 0)[0]]++
		}
		for place, got := range counts {
			if math.Abs(float64(got)-n/4) > 5*math.Sqrt(n*3/16.) || len(counts) != 4 {
				t.Errorf("place %v came %d times of %d, one of %d", place, got, n, len(counts))
			}
		}
		a, b := augment.RandomCrop(x, 2, 3, tensor.NewRNG(seed)), augment.RandomCrop(x, 2, 3, &tensor.RNG{Seed: seed, Calls: 1})
		if !slices.Equal(devtest.Float64s(t, a), devtest.Float64s(t, y)) || slices.Equal(devtest.Float64s(t, b), devtest.Float64s(t, y)) {
			t.Error("crops do not follow from the RNG")
		}
		mirrored := augment.RandomCrop(numbered(d, tensor.Float32, 1, 1, 1, 3), 1, 5, tensor.NewRNG(1), augment.CropOptions{Padding: 1, Pad: tensor.PadOptions{Mode: tensor.PadReplicate}})
		if got := devtest.Float64s(t, mirrored); !slices.Equal(got, []float64{1, 1, 2, 3, 3}) {
			t.Errorf("padded with the nearest: %v", got)
		}
		turned := numbered(d, tensor.Float32, 2, 3, 4, 5).Transpose(0, 3, 2, 1)
		if y := augment.RandomCrop(turned, 2, 2, tensor.NewRNG(3)); len(places(t, turned.Contiguous(), y, 1, 0)) != 1 {
			t.Error("a crop of a view is no window of it")
		}
		if y := augment.RandomCrop(tensor.Zeros(d, 0, 3, 4, 4), 2, 2, tensor.NewRNG(1)); y.Len() != 0 || y.Shape()[2] != 2 {
			t.Errorf("no pictures: %v", y.Shape())
		}
	})
}

// places returns where picture n of y can be a window of that of x, which has so many zeros around.
func places(t *testing.T, x, y *tensor.Tensor, n, pad int) (found [][2]int) {
	from, to, s, w := at(t, x), at(t, y), x.Shape(), y.Shape()
	for top := -pad; top+w[2] <= s[2]+pad; top++ {
		for left := -pad; left+w[3] <= s[3]+pad; left++ {
			same := true
			for i := range w[1] * w[2] * w[3] {
				c, r, k := i/(w[2]*w[3]), i/w[3]%w[2], i%w[3]
				same = same && to(n, c, r, k) == from(n, c, top+r, left+k)
			}
			if same {
				found = append(found, [2]int{top, left})
			}
		}
	}
	return found
}

// TestRandomFlip: a picture is mirrored as a whole or not at all, as often as the probability says.
func TestRandomFlip(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 2000
		for _, f := range []struct {
			flip func(*tensor.Tensor, float64, *tensor.RNG) *tensor.Tensor
			axis int
		}{{augment.RandomHorizontalFlip, 3}, {augment.RandomVerticalFlip, 2}} {
			x := numbered(d, tensor.Uint8, 1, 2, 3, 5)
			mirrored, plain := devtest.Float64s(t, x.Flip(f.axis)), devtest.Float64s(t, x)
			for _, p := range []float64{0, 0.3, 1} {
				y := f.flip(x.Expand(n, 2, 3, 5), p, tensor.NewRNG(2))
				v, count := devtest.Float64s(t, y), 0.0
				for i := range n {
					switch got := v[i*len(plain):][:len(plain)]; {
					case slices.Equal(got, mirrored):
						count++
					case !slices.Equal(got, plain):
						t.Fatalf("axis %d: picture %d is %v", f.axis, i, got)
					}
				}
				if math.Abs(count-n*p) > 5*math.Sqrt(n*p*(1-p)) || y.Type() != tensor.Uint8 {
					t.Errorf("axis %d: %v of %d flipped at p = %v", f.axis, count, n, p)
				}
			}
			odd := numbered(d, tensor.Float32, 1, 1, 1, 1)
			if got := devtest.Float64s(t, f.flip(odd, 1, tensor.NewRNG(1))); got[0] != 1 {
				t.Errorf("one pixel: %v", got)
			}
		}
	})
}

// TestColorJitter: the numbers are those of the formulas in float64, of the factors that the RNG
// gives; no change copies.
func TestColorJitter(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const n, h, w = 4, 3, 5
		for _, channels := range []int{1, 3} {
			x := tensor.NewRNG(1).Uniform(d, 0, 1, n, channels, h, w)
			o := augment.JitterOptions{Brightness: 0.4, Contrast: 1.5, Saturation: 0.7}
			y := at(t, augment.ColorJitter(x, tensor.NewRNG(3), o))
			rng := tensor.NewRNG(3)
			var factors [3][]float64
			for i, v := range []float64{o.Brightness, o.Contrast, o.Saturation} {
				factors[i] = devtest.Float64s(t, rng.Uniform(d, max(0, 1-v), 1+v, n, 1, 1, 1))
			}
			from := at(t, x)
			unit := func(v float64) float64 { return min(max(v, 0), 1) }
			for i := range n {
				var picture [3][h * w]float64
				luminance := func(k int) float64 {
					if channels == 1 {
						return picture[0][k]
					}
					return 0.299*picture[0][k] + 0.587*picture[1][k] + 0.114*picture[2][k]
				}
				mean := 0.0
				for k := range h * w {
					for c := range channels {
						picture[c][k] = unit(from(i, c, k/w, k%w) * factors[0][i])
					}
					mean += luminance(k) / (h * w)
				}
				for k := range h * w {
					for c := range channels {
						picture[c][k] = unit(mean + factors[1][i]*(picture[c][k]-mean))
					}
					gray := luminance(k)
					for c := range channels {
						want := picture[c][k]
						if channels == 3 {
							want = unit(gray + factors[2][i]*(want-gray))
						}
						if got := y(i, c, k/w, k%w); math.Abs(got-want) > 2e-6 {
							t.Fatalf("picture %d, channel %d of %d, pixel %d: %v, want %v", i, c, channels, k, got, want)
						}
					}
				}
			}
		}
		x := tensor.NewRNG(1).Uniform(d, 0, 1, 2, 3, 2, 2)
		same := augment.ColorJitter(x, tensor.NewRNG(1), augment.JitterOptions{})
		if !slices.Equal(devtest.Float64s(t, same), devtest.Float64s(t, x)) {
			t.Error("no change changes")
		}
		same.FillInPlace(7)
		if devtest.Float64s(t, x)[0] == 7 {
			t.Error("no change returns x")
		}
		half := augment.ColorJitter(x.To(tensor.Float16), tensor.NewRNG(1), augment.JitterOptions{Contrast: 0.5})
		if half.Type() != tensor.Float16 {
			t.Errorf("of float16: %v", half.Type())
		}
	})
}

// TestRandomErasing: what is erased is a rectangle, of areas and ratios within their limits but for
// rounding, as often as the probability says.
func TestRandomErasing(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n, h, w, p = 400, 30, 40, 0.7
		x := tensor.Zeros(d, n, 2, h, w)
		v := at(t, augment.RandomErasing(x, p, tensor.NewRNG(4), augment.EraseOptions{Value: 1}))
		erased, tops, areas := 0.0, map[int]bool{}, 0.0
		for i := range n {
			top, left, bottom, right, count := h, w, -1, -1, 0
			for k := range h * w {
				if v(i, 0, k/w, k%w) != v(i, 1, k/w, k%w) {
					t.Fatalf("picture %d: channels differ", i)
				}
				if v(i, 0, k/w, k%w) == 1 {
					top, left, bottom, right, count = min(top, k/w), min(left, k%w), max(bottom, k/w), max(right, k%w), count+1
				}
			}
			if count == 0 {
				continue
			}
			erased++
			tops[top] = true
			down, across := float64(bottom+1-top), float64(right+1-left)
			areas += down * across
			if float64(count) != down*across {
				t.Fatalf("picture %d: %d pixels of %v × %v are erased", i, count, down, across)
			}
			if high := (down + 0.5) * (across + 0.5); high < 0.02*h*w || (down-0.5)*(across-0.5) > 0.33*h*w {
				t.Errorf("picture %d: %v × %v are erased", i, down, across)
			}
			if (down+0.5)/(across-0.5) < 0.3 || down < h && across < w && (down-0.5)/(across+0.5) > 3.3 {
				t.Errorf("picture %d: a ratio of %v to %v", i, down, across)
			}
		}
		if math.Abs(erased-n*p) > 5*math.Sqrt(n*p*(1-p)) || len(tops) < h/2 {
			t.Errorf("%v of %d pictures are erased, at %d heights", erased, n, len(tops))
		}
		if mean := areas / erased / (h * w); math.Abs(mean-0.175) > 0.03 {
			t.Errorf("the mean area is %v", mean)
		}
		whole := augment.RandomErasing(tensor.ZerosOf(d, tensor.Uint8, 2, 1, 3, 5), 1, tensor.NewRNG(1), augment.EraseOptions{Area: [2]float64{1, 1}, Ratio: [2]float64{0.6, 0.6}, Value: 9})
		if got := devtest.Float64s(t, whole); whole.Type() != tensor.Uint8 || slices.Min(got) != 9 {
			t.Errorf("all of a picture: %v", got)
		}
		if none := devtest.Float64s(t, augment.RandomErasing(x, 0, tensor.NewRNG(1), augment.EraseOptions{Value: 1})); slices.Max(none) != 0 {
			t.Error("something is erased at p = 0")
		}
	})
}

// TestNormalize: bytes are scaled, floats are not; a mean for all channels or one for each.
func TestNormalize(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		bytes := devtest.New(d, []uint8{0, 255, 51, 102}, 1, 2, 1, 2)
		floats := devtest.New(d, []float64{0, 1, 0.2, 0.4}, 1, 2, 1, 2)
		for _, x := range []*tensor.Tensor{bytes, floats} {
			y := augment.Normalize(x, []float64{0.5, 0.1}, []float64{0.5, 0.1})
			for i, want := range []float64{-1, 1, 1, 3} {
				if got := devtest.Float64s(t, y)[i]; math.Abs(got-want) > 1e-6 || y.Type() != d.DefaultType() {
					t.Errorf("of %v: number %d is %v, want %v", x.Type(), i, got, want)
				}
			}
			if y := augment.Normalize(x, []float64{0}, []float64{2}); math.Abs(devtest.Float64s(t, y)[1]-0.5) > 1e-7 {
				t.Errorf("one for all: %v", devtest.Float64s(t, y))
			}
		}
	})
}

// TestMisuse: what is wrong is named.
func TestMisuse(t *testing.T) {
	d, rng := devtest.CPU(t), tensor.NewRNG(1)
	x, ints := tensor.Zeros(d, 2, 3, 4, 4), tensor.ZerosOf(d, tensor.Uint8, 2, 3, 4, 4)
	for says, c := range map[string]struct {
		kind error
		f    func()
	}{
		"[n, channels, height, width]":          {tensor.ErrShape, func() { augment.RandomHorizontalFlip(x.Select(0, 0), 0.5, rng) }},
		"the tensor is nil":                     {tensor.ErrValue, func() { augment.RandomErasing(nil, 0.5, rng) }},
		"a window of 5 × 2":                     {tensor.ErrShape, func() { augment.RandomCrop(x, 5, 2, rng) }},
		"a window of 0 × 2":                     {tensor.ErrShape, func() { augment.RandomCrop(x, 0, 2, rng) }},
		"Padding is -1":                         {tensor.ErrValue, func() { augment.RandomCrop(x, 2, 2, rng, augment.CropOptions{Padding: -1}) }},
		"pass one augment.CropOptions":          {tensor.ErrValue, func() { augment.RandomCrop(x, 2, 2, rng, augment.CropOptions{}, augment.CropOptions{}) }},
		"the probability is NaN":                {tensor.ErrValue, func() { augment.RandomVerticalFlip(x, math.NaN(), rng) }},
		"the probability is 1.5":                {tensor.ErrValue, func() { augment.RandomErasing(x, 1.5, rng) }},
		"not uint8: x.To(tensor.Float32)":       {tensor.ErrType, func() { augment.ColorJitter(ints, rng, augment.JitterOptions{}) }},
		"numbers are 0 or more":                 {tensor.ErrValue, func() { augment.ColorJitter(x, rng, augment.JitterOptions{Contrast: -1}) }},
		"red, green and blue":                   {tensor.ErrShape, func() { augment.ColorJitter(x.Slice(1, 0, 2), rng, augment.JitterOptions{Contrast: 1}) }},
		"EraseOptions.Area is [0.5 0.2]":        {tensor.ErrValue, func() { augment.RandomErasing(x, 1, rng, augment.EraseOptions{Area: [2]float64{0.5, 0.2}}) }},
		"EraseOptions.Ratio is [0 1]":           {tensor.ErrValue, func() { augment.RandomErasing(x, 1, rng, augment.EraseOptions{Ratio: [2]float64{0, 1}}) }},
		"2 means and 1 deviations of 3":         {tensor.ErrShape, func() { augment.Normalize(x, []float64{1, 2}, []float64{1}) }},
		"deviation 0 of channel 0":              {tensor.ErrValue, func() { augment.Normalize(x, []float64{1}, []float64{0}) }},
		"alpha is 0":                            {tensor.ErrValue, func() { augment.NewMixUp(0) }},
		"make one with NewMixUp":                {tensor.ErrValue, func() { new(augment.MixUp).Apply(x, x, rng) }},
		"labels are [n, classes]":               {tensor.ErrShape, func() { augment.NewMixUp(1).Apply(x, tensor.Zeros(d, 3, 2), rng) }},
		"labels are [n, classes] for":           {tensor.ErrShape, func() { augment.NewMixUp(1).Apply(x, nil, rng) }},
		"the RNG is nil":                        {tensor.ErrValue, func() { augment.RandomCrop(x, 2, 2, nil) }},
		"MixUp.Apply: bad element type":         {tensor.ErrType, func() { augment.NewMixUp(1).Apply(ints, tensor.Zeros(d, 2, 2), rng) }},
		"Normalize: bad element type [2 3 4 4]": {tensor.ErrType, func() { augment.Normalize(x.To(tensor.Int32), []float64{0}, []float64{1}) }},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
}

// TestRecorded: a recorded step draws in each run what the eager step would, all functions in a row,
// and leaves no memory behind.
func TestRecorded(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		mix := augment.NewMixUp(0.4)
		images := devtest.New(d, slices.Repeat([]uint8{3, 50, 99, 170, 255, 0, 20}, 6*3*8*8/7+1)[:6*3*8*8], 6, 3, 8, 8)
		labels := devtest.New(d, []int64{0, 1, 2, 0, 1, 2})
		rng := tensor.NewRNG(8)
		step := func() ([]*tensor.Tensor, error) {
			var x, y *tensor.Tensor
			tensor.Scope(d, func() {
				x = augment.RandomCrop(images, 8, 8, rng, augment.CropOptions{Padding: 2})
				x = augment.RandomVerticalFlip(augment.RandomHorizontalFlip(x, 0.5, rng), 0.5, rng)
				x = augment.ColorJitter(x.To(d.DefaultType()).DivScalar(255), rng, augment.JitterOptions{Brightness: 0.3, Contrast: 0.3, Saturation: 0.3})
				x = augment.RandomErasing(augment.Normalize(x, []float64{0.5}, []float64{0.25}), 0.5, rng)
				x, y = mix.Apply(x, labels.OneHot(3), rng)
				x, y = x.Retain(), y.Retain()
			})
			return []*tensor.Tensor{x, y}, nil
		}
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		start := rng.Calls
		var runs [][]float64
		for range 5 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, slices.Concat(devtest.Float64s(t, rec.Outputs()[0]), devtest.Float64s(t, rec.Outputs()[1])))
		}
		calls := rng.Calls
		rng.Calls = start
		live := d.Stats().LiveBytes
		for i, got := range runs {
			out, _ := step()
			want := slices.Concat(devtest.Float64s(t, out[0]), devtest.Float64s(t, out[1]))
			if !slices.Equal(got, want) {
				t.Errorf("run %d differs from the step", i)
			}
			if i > 0 && slices.Equal(got, runs[i-1]) {
				t.Errorf("run %d is run %d again", i, i-1)
			}
			out[0].Free()
			out[1].Free()
		}
		if calls != rng.Calls {
			t.Errorf("the runs drew %d times, the steps %d", calls-start, rng.Calls-start)
		}
		if now := d.Stats().LiveBytes; now > live {
			t.Errorf("%d bytes are left behind", now-live)
		}
	}
	devtest.Each(t, false, check)
}
