package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
)

// What a norm does: the bits of its form.
const (
	NormCentred = 1 << iota // the mean is taken off
	NormWeights             // the result is multiplied by weights
	NormBiases              // and biases are added
	normForms
	// NormParameters takes the place of NormBiases in gradients: those of weights and biases are wanted.
	NormParameters = NormBiases
)

var (
	// Norms are the kernels of package defs' norms, by form: X, W and B if there are such, Y, MEAN,
	// RSTD, outer, len, inner, then sets and span if there are weights or biases, and eps.
	Norms = func() (all [normForms]*RowKernel) {
		for form := range all {
			f := defs.NormForm{Centred: form&NormCentred != 0, Weights: form&NormWeights != 0, Biases: form&NormBiases != 0}
			all[form] = rowKernel(func() *ir.Program { return defs.Norm(f) }, lanesForOne,
				func(s rowSizes) []kernels.Case { return normCases(s, form) }).with(func(k *kernels.Kernel) { overrideNorm(k, f) })
		}
		return all
	}()
	// NormGrads are the gradients of norms, by form: X, G, W if there is one, MEAN, RSTD, D, with
	// NormParameters DW and DB [runs, len], outer, len, inner, with NormParameters how many lines a run
	// has, and sets and span if there is W.
	NormGrads = func() (all [normForms]*RowKernel) {
		for form := range all {
			f := defs.NormForm{Centred: form&NormCentred != 0, Weights: form&NormWeights != 0, Sums: form&NormParameters != 0}
			all[form] = rowKernel(func() *ir.Program { return defs.NormGrad(f) }, lanesForTwo,
				func(s rowSizes) []kernels.Case { return normGradCases(s, form) })
			if f.Sums {
				all[form].with(func(k *kernels.Kernel) { overrideNormGrad(k, f) })
			}
		}
		return all
	}()
	// NormSums takes X, G, MEAN, RSTD, SG, SH, outer, len, inner, chunk; NormSumsOfSets has sets and
	// span in the place of chunk.
	NormSums       = rowKernel(func() *ir.Program { return defs.NormSums(false) }, lanesForTwo, normSumsCases)
	NormSumsOfSets = rowKernel(func() *ir.Program { return defs.NormSums(true) }, lanesForTwo, normSumsOfSetsCases)
	// BatchStatistics takes X, Y, OFF, M, R, V, outer, len, inner, count, last, chunk, eps.
	BatchStatistics = rowKernel(defs.BatchStatistics, lanesForTwo, batchStatisticsCases)
)

func normGradCases(s rowSizes, form int) []kernels.Case {
	var cases caseList
	for i, b := range s.norms {
		if (form&NormWeights == 0 || form&NormParameters != 0) && b[2]*b[3] != 1 {
			continue
		}
		cases.add(func(o operands) {
			o.In(b[0]*b[1], -1, 1).In(b[0]*b[1], -1, 1)
			if form&NormWeights != 0 {
				o.In(b[2]*b[1]/b[3], -2, 2)
			}
			o.In(b[0], -1, 1).In(b[0], 0.5, 2).Out(b[0] * b[1])
			run := []int{1, 2, 64, 3, 32}[i%5]
			if form&NormParameters != 0 {
				sums := lower.Parts(b[0], run) * b[1]
				o.Out(sums).Out(sums)
			}
			if o.Int(b[0], b[1], 1); form&NormParameters != 0 {
				o.Int(run)
			}
			if form&NormWeights != 0 {
				o.Int(b[2], b[3])
			}
		}, "%v form %d", b, form)
	}
	return cases
}

func normSumsCases(s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		cases.add(func(o operands) {
			n, lines := b[0]*b[1]*b[2], b[0]*b[2]
			chunk := []int{max(b[1], 1), b[1]/3 + 1, b[1] + 30}[i%3]
			results := lines * lower.Parts(b[1], chunk)
			o.In(n, -1, 1).In(n, -1, 1).In(lines, -1, 1).In(lines, 0.5, 2).Out(results).Out(results).Int(b[0], b[1], b[2], chunk)
		}, "%v", b)
	}
	return cases
}

func normSumsOfSetsCases(s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		if b[2] != 1 {
			continue
		}
		for _, sets := range [][2]int{{1, 1}, {2, 1}, {2, 3}}[i%3:] {
			cases.add(func(o operands) {
				n := b[0] * b[1]
				o.In(n, -1, 1).In(n, -1, 1).In(sets[0], -1, 1).In(sets[0], 0.5, 2).Out(b[0]).Out(b[0])
				o.Int(b[0], b[1], 1, sets[0], sets[1])
			}, "%v %v", b, sets)
		}
	}
	return cases
}

// NormRun returns of how many rows of n elements a gradient sums those of weights and biases at a time.
func NormRun(rows, n int, l kernels.Target) int {
	if l.CPU {
		return min(sumRun, max(1, rowsChunk/max(n, 1), intmath.CeilDiv(rows, 4*l.Units)))
	}
	groups, perGroup := 8*l.Units, rowsGroup/lanesOf(n)
	if n > rowsGroup*rowsPer/2 { // a unit has no registers for more: on an H200 two take 0.76 of one's time, four 0.89
		groups = 2 * l.Units
	}
	return intmath.RoundUp(max(1, min(sumRun*perGroup, intmath.CeilDiv(rows, groups))), perGroup)
}

func batchStatisticsCases(s rowSizes) []kernels.Case {
	var cases caseList
	for _, b := range s.lines {
		if b[1] == 0 {
			continue
		}
		cases.add(func(o operands) {
			n, lines := b[0]*b[1]*b[2], b[0]*b[2]
			o.In(n, 9, 11).In(n, 0, 5).In(n, -1e-6, 1e-6).Out(lines).Out(lines).Out(lines).Int(b[0], b[1], b[2])
			o.Float(float64(32*b[1] - 9)).Float(23).Float(32).Float(1e-3)
		}, "%v", b)
	}
	return cases
}
