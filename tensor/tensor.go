package tensor

import (
	"fmt"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// Tensor is an n-dimensional array on a device, of elements of one [Type]: a view of storage that
// other tensors may share. Operations return new tensors, which share storage only where that is
// said; those whose name ends in InPlace write through the view. They panic with an *[Error] for
// misuse: with ErrValue if a tensor is nil, ErrFreed if it was freed, ErrDevice for tensors of two
// devices, and what each states besides.
type Tensor struct {
	st             *storage
	shape, strides []int // strides in elements
	off            int
	typ            Type
	freed          *freeing // nil: it was not
	kept           bool
	inFlatBuffer   bool // see base.Rehome
}

// lacks says which type a device does not have, and what to take.
func lacks(typ Type) string {
	if typ == Float64 {
		return "float64 (cl_khr_fp64): choose another device, or float32"
	}
	return fmt.Sprintf("%v, of which its compiler fails: choose another device, or int16", typ)
}

// alloc returns a contiguous tensor of a type with undefined contents.
func alloc(op string, d Device, typ Type, shape []int) *Tensor {
	mustDevice(op, d)
	checkType(op, typ)
	if typ.Valid() && !d.Supports(typ) {
		panic(&Error{Op: op, Kind: ErrType,
			Detail: d.Name() + " has no " + lacks(typ)})
	}
	n := checkShape(op, shape)
	dims, strides := contiguousLayout(shape)
	t := &Tensor{st: newStorage(op, d, typ.Stored(), n, dims), shape: dims, strides: strides, typ: typ}
	return t.register()
}

// Empty returns a tensor of the device's default type whose contents are undefined until written. It
// panics with ErrShape for a shape with a negative dimension, more than MaxRank axes or 2³¹ elements, as all
// functions do that take one.
func Empty(d Device, shape ...int) *Tensor { return EmptyOf(d, defaultOf(d), shape...) }

// EmptyOf is Empty of a type. It panics with ErrType for Float64 where the device has none, as all
// functions do that take a type.
func EmptyOf(d Device, typ Type, shape ...int) *Tensor { return alloc("Empty", d, typ, shape) }

// EmptyLike is Empty of the type and the shape of t, on its device.
func EmptyLike(t *Tensor) *Tensor { return alloc("EmptyLike", check("EmptyLike", t), t.typ, t.shape) }

// defaultOf returns the type of tensors that are made without one.
func defaultOf(d Device) Type {
	if d == nil {
		return Float32 // alloc says that there is no device
	}
	return d.DefaultType()
}

// New returns a tensor that holds data in row-major order, of its type: Float32 for float32, Bool for
// bool, and so on for each [Element]. It panics with ErrShape unless the shape has as many elements as
// data. Without a shape, the tensor has one axis.
func New[T Element](d Device, data []T, shape ...int) *Tensor {
	typ, host := hostMemory(data)
	return newOf(d, typ, host, shape)
}

func newOf(d Device, typ Type, data *kernels.HostBuffer, shape []int) *Tensor {
	const op = "New"
	if shape == nil {
		shape = []int{data.Len()}
	}
	if n := checkShape(op, shape); n != data.Len() {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{shape}, Detail: fmt.Sprintf("data has %d elements", data.Len())})
	}
	t := alloc(op, d, typ, shape)
	t.upload(data)
	return t
}

// NewOf is New of a type, to whose numbers those of data are converted as [Tensor.To] does it.
func NewOf[T Element](d Device, typ Type, data []T, shape ...int) *Tensor {
	from, host := hostMemory(data)
	if from == typ || from.Float() && typ.Float() {
		return newOf(d, typ, rounded(typ, host), shape)
	}
	t := newOf(d, from, host, shape)
	defer t.Free()
	return t.To(typ)
}

// Scalar returns a tensor of the device's default type, of rank 0.
func Scalar(d Device, v float64) *Tensor { return NewOf(d, defaultOf(d), []float64{v}, []int{}...) }

// upload writes data over the elements of a contiguous tensor, as it stores them.
func (t *Tensor) upload(data *kernels.HostBuffer) {
	if t.st.buf == nil {
		return // the device failed and says so at the next download
	}
	switch t.typ {
	case Int32:
		noteRange(t, kernels.Slice[int32](data, 0, data.Len()))
	case Int64:
		noteRange(t, kernels.Slice[int64](data, 0, data.Len()))
	}
	// A failure is a sticky error of the device.
	_ = t.Device().Upload(t.st.buf, t.off, data)
}

