package tensor_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestFloatsOnOneDevice: on one device tensors of float32 and float64 are computed as on devices of
// which they are the default, bit for bit, in turns.
func TestFloatsOnOneDevice(t *testing.T) {
	devices := devtest.Keep(t)
	ops := map[string]func(x, w *tensor.Tensor) *tensor.Tensor{
		"map":      func(x, w *tensor.Tensor) *tensor.Tensor { return x.Mul(w).Sin().DivScalar(3) },
		"sum":      func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum() },
		"columns":  func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Mean(0) },
		"softmax":  func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Softmax(-1) },
		"variance": func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Var(1, 0) },
		"product":  func(x, w *tensor.Tensor) *tensor.Tensor { return x.MatMul(w.T()) },
		"layer":    func(x, w *tensor.Tensor) *tensor.Tensor { return tensor.Linear(x, w.T(), nil, fn.Tanh) },
		"batch": func(x, w *tensor.Tensor) *tensor.Tensor {
			return x.Reshape(3, 5, 17).MatMul(w.Reshape(3, 5, 17).Transpose(0, 2, 1))
		},
		"norm":      func(x, w *tensor.Tensor) *tensor.Tensor { return x.LayerNorm(-1, w.Select(0, 0), w.Select(0, 1), 1e-5) },
		"scan":      func(x, _ *tensor.Tensor) *tensor.Tensor { return x.CumSum(1) },
		"sort":      func(x, _ *tensor.Tensor) *tensor.Tensor { y, _ := x.Sort(-1); return y },
		"largest":   func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Max(-1) },
		"pad":       func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Pad([][2]int{{1, 2}}) },
		"pool":      func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Reshape(1, 15, 17).AvgPool([]int{2, 3}) },
		"conv":      func(x, w *tensor.Tensor) *tensor.Tensor { return x.Reshape(1, 15, 17).Conv(w.Reshape(17, 15, 1), nil) },
		"attention": func(x, w *tensor.Tensor) *tensor.Tensor { return x.ScaledDotProductAttention(w, w, nil) },
		"gather": func(x, _ *tensor.Tensor) *tensor.Tensor {
			return x.GatherRows(tensor.New(x.Device(), []int32{3, 0, 3}))
		},
	}
	data := make([]float64, 2*15*17)
	for i := range data {
		data[i] = math.Sin(float64(7*i)) + 1e-9*float64(i%5)
	}
	for _, sel := range devtest.Selected() {
		both := devices.Open(sel, tensor.Options{})
		for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64} {
			alone := devices.Open(sel, tensor.Options{DefaultType: typ})
			for name, op := range ops {
				run := func(d tensor.Device) *tensor.Tensor {
					return op(tensor.NewOf(d, typ, data[:15*17], 15, 17), tensor.NewOf(d, typ, data[15*17:], 15, 17))
				}
				got, want := run(both), run(alone)
				if got.Type() != typ || !slices.Equal(got.Shape(), want.Shape()) || !sameNumbers(devtest.Float64s(t, got), devtest.Float64s(t, want)) {
					t.Errorf("%s of %v on %s: %v %v, want %v", name, typ, sel, got, devtest.Float64s(t, got), devtest.Float64s(t, want))
				}
			}
		}
	}
}

