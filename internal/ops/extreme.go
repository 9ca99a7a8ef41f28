package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Extremes are kernels that find the maxima of lines, or the minima, of floats, and the
// first index of each; a NaN is beyond all others.
type Extremes struct {
	// Parts is package defs' Extreme: X, Y, I, outer, len, inner, chunk. I has indices in the parts.
	Parts *RowKernel
	// Join is package defs' ExtremeOfParts: X, J, Y, I, outer, len, inner, chunk.
	Join *RowKernel
}

// ExtremesOf returns the kernels.
func ExtremesOf(least bool) Extremes {
	if least {
		return extremes[1]
	}
	return extremes[0]
}

var extremes = [...]Extremes{newExtremes(false), newExtremes(true)}

func newExtremes(least bool) Extremes {
	parts := rowKernel(func() *ir.Program { return defs.Extreme(least) }, lanesForOne,
		func(s rowSizes) []kernels.Case { return extremeCases(false, s) })
	join := rowKernel(func() *ir.Program { return defs.ExtremeOfParts(least) }, lanesForTwo,
		func(s rowSizes) []kernels.Case { return extremeCases(true, s) })
	parts.with(func(k *kernels.Kernel) { overrideExtreme(k, least) })
	join.with(func(k *kernels.Kernel) {
		k.Host = kernels.HostKernel{F32: joinExtremesHost[float32](least), F64: joinExtremesHost[float64](least)}
	})
	return Extremes{parts, join}
}

// ExtremeChunk returns how many elements a part of a line has at most, which are read twice: those that
// a cache of a CPU holds, or of a row the registers of a GPU. Columns of a GPU are in its cache, too, and
// a second launch takes as long as reading thousands of rows of them.
func ExtremeChunk(inner int, l kernels.Target) int {
	switch {
	case !l.CPU:
		return rowsGroup * rowsPer
	case inner == 1:
		return lower.CachedRow
	}
	return 512
}