// hostMemory returns data as host memory, which it shares, and the type that a tensor of it has.
func hostMemory[T Element](data []T) (Type, *kernels.HostBuffer) {
	switch data := any(data).(type) {
	case []bool:
		return Bool, kernels.HostBufferOf(asSlice[uint8](data)) // a byte each, 0 or 1
	case []int:
		return Int64, kernels.HostBufferOf(widened[int64](data))
	case []uint:
		return Uint64, kernels.HostBufferOf(widened[uint64](data))
	case []float32:
		return held(data)
	case []float64:
		return held(data)
	case []float16.Float16:
		return held(data)
	case []bfloat16.BFloat16:
		return held(data)
	case []int8:
		return held(data)
	case []int16:
		return held(data)
	case []int32:
		return held(data)
	case []int64:
		return held(data)
	case []uint8:
		return held(data)
	case []uint16:
		return held(data)
	case []uint32:
		return held(data)
	case []uint64:
		return held(data)
	case []lowbit.Float8E4M3FN:
		return stored(Float8E4M3FN, data)
	case []lowbit.Float8E5M2:
		return stored(Float8E5M2, data)
	case []lowbit.Float8E4M3FNUZ:
		return stored(Float8E4M3FNUZ, data)
	case []lowbit.Float8E5M2FNUZ:
		return stored(Float8E5M2FNUZ, data)
	case []lowbit.Float8E8M0:
		return stored(Float8E8M0, data)
	case []lowbit.Float4E2M1:
		return stored(Float4E2M1, data)
	case []lowbit.Int4:
		return stored(Int4, data)
	case []lowbit.Uint4:
		return stored(Uint4, data)
	case []lowbit.Int2:
		return stored(Int2, data)
	}
	return stored(Uint2, any(data).([]lowbit.Uint2))
}

// stored returns elements of a type for storage as the bytes that they are.
func stored[T lowbit.Element](typ Type, data []T) (Type, *kernels.HostBuffer) {
	return typ, kernels.HostBufferOf(asSlice[uint8](data))
}

func held[T kernels.Element](data []T) (Type, *kernels.HostBuffer) {
	return kernels.DTypeOf[T](), kernels.HostBufferOf(data)
}

// widened returns integers of Go as such of 64 bits: over the same memory where they have as many.
func widened[To int64 | uint64, From int | uint](data []From) []To {
	if unsafe.Sizeof(From(0)) == 8 {
		return asSlice[To](data)
	}
	out := make([]To, len(data))
	for i, v := range data {
		out[i] = To(v)
	}
	return out
}

// asSlice returns data as a slice over the same memory of a type of the same size.
func asSlice[To, From any](data []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
}

// rounded returns host memory of floats as a type of floats; other memory is returned as it is.
func rounded(typ Type, data *kernels.HostBuffer) *kernels.HostBuffer {
	switch from := data.DType(); {
	case from != typ && (typ.Half() || from.Half()):
		out := kernels.NewHostBuffer(typ, data.Len())
		for i := range data.Len() {
			out.Set(i, data.At(i))
		}
		return out
	case from == Float64 && typ == Float32:
		return kernels.HostBufferOf(converted[float32](kernels.Slice[float64](data, 0, data.Len())))
	case from == Float32 && typ == Float64:
		return kernels.HostBufferOf(converted[float64](kernels.Slice[float32](data, 0, data.Len())))
	}
	return data
}

func converted[To kernels.Float, From kernels.Element](data []From) []To {
	out := make([]To, len(data))
	for i, v := range data {
		out[i] = To(v)
	}
	return out
}

// ScalarFromArg returns a tensor of rank 0 that holds an argument of a launch, which may be one of
// [kernels.StepScalars]: of the default type for a float, of Int32 for an int. It panics with ErrArgument for another
// argument.
func ScalarFromArg(d Device, number kernels.Arg) *Tensor {
	const op = "ScalarFromArg"
	typ := defaultOf(d)
	switch number.Kind {
	case kernels.ArgFloat:
	case kernels.ArgInt:
		typ = Int32
	default:
		panic(&Error{Op: op, Kind: ErrArgument, Detail: number.Kind.String() + " is no number"})
	}
	t := alloc(op, d, typ, []int{})
	launch(d, ops.Fill.Of(typ), t.arg(), kernels.IntArg(1), number)
	return t
}

// Zeros returns a tensor of the device's default type that is 0 everywhere. It panics with ErrShape
// as [Empty] does.
func Zeros(d Device, shape ...int) *Tensor { return ZerosOf(d, defaultOf(d), shape...) }

