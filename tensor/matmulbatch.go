package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// batchAxis is an axis of a batch of products: its length, and how far apart its matrices of both
// operands lie.
type batchAxis struct{ n, a, b int }

// batchTo writes a·b to c, contiguous and of the product's shape, or adds it: as one product where
// the matrices of a are the rows of one, else as batches.
func batchTo(c, a, b *Tensor, accumulate bool) {
	if c.Len() == 0 {
		return
	}
	if a.shape[a.Rank()-1] == 0 {
		if !accumulate {
			c.zero()
		}
		return
	}
	factors := factorsOf(a, b)
	if a.typ.Half() && a.typ == b.typ && c.typ != Float64 && storedBatchTo(c, a, b, factors, accumulate) {
		return
	}
	if c.typ.Half() && !storesHalves(c, a, b) {
		throughFloat32(c, func(wide *Tensor) { batchTo(wide, a, b, accumulate) })
		return
	}
	if !readsHalves(c.typ, a, b) {
		ra, rb := a.as(c.typ), b.as(c.typ)
		defer ra.release()
		defer rb.release()
		a, b = ra.Tensor, rb.Tensor
	}
	a, b = readable(a), readable(b)
	defer a.Free()
	defer b.Free()
	ma, mb, axes := matricesOf(c, a, b)
	defer ma.Free()
	defer mb.Free()
	batchesTo(c, ma, mb, axes, factors, accumulate)
}

// matricesOf returns the first matrices of a batch of products, and the axes of the batch.
func matricesOf(c, a, b *Tensor) (ma, mb *Tensor, axes []batchAxis) {
	rows, row, axes := batchAxes(c, a, b)
	n := a.Rank()
	ma = a.view([]int{rows, a.shape[n-1]}, []int{row, a.strides[n-1]}, a.off)
	n = b.Rank()
	return ma, b.view(b.shape[n-2:], b.strides[n-2:], b.off), axes
}

// batchesTo writes the products of the matrices a and b, and of those that lie along the axes, to c.
func batchesTo(c, ma, mb *Tensor, axes []batchAxis, factors Precision, accumulate bool) {
	rows := ma.shape[0]
	if len(axes) == 0 {
		flat := c.view([]int{rows, mb.shape[1]}, []int{mb.shape[1], 1}, c.off)
		defer flat.Free()
		productTo(flat, ma, mb, factors, epilogue{accumulate: accumulate})
		return
	}
	outer, inner := axes[:max(0, len(axes)-3)], axes[max(0, len(axes)-3):]
	batches, size := 1, rows*mb.shape[1]
	for _, x := range inner {
		size *= x.n
	}
	for _, x := range outer {
		batches *= x.n
	}
	offA, offB := ma.off, mb.off
	for i := range batches {
		ma.off, mb.off = offA, offB
		for d, rest := len(outer)-1, i; d >= 0; d-- {
			ma.off += rest % outer[d].n * outer[d].a
			mb.off += rest % outer[d].n * outer[d].b
			rest /= outer[d].n
		}
		batch := c.view([]int{size}, []int{1}, c.off+i*size)
		batchLaunch(batch, ma, mb, inner, factors, accumulate)
		batch.Free()
	}
}

// readable returns a view of a batch of matrices that products can read in place, or a copy,
// without what is repeated.
func readable(t *Tensor) *Tensor {
	v, ok := inPlace(t)
	if ok {
		return v
	}
	defer v.Free()
	return v.Copy()
}

// inPlace returns a view of a batch of matrices without what is repeated, and whether products can
// read it.
func inPlace(t *Tensor) (v *Tensor, ok bool) {
	n := t.Rank()
	shape, strides := append([]int{}, t.shape...), append([]int{}, t.strides...)
	for d := range n - 2 {
		if strides[d] == 0 {
			shape[d] = 1
		}
	}
	v = t.view(shape, strides, t.off)
	m := t.view(shape[n-2:], strides[n-2:], t.off)
	_, _, ok = layout(m)
	m.Free()
	return v, ok
}

