package vec

import "golang.org/x/sys/cpu"

func found() []*Set {
	var s []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasFMA && cpu.X86.HasF16C {
		s = append(s, avx512())
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C {
		s = append(s, avx2())
	}
	return s
}

func avx512() *Set {
	products := byteProducts()
	if cpu.X86.HasAVX512VNNI {
		products = byteProductsAVX512
	}
	return &Set{name: "avx512", byteProducts: products, weights: weightsAVX512, ints: intsAVX2, bytes: bytesAVX2, halves: halvesAVX512, fill: fillWordsAVX2, reverse: reverseWordsAVX2,
		single: Loops[float32]{tall: tallF32, transposer: transposerF32, copies: copyPlanesAVX2, maps: mapF32AVX512, rowLoops: rowsF32AVX512, everySecond: everySecondAVX2, tapSums: tapSumsF32AVX512, deviations: deviationLoops[float32]{deviationsF32AVX512, squaredDeviationsF32AVX512}, norms: normLoops[float32]{rowSubSumF32AVX512, rowSubSquaresF32AVX512, scaledFMAF32AVX512, normGradSumsF32AVX512, normGradF32AVX512}, adamw: adamwF32AVX512, rotate: rotateF32AVX512, butterfly: butterflyF32AVX512, corners: cornersF32, maxPool: maxPoolF32AVX2, addWide: addWideAVX2, blocks: blocks[float32]{widths: [3]int{32, 16, 8}, heights: []height[float32]{
			{12, [3]block[float32]{productF32AVX512x12x32, productF32AVX512x12x16, productF32AVX512x12x8}},
			{8, [3]block[float32]{productF32AVX512x8x32, productF32AVX512x8x16, productF32AVX512x8x8}},
			{4, [3]block[float32]{productF32AVX512x4x32, productF32AVX512x4x16, productF32AVX512x4x8}},
			{2, [3]block[float32]{productF32AVX512x2x32, productF32AVX512x2x16, productF32AVX512x2x8}},
			{1, [3]block[float32]{productF32AVX512x1x32, productF32AVX512x1x16, productF32AVX512x1x8}}}}},
		double: Loops[float64]{tall: tallF64, transposer: transposerF64, copies: copyPlanesAVX2, maps: mapF64AVX512, rowLoops: rowsF64AVX512, tapSums: tapSumsF64AVX512, deviations: deviationLoops[float64]{deviationsF64AVX512, squaredDeviationsF64AVX512}, norms: normLoops[float64]{rowSubSumF64AVX512, rowSubSquaresF64AVX512, scaledFMAF64AVX512, normGradSumsF64AVX512, normGradF64AVX512}, adamw: adamwF64AVX512, rotate: rotateF64AVX512, butterfly: butterflyF64AVX512, blocks: blocks[float64]{widths: [3]int{16, 8, 4}, heights: []height[float64]{
			{12, [3]block[float64]{productF64AVX512x12x16, productF64AVX512x12x8, productF64AVX512x12x4}},
			{8, [3]block[float64]{productF64AVX512x8x16, productF64AVX512x8x8, productF64AVX512x8x4}},
			{4, [3]block[float64]{productF64AVX512x4x16, productF64AVX512x4x8, productF64AVX512x4x4}},
			{2, [3]block[float64]{productF64AVX512x2x16, productF64AVX512x2x8, productF64AVX512x2x4}},
			{1, [3]block[float64]{productF64AVX512x1x16, productF64AVX512x1x8, productF64AVX512x1x4}}}}}}
}

// byteProducts returns the loops of products of bytes in vectors of 32 bytes.
func byteProducts() byteProductLoops {
	if cpu.X86.HasAVXVNNI {
		return byteProductsAVXVNNI
	}
	return byteProductsAVX2
}

func avx2() *Set {
	return &Set{name: "avx2", byteProducts: byteProducts(), weights: weightsAVX2, ints: intsAVX2, bytes: bytesAVX2, halves: halvesAVX2, fill: fillWordsAVX2, reverse: reverseWordsAVX2,
		single: Loops[float32]{tall: tallF32, transposer: transposerF32, copies: copyPlanesAVX2, maps: mapF32AVX2, rowLoops: rowsF32AVX2, everySecond: everySecondAVX2, tapSums: tapSumsF32AVX2, deviations: deviationLoops[float32]{deviationsF32AVX2, squaredDeviationsF32AVX2}, norms: normLoops[float32]{rowSubSumF32AVX2, rowSubSquaresF32AVX2, scaledFMAF32AVX2, normGradSumsF32AVX2, normGradF32AVX2}, adamw: adamwF32AVX2, rotate: rotateF32AVX2, butterfly: butterflyF32AVX2, corners: cornersF32, maxPool: maxPoolF32AVX2, addWide: addWideAVX2, blocks: blocks[float32]{widths: [3]int{16, 8, 4}, heights: []height[float32]{
			{6, [3]block[float32]{productF32AVX2x6x16, productF32AVX2x6x8, productF32AVX2x6x4}},
			{4, [3]block[float32]{productF32AVX2x4x16, productF32AVX2x4x8, productF32AVX2x4x4}},
			{2, [3]block[float32]{productF32AVX2x2x16, productF32AVX2x2x8, productF32AVX2x2x4}},
			{1, [3]block[float32]{productF32AVX2x1x16, productF32AVX2x1x8, productF32AVX2x1x4}}}}},
		double: Loops[float64]{tall: tallF64, transposer: transposerF64, copies: copyPlanesAVX2, maps: mapF64AVX2, rowLoops: rowsF64AVX2, tapSums: tapSumsF64AVX2, deviations: deviationLoops[float64]{deviationsF64AVX2, squaredDeviationsF64AVX2}, norms: normLoops[float64]{rowSubSumF64AVX2, rowSubSquaresF64AVX2, scaledFMAF64AVX2, normGradSumsF64AVX2, normGradF64AVX2}, adamw: adamwF64AVX2, rotate: rotateF64AVX2, butterfly: butterflyF64AVX2, blocks: blocks[float64]{widths: [3]int{8, 4, 2}, heights: []height[float64]{
			{6, [3]block[float64]{productF64AVX2x6x8, productF64AVX2x6x4, productF64AVX2x6x2}},
			{4, [3]block[float64]{productF64AVX2x4x8, productF64AVX2x4x4, productF64AVX2x4x2}},
			{2, [3]block[float64]{productF64AVX2x2x8, productF64AVX2x2x4, productF64AVX2x2x2}},
			{1, [3]block[float64]{productF64AVX2x1x8, productF64AVX2x1x4, productF64AVX2x1x2}}}}}}
}

// What wider vectors would not be faster at.
var (
	intsAVX2      = intJoins{intsAddAVX2, intsMulAVX2, intsMaxAVX2, intsMinAVX2}
	bytesAVX2     = byteLoops{bytesToIntsAVX2, bytesToFloatsAVX2, bytesOfIntsAVX2, bytesOfFloatsAVX2}
	transposer16  = transposer[uint16]{16, 8, transposeHalvesAVX2}
	halvesAVX2    = halfLoops{fromFloat16AVX2, fromBFloat16AVX2, toFloat16AVX2, toBFloat16AVX2, everySecondHalfAVX2, transposer16}
	halvesAVX512  = halfLoops{fromFloat16AVX512, fromBFloat16AVX512, toFloat16AVX512, toBFloat16AVX512, everySecondHalfAVX2, transposer16}
	cornersF32    = cornerLoops[float32]{8, cornersF32AVX2, gatherInterpF32AVX2, scatterAddF32AVX2}
	transposerF32 = transposer[float32]{8, 4, transposeF32AVX2}
	tallF32       = talls[float32]{
		direct:     [tallest]tall[float32]{{64, tallF32AVX2x64x1}, {32, tallF32AVX2x32x2}, {16, tallF32AVX2x16x3}, {16, tallF32AVX2x16x4}},
		transposed: [tallest]tall[float32]{{16, tallF32AVX2x16x1Transposed}, {16, tallF32AVX2x16x2Transposed}, {16, tallF32AVX2x16x3Transposed}, {8, tallF32AVX2x8x4Transposed}},
	}
	transposerF64 = transposer[float64]{4, 2, transposeF64AVX2}
	tallF64       = talls[float64]{
		direct:     [tallest]tall[float64]{{32, tallF64AVX2x32x1}, {16, tallF64AVX2x16x2}, {8, tallF64AVX2x8x3}, {8, tallF64AVX2x8x4}},
		transposed: [tallest]tall[float64]{{8, tallF64AVX2x8x1Transposed}, {8, tallF64AVX2x8x2Transposed}, {8, tallF64AVX2x8x3Transposed}, {4, tallF64AVX2x4x4Transposed}},
	}
)

var (
	byteProductsAVX2 = byteProductLoops{wide: true, widths: []int{8}, heights: []byteBlocks{
		{6, []byteBlock{byteProductAVX2x6x8}},
		{4, []byteBlock{byteProductAVX2x4x8}},
		{2, []byteBlock{byteProductAVX2x2x8}},
		{1, []byteBlock{byteProductAVX2x1x8}},
	}, packRow: packWideRowAVX2, packColumns: packByteColumnsAVX2, packTransposed: packByteTransposedAVX2,
		correct: correctBytesAVX2}
	byteProductsAVXVNNI = byteProductLoops{widths: []int{16}, heights: []byteBlocks{
		{6, []byteBlock{byteProductAVXVNNIx6x16}},
		{4, []byteBlock{byteProductAVXVNNIx4x16}},
		{2, []byteBlock{byteProductAVXVNNIx2x16}},
		{1, []byteBlock{byteProductAVXVNNIx1x16}},
	}, packRow: packByteRowAVX2, packColumns: packByteColumnsAVX2, packTransposed: packByteTransposedAVX2,
		correct: correctBytesAVX2}
	byteProductsAVX512 = byteProductLoops{widths: []int{32, 16}, heights: []byteBlocks{
		{12, []byteBlock{byteProductAVX512x12x32, byteProductAVX512x12x16}},
		{8, []byteBlock{byteProductAVX512x8x32, byteProductAVX512x8x16}},
		{4, []byteBlock{byteProductAVX512x4x32, byteProductAVX512x4x16}},
		{2, []byteBlock{byteProductAVX512x2x32, byteProductAVX512x2x16}},
		{1, []byteBlock{byteProductAVX512x1x32, byteProductAVX512x1x16}},
	}, packRow: packByteRowAVX2, packColumns: packByteColumnsAVX2, packTransposed: packByteTransposedAVX2,
		correct: correctBytesAVX2}
)

var (
	weightsAVX2 = weightLoops{
		Weights8: weightLoop{few: 32, unpack: unpackWeights8AVX2, multiply: [weightRows]multiplyWeights{
			multiplyWeights8AVX2x1, multiplyWeights8AVX2x2, multiplyWeights8AVX2x3}},
		Weights4: weightLoop{few: 32, unpack: unpackWeights4AVX2, multiply: [weightRows]multiplyWeights{
			multiplyWeights4AVX2x1, multiplyWeights4AVX2x2, multiplyWeights4AVX2x3}},
		WeightsFloat16: weightLoop{few: 32, unpack: unpackWeightsFloat16AVX2, multiply: [weightRows]multiplyWeights{
			multiplyWeightsFloat16AVX2x1, multiplyWeightsFloat16AVX2x2, multiplyWeightsFloat16AVX2x3}},
		WeightsBFloat16: weightLoop{few: 32, unpack: unpackWeightsBFloat16AVX2, multiply: [weightRows]multiplyWeights{
			multiplyWeightsBFloat16AVX2x1, multiplyWeightsBFloat16AVX2x2, multiplyWeightsBFloat16AVX2x3}},
	}
	weightsAVX512 = weightLoops{
		Weights8: weightLoop{few: 32, unpack: unpackWeights8AVX512, multiply: [weightRows]multiplyWeights{
			multiplyWeights8AVX512x1, multiplyWeights8AVX512x2, multiplyWeights8AVX512x3}},
		Weights4: weightLoop{few: 32, unpack: unpackWeights4AVX512, multiply: [weightRows]multiplyWeights{
			multiplyWeights4AVX512x1, multiplyWeights4AVX512x2, multiplyWeights4AVX512x3}},
		WeightsFloat16: weightLoop{few: 32, unpack: unpackWeightsFloat16AVX512, multiply: [weightRows]multiplyWeights{
			multiplyWeightsFloat16AVX512x1, multiplyWeightsFloat16AVX512x2, multiplyWeightsFloat16AVX512x3}},
		WeightsBFloat16: weightLoop{few: 32, unpack: unpackWeightsBFloat16AVX512, multiply: [weightRows]multiplyWeights{
			multiplyWeightsBFloat16AVX512x1, multiplyWeightsBFloat16AVX512x2, multiplyWeightsBFloat16AVX512x3}},
	}
)
