package augment

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// JitterOptions says by how much [ColorJitter] changes each of its three: by a factor uniform in
// [max(0, 1 − v), 1 + v].
type JitterOptions struct {
	Brightness float64 // of every number
	Contrast   float64 // of the distance from the mean luminance of the picture
	Saturation float64 // of the distance of a colour from the gray of its luminance
}

// ColorJitter returns pictures of floats in [0, 1], of one channel or of red, green and blue, with
// brightness, contrast and saturation changed by random factors, in this order, each limited to [0, 1]
// again. torchvision draws the order, too. Luminance is 0.299·red + 0.587·green + 0.114·blue; one
// channel has no saturation.
//
// It panics with tensor.ErrShape for another number of channels, and with tensor.ErrValue for a number
// below 0 or that is not finite.
func ColorJitter(x *tensor.Tensor, rng *tensor.RNG, o JitterOptions) *tensor.Tensor {
	const op = "ColorJitter"
	b := mustBeBatch(op, x)
	mustBeFloats(op, x)
	for _, v := range []float64{o.Brightness, o.Contrast, o.Saturation} {
		if !(v >= 0) || math.IsInf(v, 1) {
			panic(misuse(op, tensor.ErrValue, fmt.Sprintf("%+v: numbers are 0 or more", o)))
		}
	}
	if b.channels != 1 && b.channels != 3 {
		panic(misuse(op, tensor.ErrShape, "pictures have one channel, or red, green and blue", x.Shape()))
	}
	d := x.Device()
	return freeing(d, func() *tensor.Tensor {
		factor := func(v float64) *tensor.Tensor {
			return rng.Uniform(d, max(0, 1-v), 1+v, b.n, 1, 1, 1).To(x.Type())
		}
		y := x
		if o.Brightness > 0 {
			y = y.Mul(factor(o.Brightness)).Clamp(0, 1)
		}
		if o.Contrast > 0 {
			y = awayFrom(luminance(y).Mean(2, 3, tensor.Keepdims), y, factor(o.Contrast))
		}
		if o.Saturation > 0 && b.channels == 3 {
			y = awayFrom(luminance(y), y, factor(o.Saturation))
		}
		if y == x {
			y = x.Copy()
		}
		return y
	})
}

// awayFrom returns gray + factor·(x − gray), limited to [0, 1].
func awayFrom(gray, x, factor *tensor.Tensor) *tensor.Tensor {
	return gray.Add(x.Sub(gray).Mul(factor)).Clamp(0, 1)
}

// luminance returns x as one channel.
func luminance(x *tensor.Tensor) *tensor.Tensor {
	if x.Shape()[1] == 1 {
		return x
	}
	part := func(channel int, weight float64) *tensor.Tensor {
		return x.Slice(1, channel, channel+1).MulScalar(weight)
	}
	return part(0, 0.299).Add(part(1, 0.587)).Add(part(2, 0.114))
}

// Normalize returns floats (x − mean)/deviation, with a mean and a standard deviation for each
// channel, or one for all. Pictures of Uint8 are divided by 255 before. It panics with tensor.ErrShape
// for another number of them, and with tensor.ErrValue for a deviation that is not above 0.
func Normalize(x *tensor.Tensor, mean, deviation []float64) *tensor.Tensor {
	const op = "Normalize"
	b := mustBeBatch(op, x)
	unit := 1.0
	switch {
	case x.Type() == tensor.Uint8:
		unit = 255
	case !x.Type().Float():
		mustBeFloats(op, x)
	}
	for _, list := range [][]float64{mean, deviation} {
		if len(list) != b.channels && len(list) != 1 {
			panic(misuse(op, tensor.ErrShape, fmt.Sprintf("%d means and %d deviations of %d channels", len(mean), len(deviation), b.channels), x.Shape()))
		}
	}
	d := x.Device()
	factors, terms := make([]float64, b.channels), make([]float64, b.channels)
	for c := range factors {
		m, s := mean[c%len(mean)], deviation[c%len(deviation)]
		if !(s > 0) || math.IsInf(s, 1) || math.IsNaN(m) || math.IsInf(m, 0) {
			panic(misuse(op, tensor.ErrValue, fmt.Sprintf("mean %v and deviation %v of channel %d: they are finite, and a deviation above 0", m, s, c)))
		}
		factors[c], terms[c] = 1/(unit*s), -m/s
	}
	return freeing(d, func() *tensor.Tensor {
		typ := x.Type()
		if !typ.Float() {
			typ = d.DefaultType()
		}
		f, t := tensor.New(d, factors, b.channels, 1, 1).To(typ), tensor.New(d, terms, b.channels, 1, 1).To(typ)
		return x.Mul(f).Add(t)
	})
}
