package serve_test

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/serve"
	"github.com/clgrad/clgrad/tensor"
)

// A model answers a request of two rows.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	net := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 3, Out: 2})
	model := serve.Func(d, func(x ...*autograd.Node) []*autograd.Node {
		return []*autograd.Node{net.Forward(x[0]).Softmax(1)}
	})
	p, err := serve.New([]serve.Worker{model}, serve.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	outputs, err := p.Predict(ctx, data.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	probabilities := data.Elements[float32](outputs[0])
	fmt.Println(outputs[0].Shape())
	fmt.Printf("%.3f\n", probabilities[0]+probabilities[1])
	fmt.Println(p.Close(ctx))

	// Output:
	// [2 2]
	// 1.000
	// <nil>
}
