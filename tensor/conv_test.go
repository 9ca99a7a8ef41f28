package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// count returns 1, 2, 3, … under a shape.
func count(d tensor.Device, shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i + 1)
	}
	return devtest.New(d, v, shape...)
}

// TestConvOperands: non-contiguous views, other types than floats, none of a batch and a bias of a
// view are as good as what they are copies of.
func TestConvOperands(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, w, b := count(d, 2, 5, 6, 3).Transpose(0, 3, 1, 2), count(d, 3, 2, 4, 3).Transpose(2, 3, 1, 0), count(d, 8).Step(0, 2)
		o := tensor.ConvOptions{Stride: []int{2, 1}, Padding: []int{1}}
		want := devtest.Float64s(t, x.Copy().Conv(w.Copy(), b.Copy(), o))
		same := func(what string, got *tensor.Tensor) {
			t.Helper()
			if v := devtest.Float64s(t, got); !slices.Equal(v, want) {
				t.Errorf("%s: %v, want %v", what, v, want)
			}
		}
		same("views", x.Conv(w, b, o))
		same("integers", x.To(tensor.Int32).Conv(w, b.To(tensor.Uint8), o))
		same("weights of float16", x.Conv(w.To(tensor.Float16), b, o))
		first, second := x.Select(0, 0).Conv(w, b, o), x.Select(0, 1).Conv(w, b, o)
		if got := fmt.Sprint(first.Shape(), x.Conv(w, b, o).Shape()); got != "[4 3 6] [2 4 3 6]" {
			t.Errorf("shapes %v", got)
		}
		if v := append(devtest.Float64s(t, first), devtest.Float64s(t, second)...); !slices.Equal(v, want) {
			t.Errorf("images one by one: %v, want %v", v, want)
		}
	})
}

// TestConvFlat: axes of one position, and those without taps, change no result: convolutions with other axes give it, too.
func TestConvFlat(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		same := func(what string, got, want *tensor.Tensor) {
			t.Helper()
			if v, w := devtest.Float64s(t, got), devtest.Float64s(t, want); !slices.Equal(v, w) {
				t.Errorf("%s: %v, want %v", what, v, w)
			}
		}
		for _, n := range []int{1, 7, 300} {
			x, w, b := count(d, 2, 3, n, 1).MulScalar(1./64), count(d, 4, 3, 1, 1), count(d, 4)
			line := x.Reshape(2, 3, n)
			rows := x.Transpose(0, 2, 3, 1).MatMul(w.Reshape(4, 3).Transpose(1, 0)).Add(b).Transpose(0, 3, 1, 2)
			same(fmt.Sprintf("pointwise, %d positions", n), x.Conv(w, b), rows)
			same(fmt.Sprintf("pointwise, in 3 axes of %d", n), x.Reshape(2, 3, 1, n, 1).Conv(w.Reshape(4, 3, 1, 1, 1), b), rows)
			taps, pad := count(d, 4, 3, 3, 1), tensor.ConvOptions{Padding: []int{2, 0}, Stride: []int{2, 1}, Dilation: []int{2, 1}}
			same(fmt.Sprintf("column of %d", n), x.Conv(taps, b, pad),
				line.Conv(taps.Reshape(4, 3, 3), b, tensor.ConvOptions{Padding: []int{2}, Stride: []int{2}, Dilation: []int{2}}))
		}
	})
}

// TestConvNothing: of no images there is no result, and of no channels the bias.
func TestConvNothing(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		b := count(d, 2)
		if y := tensor.Zeros(d, 0, 3, 4, 4).Conv(tensor.Zeros(d, 2, 3, 3, 3), b); fmt.Sprint(y.Shape()) != "[0 2 2 2]" {
			t.Errorf("no image: %v", y.Shape())
		}
		if v := devtest.Float64s(t, tensor.Zeros(d, 1, 0, 3).Conv(tensor.Zeros(d, 2, 0, 2), b)); !slices.Equal(v, []float64{1, 1, 2, 2}) {
			t.Errorf("no channel: %v", v)
		}
		if v := devtest.Float64s(t, tensor.Zeros(d, 1, 0, 1).ConvTranspose(tensor.Zeros(d, 0, 2, 2), b)); !slices.Equal(v, []float64{1, 1, 2, 2}) {
			t.Errorf("no channel, transposed: %v", v)
		}
		if v := devtest.Float64s(t, tensor.Zeros(d, 1, 1, 0).Conv(count(d, 1, 1, 2), b.Slice(0, 1, 2), tensor.ConvOptions{Padding: []int{1}})); !slices.Equal(v, []float64{2}) {
			t.Errorf("padding alone: %v", v)
		}
		if y := count(d, 1, 1, 4).Conv(tensor.Zeros(d, 0, 1, 2), nil); fmt.Sprint(y.Shape()) != "[1 0 3]" {
			t.Errorf("no output: %v", y.Shape())
		}
	})
}

