package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const batch = "consumed_inputs epsilon is_test momentum spatial training_mode"
	Register(
		Operator{Name: "BatchNormalization", Attributes: batch, Run: batchNorm, Shape: sameAs(0, 3, 4, 3, 4)},
		Operator{Name: "InstanceNormalization", Attributes: "consumed_inputs epsilon", Shape: sameAs(0), Run: func(c *Call) []*Value {
			x := floatsOf(c, 0)
			spatialOf(c, x)
			return Out(like(x.InstanceNorm(c.Node(1), c.Node(2), c.Float("epsilon", 1e-5)), x.Type()))
		}},
		Operator{Name: "LayerNormalization", Attributes: "axis epsilon stash_type", Run: layerNorm, Shape: layerNormShape},
		Operator{Name: "RMSNormalization", Attributes: "axis epsilon stash_type", Run: rmsNorm,
			Shape: func(c *ShapeCall) []Known { return []Known{c.In(0).as(c.Type(1))} }},
		Operator{Name: "GroupNormalization", Since: 18, Attributes: "epsilon num_groups stash_type", Run: groupNorm,
			Shape: sameAs(0)},
		Operator{Name: "LpNormalization", Attributes: "axis p", Run: lpNorm, Shape: sameAs(0)},
		Operator{Name: "LRN", Attributes: "alpha beta bias size", Run: lrn, Shape: sameAs(0)},
		Operator{Name: "MeanVarianceNormalization", Attributes: "axes", Run: meanVarianceNorm, Shape: sameAs(0)},
	)
}

// batchNorm normalizes by given statistics, or in training by those of the batch, of which the running ones get a part.
func batchNorm(c *Call) []*Value {
	x, scale, bias, mean, variance := floatsOf(c, 0), c.Node(1), c.Node(2), c.Node(3), c.Node(4)
	shape, typ, eps := x.Shape(), x.Type(), c.Float("epsilon", 1e-5)
	training := c.Bool("training_mode", false)
	if c.Version() < 14 { // the outputs say it, and before opset 7 an attribute, too
		training = !c.Bool("is_test", false) && (c.Wants(1) || c.Wants(2) || c.Wants(3) || c.Wants(4))
	}
	statistics := mean.Shape()
	switch {
	case x.Rank() == 0:
		c.fail(tensor.ErrShape, "input 0 is a scalar")
	case x.Rank() == 1: // one channel
		x = x.Reshape(shape[0], 1)
	case c.Version() < 9 && !c.Bool("spatial", true): // a channel for each feature
		x = flatAt(x, 1)
	}
	frozen := scale.IsParam() && !scale.NeedsGrad()
	if !training && c.Training() && !frozen {
		training = true
		if momentum := c.Float("momentum", 0.9); c.r.s.Statistics.has(mean) && mean.Rank() == 1 && momentum < 1 {
			// The session trains what is there for inference: its running statistics are written.
			y := x.BatchNorm(flat(scale), flat(bias), eps, tensor.BatchNormOptions{
				Mean: mean.Value(), Var: variance.Value(), Momentum: 1 - momentum,
			})
			return Out(like(y, typ).Reshape(shape...))
		}
	}
	scale, bias, mean, variance = flat(scale), flat(bias), flat(mean), flat(variance)
	if !training {
		y := x.BatchNorm(scale, bias, eps, tensor.BatchNormOptions{
			Mean: mean.Value().Contiguous(), Var: variance.Value().Contiguous(), Eval: true,
		})
		return Out(like(y, typ).Reshape(shape...))
	}
	axes := []int{0}
	for a := 2; a < x.Rank(); a++ {
		axes = append(axes, a)
	}
	wide := inFloat32(x)
	batchMean, batchVar := wide.Mean(axes...), wide.Var(0, axes...)
	momentum := c.Float("momentum", 0.9)
	running := func(old, batch *autograd.Node) *autograd.Node {
		return like(old.MulScalar(momentum).Add(batch.MulScalar(1-momentum)), old.Type()).Reshape(statistics...)
	}
	y := like(x.BatchNorm(scale, bias, eps), typ).Reshape(shape...)
	saved := func(n *autograd.Node) *autograd.Node { return like(n, mean.Type()).Reshape(statistics...) }
	return Out(y, running(mean, batchMean), running(variance, batchVar), saved(batchMean), saved(batchVar))
}

// flat returns x as one axis.
func flat(x *autograd.Node) *autograd.Node { return x.Reshape(x.Len()) }

