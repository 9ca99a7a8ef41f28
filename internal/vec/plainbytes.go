package vec

import "unsafe"

// plainByteProducts are the loops of products of bytes without vectors.
var plainByteProducts = byteProductLoops{
	widths:  []int{panelColumns},
	heights: []byteBlocks{{1, []byteBlock{plainByteBlock}}},
}

// plainByteBlock computes one row of 16 columns.
func plainByteBlock(k int, a *byte, _ int, b *byte, _ int, c *int32, _ int, add bool) {
	row, panel := unsafe.Slice(a, 4*k), unsafe.Slice(b, panelRow*k)
	to := unsafe.Slice(c, panelColumns)
	if !add {
		clear(to)
	}
	for i := 0; i < len(row); i += 4 {
		a0, a1, a2, a3 := int32(row[i]), int32(row[i+1]), int32(row[i+2]), int32(row[i+3])
		four := panel[i*panelColumns:][:panelRow]
		for j := range to {
			of := four[4*j:][:4]
			to[j] += a0*int32(int8(of[0])) + a1*int32(int8(of[1])) + a2*int32(int8(of[2])) + a3*int32(int8(of[3]))
		}
	}
}
