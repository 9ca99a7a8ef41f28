package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Map returns f of the operands, element by element, with as many scalars as f has: what the
// methods of the functions call, and the extension point for functions of other packages. The
// shapes broadcast by NumPy's rule; views of any kind are read where they are. An operand that f
// does not use may be nil. Of integers it is computed in the highest of their types, if f is of
// integers, and the scalars must be numbers of that type; otherwise in floats. So is the result, but
// that of a condition is of Bool. Masks are of Bool, and do not count. It panics with ErrShape if
// the shapes do not broadcast, with ErrValue for another number of operands or scalars, a function
// that is nil, or an operand that is nil and used, and with ErrType for a scalar that is no number
// of the type, a mask of another type, or floats where f is of integers alone.
func Map(f *kernels.Function, scalars []float64, operands ...*Tensor) *Tensor {
	mustFunction("Map", f, scalars, len(operands))
	return elementwise(f.Name, f, scalars, operands...)
}

// elementwise is Map for the method op, which its errors name.
func elementwise(op string, f *kernels.Function, scalars []float64, operands ...*Tensor) *Tensor {
	d, shape, typ := mapped(op, f, scalars, operands)
	f = ofType(f, typ)
	out := alloc(op, d, resultOf(f, typ), shape)
	mapTo(f, typ, out, scalars, operands)
	out.keepMapped(f, scalars, operands)
	return out
}

func (api) Elementwise(op string, f *kernels.Function, scalars []float64, operands ...*Tensor) *Tensor {
	mustFunction(op, f, scalars, len(operands))
	return elementwise(op, f, scalars, operands...)
}

// MapInPlace sets t to f(t, others…), element by element: the in-place form of every function. The
// others broadcast to t's shape, and may share elements with t; t may be any view but one that
// repeats elements. It panics as [Map] does, with ErrShape if an operand that f uses does not
// broadcast to t's shape, with ErrType if f is of another type than t, and with ErrValue
// if t repeats elements. Of an operand of a higher type of floats than t's, such as a Float64 beside a
// Float32, f is computed in that and rounded once.
func (t *Tensor) MapInPlace(f *kernels.Function, scalars []float64, others ...*Tensor) {
	mustFunction("MapInPlace", f, scalars, 1+len(others))
	op := f.InPlace()
	check(op, t)
	var buf [kernels.MapOperands]*Tensor
	operands := append(append(buf[:0], t), others...)
	for i, o := range others {
		if !f.Uses(1 + i) {
			continue
		}
		check(op, t, o)
		if !broadcastsTo(o.shape, t.shape) {
			misuse(op, ErrShape, "the others broadcast to the shape of the tensor that is written", t, o)
		}
	}
	_, _, in := mapped(op, f, scalars, operands)
	f = ofType(f, in)
	typ := resultOf(f, in)
	if typ != t.typ && !(typ.Float() && t.typ.Float()) {
		detail := fmt.Sprintf("it gives %v, not %v: convert the destination with To(tensor.%v)", typ, t.typ, nameOf(typ))
		if len(others) == 1 && f.Uses(1) && t.typ != others[0].typ {
			detail = fmt.Sprintf("%v and %v do not give %v: convert the destination with To(tensor.Float32), or the operand",
				t.typ, others[0].typ, t.typ)
		}
		misuse(op, ErrType, detail, t)
	}
	t.mustNotRepeat(op)
	if typ != t.typ { // computed in the higher type, and rounded once
		y := elementwise(op, f, scalars, operands...)
		t.SetInPlace(y)
		y.Free()
		return
	}
	t.st.version++
	copies := make([]contiguousOperand, 0, kernels.MapOperands)
	for i, o := range others {
		if f.Uses(1 + i) {
			c := copyIfOverlaps(t, o)
			copies = append(copies, c)
			operands[1+i] = c.Tensor
		}
	}
	mapTo(f, in, t, scalars, operands)
	for _, c := range copies {
		c.release()
	}
}

// mustFunction panics unless there is a function, with as many scalars and operands as it takes.
func mustFunction(op string, f *kernels.Function, scalars []float64, operands int) {
	if f == nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "the function is nil: take one of those in package kernels, or make one"})
	}
	if err := f.Err(); err != nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: err.Error()})
	}
	if f.Indexed() {
		panic(&Error{Op: op, Kind: ErrValue, Detail: f.Name + " reads indices, operands by index or scalars that are ints: see MapInto"})
	}
	if len(scalars) != len(f.Scalars) || operands != f.Operands() {
		panic(&Error{Op: f.Name, Kind: ErrValue, Detail: fmt.Sprintf("it takes %d operands and %d scalars, not %d and %d",
			f.Operands(), len(f.Scalars), operands, len(scalars))})
	}
}

// resultOf returns the type of f of operands of a type.
func resultOf(f *kernels.Function, typ Type) Type {
	if f.Condition() {
		return Bool
	}
	return typ
}

