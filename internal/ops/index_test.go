package ops_test

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// pad follows where each element of X goes: that is what stands in the text of an axis beside n elements more on each side.
func pad(c call) {
	axes := make([][]int, 4) // what index each index of Y comes from, −1 for none
	for a := range axes {
		m, n, before, mode := c.n(3+4*a), c.n(4+4*a), c.n(5+4*a), ops.PadMode(c.n(6+4*a))
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
	value := 0.0
	switch c.args[2].Kind {
	case kernels.ArgReal:
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
