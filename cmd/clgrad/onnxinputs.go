package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/x448/float16"
)

// onnxFlags are those of the commands that run a model: how their inputs are read.
type onnxFlags struct {
	dims    map[string]int
	shapes  map[string]string
	types   map[string]string
	picture pictureFlags
}

func (f *onnxFlags) register(fs *pflag.FlagSet) {
	fs.StringToIntVar(&f.dims, "dim", nil, "NAME=N: the size of a dimension that the model leaves open, INPUT.AXIS=N of one without a name")
	fs.StringToStringVar(&f.shapes, "shape", nil, "INPUT=2x3: the shape of a raw file (default the model's)")
	fs.StringToStringVar(&f.types, "type", nil, "INPUT=TYPE: the type of a raw file's elements (default the model's)")
	f.picture.register(fs)
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
			for _, name := range []string{i.Dims[k], fmt.Sprintf("%s.%d", i.Name, k)} {
				if given, ok := f.dims[name]; ok {
					shape[k] = given
				}
			}
		}
	}
	return shape, nil
}

// inputs returns those that arguments name, and others for a model that is to be measured: numbers 0 to 1 that repeat,
// and ones of integers.
func (f *onnxFlags) inputs(d tensor.Device, m *onnx.Model, args []string) (map[string]*onnx.Value, error) {
	inputs, err := f.given(d, m, args)
	if err != nil {
		return nil, err
	}
	for _, i := range m.Inputs() {
		if inputs[i.Name] != nil {
			continue
		}
		typ, ok := i.TensorType()
		if !ok {
			return nil, fmt.Errorf("input %v is no tensor that can be made up: give it a file", i)
		}
		shape, err := f.shape(i)
		if err != nil {
			return nil, err
		}
		if err := tensor.Try(func() {
			x := tensor.FullOf(d, tensor.Float32, 1, shape...)
			if typ.Float() {
				x = tensor.NewRNG(1).Uniform(d, 0, 1, shape...)
			}
			inputs[i.Name] = onnx.FromTensor(x.To(typ))
		}); err != nil {
			return nil, fmt.Errorf("input %v: %w", i, err)
		}
	}
	return inputs, nil
}

// inputFiles says which files inputs may be.
const inputFiles = `Inputs are arrays of npz files that have their names, NAME or in:NAME, or files by name, NAME=FILE:

  .npy         an array
  .raw, .bin   its elements, little-endian, in the type and shape that the model has, or of --type and --shape
  .png, .jpg, .jpeg, .gif, .bmp, .tiff, .webp
               a picture [1, channels, height, width] of floats (pixel·scale − mean)/std, in the size of the model`

