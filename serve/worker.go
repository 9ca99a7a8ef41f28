package serve

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
)

// Worker computes a model on a device of its own. One goroutine calls it.
//
//	serve.Worker{Device: d, Run: session.RunTensors} // of an onnx.Session on d
type Worker struct {
	// Device is what Run computes on. While the predictor runs nobody else may use it.
	Device tensor.Device
	// Run computes the outputs for inputs, which are on Device. The outputs are the caller's: they
	// are read and freed. Other tensors of the call are freed when it returns, but those retained.
	Run func(inputs ...*tensor.Tensor) ([]*tensor.Tensor, error)
}

// PanicError is the error of requests for which the model panicked with anything but a *tensor.Error.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // where it was
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("serve: the model panicked: %v", e.Value) }

// compute runs the model for inputs on the host.
func (w Worker) compute(inputs []data.Array) (outputs []data.Array, err error) {
	defer func() {
		if p := recover(); p != nil {
			outputs = nil
			if misuse, ok := p.(*tensor.Error); ok {
				err = misuse
			} else {
				err = &PanicError{p, debug.Stack()}
			}
		}
	}()
	tensor.Scope(w.Device, func() {
		uploaded := make([]*tensor.Tensor, len(inputs))
		for i, a := range inputs {
			uploaded[i] = a.Tensor(w.Device)
		}
		var made []*tensor.Tensor
		if made, err = w.Run(uploaded...); err != nil {
			return
		}
		outputs = make([]data.Array, len(made))
		for i, t := range made {
			if t == nil {
				err = errors.Join(err, fmt.Errorf("serve: output %d of the model is nil", i))
				continue
			}
			if t.Rank() == 0 { // an array has an axis
				t = t.Reshape(1)
			}
			a, failed := data.FromTensor(t)
			outputs[i], err = a, errors.Join(err, failed)
		}
		for _, t := range made {
			if t != nil {
				t.Free()
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return outputs, nil
}
