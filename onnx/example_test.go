package onnx_test

import (
	"bytes"
	"fmt"

	"github.com/clgrad/clgrad/nn"
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

// A model of this module is written for others, with a batch of any size, and read back.
func ExampleExport() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	model := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{4, 8, 3}, Activations: []nn.Activation{nn.ReLU}})
	example := tensor.Zeros(d, 1, 4)
	var file bytes.Buffer
	err = onnx.Export(&file, model, []*tensor.Tensor{example}, onnx.ExportOptions{Dynamic: []map[int]string{{0: "batch"}}})
	if err != nil {
		panic(err)
	}
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Inputs()[0], m.Outputs()[0], m.Operators())
	// Output: input: float[batch,4] output: float[batch,3] map[Gemm:2 Relu:1]
}
