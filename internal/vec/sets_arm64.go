package vec

// found returns NEON, which every processor of this kind has.
func found() []*Set {
	return []*Set{{name: "neon",
		single: Loops[float32]{maps: mapsF32NEON, rowLoops: rowsF32NEON, adamw: adamwF32NEON, addWide: addWideNEON, blocks: blocks[float32]{widths: [3]int{16, 8, 4}, heights: []height[float32]{
			{6, [3]block[float32]{productF32NEONx6x16, productF32NEONx6x8, productF32NEONx6x4}},
			{4, [3]block[float32]{productF32NEONx4x16, productF32NEONx4x8, productF32NEONx4x4}},
			{2, [3]block[float32]{productF32NEONx2x16, productF32NEONx2x8, productF32NEONx2x4}},
			{1, [3]block[float32]{productF32NEONx1x16, productF32NEONx1x8, productF32NEONx1x4}}}}},
		double: Loops[float64]{maps: mapsF64NEON, rowLoops: rowsF64NEON, adamw: adamwF64NEON, blocks: blocks[float64]{widths: [3]int{8, 4, 2}, heights: []height[float64]{
			{6, [3]block[float64]{productF64NEONx6x8, productF64NEONx6x4, productF64NEONx6x2}},
			{4, [3]block[float64]{productF64NEONx4x8, productF64NEONx4x4, productF64NEONx4x2}},
			{2, [3]block[float64]{productF64NEONx2x8, productF64NEONx2x4, productF64NEONx2x2}},
			{1, [3]block[float64]{productF64NEONx1x8, productF64NEONx1x4, productF64NEONx1x2}}}}}}}
}
