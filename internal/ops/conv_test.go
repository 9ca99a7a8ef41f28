package ops_test

// shape reads the numbers of a convolution that begin with argument from.
func (c call) shape(from int) (batch, groups, ci, co int, in, out, kernel, stride, dilation, pad [3]int) {
	for k, v := range []*[3]int{&in, &out, &kernel, &stride, &dilation, &pad} {
		for a := range v {
			v[a] = c.n(from + 4 + 3*k + a)
		}
	}
	return c.n(from), c.n(from + 1), c.n(from + 2), c.n(from + 3), in, out, kernel, stride, dilation, pad
}

// meet calls f for every product of a convolution, with the elements of X, W and Y that meet in it,
// and the image, group, row and weight.
func (c call) meet(from int, f func(x, w, y int, row, group, weight, o int)) {
	batch, groups, ci, co, in, out, kernel, stride, dilation, pad := c.shape(from)
	taps, size := kernel[0]*kernel[1]*kernel[2], out[0]*out[1]*out[2]
	for i := range batch * groups * co * size * ci * taps {
		tap, weight, i := i%taps, i%(ci*taps), i/(ci*taps)
		q, o, g, n := i%size, i/size%co, i/size/co%groups, i/size/co/groups
		at := [3]int{q / (out[1] * out[2]), q / out[2] % out[1], q % out[2]}
		r := [3]int{tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1], tap % kernel[2]}
		x, inside := (n*groups+g)*ci+weight/taps, true
		for a := range at {
			p := at[a]*stride[a] - pad[a] + r[a]*dilation[a]
			inside = inside && p >= 0 && p < in[a]
			x = x*in[a] + p
		}
		if inside {
			f(x, (g*co+o)*ci*taps+weight, i, n*out[0]*out[1]+q/out[2], g, weight, o)
		}
	}
}

// convolve is Y from X and W, or if transposed X from Y and W, and a bias.
func convolve(c call) {
	read, w, bias, written := c.mem[0], c.mem[1], c.mem[2], c.mem[3]
	batch, groups, ci, co, in, out, _, _, _, _ := c.shape(4)
	channels, size := groups*co, out[0]*out[1]*out[2]
	if c.on(26) {
		channels, size = groups*ci, in[0]*in[1]*in[2]
	}
	for i := range batch * channels * size {
		written[i] = 0
		if c.on(27) {
			written[i] = bias[i/size%channels]
		}
	}
	c.meet(4, func(x, at, y int, _, _, _, _ int) {
		if c.on(26) {
			x, y = y, x
		}
		written[y] += read[x] * w[at]
	})
}

// correlate is W from X and Y, in parts of some rows, with the channels of Y last, and the sums of
// Y behind them.
func correlate(c call) {
	_, groups, ci, co, _, out, kernel, _, _, _ := c.shape(3)
	weights, biased := ci*kernel[0]*kernel[1]*kernel[2], c.n(26)
	clear(c.mem[2])
	c.meet(3, func(x, _, y int, row, group, weight, o int) {
		part := row / c.n(25)
		c.mem[2][((part*groups+group)*(weights+biased)+weight)*co+o] += c.mem[0][x] * c.mem[1][y]
	})
	if biased == 0 {
		return
	}
	for i, v := range c.mem[1] { // of the gradient [images, groups, channels, z, y, x]
		size := out[0] * out[1] * out[2]
		o, group, row := i/size%co, i/size/co%groups, i/size/co/groups*out[0]*out[1]+i%size/out[2]
		c.mem[2][((row/c.n(25)*groups+group)*(weights+1)+weights)*co+o] += v
	}
}
