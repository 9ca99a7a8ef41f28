package tensor_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// matrixDevices runs f on the devices under test as if they had matrix units: building such kernels
// takes OpenCL long, which is left to a sweep.
func matrixDevices(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	t.Helper()
	for _, sel := range devtest.Selected() {
		if sel != "cpu" && os.Getenv("CLGRAD_SWEEP") == "" {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Profile: true, SkipSelfTest: true}))
			tensorapi.Impl.AsMatrixUnits(d, false)
			f(t, d)
		})
	}
}

// TestConvMatrix: convolutions that are large enough are computed on matrix units, forward,
// transposed and their gradients, with what follows them and with images of which one has elements
// that are no sums of parts. They are those of float64 within the stated bound, and the same each
// time.
func TestConvMatrix(t *testing.T) {
	matrixDevices(t, func(t *testing.T, d tensor.Device) {
		const in, out, side = 33, 40, 13
		batch := d.Target().Units*(1<<22)/(in*out*9*side*side) + 1
		exact := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
		rng := tensor.NewRNG(3)
		x, g := rng.Uniform(d, -1, 1, batch, in, side, side), rng.Uniform(d, -1, 1, batch, out, side, side)
		w, b := rng.Uniform(d, -1, 1, out, in, 3, 3), rng.Uniform(d, -1, 1, out)
		for _, v := range []*tensor.Tensor{x, g} { // the last image has elements that are left to fma
			channel := v.Select(0, batch-1).Select(0, 3)
			channel.SetInPlace(channel.MulScalar(0x1p-116))
		}
		o, to := tensor.ConvOptions{Padding: []int{1}}, tensor.ConvTransposeOptions{Padding: []int{1}}
		s, _ := tensorapi.Impl.ConvShape(x, w, nil, []tensor.ConvOptions{o})
		compute := func(d tensor.Device) [][]float64 {
			on := func(x *tensor.Tensor) *tensor.Tensor { return devtest.New(d, devtest.Float64s(t, x), x.Shape()...) }
			x, w, b, g := on(x), on(w), on(b), on(g)
			dw, db := tensor.Zeros(d, w.Shape()...), tensor.Zeros(d, out)
			tensorapi.Impl.ConvWeightInto(dw, db, s, x, g)
			return [][]float64{devtest.Float64s(t, x.Conv(w, b, o)), devtest.Float64s(t, g.ConvTranspose(w, nil, to)), devtest.Float64s(t, dw), devtest.Float64s(t, db)}
		}
		got, again, want := compute(d), compute(d), compute(exact)
		for i, terms := range []int{in * 9, out * 9, batch * side * side, batch * side * side} {
			off, bound := 0.0, float64(terms+8)*0x1p-23*float64(terms)
			for k, v := range got[i] {
				off = max(off, math.Abs(v-want[i][k]))
			}
			if off > bound || !slices.Equal(got[i], again[i]) {
				t.Errorf("result %d is off by %g, and may be by %g; a second one is the same: %v", i, off, bound, slices.Equal(got[i], again[i]))
			}
		}
		times, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range times {
			names = append(names, k.Name)
		}
		for _, name := range []string{"k_conv_pack", "k_conv_matrix", "k_conv_matrix_weight"} {
			if !slices.Contains(names, name) {
				t.Errorf("no %s among %v", name, names)
			}
		}
	})
}

// TestConvMatrixStrange: infinities and NaN are those of other convolutions, where they were.
func TestConvMatrixStrange(t *testing.T) {
	matrixDevices(t, func(t *testing.T, d tensor.Device) {
		const channels, side = 16, 24
		batch := d.Target().Units*(1<<22)/(channels*channels*9*side*side) + 1
		h := make([]float64, batch*channels*side*side)
		for i := range h {
			h[i] = float64(i%7) - 3
		}
		h[100], h[5000], h[len(h)-1] = math.Inf(1), math.NaN(), math.Inf(-1)
		w := make([]float64, channels*channels*9)
		for i := range w {
			w[i] = float64(i%5) - 2
		}
		x, u := devtest.New(d, h, batch, channels, side, side), devtest.New(d, w, channels, channels, 3, 3)
		o := tensor.ConvOptions{Padding: []int{1}}
		all := devtest.Float64s(t, x.Conv(u, nil, o))
		size := channels * side * side
		for n := range batch { // one by one they are too small for matrix units
			for i, want := range devtest.Float64s(t, x.Slice(0, n, n+1).Conv(u, nil, o)) {
				if got := all[n*size+i]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("element %d of image %d is %v, want %v", i, n, got, want)
				}
			}
		}
	})
}