// ZerosOf is Zeros of a type.
func ZerosOf(d Device, typ Type, shape ...int) *Tensor { return zeros("Zeros", d, typ, shape) }

// ZerosLike is Zeros of the type and the shape of t, on its device.
func ZerosLike(t *Tensor) *Tensor { return zeros("ZerosLike", check("ZerosLike", t), t.typ, t.shape) }

func zeros(op string, d Device, typ Type, shape []int) *Tensor {
	t := alloc(op, d, typ, shape)
	t.zero()
	t.bound(point(0))
	return t
}

// Full returns a tensor of the device's default type that is v everywhere. It panics with ErrShape as
// [Empty] does.
func Full(d Device, v float64, shape ...int) *Tensor { return FullOf(d, defaultOf(d), v, shape...) }

// FullOf is Full of a type. It panics with ErrType if v is no number of an integer type.
func FullOf(d Device, typ Type, v float64, shape ...int) *Tensor {
	const op = "Full"
	checkType(op, typ)
	mustFit(op, typ, v)
	t := alloc(op, d, typ, shape)
	t.fill(v)
	if indexType(typ) {
		t.bound(point(int64(v)))
	}
	return t
}

// FullLike is Full of the type and the shape of t, on its device.
func FullLike(t *Tensor, v float64) *Tensor {
	return FullOf(check("FullLike", t), t.typ, v, append([]int{}, t.shape...)...)
}

func (t *Tensor) len() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// Free releases t. Its memory returns to the device once every view of it is freed. Using t
// afterwards panics with ErrFreed; freeing it again does nothing.
func (t *Tensor) Free() {
	if t == nil || t.st == nil {
		isNil("Free")
	}
	t.free(byFree)
}

// Freed reports whether t was freed.
func (t *Tensor) Freed() bool { return t.freed != nil }

// IsContiguous reports whether t's elements are contiguous, in row-major order.
func (t *Tensor) IsContiguous() bool {
	step := 1
	for d := len(t.shape) - 1; d >= 0; d-- {
		if t.shape[d] != 1 && t.strides[d] != step {
			return t.Len() == 0
		}
		step *= t.shape[d]
	}
	return true
}

// check panics unless the tensors can be the operands of op: there, not freed, and on one device.
func check(op string, ts ...*Tensor) Device {
	for _, t := range ts {
		if t == nil || t.st == nil {
			isNil(op)
		}
		if t.typ.Storage() {
			t.mustMove(op)
		}
	}
	d := ts[0].st.dev
	for i, t := range ts {
		if t.freed != nil {
			what := "it"
			if len(ts) > 1 {
				what = fmt.Sprintf("operand %d", i+1)
			}
			misuse(op, ErrFreed, t.freed.detail(what), ts...)
		}
		if t.st.recorded {
			misuse(op, ErrRecorded,
				"a recording keeps what its step returns, and the tensors that are older: return it from the step", t)
		}
		if t.st.dev != d {
			panic(&Error{Op: op, Kind: ErrDevice, Shapes: [][]int{ts[0].shape, t.shape},
				Detail: fmt.Sprintf("%s: copy one with New and %s", bothNames(d, t.st.dev), readerOf(t.typ))})
		}
	}
	return d
}

// readerOf names the method that reads a tensor of a type without another.
func readerOf(t Type) string {
	switch t {
	case Int32:
		return "Int32s"
	case Int64:
		return "Int64s"
	case Uint8:
		return "Uint8s"
	case Bool:
		return "Bools"
	case Float32, Float64:
		return "Float64s"
	}
	return "Read"
}

// isNil panics for a tensor that nothing made.
func isNil(op string) {
	panic(&Error{Op: op, Kind: ErrValue, Detail: "a tensor is nil, or a Tensor{} that no function made"})
}

// mustDevice panics for a device that is not there.
func mustDevice(op string, d Device) {
	if d == nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "the device is nil: look at the error that Open returned"})
	}
}

// Arg passes a contiguous tensor to [Launch], such as that of [Tensor.Contiguous]; it panics with
// ErrShape if t is not contiguous.
func (t *Tensor) Arg() kernels.Arg {
	check("Arg", t)
	t.mustBeContiguous("Arg")
	t.st.ints.exposed = true
	return t.arg()
}

func (t *Tensor) mustBeContiguous(op string) {
	if !t.IsContiguous() {
		misuse(op, ErrShape, "a kernel needs a contiguous tensor: pass that of Contiguous", t)
	}
}

