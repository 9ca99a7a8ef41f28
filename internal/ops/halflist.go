package ops

import (
	"github.com/clgrad/clgrad/internal/joined"
	"github.com/clgrad/clgrad/kernels"
)

// halvedKernels returns the forms of kernels for buffers of 16 bits that tests run, those that [OfTypes] makes: sums in
// every mixture, and of the others one of each file and kind, in turns of one type and the other.
func halvedKernels(l kernels.Target) (all []*kernels.Kernel) {
	halves := [2]kernels.DType{kernels.Float16, kernels.BFloat16}
	for _, x := range halves {
		all = append(all, ofTypes(Sum, x), ofTypes(Sum, x, x), ofTypes(SumAxis, x), ofTypes(SumAxis, x, x), ofTypes(SumAxis, kernels.Float32, x))
	}
	tile := GemmTile{}
	if !l.CPU {
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
		all = append(all, joined.Several(all[len(all)-1], 2))
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

// halvesAfterwards returns kernels that compute maps of what others store in 16 bits: of a convolution's output and of pools,
// kept or not, to 16 bits and to float32.
func halvesAfterwards(output *kernels.Kernel) (all []*kernels.Kernel) {
	for i, t := range []kernels.DType{kernels.Float16, kernels.BFloat16} {
		of := [][]kernels.DType{{t, t, t, t}, {t, t}}
		for j, k := range []*kernels.Kernel{output, poolPairs.PoolKernel(MaxPool), (&PoolShape{Adaptive: true}).PoolKernel(AvgPool)} {
			then := joined.Then{Of: storedSum, Layout: joined.AccessPattern{Rank: 1}, Keep: (i+j)%2 == 0}
			then.Layout.Types[0], then.Layout.Types[2] = t, []kernels.DType{t, kernels.Float32}[i]
			all = append(all, joined.WithMap(ofTypes(k, of[min(j, 1)]...), then))
		}
	}
	return all
}
