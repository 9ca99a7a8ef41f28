package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// onnxFlags are those of the commands that run a model.
type onnxFlags struct {
	dims map[string]int
}

func (f *onnxFlags) register(fs *pflag.FlagSet) {
	fs.StringToIntVar(&f.dims, "dim", nil, "NAME=N: the size of a dimension that the model leaves open (default 1)")
}

// shape returns the shape of an input: dimensions that are open are those of --dim, or 1.
func (f *onnxFlags) shape(i onnx.Info) ([]int, error) {
	if i.Dims == nil {
		return nil, fmt.Errorf("the model does not say the shape of input %s: give it a file", i.Name)
	}
	shape := i.Shape()
	for k, n := range shape {
		if n < 0 {
			shape[k] = 1
			if given, ok := f.dims[i.Dims[k]]; ok {
				shape[k] = given
			}
		}
	}
	return shape, nil
}

// made returns inputs for a model that is to be measured: numbers 0 to 1 that repeat, and ones of integers.
func (f *onnxFlags) made(d tensor.Device, m *onnx.Model) (map[string]*onnx.Value, error) {
	inputs := map[string]*onnx.Value{}
	for _, i := range m.Inputs() {
		typ, ok := i.TensorType()
		if !ok {
			return nil, fmt.Errorf("input %v is no tensor that can be made up: give it a file", i)
		}
		shape, err := f.shape(i)
		if err != nil {
			return nil, err
		}
		if err := tensor.Try(func() {
			x := tensor.FullOf(d, typ, 1, shape...)
			if typ.Float() {
				x = tensor.NewRNG(1).Uniform(d, 0, 1, shape...).To(typ)
			}
			inputs[i.Name] = onnx.FromTensor(x)
		}); err != nil {
			return nil, fmt.Errorf("input %v: %w", i, err)
		}
	}
	return inputs, nil
}

// given returns the inputs that arguments name: archives whose arrays have the names of inputs, NAME or in:NAME, and
// NAME=FILE of one array.
func given(d tensor.Device, m *onnx.Model, args []string) (map[string]*onnx.Value, error) {
	infos := map[string]onnx.Info{}
	for _, i := range m.Inputs() {
		infos[i.Name] = i
	}
	inputs := map[string]*onnx.Value{}
	add := func(name string, t *tensor.Tensor, from string) error {
		info, ok := infos[name]
		if !ok {
			return fmt.Errorf("%s: the model has no input %q: it has %s", from, name, strings.Join(slices.Sorted(maps.Keys(infos)), ", "))
		}
		typ, ok := info.TensorType()
		if ok && typ != t.Type() {
			if typ.Float() != t.Type().Float() {
				return fmt.Errorf("%s: input %s is of %v, and the model takes %v", from, name, t.Type(), typ)
			}
			t = t.To(typ)
		}
		inputs[name] = onnx.FromTensor(t)
		return nil
	}
	for _, arg := range args {
		name, path, one := strings.Cut(arg, "=")
		if !one {
			dict, err := tensor.LoadNPZ(d, arg)
			if err != nil {
				return nil, err
			}
			for name, t := range dict {
				if strings.HasPrefix(name, "out:") {
					continue
				}
				if err := add(strings.TrimPrefix(name, "in:"), t, arg); err != nil {
					return nil, err
				}
			}
			continue
		}
		t, err := readArray(d, path)
		if err != nil {
			return nil, err
		}
		if err := add(name, t, path); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

func readArray(d tensor.Device, path string) (*tensor.Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := tensor.ReadNPY(d, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// aModel checks that a command has a model; more may follow.
func aModel(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return cli.Usage(fmt.Errorf("%s needs the file of a model: %s", cmd.Name(), cmd.UseLine()))
	}
	return nil
}
