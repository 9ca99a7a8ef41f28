// Polynomial recovers a matrix A and a vector B from samples of y = x²·A + B, where x² is taken
// element by element: the smallest program that uses the whole engine.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const samples = 256

// The truth that the samples come from.
var (
	trueA = []float32{1.5, -2, 0.25, 3, -1, 0.5} // [3, 2]
	trueB = []float32{-0.75, 2.25}
)

func main() {
	program.Main("polynomial", func() error { return run(os.Stdout, "") })
}

func run(w io.Writer, device string) error {
	d, err := tensor.Open(device, tensor.Options{LargestTensorHint: samples * 3}) // so few that auto takes cpu
	if err != nil {
		return err
	}
	defer d.Close()
	a, b, err := fit(d)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "A = %.3f, truth %.3f\nB = %.3f, truth %.3f\n", a, trueA, b, trueB)
	return nil
}

// fit returns the estimates of A and B.
func fit(d tensor.Device) (a, b []float32, err error) {
	// The samples: x is drawn on the device, y is computed there from the truth.
	x := autograd.Const(tensor.NewRNG(1).Uniform(d, -1, 1, samples, 3).Retain())
	y := x.Square().MatMul(autograd.Const(tensor.New(d, trueA, 3, 2))).Add(autograd.Const(tensor.New(d, trueB))).Retain()

	// The model starts from zero.
	modelA := autograd.Param(tensor.Zeros(d, 3, 2), "A")
	modelB := autograd.Param(tensor.Zeros(d, 2), "B")
	cfg := optim.AdamWDefaults(optim.Cosine(0.1, 0.001, 500))
	cfg.WeightDecay = 0 // it would pull the estimates towards zero
	opt := optim.NewAdamW([]*autograd.Node{modelA, modelB}, cfg)

	for range 500 {
		loss := x.Square().MatMul(modelA).Add(modelB).Sub(y.Detach()).Square().Mean()
		if err := loss.Backward(); err != nil {
			return nil, nil, err
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			return nil, nil, err
		}
		opt.ZeroGrad()
	}
	if a, err = modelA.Value().Float32s(); err != nil {
		return nil, nil, err
	}
	b, err = modelB.Value().Float32s()
	return a, b, err
}
