package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/recorder"
	"github.com/clgrad/clgrad/kernels"
)

// TestResultsConditions: a launch writes where its result is copied to only where nobody can tell.
func TestResultsConditions(t *testing.T) {
	const begin = align / 4 // an element at which a buffer may begin
	out, tmp, other, first := kernels.NewMem(kernels.Float32, 4*begin), kernels.NewMem(kernels.Float32, 64), kernels.NewMem(kernels.Float32, 64), kernels.NewMem(kernels.Float32, 64)
	bytes := kernels.NewMem(kernels.Uint8, 64)
	lives := func(b kernels.Buffer) bool { return b == out }
	constant := func(b kernels.Buffer) bool { return b == first }
	work := []kernels.Arg{kernels.I(1), kernels.I(1), kernels.I(64)}
	launch := func(k *kernels.Kernel, args ...kernels.Arg) recorder.Launch {
		return recorder.Launch{Kernel: k, Args: append(args, work...)}
	}
	maker := opaque("make", kernels.In, kernels.Out)
	made := launch(maker, kernels.Vec(other, 0, 8), kernels.Vec(tmp, 0, 8))
	madeOf := func(off, n int) recorder.Launch {
		return launch(maker, kernels.Vec(out, off, n), kernels.Vec(tmp, 0, 8))
	}
	touch := func(mode kernels.Mode, b kernels.Buffer, off, n int) recorder.Launch {
		return launch(opaque("touch", mode), kernels.Vec(b, off, n))
	}
	// copies is a map of tmp from an element on, to out.
	copies := func(f *kernels.Function, dims []int, from, to kernels.View, off int) recorder.Launch {
		return saying([]kernels.Operation{mapOf(f, dims, from, to)}, []kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(tmp, 0, 8), kernels.Vec(out, off, 16))
	}
	line := func(n, from, off int) recorder.Launch {
		return copies(kernels.Identity, []int{n}, viewOf(0, from, 1), viewOf(1, 0, 1), off)
	}
	whole := line(8, 0, begin)
	sum := saying([]kernels.Operation{sumOf(viewOf(1, 0, 4, 4, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(first, 0, 24), kernels.Vec(tmp, 0, 8))
	twice := mapOf(kernels.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))
	twice.Results = append(twice.Results, kernels.Result{Function: kernels.Identity, View: viewOf(1, 8, 1)})
	converts := mapOf(kernels.Identity, []int{8}, kernels.View{Arg: 0, Type: kernels.Uint8, Strides: []int{1}}, viewOf(1, 0, 1))
	converts.Generated = false
	for _, c := range []struct {
		name string
		step []recorder.Launch
		want int // launches
	}{
		{"whole", []recorder.Launch{made, whole}, 1},
		{"one element", []recorder.Launch{launch(maker, kernels.Vec(other, 0, 8), kernels.Vec(tmp, 0, 1)), copies(kernels.Identity, nil, viewOf(0, 0), viewOf(1, 0), begin)}, 1},
		{"in two dimensions that follow each other", []recorder.Launch{made, copies(kernels.Identity, []int{2, 4}, viewOf(0, 0, 4, 1), viewOf(1, 0, 4, 1), begin)}, 1},
		{"the first part", []recorder.Launch{made, line(7, 0, begin)}, 2},
		{"another part", []recorder.Launch{launch(maker, kernels.Vec(other, 0, 8), kernels.Vec(tmp, 0, 7)), line(7, 1, begin)}, 2},
		{"where no buffer begins", []recorder.Launch{made, line(8, 0, begin/2)}, 2},
		{"another formula", []recorder.Launch{made, copies(kernels.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), begin)}, 2},
		{"to every other element", []recorder.Launch{made, copies(kernels.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 2), begin)}, 2},
		{"of every other element", []recorder.Launch{launch(maker, kernels.Vec(other, 0, 8), kernels.Vec(tmp, 0, 4)), copies(kernels.Identity, []int{4}, viewOf(0, 0, 2), viewOf(1, 0, 1), begin)}, 2},
		{"transposed", []recorder.Launch{made, copies(kernels.Identity, []int{2, 4}, viewOf(0, 0, 1, 2), viewOf(1, 0, 4, 1), begin)}, 2},
		{"with gaps between rows", []recorder.Launch{made, copies(kernels.Identity, []int{2, 4}, viewOf(0, 0, 4, 1), viewOf(1, 0, 8, 1), begin)}, 2},
		{"columns to rows", []recorder.Launch{made, copies(kernels.Identity, []int{4, 2}, viewOf(0, 0, 1, 4), viewOf(1, 0, 1, 4), begin)}, 2},
		{"to two places", []recorder.Launch{made, saying([]kernels.Operation{twice}, []kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(tmp, 0, 8), kernels.Vec(out, begin, 16))}, 2},
		{"of bytes", []recorder.Launch{launch(opaque("make", kernels.OutBytes), kernels.Vec(bytes, 0, 8)),
			saying([]kernels.Operation{converts}, []kernels.Mode{kernels.InBytes, kernels.Out}, kernels.Vec(bytes, 0, 8), kernels.Vec(out, begin, 8))}, 2},
		{"made of what is there", []recorder.Launch{madeOf(begin+7, 4), whole}, 2},
		{"made of what ends there", []recorder.Launch{madeOf(begin-3, 4), whole}, 2},
		{"made of what is before", []recorder.Launch{madeOf(begin-4, 4), whole}, 1},
		{"made of what is behind", []recorder.Launch{madeOf(begin+8, 4), whole}, 1},
		{"read between", []recorder.Launch{made, touch(kernels.In, out, begin, 1), whole}, 3},
		{"written between", []recorder.Launch{made, touch(kernels.Out, out, begin, 1), whole}, 3},
		{"another part written between", []recorder.Launch{made, touch(kernels.Out, out, begin+8, 1), whole}, 2},
		{"read before", []recorder.Launch{touch(kernels.In, out, begin, 1), made, whole}, 2},
		{"read behind", []recorder.Launch{made, whole, touch(kernels.In, out, begin, 1)}, 2},
		{"the result read between", []recorder.Launch{made, touch(kernels.In, tmp, 7, 1), whole}, 3},
		{"the result read behind", []recorder.Launch{made, whole, touch(kernels.In, tmp, 7, 1)}, 3},
		{"the result changed between", []recorder.Launch{made, touch(kernels.InOut, tmp, 7, 1), whole}, 3},
		{"written twice", []recorder.Launch{made, made, whole}, 3},
		{"written behind", []recorder.Launch{whole, made}, 2},
		{"read alone", []recorder.Launch{touch(kernels.In, tmp, 0, 8), whole}, 2},
		{"read and written", []recorder.Launch{launch(opaque("both", kernels.In, kernels.Out), kernels.Vec(tmp, 8, 8), kernels.Vec(tmp, 0, 8)), whole}, 2},
		{"two results beside each other", []recorder.Launch{launch(opaque("both", kernels.Out, kernels.Out), kernels.Vec(tmp, 0, 8), kernels.Vec(tmp, 8, 8)), whole}, 2},
		{"two results, of which the latter is copied", []recorder.Launch{launch(opaque("both", kernels.Out, kernels.Out), kernels.Vec(tmp, 8, 8), kernels.Vec(tmp, 0, 8)), whole}, 2},
		{"of nothing", []recorder.Launch{whole}, 1},
		{"made of what is as far in other memory", []recorder.Launch{launch(maker, kernels.Vec(&room{2 * begin}, begin, 8), kernels.Vec(tmp, 0, 8)), whole}, 1},
		{"of a number beside it", []recorder.Launch{launch(opaque("both", kernels.Out, kernels.In), kernels.Vec(tmp, 0, 8), kernels.Vec(tmp, 8, 0)), whole}, 1},
		{"made by a map", []recorder.Launch{saying([]kernels.Operation{mapOf(kernels.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))},
			[]kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(other, 0, 8), kernels.Vec(tmp, 0, 8)), whole}, 2},
		{"two of them", []recorder.Launch{made, launch(maker, kernels.Vec(tmp, 0, 0), kernels.Vec(other, 0, 8)), whole,
			saying([]kernels.Operation{mapOf(kernels.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(other, 0, 8), kernels.Vec(out, 2*begin, 8))}, 3},
		{"made once", []recorder.Launch{sum, whole}, 2},
		{"kept", []recorder.Launch{launch(maker, kernels.Vec(tmp, 0, 8), kernels.Vec(out, 0, 8)),
			saying([]kernels.Operation{mapOf(kernels.Identity, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, []kernels.Mode{kernels.In, kernels.Out}, kernels.Vec(out, 0, 8), kernels.Vec(other, 0, 8))}, 2},
	} {
		nodes, err := rewriteLaunches(only("results", "once"), gpu, c.step, lives, constant, nil)
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
