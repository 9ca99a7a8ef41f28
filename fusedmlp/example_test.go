package fusedmlp_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// A recorded step of a perceptron is one fused launch, and the optimizer's.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	rng := tensor.NewRNG(1)
	net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 32, 32, 1}, Activations: []nn.Activation{nn.Tanh}}) // links the package
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(1e-3)))
	x, y := rng.Uniform(d, -1, 1, 256, 2), rng.Uniform(d, -1, 1, 256, 1)

	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		loss := net.Forward(autograd.Const(x)).SquaredError(autograd.Const(y))
		return []*tensor.Tensor{loss.Value()}, optim.Minimize(opt, loss)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Free()
	fmt.Println(rec.Report().FusedSteps, "perceptron,", rec.Report().Launches, "launches,", rec.Run())
	// Output: 1 perceptron, 2 launches, <nil>
}
