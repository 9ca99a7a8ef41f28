package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLaunchesPerOperation holds the package comment to what it says: most operations are one
// launch, views none.
func TestLaunchesPerOperation(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, big := tensor.Full(d, 1, 6, 4), tensor.Full(d, 1, 40000)
		gaps := x.Slice(1, 0, 2)
		deep := tensor.Full(d, 1, 2, 3, 4, 5)
		for _, c := range []struct {
			name string
			want int64
			f    func()
		}{
			{"Transpose", 0, func() { x.T() }}, {"Slice", 0, func() { x.Slice(0, 1, 2) }}, {"Expand", 0, func() { x.Expand(2, 6, 4) }},
			{"Reshape", 0, func() { x.Reshape(-1) }}, {"Reshape of a non-contiguous view", 1, func() { gaps.Reshape(-1) }},
			{"tanh", 1, func() { tensor.Map(fn.Tanh, nil, x) }}, {"add", 1, func() { tensor.Map(fn.Add, nil, x, x) }},
			{"add of a row", 1, func() { tensor.Map(fn.Add, nil, x, x.Slice(0, 0, 1)) }},
			{"MatMul", 1, func() { x.MatMul(x.T()) }}, {"Linear", 1, func() { tensor.Linear(x, x.T(), nil, fn.Tanh) }},
			{"Linear in a graph", 1, func() { tensorapi.Impl.Linear(x, x.T(), nil, fn.Clamp, []float64{-1, 1}, true) }},
			{"the gradient of Linear", 1, func() { tensorapi.Impl.LinearGrad(fn.Clamp.Gradient(0), []float64{-1, 1}, x, x, x) }},
			{"Sum", 1, func() { x.Sum() }}, {"Sum of an axis", 1, func() { x.Sum(1) }}, {"Max", 1, func() { x.Max(0) }},
			{"Sum of neighbouring axes", 1, func() { deep.Sum(2, 0, 1) }}, {"Sum of axes apart", 2, func() { deep.Sum(0, 2) }},
			{"Max of neighbouring axes", 1, func() { deep.Max(1, 2) }}, {"Max of all", 1, func() { deep.Max() }},
			{"a large Sum", 2, func() { big.Sum() }}, {"tanh of a non-contiguous view", 1, func() { tensor.Map(fn.Tanh, nil, gaps) }},
		} {
			before := d.Stats().Launches
			c.f()
			if n := d.Stats().Launches - before; n != c.want {
				t.Errorf("%s: %d launches, want %d", c.name, n, c.want)
			}
		}
	})
}
