package onnx

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/tensor"
)

// The opsets that models are written in.
const (
	leastOpset   = 17
	defaultOpset = 18
	mostOpset    = 23
)

// ExportOptions say how a model is written. The zero value is right for a model with a method Forward.
type ExportOptions struct {
	// Forward computes what is written, for a model of several inputs or outputs: of copies of the example inputs. nil:
	// the model's method Forward of an *autograd.Node or of a *tensor.Tensor.
	Forward func(inputs []*tensor.Tensor) []*autograd.Node

	Inputs  []string // names; nil: input, or input0, input1, …
	Outputs []string // names; nil: output, or output0, output1, …

	// Dynamic names, for each input, the axes whose size is open, by their numbers: {{0: "batch"}}. Axes of one name
	// have one size. There are four names at most.
	Dynamic []map[int]string

	Opset    int               // the version of ai.onnx, 17 to 23; 0: 18
	Metadata map[string]string // properties of the file

	// External puts the weights into a file beside that of the model, of its name and ".data". A model of more than 2
	// gigabytes has them there anyway.
	External bool
}

// Export writes a model as an ONNX file:
//
//	nn.Eval(model)
//	err := onnx.Export(w, model, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: []map[int]string{{0: "batch"}}})
//
// It runs the model on the example inputs, without gradients, and writes the operations on nodes that the outputs are
// computed by: which ones, docs/operations.md lists. Loops and branches of the program are those of this run.
// Parameters and buffers are initializers with the names and layouts of [nn.StateDict].
//
// The model runs several times: with other elements of the inputs, and with every dynamic axis at about
// two and three times its size. What follows from the inputs, and would be written as a constant, is found by that, and
// so are sizes that follow from a dynamic axis. An example of a model with a greatest length is to be that much
// shorter.
//
// A [Session] is written as its file has it, with the weights of now; the example inputs and most options do not count.
//
// The error lists all operations that the opset does not express, with the layer and the line of the program, and is of
// the kind [ErrUnsupported] then. Nothing was written in that case.
func Export(w io.Writer, model any, inputs []*tensor.Tensor, options ...ExportOptions) error {
	o := exportOptions("Export", options)
	if o.External {
		return fmt.Errorf("onnx: Export: External is of files: use ExportFile")
	}
	return exported(model, inputs, o, func(f *modelFile) error {
		if f.weights() > mostInside {
			return fmt.Errorf("onnx: Export: the weights have %d bytes, and a file 2 gigabytes at most: use ExportFile",
				f.weights())
		}
		return f.write(w, nil, "")
	})
}

// ExportFile is [Export] to a file. An error leaves what was there before.
func ExportFile(path string, model any, inputs []*tensor.Tensor, options ...ExportOptions) error {
	o := exportOptions("ExportFile", options)
	return exported(model, inputs, o, func(f *modelFile) error {
		if !o.External && f.weights() <= mostInside {
			return atomicfile.Write(path, func(w io.Writer) error { return f.write(w, nil, "") })
		}
		data := path + ".data"
		return atomicfile.Write(path, func(w io.Writer) error {
			return atomicfile.Write(data, func(outside io.Writer) error { return f.write(w, outside, filepath.Base(data)) })
		})
	})
}

func exportOptions(op string, options []ExportOptions) (o ExportOptions) {
	if len(options) > 1 {
		panic(&tensor.Error{Pkg: "onnx", Op: op, Kind: tensor.ErrValue, Detail: "more than one ExportOptions"})
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o
}

// exported calls write with the file of a model, whose weights are on their device.
func exported(model any, inputs []*tensor.Tensor, o ExportOptions, write func(*modelFile) error) error {
	if s, ok := model.(*Session); ok {
		var err error
		tensor.Scope(s.dev, func() {
			var f *modelFile
			if f, err = s.exported(o); err != nil {
				err = fmt.Errorf("onnx: Export: %w", err)
				return
			}
			err = write(f)
		})
		return err
	}
	if o.Opset == 0 {
		o.Opset = defaultOpset
	}
	e := &exporter{options: o, model: model, examples: inputs}
	if err := e.check(); err != nil {
		return fmt.Errorf("onnx: Export: %w", err)
	}
	var err error
	d := inputs[0].Device()
	tensor.Scope(d, func() {
		autograd.NoGrad(d, func() {
			var f *modelFile
			if f, err = e.export(); err != nil {
				err = fmt.Errorf("onnx: Export: %w", err)
				return
			}
			err = write(f)
		})
	})
	return err
}

// check reports what is wrong with the arguments.
func (e *exporter) check() error {
	o := e.options
	switch {
	case o.Opset < leastOpset || o.Opset > mostOpset:
		return fmt.Errorf("opset %d: it is %d to %d", o.Opset, leastOpset, mostOpset)
	case len(e.examples) == 0:
		return fmt.Errorf("there is no example input: the model is run to be written")
	case o.Inputs != nil && len(o.Inputs) != len(e.examples):
		return fmt.Errorf("%d names of inputs, and %d inputs", len(o.Inputs), len(e.examples))
	case len(o.Dynamic) > len(e.examples):
		return fmt.Errorf("dynamic axes of %d inputs, and %d inputs", len(o.Dynamic), len(e.examples))
	}
	for i, t := range e.examples {
		switch {
		case t == nil:
			return fmt.Errorf("input %d is nil", i)
		case t.Freed():
			return fmt.Errorf("input %d was freed", i)
		case t.Device() != e.examples[0].Device():
			return fmt.Errorf("input %d is on %s, and input 0 on %s", i, t.Device().Name(), e.examples[0].Device().Name())
		}
	}
	if o.Inputs == nil {
		e.options.Inputs = numbered("input", len(e.examples))
	}
	return e.symbolize()
}

// numbered returns n names.
func numbered(name string, n int) []string {
	if n == 1 {
		return []string{name}
	}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(name, i)
	}
	return list
}

// forward returns the function that the model is run by.
func (e *exporter) forward() (func(inputs []*tensor.Tensor) []*autograd.Node, error) {
	if e.options.Forward != nil {
		return e.options.Forward, nil
	}
	if n := len(e.examples); n != 1 {
		return nil, fmt.Errorf("%d inputs: say in ExportOptions.Forward how the model is called", n)
	}
	switch m := e.model.(type) {
	case interface {
		Forward(x *autograd.Node) *autograd.Node
	}:
		return func(in []*tensor.Tensor) []*autograd.Node {
			return []*autograd.Node{m.Forward(autograd.Const(in[0]))}
		}, nil
	case interface {
		Forward(x *tensor.Tensor) *autograd.Node
	}:
		return func(in []*tensor.Tensor) []*autograd.Node { return []*autograd.Node{m.Forward(in[0])} }, nil
	}
	return nil, fmt.Errorf("%T has no method Forward of one node or tensor: say in ExportOptions.Forward how it is called",
		e.model)
}
