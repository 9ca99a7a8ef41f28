package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkRun measures replays of steps so small that what the host does beside the launches
// shows: one of training, and one that launches nothing. Each has 18 parameters.
func BenchmarkRun(b *testing.B) {
	d, err := tensor.Open("cpu")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, trains := range []bool{true, false} {
		b.Run(map[bool]string{true: "training", false: "no launches"}[trains], func(b *testing.B) {
			rng := tensor.NewRNG(1)
			net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 4, 4, 4, 4, 4, 4, 4, 4, 1}, Activations: []nn.Activation{nn.Tanh}})
			opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Constant(0.01)})
			x := autograd.Const(rng.Normal(d, 0, 1, 4, 2))
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
				opt.ZeroGrad()
				if !trains {
					return nil, nil
				}
				if err := net.Forward(x).Square().Mean().Backward(); err != nil {
					return nil, err
				}
				return nil, opt.Step()
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := rec.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
