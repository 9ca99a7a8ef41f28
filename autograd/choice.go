package autograd

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
)

func (x *Node) maskedSelect(mask *Node) *Node {
	const op = "MaskedSelect"
	shape, index := tensorapi.Impl.MaskedIndex(op, x.use(op), mask.use(op))
	return x.Expand(shape...).Reshape(intmath.Product(shape), 1).GatherRows(index).keeping(index).Reshape(index.Len())
}

func (x *Node) nanToNum(nan, posInf, negInf float64) *Node {
	typ := tensorapi.Impl.Floats(x.use("NanToNum"))
	return elementwise("NanToNum", fn.NanToNum, []float64{nan, typ.Limit(posInf), typ.Limit(negInf)}, x)
}