// TestConvFar: strides, dilations and padding far beyond the input, which no block of a kernel
// holds.
func TestConvFar(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, w := count(d, 1, 1, 200_000), devtest.New(d, []float64{1, 10}, 1, 1, 2)
		y := devtest.Float64s(t, x.Conv(w, nil, tensor.ConvOptions{Dilation: []int{199_998}}))
		if want := []float64{1 + 10*199_999, 2 + 10*200_000}; !slices.Equal(y, want) {
			t.Errorf("dilation: %v, want %v", y, want)
		}
		if y := devtest.Float64s(t, x.Conv(w, nil, tensor.ConvOptions{Stride: []int{math.MaxInt32 / 4}})); !slices.Equal(y, []float64{21}) {
			t.Errorf("stride: %v", y)
		}
		z := devtest.New(d, []float64{1, 2}, 1, 1, 2).ConvTranspose(w, nil, tensor.ConvTransposeOptions{Stride: []int{1000}, Dilation: []int{100_000}})
		sum := 0.0
		for i, v := range devtest.Float64s(t, z) {
			sum += v * float64(i)
		}
		if want := 2.*1000 + 10*100_000 + 20*101_000; z.Len() != 101_001 || sum != want {
			t.Errorf("transposed: %d elements, %v, want %v", z.Len(), sum, want)
		}
		p := tensor.ConvOptions{Padding: []int{100_000}, Stride: []int{100_000}}
		if y := devtest.Float64s(t, count(d, 1, 1, 2).Conv(w, nil, p)); !slices.Equal(y, []float64{0, 21, 0}) {
			t.Errorf("padding: %v", y)
		}
	})
}

