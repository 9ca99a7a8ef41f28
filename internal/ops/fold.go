package ops

import (
	"math"
	"math/bits"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// FoldKind is that of package defs.
type FoldKind = defs.FoldKind

// Fold returns the kernel that folds parts of the middle axis of X [outer, len, inner], of floats, in a
// fixed order: Y [outer, parts, inner] has the fold of each part, which is chunk elements, the last
// fewer. Its arguments are X, Y, outer, len, inner, chunk, and p of powers.
func Fold(kind FoldKind) *RowKernel { return folds[kind] }

var folds = func() (values [defs.FoldKinds]*RowKernel) {
	for kind := range FoldKind(defs.FoldKinds) {
		values[kind] = rowKernel(func() *ir.Program { return defs.Fold(kind) }, lanesForOne, func(s rowSizes) []kernels.Case { return foldCases(kind, s) })
	}
	return values
}()

// Dot is package defs': X, W, Y, outer, len, inner, chunk.
var Dot = rowKernel(defs.Dot, lanesForTwo, dotCases)

// SquaredError is package defs': X, T, P, D, outer, len, inner, chunk.
var SquaredError = rowKernel(defs.SquaredError, lanesForTwo, squaredErrorCases)

// ExtremeGrad is package defs': X, Y, G, D, outer, len, inner.
var ExtremeGrad = rowKernel(defs.ExtremeGrad, lanesForOne, extremeGradCases).with(func(k *kernels.Kernel) {
	tried(k, func(ops []kernels.Operand) bool {
		n, inner := int(ops[5].Number), int(ops[6].Number)
		ops[1] = selftest.Computed(ops[1].N, func(before []kernels.Arg, i int) float64 { // the maximum over the axis
			m := math.Inf(-1)
			for k := range n {
				m = max(m, before[0].At((i/inner*n+k)*inner+i%inner))
			}
			return m
		})
		return true
	})
})

// alongLines returns the kernels that work along the lines of [outer, n, inner].
func alongLines() []*kernels.Kernel {
	all := []*kernels.Kernel{Dot.Kernel(), SquaredError.Kernel(), Moments.Kernel(), MomentsJoin.Kernel(),
		TakeAlong, PlaceAlong, AddAlong, AddRuns}
	for _, f := range folds {
		all = append(all, f.Kernel())
	}
	for _, e := range extremes {
		all = append(all, e.Parts.Kernel(), e.Join.Kernel())
	}
	for _, t := range integers {
		all = append(all, SumInts(t), ExtremeInts(t))
	}
	for _, of := range scans {
		for _, k := range of {
			if k != nil {
				all = append(all, k)
			}
		}
	}
	all = append(all, ScanLinear)
	for _, s := range sorts {
		all = append(all, s.Blocks, s.Digit, s.Merge, s.Median, s.SelectMedian, s.Count, s.Move)
	}
	return append(append(all, sorts[kernels.Float32].Scan), longIndices()...)
}

// longIndices returns the forms of kernels whose indices are of Int64: those of what operations return.
func longIndices() []*kernels.Kernel {
	s := sorts[kernels.Float32]
	all := []*kernels.Kernel{
		Fold(defs.FoldCount).Kernel().LongIndices(1),
		Scan(ScanMax, kernels.Float32).LongIndices(2), Scan(ScanMin, kernels.Int64).LongIndices(2),
		s.Blocks.LongIndices(3), s.Digit.LongIndices(3), s.Merge.LongIndices(3), s.Move.LongIndices(4),
		s.Median.LongIndices(3), s.SelectMedian.LongIndices(2),
	}
	for _, e := range extremes {
		all = append(all, e.Parts.Kernel().LongIndices(2), e.Join.Kernel().LongIndices(3))
	}
	for _, k := range []*kernels.Kernel{TakeAlong, PlaceAlong, AddAlong, AddRuns} {
		all = append(all, k.LongIndices(1))
	}
	all = append(all, TakeAlong.Of(kernels.Float16).LongIndices(1), PlaceAlong.Of(kernels.Float16).LongIndices(1))
	return all
}

// foldGroup is how many work-items scans and sorts have in a work-group.
const foldGroup = 256

// partGrid is that of lines [outer, n, inner] in parts of chunk elements.
func partGrid(outer, n, inner, chunk int, l kernels.Target) kernels.Grid {
	rows, length := outer*lower.Parts(n, chunk), min(n, chunk)
	if l.CPU {
		return cpuLines(rows, length, inner, l)
	}
	return lineGrid(rows, max(length, 1), inner, l)
}

// cpuLines launches work-groups of one work-item that share rows×columns lines of n elements out,
// in blocks of sixteen columns: as many as are worth their start, and keep the cores busy.
func cpuLines(rows, n, columns int, l kernels.Target) kernels.Grid {
	const least = 8192 // elements
	blocks := rows * intmath.CeilDiv(columns, 16)
	work := rows * columns / least * max(n, 1)
	if rows*columns < least {
		work = rows * columns * max(n, 1) / least
	}
	return kernels.Grid{Dims: 1, Global: [3]int{min(blocks, max(work, 1), 16*l.Units)}, Local: [3]int{1}}
}

// FoldShape returns in how many parts, of what length, the lines of [outer, n, inner] are folded so
// that a device is busy. There is one where the lines alone are enough.
func FoldShape(outer, n, inner int, l kernels.Target) (chunk, parts int) {
	const least = 4096 // elements of a part
	columns := 16      // that are folded beside each other
	if !l.CPU {
		columns = min(32, 1<<bits.Len(uint(max(inner-1, 0))))
	}
	blocks, enough := outer*intmath.CeilDiv(inner, columns), 2*l.Units
	parts = 1
	if blocks > 0 && blocks < enough {
		parts = max(1, min(2*enough/blocks, n/least))
	}
	chunk = max(1, intmath.RoundUp(intmath.CeilDiv(n, parts), 32))
	return chunk, max(1, intmath.CeilDiv(n, chunk))
}
