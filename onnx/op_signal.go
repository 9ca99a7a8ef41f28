package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "DFT", Since: 17, Attributes: "axis inverse onesided", Run: dft, Shape: dftShape},
		Operator{Name: "DFT", Since: 20, Attributes: "inverse onesided", Run: dft, Shape: dftShape},
		Operator{Name: "STFT", Since: 17, Attributes: "onesided", Run: stft, Shape: stftShape},
		spectralWindow("HannWindow", 0.5, 0.5, 0),
		spectralWindow("HammingWindow", 25.0/46, 21.0/46, 0),
		spectralWindow("BlackmanWindow", 0.42, 0.5, 0.08),
		Operator{Name: "MelWeightMatrix", Since: 17, Attributes: "output_datatype", Run: melWeights, Shape: melWeightsShape},
	)
}

// maxSignal is how many elements a signal, a window or a matrix may have whose size an input gives.
const maxSignal = 1 << 26

// spectralWindow returns the operator of a − b·cos(2πn/N) + c·cos(4πn/N). A window of one element
// is 1 where N would be 0.
func spectralWindow(name string, a, b, c float64) Operator {
	return Operator{Name: name, Since: 17, Attributes: "output_datatype periodic", Shape: spectralWindowShape, Run: func(call *Call) []*Value {
		size := call.IntOf(0, 0)
		if size < 0 || size > maxSignal {
			call.Fail("the size is %d, and should be 0 to %d", size, maxSignal)
		}
		period := size
		if !call.Bool("periodic", true) {
			period--
		}
		w := make([]float64, size)
		for n := range w {
			angle := 2 * math.Pi * float64(n) / float64(max(period, 1))
			w[n] = a - b*math.Cos(angle) + c*math.Cos(2*angle)
		}
		if period == 0 && size == 1 {
			w[0] = 1
		}
		return Out(numbers(call, w, call.TypeAttribute("output_datatype", tensor.Float32), size))
	}}
}

// numbers returns numbers as a type on the device of the call, fractions cut off where it is of integers.
func numbers(c *Call, x []float64, typ tensor.Type, shape ...int) *autograd.Node {
	if typ == tensor.Float64 {
		return New(c, x, shape...)
	}
	short := make([]float32, len(x))
	for i, v := range x {
		if !typ.Float() {
			v = math.Trunc(v)
		}
		short[i] = float32(v)
	}
	return like(New(c, short, shape...), typ)
}

// melWeights returns triangles over the bins of a one-sided transform [dft_length/2 + 1, num_mel_bins], whose corners
// are as far apart on the mel scale.
func melWeights(c *Call) []*Value {
	bins, length, rate := c.IntOf(0, 0), c.IntOf(1, 0), c.IntOf(2, 0)
	low, high := c.FloatOf(3, 0), c.FloatOf(4, 0)
	rows := length/2 + 1
	if bins < 0 || length < 0 || rate < 1 || bins > maxSignal/rows || !(low >= 0 && high >= low && high < math.Inf(1)) {
		c.Fail("%d bins of a transform of %d at a rate of %d, from %v to %v hertz", bins, length, rate, low, high)
	}
	mel := func(hertz float64) float64 { return 2595 * math.Log10(1+hertz/700) }
	corners := make([]int, bins+2)
	for i := range corners {
		at := mel(low) + float64(i)*(mel(high)-mel(low))/float64(len(corners))
		hertz := 700 * (math.Pow(10, at/2595) - 1)
		corners[i] = int(min(math.Floor(float64(length+1)*hertz/float64(rate)), math.MaxInt32))
		if i < bins+1 && corners[i] >= rows {
			c.Fail("%v hertz are beyond the %d bins of a transform of %d at a rate of %d", hertz, rows, length, rate)
		}
	}
	w := make([]float64, rows*bins)
	for i := range bins {
		left, center, right := corners[i], corners[i+1], corners[i+2]
		for j := left; j <= center; j++ {
			w[j*bins+i] = 1
			if center > left {
				w[j*bins+i] = float64(j-left) / float64(center-left)
			}
		}
		for j := center; j < min(right, rows); j++ {
			w[j*bins+i] = float64(right-j) / float64(right-center)
		}
	}
	return Out(numbers(c, w, c.TypeAttribute("output_datatype", tensor.Float32), rows, bins))
}

