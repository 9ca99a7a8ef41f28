package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/clgrad/clgrad/kernels/operation"
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
	parts.with(func(k *kernels.Kernel) {
		overrideExtreme(k, least)
		k.Semantics = extremeSemantics(least)
	})
	join.with(func(k *kernels.Kernel) {
		k.Semantics = joinExtremesSemantics(least)
		k.Host = kernels.HostKernel{F32: joinExtremesHost[float32](least), F64: joinExtremesHost[float64](least)}
	})
	return Extremes{parts, join}
}

// extremeFunction returns what folds to extremes.
func extremeFunction(least bool) *kernels.Function {
	if least {
		return fn.Min
	}
	return fn.Max
}

// An index in a line as that in a part of so many elements, and the reverse.
var (
	before = expr.Index(1).Float().Mul(a)
	inPart = &kernels.Function{Name: "in_part", Value: x.Sub(before), Integers: true, Scalars: []float64{8}}
	inLine = &kernels.Function{Name: "in_line", Value: x.Add(before), Integers: true, Scalars: []float64{8}}
)

// extremeSemantics: X, Y, I, outer, len, inner, chunk.
func extremeSemantics(least bool) func(args) operations {
	return func(in args) operations {
		outer, n, inner, chunk := int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int)
		if n == 0 {
			return nil
		}
		parts := lower.Parts(n, chunk)
		strides := []int{parts * inner, inner, 1}
		r := fold(extremeFunction(least), in, outer, n, inner, view(in, 1, 0, strides...))
		r.Shares, r.Chunk, r.Index = parts, chunk, view(in, 2, 0, strides...)
		if parts == 1 {
			return operations{r}
		}
		index := r.Index
		r.Index.Arg = operation.Temp(0)
		return operations{r, mapped(inPart, []operation.Scalar{passed(6)}, []int{outer, parts, inner}, index, r.Index)}
	}
}

// joinExtremesSemantics: X, J, Y, I, outer, len, inner, chunk.
func joinExtremesSemantics(least bool) func(args) operations {
	return func(in args) operations {
		outer, n, inner := int(in[4].Int), int(in[5].Int), int(in[6].Int)
		if n == 0 {
			return nil
		}
		r := fold(extremeFunction(least), in, outer, n, inner, view(in, 2, 0, inner, 0, 1))
		r.Index, r.Given = view(in, 3, 0, inner, 0, 1), view(in, 1, 0, n*inner, inner, 1)
		j := r.Given
		r.Given.Arg = operation.Temp(0)
		return operations{mapped(inLine, []operation.Scalar{passed(7)}, []int{outer, n, inner}, r.Given, j), r}
	}
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
