package data

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// Array is numbers in host memory with a shape, in row-major order: the first axis counts rows. The
// zero value has no shape, and nothing takes it.
type Array struct {
	shape []int
	rows  rows
}

// rows is elements of one type.
type rows interface {
	// slice returns the elements from one up to, but without, another.
	slice(from, to int) rows
	// upload returns a new tensor that holds the elements.
	upload(d tensor.Device, shape []int) *tensor.Tensor
	// name returns the name of the elements' type in Go.
	name() string
	// typ returns the type of that tensor.
	typ() tensor.Type
	// len returns how many elements there are.
	len() int
	// concat returns the elements of all in a list, which are of the same type.
	concat(list []rows) rows
	// stage returns memory for a batch of n elements.
	stage(n int) stage
}

// New returns the array that data are, which it shares with the caller: they must not change while
// a loop over a loader's epoch runs. Tensors of it have its type. Without a shape, each element is a row.
// It panics with tensor.ErrShape unless the shape, which begins with the number of rows, has as
// many elements as data.
func New[T tensor.Element](data []T, shape ...int) Array {
	if shape == nil {
		shape = []int{len(data)}
	}
	if !elements(len(data), shape) {
		panic(misuse("New", tensor.ErrShape, fmt.Sprintf("data has %d elements, and a shape begins with the number of rows", len(data)), shape))
	}
	return Array{slices.Clone(shape), of[T](data)}
}

// elements reports whether a shape of an axis or more has n elements.
func elements(n int, shape []int) bool {
	if len(shape) == 0 || slices.Min(shape) < 0 {
		return false
	}
	if slices.Contains(shape, 0) {
		return n == 0
	}
	for _, dim := range shape {
		if n%dim != 0 {
			return false
		}
		n /= dim
	}
	return n == 1
}

func misuse(op string, kind error, detail string, shapes ...[]int) *tensor.Error {
	return &tensor.Error{Pkg: "data", Op: op, Kind: kind, Shapes: shapes, Detail: detail}
}

// FromTensor waits for the device and returns a copy of a tensor's elements. The error is the
// device's first failure. It panics with tensor.ErrShape for a tensor of rank 0, which has no rows.
func FromTensor(t *tensor.Tensor) (Array, error) {
	const op = "FromTensor"
	if t == nil {
		panic(misuse(op, tensor.ErrValue, "the tensor is nil"))
	}
	if t.Rank() == 0 {
		panic(misuse(op, tensor.ErrShape, "the first axis counts rows, and the tensor has none", t.Shape()))
	}
	var data rows
	var err error
	switch typ := t.Type(); {
	case typ == tensor.Uint8:
		data, err = downloaded(t.Uint8s())
	case typ == tensor.Bool:
		data, err = downloaded(t.Bools())
	case typ == tensor.Int32:
		data, err = downloaded(t.Int32s())
	case typ == tensor.Int64:
		data, err = downloaded(t.Int64s())
	case typ == tensor.Int8:
		data, err = downloaded(tensor.Read[int8](t))
	case typ == tensor.Int16:
		data, err = downloaded(tensor.Read[int16](t))
	case typ == tensor.Uint16:
		data, err = downloaded(tensor.Read[uint16](t))
	case typ == tensor.Uint32:
		data, err = downloaded(tensor.Read[uint32](t))
	case typ == tensor.Uint64:
		data, err = downloaded(tensor.Read[uint64](t))
	case typ == tensor.Float64:
		data, err = downloaded(t.Float64s())
	default:
		data, err = downloaded(t.Float32s())
	}
	return Array{slices.Clone(t.Shape()), data}, err
}

func downloaded[T tensor.Element](data []T, err error) (rows, error) { return of[T](data), err }

// Len returns the number of rows.
func (a Array) Len() int {
	a.check("Len")
	return a.shape[0]
}

// Shape returns the dimensions, the number of rows first. The caller must not change them.
func (a Array) Shape() []int { return a.shape }

// Slice returns the rows from one up to, but without, another, which it shares with a. It panics
// with tensor.ErrIndex for rows that a has not.
func (a Array) Slice(from, to int) Array {
	a.check("Slice")
	if from < 0 || to < from || to > a.shape[0] {
		panic(misuse("Slice", tensor.ErrIndex, fmt.Sprintf("rows [%d, %d)", from, to), a.shape))
	}
	shape := slices.Clone(a.shape)
	shape[0] = to - from
	return Array{shape, a.rows.slice(from*a.width(), to*a.width())}
}

// Tensor returns all rows as a tensor, which is the caller's. It panics with tensor.ErrShape for
// more axes or elements than a tensor has.
func (a Array) Tensor(d tensor.Device) *tensor.Tensor {
	a.check("Tensor")
	return a.rows.upload(d, a.shape)
}

func (a Array) check(op string) {
	if a.rows == nil {
		panic(misuse(op, tensor.ErrValue, "the Array is its zero value: make one with New, or read it from a file"))
	}
}

// width returns the number of elements of a row.
func (a Array) width() int {
	n := 1
	for _, dim := range a.shape[1:] {
		n *= dim
	}
	return n
}

// of is elements of type T.
type of[T tensor.Element] []T

func (e of[T]) slice(from, to int) rows { return e[from:to] }

func (e of[T]) upload(d tensor.Device, shape []int) *tensor.Tensor { return tensor.New(d, e, shape...) }

func (e of[T]) typ() tensor.Type { return tensor.TypeOf[T]() }

func (e of[T]) stage(n int) stage { return &staged[T]{e, make([]T, n)} }

// stage is host memory in which the rows of a batch are gathered.
type stage interface {
	// gather copies rows of width elements.
	gather(order []int32, width int)
	// row returns the elements of a row of the batch.
	row(at, width int) rows
	// upload copies the first rows that were gathered over all elements of a tensor.
	upload(t *tensor.Tensor)
}

type staged[T tensor.Element] struct{ rows, batch []T }

func (s *staged[T]) gather(order []int32, width int) {
	for i, r := range order {
		copy(s.batch[i*width:], s.rows[int(r)*width:][:width])
	}
}

func (s *staged[T]) row(at, width int) rows { return of[T](s.batch[at*width:][:width:width]) }

func (s *staged[T]) upload(t *tensor.Tensor) { tensor.Upload(t, s.batch[:t.Len()]) }
