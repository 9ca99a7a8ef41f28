package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Linear returns a layer of a perceptron in one launch,
//
//	y[i, j] = f(Σ_k x[i, k]·w[k, j] + b[j]; scalars)
//
// for x [m, k], w [k, n], b [n] or nil for none, and a function f of one operand with its scalars,
// or nil for none. The leading axes of an x of another rank are rows; it is copied where they are
// not contiguous. It panics with ErrShape, and with ErrValue for a function of another number of
// operands or scalars, or one that gives no floats.
func Linear(x, w, b *Tensor, f *kernels.Function, scalars ...float64) *Tensor {
	const op = "Linear"
	check(op, x, w)
	checkLayer(op, x, w)
	last := x.Rank() - 1
	if last == 1 {
		y, _ := api{}.Linear(x, w, b, f, scalars, false)
		return lowered(y, x, w, b)
	}
	rows := x.Reshape(size(x.shape[:last]), x.shape[last])
	defer rows.Free()
	y, _ := api{}.Linear(rows, w, b, f, scalars, false)
	return lowered(y.reshaped(append(slices.Clone(x.shape[:last]), w.shape[1])), x, w, b)
}

func (api) Linear(x, w, b *Tensor, f *kernels.Function, scalars []float64, graph bool) (y, z *Tensor) {
	const op = "Linear"
	d := check(op, x, w)
	if f == nil {
		f = fn.Identity
	}
	if err := f.Err(); err != nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: err.Error()})
	}
	if f.Operands() != 1 || len(scalars) != len(f.Scalars) {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the function %q takes %d operands and %d scalars: a layer has 1 operand for it, and %d scalars were given",
			f.Name, f.Operands(), len(f.Scalars), len(scalars))})
	}
	if f.Indexed() {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the function %q reads indices, operands by index or scalars that are ints: see MapInto", f.Name)})
	}
	if f.Condition() || f.Whole() {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the function %q gives no floats, as a layer does", f.Name)})
	}
	checkLayer(op, x, w)
	checkMatMul(op, x, w)
	var e epilogue
	typ := floats(x, w, b)
	if b != nil {
		check(op, x, b)
		if b.Rank() != 1 || b.shape[0] != w.shape[1] {
			misuse(op, ErrShape, "the bias has one element for each column of the weights", x, w, b)
		}
		of := typ
		if b.typ.Half() && (b.typ == x.typ || b.typ == w.typ) && readsHalves(typ, x, w) {
			of = b.typ
		}
		bias := b.dense(of)
		defer bias.release()
		e.bias = bias.Tensor
	}
	shape := []int{x.shape[0], w.shape[1]}
	stored := typ
	if of := floatsOf(x, w, b); of.Half() && !graph { // else the gradient may read what is not rounded
		stored = of
	}
	y = alloc(op, d, stored, shape)
	if !f.Is(0) {
		e.f, e.scalars = f, scalars
		if graph && f.CheapestGradient(scalars).Uses(0) {
			e.z = alloc(op, d, typ, shape)
		}
	}
	matMulTo(y, x, w, e)
	return y, e.z
}

func (api) CheckLinear(op string, x, w *Tensor) { checkLayer(op, x, w) }

func (api) LinearGrad(f *kernels.Function, scalars []float64, z, y, g *Tensor) (dz, shares *Tensor) {
	const op = "Linear gradient"
	var inputs [3]contiguousOperand
	operands := [3]*Tensor{z, y, g}
	d := check(op, g)
	typ := floats(g)
	for i, t := range operands {
		if f.Uses(i) {
			check(op, g, t)
			if t.Rank() != 2 || !slices.Equal(g.shape, t.shape) {
				misuse(op, ErrShape, "all have one shape, of two axes", g, t)
			}
			inputs[i] = t.dense(typ)
		}
	}
	defer func() {
		for i := range inputs {
			inputs[i].release()
		}
	}()
	rows, cols := g.shape[0], g.shape[1]
	run := ops.LinearGradRun(rows, d.Target())
	dz, shares = alloc(op, d, typ, []int{rows, cols}), alloc(op, d, typ, []int{(rows + run - 1) / run, cols})
	if dz.Len() == 0 {
		return dz, shares
	}
	switch {
	case f.IsZero():
		dz.zero()
		shares.zero()
		return dz, shares
	case !f.Uses(0) && !f.Uses(1) && !f.Uses(2):
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the gradient %q uses no operand: it is the derivative times g", f.Name)})
	}
	list := d.core().list()
	args := list.args
	for i := range inputs {
		if f.Uses(i) {
			args = append(args, inputs[i].arg())
		}
	}
	args = append(args, dz.arg(), shares.arg(), kernels.IntArg(rows), kernels.IntArg(cols), kernels.IntArg(run))
	for i, v := range scalars {
		if f.UsesScalar(i) {
			args = append(args, kernels.FloatArg(v))
		}
	}
	list.launch(d, ops.LinearGrad(f), args)
	return dz, shares
}

func (api) SquaredError(x, t *Tensor) (sum, grad *Tensor) {
	const op = "SquaredError"
	d := check(op, x, t)
	if !slices.Equal(x.shape, t.shape) {
		misuse(op, ErrShape, "", x, t)
	}
	n := x.Len()
	typ := floats(x, t)
	sum, grad = alloc(op, d, typ, []int{}), alloc(op, d, typ, x.shape)
	if n == 0 {
		sum.zero()
		return sum, grad
	}
	cx, ct := x.stored(typ), t.stored(typ)
	defer cx.release()
	defer ct.release()
	groups, chunk := sumGrid(n)
	partial := sum
	if groups > 1 {
		partial = alloc(op, d, typ, []int{groups})
	}
	launch(d, ops.SquaredError.Of(cx.arg(), ct.arg()).For(min(n, chunk), 1, d.Target()), cx.arg(), ct.arg(), partial.arg(), grad.arg(),
		kernels.IntArg(1), kernels.IntArg(n), kernels.IntArg(1), kernels.IntArg(chunk))
	if groups > 1 {
		sumPartial(sum, partial, 1)
	}
	return sum, grad
}
