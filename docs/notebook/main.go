// Notebook is the cells of clgrad.ipynb: "make notebook" runs them and keeps what they print and draw.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/plot"
	"github.com/clgrad/clgrad/tensor"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	//%% ## Tensors
	//
	// A tensor lives on a device. It prints its shape, its type, its device, and its elements as NumPy does.
	d, err := tensor.Open("cpu", tensor.Options{Timeline: true})
	check(err)
	x := tensor.New(d, []float32{0.5, 1, 1.5, 2, 2.5, 3}, 2, 3)
	fmt.Println(x)

	//%% Of more than 1,000 elements it prints the edges, and copies no others from the device.
	fmt.Println(tensor.Arange(d, 0, 1e6, 1).To(tensor.Int32).Reshape(1000, 1000))

	//%% ## Nodes
	//
	// A node is a value in a graph: it says which operation made it. The graph is written in Graphviz's language.
	w := autograd.Param(tensor.NewRNG(1).Normal(d, 0, 1, 3, 2), "w")
	y := autograd.Const(x).MatMul(w)
	loss := y.Square().Mean()
	fmt.Println(y)
	check(autograd.WriteDOT(os.Stdout, loss))

	//%% `Backward` adds to the gradients of parameters.
	check(loss.Backward())
	fmt.Println(w.Grad())

	//%% ## A model
	//
	// The network learns which points lie in a ring. Its input is 1,024 points of a square, its labels whether each does.
	rng := tensor.NewRNG(1)
	points := autograd.Const(rng.Uniform(d, -1, 1, 1024, 2))
	radius := points.Square().Sum(-1, tensor.Keepdims).Sqrt()
	inside := autograd.Const(radius.SubScalar(0.6).Abs().LtScalar(0.2).Value().To(tensor.Float32))
	net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 32, 32, 1}, Activations: []nn.Activation{nn.Tanh}})
	fmt.Println(nn.Summary(net, points))

	//%% ## Training
	//
	// A step computes the loss of all points and moves the parameters.
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(0.01)))
	var losses []float64
	for step := range 400 {
		loss := autograd.BCEWithLogits(net.Forward(points), inside)
		value, err := loss.Item()
		check(err)
		losses = append(losses, value)
		check(optim.Minimize(opt, loss))
		if step%100 == 0 {
			fmt.Printf("step %3d: %.2f\n", step, value)
		}
	}

	//%% The curve of the loss, on a logarithmic axis:
	check(plot.Save("loss.png", []plot.Panel{{Title: "loss", XLabel: "step", LogY: true,
		Curves: []plot.Curve{{Y: losses}}}}, plot.Options{Width: 12, Height: 6}))

	//%% ## What it has learned
	//
	// The network's answer at each point of the square, black for outside and white for inside:
	axis := tensor.Linspace(d, -1, 1, 96)
	grid := autograd.Meshgrid(autograd.Const(axis), autograd.Const(axis))
	autograd.NoGrad(d, func() {
		at := autograd.Stack(-1, grid...).Reshape(-1, 2)
		answer := net.Forward(at).Sigmoid().Reshape(96, 96)
		check(plot.SavePictures("answer.png", answer.Value(), plot.PictureOptions{Scale: 3, High: 1}))
	})

	//%% ## Weights and gradients
	//
	// Histograms of a layer's weights, and of the gradients after one more `Backward`:
	check(autograd.BCEWithLogits(net.Forward(points), inside).Backward())
	panels, err := plot.Parameters(nn.Params(net)[2:4])
	check(err)
	check(plot.Save("weights.png", panels, plot.Options{Columns: 2, Width: 8, Height: 5}))

	//%% ## Where the NaN comes from
	//
	// `DetectAnomalies` names the operation that made the first one, and the line.
	err = autograd.DetectAnomalies(d, func() error {
		points.SubScalar(2).Log().Sum()
		return nil
	})
	var anomaly *autograd.AnomalyError
	if errors.As(err, &anomaly) {
		fmt.Println(anomaly.Op, "makes", anomaly.Value, "of", anomaly.Count, "elements, the first at", anomaly.Index)
	}

	//%% ## What takes the time
	//
	// A device that was opened with `Timeline` keeps when each kernel ran. https://ui.perfetto.dev shows the file.
	file, err := os.Create("trace.json")
	check(err)
	check(tensor.WriteTrace(file, d))
	check(file.Close())
	check(d.Close())
}