// given returns the inputs that arguments name: see inputFiles.
func (f *onnxFlags) given(d tensor.Device, m *onnx.Model, args []string) (map[string]*onnx.Value, error) {
	if err := f.picture.check(); err != nil {
		return nil, err
	}
	infos := map[string]onnx.Info{}
	for _, i := range m.Inputs() {
		infos[i.Name] = i
	}
	inputs := map[string]*onnx.Value{}
	find := func(name, from string) (onnx.Info, error) {
		info, ok := infos[name]
		if !ok {
			return info, fmt.Errorf("%s: the model has no input %q: it has %s", from, name, strings.Join(slices.Sorted(maps.Keys(infos)), ", "))
		}
		return info, nil
	}
	for _, list := range []map[string]string{f.shapes, f.types} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if _, err := find(name, list[name]); err != nil {
				return nil, err
			}
		}
	}
	add := func(info onnx.Info, t *tensor.Tensor, from string) error {
		typ, ok := info.TensorType()
		if ok && typ != t.Type() {
			if typ.Float() != t.Type().Float() {
				return fmt.Errorf("%s: input %s is of %v, and the model takes %v", from, info.Name, t.Type(), typ)
			}
			t = t.To(typ)
		}
		inputs[info.Name] = onnx.FromTensor(t)
		return nil
	}
	for _, arg := range args {
		name, path, one := strings.Cut(arg, "=")
		if !one {
			dict, err := tensor.LoadNPZ(d, arg)
			if err != nil {
				return nil, err
			}
			for _, key := range slices.Sorted(maps.Keys(dict)) {
				if strings.HasPrefix(key, "out:") {
					continue
				}
				info, err := find(strings.TrimPrefix(key, "in:"), arg)
				if err == nil {
					err = add(info, dict[key], arg)
				}
				if err != nil {
					return nil, err
				}
			}
			continue
		}
		if path == "" {
			return nil, cli.Usage(fmt.Errorf("%s names no file: it is NAME=FILE", arg))
		}
		info, err := find(name, path)
		if err != nil {
			return nil, err
		}
		t, err := f.read(d, info, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := add(info, t, path); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// read returns what a file has for an input.
func (f *onnxFlags) read(d tensor.Device, info onnx.Info, path string) (*tensor.Tensor, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".npy":
		file, err := os.Open(path)
		if err != nil {
			return nil, cause(err)
		}
		defer file.Close()
		return tensor.ReadNPY(d, file)
	case ext == ".raw" || ext == ".bin":
		return f.raw(d, info, path)
	case slices.Contains(pictureFiles, ext):
		return f.image(d, info, path)
	}
	return nil, fmt.Errorf("it is none of the files that inputs may be: .npz, .npy, .raw, .bin, %s", strings.Join(pictureFiles, ", "))
}

// cause returns what is wrong with a file without its path.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// rawType reads elements of a type.
type rawType struct {
	size int
	read func(d tensor.Device, b []byte, shape []int) (*tensor.Tensor, error)
}

// rawTypes are those that raw files may be of, by their names.
var rawTypes = map[string]rawType{
	"float32": rawOf[float32](), "float64": rawOf[float64](), "float16": rawOf[float16.Float16](), "bfloat16": rawOf[bfloat16.BFloat16](),
	"int8": rawOf[int8](), "int16": rawOf[int16](), "int32": rawOf[int32](), "int64": rawOf[int64](),
	"uint8": rawOf[uint8](), "uint16": rawOf[uint16](), "uint32": rawOf[uint32](), "uint64": rawOf[uint64](), "bool": rawOf[bool](),
}

func rawOf[T tensor.Element]() rawType {
	return rawType{binary.Size([1]T{}), func(d tensor.Device, b []byte, shape []int) (t *tensor.Tensor, err error) {
		x := make([]T, len(b)/binary.Size([1]T{}))
		if _, err := binary.Decode(b, binary.LittleEndian, x); err != nil {
			return nil, err
		}
		err = tensor.Try(func() { t = tensor.New(d, x, shape...) })
		return t, err
	}}
}

// raw returns the elements of a file, which has nothing else.
func (f *onnxFlags) raw(d tensor.Device, info onnx.Info, path string) (*tensor.Tensor, error) {
	name := f.types[info.Name]
	if typ, ok := info.TensorType(); name == "" && ok {
		name = typ.String()
	}
	typ, ok := rawTypes[name]
	if !ok {
		return nil, cli.Usage(fmt.Errorf("input %v has elements of no type that a raw file may be of: --type %s=… is %s", info, info.Name,
			strings.Join(slices.Sorted(maps.Keys(rawTypes)), ", ")))
	}
	shape, err := f.shape(info)
	if text := f.shapes[info.Name]; text != "" {
		shape, err = parseShape(text)
	}
	if err != nil {
		return nil, err
	}
	bytes := int64(typ.size)
	for _, k := range shape {
		if k > 0 && bytes > math.MaxInt32*8/int64(k) {
			return nil, fmt.Errorf("a shape of %v is too large", shape)
		}
		bytes *= int64(k)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cause(err)
	}
	if int64(len(b)) != bytes {
		return nil, fmt.Errorf("it has %d bytes, and %s %v has %d: see --shape, --type and --dim", len(b), name, shape, bytes)
	}
	t, err := typ.read(d, b, shape)
	if takes, ok := info.TensorType(); ok && err == nil { // a type that is given is converted, whatever it is
		t = t.To(takes)
	}
	return t, err
}

// parseShape returns the numbers of "2x3".
func parseShape(text string) ([]int, error) {
	shape := []int{}
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, cli.Usage(fmt.Errorf("--shape has %q: it is numbers with x between them, as in 1x3x224x224", text))
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// aModel checks that a command has a model; more may follow.
func aModel(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return cli.Usage(fmt.Errorf("%s needs the file of a model: %s", cmd.Name(), cmd.UseLine()))
	}
	return nil
}
