package replay

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestOnceConditions: a launch is done once only if it has the same result in every run, and nobody
// changes that.
func TestOnceConditions(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 64) }
	same, varies, a, b, out := mem(), mem(), mem(), mem(), mem()
	lives := func(m kernels.Buffer) bool { return m == out || m == varies }
	constant := func(m kernels.Buffer) bool { return m == same }
	negate := func(from, to kernels.Buffer) capture.Launch {
		return saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(from, 0, 8), kernels.BufferArg(to, 0, 8))
	}
	behind := func(from kernels.Buffer) capture.Launch {
		l := negate(from, a)
		l.Args[1].Off = 8
		return l
	}
	add := func(x, y, to kernels.Buffer) capture.Launch {
		return saying([]kernels.Op{mapOf(fn.Add, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), viewOf(2, 0, 1))}, []kernels.Mode{kernels.In, kernels.In, kernels.Out},
			kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 0, 8), kernels.BufferArg(to, 0, 8))
	}
	fill := func(to kernels.Buffer) capture.Launch {
		one := &operation.Map{Dims: []int{8}, Results: []operation.Result{{Function: constantOne, View: viewOf(0, 0, 1)}},
			Codegen: true}
		return saying([]kernels.Op{one}, []kernels.Mode{kernels.Out}, kernels.BufferArg(to, 0, 8))
	}
	touch := func(mode kernels.Mode, m kernels.Buffer) capture.Launch {
		return capture.Launch{Kernel: opaque("touch", mode), Args: []kernels.Arg{kernels.BufferArg(m, 7, 1), kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64)}}
	}
	silent := negate(same, a)
	silent.Kernel = opaque("silent", kernels.In, kernels.Out)
	idle := negate(same, a)
	idle.Args[2] = kernels.IntArg(0)
	scalars := kernels.NewStepScalars(1, func(n []kernels.Arg) error { n[0] = kernels.FloatArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	varying := negate(same, a)
	varying.Args = append(varying.Args, scalars.Arg(0))
	gaps := saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 2))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(same, 0, 8), kernels.BufferArg(a, 0, 16))
	part := saying([]kernels.Op{sumOf(viewOf(1, 0, 4, 4, 1))}, []kernels.Mode{kernels.In, kernels.InOut}, kernels.BufferArg(same, 0, 24), kernels.BufferArg(a, 0, 9))
	both := func(first, second kernels.Buffer) capture.Launch {
		m := mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))
		m.Results = append(m.Results, operation.Result{Function: fn.Identity, View: viewOf(2, 0, 1)})
		return saying([]kernels.Op{m}, []kernels.Mode{kernels.In, kernels.Out, kernels.Out}, kernels.BufferArg(same, 0, 8), kernels.BufferArg(first, 0, 8), kernels.BufferArg(second, 0, 8))
	}
	// several writes elements of memory at places, the first of them with gaps.
	several := func(places ...kernels.View) capture.Launch {
		m := mapOf(fn.Neg, []int{8}, append([]kernels.View{viewOf(0, 0, 1)}, places[0])...)
		for _, p := range places[1:] {
			m.Results = append(m.Results, operation.Result{Function: fn.Neg, View: p})
		}
		return saying([]kernels.Op{m}, []kernels.Mode{kernels.In, kernels.Out, kernels.Out}, kernels.BufferArg(same, 0, 8), kernels.BufferArg(a, 0, 64), kernels.BufferArg(b, 0, 64))
	}
	check := saying([]kernels.Op{&operation.Map{Dims: []int{8},
		Results:  []operation.Result{{Function: fn.Neg, View: viewOf(operation.Temp(0), 0, 1)}},
		Operands: []kernels.View{viewOf(0, 0, 1)}}},
		[]kernels.Mode{kernels.In}, kernels.BufferArg(same, 0, 8))
	half, whole, more := &room{onceBytes / 8}, &room{onceBytes/4 + 4*64}, &room{onceBytes/4 + 4*64 + 1}
	for _, c := range []struct {
		name string
		step []capture.Launch
		want []int
	}{
		{"of a constant", []capture.Launch{negate(same, a)}, []int{0}},
		{"of what varies", []capture.Launch{negate(varies, a)}, nil},
		{"of a constant and what varies", []capture.Launch{add(same, varies, a)}, nil},
		{"of what nobody made", []capture.Launch{add(same, b, a)}, nil},
		{"without being said", []capture.Launch{silent}, []int{0}},
		{"nothing", []capture.Launch{idle}, nil},
		{"of a step scalar", []capture.Launch{varying}, nil},
		{"without a result", []capture.Launch{check}, nil},
		{"an output", []capture.Launch{negate(same, out)}, nil},
		{"one of two is an output", []capture.Launch{both(a, out)}, nil},
		{"the former of two is an output", []capture.Launch{both(out, a)}, nil},
		{"two", []capture.Launch{both(a, b)}, []int{0}},
		{"over what it reads", []capture.Launch{negate(a, a)}, nil},
		{"of a constant over what it reads", []capture.Launch{add(same, a, a)}, nil},
		{"with gaps", []capture.Launch{gaps}, nil},
		{"with gaps, behind what is whole", []capture.Launch{several(viewOf(1, 16, 2), viewOf(1, 0, 1), viewOf(2, 0, 1))}, nil},
		{"with gaps, before what is whole", []capture.Launch{several(viewOf(1, 0, 2), viewOf(1, 40, 1), viewOf(2, 0, 1))}, nil},
		{"with gaps, beside what is whole", []capture.Launch{several(viewOf(1, 0, 2), viewOf(2, 0, 2), viewOf(2, 1, 2))}, nil},
		{"in each other's gaps", []capture.Launch{several(viewOf(1, 0, 2), viewOf(1, 1, 2), viewOf(2, 0, 1))}, []int{0}},
		{"a part", []capture.Launch{part}, nil},
		{"read afterwards", []capture.Launch{negate(same, a), touch(kernels.In, a)}, []int{0}},
		{"read before", []capture.Launch{touch(kernels.In, a), negate(same, a)}, nil},
		{"written afterwards", []capture.Launch{negate(same, a), negate(varies, a)}, nil},
		{"written before", []capture.Launch{negate(varies, a), negate(same, a)}, nil},
		{"changed and then read", []capture.Launch{negate(same, a), touch(kernels.InOut, a), touch(kernels.In, a)}, nil},
		{"of what is done once", []capture.Launch{negate(same, a), negate(a, b)}, []int{0, 1}},
		{"of what is not", []capture.Launch{negate(varies, a), negate(a, b)}, nil},
		{"of what is changed", []capture.Launch{negate(same, a), negate(varies, a), negate(a, b)}, nil},
		{"in two parts", []capture.Launch{negate(same, a), behind(same), negate(a, b)}, []int{0, 1, 2}},
		{"in two parts, of which one varies", []capture.Launch{negate(same, a), behind(varies), negate(a, b)}, nil},
		{"in two parts, read between them", []capture.Launch{negate(same, a), touch(kernels.In, a), behind(same)}, nil},
		{"in two parts, read by the second", []capture.Launch{negate(same, a), add(a, same, a)}, nil},
		{"one of two, and again", []capture.Launch{both(a, b), negate(same, a)}, nil},
		{"again, and one of two", []capture.Launch{negate(same, a), both(a, b)}, nil},
		{"a fill and what is written over it", []capture.Launch{fill(a), negate(same, a)}, []int{0, 1}},
		{"a fill", []capture.Launch{fill(a), touch(kernels.In, a)}, nil},
		{"of a fill", []capture.Launch{fill(a), negate(a, b)}, []int{0, 1}},
		{"of a fill that is changed", []capture.Launch{fill(a), touch(kernels.InOut, a), negate(a, b)}, nil},
		{"of a fill and a constant", []capture.Launch{fill(a), add(a, same, b)}, []int{0, 1}},
		{"as much as there may be", []capture.Launch{negate(same, whole)}, []int{0}},
		{"more", []capture.Launch{negate(same, more)}, nil},
		{"half and half", []capture.Launch{negate(same, half), negate(same, &room{onceBytes / 8})}, []int{0, 1}},
		{"all and some", []capture.Launch{negate(same, whole), negate(same, a)}, []int{0}},
		{"half and half beside each other", []capture.Launch{both(half, whole)}, nil},
		{"what is refused takes nothing", []capture.Launch{both(half, whole), negate(same, a)}, []int{1}},
	} {
		nodes, err := rewriteLaunches(only("constant-folding"), gpu, c.step, lives, constant, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i, n := range nodes {
			if n.once {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: launches %v are done once, want %v", c.name, got, c.want)
		}
	}
}

var constantOne = &kernels.Function{Name: "constant_one", Value: expr.Const(1)}
