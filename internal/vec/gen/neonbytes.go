package main

import (
	"fmt"
	"strings"
)

// neonDots are the instructions that the loops on bytes need and Go's assembler does not know: SDOT
// adds four products of signed bytes to each element, SADDLP and SADALP add up pairs.
var neonDots = map[string]uint32{"SDOT": 0x4E809400, "SADDLP": 0x4E202800, "SADALP": 0x4E606800}

// dot writes one of those instructions.
func (f *neonFile) dot(name string, b, a, to int) {
	f.word(neonDots[name]|uint32(b<<16|a<<5|to), fmt.Sprintf("%s V%d, V%d, V%d", name, b, a, to))
}

// neonBytes returns, for arm64, the loops of products of bytes, as assembly and as declarations.
func neonBytes() (assembly, stubs []byte) {
	f := newNeonFile()
	f.packByteRow()
	f.correctBytes()
	for _, rows := range neonHeights {
		f.byteBlock(rows)
	}
	return []byte(f.a.String()), []byte(f.s.String())
}

// byteBlock writes the function that computes rows by 16 columns of C. V0 to V3 hold four rows of B,
// V4 and V5 four elements of a row of A by turns, V8 to V31 the sums. R8 to R13 point to the rows of A.
func (f *neonFile) byteBlock(rows int) {
	f.function(single, fmt.Sprintf("byteProductNEONx%dx16", rows),
		fmt.Sprintf("sets C [%d, 16] to A·B, or adds it to C, for 4·k steps of the sum. Rows of A, signed bytes, are rowA bytes apart. B is\n"+
			"// packed: panels are panel bytes apart. Rows of C are rowC elements apart. k is at least 1.", rows),
		"(k int, a *byte, rowA int, b *byte, panel int, c *int32, rowC int, add bool)", 0, 57)
	f.load(0, "k", "a", "rowA", "b", "panel", "c", "rowC")
	f.p("LSL  $2, R6, R6")
	f.p("MOVD R1, R8")
	for i := 1; i < rows; i++ {
		f.p("ADD  R2, R%d, R%d", 7+i, 8+i)
	}
	for i := range rows * 4 {
		f.p("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", 8+i)
	}
	f.label("step")
	f.p("VLD1.P 64(R3), [V0.B16, V1.B16, V2.B16, V3.B16]")
	for i := range rows {
		f.p("VLD1R.P 4(R%d), [V%d.S4]", 8+i, 4+i%2)
		for j := range 4 {
			f.dot("SDOT", 4+i%2, j, 8+4*i+j)
		}
	}
	f.p("SUBS $1, R0, R0")
	f.p("BNE  step")
	f.p("MOVBU add+56(FP), R7")
	f.p("CBZ  R7, store")
	list := func(first int) string {
		var v []string
		for j := range 4 {
			v = append(v, fmt.Sprintf("V%d.S4", first+j))
		}
		return "[" + strings.Join(v, ", ") + "]"
	}
	f.p("MOVD R5, R8")
	for i := range rows {
		f.p("VLD1.P (R8)(R6), %s", list(0))
		for j := range 4 {
			f.p("VADD V%d.S4, V%d.S4, V%[2]d.S4", j, 8+4*i+j)
		}
	}
	f.label("store")
	for i := range rows {
		f.p("VST1.P %s, (R5)(R6)", list(8+4*i))
	}
	f.p("RET")
}

// packByteRow writes the function that packs a row of A. V16 holds the bits to flip, V17 the sums.
func (f *neonFile) packByteRow() {
	f.function(single, "packByteRowNEON", "sets n bytes from to on to the bytes from x on, with the bits of flip flipped, and returns the sum of what are\n"+
		"// signed bytes then. n is a multiple of 32, but not 0.", "(n int, to, x *byte, flip uint64) int", 0, 40)
	f.load(0, "n", "to", "x", "flip")
	f.p("VDUP R3, V16.D2")
	f.p("VEOR V17.B16, V17.B16, V17.B16")
	f.label("some")
	f.p("VLD1.P 32(R2), [V0.B16, V1.B16]")
	for i := range 2 {
		f.p("VEOR V16.B16, V%d.B16, V%[1]d.B16", i)
		f.dot("SADDLP", 0, i, 2+i)
		f.dot("SADALP", 0, 2+i, 17)
	}
	f.p("VST1.P [V0.B16, V1.B16], 32(R1)")
	f.p("SUBS $32, R0, R0")
	f.p("BNE  some")
	f.p("VADDV V17.S4, V17")
	f.p("VMOV V17.S[0], R0")
	f.p("SXTW R0, R0")
	f.p("MOVD R0, ret+32(FP)")
	f.p("RET")
}

// correctBytes writes the loop that corrects a product by the sums of its operands. V16 and V17 hold
// the elements of p and q of a row.
func (f *neonFile) correctBytes() {
	f.function(single, "correctBytesNEON", "adds p[i]·u[j] + q[i]·v[j] to element (i, j) of C [rows, n], which is i·rowC + j behind c. n is a multiple\n"+
		"// of 8; neither is 0.", "(rows, n int, c *int32, rowC int, p, q, u, v *int32)", 0, 64)
	f.load(0, "rows", "n", "c", "rowC", "p", "q", "u", "v")
	f.p("LSL  $2, R3, R3")
	f.label("row")
	f.p("VLD1R.P 4(R4), [V16.S4]")
	f.p("VLD1R.P 4(R5), [V17.S4]")
	f.p("MOVD R1, R8")
	f.p("MOVD R2, R9")
	f.p("MOVD R6, R10")
	f.p("MOVD R7, R11")
	f.label("some")
	f.p("VLD1 (R9), [V0.S4, V1.S4]")
	f.p("VLD1.P 32(R10), [V2.S4, V3.S4]")
	f.p("VLD1.P 32(R11), [V4.S4, V5.S4]")
	for i := range 2 {
		f.ints("MUL", 16, 2+i, 2+i)
		f.ints("MUL", 17, 4+i, 4+i)
		f.p("VADD V%d.S4, V%d.S4, V%[2]d.S4", 2+i, i)
		f.p("VADD V%d.S4, V%d.S4, V%[2]d.S4", 4+i, i)
	}
	f.p("VST1.P [V0.S4, V1.S4], 32(R9)")
	f.p("SUBS $8, R8, R8")
	f.p("BNE  some")
	f.p("ADD  R3, R2, R2")
	f.p("SUBS $1, R0, R0")
	f.p("BNE  row")
	f.p("RET")
}