// ofType returns the function that f is of elements of a type: of bools a sum is an or, and a
// complement the logical one.
func ofType(f *kernels.Function, typ Type) *kernels.Function {
	switch {
	case typ == Bool && f == fn.Add:
		return fn.BitwiseOr
	case typ == Bool && f == fn.BitwiseNot:
		return fn.LogicalNot
	}
	return f
}

// mapped returns the device of the operands that f uses, the shape that they broadcast to, and the
// type that f is computed in, of which the scalars must be numbers.
func mapped(op string, f *kernels.Function, scalars []float64, operands []*Tensor) (Device, []int, Type) {
	var first *Tensor
	var d Device
	var shape []int
	var types promotion
	for i, t := range operands {
		if !f.Uses(i) {
			continue
		}
		if first == nil {
			d, first, shape = check(op, t), t, t.shape
		} else {
			check(op, first, t)
		}
		if f.Mask(i) {
			if t.typ != Bool {
				misuse(op, ErrType, notMask(t), t)
			}
		} else {
			types.add(t)
		}
		switch {
		case broadcastsTo(t.shape, shape):
		case broadcastsTo(shape, t.shape):
			shape = t.shape
		default:
			whole, ok := Broadcast(shape, t.shape)
			if !ok {
				misuse(op, ErrShape, broadcastFault(shape, t.shape), present(operands)...)
			}
			shape = whole
		}
	}
	if first == nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "the function uses no operand: see Full"})
	}
	if types.none {
		mustPromote(op, present(operands)...)
	}
	typ := types.result()
	if typ.Integer() && (!f.Integers || f == fn.Pow && !(scalars[0] >= 0 && scalars[0] == math.Trunc(scalars[0]))) {
		typ = d.DefaultType()
	}
	if typ == Bool && !f.Condition() {
		switch f {
		case fn.Sub, fn.Neg:
			misuse(op, ErrType, "bools have no difference: see LogicalXor and LogicalNot", present(operands)...)
		case fn.Add, fn.Mul, fn.Max, fn.Min, fn.BitwiseNot, fn.BitwiseAnd, fn.BitwiseOr, fn.BitwiseXor:
		case fn.Where, fn.MaskedFill, fn.Identity:
		default: // it may give others than 0 and 1
			typ = Int32
		}
	}
	if !typ.Integer() && f.Whole() {
		misuse(op, ErrType, "it is of integers: convert with To(tensor.Int64) or another type of integers", present(operands)...)
	}
	for _, s := range scalars {
		mustFit(op, typ, s)
	}
	return d, shape, typ
}

// present returns the operands that are there.
func present(operands []*Tensor) []*Tensor {
	return slices.DeleteFunc(slices.Clone(operands), func(t *Tensor) bool { return t == nil })
}

// notMask says why a tensor is none.
func notMask(t *Tensor) string {
	return fmt.Sprintf("a mask is of type bool, not %v: compare it with a number, as with NeScalar(0)", t.typ)
}

// mapTo writes f of the operands, which give a type, to out, to whose shape they broadcast.
func mapTo(f *kernels.Function, typ Type, out *Tensor, scalars []float64, operands []*Tensor) {
	compares := f.Condition() && typ.Half() // numbers of the type: what it does not hold is rounded first
	if compares {
		scalars = slices.Clone(scalars)
		for i, v := range scalars {
			scalars[i] = roundedTo(typ, v)
		}
	}
	given := typ
	typ = typ.Widened()
	var converted [kernels.MapOperands]contiguousOperand
	tensors := make([]*Tensor, 0, fused.MapTensors)
	for i, t := range operands {
		if f.Uses(i) {
			c := contiguousOperand{t, false}
			switch {
			case compares && t.typ.Float():
				c = t.as(given)
			case !f.Mask(i) && !readsAs(t.typ, given):
				c = t.as(given.Computed())
			}
			converted[len(tensors)] = c
			tensors = append(tensors, c.Tensor)
		}
	}
	var numbers [kernels.MapOperands]kernels.Arg
	args := numbers[:0]
	for _, v := range scalars {
		args = append(args, numberOf(typ, v))
	}
	launchMap(f.Alone(), typ, append(tensors, out), args, CastOptions{})
	for i := range tensors {
		converted[i].release()
	}
}

// readsAs reports whether a map of tensors of a type reads one of type t as it is: what is converted
// there is what [Tensor.To] makes.
func readsAs(t, typ Type) bool {
	switch {
	case t == typ, t.Half() && typ.Float(), t.Integer() && typ.Float():
		return true
	}
	return t.Integer() && typ.Integer() && higher(t, typ) == typ && typ != Bool
}

