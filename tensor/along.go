package tensor

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (api) TakeAlong(x, index *Tensor, axis, n int) *Tensor {
	shape := slices.Clone(x.shape)
	shape[axis] = n
	y := alloc("TakeAlong", x.Device(), floatsOf(x), shape)
	alongAxis(ops.TakeAlong.Of(y.typ), x, index, y, x.shape, axis, n)
	return y
}

func (api) PlaceAlong(x, index *Tensor, axis, n int, distinct bool) *Tensor {
	shape := slices.Clone(x.shape)
	shape[axis] = n
	typ := floatsOf(x)
	k := ops.PlaceAlong.Of(typ)
	if !distinct { // sums are of float32
		k, typ = ops.AddAlong, floats(x)
	}
	y := alloc("PlaceAlong", x.Device(), typ, shape)
	if !distinct || n > x.shape[axis] { // else every element is written
		y.zero()
	}
	alongAxis(k, x, index, y, shape, axis, x.shape[axis])
	return y
}

func (api) AddRuns(x, index *Tensor, axis int) *Tensor {
	y := alloc("AddRuns", x.Device(), floatsOf(x), x.shape)
	alongAxis(ops.AddRuns, x, index, y, x.shape, axis, x.shape[axis])
	return y
}

// alongAxis launches one of the kernels of elements along an axis of a shape, of which a line has n
// indices.
func alongAxis(k *kernels.Kernel, x, index, y *Tensor, shape []int, axis, n int) {
	if index.Len() == 0 {
		return
	}
	cx, at := x.dense(y.typ), index.contiguous()
	if at.typ == Int64 {
		k = k.LongIndices(1)
	}
	defer cx.release()
	defer at.release()
	list := x.Device().core().list()
	args := append(list.args, cx.arg(), at.arg(), y.arg(), kernels.IntArg(intmath.Product(shape[:axis])),
		kernels.IntArg(shape[axis]), kernels.IntArg(intmath.Product(shape[axis+1:])), kernels.IntArg(n))
	if !k.Moves {
		k = ops.OfTypes(k, args)
	}
	list.launch(x.Device(), k, args)
}
