package imagedecoder_test

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/onnx"
	_ "github.com/clgrad/clgrad/onnx/imagedecoder" // adds the operator
	"github.com/clgrad/clgrad/tensor"
)

// A model decodes a picture of two pixels, in the portable format.
func Example() {
	file := &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: 20}}, Graph: &onnxpb.Graph{
		Nodes:   []*onnxpb.Node{{Op: "ImageDecoder", Inputs: []string{"file"}, Outputs: []string{"pixels"}}},
		Inputs:  []*onnxpb.ValueInfo{{Name: "file"}},
		Outputs: []*onnxpb.ValueInfo{{Name: "pixels"}}}}
	model, err := onnx.Parse(file.Append(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
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
	outputs, err := session.Run(onnx.FromTensor(tensor.New(d, []byte("P3 2 1 255 255 0 0 1 2 3\n"))))
	if err != nil {
		fmt.Println(err)
		return
	}
	pixels, err := outputs[0].Tensor().Uint8s()
	fmt.Println(outputs[0].Shape(), pixels, err)

	// Output:
	// [1 2 3] [255 0 0 1 2 3] <nil>
}
