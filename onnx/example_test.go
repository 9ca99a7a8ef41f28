package onnx_test

import (
	"fmt"

	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// A model is loaded and run: y = relu(x·w + b).
func Example() {
	model, err := onnx.Open("../testdata/onnx/perceptron.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Inputs(), model.Outputs())

	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	session, err := model.Load(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	outputs, err := session.Run(onnx.FromTensor(tensor.New(d, []float32{1, 2, 3, 0, 0, 0}, 2, 3)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outputs[0].Tensor().Float32s())

	// Output:
	// [x: float[batch,3]] [y: float[batch,2]]
	// [5.5 7.5 0.5 0] <nil>
}
