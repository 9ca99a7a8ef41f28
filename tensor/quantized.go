package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// QuantizedTensor is weights as integers of 8 or 4 bits with scales, or as floats of 16 bits: what [Quantize] makes of
// floats and [NewQuantized] of integers. It takes a quarter, an eighth or half of the memory, and as much less to read. It
// is a matrix [k, n] for [MatMulQuantized] and [EmbeddingQuantized], or the weights [out, in, kernel…] of a convolution for
// [ConvQuantized]. It is constant, and stays until Free, also beyond the [Scope] that it was made in.
type QuantizedTensor struct {
	shape       []int
	k, n        int // rows and columns of the matrix: [in·kernel…, out] of a convolution
	format      vec.WeightFormat
	group       int
	packed      *Tensor // as vec.Weights says
	scale, zero *Tensor // zero is nil if there are no zero points
}

// QuantizeOptions says how [Quantize] rounds. The zero value: to 8 bits, with one scale for each column.
type QuantizeOptions struct {
	// Type is Float16 or BFloat16 for floats of 16 bits in place of integers, without the other options.
	Type Type
	Bits int // 8 or 4; 0: 8
	// Group is how many rows of a column share a scale, a multiple of 32; 0: all. The last group may have fewer.
	// 4 bits need groups, of 32 to 128, to be precise enough for most models.
	Group int
	// ZeroPoints gives each group a zero point beside its scale, for numbers that do not lie around 0.
	ZeroPoints bool
}

// Quantize rounds w, of floats, to integers q of 8 or 4 bits: a matrix [k, n], or the weights [out, in, kernel…] of a
// convolution, which are the matrix [in·kernel…, out]:
//
//	w ≈ (q − zero)·scale, q = round(w/scale) + zero
//
// to nearest, ties to even; of floats of 16 bits w itself is rounded. Without zero points zero is 0, and with w of the
// group of rows that shares a scale,
//
//	scale = max |w|/127, q from −127 to 127; of 4 bits max |w|/7, q from −7 to 7.
//
// With zero points, high = max(w, 0) and low = min(w, 0),
//
//	scale = (high − low)/255, zero = round(−low/scale), q from 0 to 255; of 4 bits 15 in place of 255.
//
// So 0 stays 0, and the error is scale/2 at most, but for the rounding of floats. q is such that (q − zero)·scale is
// finite. Numbers of a group whose scale would be less than 2⁻¹²⁶ become 0. It is computed on the host, from w rounded to
// float32. The error is the device's first failure, or an *Error of ErrValue if a number is NaN or infinite, or becomes
// that. It panics with ErrShape unless w has 2 to 5 axes, with ErrType unless it is of floats, and with ErrValue for other
// options. Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", CVPR 2018, §2.1.
func Quantize(w *Tensor, o QuantizeOptions) (*QuantizedTensor, error) {
	const op = "Quantize"
	d := check(op, w)
	if w.Rank() < 2 || w.Rank() > 5 {
		misuse(op, ErrShape, "the weights are a matrix, or those of a convolution, of 3 to 5 axes", w)
	}
	mustFloat(op, w)
	q := &QuantizedTensor{shape: w.Shape(), format: o.format(op, w), group: o.Group}
	matrix := w
	if q.ofConv() {
		matrix = w.Reshape(w.shape[0], size(w.shape[1:])).T()
		defer matrix.Free()
	}
	q.k, q.n = matrix.shape[0], matrix.shape[1]
	data, err := downloadFloats[float32](matrix, op)
	if err != nil {
		return nil, err
	}
	packed, at := ops.Quantize(data, q.k, q.n, q.format, o.Group, o.ZeroPoints)
	if at >= 0 {
		element := at
		if q.ofConv() {
			element = at%q.n*q.k + at/q.n
		}
		return nil, &Error{Op: op, Kind: ErrValue, Shapes: [][]int{w.Shape()},
			Detail: fmt.Sprintf("element %v is %v", coordinates(element, w.shape), data[at])}
	}
	q.keep(d, packed)
	return q, d.Err()
}

