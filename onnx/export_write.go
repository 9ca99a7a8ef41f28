package onnx

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
	"google.golang.org/protobuf/encoding/protowire"
)

// mostInside is how many bytes of weights a file has inside: a message has 2³¹ − 1 at most, and the graph is one.
const mostInside = math.MaxInt32 - 1<<24

// modelFile is a model that is to be written: weights stay where they are until then.
type modelFile struct {
	proto   *onnxpb.Model // without initializers that have a tensor
	tensors []weight
}

// weight is an initializer on a device.
type weight struct {
	name string
	t    *tensor.Tensor
}

// bytes returns how many bytes the elements have in a file.
func (w weight) bytes() int { return w.t.Len() * w.t.Type().Size() }

// header returns the message of the initializer without its elements.
func (w weight) header() *onnxpb.Tensor {
	p := &onnxpb.Tensor{Name: w.name, Type: dataTypeOf(w.t.Type())}
	for _, n := range w.t.Shape() {
		p.Dims = append(p.Dims, int64(n))
	}
	return p
}

// weights returns how many bytes they all have.
func (f *modelFile) weights() int {
	n := 0
	for _, w := range f.tensors {
		n += w.bytes()
	}
	return n
}

// Fields of the messages that write puts together itself: the graph of a model, and a tensor of a graph.
const (
	graphField       protowire.Number = 7
	initializerField protowire.Number = 5
	rawField         protowire.Number = 9
)

// external is from how many bytes on weights are outside, if there is a file outside: smaller ones are shapes and
// scalars, which tools look at.
const external = 1024

// write writes the file, with weights in another one, outside, if that is not nil, whose name is location. No more than
// one of the weights is in the host's memory at a time.
func (f *modelFile) write(w, outside io.Writer, location string) error {
	graph := f.proto.Graph
	head := *f.proto
	head.Graph = nil
	skeleton := graph.Append(nil)
	heads := make([][]byte, len(f.tensors)) // the messages of tensors, but for their elements
	within := make([]bool, len(f.tensors))
	size, offset := len(skeleton), 0
	for i, t := range f.tensors {
		p := t.header()
		within[i] = outside == nil || t.bytes() < external
		if !within[i] {
			p.Outside = true
			p.External = []onnxpb.Entry{{Key: "location", Value: location}, {Key: "offset", Value: strconv.Itoa(offset)},
				{Key: "length", Value: strconv.Itoa(t.bytes())}}
			offset += t.bytes()
		}
		heads[i] = p.Append(nil)
		if within[i] {
			heads[i] = protowire.AppendTag(heads[i], rawField, protowire.BytesType)
			heads[i] = protowire.AppendVarint(heads[i], uint64(t.bytes()))
		}
		n := len(heads[i])
		if within[i] {
			n += t.bytes()
		}
		size += protowire.SizeTag(initializerField) + protowire.SizeBytes(n)
		heads[i] = append(protowire.AppendVarint(protowire.AppendTag(nil, initializerField, protowire.BytesType), uint64(n)),
			heads[i]...)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(head.Append(nil))
	out.Write(protowire.AppendVarint(protowire.AppendTag(nil, graphField, protowire.BytesType), uint64(size)))
	if _, err := out.Write(skeleton); err != nil {
		return err
	}
	for i, t := range f.tensors {
		raw, err := rawOf(t.t)
		if err != nil {
			return fmt.Errorf("onnx: Export: %q: %w", t.name, err)
		}
		to := io.Writer(out)
		if !within[i] {
			to = outside
		}
		if _, err := out.Write(heads[i]); err != nil {
			return err
		}
		if _, err := to.Write(raw); err != nil {
			return err
		}
	}
	return out.Flush()
}

// rawOf returns the elements of a tensor as a file has them.
func rawOf(t *tensor.Tensor) ([]byte, error) {
	if t.Freed() {
		return nil, fmt.Errorf("the tensor was freed")
	}
	if t.Type() == tensor.Bool {
		list, err := t.Bools()
		if err != nil {
			return nil, err
		}
		raw := make([]byte, len(list))
		for i, v := range list {
			if v {
				raw[i] = 1
			}
		}
		return raw, nil
	}
	read, ok := rawTable[t.Type()]
	if !ok {
		return nil, fmt.Errorf("%w: elements of type %v are not written", ErrUnsupported, t.Type())
	}
	return read(t)
}

// rawTable has the types whose elements are whole bytes.
var rawTable = map[tensor.Type]func(t *tensor.Tensor) ([]byte, error){
	tensor.Float32: raw[float32], tensor.Float64: raw[float64],
	tensor.Float16: raw[float16.Float16], tensor.BFloat16: raw[bfloat16.BFloat16],
	tensor.Int8: raw[int8], tensor.Int16: raw[int16], tensor.Int32: raw[int32], tensor.Int64: raw[int64],
	tensor.Uint8: raw[uint8], tensor.Uint16: raw[uint16], tensor.Uint32: raw[uint32], tensor.Uint64: raw[uint64],
	tensor.Float8E4M3FN: raw[lowbit.Float8E4M3FN], tensor.Float8E4M3FNUZ: raw[lowbit.Float8E4M3FNUZ],
	tensor.Float8E5M2: raw[lowbit.Float8E5M2], tensor.Float8E5M2FNUZ: raw[lowbit.Float8E5M2FNUZ],
}

// raw returns elements as bytes: little-endian, as the processors are that elements of package onnx are for.
func raw[T tensor.Element](t *tensor.Tensor) ([]byte, error) {
	list, err := tensor.Read[T](t)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(list[0]))), nil
}