// launchMap launches functions, computed in a type, or moved: on the operands that they use, then the
// results, to whose shape those broadcast that are not read by index. cast is of results for storage.
func launchMap(j *kernels.FusedElementwise, typ Type, tensors []*Tensor, scalars []kernels.Arg, cast CastOptions) {
	ins := len(tensors) - len(j.Functions)
	out := tensors[ins]
	n := out.Len()
	if n == 0 {
		return
	}
	d := out.Device()
	list := d.core().list()
	w := &list.loops
	w.rank = 0
	layout := fused.AccessPattern{Cast: cast}
	for i, t := 0, 0; t < ins; i++ {
		if j.Uses(i) {
			if j.Gathers(i) {
				layout.Steps[t] = fused.Indexed
			}
			t++
		}
	}
	w.over(out.shape, tensors, &layout, j.Rank() > 0)
	if w.rank > fused.MapRank {
		launchEach(j, typ, tensors, scalars, cast, layout, *w)
		return
	}
	layout.Rank = w.rank
	inner := w.rank - 1
	layout.Aligned = !d.Target().CPU && (w.rank == 1 || w.dims[inner]%fused.MapVector == 0)
	for i, t := range tensors {
		if t.typ != typ {
			layout.Types[i] = t.typ
		}
		layout.Gaps = layout.Gaps || i >= ins && t.extent() != n
		if layout.Steps[i] == fused.Indexed {
			continue
		}
		switch step := w.strides[i][inner]; {
		case step == 1 || step == 0 && i >= ins: // of one element
			layout.Aligned = layout.Aligned && w.aligned(i, t.off)
		case step == 0:
			layout.Steps[i] = fused.Broadcast
		default:
			layout.Steps[i] = fused.Strided
			layout.Aligned = false
		}
	}
	args := list.args
	for _, t := range tensors {
		args = append(args, t.bufferArg())
	}
	args = append(args, kernels.IntArg(w.dims[inner]))
	if inner > 0 {
		args = append(args, kernels.IntArg(n/w.dims[inner]))
		for _, dim := range w.dims[1:inner] {
			args = append(args, kernels.IntArg(dim))
		}
	}
	for i, t := range tensors {
		if layout.Steps[i] == fused.Indexed {
			args = append(args, kernels.IntArg(t.Len()))
			continue
		}
		for _, stride := range w.strides[i][:inner] {
			args = append(args, kernels.IntArg(stride))
		}
		if layout.Steps[i] == fused.Strided {
			args = append(args, kernels.IntArg(w.strides[i][inner]))
		}
	}
	for i, a := range scalars {
		if j.UsesScalar(i) {
			args = append(args, a)
		}
	}
	list.launch(d, fused.Map(j, typ, layout), args)
}

// launchEach is launchMap for each index of the outermost loop.
func launchEach(j *kernels.FusedElementwise, typ Type, tensors []*Tensor, scalars []kernels.Arg, cast CastOptions,
	layout fused.AccessPattern, w stridedLoops) {
	part := slices.Clone(tensors)
	for index := range w.dims[0] {
		for i, t := range tensors {
			if layout.Steps[i] != fused.Indexed {
				part[i] = &Tensor{st: t.st, shape: w.dims[1:w.rank], strides: w.strides[i][1:w.rank], off: t.off + index*w.strides[i][0], typ: t.typ}
			}
		}
		launchMap(j, typ, part, scalars, cast)
	}
}

// stridedLoops is how a map goes over its tensors: nested loops, with the distance of neighbours
// along each in every tensor.
type stridedLoops struct {
	rank    int
	dims    [MaxRank]int // outermost first
	strides [fused.MapTensors][MaxRank]int
}

// over sets the loops that go over a shape, to which the tensors broadcast that are not read by
// index. Axes of one element are left out, and two that are one in every tensor become one, unless
// they are to stay apart.
func (w *stridedLoops) over(shape []int, tensors []*Tensor, layout *fused.AccessPattern, apart bool) {
	for axis, n := range shape {
		if n == 1 && !apart {
			continue
		}
		last := w.rank - 1
		same := w.rank > 0 && !apart
		for i, t := range tensors {
			s := 0
			if layout.Steps[i] != fused.Indexed {
				s = t.strideAt(axis, len(shape))
			}
			w.strides[i][w.rank] = s
			same = same && w.strides[i][last] == s*n
		}
		if !same {
			w.dims[w.rank] = n
			w.rank++
			continue
		}
		w.dims[last] *= n
		for i := range tensors {
			w.strides[i][last] = w.strides[i][w.rank]
		}
	}
	if w.rank == 0 { // one element
		w.rank, w.dims[0] = 1, 1
		for i := range tensors {
			w.strides[i][0] = 1
		}
	}
}

// strideAt returns the stride of t along an axis of a shape of that rank to which it broadcasts: 0
// where it is repeated.
func (t *Tensor) strideAt(axis, rank int) int {
	axis -= rank - t.Rank()
	if axis < 0 || t.shape[axis] == 1 {
		return 0
	}
	return t.strides[axis]
}

// aligned reports whether every row of tensor i begins at a whole vector.
func (w *stridedLoops) aligned(i, off int) bool {
	for _, s := range w.strides[i][:w.rank-1] {
		if s%fused.MapVector != 0 {
			return false
		}
	}
	return off%fused.MapVector == 0
}
