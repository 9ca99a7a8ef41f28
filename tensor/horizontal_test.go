package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestBeside: two launches of different kernels that are one compute the bits that each computes
// alone, whichever has more work-groups, also where one has groups of two dimensions and local
// memory; and check mode agrees.
func TestHorizontal(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		for _, opt := range []tensor.Options{devtest.GPUKernels(), devtest.GPUKernels(tensor.Options{Check: true})} {
			d := devtest.Open(t, sel, opt)
			rng := tensor.NewRNG(7)
			for _, n := range [][2]int{{40, 5000}, {5000, 40}, {1, 1}, {300, 300}, {6000, 256}} {
				size, count := n[0], n[1]
				const groups = 11
				losses := 5 * (size % 3)
				numbers := []kernels.Arg{kernels.FloatArg(0.001), kernels.FloatArg(0.9), kernels.FloatArg(0.1), kernels.FloatArg(0.99), kernels.FloatArg(0.01), kernels.FloatArg(0.02), kernels.FloatArg(1.5), kernels.FloatArg(1e-8)}
				part, seed, loss := rng.Normal(d, 0, 1, groups, size), tensor.Full(d, 2, 1), rng.Normal(d, 0, 1, max(losses, 1))
				g := rng.Normal(d, 0, 1, count)
				// What is written: by the one, parameters, moments and the loss; by the other,
				// parameters and momentum.
				var written [][]*tensor.Tensor
				for range 2 {
					same := tensor.NewRNG(3)
					written = append(written, []*tensor.Tensor{same.Normal(d, 0, 1, size), same.Normal(d, 0, 1, size), same.Uniform(d, 0, 1, size),
						tensor.Zeros(d, 1), same.Normal(d, 0, 1, count), same.Normal(d, 0, 1, count)})
				}
				shares := func(w []*tensor.Tensor) []kernels.Arg {
					sum := w[3].Arg()
					if losses == 0 {
						sum.N = 0
					}
					return append([]kernels.Arg{w[0].Arg(), part.Arg(), seed.Arg(), w[1].Arg(), w[2].Arg(), kernels.BufferArg(loss.Arg().Buf, loss.Arg().Off, losses), sum,
						kernels.IntArg(size), kernels.IntArg(groups), kernels.IntArg(losses), kernels.FloatArg(0.5)}, numbers...)
				}
				sgd := func(w []*tensor.Tensor) []kernels.Arg {
					return []kernels.Arg{w[4].Arg(), g.Arg(), w[5].Arg(), kernels.IntArg(count), kernels.FloatArg(0.1), kernels.FloatArg(0.9), kernels.FloatArg(0.01), kernels.IntArg(1), kernels.IntArg(1)}
				}
				tensor.Launch(d, ops.AdamWPartials, shares(written[0])...)
				tensor.Launch(d, ops.SGD, sgd(written[0])...)
				a, b := shares(written[1]), sgd(written[1])
				wide := [2]int{ops.AdamWPartials.Grid(a, d.Target()).Local[0], ops.SGD.Grid(b, d.Target()).Local[0]}
				if size/32 <= count/256 {
					tensor.Launch(d, fused.FuseHorizontal(ops.AdamWPartials, ops.SGD, wide), append(a, b...)...)
				} else {
					tensor.Launch(d, fused.FuseHorizontal(ops.SGD, ops.AdamWPartials, [2]int{wide[1], wide[0]}), append(b, a...)...)
				}
				for i := range written[0] {
					want, err := written[0][i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					got, err := written[1][i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s %+v, %v: tensor %d: %v, want %v", sel, opt, n, i, got, want)
					}
				}
			}
		}
	}
}

// TestHorizontalSums: so are sums along an axis, which ask how large their work-groups are.
func TestHorizontalSums(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, devtest.GPUKernels())
		rng := tensor.NewRNG(8)
		for _, s := range [][3]int{{1, 70, 40}, {1, 300, 33}, {1, 9, 2000}} {
			x, g := rng.Normal(d, 0, 1, s[0], s[1], s[2]), rng.Normal(d, 0, 1, 700)
			var results [2][]*tensor.Tensor
			for i := range results {
				same := tensor.NewRNG(3)
				y, p, v := tensor.Zeros(d, s[0], s[2]), same.Normal(d, 0, 1, 700), same.Normal(d, 0, 1, 700)
				a := []kernels.Arg{x.Arg(), y.Arg(), kernels.IntArg(s[0]), kernels.IntArg(s[1]), kernels.IntArg(s[2]), kernels.FloatArg(0.3), kernels.IntArg(0)}
				b := []kernels.Arg{p.Arg(), g.Arg(), v.Arg(), kernels.IntArg(700), kernels.FloatArg(0.1), kernels.FloatArg(0.9), kernels.FloatArg(0.01), kernels.IntArg(0), kernels.IntArg(1)}
				sums, updates := ops.SumAxis.Grid(a, d.Target()), ops.SGD.Grid(b, d.Target())
				switch {
				case i == 0:
					tensor.Launch(d, ops.SumAxis, a...)
					tensor.Launch(d, ops.SGD, b...)
				case sums.Global[0]/sums.Local[0] <= updates.Global[0]/updates.Local[0]:
					tensor.Launch(d, fused.FuseHorizontal(ops.SumAxis, ops.SGD, [2]int{sums.Local[0], updates.Local[0]}),
						append(a, b...)...)
				default:
					tensor.Launch(d, fused.FuseHorizontal(ops.SGD, ops.SumAxis, [2]int{updates.Local[0], sums.Local[0]}),
						append(b, a...)...)
				}
				results[i] = []*tensor.Tensor{y, p, v}
			}
			for i, alone := range results[0] {
				want, err := alone.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				got, err := results[1][i].Float64s()
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s %v: tensor %d: %v, want %v", sel, s, i, got, want)
				}
			}
		}
	}
}

// TestNotHorizontal: there is no kernel of two of which one is not done with others, as a map, whose text has no
// function of its own, that are built with other options, or use local memory.
func TestNotHorizontal(t *testing.T) {
	wide := [2]int{256, 256}
	wrong := *ops.SGD
	wrong.Defines = "-DREALLY=1"
	other := *ops.AdamW
	other.Defines = "-DREALLY=2"
	elements := fused.Map(fn.Neg.Alone(), kernels.Int16, fused.AccessPattern{Rank: 1, Aligned: true})
	if fused.FuseHorizontal(ops.Sum, ops.SGD, wide) != nil || fused.FuseHorizontal(ops.SGD, ops.Sum, wide) != nil ||
		fused.FuseHorizontal(&wrong, &other, wide) != nil || fused.FuseHorizontal(elements, ops.SGD, wide) != nil ||
		fused.FuseHorizontal(elements, elements, wide) != nil {
		t.Error("there is a kernel of two that are not done beside each other")
	}
	if fused.FuseHorizontal(ops.SumAxis, ops.SumAxis, wide) != nil {
		t.Error("two kernels that use local memory are one")
	}
	if first := fused.FuseHorizontal(ops.AdamW, ops.SGD, wide); first != fused.FuseHorizontal(ops.AdamW, ops.SGD, wide) {
		t.Error("each asks for a kernel of its own")
	}
}
