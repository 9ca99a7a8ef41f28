package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestSplitConditions: of a launch that has a map and its sums, the map is computed where the product stores what it
// reads, and the sums behind that, only if nobody can tell.
func TestSplitConditions(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 64) }
	x, y, z, w, sums := mem(), mem(), mem(), mem(), mem()
	type modes = []kernels.Mode
	arg := func(b kernels.Buffer) kernels.Arg { return kernels.BufferArg(b, 0, 8) }
	const in, out = kernels.In, kernels.Out
	stores := touching(modes{in, out}, arg(x), arg(y))
	stores.Kernel.Name = "k_product"
	stores.Kernel.Fusions = fused.Fusions{Epilogue: &fused.EpilogueSpec{GPU: 4, Result: 1,
		Elements: func(a []kernels.Arg) (n, row int) { return a[1].N, 8 }}}
	add := saying([]kernels.Op{mapOf(fn.Add, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), viewOf(2, 0, 1))},
		modes{in, in, out}, arg(y), arg(w), arg(z))
	rest := touching(modes{in, out}, arg(z), arg(sums))
	rest.Kernel.Name = "k_rest"
	both := touching(modes{in, in, out, out}, arg(y), arg(w), arg(z), arg(sums))
	both.Kernel.Name = "k_both"
	both.Kernel.Semantics = func([]kernels.Arg) []kernels.Op { return []kernels.Op{sumOf(viewOf(3, 0, 4, 4, 1))} }
	both.Kernel.Fusions = fused.Fusions{Split: func([]kernels.Arg, kernels.Target) []fused.Launch {
		return []fused.Launch{{Kernel: add.Kernel, Args: add.Args}, {Kernel: rest.Kernel, Args: rest.Args}}
	}}
	touch := func(mode kernels.Mode, b kernels.Buffer) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(b, 7, 1))
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name string
		step []capture.Launch
		want string // the launches of the step that each does
	}{
		{"next to each other", steps(stores, both), "0+1 rest"},
		{"another launch between", steps(stores, touch(in, x), both), "0+2 1 rest"},
		{"what the map reads is written between", steps(stores, touch(out, w), both), "0 1 2"},
		{"what the map writes is read between", steps(stores, touch(in, z), both), "0 1 2"},
		{"what the sums write is read between", steps(stores, touch(in, sums), both), "0+2 1 rest"},
		{"what the product stores is read behind", steps(stores, both, touch(in, y)), "0 1 2"},
		{"what the map writes is read behind", steps(stores, both, touch(in, z)), "0+1 rest 2"},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == sums }, never)
		splitLaunches(r)
		var got []string
		for _, n := range r.nodes {
			if n.kernel.Name == "k_rest" {
				got = append(got, "rest")
				continue
			}
			got = append(got, strings.Trim(strings.ReplaceAll(fmt.Sprint(n.from), " ", "+"), "[]"))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: launches %s, want %s", c.name, s, c.want)
		}
	}
}