// layerNorm also returns the mean, and the reciprocal of the deviation.
func layerNorm(c *Call) []*Value {
	x, scale, bias := floatsOf(c, 0), c.Node(1), c.NodeOr(2)
	axis := c.axis(c.Int("axis", -1), x.Rank())
	eps, rest := c.Float("epsilon", 1e-5), x.Shape()[axis:]
	y := x
	if slices.Equal(scale.Shape(), rest) && (bias == nil || slices.Equal(bias.Shape(), rest)) {
		y = x.LayerNorm(axis, scale, bias, eps)
	} else if y = x.LayerNorm(axis, nil, nil, eps).Mul(scale); bias != nil {
		y = y.Add(bias)
	}
	out := Out(shapedLike(c, like(y, x.Type()), x), nil, nil)
	if c.Wants(1) || c.Wants(2) {
		axes := []int{tensor.Keepdims}
		for a := axis; a < x.Rank(); a++ {
			axes = append(axes, a)
		}
		typ := c.TypeAttribute("stash_type", tensor.Float32)
		wide := inFloat32(x)
		out[1] = fromNode(like(wide.Mean(axes...), typ))
		out[2] = fromNode(like(wide.Var(0, axes...).AddScalar(eps).Rsqrt(), typ))
	}
	return out
}

// shapedLike returns y, which has the shape of x where what was broadcast to it fits.
func shapedLike(c *Call, y, x *autograd.Node) *autograd.Node {
	if !slices.Equal(y.Shape(), x.Shape()) {
		c.fail(tensor.ErrShape, "scale or bias do not broadcast to %v", x.Shape())
	}
	return y
}

func rmsNorm(c *Call) []*Value {
	x, scale := floatsOf(c, 0), c.Node(1)
	axis := c.axis(c.Int("axis", -1), x.Rank())
	eps := c.Float("epsilon", 1e-5)
	if slices.Equal(scale.Shape(), x.Shape()[axis:]) {
		return Out(like(x.RMSNorm(axis, scale, eps), scale.Type()))
	}
	return Out(shapedLike(c, like(x.RMSNorm(axis, nil, eps).Mul(scale), scale.Type()), x))
}

// groupNorm has a scale and a bias for each channel, before opset 21 for each group.
func groupNorm(c *Call) []*Value {
	x, scale, bias := floatsOf(c, 0), c.Node(1), c.Node(2)
	groups := c.Int("num_groups", 0)
	if groups < 1 || x.Rank() < 2 || x.Shape()[1]%groups != 0 {
		c.Fail("the channels of %v do not fall into %d groups", x.Shape(), groups)
	}
	if c.Version() < 21 {
		each := x.Shape()[1] / groups
		scale, bias = scale.RepeatInterleave(each, 0), bias.RepeatInterleave(each, 0)
	}
	return Out(like(x.GroupNorm(groups, scale, bias, c.Float("epsilon", 1e-5)), x.Type()))
}

// lpNorm divides by the norm along an axis, and leaves zeros as they are.
func lpNorm(c *Call) []*Value {
	x := floatsOf(c, 0)
	norm := x.Norm(normOrder(c), c.axis(c.Int("axis", -1), x.Rank()), tensor.Keepdims)
	return Out(x.Div(norm.MaskedFill(norm.EqScalar(0), 1)))
}

// lrn divides by a power of the sums of squares of neighbouring channels.
func lrn(c *Call) []*Value {
	x, size := floatsOf(c, 0), c.Int("size", 0)
	shape := x.Shape()
	if size < 1 || size > mostAxis || x.Rank() < 2 {
		c.Fail("attribute size is %d, and input 0 is %v", size, shape)
	}
	if x.Len() == 0 {
		return Out(x)
	}
	alpha, beta, bias := c.Float("alpha", 1e-4), c.Float("beta", 0.75), c.Float("bias", 1)
	channels := shape[1]
	before, after := min((size-1)/2, channels), min(size/2, channels)
	squares := x.Square().Reshape(shape[0], channels, -1).Pad([][2]int{{before, after}, {0, 0}})
	sums := squares.AvgPool([]int{before + after + 1, 1}, tensor.AvgPoolOptions{Stride: []int{1, 1}, Divisor: 1})
	return Out(x.Mul(sums.MulScalar(alpha / float64(size)).AddScalar(bias).Pow(-beta).Reshape(shape...)))
}

func meanVarianceNorm(c *Call) []*Value {
	x, axes := floatsOf(c, 0), []int{0, 2, 3}
	if c.HasAttribute("axes") {
		axes = c.IntList("axes")
	}
	axes = append(slices.Clone(axes), tensor.Keepdims)
	if len(axes) == 1 { // over no axis
		return Out(x.Sub(x))
	}
	return Out(x.Sub(x.Mean(axes...)).Div(x.Var(0, axes...).Sqrt().AddScalar(1e-9)))
}

func layerNormShape(c *ShapeCall) []Known {
	in := c.In(0)
	typ := c.typeAttribute("stash_type", "float")
	out := []Known{in.as(in.Type), {Type: typ}, {Type: typ}}
	if in.Dims != nil {
		axis := c.axis(c.Int("axis", -1), len(in.Dims))
		out[1].Dims = reducedDims(in.Dims, upTo(len(in.Dims))[axis:], true)
		out[2].Dims = out[1].Dims
	}
	return out
}
