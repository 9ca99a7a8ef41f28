package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestOnceAlone: a launch that is done when the step is recorded is not one with what each run does. That would be
// done once, too, or others that are done once would read what is not there yet.
func TestOnceAlone(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 64) }
	same, varies, a, b, out := mem(), mem(), mem(), mem(), mem()
	modes := []kernels.Mode{kernels.In, kernels.Out}
	from := func(x, y kernels.Buffer) []kernels.Arg {
		return []kernels.Arg{kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 0, 8)}
	}
	negate := func(x, y kernels.Buffer) capture.Launch {
		return saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes, from(x, y)...)
	}
	row := func(x, y kernels.Buffer) capture.Launch {
		return byRows(modes, 1, 1, []fused.RowSlice{fused.ConsecutiveRows(8), fused.ConsecutiveRows(8)}, from(x, y)...)
	}
	stores := touching(modes, from(same, a)...)
	stores.Kernel.Fusions = fused.Fusions{Epilogue: &fused.EpilogueSpec{GPU: 4, Result: 1,
		Elements: func(a []kernels.Arg) (n, row int) { return a[1].N, 8 }}}
	work := opaque("work", modes...)
	works := func(x, y kernels.Buffer) capture.Launch {
		return capture.Launch{Kernel: work, Args: append(from(x, y), kernels.IntArg(1), kernels.IntArg(1),
			kernels.IntArg(64))}
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		pass rewrite
		step []capture.Launch
		once []int // the one launch of the step that is done once
	}{
		{joinPass, steps(negate(same, a), negate(varies, b)), []int{0, 1}},
		{rowsPass, steps(row(same, a), row(a, out)), []int{0}},
		{inlinePass, steps(negate(same, a), negate(a, out)), []int{0}},
		{epiloguePass, steps(stores, negate(a, out)), []int{0}},
		{batchPass, steps(works(same, a), works(varies, b)), []int{0, 1}},
		{horizontalPass, steps(works(same, a), touching(modes, from(varies, b)...)), []int{0, 1}},
	} {
		for _, once := range append([]int{-1}, c.once...) {
			r := rewriterOf(c.step, func(m kernels.Buffer) bool { return m == varies || m == out },
				func(m kernels.Buffer) bool { return m == same })
			if once >= 0 {
				r.nodes[once].once = true
			}
			c.pass.do(r)
			n := 0
			for _, m := range r.nodes {
				n += btoi(m != nil)
			}
			if want := 1 + btoi(once >= 0); n != want {
				t.Errorf("%s: launch %d is done once: %d launches, want %d", c.pass.name, once, n, want)
			}
		}
	}
}
