package ops_test

import (
	"cmp"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// padded returns for each axis, whose numbers arguments from one on are, what index each index of
// the result comes from, −1 for none.
func padded(c call, at int) [][]int {
	axes := make([][]int, 4)
	for a := range axes {
		m, n, before, mode := c.n(at+4*a), c.n(at+1+4*a), c.n(at+2+4*a), ops.PadMode(c.n(at+3+4*a))
		line := map[int]int{} // by the index in X, or outside
		for i := -300; i < 600; i++ {
			line[i] = -1
			switch {
			case 0 <= i && i < n && mode == ops.PadMirrored:
				line[i] = n - 1 - i
			case 0 <= i && i < n:
				line[i] = i
			case n == 0:
			case mode == ops.PadNearest:
				line[i] = min(max(i, 0), n-1)
			case mode == ops.PadCircular:
				line[i] = (i + 900*n) % n
			case mode == ops.PadReflect && n > 1:
				period := 2 * (n - 1)
				j := (i + 900*period) % period
				line[i] = min(j, period-j)
			}
		}
		for i := range m {
			axes[a] = append(axes[a], line[i-before])
		}
	}
	return axes
}

// padGrad adds each element of G to that which it comes from.
func padGrad(c call) {
	axes, at := padded(c, 2), 0
	clear(c.mem[1])
	for _, i := range axes[0] {
		for _, j := range axes[1] {
			for _, k := range axes[2] {
				for _, l := range axes[3] {
					if min(i, j, k, l) >= 0 {
						c.mem[1][((i*c.n(7)+j)*c.n(11)+k)*c.n(15)+l] += c.mem[0][at]
					}
					at++
				}
			}
		}
	}
}

// pad follows where each element of X goes: that is what stands in the text of an axis beside n
// elements more on each side.
func pad(c call) {
	axes := padded(c, 3)
	value := 0.0
	switch c.args[2].Kind {
	case kernels.ArgFloat:
		value = c.r(2)
	default:
		switch value = float64(c.n(2)); c.args[1].Buf.DType() {
		case kernels.Uint8:
			value = float64(uint8(c.n(2)))
		case kernels.Float16:
			value = float64(float16.Frombits(uint16(c.n(2))).Float32())
		}
	}
	at := 0
	for _, i := range axes[0] {
		for _, j := range axes[1] {
			for _, k := range axes[2] {
				for _, l := range axes[3] {
					c.mem[1][at] = value
					if min(i, j, k, l) >= 0 {
						c.mem[1][at] = c.mem[0][((i*c.n(8)+j)*c.n(12)+k)*c.n(16)+l]
					}
					at++
				}
			}
		}
	}
}

// gatherAxis: X, I, Y, outer, n, m, inner.
func gatherAxis(c call) {
	n, m, inner := c.n(4), c.n(5), c.n(6)
	for at := range c.mem[2] {
		o, i, r := at/(m*inner), at%inner, c.axisIndex(at, 7)
		if c.mem[2][at] = 0; r >= 0 && r < float64(n) {
			c.mem[2][at] = c.mem[0][(o*n+int(r))*inner+i]
		}
	}
}

// axisIndex returns the index of element at of [outer, m, inner]: there is one for each, or for
// each of m, as an argument says.
func (c call) axisIndex(at, each int) float64 {
	if c.n(each) == 0 {
		at = at / c.n(6) % c.n(5)
	}
	return c.mem[1][at]
}

// came returns what y becomes when g comes to it, of elements of the type of an argument.
func (c call) came(arg int, y, g float64, how int) float64 {
	v := g
	switch ops.Scatter(how) {
	case ops.ScatterAdd:
		v = y + g
	case ops.ScatterMul:
		v = y * g
	case ops.ScatterMin:
		v = min(y, g)
	case ops.ScatterMax:
		v = max(y, g)
	}
	switch c.args[arg].Buf.DType() {
	case kernels.Int32:
		return float64(int32(int64(v)))
	case kernels.Uint8:
		return float64(uint8(int64(v)))
	}
	return c.round(v)
}

// scatterAxis: G, I, Y, outer, n, m, inner, how.
func scatterAxis(c call) {
	n, m, inner := c.n(4), c.n(5), c.n(6)
	for at := range c.mem[0] { // in the order of the middle axis in each line
		o, i, r := at/(m*inner), at%inner, c.axisIndex(at, 8)
		if r >= 0 && r < float64(n) {
			to := (o*n+int(r))*inner + i
			c.mem[2][to] = c.came(2, c.mem[2][to], c.mem[0][at], c.n(7))
		}
	}
}

// scatterRows: G, I, Y, n, cols, rows, how.
func scatterRows(c call) {
	cols := c.n(4)
	for i, r := range c.mem[1] {
		for j := range cols {
			if r >= 0 && r < float64(c.n(5)) {
				to := int(r)*cols + j
				c.mem[2][to] = c.came(2, c.mem[2][to], c.mem[0][i*cols+j], c.n(6))
			}
		}
	}
}

// rowDigit returns what a sort by rows looks at in an index, and the key that it is.
func rowDigit(index float64, rows, shift int) (digit int, key float64) {
	if index < 0 || index > float64(rows) {
		index = float64(rows)
	}
	return int(index) >> shift & 255, index
}

// rowsCounted: X, C, rows, n, tiles, shift, flags, of one row in tiles of 1024. What is behind the
// counts of the tiles stays.
func rowsCounted(c call) {
	for at := range len(c.mem[1]) - 256 {
		c.mem[1][at] = 0
		for i, index := range c.mem[0] {
			if d, _ := rowDigit(index, c.n(6), c.n(5)); i/1024 == at/256 && d == at%256 {
				c.mem[1][at]++
			}
		}
	}
}

// countsAdded: C, rows, tiles.
func countsAdded(c call) {
	size := (c.n(2) + 1) * 256
	for row := range c.n(1) {
		for d := range 256 {
			before := 0.0
			for at := row*size + d; at < (row+1)*size; at += 256 {
				n := c.mem[0][at]
				c.mem[0][at] = before
				before += n
			}
		}
	}
}

// rowsMoved: X, I, C, Y, J, rows, n, tiles, shift, flags, given, of one row. It is a stable sort.
func rowsMoved(c call) {
	rows, shift := c.n(9), c.n(8)
	order := make([]int, len(c.mem[0]))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, _ := rowDigit(c.mem[0][a], rows, shift)
		y, _ := rowDigit(c.mem[0][b], rows, shift)
		return cmp.Compare(x, y)
	})
	for to, from := range order {
		_, c.mem[3][to] = rowDigit(c.mem[0][from], rows, shift)
		if c.mem[4][to] = float64(from); c.on(10) {
			c.mem[4][to] = c.mem[1][from]
		}
	}
}

