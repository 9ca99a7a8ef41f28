package main

import (
	"fmt"
	"math"
)

// neonInts are the instructions on two vectors, or one, of 32-bit integers that Go's assembler does
// not know, and those from and to floats.
var neonInts = map[string]uint32{
	"MUL": 0x4EA09C00, "SMAX": 0x4EA06400, "SMIN": 0x4EA06C00, "UMAX": 0x6EA06400, "UMAXV": 0x6EB0A800, "SCVTF": 0x4E21D800, "FCVTZS": 0x4EA1B800,
}

// ints writes an instruction on integers: two operands, or one, for which b is 0, and a result.
func (f *neonFile) ints(name string, b, a, to int) {
	f.word(neonInts[name]|uint32(b<<16|a<<5|to), fmt.Sprintf("%s V%d, V%d, V%d", name, b, a, to))
}

// floats writes an instruction on floats.
func (f *neonFile) floats(name string, b, a, to int) { f.word(neonWord(single, name, b, a, to)) }

// neonCorners returns, for arm64, the loops over levels of a grid, as assembly and as declarations.
func neonCorners() (assembly, stubs []byte) {
	f := newNeonFile()
	f.findCorners()
	f.gatherInterp()
	f.scatterAdd()
	return []byte(f.a.String()), []byte(f.s.String())
}

// findCorners writes the loop that finds the entries around positions, and their weights. V16 to
// V19 hold the level, V20 and V21 its cells as floats, V22 to V25 constants, V26 the entries of a
// row, V27 the largest so far, and V28 zeros. V0 and V1 are columns and rows.
func (f *neonFile) findCorners() {
	const half, ones, one, factor, line, largest, zero = 22, 23, 24, 25, 26, 27, 28
	f.function(single, "cornersF32NEON", "sets the entries and weights from to on to those at the corners of the cells of n positions from x on. n is a multiple of 4, but\n"+
		"// not 0. level is the first entry, the cells across and down, and the mask of the hash or 0. It returns the largest entry.",
		"(n int, to *int32, x *float32, level *int32) uint32", 0, 36)
	f.load(0, "n", "to", "x", "level")
	f.p("MOVWU 12(R3), R6")
	f.p("MOVD $neonCorner<>(SB), R9")
	f.p("VLD1 (R9), [V%d.S4, V%d.S4, V%d.S4, V%d.S4]", half, ones, one, factor)
	for i := range 4 {
		f.p("VLD1R.P 4(R3), [V%d.S4]", 16+i)
	}
	f.ints("SCVTF", 0, 17, 20)
	f.ints("SCVTF", 0, 18, 21)
	f.p("VADD V%d.S4, V17.S4, V%d.S4", one, line)
	f.p("VADD V%d.S4, V%d.S4, V%[2]d.S4", one, line)
	f.p("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", largest)
	f.p("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", zero)
	f.p("MOVD $%d, R5", cornerPlane)
	f.label("positions")
	f.p("VLD2.P 32(R2), [V0.S4, V1.S4]")
	// The cell, in V2 and V3, and how far beyond its edge a position is, in V4 and V5. NaN is in
	// cell 0.
	for i := range 2 {
		f.p("VORR V%d.B16, V%[1]d.B16, V%d.B16", half, 4+i)
		f.p("VFMLA V%d.S4, V%d.S4, V%d.S4", 20+i, i, 4+i)
		f.ints("FCVTZS", 0, 4+i, 2+i)
		f.ints("SMAX", zero, 2+i, 2+i)
		f.ints("SMIN", 17+i, 2+i, 2+i)
		f.ints("SCVTF", 0, 2+i, 6)
		f.floats("FSUB", 6, 4+i, 4+i)
	}
	f.floats("FSUB", 4, ones, 6)
	f.floats("FSUB", 5, ones, 7)
	f.p("ADD  $%d, R1, R4", 4*cornerPlane)
	for _, w := range [][2]int{{6, 7}, {4, 7}, {6, 5}, {4, 5}} {
		f.floats("FMUL", w[1], w[0], 29)
		f.p("VST1.P [V29.S4], (R4)(R5)")
	}
	f.p("CBZ  R6, vertices")
	f.ints("MUL", factor, 3, 4)
	f.p("VADD V%d.S4, V4.S4, V5.S4", factor)
	f.p("VADD V%d.S4, V2.S4, V3.S4", one)
	for i, at := range [][2]int{{2, 4}, {3, 4}, {2, 5}, {3, 5}} {
		f.p("VEOR V%d.B16, V%d.B16, V%d.B16", at[0], at[1], 8+i)
		f.p("VAND V19.B16, V%d.B16, V%[1]d.B16", 8+i)
		f.p("VADD V16.S4, V%d.S4, V%[1]d.S4", 8+i)
	}
	f.p("B    found")
	f.label("vertices")
	f.ints("MUL", line, 3, 8)
	f.p("VADD V2.S4, V8.S4, V8.S4")
	f.p("VADD V16.S4, V8.S4, V8.S4")
	f.p("VADD V%d.S4, V8.S4, V9.S4", one)
	f.p("VADD V%d.S4, V8.S4, V10.S4", line)
	f.p("VADD V%d.S4, V9.S4, V11.S4", line)
	f.label("found")
	f.p("MOVD R1, R4")
	for i := range 4 {
		f.ints("UMAX", 8+i, largest, largest)
		f.p("VST1.P [V%d.S4], (R4)(R5)", 8+i)
	}
	f.p("ADD  $16, R1, R1")
	f.p("SUBS $4, R0, R0")
	f.p("BNE  positions")
	f.ints("UMAXV", 0, largest, 0)
	f.p("VMOV V0.S[0], R0")
	f.p("MOVW R0, ret+32(FP)")
	f.p("RET")
	fmt.Fprintf(&f.a, "\n// Four times each: a half, one, the integer one, and the factor of the hash.\n")
	for i, bits := range []uint32{math.Float32bits(0.5), math.Float32bits(1), 1, hashFactor} {
		for lane := range 4 {
			fmt.Fprintf(&f.a, "DATA neonCorner<>+%d(SB)/4, $0x%08x\n", 16*i+4*lane, bits)
		}
	}
	fmt.Fprintf(&f.a, "GLOBL neonCorner<>(SB), RODATA|NOPTR, $64\n")
}