// format returns what w is quantized to. It panics unless the options are some that there are.
func (o QuantizeOptions) format(op string, w *Tensor) vec.WeightFormat {
	if o.Type != 0 {
		if !o.Type.Half() {
			misuse(op, ErrType, fmt.Sprintf("Type is %v: it is Float16 or BFloat16", o.Type), w)
		}
		if o != (QuantizeOptions{Type: o.Type}) {
			misuse(op, ErrValue, fmt.Sprintf("Bits, Group and ZeroPoints are of integers, and Type is %v", o.Type), w)
		}
		if o.Type == Float16 {
			return vec.WeightsFloat16
		}
		return vec.WeightsBFloat16
	}
	if o.Bits == 0 {
		o.Bits = 8
	}
	if o.Bits != 8 && o.Bits != 4 {
		misuse(op, ErrValue, fmt.Sprintf("Bits is %d: it is 8 or 4", o.Bits), w)
	}
	if o.Group < 0 || o.Group%32 != 0 {
		misuse(op, ErrValue, fmt.Sprintf("Group is %d: it is a multiple of 32, or 0", o.Group), w)
	}
	return vec.IntegerWeights(o.Bits)
}

// NewQuantized returns weights of integers that are there already, as another program made them, and its scales:
//
//	w = (q − zero)·scale
//
// q is of Int8 or Uint8, or of Int4 or Uint4 for weights of 4 bits: a matrix [k, n], or the weights [out, in, kernel…] of
// a convolution, which are the matrix [in·kernel…, out]. scale and zero are numbers of any type [n], one for each column
// of the matrix, or [groups, n], where each group rows share one, a multiple of 32: the last group may have fewer. group
// is 0 if all rows do, and zero is nil if all zero points are 0. It is packed on the host.
//
// The error is the device's first failure, or an *Error of ErrValue if a scale or a zero point is NaN or infinite. It
// panics with ErrShape, with ErrType for other types, and with ErrValue for another group.
func NewQuantized(q, scale, zero *Tensor, group int) (*QuantizedTensor, error) {
	const op = "NewQuantized"
	d := check(op, q, scale)
	if q.Rank() < 2 || q.Rank() > 5 {
		misuse(op, ErrShape, "the weights are a matrix, or those of a convolution, of 3 to 5 axes", q)
	}
	if group < 0 || group%32 != 0 {
		misuse(op, ErrValue, fmt.Sprintf("group is %d: it is a multiple of 32, or 0", group), q)
	}
	w := &QuantizedTensor{shape: q.Shape(), format: vec.Weights8, group: group}
	pack := packed[uint8]
	switch q.typ {
	case Uint8:
	case Int8:
		pack = packed[int8]
	case Uint4, Int4:
		typ := Uint8
		if q.typ == Int4 {
			typ, pack = Int8, packed[int8]
		}
		w.format, q = vec.Weights4, q.To(typ)
		defer q.Free()
	default:
		misuse(op, ErrType, fmt.Sprintf("the weights are of int8, uint8, int4 or uint4, not %v", q.typ), q)
	}
	w.k, w.n = q.shape[0], q.shape[1]
	if w.ofConv() {
		w.k, w.n = size(q.shape[1:]), q.shape[0]
	}
	scales, err := w.columnNumbers(op, "scale", scale)
	if err != nil {
		return nil, err
	}
	var zeros []float32
	if zero != nil {
		check(op, q, zero)
		if zeros, err = w.columnNumbers(op, "zero", zero); err != nil {
			return nil, err
		}
	}
	ints, err := pack(w, q, scales, zeros)
	if err != nil {
		return nil, err
	}
	w.keep(d, ints)
	return w, d.Err()
}

