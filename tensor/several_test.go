package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestSeveral: launches that are one compute the bits that each computes alone, whatever their
// sizes; and check mode, which holds the kernel to its host kernel, agrees.
func TestSeveral(t *testing.T) {
	shapes := [][3]int{{1, 40, 8}, {1, 7, 130}, {3, 33, 1}, {5, 2, 17}, {1, 0, 4}, {2, 9, 16}, {1, 300, 33}, {4, 5, 6}}
	several(t, ops.SumAxis, []int{2, 3, 4, 5, 6, 7, 8, 16}, func(d tensor.Device, r *rand.Rand) (args []kernels.Arg, result int) {
		s := shapes[r.IntN(len(shapes))]
		rng := tensor.NewRNG(r.Uint64())
		x, y := rng.Normal(d, 0, 1, s[0], s[1], s[2]), rng.Normal(d, 0, 1, s[0], s[2])
		return []kernels.Arg{x.Arg(), y.Arg(), kernels.IntArg(s[0]), kernels.IntArg(s[1]), kernels.IntArg(s[2]), kernels.FloatArg(0.3), kernels.IntArg(r.IntN(2))}, 1
	})
	if fused.Batch(ops.SumAxis, 1) != nil || fused.Batch(ops.SumAxis, 17) != nil ||
		fused.Batch(ops.Sum, 2) != nil {
		t.Error("there is a kernel of no or too many launches, or of those that are not done together")
	}
	if first, again := fused.Batch(ops.SumAxis, 3), fused.Batch(ops.SumAxis, 3); first != again {
		t.Error("each asks for a kernel of its own")
	}
}

// TestSeveralProducts is TestSeveral with products, of which some have shares of their sum, on the
// units of GPUs, too.
func TestSeveralProducts(t *testing.T) {
	shapes := [][3]int{{70, 65, 33}, {64, 64, 64}, {3, 130, 40}, {129, 5, 200}, {1, 1, 1}, {66, 66, 0}, {20, 70, 17}}
	product := func(form ops.GemmForm) func(d tensor.Device, r *rand.Rand) (args []kernels.Arg, result int) {
		return func(d tensor.Device, r *rand.Rand) (args []kernels.Arg, result int) {
			s := shapes[r.IntN(len(shapes))]
			m, n, k, pad := s[0], s[1], s[2], r.IntN(3)
			rng := tensor.NewRNG(r.Uint64())
			rowsA, lda, rowsB, ldb := m, k+pad, k, n+pad
			if form.TransposesA() {
				rowsA, lda = k, m+pad
			}
			if form.TransposesB() {
				rowsB, ldb = n, k+pad
			}
			slice, add := max(1, k), r.IntN(2)
			if k > 1 && r.IntN(2) == 0 {
				slice, add = (k+2)/3, 0
			}
			a, b := rng.Normal(d, 0, 1, rowsA, lda), rng.Normal(d, 0, 1, rowsB, ldb)
			bias, c := rng.Normal(d, 0, 1, n), rng.Normal(d, 0, 1, (k+slice-1)/slice, m, n)
			args = []kernels.Arg{a.Arg(), b.Arg(), bias.Arg(), c.Arg()}
			for _, v := range []int{m, n, k, lda, ldb, n, add, add, 12, slice} {
				args = append(args, kernels.IntArg(v))
			}
			return args, 3
		}
	}
	d := kernels.Target{MaxGroup: 1024, LocalMem: 48 << 10, Units: 2}
	counts := [][]int{{3}}
	if devtest.Sweep() {
		counts = [][]int{{2, 3, 7, 11}, {2, 5}, {4, 8}}
	}
	for i, form := range []ops.GemmForm{ops.TN, ops.NT, ops.NN}[:len(counts)] {
		several(t, ops.Gemm(form, ops.GemmTiles(kernels.Float32, d)[i], nil), counts[i], product(form))
	}
	several(t, ops.Gemm(ops.TN, ops.MatrixTiles(ops.BF16x3, kernels.Float32, d)[0], nil), []int{3}, product(ops.TN))
	k := ops.Gemm(ops.NN, ops.GemmTiles(kernels.Float32, d)[0], nil)
	if fused.MaxBatch(k, kernels.Target{CPU: true}) != 1 {
		t.Error("products are done together on a CPU")
	}
}

// several launches a kernel with arguments that draw makes, each alone and so many in one.
func several(t *testing.T, k *kernels.Kernel, counts []int, draw func(d tensor.Device, r *rand.Rand) (args []kernels.Arg, result int)) {
	t.Helper()
	for _, sel := range devtest.Selected() {
		options := []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			options = []tensor.Options{{}, devtest.GPUKernels(), {Check: true}}
			if fused.Of(k).Batch.Function == "" {
				options = []tensor.Options{devtest.GPUKernels(), devtest.GPUKernels(tensor.Options{Check: true})}
			}
		}
		for _, opt := range options {
			d := devtest.Open(t, sel, opt)
			for _, n := range counts {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				var args [][]kernels.Arg
				var alone, batched []*tensor.Tensor
				var local [3]int
				for len(args) < n {
					a, result := draw(d, r)
					if g := k.Grid(a, d.Target()).Local; len(args) == 0 {
						local = g
					} else if g != local && (d.Target().CPU || fused.Of(k).Batch.GroupRanges == nil) {
						continue // groups of another size are not done together
					}
					for _, to := range []*[]*tensor.Tensor{&alone, &batched} {
						x := tensor.NewRNG(uint64(len(args))).Normal(d, 0, 1, a[result].N)
						a = slices.Clone(a)
						a[result] = x.Arg()
						if *to = append(*to, x); to == &alone {
							tensor.Launch(d, k, a...)
						}
					}
					args = append(args, a)
				}
				tensor.Launch(d, fused.Batch(k, n), fused.BatchArgs(k, d.Target(), args...)...)
				for i := range alone {
					want, err := alone[i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					got, err := batched[i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s %s %+v, %d of %d: %v, want %v", k.Name, sel, opt, i, n, got, want)
					}
				}
			}
		}
	}
}
