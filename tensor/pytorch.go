package tensor

import (
	"fmt"
	"io"

	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/internal/torchfile"
)

// LoadPyTorch reads the tensors of a file of torch.save, .pt or .pth, onto a device: of a state dict by
// their names, of a dictionary in another by both keys with a point between, such as
// "model.conv.weight". What is no tensor is left out. Tensors keep their type.
//
// The file is a zip archive with a pickle. Nothing in that is executed: a file with other objects than a
// state dict has is an error that names them, and so is a model of torch.jit, or a file of PyTorch
// before 1.6. The error of a damaged file wraps ErrFormat. No tensor is left behind.
//
// Source: PyTorch, torch/serialization.py.
func LoadPyTorch(d Device, path string) (Dict, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tensor: load: %w", err)
	}
	defer f.Close()
	tensors, err := ReadPyTorch(d, f, size)
	if err != nil {
		return nil, fmt.Errorf("tensor: load %s: %w", path, err)
	}
	return tensors, nil
}

// ReadPyTorch is LoadPyTorch from size bytes of r.
func ReadPyTorch(d Device, r io.ReaderAt, size int64) (Dict, error) {
	mustDevice("ReadPyTorch", d)
	tensors := Dict{}
	err := torchfile.Each(r, size, func(a torchfile.Array) error {
		t, err := fromArray(d, npz.Array{Shape: a.Shape, Data: a.Data})
		if err != nil {
			return fmt.Errorf("%w: tensor %q: %w", ErrFormat, a.Name, err)
		}
		tensors[a.Name] = t
		return nil
	})
	if err != nil {
		for _, t := range tensors {
			t.Free()
		}
		return nil, formatError{err}
	}
	return tensors, nil
}
