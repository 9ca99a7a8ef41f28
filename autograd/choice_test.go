package autograd_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientOfTheChosen: what a mask did not choose gets 0, infinite or NaN as its own gradient
// may be, in recorded passes too; masks and comparisons have none.
func TestGradientOfTheChosen(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, record := range []bool{false, true} {
			p, q := param(d, 0, 4, -1), param(d, 1, 2, 3)
			mask := p.GtScalar(0)
			if mask.NeedsGrad() || mask.Type() != tensor.Bool {
				t.Errorf("a comparison is %v and needs a gradient: %v", mask.Type(), mask.NeedsGrad())
			}
			// Of √ and log the gradients at 0 and −1 are infinite and NaN: they get 0 from above,
			// and are masked again.
			safe := p.Where(mask, autograd.Const(tensor.Scalar(d, 1)))
			y := safe.Sqrt().Add(safe.Log()).Where(mask, q.MulScalar(math.Inf(1))).MaskedFill(mask.LogicalNot(), 5)
			grads, err := autograd.Grad(y.Sum(), []*node{p, q}, autograd.GradOptions{CreateGraph: record})
			if err != nil {
				t.Fatal(err)
			}
			want(t, "gradient of the chosen", grads[0].Value(), 0, 0.5, 0)
			if v := values(t, p.Where(mask, q).Value()); v[0] != 1 || v[1] != 4 || v[2] != 3 {
				t.Error(v)
			}
			direct, err := autograd.Grad(p.Log().Where(mask, q).Sum(), []*node{q}, autograd.GradOptions{CreateGraph: record})
			if err != nil {
				t.Fatal(err)
			}
			want(t, "gradient of the other", direct[0].Value(), 1, 0, 1)
		}
		p := param(d, 1, math.NaN(), 3, math.Inf(1))
		chosen := p.MaskedSelect(p.IsFinite())
		if err := chosen.Square().Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, "gradient of MaskedSelect", p.Grad(), 2, 0, 6, 0)
		none := param(d, 1, 2)
		if err := none.MaskedSelect(none.GtScalar(9)).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, "gradient of nothing that was selected", none.Grad(), 0, 0)
	})
}

// TestMaskIsReadOnce: a mask that changes between a step and its Backward is an error, as of any
// operand that a gradient reads.
func TestMaskIsReadOnce(t *testing.T) {
	d := devtest.CPU(t)
	p, mask := param(d, 1, 2), devtest.New(d, []uint8{1, 0}).To(tensor.Bool)
	y := p.MaskedFill(autograd.Const(mask), 0).Sum()
	mask.FillInPlace(1)
	fails(t, y.Backward(), autograd.ErrChanged, "MaskedFill")
}
