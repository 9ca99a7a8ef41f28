package ops

import (
	"slices"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
)

// scanShares is the Go code of a scan by shares of lines: each is widened, scanned where it is, and rounded.
func (f *halfForm) scanShares(c kernels.HostArgs[float32]) {
	outer, n, inner, chunk, shares := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	if shares == 1 {
		f.run(c)
		return
	}
	x, carry, y := c.Args()[0], c.Args()[1], c.Args()[2]
	c.Parallel(outer*shares, 4*chunk*inner, func(lo, hi int) {
		room := f.take(chunk * inner)
		defer f.scratch.Put(room)
		for u := lo; u < hi; u++ {
			begin := u % shares * chunk
			from, m := (u/shares*n+begin)*inner, max(0, min(n-begin, chunk))
			line, args := kernels.Slice[float32](room, 0, m*inner), slices.Clone(c.Args())
			args[0] = kernels.BufferArg(room, 0, m*inner)
			args[2] = args[0]
			if carry.N > 0 {
				args[1] = kernels.BufferArg(carry.Buf, carry.Off+u*inner, inner)
			}
			args[3], args[4], args[6], args[7] = kernels.IntArg(1), kernels.IntArg(m), kernels.IntArg(m), kernels.IntArg(1)
			lower.Widen(c, line, x, from)
			f.k.Host.F32(c.With(args, true))
			lower.Narrow(c, line, y, from)
		}
	})
}