// TestMixedFloats: operands of both float types give float64, a scalar's type does not count among
// floats, and writes in place round.
func TestMixedFloats(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		third := []float64{1. / 3, 2, -1, 4}
		x, y := tensor.NewOf(d, tensor.Float32, third, 2, 2), tensor.New(d, third, 2, 2)
		scalar := tensor.New(d, []float64{1. / 3}, []int{}...)
		single := float64(float32(1. / 3))
		for name, c := range map[string]struct {
			got   *tensor.Tensor
			typ   tensor.Type
			first float64
		}{
			"sum":             {x.Add(y), tensor.Float64, single + 1./3},
			"scalar":          {x.Add(scalar), tensor.Float32, float64(float32(single + single))},
			"two scalars":     {scalar.Add(tensor.NewOf(d, tensor.Float32, third[:1], []int{}...)), tensor.Float64, single + 1./3},
			"ints and scalar": {tensor.New(d, []int32{1}).Add(scalar), tensor.Float64, 1 + 1./3},
			"product":         {x.MatMul(y), tensor.Float64, single/3 - 2},
			"layer":           {tensor.Linear(x, y, tensor.NewOf(d, tensor.Float32, []float64{1, 2}), nil), tensor.Float64, single/3 - 1},
			"concat":          {tensor.Concat(0, x, y), tensor.Float64, single},
			"where":           {x.Where(tensor.New(d, []uint8{0, 1, 1, 1}, 2, 2).To(tensor.Bool), y), tensor.Float64, 1. / 3},
		} {
			if v := devtest.Float64s(t, c.got); c.got.Type() != c.typ || math.Abs(v[0]-c.first) > 1e-16*4 && c.typ == tensor.Float64 || c.typ == tensor.Float32 && v[0] != c.first {
				t.Errorf("%s: %v %v, want %v of %v", name, c.got.Type(), v, c.first, c.typ)
			}
		}
		z := x.Copy()
		z.MapInPlace(fn.Mul, nil, y)
		if v := devtest.Float64s(t, z); z.Type() != tensor.Float32 || v[0] != float64(float32(single*third[0])) {
			t.Errorf("in place: %v %v", z, v)
		}
		for _, c := range []struct { // the operand is not rounded before
			f     *kernels.Function
			x, by float64
			want  float32
		}{{fn.Sub, 1, 1 + 0x1p-40, -0x1p-40}, {fn.Mul, 0x1p-100, 0x1p140, 0x1p40}, {fn.Div, 0x1p-100, 0x1p-160, 0x1p60}} {
			z := tensor.NewOf(d, tensor.Float32, []float64{c.x, c.x, c.x, c.x}, 2, 2).T()
			z.MapInPlace(c.f, nil, tensor.New(d, []float64{c.by}))
			if v := devtest.Float64s(t, z); v[3] != float64(c.want) {
				t.Errorf("%s in place: %v, want %v", c.f.Name, v, c.want)
			}
		}
		z.SetInPlace(y.T())
		tensor.Upload(z.Slice(0, 0, 1), []float64{1. / 3, 5})
		if v := devtest.Float64s(t, z); !slices.Equal(v, []float64{single, 5, 2, 4}) {
			t.Errorf("written: %v", v)
		}
	})
}

// TestLike: what is made like a tensor has its type and shape.
func TestLike(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, typ := range types {
		x := tensor.FullOf(d, typ, 2, 3, 2).T()
		for v, y := range map[float64]*tensor.Tensor{0: tensor.ZerosLike(x), 7: tensor.FullLike(x, 7), 2: tensor.EmptyLike(x)} {
			if v == 2 {
				y.SetInPlace(x)
			}
			if y.Type() != typ || !slices.Equal(y.Shape(), []int{2, 3}) || slices.ContainsFunc(devtest.Float64s(t, y), func(got float64) bool { return got != v }) {
				t.Errorf("like %v: %v %v, want %v", x, y, devtest.Float64s(t, y), v)
			}
		}
	}
}

// TestFloatsOfOneLaunch: a launch is of one float type, which errors name.
func TestFloatsOfOneLaunch(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, y := tensor.ZerosOf(d, tensor.Float32, 4), tensor.ZerosOf(d, tensor.Float64, 4)
	err := tensor.Try(func() {
		tensor.Launch(d, fused.Map(fn.Neg.Alone(), kernels.Float32, fused.AccessPattern{Rank: 1}), x.Arg(), y.Arg(),
			kernels.IntArg(4))
	})
	if !errors.Is(err, tensor.ErrArgument) || !strings.Contains(err.Error(), "argument 1, Y, has elements of type float32, not float64") {
		t.Error(err)
	}
}
