package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// halvedKernels returns the forms of kernels for buffers of 16 bits that tests run, those that [OfTypes] makes: sums in
// every mixture, and of the others one of each file and kind, in turns of one type and the other.
func halvedKernels(l kernels.Target) (all []*kernels.Kernel) {
	halves := [2]kernels.DType{kernels.Float16, kernels.BFloat16}
	for _, x := range halves {
		all = append(all, ofTypes(Sum, x), ofTypes(Sum, x, x), ofTypes(SumAxis, x), ofTypes(SumAxis, x, x), ofTypes(SumAxis, kernels.Float32, x))
	}
	tile := GemmTile{}
	if l.CPU {
		all = append(all, halvedProducts(halves)...)
	} else {
		tile = convSmall
	}
	outputs, weights := []*kernels.Kernel{Conv(tile, 1, false), ConvDirect, fewKernel(fewForm{2, 4, 0})}, []*kernels.Kernel{ConvWeight(tile, false), ConvWeightDirect}
	turn := 0
	add := func(k *kernels.Kernel, halved ...bool) {
		types := make([]kernels.DType, len(halved))
		for i, is := range halved {
			if is {
				types[i] = halves[turn%2]
			}
		}
		all = append(all, ofTypes(k, types...))
		turn++
	}
	if l.CPU {
		outputs = append(outputs, ConvDepthwise)
		k := Winograd(3)
		add(k.Weights, true)
		add(k.Output, true, false, true, true, true)
		add(k.Gradient, true, true)
		add(k.WeightsGrad, false, true)
	} else {
		outputs, weights = append(outputs, convMatrixSmall.Kernel()), append(weights, convMatrixSmall.WeightKernel())
		add(ConvPack, true)
		all = append(all, fused.Batch(all[len(all)-1], 2))
	}
	for _, k := range outputs {
		add(k, true, true, true, true)
	}
	add(outputs[0], true, true, true) // whose sums are added up in Y
	for _, k := range weights {
		add(k, true, true)
	}
	add(ConvParts, false, true, true)
	for kind := ScanSum; kind <= ScanLSE; kind++ {
		add(Scan(kind, kernels.Float32), true, false, true)
	}
	add(Scan(ScanProd, kernels.Float32), true)
	for kind := ScanMax; kind <= ScanMin; kind++ {
		add(Scan(kind, kernels.Float32), true, true)
		add(Scan(kind, kernels.Float32).LongIndices(2), true, true)
	}
	add(ScanLinear, true, true)
	add(AddRuns, true, false, true)
	add(AddRuns.LongIndices(1), true, false, true)
	for k := range PoolKernel(poolKernels) {
		for _, s := range []*PoolShape{{Adaptive: true}, &PoolExample, &poolPairs} {
			if k == MaxPoolGrad {
				add(s.PoolKernel(k), true, false, true)
			} else {
				add(s.PoolKernel(k), true, true)
			}
		}
	}
	add(Interpolate, true, true)
	add(InterpolateGrad, true, true)
	if k := Attention(attentionExample, 1, kernels.Float32, l); k != nil {
		add(k.Forward, true, true, true, true, true)
		add(k.Forward, true, true, true, true) // whose Y is for gradients
		add(k.Queries, true, true, true, true, false, false, true, true)
		add(k.Keys, true, true, true, true, false, false, true, true, true)
	}
	return append(all, halvesAfterwards(outputs[0])...)
}

// halvedProducts returns the forms of products: of both tiles that pack rows in another way, with operands of 16 bits
// or one of floats, and results of either type.
func halvedProducts(halves [2]kernels.DType) (all []*kernels.Kernel) {
	float := kernels.Float32
	for i, t := range halves {
		tile, other := cpuTiles[0], cpuTiles[2]
		if i > 0 {
			tile, other = other, tile
		}
		for j, form := range GemmForms {
			all = append(all, ofTypes(Gemm(form, tile, nil), t, t, []kernels.DType{t, float}[j%2], t), ofTypes(GemmBatch(form, other), t, t, t, t))
		}
		all = append(all, ofTypes(Gemm(GemmForms[i], other, nil), t, t, t), ofTypes(Gemm(GemmForms[2-i], tile, nil), t, float, t),
			ofTypes(Gemm(GemmForms[1+i], other, nil), float, t, t), ofTypes(GemmBatch(NT, tile), float, t, t), ofTypes(Gemm(NN, tile, fn.Tanh), t, t, t, t),
			halvedAfterwards(ofTypes(Gemm(NT, tile, nil), t, t, t, t), t, []kernels.DType{float, t}[i], i > 0))
	}
	return all
}

// halvesAfterwards returns kernels that compute maps of what others store in 16 bits: of a convolution's output and of pools,
// kept or not, to 16 bits and to float32.
func halvesAfterwards(output *kernels.Kernel) (all []*kernels.Kernel) {
	for i, t := range []kernels.DType{kernels.Float16, kernels.BFloat16} {
		of := [][]kernels.DType{{t, t, t, t}, {t, t}}
		for j, k := range []*kernels.Kernel{output, poolPairs.PoolKernel(MaxPool), (&PoolShape{Adaptive: true}).PoolKernel(AvgPool)} {
			all = append(all, halvedAfterwards(ofTypes(k, of[min(j, 1)]...), t, []kernels.DType{t, kernels.Float32}[i], (i+j)%2 == 0))
		}
	}
	return all
}

// halvedAfterwards is one of them, which keeps its result of one type or not, and stores the map in another.
func halvedAfterwards(k *kernels.Kernel, result, mapped kernels.DType, keep bool) *kernels.Kernel {
	then := fused.Epilogue{Of: storedSum, Layout: fused.AccessPattern{Rank: 1}, Keep: keep}
	then.Layout.Types[0], then.Layout.Types[2] = result, mapped
	return fused.FuseEpilogue(k, then)
}
