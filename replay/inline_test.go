package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestInlineConditions: a map is computed where its result is read only where it is the same there,
// and left out only if nobody else reads it.
func TestInlineConditions(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 64) }
	x, y, z, out := mem(), mem(), mem(), mem()
	numbers, other := kernels.NewHostBuffer(kernels.Int32, 64), kernels.NewHostBuffer(kernels.Int32, 64)
	bytes := kernels.NewHostBuffer(kernels.Uint8, 64)
	type modes = []kernels.Mode
	lives := func(b kernels.Buffer) bool { return b == out || b == x }
	negate := func(from, to kernels.Buffer) capture.Launch {
		return saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{kernels.In, kernels.Out}, kernels.BufferArg(from, 0, 8), kernels.BufferArg(to, 0, 8))
	}
	add := func(a, b, to kernels.Buffer) capture.Launch {
		return saying([]kernels.Op{mapOf(fn.Add, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), viewOf(2, 0, 1))}, modes{kernels.In, kernels.In, kernels.Out},
			kernels.BufferArg(a, 0, 8), kernels.BufferArg(b, 0, 8), kernels.BufferArg(to, 0, 8))
	}
	touch := func(mode kernels.Mode, b kernels.Buffer, off int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(b, off, 1))
	}
	ones := &operation.Map{Dims: []int{8}, Codegen: true,
		Results: []operation.Result{{Function: &kernels.Function{Name: "ones", Value: expr.Const(1)}, View: viewOf(0, 0, 1)}}}
	fill := saying([]kernels.Op{ones}, modes{kernels.Out}, kernels.BufferArg(y, 0, 8))
	twos := *ones
	twos.Results = append(append([]operation.Result(nil), ones.Results...),
		operation.Result{Function: &kernels.Function{Name: "twos", Value: expr.Const(2)}, View: viewOf(1, 0, 1)})
	fills := saying([]kernels.Op{&twos}, modes{kernels.Out, kernels.Out}, kernels.BufferArg(y, 0, 8), kernels.BufferArg(z, 0, 8))
	compare := saying([]kernels.Op{mapOf(fn.Lt, []int{8}, kernels.View{Arg: 0, Type: kernels.Int32, Strides: []int{1}}, kernels.View{Arg: 1, Type: kernels.Int32, Strides: []int{1}},
		kernels.View{Arg: 2, Type: kernels.Uint8, Strides: []int{1}})}, modes{kernels.InInts, kernels.InInts, kernels.OutBytes}, kernels.BufferArg(numbers, 0, 8), kernels.BufferArg(other, 0, 8), kernels.BufferArg(bytes, 0, 8))
	masked := saying([]kernels.Op{mapOf(&kernels.Function{Name: "masked", Value: expr.Input(0).Mul(expr.Input(1)), Masks: 1}, []int{8}, viewOf(0, 0, 1),
		kernels.View{Arg: 1, Type: kernels.Uint8, Strides: []int{1}}, viewOf(2, 0, 1))}, modes{kernels.In, kernels.InBytes, kernels.Out}, kernels.BufferArg(x, 0, 8), kernels.BufferArg(bytes, 0, 8), kernels.BufferArg(out, 0, 8))
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name string
		step []capture.Launch
		want int // launches
	}{
		{"read by one", steps(negate(x, y), negate(y, out)), 1},
		{"read by another, too", steps(negate(x, y), negate(y, out), touch(kernels.In, y, 7)), 3},
		{"read before by another", steps(touch(kernels.In, y, 7), negate(x, y), negate(y, out)), 2},
		{"there after the run", steps(negate(z, out), negate(out, y)), 2},
		{"what it reads is written between", steps(negate(x, y), touch(kernels.Out, x, 7), negate(y, out)), 3},
		{"what it reads is written by the reader", steps(negate(x, y), negate(y, x)), 1},
		{"beside what it reads is written", steps(negate(x, y), touch(kernels.Out, x, 8), negate(y, out)), 2},
		{"what it reads is written behind", steps(negate(x, y), negate(y, out), touch(kernels.Out, x, 7)), 2},
		{"changed between", steps(negate(x, y), touch(kernels.Out, y, 7), negate(y, out)), 3},
		{"changed behind", steps(negate(x, y), negate(y, out), touch(kernels.Out, y, 7)), 2},
		{"of integers, read among reals", steps(compare, masked), 2},
		{"a fill", steps(fill, negate(y, out)), 1},
		{"a fill that is changed", steps(fill, touch(kernels.Out, y, 7), negate(y, out)), 3},
		{"a fill that another reads", steps(fill, negate(y, out), touch(kernels.In, y, 7)), 3},
		{"a fill that another reads before", steps(fill, touch(kernels.In, y, 7), negate(y, out)), 3},
		{"two fills", steps(fills, add(y, z, out)), 1},
		{"two fills, of which the former is read by another", steps(fills, touch(kernels.In, y, 7), add(y, z, out)), 3},
		{"two fills, of which the latter is read by another", steps(fills, touch(kernels.In, z, 7), add(y, z, out)), 3},
	} {
		nodes, err := rewriteLaunches(only("inline"), gpu, c.step, lives, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), c.want)
		}
	}
}
