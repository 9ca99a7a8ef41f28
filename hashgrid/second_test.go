package hashgrid

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSecondGradient holds the gradient of a table's gradient, along one direction, against central
// differences. On a GPU the gradient is summed in fixed point, which the difference shows.
func TestSecondGradient(t *testing.T) {
	each(t, true, func(t *testing.T, d tensor.Device) {
		const features, n, h = 3, 20, 1e-4
		g := New(d, levels, features)
		defer g.Free()
		rng := tensor.NewRNG(4)
		at := autograd.Const(rng.Uniform(d, 0, 1, n, 2))
		start, along := rng.Uniform(d, -1, 1, g.Entries, features), rng.Uniform(d, -1, 1, g.Entries, features)
		slope := func(table *autograd.Node, record bool) *autograd.Node {
			slope, err := autograd.Grad(g.Encode(table, at).Tanh().Sum(), []*autograd.Node{table}, autograd.GradOptions{CreateGraph: record})
			if err != nil {
				t.Fatal(err)
			}
			return slope[0]
		}
		moved := func(by float64) []float64 {
			return devtest.Float64s(t, slope(autograd.Param(start.Add(along.MulScalar(by)), "table"), false).Value())
		}
		table := autograd.Param(start, "table")
		if err := slope(table, true).Mul(autograd.Const(along)).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		up, down := moved(h), moved(-h)
		for i, got := range devtest.Float64s(t, table.Grad()) {
			if want := (up[i] - down[i]) / (2 * h); math.Abs(got-want) > 1e-6 {
				t.Fatalf("element %d is %v, the difference is %v", i, got, want)
			}
		}
	})
}