// columnNumbers returns the scales or zero points of the columns, or of the groups of each.
func (q *QuantizedTensor) columnNumbers(op, name string, t *Tensor) ([]float32, error) {
	groups := 1
	if q.group > 0 {
		groups = intmath.CeilDiv(q.k, q.group)
	}
	if !slices.Equal(t.shape, []int{groups, q.n}) && (groups != 1 || !slices.Equal(t.shape, []int{q.n})) {
		misuse(op, ErrShape, fmt.Sprintf("%s is %v, and should be %v for weights %v", name, t.shape, []int{groups, q.n},
			q.shape), t)
	}
	list, err := downloadFloats[float32](t, op)
	if err != nil {
		return nil, err
	}
	for i, v := range list {
		if v-v != 0 {
			return nil, &Error{Op: op, Kind: ErrValue, Shapes: [][]int{t.Shape()},
				Detail: fmt.Sprintf("element %v of %s is %v", coordinates(i, t.shape), name, v)}
		}
	}
	return list, nil
}

// packed packs integers of which each has a byte.
func packed[T int8 | uint8](w *QuantizedTensor, q *Tensor, scale, zero []float32) (*vec.Weights, error) {
	ints, err := Read[T](q)
	if err != nil {
		return nil, err
	}
	step, column := w.n, 1
	if w.ofConv() {
		step, column = 1, w.k
	}
	return ops.PackQuantized(w.format.Bits(), ints, w.k, w.n, step, column, w.group, scale, zero), nil
}

// keep copies a matrix to the device.
func (q *QuantizedTensor) keep(d Device, w *vec.Weights) {
	packed, scale, zero := w.Memory()
	switch q.format {
	case vec.WeightsFloat16:
		q.packed = New(d, vec.HalvesOf[float16.Float16](packed, len(packed)/2)).Retain()
	case vec.WeightsBFloat16:
		q.packed = New(d, vec.HalvesOf[bfloat16.BFloat16](packed, len(packed)/2)).Retain()
	default:
		q.packed = New(d, packed).Retain()
	}
	q.scale = New(d, scale).Retain()
	if zero != nil {
		q.zero = New(d, zero).Retain()
	}
}

// ofConv reports whether they are the weights of a convolution.
func (q *QuantizedTensor) ofConv() bool { return len(q.shape) > 2 }

// coordinates returns the index of an element of a shape.
func coordinates(element int, shape []int) []int {
	at := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		at[a], element = element%shape[a], element/shape[a]
	}
	return at
}

// Shape returns that of the weights.
func (q *QuantizedTensor) Shape() []int { return slices.Clone(q.shape) }

// Bits returns those of an element: 8, 4 or 16.
func (q *QuantizedTensor) Bits() int { return q.format.Bits() }

// Group returns how many rows of a column of the matrix share a scale, 0 if all do.
func (q *QuantizedTensor) Group() int { return q.group }

// Device returns the device that q is on.
func (q *QuantizedTensor) Device() Device { return q.packed.Device() }

// Bytes returns the memory that q takes, scales and zero points included. Columns are rounded up to a multiple of
// 64.
func (q *QuantizedTensor) Bytes() int {
	n := 0
	for _, t := range q.memory() {
		n += t.Len() * t.typ.Size()
	}
	return n
}

// memory returns the tensors that hold q.
func (q *QuantizedTensor) memory() []*Tensor {
	if q.zero == nil {
		return []*Tensor{q.packed, q.scale}
	}
	return []*Tensor{q.packed, q.scale, q.zero}
}

func (api) QuantizedMemory(q *QuantizedTensor) []*Tensor { return q.memory() }

// String returns, for example, "weights [512 64] of 4 bits in groups of 32 rows on cpu".
func (q *QuantizedTensor) String() string {
	kind := fmt.Sprintf("%d bits", q.Bits())
	if q.Bits() == 16 {
		kind = q.packed.typ.String()
	}
	if q.group > 0 {
		kind += fmt.Sprintf(" in groups of %d rows", q.group)
	}
	return fmt.Sprintf("weights %v of %s on %s", q.shape, kind, q.Device().Name())
}

// Free releases q. Using it afterwards panics with ErrFreed; freeing it again does nothing.
func (q *QuantizedTensor) Free() {
	for _, t := range q.memory() {
		t.Free()
	}
}

