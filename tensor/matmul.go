package tensor

import (
	"fmt"
	"slices"
	"weak"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// MatMul returns the matrix product
//
//	c[i, j] = Σ_k t[i, k]·b[k, j]
//
// of t [m, k] and b [k, n]. A transposed view of either is read in place; of both, one is copied. One of integers
// is converted to reals. It panics with ErrShape, and with ErrType if both are of integers.
func (t *Tensor) MatMul(b *Tensor) *Tensor {
	d := check("MatMul", t, b)
	checkMatMul("MatMul", t, b)
	c := alloc("MatMul", d, []int{t.shape[0], b.shape[1]})
	matMulTo(c, t, b, epilogue{})
	return c
}

// MatMulInto is that of package plumbing.
func (*base) MatMulInto(dst, a, b *Tensor, accumulate bool) {
	checkMatMulInto("MatMulInto", dst, a, b)
	matMulTo(dst, a, b, epilogue{accumulate: accumulate})
}

// checkMatMulInto panics unless a·b can be written to dst.
func checkMatMulInto(op string, dst, a, b *Tensor) Device {
	d := writable(op, dst, a, b)
	checkMatMul(op, a, b)
	if dst.Rank() != 2 || dst.shape[0] != a.shape[0] || dst.shape[1] != b.shape[1] {
		misuse(op, ErrShape, "", dst, a, b)
	}
	mustReal(op, dst)
	disjoint(op, dst, a, b)
	return d
}

// MatMulTiled is that of package plumbing.
func (*base) MatMulTiled(dst, a, b *Tensor, tile ops.GemmTile) {
	const op = "MatMulTiled"
	d := checkMatMulInto(op, dst, a, b)
	if !slices.Contains(ops.GemmTiles(d.Real(), d.Limits()), tile) {
		misuse(op, ErrValue, fmt.Sprintf("no tile of the device is %v", tile), dst, a, b)
	}
	matMulTo(dst, a, b, epilogue{tile: &tile})
}

func checkMatMul(op string, a, b *Tensor) {
	if a.Rank() != 2 || b.Rank() != 2 {
		misuse(op, ErrShape, "both must be matrices", a, b)
	}
	if a.shape[1] != b.shape[0] {
		misuse(op, ErrShape, "", a, b)
	}
	if higher(a.typ, b.typ) != Real {
		misuse(op, ErrType, "integers have no product here: convert one with To(tensor.Real)", a, b)
	}
}

// layout returns how a matrix lies in memory: the distance ld of its rows, or of its columns if it is
// transposed. ok is false if neither its rows nor its columns are without gaps.
func layout(t *Tensor) (ld int, transposed, ok bool) {
	rows, cols := t.shape[0], t.shape[1]
	switch {
	case (t.strides[1] == 1 || cols == 1) && (t.strides[0] >= cols || rows == 1):
		return max(t.strides[0], cols, 1), false, true
	case (t.strides[0] == 1 || rows == 1) && (t.strides[1] >= rows || cols == 1):
		return max(t.strides[1], rows, 1), true, true
	}
	return 0, false, false
}

func matMulTo(c, a, b *Tensor, e epilogue) {
	d := c.Device()
	m, n, k := a.shape[0], b.shape[1], a.shape[1]
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !e.accumulate {
			e.sums(c).zero()
		}
		e.apply(c)
		return
	}
	ra, rb := a.as(Real), b.as(Real)
	defer ra.done()
	defer rb.done()
	a, b = ra.Tensor, rb.Tensor
	lda, ta, okA := layout(a)
	ldb, tb, okB := layout(b)
	if !okA || ta && tb && okB { // there is no TT kernel: copy A
		a = a.Copy()
		defer a.Free()
		lda, ta = k, false
	}
	if !okB {
		b = b.Copy()
		defer b.Free()
		ldb, tb = n, false
	}
	form := ops.NN
	switch {
	case ta:
		form = ops.TN
	case tb:
		form = ops.NT
	}
	var tile ops.GemmTile
	if e.tile != nil {
		tile = *e.tile
	} else {
		tile = ops.GemmTileFor(form, m, n, k, d.Real(), d.Limits(), d.core().tuned)
	}
	slice := ops.GemmSlice(m, n, k, d.Limits())
	slices := (k + slice - 1) / slice
	rows := ops.GemmRows(m, n, slices, tile, d.Limits())
	product := func(out *Tensor, e epilogue) {
		bias := a.reach() // any buffer, and no element of it: the kernel does not read it
		bias.N = 0
		unused := bias
		if e.bias != nil {
			bias = e.bias.arg()
		}
		s := d.core()
		f, then := e.f, ops.GemmApply
		if slices == 1 { // else the kernel's C are shares
			f = s.built.with(form, tile, f)
		}
		switch {
		case e.f == nil:
			then = ops.GemmSums
		case e.z != nil:
			then = ops.GemmKeep
		}
		args := append(s.mapArgs[:0], a.reach(), b.reach(), bias, out.arg(), kernels.I(m), kernels.I(n), kernels.I(k),
			kernels.I(lda), kernels.I(ldb), kernels.I(n), kernels.Flag(e.accumulate), kernels.Flag(e.bias != nil), kernels.I(rows), kernels.I(slice))
		if f != nil {
			z := unused
			if e.z != nil {
				z = e.z.arg()
			}
			args = append(args, z, kernels.I(then))
			for i := range f.Scalars {
				switch {
				case !f.UsesScalar(i):
				case then == ops.GemmSums: // which looks at none
					args = append(args, kernels.R(0))
				default:
					args = append(args, kernels.R(e.scalars[i]))
				}
			}
		}
		s.mapArgs = args
		launch(d, ops.Gemm(form, tile, f), args...)
		clear(args) // the memory can be collected
	}
	if slices == 1 {
		product(c, e)
		return
	}
	shares := alloc("MatMul", d, []int{slices, m, n})
	product(shares, epilogue{})
	sumAxis(e.sums(c), shares, 1, slices, m*n, 1, e.accumulate)
	shares.Free()
	e.apply(c)
}

