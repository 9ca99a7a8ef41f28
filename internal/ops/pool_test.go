package ops_test

import (
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// windows calls f for every output of a pooling whose numbers begin with argument from: with its
// place in Y, the place of the image in X, and the inputs of its window in order, as places in the
// image; within counts them, and reach counts the positions of the window within the padding, too.
func (c call) windows(from int, f func(y, image int, inputs []int, reach int)) {
	var in, out, kernel, stride, dilation, pad [3]int
	for k, v := range []*[3]int{&in, &out, &kernel, &stride, &dilation, &pad} {
		for a := range v {
			v[a] = c.n(from + 1 + 3*k + a)
		}
	}
	size := out[0] * out[1] * out[2]
	for y := range c.n(from) * size {
		inputs, reach := []int{0}, 1
		for a, q := range [3]int{y % size / (out[1] * out[2]), y / out[2] % out[1], y % out[2]} {
			var axis []int
			positions := 0
			for p := -pad[a]; p < in[a]+pad[a]; p++ {
				j := p - (q*stride[a] - pad[a])
				is := j >= 0 && j%dilation[a] == 0 && j/dilation[a] < kernel[a]
				if c.on(from + 19) {
					is = p >= int(math.Floor(float64(q)*float64(in[a])/float64(out[a]))) && p < int(math.Ceil(float64(q+1)*float64(in[a])/float64(out[a])))
				}
				if is {
					positions++
					if p >= 0 && p < in[a] {
						axis = append(axis, p)
					}
				}
			}
			reach *= positions
			var all []int
			for _, i := range inputs {
				for _, p := range axis {
					all = append(all, i*in[a]+p)
				}
			}
			inputs = all
		}
		f(y, y/size*in[0]*in[1]*in[2], inputs, reach)
	}
}

// divided returns what the sum of a window is divided by, where the two arguments say how.
func (c call) divided(padding int, inputs []int, reach int) float64 {
	switch {
	case c.n(padding+1) > 0:
		return float64(c.n(padding + 1))
	case c.on(padding):
		return float64(reach)
	}
	return float64(len(inputs))
}

// poolings are the definitions of kernels of pooling.
var poolings = map[ops.PoolKernel]func(c call){
	ops.MaxPool: func(c call) {
		c.windows(3, func(y, image int, inputs []int, _ int) {
			at := inputs[0]
			for _, i := range inputs {
				if v := c.mem[0][image+i]; v > c.mem[0][image+at] || v != v {
					at = i
				}
			}
			c.mem[1][y] = c.mem[0][image+at]
			if c.on(23) {
				c.mem[2][y] = float64(at)
			}
		})
	},
	ops.MaxPoolGrad: func(c call) {
		clear(c.mem[2])
		c.windows(3, func(y, image int, _ []int, _ int) { c.mem[2][image+int(c.mem[1][y])] += c.mem[0][y] })
	},
	ops.AvgPool: func(c call) {
		c.windows(2, func(y, image int, inputs []int, reach int) {
			c.mem[1][y] = 0
			for _, i := range inputs {
				c.mem[1][y] += c.mem[0][image+i] / c.divided(22, inputs, reach)
			}
		})
	},
	ops.AvgPoolGrad: func(c call) {
		clear(c.mem[1])
		c.windows(2, func(y, image int, inputs []int, reach int) {
			for _, i := range inputs {
				c.mem[1][image+i] += c.mem[0][y] / c.divided(22, inputs, reach)
			}
		})
	},
}

// pooled are the kernels of pooling, for any window and for one.
func pooled() map[*kernels.Kernel]func(c call) {
	all := map[*kernels.Kernel]func(c call){}
	for k, define := range poolings {
		all[(&ops.PoolShape{Adaptive: true}).PoolKernel(k)] = define
		all[ops.PoolExample.PoolKernel(k)] = define
	}
	return all
}
