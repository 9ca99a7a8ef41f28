package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// Kernels of package defs' means and variances: X, M, V, outer, len, inner, chunk, scale, and X, Y, M,
// V, outer, len, inner, last, chunk, count, scale.
var (
	Moments = rowKernel(defs.Moments, lanesForOne, kernels.Tolerance{ULP: 4}, momentsBound, momentsCases).with(func(k *kernels.Kernel) {
		k.Grid, k.Twin = foldGrid(3), kernels.Twin{F32: momentsOfColumns(k.Twin.F32), F64: momentsOfColumns(k.Twin.F64)}
	})
	MomentsJoin = rowKernel(defs.MomentsJoin, lanesForOne, kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		most, n := kernels.MaxAbs(a, 0), a[9].Real
		return most + math.Abs(a[10].Real)*float64(a[5].Int)*(kernels.MaxAbs(a, 1)+n*most*most)
	}}, nil, momentsJoinCases)
)

// momentsOfColumns overrides the Go code of columns, which keeps no matrix of differences: those of
// [1000, 1000] take half the time. generated is that of the definition.
func momentsOfColumns[T kernels.Real](generated func(kernels.Call[T])) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		m, v, outer, n, inner, chunk, scale := c.Reals(1), c.Reals(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Real(7)
		l := vectorFold(c, min(n, chunk), inner)
		if l == nil || inner == 1 {
			generated(c)
			return
		}
		eachPartial(c, c.Reals(0), outer, n, inner, chunk, lower.Parts(n, chunk), cachedColumns[T](min(n, chunk)), 8, func(at int, x []T, rows, w int) {
			means, squares := m[at:at+w], v[at:at+w]
			columnMoments(l, means, squares, x, rows, inner)
			for j, s := range squares {
				if s != s {
					means[j] = s
				}
				squares[j] = scale * s
			}
		})
	}
}

// momentsBound: the error of the squares is that of as many additions, times how far the mean is off in
// terms of the differences.
func momentsBound(exact func() []kernels.Arg, eps, _ float64, a []kernels.Arg) func(param, i int) float64 {
	n, inner, chunk, scale := int(a[4].Int), int(a[5].Int), int(a[6].Int), math.Abs(a[7].Real)
	parts := lower.Parts(n, chunk)
	return func(param, i int) float64 {
		row := i / inner
		begin := row % parts * chunk
		norm, most := 0.0, 0.0
		for k := begin; k < min(n, begin+chunk); k++ {
			x := a[0].At((row/parts*n+k)*inner + i%inner)
			norm, most = norm+x*x, max(most, math.Abs(x))
		}
		terms := float64(max(0, min(n-begin, chunk)) + 8)
		if param == 1 {
			return eps * terms * most
		}
		squares := math.Abs(exact()[2].At(i)) / scale
		return scale * (eps*terms*math.Sqrt(squares*norm) + terms*(eps*terms*most)*(eps*most))
	}
}

func momentsCases(s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		cases.add(func(o operands) {
			o.In(b[0]*b[1]*b[2], 90, 92)
			if i == 4 {
				o.Special()
			}
			chunk := []int{max(b[1], 1), b[1]/3 + 1, b[1] + 30}[i%3]
			results := b[0] * lower.Parts(b[1], chunk) * b[2]
			o.Out(results).Out(results).Int(b[0], b[1], b[2], chunk).Real(0.5)
		}, "%v", b)
	}
	return cases
}

func momentsJoinCases(s rowSizes) []kernels.Case {
	var cases caseList
	for _, b := range s.lines {
		if b[1] == 0 {
			continue
		}
		cases.add(func(o operands) {
			n := b[0] * b[1] * b[2]
			o.In(n, 9, 11).In(n, 0, 5).Out(b[0]*b[2]).Out(b[0]*b[2]).Int(b[0], b[1], b[2])
			o.Real(23).Real(32).Real(float64(32*b[1] - 9)).Real(0.01)
		}, "%v", b)
	}
	return cases
}