// dft transforms along an axis, where the last axis is a real and maybe an imaginary part.
func dft(c *Call) []*Value {
	x := c.Node(0)
	rank := x.Rank()
	axis := c.Int("axis", 1)
	if c.Version() >= 20 {
		axis = c.IntOf(2, -2)
	}
	if axis < 0 {
		axis += rank
	}
	if rank < 2 || axis < 0 || axis > rank-2 {
		c.Fail("axis %d of %v, the last of which is for complex numbers", axis, x.Shape())
	}
	inverse, onesided := c.Bool("inverse", false), c.Bool("onesided", false)
	n := x.Shape()[axis]
	if inverse && onesided {
		n = 2 * (n - 1)
	}
	n = c.IntOf(1, n)
	if n < 1 || n > maxSignal {
		c.Fail("dft_length is %d, and should be 1 to %d", n, maxSignal)
	}
	y := transform(c, x.MoveDim(axis, rank-2), n, inverse, onesided)
	return Out(y.MoveDim(rank-2, axis))
}

// stft transforms the frames of a signal [b, length, 1 or 2].
func stft(c *Call) []*Value {
	x := c.Node(0)
	if x.Rank() != 3 {
		c.Fail("the signal is %v: it has 3 axes", x.Shape())
	}
	length := x.Shape()[1]
	w := c.NodeOr(2)
	if w != nil {
		if w.Rank() != 1 {
			c.Fail("the spectralWindow is %v: it has one axis", w.Shape())
		}
		length = w.Len()
	}
	if c.Has(3) {
		length = c.IntOf(3, 0)
	}
	step := c.IntOf(1, 0)
	if length < 1 || length > x.Shape()[1] || step < 1 || w != nil && w.Len() != length {
		c.Fail("frames of %d, %d apart, of a signal %v", length, step, x.Shape())
	}
	frames := x.Unfold(1, length, step).Transpose(0, 1, 3, 2)
	if w != nil {
		frames = like(frames.Mul(w.Reshape(length, 1)), x.Type())
	}
	return Out(transform(c, frames, length, false, c.Bool("onesided", true)))
}

func spectralWindowShape(c *ShapeCall) []Known {
	return []Known{listOfType(c.typeAttribute("output_datatype", "float"), c.dimOf(0))}
}

func melWeightsShape(c *ShapeCall) []Known {
	rows := c.dimOf(1).Div(NewDim(2)).Add(NewDim(1))
	return []Known{{Type: c.typeAttribute("output_datatype", "float"), Dims: []Dim{rows, c.dimOf(0)}}}
}

// binsOf returns how many frequencies a transform of n has.
func binsOf(n Dim, onesided bool) Dim {
	if onesided {
		return n.Div(NewDim(2)).Add(NewDim(1))
	}
	return n
}

func dftShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: c.Type(0)}}
	}
	axis, ok := c.Int("axis", 1), true
	if c.Version() >= 20 {
		axis, ok = c.intOf(2, -2)
	}
	if !ok {
		return []Known{ofRank(c.Type(0), len(dims))}
	}
	axis = c.axis(axis, len(dims))
	inverse, onesided := c.Bool("inverse", false), c.Bool("onesided", false)
	n := dims[axis]
	if inverse && onesided {
		n = n.Sub(NewDim(1)).Mul(NewDim(2))
	}
	if c.Has(1) {
		n = c.dimOf(1)
	}
	dims[axis], dims[len(dims)-1] = binsOf(n, onesided && !inverse), NewDim(2)
	if inverse && onesided {
		dims[len(dims)-1] = NewDim(1)
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}

func stftShape(c *ShapeCall) []Known {
	x := c.Dims(0)
	out := ofRank(c.Type(0), 4)
	if len(x) != 3 {
		return []Known{out}
	}
	length := x[1]
	if c.Has(2) {
		length = Dim{}
		if w := c.Dims(2); len(w) == 1 {
			length = w[0]
		}
	}
	if c.Has(3) {
		length = c.dimOf(3)
	}
	frames := x[1].Sub(length).Div(c.dimOf(1)).Add(NewDim(1))
	out.Dims = []Dim{x[0], frames, binsOf(length, c.Bool("onesided", true)), NewDim(2)}
	return []Known{out}
}
