package ops

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// All returns every kernel as devices with floats of type t and the limits l run it: matrix products
// once for each tile, batches of them with two, and the forms for other elements than floats.
func All(t kernels.DType, l kernels.Target) []*kernels.Kernel {
	all := []*kernels.Kernel{Fill, Zero, GatherRows, Pad, PadGrad, GatherAxis, ScatterAxis, ScatterRows, ScatterLists, RowSorts.Count, RowSorts.Move, ScatterRuns,
		Sum, SumAxis, ColumnSums,
		Uniform, Normal, RandomInts, SGD, AdamW,
		GemmDirect, FMAChains, ReducePartials, AdamWPartials, AdamWSums, ExtremeGrad.Kernel(),
		NormSums.Kernel(), NormSumsOfSets.Kernel(), BatchStatistics.Kernel(), MatMulInteger, MatMulIntegerDot,
		ConvInteger}
	if t == kernels.Float32 {
		all = append(all, quantizedKernels()...)
	}
	for _, k := range lineKernels() {
		all = append(all, k.Kernel())
	}
	for form, k := range Norms {
		if form&NormCentred != 0 || form&NormBiases == 0 { // which operations have
			all = append(all, k.Kernel())
		}
	}
	every := NormCentred | NormWeights | NormParameters
	for _, form := range []int{0, NormCentred, NormWeights | NormParameters, every} { // each bit with and without others
		all = append(all, NormGrads[form].Kernel())
	}
	for _, form := range []int{0, EntropyLogits, EntropyWeights | EntropySmoothing, EntropyWeights | EntropyLogits | EntropySmoothing} { // each bit with and without others
		all = append(all, CrossEntropies[form].Kernel(), CrossEntropyGrads[form].Kernel(), CrossEntropyGrads[form|EntropyEach].Kernel())
	}
	for i, tile := range GemmTiles(t, l) {
		for _, form := range GemmForms {
			if form != TT || i == 0 { // both operands are read as in other forms
				all = append(all, Gemm(form, tile, nil))
			}
		}
	}
	for i, tile := range GemmTiles(t, l)[:2] { // a batch changes nothing in a tile
		for _, form := range GemmForms[i:] {
			all = append(all, GemmBatch(form, tile))
		}
	}
	all = append(all, epilogues(GemmTiles(t, l)[0])...)
	if !l.CPU && t == kernels.Float32 {
		all = append(all, onMatrixUnits()...)
	}
	all = append(all, convolutions(t, l)...)
	for _, taps := range []int{3, 5} {
		if k := Winograd(taps); l.CPU {
			all = append(all, k.Weights, k.Output, k.Gradient, k.WeightsGrad)
		}
	}
	all = append(all, append(poolings(), Interpolate, InterpolateGrad)...)
	few, many := Attention(attentionExample, 1, t, l), Attention(attentionExample, math.MaxInt32, t, l)
	if few != nil {
		all = append(all, few.Forward, few.Queries, few.Keys)
	}
	if many != few {
		all = append(all, many.Forward, many.Queries, many.Keys)
	}
	if !l.CPU {
		forms := append(lineKernels(), ExtremeGrad, Norms[NormCentred|NormWeights|NormBiases], NormGrads[every], NormSums,
			CrossEntropies[EntropyLogits], CrossEntropyGrads[EntropyLogits])
		for _, k := range forms {
			for _, n := range []int{8, 128, 4096} {
				all = append(all, k.For(n, 1, l))
			}
		}
	}
	if t == kernels.Float32 {
		all = append(all, halfKernels(l)...)
		all = append(all, halvedKernels(l)...)
	}
	all = append(all, maps(t, l)...)
	all = append(all, epilogueCases(t, l)...)
	if !l.CPU {
		all = append(all, fused.Batch(Gemm(TN, GemmTiles(t, l)[0], nil), 2))
	}
	all = append(all, alongLines()...)
	for _, k := range slices.Clip(all) {
		for _, t := range caseTypes[1:] {
			if form := k.Of(t); form != nil {
				all = append(all, form)
			}
		}
	}
	if t == kernels.Float64 {
		return append(all, NarrowFloats, WidenFloats, DoubleBits, DoubleFromBits)
	}
	all = append(all, FloatBits, FloatFromBits)
	return all
}
