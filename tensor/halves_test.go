package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfComparisons: floats of 16 bits are compared with numbers as they hold them; beside another
// tensor with axes both are of the type that they promote to.
func TestHalfComparisons(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			x := tensor.NewOf(d, typ, []float64{0.1, 0.2}, 2)
			scalar, line := tensor.NewOf(d, tensor.Float32, []float64{0.1}, []int{}...), tensor.NewOf(d, tensor.Float32, []float64{0.1, 0.2})
			for what, c := range map[string]struct {
				got  *tensor.Tensor
				want []float64
			}{
				"EqScalar": {x.EqScalar(0.1), []float64{1, 0}}, "LtScalar": {x.LtScalar(0.1), []float64{0, 0}}, "GeScalar": {x.GeScalar(0.1), []float64{1, 1}},
				"Eq of a scalar": {x.Eq(scalar), []float64{1, 0}}, "Lt of a scalar": {x.Lt(scalar), []float64{0, 0}},
				"Eq of float32": {x.Eq(line), []float64{0, 0}},
			} {
				if got := devtest.Float64s(t, c.got); !slices.Equal(got, c.want) {
					t.Errorf("%s of %v: %v, want %v", what, typ, got, c.want)
				}
			}
			most := map[tensor.Type]float64{tensor.Float16: 65504, tensor.BFloat16: 0x1.fep127}[typ]
			ends := tensor.NewOf(d, typ, []float64{math.Inf(1), math.Inf(-1), math.NaN()}).NanToNum(0, math.Inf(1), math.Inf(-1))
			if got := devtest.Float64s(t, ends); !slices.Equal(got, []float64{most, -most, 0}) {
				t.Errorf("NanToNum of %v: %v", typ, got)
			}
		}
	})
}

// TestHalfMapInto: joined functions write results of 16 bits, rounded, of operands of those and of
// float32, which they may read by index.
func TestHalfMapInto(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, y := expr.Input(0), expr.Input(1)
		j := &kernels.FusedElementwise{Name: "half_pair", Functions: []*kernels.Function{
			{Name: "half_sum", Value: x.Add(y)}, {Name: "half_turned", Value: expr.Load(2, expr.Index(0)).Mul(x)}}}
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			a, b := tensor.NewOf(d, typ, []float64{1, 2, 3}), tensor.NewOf(d, tensor.Float32, []float64{0.001, 0.5, 1000})
			sum, product := tensor.EmptyLike(a), tensor.EmptyLike(a)
			tensor.MapInto(j, nil, []*tensor.Tensor{sum, product}, a, b, a)
			want := devtest.Float64s(t, tensor.NewOf(d, typ, []float64{1.001, 2.5, 1003}))
			if got := devtest.Float64s(t, sum); !slices.Equal(got, want) {
				t.Errorf("sums of %v: %v, want %v", typ, got, want)
			}
			if got := devtest.Float64s(t, product); !slices.Equal(got, []float64{1, 4, 9}) {
				t.Errorf("products of %v: %v", typ, got)
			}
		}
	})
}
