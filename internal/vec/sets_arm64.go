package vec

import "golang.org/x/sys/cpu"

// found returns NEON, which every processor of this kind has.
func found() []*Set {
	var products byteProductLoops
	if cpu.ARM64.HasASIMDDP {
		products = byteProductsNEON
	}
	return []*Set{{name: "neon", byteProducts: products, weights: weightsNEON, ints: intJoins{intsAddNEON, intsMulNEON, intsMaxNEON, intsMinNEON},
		single: Loops[float32]{tall: talls[float32]{direct: [tallest]tall[float32]{{32, tallF32NEONx32x1}, {16, tallF32NEONx16x2}, {8, tallF32NEONx8x3}, {8, tallF32NEONx8x4}}},
			transposer: transposer[float32]{4, 4, transposeF32NEON}, copies: copyPlanesNEON, corners: cornerLoops[float32]{4, cornersF32NEON, gatherInterpF32NEON, scatterAddF32NEON}, maxPool: maxPoolF32NEON, maps: mapF32NEON, rowLoops: rowsF32NEON, adamw: adamwF32NEON, addWide: addWideNEON, blocks: blocks[float32]{widths: [3]int{16, 8, 4}, heights: []height[float32]{
				{6, [3]block[float32]{productF32NEONx6x16, productF32NEONx6x8, productF32NEONx6x4}},
				{4, [3]block[float32]{productF32NEONx4x16, productF32NEONx4x8, productF32NEONx4x4}},
				{2, [3]block[float32]{productF32NEONx2x16, productF32NEONx2x8, productF32NEONx2x4}},
				{1, [3]block[float32]{productF32NEONx1x16, productF32NEONx1x8, productF32NEONx1x4}}}}},
		double: Loops[float64]{tall: talls[float64]{direct: [tallest]tall[float64]{{16, tallF64NEONx16x1}, {8, tallF64NEONx8x2}, {4, tallF64NEONx4x3}, {4, tallF64NEONx4x4}}},
			transposer: transposer[float64]{2, 2, transposeF64NEON}, copies: copyPlanesNEON, maps: mapF64NEON, rowLoops: rowsF64NEON, adamw: adamwF64NEON, blocks: blocks[float64]{widths: [3]int{8, 4, 2}, heights: []height[float64]{
				{6, [3]block[float64]{productF64NEONx6x8, productF64NEONx6x4, productF64NEONx6x2}},
				{4, [3]block[float64]{productF64NEONx4x8, productF64NEONx4x4, productF64NEONx4x2}},
				{2, [3]block[float64]{productF64NEONx2x8, productF64NEONx2x4, productF64NEONx2x2}},
				{1, [3]block[float64]{productF64NEONx1x8, productF64NEONx1x4, productF64NEONx1x2}}}}}}}
}

var byteProductsNEON = byteProductLoops{signed: true, widths: []int{16}, heights: []byteBlocks{
	{6, []byteBlock{byteProductNEONx6x16}},
	{4, []byteBlock{byteProductNEONx4x16}},
	{2, []byteBlock{byteProductNEONx2x16}},
	{1, []byteBlock{byteProductNEONx1x16}},
}, packRow: packByteRowNEON, correct: correctBytesNEON}

var weightsNEON = weightLoops{
	Weights8:        weightLoop{[weightRows]multiplyWeights{multiplyWeights8NEON}, 6, unpackWeights8NEON},
	Weights4:        weightLoop{[weightRows]multiplyWeights{multiplyWeights4NEON}, 6, unpackWeights4NEON},
	WeightsFloat16:  weightLoop{[weightRows]multiplyWeights{multiplyWeightsFloat16NEON}, 6, unpackWeightsFloat16NEON},
	WeightsBFloat16: weightLoop{[weightRows]multiplyWeights{multiplyWeightsBFloat16NEON}, 6, unpackWeightsBFloat16NEON},
}