// TestConvMisuse: what is wrong is said, and nothing is computed.
func TestConvMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, w := tensor.Zeros(d, 1, 4, 5, 5), tensor.Zeros(d, 6, 4, 3, 3)
	type options = tensor.ConvOptions
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"nil":                {tensor.ErrValue, func() { x.Conv(nil, nil) }},
		"freed bias":         {tensor.ErrFreed, func() { b := tensor.Zeros(d, 6); b.Free(); x.Conv(w, b) }},
		"a matrix":           {tensor.ErrShape, func() { x.Conv(tensor.Zeros(d, 6, 4), nil) }},
		"four axes":          {tensor.ErrShape, func() { x.Conv(tensor.Zeros(d, 6, 4, 1, 1, 1, 1), nil) }},
		"rank":               {tensor.ErrShape, func() { tensor.Zeros(d, 4, 5).Conv(w, nil) }},
		"channels":           {tensor.ErrShape, func() { tensor.Zeros(d, 1, 3, 5, 5).Conv(w, nil) }},
		"groups of channels": {tensor.ErrShape, func() { x.Conv(w, nil, options{Groups: 2}) }},
		"groups of outputs":  {tensor.ErrShape, func() { x.Conv(tensor.Zeros(d, 5, 2, 3, 3), nil, options{Groups: 2}) }},
		"groups below 0":     {tensor.ErrValue, func() { x.Conv(w, nil, options{Groups: -1}) }},
		"bias":               {tensor.ErrShape, func() { x.Conv(w, tensor.Zeros(d, 5)) }},
		"bias of two axes":   {tensor.ErrShape, func() { x.Conv(w, tensor.Zeros(d, 6, 1)) }},
		"larger than input":  {tensor.ErrShape, func() { x.Conv(w, nil, options{Dilation: []int{3}}) }},
		"no weights":         {tensor.ErrShape, func() { x.Conv(tensor.Zeros(d, 6, 4, 0, 3), nil) }},
		"stride 0":           {tensor.ErrValue, func() { x.Conv(w, nil, options{Stride: []int{0}}) }},
		"stride too long":    {tensor.ErrValue, func() { x.Conv(w, nil, options{Stride: []int{1, 1, 1}}) }},
		"no stride":          {tensor.ErrValue, func() { x.Conv(w, nil, options{Stride: []int{}}) }},
		"padding below 0":    {tensor.ErrValue, func() { x.Conv(w, nil, options{Padding: []int{0, -1}}) }},
		"huge padding":       {tensor.ErrValue, func() { x.Conv(w, nil, options{Padding: []int{math.MaxInt}}) }},
		"dilation 0":         {tensor.ErrValue, func() { x.Conv(w, nil, options{Dilation: []int{0}}) }},
		"options twice":      {tensor.ErrValue, func() { x.Conv(w, nil, options{}, options{}) }},
		"integers":           {tensor.ErrType, func() { x.To(tensor.Int32).Conv(w.To(tensor.Uint8), nil) }},
		"output padding": {tensor.ErrValue, func() {
			x.ConvTranspose(tensor.Zeros(d, 4, 2, 3, 3), nil, tensor.ConvTransposeOptions{OutputPadding: []int{1}})
		}},
		"transposed channels": {tensor.ErrShape, func() { x.ConvTranspose(w, nil) }},
		"nothing is left": {tensor.ErrShape, func() {
			x.ConvTranspose(tensor.Zeros(d, 4, 2, 3, 3), nil, tensor.ConvTransposeOptions{Padding: []int{4}})
		}},
		"a result too large": {tensor.ErrShape, func() {
			x.ConvTranspose(tensor.Zeros(d, 4, 2, 3, 3), nil, tensor.ConvTransposeOptions{Stride: []int{1 << 28}})
		}},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
	for want, f := range map[string]func(){
		"the input has 3 channels (axis 1), and the weights are for 4":                                            func() { tensor.Zeros(d, 1, 3, 5, 5).Conv(w, nil) },
		"the input has 5 channels (axis 0), and the weights are for 4; without an axis of images it is one image": func() { tensor.Zeros(d, 5, 8, 8).Conv(w, nil) },
		"in 2 groups, the first axis of the weights is a multiple of 2":                                           func() { x.Conv(w, nil, options{Groups: 2}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestConvTiles runs the other tiles of GPUs than that of the list, in few cases in make test.
func TestConvTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many kernels")
	}
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
		check := func(k *kernels.Kernel) {
			for i, c := range k.Cases(!devtest.More()) {
				o := kernels.NewOperands(d.DefaultType(), 3, uint64(i))
				c.Build(o)
				if _, err := kerneltest.Check(d, k, c.Name, o.Args); err != nil {
					t.Error(k.Defines, err)
				}
			}
		}
		square, flat := ops.GemmTile{M: 64, N: 64, K: 16, ItemM: 8, ItemN: 4}, ops.GemmTile{M: 64, N: 64, K: 8, ItemM: 8, ItemN: 4}
		long := ops.GemmTile{M: 32, N: 64, K: 32, ItemM: 8, ItemN: 4}
		for _, far := range []bool{false, true} {
			for _, k := range []*kernels.Kernel{ops.Conv(square, 1, far), ops.ConvWeight(flat, far), ops.Conv(long, 2, far)} {
				check(k)
			}
		}
		s := ops.ConvShape{Batch: 1 << 20, Groups: 1, In: 16, Out: 64, Size: [3]int{1, 1, 1}, OutSize: [3]int{1, 1, 1}, Kernel: [3]int{1, 1, 1}}
		l := kernels.Target{Units: 1, LocalMem: 48 << 10, MaxGroup: 1024}
		for _, k := range []*kernels.Kernel{s.MatrixUnits(false, kernels.Float32, l).Kernel(), s.MatrixUnitsWeight(kernels.Float32, l).WeightKernel()} {
			check(k)
		}
	}
}
