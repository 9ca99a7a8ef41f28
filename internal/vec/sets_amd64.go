package vec

import "golang.org/x/sys/cpu"

func found() []*Set {
	var s []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasFMA {
		s = append(s, avx512())
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		s = append(s, avx2())
	}
	return s
}

func avx512() *Set {
	return &Set{name: "avx512",
		single: Loops[float32]{maps: mapsF32AVX512, rowLoops: rowsF32AVX512, adamw: adamwF32AVX512, blocks: blocks[float32]{widths: [2]int{32, 16}, heights: []height[float32]{
			{12, [2]block[float32]{productF32AVX512x12x32, productF32AVX512x12x16}},
			{8, [2]block[float32]{productF32AVX512x8x32, productF32AVX512x8x16}},
			{4, [2]block[float32]{productF32AVX512x4x32, productF32AVX512x4x16}},
			{2, [2]block[float32]{productF32AVX512x2x32, productF32AVX512x2x16}},
			{1, [2]block[float32]{productF32AVX512x1x32, productF32AVX512x1x16}}}}},
		double: Loops[float64]{maps: mapsF64AVX512, rowLoops: rowsF64AVX512, adamw: adamwF64AVX512, blocks: blocks[float64]{widths: [2]int{16, 8}, heights: []height[float64]{
			{12, [2]block[float64]{productF64AVX512x12x16, productF64AVX512x12x8}},
			{8, [2]block[float64]{productF64AVX512x8x16, productF64AVX512x8x8}},
			{4, [2]block[float64]{productF64AVX512x4x16, productF64AVX512x4x8}},
			{2, [2]block[float64]{productF64AVX512x2x16, productF64AVX512x2x8}},
			{1, [2]block[float64]{productF64AVX512x1x16, productF64AVX512x1x8}}}}}}
}

func avx2() *Set {
	return &Set{name: "avx2",
		single: Loops[float32]{maps: mapsF32AVX2, rowLoops: rowsF32AVX2, adamw: adamwF32AVX2, blocks: blocks[float32]{widths: [2]int{16, 8}, heights: []height[float32]{
			{6, [2]block[float32]{productF32AVX2x6x16, productF32AVX2x6x8}},
			{4, [2]block[float32]{productF32AVX2x4x16, productF32AVX2x4x8}},
			{2, [2]block[float32]{productF32AVX2x2x16, productF32AVX2x2x8}},
			{1, [2]block[float32]{productF32AVX2x1x16, productF32AVX2x1x8}}}}},
		double: Loops[float64]{maps: mapsF64AVX2, rowLoops: rowsF64AVX2, adamw: adamwF64AVX2, blocks: blocks[float64]{widths: [2]int{8, 4}, heights: []height[float64]{
			{6, [2]block[float64]{productF64AVX2x6x8, productF64AVX2x6x4}},
			{4, [2]block[float64]{productF64AVX2x4x8, productF64AVX2x4x4}},
			{2, [2]block[float64]{productF64AVX2x2x8, productF64AVX2x2x4}},
			{1, [2]block[float64]{productF64AVX2x1x8, productF64AVX2x1x4}}}}}}
}
