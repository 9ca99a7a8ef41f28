package bench

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// gemmSizes are those of layers of a small perceptron for batches of growing size, and squares: m,
// n, k.
var gemmSizes = [][3]int{{512, 64, 64}, {65536, 64, 64}, {262144, 64, 64}, {512, 512, 512}, {1024, 1024, 1024},
	{2048, 2048, 2048}, {4096, 4096, 4096}}

// layerForms are those of the products of a layer.
var layerForms = []ops.GemmForm{ops.NN, ops.NT, ops.TN}

// problem is the products of one layer X [m, k]·W [k, n]: forward, and the gradients of X and of W.
type problem struct {
	m, n, k int
	x, w, g *tensor.Tensor // [m, k], [k, n], [m, n]
	out     map[ops.GemmForm]*tensor.Tensor
}

func newProblem(d tensor.Device, size [3]int) *problem {
	m, n, k := size[0], size[1], size[2]
	rng := tensor.NewRNG(1)
	return &problem{m, n, k, rng.Uniform(d, -1, 1, m, k), rng.Uniform(d, -1, 1, k, n), rng.Uniform(d, -1, 1, m, n),
		map[ops.GemmForm]*tensor.Tensor{ops.NN: tensor.Zeros(d, m, n), ops.NT: tensor.Zeros(d, m, k), ops.TN: tensor.Zeros(d, k, n)}}
}

// run computes X·W, G·Wᵀ or Xᵀ·G.
func (p *problem) run(form ops.GemmForm) {
	a, b := p.operands(form)
	tensorapi.Impl.MatMulInto(p.out[form], a, b, false)
	a.Free()
	b.Free()
}

// operands returns views of the factors.
func (p *problem) operands(form ops.GemmForm) (a, b *tensor.Tensor) {
	switch form {
	case ops.NT:
		return p.g.View(), p.w.T()
	case ops.TN:
		return p.x.T(), p.g.View()
	}
	return p.x.View(), p.w.View()
}

func (p *problem) flops() float64 { return 2 * float64(p.m) * float64(p.n) * float64(p.k) }

func (p *problem) free() {
	for _, t := range []*tensor.Tensor{p.x, p.w, p.g, p.out[ops.NN], p.out[ops.NT], p.out[ops.TN]} {
		t.Free()
	}
}

func (s *Suite) gemm(ctx context.Context) error {
	if err := s.peak(ctx); err != nil {
		return err
	}
	for _, size := range gemmSizes {
		p := newProblem(s.Device, size)
		for _, form := range layerForms {
			name := fmt.Sprintf("gemm %s %dx%dx%d", form, p.m, p.n, p.k)
			peak := s.flops
			if precision := s.Device.Precision(); precision != tensor.PrecisionFloat32 {
				name, peak = name+" "+precision.String(), 0 // which is that of other units
			}
			if _, err := s.time(ctx, name, "GFLOP/s", p.flops(), peak, func() { p.run(form) }); err != nil {
				p.free()
				return err
			}
		}
		p.free()
	}
	return nil
}