// BufferArg passes n elements of a contiguous tensor from element off on, in row-major order, to
// [Launch]. It panics with ErrShape if t is not contiguous, and with ErrIndex for elements that t
// has not.
func (t *Tensor) BufferArg(off, n int) kernels.Arg {
	check("BufferArg", t)
	t.mustBeContiguous("BufferArg")
	a := t.Arg()
	if off < 0 || n < 0 || n > a.N-off { // off+n may not fit an int
		misuse("BufferArg", ErrIndex, fmt.Sprintf("[%d, %d)", off, off+n), t)
	}
	a.Off, a.N = a.Off+off, n
	return a
}

// MarkWritten says that a kernel that [Launch] ran has written to t in place. A gradient that saved
// t, or another view of its storage, before that finds that it changed: Backward returns
// autograd.ErrChanged instead of a wrong number.
func (t *Tensor) MarkWritten() { t.st.version++ }

// arg is the kernel argument for a contiguous tensor.
func (t *Tensor) arg() kernels.Arg { return kernels.BufferArg(t.st.buf, t.off, t.Len()) }

func (t *Tensor) item() (float64, error) {
	check("Item", t)
	if t.Len() != 1 {
		misuse("Item", ErrShape, "only a tensor of one element has an item", t)
	}
	v, err := downloadFloats[float64](t, "Item")
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// download waits for the device and returns the elements as they are stored.
func (t *Tensor) download(op string) (*kernels.HostBuffer, error) {
	d := check(op, t)
	if recordings.Load() > 0 {
		d.core().notifyRead(d, op, t.shape)
	}
	c := t.contiguous()
	defer c.release()
	if err := d.Err(); err != nil {
		return nil, err
	}
	host := kernels.NewHostBuffer(t.typ.Stored(), t.Len())
	return host, d.Download(host, c.st.buf, c.off)
}

// Read waits for the device and returns the elements of t in row-major order, of the Go type that its
// type has: of Int64 they may be int64 or int. It panics with ErrType for another. The error is the
// device's first failure.
func Read[T Element](t *Tensor) ([]T, error) { return downloadAs[T](t, "Read") }

func downloadAs[T Element](t *Tensor, op string) ([]T, error) {
	check(op, t)
	if want := TypeOf[T](); t.typ != want {
		misuse(op, ErrType, fmt.Sprintf("the tensor is of type %v: convert it with To(tensor.%v)", t.typ, nameOf(want)), t)
	}
	host, err := t.download(op)
	if err != nil {
		return nil, err
	}
	data := []T(nil)
	switch any(data).(type) {
	case []bool, []int, []uint:
		data = make([]T, t.Len())
	}
	switch to := any(data).(type) {
	case []bool:
		for i, v := range kernels.Slice[uint8](host, 0, len(to)) {
			to[i] = v != 0
		}
	case []int:
		for i, v := range kernels.Slice[int64](host, 0, len(to)) {
			to[i] = int(v)
		}
	case []uint:
		for i, v := range kernels.Slice[uint64](host, 0, len(to)) {
			to[i] = uint(v)
		}
	default:
		return unsafe.Slice((*T)(host.Pointer()), t.Len()), nil
	}
	return data, nil
}

func downloadFloats[T kernels.Float](t *Tensor, op string) ([]T, error) {
	if check(op, t); t.typ.Storage() {
		t = t.cast(op, Float32, CastOptions{})
		defer t.Free()
	}
	host, err := t.download(op)
	if err != nil {
		return nil, err
	}
	switch n := t.Len(); host.DType() {
	case kernels.Float64:
		return fromHost[T](kernels.Slice[float64](host, 0, n)), nil
	case kernels.Float32:
		return fromHost[T](kernels.Slice[float32](host, 0, n)), nil
	case kernels.Int32:
		return fromHost[T](kernels.Slice[int32](host, 0, n)), nil
	case kernels.Int64:
		return fromHost[T](kernels.Slice[int64](host, 0, n)), nil
	case kernels.Uint8:
		return fromHost[T](kernels.Slice[uint8](host, 0, n)), nil
	}
	out := make([]T, t.Len())
	for i := range out {
		out[i] = T(host.At(i))
	}
	return out, nil
}

// fromHost converts what a device returned, without a copy where the types agree.
func fromHost[T kernels.Float, From kernels.Element](data []From) []T {
	if same, ok := any(data).([]T); ok {
		return same
	}
	return converted[T](data)
}
