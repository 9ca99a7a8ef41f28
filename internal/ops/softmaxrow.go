package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// overrideSoftmax lets the Go device compute rows of softmax, or of its logarithm, with calls that are written
// by hand, where it has vector instructions: rows of 128 elements take half the time that [ir.Machine] needs.
func overrideSoftmax(logarithm bool) func(k *kernels.Kernel) {
	return func(k *kernels.Kernel) {
		k.Host = kernels.HostKernel{F32: softmaxRows(k.Host.F32, logarithm), F64: softmaxRows(k.Host.F64, logarithm)}
	}
}

// softmaxRows returns the Go code of softmax: generated is that of its definition.
func softmaxRows[T kernels.Float](generated func(kernels.HostArgs[T]), logarithm bool) func(kernels.HostArgs[T]) {
	const shortest, block = 48, 1024 // elements of a row, and of the rows whose exponentials are computed at a time
	return func(c kernels.HostArgs[T]) {
		l, rows, n := loopsOf(c), c.Int(2), c.Int(3)
		if l == nil || n < shortest || c.Int(4) != 1 {
			generated(c)
			return
		}
		x, y := c.Floats(0), c.Floats(1)
		c.Parallel(rows, 5*n, func(lo, hi int) {
			some := max(1, block/n)
			var room *vec.Scratch[T]
			if logarithm {
				room = l.Scratch(some * n)
				defer l.Return(room)
			}
			for ; lo < hi; lo += some {
				end := min(lo+some, hi)
				e := y[lo*n : end*n]
				if logarithm {
					e = room.V[:len(e)]
				}
				for r := lo; r < end; r++ {
					l.MapBy(vec.Sub, y[r*n:][:n], x[r*n:], l.Max(x[r*n:][:n]))
				}
				d := y[lo*n:]
				l.Map(vec.Exp, e, d, d, d, d)
				for r := lo; r < end; r++ {
					row, sum := y[r*n:][:n], l.Sum(e[(r-lo)*n:][:n])
					if logarithm {
						l.MapBy(vec.Sub, row, row, T(math.Log(float64(sum))))
					} else {
						l.MapBy(vec.Mul, row, row, 1/sum)
					}
				}
			}
		})
	}
}
