package vec

// found returns NEON, which every processor of this kind has.
func found() []*Set {
	return []*Set{{name: "neon",
		single: Loops[float32]{blocks: blocks[float32]{widths: [2]int{16, 8}, heights: []height[float32]{
			{6, [2]block[float32]{productF32NEONx6x16, productF32NEONx6x8}},
			{4, [2]block[float32]{productF32NEONx4x16, productF32NEONx4x8}},
			{2, [2]block[float32]{productF32NEONx2x16, productF32NEONx2x8}},
			{1, [2]block[float32]{productF32NEONx1x16, productF32NEONx1x8}}}}},
		double: Loops[float64]{blocks: blocks[float64]{widths: [2]int{8, 4}, heights: []height[float64]{
			{6, [2]block[float64]{productF64NEONx6x8, productF64NEONx6x4}},
			{4, [2]block[float64]{productF64NEONx4x8, productF64NEONx4x4}},
			{2, [2]block[float64]{productF64NEONx2x8, productF64NEONx2x4}},
			{1, [2]block[float64]{productF64NEONx1x8, productF64NEONx1x4}}}}}}}
}
