package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) interpolate(size []int, options ...tensor.InterpolateOptions) *Node {
	xv := x.use("Interpolate")
	o := optional("Interpolate", options)
	if xv.Type().Integer() { // which have no gradient
		return composed("Interpolate", func() *Node { return Const(xv.Interpolate(size, options...)) }, x)
	}
	if o.Cubic || o.Area || o.Exact {
		tensorapi.Impl.Interpolate("Interpolate", xv, size, options) // which panics
		return composed("Interpolate", func() *Node {
			if o.Area {
				return x.AdaptiveAvgPool(size)
			}
			of := computed(x.as(tensorapi.Impl.Floats(xv)))
			taps := compose.TapsOf(o.Cubic, false, o.Exact, o.AlignCorners)
			return compose.Resample(of, size, taps, func(x *Node, axis int, index []int64, weights []float64) *Node {
				places := tensor.New(x.Device(), index)
				y := x.IndexSelect(axis, places).keeping(places)
				if weights == nil {
					return y
				}
				along := slices.Repeat([]int{1}, x.Rank()-axis)
				along[0] = len(weights)
				factors := tensor.NewOf(x.Device(), x.value.Type(), weights, along...)
				return y.Mul(Const(factors)).keeping(factors)
			})
		}, x)
	}
	run, grad := tensorapi.Impl.Interpolate("Interpolate", xv, size, options)
	return adjoint{"Interpolate", "InterpolateGrad", run, grad}.applied(x)
}
