package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// scanSemantics says what the kernel of a scan computes: see [Scan] and [ScanLinear] for its arguments.
func scanSemantics(kind ScanKind) func(args) operations {
	return func(in args) operations {
		num := func(i int) int { return int(in[i].Int) }
		outer, n, inner := num(3), num(4), num(5)
		box := func(arg, offset int) kernels.View { return view(in, arg, offset, n*inner, inner, 1) }
		s := &operation.Scan{Function: [...]*kernels.Function{fn.Add, fn.Mul, fn.LogAddExp, fn.Max, fn.Min, fn.Add}[kind],
			Outer: outer, Len: n, Inner: inner, Chunk: max(n, 1), X: box(0, 0)}
		switch {
		case kind == scanLinear:
			flags, offset := num(7), 0
			s.Reverse = flags&ScanReverse != 0
			if flags&ScanShifted != 0 {
				offset = -inner
				if s.Reverse {
					offset = inner
				}
			}
			s.Decay, s.X, s.Y = box(0, offset), box(1, 0), box(2, 0)
		case kind >= ScanMax:
			s.Y, s.Index = box(1, 0), box(2, 0)
		default:
			flags := num(9)
			s.Y, s.Chunk = box(2, 0), num(6)
			s.Reverse, s.Exclusive = flags&ScanReverse != 0, flags&ScanExclusive != 0
			if flags&ScanCarry != 0 {
				s.Init = view(in, 1, 0, num(7)*inner, inner, 1)
			}
		}
		return operations{s}
	}
}
