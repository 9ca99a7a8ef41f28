package clgrad_test

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// A line through three points.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	x := autograd.Const(tensor.New(d, []float32{0, 1, 2}).Reshape(3, 1))
	y := autograd.Const(tensor.New(d, []float32{1, 3, 5}).Reshape(3, 1))
	net := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 1, Out: 1})
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(0.1)))
	for range 500 {
		opt.ZeroGrad()
		if err := autograd.MSE(net.Forward(x), y).Backward(); err != nil {
			log.Fatal(err)
		}
		opt.Step()
	}

	slope, _ := net.Weight.Value().Item()
	offset, _ := net.Bias.Value().Item()
	fmt.Printf("y = %.1fx + %.1f\n", slope, offset)
	// Output: y = 2.0x + 1.0
}