// scatterRuns: G, P, K, Y, H, HK, n, cols, rows, how, sorted. Each block of 32 keys does what it
// can alone.
func scatterRuns(c call) {
	n, cols, rows, how := c.n(6), c.n(7), c.n(8), c.n(9)
	keys := c.mem[2]
	clear(c.mem[4])
	for b := range len(c.mem[5]) / 2 {
		c.mem[5][2*b], c.mem[5][2*b+1] = float64(rows), float64(rows)
		for key := range rows {
			sum, some := make([]float64, cols), false
			for i := b * 32; i < min(n, b*32+32); i++ {
				if keys[i] != float64(key) {
					continue
				}
				from := i
				if c.on(10) {
					from = int(c.mem[1][i])
				}
				for j := range cols {
					if g := c.mem[0][from*cols+j]; some {
						sum[j] = c.came(4, sum[j], g, how)
					} else {
						sum[j] = g
					}
				}
				some = true
			}
			before := b > 0 && keys[b*32-1] == float64(key) && some
			behind := b*32+32 < n && keys[b*32+32] == float64(key) && some
			if before {
				c.mem[5][2*b] = float64(key)
				copy(c.mem[4][2*b*cols:][:cols], sum)
				for j := range cols {
					switch {
					case behind && ops.Scatter(how) == ops.ScatterAdd:
						c.mem[4][2*b*cols+j] = 0
					case behind && ops.Scatter(how) == ops.ScatterMul:
						c.mem[4][2*b*cols+j] = 1
					}
				}
			}
			if behind {
				c.mem[5][2*b+1] = float64(key)
				copy(c.mem[4][(2*b+1)*cols:][:cols], sum)
			}
			for j := range cols {
				if to := key*cols + j; some && !before && !behind {
					c.mem[3][to] = c.came(3, c.mem[3][to], sum[j], how)
				}
			}
		}
	}
}
