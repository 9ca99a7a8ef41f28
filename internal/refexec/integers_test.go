package refexec_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestWrappingIntegers: sums and products of Int64 wrap around, and keep the bits that a float64 has no room for.
func TestWrappingIntegers(t *testing.T) {
	const n = 8
	for _, f := range []*kernels.Function{fn.Add, fn.Mul} {
		x, want := make([]int64, n), int64(1)
		for i := range x {
			if x[i] = 1<<31 - 1 - int64(i); f == fn.Add {
				x[i] = 1<<62 + int64(i)<<10
				want += x[i]
			} else {
				want *= x[i]
			}
		}
		args := func(y int64) []kernels.Arg {
			index, to := kernels.NewHostBuffer(kernels.Int32, n), []int64{y}
			return []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(append([]int64{1}, x...)), 0, n+1),
				kernels.BufferArg(index, 0, n), kernels.BufferArg(kernels.HostBufferOf(to), 0, 1)}
		}
		list := map[string]kernels.Op{}
		a := args(1)
		all, one := kernels.ViewOf(a, 0, 0, n+1, 1, 1), kernels.ViewOf(a, 2, 0, 1, 1, 1)
		last := one
		last.Arg, last.Strides = operation.Temp(0), []int{n + 1, 1, 1}
		list["reduction"] = &operation.Reduction{Function: f, Outer: 1, Len: n + 1, Inner: 1, Shares: 1, Chunk: n + 1,
			X: all, Y: one}
		part := all
		part.Offset = 1
		list["scatter"] = &operation.Scatter{Function: f, Outer: 1, N: n, Cols: 1, Rows: 1, X: part,
			Index: kernels.ViewOf(a, 1, 0, 0, 1, 0), Y: one}
		list["scan"] = &operation.Scan{Function: f, Outer: 1, Len: n + 1, Inner: 1, Chunk: n + 1, X: all, Y: last}
		for name, op := range list {
			a, ops := args(1), []kernels.Op{op}
			if name == "scan" { // its last element
				from := last
				from.Offset, from.Strides = n, nil
				to := one
				to.Strides = nil
				ops = append(ops, &operation.Map{Operands: []kernels.View{from},
					Results: []operation.Result{{Function: fn.Identity, View: to}}})
			}
			if _, err := refexec.Run(ops, kernels.Float32, a); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := a[2].At(0); got != float64(want) {
				t.Errorf("the %s by %s is %v, want %v", name, f.Name, got, float64(want))
			}
		}
	}
}
