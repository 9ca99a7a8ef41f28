package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestManyLayers: a step of more linear layers than a formula has operands is recorded, and says
// why no launch trains it. With residuals, what a layer reads is made of what all before it read.
func TestManyLayers(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, residual := range []bool{false, true} {
		const layers = 300
		rng := tensor.NewRNG(1)
		var list []*nn.Linear
		var params []*autograd.Node
		for range layers {
			l := nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 4})
			list, params = append(list, l), append(params, nn.Params(l)...)
		}
		opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(0)})
		x, y := rng.Uniform(d, -1, 1, 8, 4), rng.Uniform(d, 0, 1, 8, 4)
		step := func() ([]*tensor.Tensor, error) {
			h := autograd.Const(x)
			for _, l := range list {
				if f := l.Forward(h).Tanh(); residual {
					h = h.Add(f)
				} else {
					h = f
				}
			}
			loss := h.SquaredError(autograd.Const(y))
			err := loss.Backward()
			if err == nil {
				err = opt.Step()
			}
			opt.ZeroGrad()
			return []*tensor.Tensor{loss.Value()}, err
		}
		var want float64
		tensor.Scope(d, func() {
			out, err := step()
			if err != nil {
				t.Fatal(err)
			}
			if want, err = out[0].Item(); err != nil {
				t.Fatal(err)
			}
		})
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if got, err := rec.Outputs()[0].Item(); err != nil || got != want {
			t.Errorf("residual %v: the loss is %v, eagerly %v: %v", residual, got, want, err)
		}
		if why := rec.Report().NotFused; why == nil || !strings.Contains(why.Error(), "300 layers: one launch trains 8 at most") {
			t.Errorf("no fused step: %v", why)
		}
	}
}