// corners points R8 to R11 to the planes of entries of what is at a register, and R12 to R15 to
// those of weights.
func (f *neonFile) corners(at string) {
	for i := range 8 {
		f.p("ADD  $%d, %s, R%d", i*cornerPlane, at, 8+i)
	}
}

// gatherInterp writes the loop that adds up what samples see of a level.
func (f *neonFile) gatherInterp() {
	f.function(single, "gatherInterpF32NEON", "sets the four features of each of n samples, step elements apart from to on, to the weighted sum of those of its entries of table.",
		"(n int, to *float32, step int, corners *int32, table *float32)", 0, 40)
	f.load(0, "n", "to", "step", "corners", "table")
	f.p("LSL  $2, R2, R2")
	f.corners("R3")
	f.p("VEOR V3.B16, V3.B16, V3.B16")
	f.label("sample")
	for i := range 4 {
		f.p("MOVWU.P 4(R%d), R16", 8+i)
		f.p("VLD1R.P 4(R%d), [V1.S4]", 12+i)
		f.p("ADD  R16<<4, R4, R16")
		f.p("VLD1 (R16), [V2.S4]")
		f.floats("FMUL", 1, 2, 1)
		f.floats("FADD", 1, map[bool]int{true: 3, false: 0}[i == 0], 0)
	}
	f.p("VST1.P [V0.S4], (R1)(R2)")
	f.p("SUBS $1, R0, R0")
	f.p("BNE  sample")
	f.p("RET")
}

// scatterAdd writes the loop that adds the gradients of samples to those of entries.
func (f *neonFile) scatterAdd() {
	f.function(single, "scatterAddF32NEON", "adds the four numbers of each of n samples, step elements apart from by on, times its weights, to those of its entries, of which\n"+
		"// entry first is at d. Beyond entries from there on none are changed.",
		"(n int, d *float32, first, entries uint32, corners *int32, by *float32, step int)", 0, 48)
	f.load(0, "n", "d")
	f.p("MOVWU first+16(FP), R2")
	f.p("MOVWU entries+20(FP), R3")
	f.p("MOVD corners+24(FP), R4")
	f.p("MOVD by+32(FP), R5")
	f.p("MOVD step+40(FP), R6")
	f.p("LSL  $2, R6, R6")
	f.corners("R4")
	f.label("sample")
	f.p("VLD1.P (R5)(R6), [V0.S4]")
	for i := range 4 {
		f.p("MOVWU.P 4(R%d), R16", 8+i)
		f.p("VLD1R.P 4(R%d), [V1.S4]", 12+i)
		f.p("SUBW R2, R16, R16")
		f.p("CMPW R3, R16")
		f.p("BHS  past%d", i)
		f.p("ADD  R16<<4, R1, R16")
		f.p("VLD1 (R16), [V2.S4]")
		f.floats("FMUL", 1, 0, 1)
		f.floats("FADD", 1, 2, 2)
		f.p("VST1 [V2.S4], (R16)")
		f.label("past%d", i)
	}
	f.p("SUBS $1, R0, R0")
	f.p("BNE  sample")
	f.p("RET")
}
