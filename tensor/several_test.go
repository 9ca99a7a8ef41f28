package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestSeveral: launches that are one compute the bits that each computes alone, whatever their sizes; and check mode, which
// holds the kernel to its twin, agrees.
func TestSeveral(t *testing.T) {
	shapes := [][3]int{{1, 40, 8}, {1, 7, 130}, {3, 33, 1}, {5, 2, 17}, {1, 0, 4}, {2, 9, 16}, {1, 300, 33}, {4, 5, 6}}
	for _, sel := range devtest.Selected() {
		options := []tensor.Options{{}, {Float64: true}}
		if sel != "cpu" {
			options = []tensor.Options{{}, {GPUKernels: true}, {Check: true}}
		}
		for _, opt := range options {
			d := devtest.Open(t, sel, opt)
			for n := 2; n <= kernels.SeveralMost; n++ {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				var alone, together []*tensor.Tensor
				var args []kernels.Arg
				var local [3]int
				parts := 0
				for parts < n {
					s := shapes[r.IntN(len(shapes))]
					of := func(y *tensor.Tensor, x *tensor.Tensor, add int) []kernels.Arg {
						return []kernels.Arg{x.Arg(), y.Arg(), kernels.I(s[0]), kernels.I(s[1]), kernels.I(s[2]), kernels.R(0.3), kernels.I(add)}
					}
					x := tensor.NewRNG(uint64(parts)).Normal(d, 0, 1, s[0], s[1], s[2])
					y := tensor.NewRNG(uint64(parts)).Normal(d, 0, 1, s[0], s[2])
					z := y.Copy()
					add := r.IntN(2)
					a := of(z, x, add)
					if g := ops.SumAxis.Grid(a, d.Limits()).Local; parts == 0 {
						local = g
					} else if g != local {
						continue // groups of another size are not done together
					}
					tensor.Launch(d, ops.SumAxis, of(y, x, add)...)
					args = append(args, a...)
					alone, together = append(alone, y), append(together, z)
					parts++
				}
				tensor.Launch(d, ops.SumAxis.Several(n), args...)
				for i := range alone {
					want, err := alone[i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					got, err := together[i].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s %+v, %d of %d: %v, want %v", sel, opt, i, n, got, want)
					}
				}
			}
		}
	}
	if ops.SumAxis.Several(1) != nil || ops.SumAxis.Several(9) != nil || ops.Sum.Several(2) != nil {
		t.Error("there is a kernel of no or too many launches, or of those that are not done together")
	}
	if first, again := ops.SumAxis.Several(3), ops.SumAxis.Several(3); first != again {
		t.Error("each asks for a kernel of its own")
	}
}
