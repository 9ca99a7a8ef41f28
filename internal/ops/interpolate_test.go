package ops_test

import "math"

// weighed calls f for every output of an interpolation and every input, with the weight that it
// has, which may be 0.
func (c call) weighed(f func(y, x int, weight float64)) {
	var in, out [3]int
	for a := range in {
		in[a], out[a] = c.n(3+a), c.n(6+a)
	}
	along := func(a, q, i int) float64 {
		at, unit := q*in[a]/out[a], 1 // it lies at the fraction of these
		switch {
		case c.on(9) && c.on(10):
			at, unit = q*(in[a]-1), max(out[a]-1, 1)
		case c.on(9):
			at, unit = (2*q+1)*in[a]-out[a], 2*out[a]
			at = min(max(at, 0), (in[a]-1)*unit)
		}
		return max(0, 1-math.Abs(float64(at-i*unit))/float64(unit))
	}
	inputs, outputs := in[0]*in[1]*in[2], out[0]*out[1]*out[2]
	for y := range c.n(2) * outputs {
		q := y % outputs
		for i := range inputs {
			w := along(0, q/(out[1]*out[2]), i/(in[1]*in[2])) * along(1, q/out[2]%out[1], i/in[2]%in[1]) * along(2, q%out[2], i%in[2])
			f(y, y/outputs*inputs+i, w)
		}
	}
}

// interpolate is Y from X.
func interpolate(c call) {
	clear(c.mem[1])
	c.weighed(func(y, x int, w float64) { c.mem[1][y] += w * c.mem[0][x] })
}

// spread is the gradient of X from that of Y.
func spread(c call) {
	clear(c.mem[1])
	c.weighed(func(y, x int, w float64) { c.mem[1][x] += w * c.mem[0][y] })
}
