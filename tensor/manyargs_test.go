package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// TestManyArguments: a function of as many operands as there may be takes views of the highest rank
// whose axes cannot be joined: the launch with the most arguments.
func TestManyArguments(t *testing.T) {
	const n = kernels.MapOperands
	sum := expr.Input(0)
	for i := 1; i < n; i++ {
		sum = sum.Add(expr.Input(i))
	}
	scaled := &kernels.Function{Name: "scaled_sum", Value: sum.Mul(expr.Param(0)).Add(expr.Param(1)), Scalars: []float64{1, 2}}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		wide := tensor.Full(d, 1, 4, 4, 4, 4, 4, 4, 4, 4)
		v := wide
		for axis := range wide.Rank() {
			v = v.Step(axis, 2)
		}
		operands := make([]*tensor.Tensor, n)
		for i := range operands {
			operands[i] = v
		}
		got, err := tensor.Map(scaled, []float64{3, 0.5}, operands...).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x != 3*n+0.5 {
				t.Fatalf("element %d of %d is %v, want %v", i, len(got), x, 3*n+0.5)
			}
		}
	})
}