// Dequantize returns the weights as a Float32 tensor: (q − zero)·scale, rounded once, or the floats of 16 bits.
func (q *QuantizedTensor) Dequantize() *Tensor {
	d := q.check("Dequantize")
	y := alloc("Dequantize", d, Float32, q.shape)
	if y.Len() > 0 {
		launch(d, q.kernels().Floats, q.packed.arg(), q.scale.arg(), q.zeroArg(), y.arg(), kernels.IntArg(q.k),
			kernels.IntArg(q.n), kernels.IntArg(q.group), kernels.FlagArg(q.zero != nil), kernels.FlagArg(q.ofConv()))
	}
	return y
}

// check panics unless q and some tensors can be the operands of op.
func (q *QuantizedTensor) check(op string, with ...*Tensor) Device {
	if q == nil || q.packed == nil {
		panic(&Error{Op: op, Kind: ErrValue,
			Detail: "the weights are nil, or a QuantizedTensor{} that neither Quantize nor NewQuantized made"})
	}
	if q.packed.freed != nil {
		panic(&Error{Op: op, Kind: ErrFreed, Shapes: [][]int{q.Shape()}, Detail: "Free was called on the weights"})
	}
	if len(with) == 0 {
		return check(op, q.packed)
	}
	d := check(op, with...)
	if d != q.Device() {
		panic(&Error{Op: op, Kind: ErrDevice, Shapes: [][]int{with[0].Shape(), q.Shape()},
			Detail: fmt.Sprintf("%s: quantize the weights on one", bothNames(d, q.Device()))})
	}
	return d
}

func (q *QuantizedTensor) kernels() *ops.Quantized { return ops.QuantizedOf(q.format) }

// zeroArg passes the zero points, no elements if there are none.
func (q *QuantizedTensor) zeroArg() kernels.Arg {
	if q.zero != nil {
		return q.zero.arg()
	}
	arg := q.scale.arg() // any buffer of floats: the kernel does not read it
	arg.N = 0
	return arg
}

// MatMulQuantized returns the product of x […, k], whose leading axes are rows, and W [k, n], […, n]:
//
//	y[…, j] = Σ_i x[…, i]·(q[i, j] − zero[i, j])·scale[i, j]
//
// and of floats of 16 bits Σ_i x[…, i]·W[i, j]. W is unpacked where it is multiplied. It is computed in float32; an x of 16 bits is converted, and the result
// rounded to its type. For an x of Float64, W is made floats. An infinity in x may give NaN in columns that have zero
// points. It panics with ErrShape, with ErrType for integers, and with ErrValue if w is nil.
func MatMulQuantized(x *Tensor, w *QuantizedTensor) *Tensor {
	const op = "MatMulQuantized"
	d := w.check(op, x)
	mustFloat(op, x)
	last, why := x.Rank()-1, "the weights have a row for each element of x's last axis"
	if w.ofConv() {
		last, why = -1, "the weights are those of a convolution: see ConvQuantized"
	}
	if last < 0 || x.shape[last] != w.k {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{x.Shape(), w.Shape()}, Detail: why})
	}
	if x.typ == Float64 {
		floats := w.Dequantize()
		defer floats.Free()
		return x.MatMul(floats)
	}
	m, k, n := size(x.shape[:last]), w.k, w.n
	y := alloc(op, d, Float32, append(slices.Clone(x.shape[:last]), n))
	switch {
	case y.Len() == 0:
	case k == 0:
		y.zero()
	default:
		rows := x.dense(Float32)
		defer rows.release()
		launch(d, w.kernels().MatMul(m, d.Target()), rows.arg(), w.packed.arg(), w.scale.arg(), w.zeroArg(), y.arg(),
			kernels.IntArg(m), kernels.IntArg(n),
			kernels.IntArg(k), kernels.IntArg(w.group), kernels.FlagArg(w.zero != nil))
	}
	return lowered(y, x)
}
