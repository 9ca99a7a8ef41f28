package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// manyChannels are convolutions of 3×3 and 5×5 taps: images, channels read and written, sizes,
// taps, padding.
var manyChannels = [][7]int{{2, 16, 20, 14, 14, 5, 2}, {3, 33, 12, 11, 15, 3, 1}, {1, 12, 66, 10, 40, 3, 0}, {2, 20, 13, 12, 7, 5, 4}}

// TestConvOfManyChannels: a CPU computes such convolutions, their transposes and the gradients of
// their weights in tiles, as exactly as sums tap by tap, up to a small factor.
func TestConvOfManyChannels(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		reference := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
		if s, _ := tensorapi.Impl.ConvShape(tensor.Zeros(d, 1, 256, 16, 16), tensor.Zeros(d, 256, 256, 3, 3), nil,
			[]tensor.ConvOptions{{Padding: []int{1}}}); s.FitsWinograd(d.Target()) {
			t.Error("in tiles, with weights that fit in no cache")
		}
		eps, _ := d.DefaultType().Epsilon()
		for _, c := range manyChannels {
			rng := tensor.NewRNG(7)
			x, w, b := rng.Uniform(d, -1, 1, c[0], c[1], c[3], c[4]), rng.Uniform(d, -1, 1, c[2], c[1], c[5], c[5]), rng.Uniform(d, -1, 1, c[2])
			o := tensor.ConvOptions{Padding: []int{c[6]}}
			s, shape := tensorapi.Impl.ConvShape(x, w, b, []tensor.ConvOptions{o})
			if cl := d.Target().CPU && d.Target().LocalMem > 0; s.FitsWinograd(d.Target()) != cl {
				t.Errorf("%v: in tiles: %v", c, !cl)
			}
			g := rng.Uniform(d, -1, 1, shape...)
			gradients := func(x, g *tensor.Tensor) (dw, db *tensor.Tensor) {
				dw, db = tensor.Empty(x.Device(), w.Shape()...), tensor.Empty(x.Device(), b.Shape()...)
				tensorapi.Impl.ConvWeightInto(dw, db, s, x, g)
				return dw, db
			}
			there := func(x *tensor.Tensor) *tensor.Tensor {
				return devtest.New(reference, devtest.Float64s(t, x), x.Shape()...)
			}
			rx, rw, rb, rg := there(x), there(w), there(b), there(g)
			dw, db := gradients(x, g)
			rdw, rdb := gradients(rx, rg)
			for _, r := range []struct {
				name      string
				got, want *tensor.Tensor
				terms     int
			}{
				{"forward", x.Conv(w, b, o), rx.Conv(rw, rb, o), c[1] * c[5] * c[5]},
				{"no bias", x.Select(0, 0).Conv(w, nil, o), rx.Select(0, 0).Conv(rw, nil, o), c[1] * c[5] * c[5]},
				{"transposed", tensorapi.Impl.Conv("Conv", s, true, g, w, nil, x.Shape()), tensorapi.Impl.Conv("Conv", s, true, rg, rw, nil, x.Shape()), c[2] * c[5] * c[5]},
				{"weights", dw, rdw, c[0] * shape[2] * shape[3]},
				{"sums", db, rdb, c[0] * shape[2] * shape[3]},
			} {
				got, want := devtest.Float64s(t, r.got), devtest.Float64s(t, r.want)
				most, mean := 0.0, 0.0
				for i := range got {
					e := math.Abs(got[i] - want[i])
					most = max(most, e)
					mean += e / float64(len(got))
				}
				// A term of two such factors is 1/4 on the average; in order, sums are off by a few
				// ε·√terms.
				unit := eps * math.Sqrt(float64(r.terms))
				t.Logf("%v %s: off by %.2g at most, %.2g on the average, of %.2g", c, r.name, most, mean, unit)
				if !(most <= 32*unit && mean <= 2*unit) {
					t.Errorf("%v %s: off by %g at most, %g on the average, of %g", c, r.name, most, mean, unit)
				}
			}
		}
	})
}

// TestConvOfWildValues: what is not finite, and what is close to overflow, reaches those outputs
// that depend on it, and no other of its tile.
func TestConvOfWildValues(t *testing.T) {
	reference := devtest.Open(t, "cpu", tensor.Options{})
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range manyChannels {
			rng := tensor.NewRNG(3)
			x, w := rng.Uniform(reference, 0.5, 1, c[0], c[1], c[3], c[4]), rng.Uniform(reference, 0.5, 1, c[2], c[1], c[5], c[5])
			o := tensor.ConvOptions{Padding: []int{c[6]}}
			vx, vw := devtest.Float64s(t, x), devtest.Float64s(t, w)
			for i, wild := range []float64{math.Inf(1), math.NaN(), 1e37, math.Inf(-1)} {
				vx[(i*37+5)%len(vx)] = wild
			}
			vw[len(vw)/2] = math.Inf(1)
			for name, conv := range map[string]func(x, w *tensor.Tensor) *tensor.Tensor{
				"forward": func(x, w *tensor.Tensor) *tensor.Tensor { return x.Conv(w, nil, o) },
				"transposed": func(x, w *tensor.Tensor) *tensor.Tensor {
					return x.ConvTranspose(w.Transpose(1, 0, 2, 3), nil, tensor.ConvTransposeOptions{Padding: []int{1}})
				},
			} {
				got := devtest.Float64s(t, conv(devtest.New(d, vx, x.Shape()...), devtest.New(d, vw, w.Shape()...)))
				want := devtest.Float64s(t, conv(devtest.New(reference, vx, x.Shape()...), devtest.New(reference, vw, w.Shape()...)))
				for i, v := range want {
					// A finite value of its tile costs an output as much as the tile is exact.
					if off := math.Abs(got[i]) < 1e-4*1e37 && kind(v) == "small"; kind(got[i]) != kind(v) && !off {
						t.Fatalf("%v %s: element %d is %v, want %v", c, name, i, got[i], v)
					}
				}
			}
		}
	})
}

// kind tells infinities, NaN, and numbers that come of the one near overflow from others.
func kind(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case math.Abs(v) > 1e30:
		return "large"
	}
	return "small"
}

// TestConvLaunches: which kernels convolutions of many channels take on a CPU.
func TestConvLaunches(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{Profile: true})
		x, w := tensor.Full(d, 1, 1, 16, 12, 12), tensor.Full(d, 1, 16, 16, 3, 3)
		x.Conv(w, nil, tensor.ConvOptions{Padding: []int{1}}).Free()
		x.Conv(w, nil, tensor.ConvOptions{Stride: []int{2}}).Free()
		times, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range times {
			names = append(names, k.Name)
		}
		l := d.Target()
		if has := slices.Contains(names, "k_winograd"); has != (l.CPU && l.LocalMem > 0) {
			t.Errorf("%s: %v", sel, names)
		}
	}
}
