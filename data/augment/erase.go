package augment

import (
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// EraseOptions is what may be said to [RandomErasing]. The zero value has the numbers of Zhong,
// Zheng, Kang, Li, Yang, "Random Erasing Data Augmentation", AAAI 2020, and of torchvision.
type EraseOptions struct {
	Area  [2]float64 // part of the picture, at least and at most: 0.02 to 0.33 if nothing is said
	Ratio [2]float64 // height over width, at least and at most: 0.3 to 3.3 if nothing is said
	Value float64    // what is put there
}

// RandomErasing returns pictures of x's type, in each of which, with probability p, a rectangle is
// set to a value: of an area and a ratio of sides that are random, at a place that is uniform. A side
// that the ratio makes longer than the picture's is as long as that; torchvision draws another
// rectangle then.
func RandomErasing(x *tensor.Tensor, p float64, rng *tensor.RNG, options ...EraseOptions) *tensor.Tensor {
	const op = "RandomErasing"
	b, o := mustBeBatch(op, x), option(op, options)
	mustBeProbability(op, p)
	if o.Area == [2]float64{} {
		o.Area = [2]float64{0.02, 0.33}
	}
	if o.Ratio == [2]float64{} {
		o.Ratio = [2]float64{0.3, 3.3}
	}
	mustBeRange(op, "EraseOptions.Area", o.Area, 1)
	mustBeRange(op, "EraseOptions.Ratio", o.Ratio, math.MaxFloat64)
	d := x.Device()
	return freeing(d, func() *tensor.Tensor {
		draw := func(low, high float64) *tensor.Tensor { return rng.Uniform(d, low, high, b.n, 1, 1, 1) }
		area := draw(o.Area[0], o.Area[1]).MulScalar(float64(b.height) * float64(b.width))
		root := draw(math.Log(o.Ratio[0])/2, math.Log(o.Ratio[1])/2).Exp()
		down := within(area.Sqrt().Mul(root), b.height, 2, draw(0, 1))
		across := within(area.Sqrt().Div(root), b.width, 3, draw(0, 1))
		return x.MaskedFill(down.LogicalAnd(across).LogicalAnd(draw(0, 1).LtScalar(p)), o.Value)
	})
}

// within returns a mask along an axis of n elements: those of a window of a length, rounded, whose
// place a number in [0, 1) says.
func within(length *tensor.Tensor, n, axis int, place *tensor.Tensor) *tensor.Tensor {
	length = length.Round().MinScalar(float64(n))
	first := length.RSubScalar(float64(n + 1)).Mul(place).Floor()
	shape := []int{1, 1, 1, 1}
	shape[axis] = n
	at := tensor.Arange(length.Device(), 0, float64(n), 1).Reshape(shape...)
	return at.Ge(first).LogicalAnd(at.Lt(first.Add(length)))
}