// batchAxes returns the axes of a batch of products, from the first, joined where their matrices
// allow: those of a into rows that lie row apart, where b is the same for all of them.
func batchAxes(c, a, b *Tensor) (rows, row int, axes []batchAxis) {
	ra, rb := a.Rank(), b.Rank()
	rows, row = a.shape[ra-2], a.strides[ra-2]
	stride := func(t *Tensor, axis int) int { // counted from the end
		if at := t.Rank() - axis; at >= 0 && t.shape[at] > 1 {
			return t.strides[at]
		}
		return 0
	}
	for axis := 3; axis <= max(ra, rb); axis++ {
		x := batchAxis{c.shape[c.Rank()-axis], stride(a, axis), stride(b, axis)}
		if x.n == 1 {
			continue
		}
		last := len(axes) - 1
		if last < 0 && x.b == 0 && (x.a == rows*row || rows == 1) {
			next := row
			if rows == 1 {
				next = x.a
			}
			if _, _, ok := matrixStride(rows*x.n, a.shape[ra-1], next, a.strides[ra-1]); ok {
				rows, row = rows*x.n, next
				continue
			}
		}
		switch {
		case last >= 0 && x.a == axes[last].n*axes[last].a && x.b == axes[last].n*axes[last].b:
			axes[last].n *= x.n
		default:
			axes = append(axes, x)
		}
	}
	for i, j := 0, len(axes)-1; i < j; i, j = i+1, j-1 {
		axes[i], axes[j] = axes[j], axes[i]
	}
	return rows, row, axes
}

// batchLaunch writes the products of the matrices a and b, and of those that lie along up to three
// axes, to c.
func batchLaunch(c, a, b *Tensor, axes []batchAxis, factors Precision, accumulate bool) {
	d := c.Device()
	m, n, k := a.shape[0], b.shape[1], a.shape[1]
	batch := ops.Batch{N: [3]int{1, 1, 1}}
	lastA, lastB := a.extent(), b.extent() // of what the launch may read
	for i, x := range axes {
		at := 3 - len(axes) + i
		batch.N[at], batch.A[at], batch.B[at] = x.n, x.a, x.b
		lastA, lastB = lastA+(x.n-1)*x.a, lastB+(x.n-1)*x.b
	}
	whole := func(t *Tensor, n int) kernels.Arg { return kernels.BufferArg(t.st.buf, t.off, n) }
	numbers := batch.Args()
	s := d.core()
	stored := storedTile(a, b, axes)
	if stored.Inner == ops.FMA && ops.Direct(m, n, k, d.Target()) {
		list := s.list()
		args := append(list.args, whole(a, lastA), whole(b, lastB), c.arg(), kernels.IntArg(m), kernels.IntArg(n), kernels.IntArg(k), kernels.IntArg(a.strides[0]),
			kernels.IntArg(a.strides[1]), kernels.IntArg(b.strides[0]), kernels.IntArg(b.strides[1]), kernels.FlagArg(accumulate))
		args = append(args, numbers[:]...)
		list.launch(d, ops.GemmDirect, args)
		return
	}
	lda, ta, _ := layout(a)
	ldb, tb, _ := layout(b)
	form := ops.FormOf(ta, tb)
	l := d.Target()
	tile := ops.GemmBatchTileFor(form, batch.Len(), m, n, k, c.typ, l, s.tuned)
	if stored.Inner != ops.FMA {
		tile = stored
	} else if t := batchMatrixTile(d, factors, c.typ, form, false, batch.Len(), m, n, k); t.Inner != ops.FMA {
		tile = t
	}
	slice := ops.GemmBatchSlice(tile, batch.Len(), m, n, k, l)
	slices := (k + slice - 1) / slice
	parts := slices * batch.Len()
	rows := ops.GemmRows(m, n, parts, tile, l)
	product := func(out *Tensor, accumulate bool) {
		unused := unread(a, b)
		var maps *Tensor
		if stored.Inner != ops.FMA {
			rows = stored.StoredGroups(m, n, parts, l)
			maps, unused = storedScratch(d, rows)
			defer maps.Free()
		}
		result := unused // which is not written
		if maps == nil || !out.typ.Half() {
			result = out.arg()
		}
		list := s.list()
		args := append(list.args, whole(a, lastA), whole(b, lastB), unused, result, kernels.IntArg(m), kernels.IntArg(n), kernels.IntArg(k),
			kernels.IntArg(lda), kernels.IntArg(ldb), kernels.IntArg(n), kernels.FlagArg(accumulate), kernels.FlagArg(false), kernels.IntArg(rows), kernels.IntArg(slice))
		args = append(args, numbers[:]...)
		args = append(args, kernels.IntArg(ops.GemmBatchRun(min(rows, m), min(n, tile.N), k, parts, l)))
		if maps != nil {
			launchStored(ops.GemmBatch(form, tile), out, list, args, maps)
			return
		}
		list.launchTyped(d, ops.GemmBatch(form, tile), args)
	}
	if slices == 1 {
		product(c, accumulate)
		return
	}
	shares := alloc("MatMul", d, c.typ, []int{slices, c.Len()})
	product(shares, false)
	sumAxis(c, shares, 1, slices, c.Len(), 1, accumulate)
	shares.Free()
}
