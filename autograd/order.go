package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) quantile(q float64, axis int, options ...tensor.QuantileOptions) *Node {
	const op = "Quantile"
	between := optional(op, options).Interpolation
	return composed(op, func() *Node {
		return compose.Quantile(x, q, axis, between, func(x *Node, axis int) *Node {
			values, indices := x.Sort(axis)
			indices.Free()
			return values
		})
	}, x)
}

func (x *Node) kthvalue(k, axis int) (values *Node, indices *tensor.Tensor) {
	defer tensorapi.Rename("autograd", "Kthvalue")
	y, index := x.use("Kthvalue").Kthvalue(k, axis)
	y.Free()
	return x.at(axis, index), index
}

func (x *Node) mode(axis int) (values *Node, indices *tensor.Tensor) {
	defer tensorapi.Rename("autograd", "Mode")
	y, index := x.use("Mode").Mode(axis)
	y.Free()
	return x.at(axis, index), index
}

// at returns the elements that an index names, one along an axis, which disappears.
func (x *Node) at(axis int, index *tensor.Tensor) *Node {
	if x.Rank() == 0 {
		return x.Reshape()
	}
	wide := index.Unsqueeze(fromFront(axis, x.Rank()))
	return x.Gather(axis, wide).keeping(wide).Squeeze(axis)
}
