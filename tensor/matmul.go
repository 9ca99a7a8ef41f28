package tensor

import (
	"fmt"
	"slices"
	"sync"
	"weak"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

func (t *Tensor) matMul(b *Tensor) *Tensor {
	check("MatMul", t, b)
	return t.matMulAs(b, productType(t, b))
}

// matMulAs is matMul stored as a type, of operands that were checked.
func (t *Tensor) matMulAs(b *Tensor, typ Type) *Tensor {
	const op = "MatMul"
	d := t.Device()
	switch {
	case t.Rank() == 2 && b.Rank() == 2:
		checkMatMul(op, t, b)
		c := alloc(op, d, typ, []int{t.shape[0], b.shape[1]})
		matMulTo(c, t, b, epilogue{})
		return c
	case t.Rank() == 1 && b.Rank() == 1:
		return t.innerProduct(op, b)
	}
	va, vb := t.asMatrix(op, true), b.asMatrix(op, false)
	defer va.Free()
	defer vb.Free()
	shape := productShape(op, va, vb, t, b)
	c := alloc(op, d, typ, shape)
	batchTo(c, va, vb, false)
	switch n := len(shape); { // the axis that was none
	case t.Rank() == 1:
		return c.reshaped(slices.Delete(shape, n-2, n-1))
	case b.Rank() == 1:
		return c.reshaped(shape[:n-1])
	}
	return c
}

// asMatrix returns a view of t in which one axis is a row, or a column.
func (t *Tensor) asMatrix(op string, row bool) *Tensor {
	switch {
	case t.Rank() > 1:
		return t.View()
	case t.Rank() == 0:
		misuse(op, ErrShape, "a scalar is no matrix: multiply with Mul", t)
	case row:
		return t.view([]int{1, t.shape[0]}, []int{0, t.strides[0]}, t.off)
	}
	return t.view([]int{t.shape[0], 1}, []int{t.strides[0], 0}, t.off)
}

// productShape returns the shape of a product of a and b, of two axes or more, made of the operands
// that errors show.
func productShape(op string, a, b *Tensor, operands ...*Tensor) []int {
	ra, rb := a.Rank(), b.Rank()
	checkProduct(op, a, b, operands...)
	batch, ok := Broadcast(a.shape[:ra-2], b.shape[:rb-2])
	if !ok {
		misuse(op, ErrShape, "the axes before the last two do not broadcast", operands...)
	}
	return append(batch, a.shape[ra-2], b.shape[rb-1])
}

// checkProduct panics unless the last two axes of a and b have a product.
func checkProduct(op string, a, b *Tensor, operands ...*Tensor) {
	if n, m := a.shape[a.Rank()-1], b.shape[b.Rank()-2]; n != m {
		misuse(op, ErrShape, fmt.Sprintf("the rows of the first have %d elements, and the columns of the second %d", n, m), operands...)
	}
	if !higher(a.typ, b.typ).Float() {
		misuse(op, ErrType, "integers have no product here: convert one with To(tensor.Float32), or see MatMulInteger for those of 8 bits", operands...)
	}
}

func (t *Tensor) dot(b *Tensor) *Tensor {
	check("Dot", t, b)
	return t.innerProduct("Dot", b)
}

func (t *Tensor) innerProduct(op string, b *Tensor) *Tensor {
	if t.Rank() != 1 || !slices.Equal(t.shape, b.shape) {
		misuse(op, ErrShape, "both are of one axis, and of one length", t, b)
	}
	if !higher(t.typ, b.typ).Float() {
		misuse(op, ErrType, "integers have no product here: convert one with To(tensor.Float32), or see MatMulInteger for those of 8 bits", t, b)
	}
	d, n := t.Device(), t.Len()
	typ := floats(t, b)
	x, w := t.stored(typ), b.stored(typ)
	defer x.release()
	defer w.release()
	chunk, parts := ops.FoldShape(1, n, 1, d.Target())
	of := typ
	if parts == 1 {
		of = floatsOf(t, b)
	}
	y := alloc(op, d, of, []int{parts})
	launch(d, ops.Dot.Of(x.arg(), w.arg(), y.arg()).For(min(n, chunk), 1, d.Target()), x.arg(), w.arg(), y.arg(),
		kernels.IntArg(1), kernels.IntArg(n), kernels.IntArg(1), kernels.IntArg(chunk))
	defer y.Free()
	if parts == 1 {
		return y.Reshape()
	}
	return y.sumAll(op, 1)
}

func (api) MatMulInto(dst, a, b *Tensor, accumulate bool) {
	const op = "MatMulInto"
	if a.Rank() == 2 && b.Rank() == 2 {
		checkMatMulInto(op, dst, a, b)
		matMulTo(dst, a, b, epilogue{accumulate: accumulate})
		return
	}
	writable(op, dst, a, b)
	if a.Rank() < 2 || b.Rank() < 2 || !slices.Equal(dst.shape, productShape(op, a, b, a, b)) {
		misuse(op, ErrShape, "", dst, a, b)
	}
	mustBeWide(op, dst)
	disjoint(op, dst, a, b)
	batchTo(dst, a, b, accumulate)
}

// checkMatMulInto panics unless a·b can be written to dst.
func checkMatMulInto(op string, dst, a, b *Tensor) Device {
	d := writable(op, dst, a, b)
	checkMatMul(op, a, b)
	if dst.Rank() != 2 || dst.shape[0] != a.shape[0] || dst.shape[1] != b.shape[1] {
		misuse(op, ErrShape, "", dst, a, b)
	}
	mustBeWide(op, dst)
	disjoint(op, dst, a, b)
	return d
}

func (api) MatMulTiled(dst, a, b *Tensor, tile ops.GemmTile) {
	const op = "MatMulTiled"
	d := checkMatMulInto(op, dst, a, b)
	if !slices.Contains(ops.GemmTiles(dst.typ, d.Target()), tile) {
		misuse(op, ErrValue, fmt.Sprintf("no tile of the device is %v", tile), dst, a, b)
	}
	matMulTo(dst, a, b, epilogue{tile: &tile})
}

func checkMatMul(op string, a, b *Tensor) {
	if a.Rank() != 2 || b.Rank() != 2 {
		misuse(op, ErrShape, "both must be matrices", a, b)
	}
	checkProduct(op, a, b, a, b)
}

// checkLayer panics unless w is a matrix with a row for each element of x's last axis.
func checkLayer(op string, x, w *Tensor) {
	switch last := x.Rank() - 1; {
	case last < 0 || w.Rank() != 2:
		misuse(op, ErrShape, "the weights are a matrix with a row for each element of x's last axis", x, w)
	case x.shape[last] != w.shape[0]:
		misuse(op, ErrShape, fmt.Sprintf("the input has %d features (its last axis), and the weights are for %d", x.shape[last], w.shape[0]), x, w)
	}
}

// layout returns how a matrix lies in memory: the distance ld of its rows, or of its columns if it
// is transposed. ok is false if neither its rows nor its columns are contiguous.
func layout(t *Tensor) (ld int, transposed, ok bool) {
	return matrixStride(t.shape[0], t.shape[1], t.strides[0], t.strides[1])
}

// matrixStride is layout of a matrix whose neighbours along a column are row apart, and those along
// a row col.
func matrixStride(rows, cols, row, col int) (ld int, transposed, ok bool) {
	switch {
	case (col == 1 || cols == 1) && (row >= cols || rows == 1):
		return max(row, cols, 1), false, true
	case (row == 1 || rows == 1) && (col >= rows || cols == 1):
		return max(col, rows, 1), true, true
	}
	return 0, false, false
}

// matMulTo writes a·b with the epilogue to c. It is computed in c's type, or rounded to one of 16 bits.
func matMulTo(c, a, b *Tensor, e epilogue) { productTo(c, a, b, factorsOf(a, b), e) }

// productTo is matMulTo of factors that may be rounded to a precision.
func productTo(c, a, b *Tensor, factors Precision, e epilogue) {
	d := c.Device()
	m, n, k := a.shape[0], b.shape[1], a.shape[1]
	if m == 0 || n == 0 {
		return
	}
	var stored ops.GemmTile
	if e.tile == nil && k > 0 && c.typ != Float64 {
		stored = storedTile(a, b, nil)
	}
	zeros := k == 0 && e.bias == nil && e.f == nil
	if c.typ.Half() && !zeros && !storesNarrow(d, stored, 1, m, n, k) && !storesHalves(c, a, b) {
		throughFloat32(c, func(wide *Tensor) { productTo(wide, a, b, factors, e) })
		return
	}
	if k == 0 {
		if !e.accumulate {
			e.sums(c).zero()
		}
		e.apply(c)
		return
	}
	multiply(c, a, b, stored, factors, e)
}

// multiply is productTo with steps to sum, in the tile of operands of 16 bits that are read as they lie, or another.
func multiply(c, a, b *Tensor, stored ops.GemmTile, factors Precision, e epilogue) {
	d := c.Device()
	m, n, k := a.shape[0], b.shape[1], a.shape[1]
	halves := readsHalves(c.typ, a, b)
	if stored.Inner == ops.FMA && !halves {
		ra, rb := a.as(c.typ), b.as(c.typ)
		defer ra.release()
		defer rb.release()
		a, b = ra.Tensor, rb.Tensor
	}
	lda, ta, okA := layout(a)
	ldb, tb, okB := layout(b)
	if !okA {
		a = a.Copy()
		defer a.Free()
		lda, ta = k, false
	}
	if !okB {
		b = b.Copy()
		defer b.Free()
		ldb, tb = n, false
	}
	form := ops.FormOf(ta, tb)
	rowA, rowB := k, n // of memory
	if ta {
		rowA = m
	}
	if tb {
		rowB = k
	}
	l := d.Target()
	var tile ops.GemmTile
	switch {
	case e.tile != nil:
		tile = *e.tile
	case stored.Inner != ops.FMA:
		tile = stored
	default:
		tile = ops.GemmTileFor(form, m, n, k, c.typ, l, d.core().tuned)
		if t := matrixTile(d, l, factors, c.typ, form, lda == rowA && ldb == rowB, m, n, k); t.Inner != ops.FMA {
			tile = t
		}
	}
	slice := ops.GemmSlice(tile, m, n, k, l)
	slices := (k + slice - 1) / slice
	rows := ops.GemmRows(m, n, slices, tile, l)
	var packed [4]*Tensor // of each operand, and what it leaves out
	if tile.Inner&ops.Swizzled != 0 {
		packed[0], packed[1] = pack(tile, a, false, m, k, a.strides[0], a.strides[1])
		packed[2], packed[3] = pack(tile, b, true, n, k, b.strides[1], b.strides[0])
		defer func() {
			for _, t := range packed {
				t.Free()
			}
		}()
	}
	product := func(out *Tensor, e epilogue) {
		bias := unread(a, b)
		var maps *Tensor
		if stored.Inner != ops.FMA {
			rows = stored.StoredGroups(m, n, slices, l)
			maps, bias = storedScratch(d, rows)
			defer maps.Free()
		}
		unused := bias
		if e.bias != nil {
			bias = e.bias.arg()
		}
		s := d.core()
		f, then := e.f, ops.EpilogueApply
		if slices == 1 { // else the kernel's C are shares
			f = s.built.with(form, tile, f)
		}
		switch {
		case e.f == nil:
			then = ops.EpilogueNone
		case e.z != nil:
			then = ops.EpilogueApplyAndKeep
		}
		list := s.list()
		result := unused // which is not written
		if maps == nil || !out.typ.Half() {
			result = out.arg()
		}
		args := append(list.args, a.bufferArg(), b.bufferArg(), bias, result, kernels.IntArg(m), kernels.IntArg(n), kernels.IntArg(k),
			kernels.IntArg(lda), kernels.IntArg(ldb), kernels.IntArg(n), kernels.FlagArg(e.accumulate), kernels.FlagArg(e.bias != nil), kernels.IntArg(rows), kernels.IntArg(slice))
		if f != nil {
			z := unused
			switch {
			case e.z != nil:
				z = e.z.arg()
			case halves:
				none := alloc("MatMul", d, Float32, []int{1})
				defer none.Free()
				z = unread(none)
			}
			args = append(args, z, kernels.IntArg(then))
			for i := range f.Scalars {
				switch {
				case !f.UsesScalar(i):
				case then == ops.EpilogueNone: // which looks at none
					args = append(args, kernels.FloatArg(0))
				default:
					args = append(args, kernels.FloatArg(e.scalars[i]))
				}
			}
		}
		if packed[0] != nil {
			args = append(args, packed[0].arg(), packed[1].arg(), packed[2].arg(), packed[3].arg())
		}
		if maps != nil {
			launchStored(ops.Gemm(form, tile, f), out, list, args, maps)
			return
		}
		list.launchTyped(d, ops.Gemm(form, tile, f), args)
	}
	if slices == 1 {
		product(c, e)
		return
	}
	shares := alloc("MatMul", d, c.typ, []int{slices, m, n})
	product(shares, epilogue{})
	sumAxis(e.sums(c), shares, 1, slices, m*n, 1, e.accumulate)
	shares.Free()
	e.apply(c)
}

// builtProducts says, for a form and tile, with which kernel a device computed the first product:
// one with a function, or nil. Products without a function take that, too, for it gives the same
// bits and is one kernel less to build. A function can be collected all the same.
type builtProducts struct {
	mu    sync.Mutex // who uses the device from two goroutines is to get the error, and not be stopped by a map that both change
	first map[builtProduct]weak.Pointer[kernels.Function]
}

type builtProduct struct {
	form ops.GemmForm
	tile ops.GemmTile
}

// with returns the function of the kernel for a product with f, or without.
func (b *builtProducts) with(form ops.GemmForm, tile ops.GemmTile, f *kernels.Function) *kernels.Function {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := builtProduct{form, tile}
	first, is := b.first[key]
	if !is {
		if b.first == nil {
			b.first = map[builtProduct]weak.Pointer[kernels.Function]{}
		}
		if f != nil {
			first = weak.Make(f)
		}
		b.first[key] = first
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
		to.MapInPlace(fn.Add, nil, e.bias)
	}
	if e.f != nil {
		mapTo(e.f, c.typ, c, e.scalars, []*Tensor{to})
	}
}

// OuterAccInPlace adds the outer products of the rows of u [batch, m] and v [batch, n] to t [m, n]:
// the product uᵀ·v.
//
//	t[i, j] += Σ_b u[b, i]·v[b, j]
//
// It is for training written without a graph, one sample or batch after the other: the gradient of
// a layer's weights gathers dst += a ⊗ b, of the inputs a and the gradients b of the outputs.
//
// It panics with ErrShape, also if t is not contiguous, and with ErrValue if t shares elements with
// an operand.
func (t *Tensor) OuterAccInPlace(u, v *Tensor) {
	const op = "OuterAccInPlace"
	writable(op, t, u, v)
	if t.Rank() != 2 || u.Rank() != 2 || v.Rank() != 2 || u.shape[0] != v.shape[0] ||
		t.shape[0] != u.shape[1] || t.shape[1] != v.shape[1] {
		misuse(op, ErrShape, "", t, u, v)
	}
	mustFloat(op, t)
	if u.Len() == 0 || v.Len() == 0 {
		return
	}
	disjoint(op, t, u, v)
	turned := u.T()
	defer turned.Free()
	if t.typ.Half() && !storesHalves(t, turned, v) {
		t.throughWide(func(c *Tensor) { c.OuterAccInPlace(u, v) })
		return
	}
	matMulTo(t, turned, v, epilogue{accumulate: true})
}
