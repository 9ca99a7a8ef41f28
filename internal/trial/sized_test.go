package trial

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// TestPassOfAnySize: the operands made for a training pass are those of a launch, also where the pass is so large that
// they have fewer samples.
func TestPassOfAnySize(t *testing.T) {
	gpu := kernels.Limits{Units: 132, MaxGroup: 1024, LocalMem: 48 << 10}
	s := ops.ExampleMLP
	s.Width, s.Inputs = 64, 64
	for _, n := range []int{1, 33, 4096, 65536, 1 << 18} {
		for _, inputGrad := range []bool{false, true} {
			block := s.Block(n, kernels.Float32, gpu)
			groups := s.Groups(n, block, gpu)
			k := ops.MLPLoss(s, kernels.Float32, block, inputGrad)
			args := []kernels.Arg{
				kernels.Vec(nil, 0, n*s.Inputs), kernels.Vec(nil, 0, n*s.Outputs), kernels.Vec(nil, 0, s.Size()),
				kernels.Vec(nil, 0, groups*s.Size()), kernels.Vec(nil, 0, groups), kernels.Vec(nil, 0, 0), kernels.I(n),
			}
			t.Run(fmt.Sprintf("%d samples, %d groups, %t", n, groups, inputGrad), func(t *testing.T) {
				o := Like(k, args, kernels.Float32)
				k.Run(kernels.Float32, o.Args)
				samples, shares := int(o.Args[6].Int), o.Args[4].N
				if samples < 1 || samples > n || shares < 1 || shares > groups || shares > 1 && shares > (samples+block-1)/block {
					t.Errorf("%d samples in %d groups of blocks of %d", samples, shares, block)
				}
			})
		}
	}
}
