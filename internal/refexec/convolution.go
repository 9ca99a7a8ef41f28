package refexec

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// values returns the elements of a view, the last index running fastest.
func (m *machine[T]) values(v kernels.View, dims []int) (list []float64) {
	each(dims, func(index []int) { list = append(list, m.load(v, index...)) })
	return list
}

// storeAll stores the elements of a view in the order of values.
func (m *machine[T]) storeAll(v kernels.View, dims []int, list []float64) {
	i := 0
	each(dims, func(index []int) {
		m.store(v, m.rounded(list[i], v.Type), index...)
		i++
	})
}

func elements(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// taps calls f for each position q of the outputs and each tap r that meets a position p of the inputs, as numbers that
// count through the axes.
func taps(s *operation.ConvolutionSpec, f func(q, r, p int)) {
	axes := len(s.Size)
	each(slices.Concat(s.OutSize, s.Kernel), func(at []int) {
		q, r, p := 0, 0, 0
		for a := range axes {
			in := at[a]*s.Stride[a] - s.Pad[a] + at[axes+a]*s.Dilation[a]
			if in < 0 || in >= s.Size[a] {
				return
			}
			q, r, p = q*s.OutSize[a]+at[a], r*s.Kernel[a]+at[axes+a], p*s.Size[a]+in
		}
		f(q, r, p)
	})
}

func (m *machine[T]) convolution(op *operation.Convolution) {
	s := &op.ConvolutionSpec
	from, to, read, written := s.Outputs(), s.Inputs(), s.Out, s.In
	if !op.Transposed {
		from, to, read, written = to, from, s.In, s.Out
	}
	x, w, y := m.values(op.X, from), m.values(op.W, s.Weights()), make([]float64, elements(to))
	ofX, ofY, ofW := elements(from[3:]), elements(to[3:]), elements(s.Kernel)
	taps(s, func(q, r, p int) {
		if op.Transposed {
			p, q = q, p
		}
		for image := range s.Batch * s.Groups {
			g := image % s.Groups
			for i := range written {
				sum := 0.0
				for k := range read {
					o, c := i, k
					if op.Transposed {
						o, c = k, i
					}
					sum += x[(image*read+k)*ofX+p] * w[((g*s.Out+o)*s.In+c)*ofW+r]
				}
				y[(image*written+i)*ofY+q] += sum
			}
		}
	})
	if op.Biased {
		bias := m.values(op.Bias, []int{s.Groups, written})
		for i := range y {
			y[i] += bias[i/ofY%len(bias)]
		}
	}
	m.storeAll(op.Y, to, y)
}

func (m *machine[T]) convolutionWeightGrad(op *operation.ConvolutionWeightGrad) {
	s, dims := &op.ConvolutionSpec, op.Results()
	x, g, d := m.values(op.X, s.Inputs()), m.values(op.G, s.Outputs()), make([]float64, elements(dims))
	bias := make([]float64, elements(dims[:3]))
	ofX, ofG, ofW, last := elements(s.Size), elements(s.OutSize), elements(s.Kernel), s.OutSize[len(s.OutSize)-1]
	part := func(n, q int) int { return (n*ofG + q) / last / op.Slice }
	taps(s, func(q, r, p int) {
		for image := range s.Batch * s.Groups {
			n, group := image/s.Groups, image%s.Groups
			for o := range s.Out {
				for c := range s.In {
					at := (((part(n, q)*s.Groups+group)*s.Out+o)*s.In+c)*ofW + r
					d[at] += x[(image*s.In+c)*ofX+p] * g[(image*s.Out+o)*ofG+q]
				}
			}
		}
	})
	m.storeAll(op.D, dims, d)
	if !op.Biased {
		return
	}
	for i, v := range g {
		channel, q := i/ofG, i%ofG
		n, group, o := channel/(s.Groups*s.Out), channel/s.Out%s.Groups, channel%s.Out
		bias[(part(n, q)*s.Groups+group)*s.Out+o] += v
	}
	m.storeAll(op.DBias, dims[:3], bias)
}

// windows checks where windows lie.
func (c *checker) windows(w *operation.Windows) {
	axes := len(w.Size)
	if axes < 1 || axes > 3 {
		c.fail("windows over %d axes", axes)
	}
	for _, list := range [][]int{w.Size, w.OutSize, w.Kernel, w.Stride, w.Dilation, w.Pad} {
		if c.positive(list...); len(list) != axes {
			c.fail("there are %d numbers for %d axes", len(list), axes)
		}
	}
}

// convolved checks a shape of a convolution.
func (c *checker) convolved(s *operation.ConvolutionSpec) {
	c.windows(&s.Windows)
	c.positive(s.Batch, s.Groups, s.In, s.Out)
}

func (c *checker) convolution(op *operation.Convolution) {
	axes := len(op.Size)
	c.convolved(&op.ConvolutionSpec)
	c.product([]kernels.View{op.X, op.W}, 3+axes, op.Y, 3+axes)
	if op.Biased {
		if c.view("Bias", op.Bias, 2); op.Bias.Type.Float() != op.Y.Type.Float() {
			c.fail("Bias is of type %v, Y of %v", op.Bias.Type, op.Y.Type)
		}
	}
}

func (c *checker) convolutionWeightGrad(op *operation.ConvolutionWeightGrad) {
	axes := len(op.Size)
	c.convolved(&op.ConvolutionSpec)
	c.positive(op.Slice - 1)
	c.floats("X", op.X, 3+axes)
	c.floats("G", op.G, 3+axes)
	c.floats("D", op.D, 4+axes)
	if op.Biased {
		c.floats("DBias", op.DBias, 3)
	}
}