// builtProducts says, for a form and tile, with which kernel a device computed the first product: one with a function, or
// nil. Products without a function take that, too, for it gives the same bits and is one kernel less to build. A function
// can be collected all the same.
type builtProducts map[builtProduct]weak.Pointer[kernels.Function]

type builtProduct struct {
	form ops.GemmForm
	tile ops.GemmTile
}

// with returns the function of the kernel for a product with f, or without.
func (b *builtProducts) with(form ops.GemmForm, tile ops.GemmTile, f *kernels.Function) *kernels.Function {
	key := builtProduct{form, tile}
	first, is := (*b)[key]
	if !is {
		if *b == nil {
			*b = builtProducts{}
		}
		if f != nil {
			first = weak.Make(f)
		}
		(*b)[key] = first
	}
	if f == nil {
		return first.Value()
	}
	return f
}

// epilogue is what a matrix product does with its result besides storing it.
type epilogue struct {
	accumulate bool              // add C's old elements
	bias       *Tensor           // [n], to add to every row; nil: none
	f          *kernels.Function // of one operand, that is not that operand itself; nil: none
	scalars    []float64
	z          *Tensor       // where to store the operand of f; nil: nowhere
	tile       *ops.GemmTile // nil: the fastest that is known
}

// sums returns where a product into c that is computed by itself goes.
func (e epilogue) sums(c *Tensor) *Tensor {
	if e.z != nil {
		return e.z
	}
	return c
}

// apply does what is left of an epilogue when the product is already where sums said.
func (e epilogue) apply(c *Tensor) {
	to := e.sums(c)
	if e.bias != nil {
		to.MapInPlace(kernels.Add, nil, e.bias)
	}
	if e.f != nil {
		mapTo(e.f.Name, e.f, c, e.scalars, []*Tensor{to})
	}
}

// OuterAccInPlace adds the outer products of the rows of u [batch, m] and v [batch, n] to t [m, n], in
// the order of the batch:
//
//	t[i, j] += Σ_b u[b, i]·v[b, j]
//
// It panics with ErrShape, also if t has gaps, and with ErrValue if t shares elements with an operand.
func (t *Tensor) OuterAccInPlace(u, v *Tensor) { t.outerAcc("OuterAccInPlace", u, v, 0) }

// OuterAccAtomicInPlace is OuterAccInPlace with slices of the batch added in parallel by float atomics:
// the last bits vary from run to run.
func (t *Tensor) OuterAccAtomicInPlace(u, v *Tensor) {
	const slice = 32 // few enough atomics on each element, enough parallelism over the batch
	t.outerAcc("OuterAccAtomicInPlace", u, v, slice)
}

func (t *Tensor) outerAcc(op string, u, v *Tensor, slice int) {
	d := writable(op, t, u, v)
	if t.Rank() != 2 || u.Rank() != 2 || v.Rank() != 2 || u.shape[0] != v.shape[0] ||
		t.shape[0] != u.shape[1] || t.shape[1] != v.shape[1] {
		misuse(op, ErrShape, "", t, u, v)
	}
	mustReal(op, t)
	if u.Len() == 0 || v.Len() == 0 {
		return
	}
	disjoint(op, t, u, v)
	cu, cv := u.reals(), v.reals()
	defer cu.done()
	defer cv.done()
	batch, m, n := kernels.I(u.shape[0]), kernels.I(t.shape[0]), kernels.I(t.shape[1])
	if slice == 0 {
		launch(d, ops.OuterAcc, cu.arg(), cv.arg(), t.arg(), batch, m, n)
	} else {
		launch(d, ops.OuterAccAtomic, cu.arg(), cv.arg(), t.arg(), batch, m, n, kernels.I(slice))
	}
}
