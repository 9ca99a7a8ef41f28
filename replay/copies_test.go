package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestResultsConditions: a launch writes where its result is copied to only where nobody can tell.
func TestResultsConditions(t *testing.T) {
	const begin = align / 4 // an element at which a buffer may begin
	out, tmp, other, first := kernels.NewHostBuffer(kernels.Float32, 4*begin), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	bytes := kernels.NewHostBuffer(kernels.Uint8, 64)
	lives := func(b kernels.Buffer) bool { return b == out }
	constant := func(b kernels.Buffer) bool { return b == first }
	work := []kernels.Arg{kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64)}
	launch := func(k *kernels.Kernel, args ...kernels.Arg) capture.Launch {
		return capture.Launch{Kernel: k, Args: append(args, work...)}
	}
	maker := opaque("make", kernels.In, kernels.Out)
	made := launch(maker, kernels.BufferArg(other, 0, 8), kernels.BufferArg(tmp, 0, 8))
	madeOf := func(off, n int) capture.Launch {
		return launch(maker, kernels.BufferArg(out, off, n), kernels.BufferArg(tmp, 0, 8))
	}
	touch := func(mode kernels.Mode, b kernels.Buffer, off, n int) capture.Launch {
		return launch(opaque("touch", mode), kernels.BufferArg(b, off, n))
	}
	// copies is a map of tmp from an element on, to out.
	copies := func(f *kernels.Function, dims []int, from, to kernels.View, off int) capture.Launch {
		return saying([]kernels.Op{mapOf(f, dims, from, to)}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(tmp, 0, 8), kernels.BufferArg(out, off, 16))
	}
	line := func(n, from, off int) capture.Launch {
		return copies(fn.Identity, []int{n}, viewOf(0, from, 1), viewOf(1, 0, 1), off)
	}
	whole := line(8, 0, begin)
	sum := saying([]kernels.Op{sumOf(viewOf(1, 0, 4, 4, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(first, 0, 24), kernels.BufferArg(tmp, 0, 8))
	twice := mapOf(fn.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))
	twice.Results = append(twice.Results, operation.Result{Function: fn.Identity, View: viewOf(1, 8, 1)})
	converts := mapOf(fn.Identity, []int{8}, kernels.View{Arg: 0, Type: kernels.Uint8, Strides: []int{1}}, viewOf(1, 0, 1))
	converts.Codegen = false
	for _, c := range []struct {
		name string
		step []capture.Launch
		want int // launches
	}{
		{"whole", []capture.Launch{made, whole}, 1},
		{"one element", []capture.Launch{launch(maker, kernels.BufferArg(other, 0, 8), kernels.BufferArg(tmp, 0, 1)), copies(fn.Identity, nil, viewOf(0, 0), viewOf(1, 0), begin)}, 1},
		{"in two dimensions that follow each other", []capture.Launch{made, copies(fn.Identity, []int{2, 4}, viewOf(0, 0, 4, 1), viewOf(1, 0, 4, 1), begin)}, 1},
		{"the first part", []capture.Launch{made, line(7, 0, begin)}, 2},
		{"another part", []capture.Launch{launch(maker, kernels.BufferArg(other, 0, 8), kernels.BufferArg(tmp, 0, 7)), line(7, 1, begin)}, 2},
		{"where no buffer begins", []capture.Launch{made, line(8, 0, begin/2)}, 2},
		{"another formula", []capture.Launch{made, copies(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), begin)}, 2},
		{"to every other element", []capture.Launch{made, copies(fn.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 2), begin)}, 2},
		{"of every other element", []capture.Launch{launch(maker, kernels.BufferArg(other, 0, 8), kernels.BufferArg(tmp, 0, 4)), copies(fn.Identity, []int{4}, viewOf(0, 0, 2), viewOf(1, 0, 1), begin)}, 2},
		{"transposed", []capture.Launch{made, copies(fn.Identity, []int{2, 4}, viewOf(0, 0, 1, 2), viewOf(1, 0, 4, 1), begin)}, 2},
		{"with gaps between rows", []capture.Launch{made, copies(fn.Identity, []int{2, 4}, viewOf(0, 0, 4, 1), viewOf(1, 0, 8, 1), begin)}, 2},
		{"columns to rows", []capture.Launch{made, copies(fn.Identity, []int{4, 2}, viewOf(0, 0, 1, 4), viewOf(1, 0, 1, 4), begin)}, 2},
		{"to two places", []capture.Launch{made, saying([]kernels.Op{twice}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(tmp, 0, 8), kernels.BufferArg(out, begin, 16))}, 2},
		{"of bytes", []capture.Launch{launch(opaque("make", kernels.OutBytes), kernels.BufferArg(bytes, 0, 8)),
			saying([]kernels.Op{converts}, []kernels.Mode{kernels.InBytes, kernels.Out}, kernels.BufferArg(bytes, 0, 8), kernels.BufferArg(out, begin, 8))}, 2},
		{"made of what is there", []capture.Launch{madeOf(begin+7, 4), whole}, 2},
		{"made of what ends there", []capture.Launch{madeOf(begin-3, 4), whole}, 2},
		{"made of what is before", []capture.Launch{madeOf(begin-4, 4), whole}, 1},
		{"made of what is behind", []capture.Launch{madeOf(begin+8, 4), whole}, 1},
		{"read between", []capture.Launch{made, touch(kernels.In, out, begin, 1), whole}, 3},
		{"written between", []capture.Launch{made, touch(kernels.Out, out, begin, 1), whole}, 3},
		{"another part written between", []capture.Launch{made, touch(kernels.Out, out, begin+8, 1), whole}, 2},
		{"read before", []capture.Launch{touch(kernels.In, out, begin, 1), made, whole}, 2},
		{"read behind", []capture.Launch{made, whole, touch(kernels.In, out, begin, 1)}, 2},
		{"the result read between", []capture.Launch{made, touch(kernels.In, tmp, 7, 1), whole}, 3},
		{"the result read behind", []capture.Launch{made, whole, touch(kernels.In, tmp, 7, 1)}, 3},
		{"the result changed between", []capture.Launch{made, touch(kernels.InOut, tmp, 7, 1), whole}, 3},
		{"written twice", []capture.Launch{made, made, whole}, 3},
		{"written behind", []capture.Launch{whole, made}, 2},
		{"read alone", []capture.Launch{touch(kernels.In, tmp, 0, 8), whole}, 2},
		{"read and written", []capture.Launch{launch(opaque("both", kernels.In, kernels.Out), kernels.BufferArg(tmp, 8, 8), kernels.BufferArg(tmp, 0, 8)), whole}, 2},
		{"two results beside each other", []capture.Launch{launch(opaque("both", kernels.Out, kernels.Out), kernels.BufferArg(tmp, 0, 8), kernels.BufferArg(tmp, 8, 8)), whole}, 2},
		{"two results, of which the latter is copied", []capture.Launch{launch(opaque("both", kernels.Out, kernels.Out), kernels.BufferArg(tmp, 8, 8), kernels.BufferArg(tmp, 0, 8)), whole}, 2},
		{"of nothing", []capture.Launch{whole}, 1},
		{"made of what is as far in other memory", []capture.Launch{launch(maker, kernels.BufferArg(&room{2 * begin}, begin, 8), kernels.BufferArg(tmp, 0, 8)), whole}, 1},
		{"of a number beside it", []capture.Launch{launch(opaque("both", kernels.Out, kernels.In), kernels.BufferArg(tmp, 0, 8), kernels.BufferArg(tmp, 8, 0)), whole}, 1},
		{"made by a map", []capture.Launch{saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))},
			[]kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(other, 0, 8), kernels.BufferArg(tmp, 0, 8)), whole}, 2},
		{"two of them", []capture.Launch{made, launch(maker, kernels.BufferArg(tmp, 0, 0), kernels.BufferArg(other, 0, 8)), whole,
			saying([]kernels.Op{mapOf(fn.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(other, 0, 8), kernels.BufferArg(out, 2*begin, 8))}, 3},
		{"made once", []capture.Launch{sum, whole}, 2},
		{"kept", []capture.Launch{launch(maker, kernels.BufferArg(tmp, 0, 8), kernels.BufferArg(out, 0, 8)),
			saying([]kernels.Op{mapOf(fn.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.BufferArg(out, 0, 8), kernels.BufferArg(other, 0, 8))}, 2},
	} {
		nodes, err := rewriteLaunches(only("copy-elimination", "constant-folding"), gpu, c.step, lives, constant, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), c.want)
			continue
		}
		for _, n := range nodes {
			if len(n.from) == 1 {
				continue
			}
			g := n.writes[0]
			if to := c.step[n.from[1]].Args[1]; g.buf != to.Buf || g.span.lo != to.Off || len(n.writes) != 1 {
				t.Errorf("%s: it writes elements %v", c.name, n.writes)
			}
		}
	}
}
