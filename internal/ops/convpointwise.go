package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// pointwise reports whether a position of Y is computed of the same position of X alone: then a
// group is a product of matrices [Out, In]·[In, positions].
func (s *ConvShape) pointwise() bool {
	one := [3]int{1, 1, 1}
	return s.Kernel == one && s.Stride == one && s.Size == s.OutSize && s.Pad == [3]int{}
}

// pointwiseConv computes convHost's result of pointwise convolutions on the Go device, of the
// operands as they lie, and reports whether it is one. Blocks of positions and of outputs are
// products.
func pointwiseConv[T kernels.Float](c kernels.HostArgs[T], s *ConvShape, transposed bool, x, w, bias, y []T) bool {
	loops := loopsOf(c)
	if loops == nil || !s.pointwise() {
		return false
	}
	read, written, row, step := s.In, s.Out, s.In, 1
	if transposed {
		read, written, row, step = s.Out, s.In, 1, s.In
	}
	const few, tall = 8, 64 // units that keep all cores busy, and outputs that are worth one
	positions := volume(s.Size)
	block := max(wide, min(1024, convPanel/max(read, 1))/wide*wide)
	blocks := intmath.CeilDiv(positions, block)
	part := written
	for s.Batch*s.Groups*blocks*intmath.CeilDiv(written, part) < few && part > tall {
		part = intmath.CeilDiv(part, 2)
	}
	parts := intmath.CeilDiv(written, part)
	c.Parallel(s.Batch*s.Groups*blocks*parts, block*read*part/4+block, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			o, first, image := u%parts*part, u/parts%blocks*block, u/parts/blocks
			outputs, count, g := min(part, written-o), min(block, positions-first), image%s.Groups
			sums := y[(image*written+o)*positions+first:]
			loops.Product(vec.Product[T]{M: outputs, N: count, K: read, A: w[g*s.Out*s.In+o*row:], RowA: row, StepA: step,
				B: x[image*read*positions+first:], StepB: positions, ColumnB: 1, C: sums, RowC: positions}, nil)
			for i := range min(outputs, len(bias)) {
				row := sums[i*positions:][:count]
				loops.MapBy(vec.Add, row, row, bias[g*written+o+i])
			}
			c.Stored((image*written+o)*positions+first, outputs, count, positions)
		}
	})
	return true
}
