package autograd_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestAxisOfScalar: a scalar has axis 0 for all that works along axes, as in PyTorch, and no other: reductions of it
// are those of a vector of one element.
func TestAxisOfScalar(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, reduced := range devtest.Reductions[*node](t) {
			// gives returns the reduction's values, its rank, and its gradient: NaN for what has none.
			gives := func(p *node, axes ...int) (v []float64, rank int, grad float64) {
				switch y := reduced(p, axes...).(type) {
				case *tensor.Tensor:
					return devtest.Float64s(t, y), y.Rank(), math.NaN()
				case *node:
					v, rank = devtest.Float64s(t, y.Value()), y.Rank()
					if err := y.Backward(); err != nil {
						t.Fatal(err)
					}
				}
				return v, rank, devtest.Float64s(t, p.Grad())[0]
			}
			value, _, slope := gives(autograd.Param(tensor.Full(d, 3, 1), "p"), 0)
			for _, axes := range [][]int{{}, {0}, {-1}, {0, tensor.Keepdims}} {
				v, rank, grad := gives(autograd.Param(tensor.Scalar(d, 3), "p"), axes...)
				if !slices.Equal(v, value) || grad != slope && (grad == grad || slope == slope) || rank != 0 {
					t.Errorf("%s%v of a scalar is %v of rank %d, its gradient %v; of a vector %v and %v",
						name, axes, v, rank, grad, value, slope)
				}
			}
			refusesAxes(t, name, func(axes ...int) { reduced(autograd.Param(tensor.Scalar(d, 3), "p"), axes...) })
		}
		for _, axes := range [][]int{{}, {0}, {-1}} {
			want(t, fmt.Sprint("Squeeze", axes), autograd.Const(tensor.Scalar(d, 3)).Squeeze(axes...).Value(), 3)
		}
		refusesAxes(t, "Squeeze", func(axes ...int) { autograd.Const(tensor.Scalar(d, 3)).Squeeze(axes...) })
	})
}

// refusesAxes reports axes of a scalar that an operation does not refuse.
func refusesAxes(t *testing.T, name string, f func(axes ...int)) {
	t.Helper()
	for _, axes := range [][]int{{1}, {-2}, {0, 0}, {0, -1}} {
		if err := tensor.Try(func() { f(axes...) }); !errors.Is(err, tensor.ErrAxis) {
			t.Errorf("%s%v of a scalar: %v", name, axes, err)
		}
	}
}
