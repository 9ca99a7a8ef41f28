package main

import "fmt"

// neonMoves returns, for arm64, the loops that move elements and the one of maxima of windows, as
// assembly and as declarations: those of copies, turn and pools.
func neonMoves() (assembly, stubs []byte) {
	f := newNeonFile()
	f.copies()
	for _, r := range []float{single, double} {
		f.transpose(r)
	}
	f.maxPool()
	return []byte(f.a.String()), []byte(f.s.String())
}

// load puts the arguments of those names, of 8 bytes each, to registers from one on.
func (f *neonFile) load(register int, names ...string) {
	for i, name := range names {
		f.p("MOVD %s+%d(FP), R%d", name, 8*i, register+i)
	}
}

// copies writes the loop that copies short rows, of any type. R9 and R10 point to rows, R13 and R14
// into them, and R15 and R19 to their last vectors, which may lie on those before.
func (f *neonFile) copies() {
	f.function(single, "copyPlanesNEON", "copies so many planes of so many rows of n bytes, 16 at least. Planes and rows are as many bytes apart as said, the first\n"+
		"// byte of both sides is at to and from, and no row lies on another.",
		"(planes int, rows int, n int, to *byte, toPlane int, toRow int, from *byte, fromPlane int, fromRow int)", 0, 72)
	f.load(0, "planes", "rows", "n", "to", "toPlane", "toRow", "from", "fromPlane", "fromRow")
	f.p("SUB  $16, R2, R2")
	f.label("plane")
	f.p("MOVD R3, R9")
	f.p("MOVD R6, R10")
	f.p("MOVD R1, R11")
	f.label("row")
	f.p("MOVD R9, R13")
	f.p("MOVD R10, R14")
	f.p("ADD  R2, R9, R15")
	f.p("ADD  R2, R10, R19")
	f.p("B    whole")
	f.label("vector")
	f.p("VLD1.P 16(R14), [V0.B16]")
	f.p("VST1.P [V0.B16], 16(R13)")
	f.label("whole")
	f.p("CMP  R15, R13")
	f.p("BLO  vector")
	f.p("VLD1 (R19), [V0.B16]")
	f.p("VST1 [V0.B16], (R15)")
	f.p("ADD  R5, R9, R9")
	f.p("ADD  R8, R10, R10")
	f.p("SUBS $1, R11, R11")
	f.p("BNE  row")
	f.p("ADD  R4, R3, R3")
	f.p("ADD  R7, R6, R6")
	f.p("SUBS $1, R0, R0")
	f.p("BNE  plane")
	f.p("RET")
}

// transpose writes the function that transposes as many rows as a vector has elements. V0 to V3 are
// vectors of the rows, V4 to V7 those whose pairs of elements are in place.
func (f *neonFile) transpose(r float) {
	lanes := 16 / r.size
	f.function(r, "transpose"+r.name+"NEON", fmt.Sprintf("sets element (i, j) of to, i·toRow + j, to element (j, i) of from, j·fromRow + i, for j below %d and i below n,\n"+
		"// a multiple of %[1]d that is not 0.", lanes), "(n int, to *T, toRow int, from *T, fromRow int)", 0, 40)
	f.load(0, "n", "to", "toRow", "from", "fromRow")
	shift := map[int]int{4: 2, 8: 3}[r.size]
	f.p("LSL  $%d, R2, R2", shift)
	f.p("LSL  $%d, R4, R4", shift)
	f.label("block")
	f.p("MOVD R3, R5")
	for j := range lanes {
		f.p("VLD1 (R5), [V%d.B16]", j)
		f.p("ADD  R4, R5, R5")
	}
	var turned []int
	if lanes == 4 {
		for pair := range 2 {
			f.p("VTRN1 V%d.S4, V%d.S4, V%d.S4", 2*pair+1, 2*pair, 4+2*pair)
			f.p("VTRN2 V%d.S4, V%d.S4, V%d.S4", 2*pair+1, 2*pair, 5+2*pair)
		}
		for i, zip := range []string{"VZIP1", "VZIP1", "VZIP2", "VZIP2"} {
			f.p("%s V%d.D2, V%d.D2, V%d.D2", zip, 6+i%2, 4+i%2, 16+i)
			turned = append(turned, 16+i)
		}
	} else {
		for i, zip := range []string{"VZIP1", "VZIP2"} {
			f.p("%s V1.D2, V0.D2, V%d.D2", zip, 16+i)
			turned = append(turned, 16+i)
		}
	}
	for _, v := range turned {
		f.p("VST1 [V%d.B16], (R1)", v)
		f.p("ADD  R2, R1, R1")
	}
	f.p("ADD  $16, R3, R3")
	f.p("SUBS $%d, R0, R0", lanes)
	f.p("BNE  block")
	f.p("RET")
}

// maxPool writes the loop of maxima of windows of two by two. V0 to V3 are the left and right
// elements of the row and of the one below, V0 becomes the maxima, and V4 their places. V16 is the
// places of the first four windows from the first on, V17 ones, and V18 as often the width.
func (f *neonFile) maxPool() {
	f.function(single, "maxPoolF32NEON", "sets n elements from y on, 4 at least, to the maxima of two elements of a row and two of the one that is width elements behind it, and\n"+
		"// those from places on, unless it is nil, to their places, of which that of the first element is first. The first maximum is taken, and the\n"+
		"// last NaN.", "(n int, y *float32, places *int32, x *float32, width int, first int32)", 0, 44)
	f.load(0, "n", "y", "places", "x", "width")
	f.p("MOVW first+40(FP), R5")
	f.p("MOVD $neonPool<>(SB), R9")
	f.p("VLD1 (R9), [V16.S4, V17.S4]")
	f.p("VDUP R5, V4.S4")
	f.p("VADD V4.S4, V16.S4, V16.S4")
	f.p("VDUP R4, V18.S4")
	f.p("LSL  $2, R4, R4")
	f.p("MOVD $0, R6")
	f.p("SUB  $4, R0, R7")
	f.label("four")
	f.p("CMP  R7, R6") // the last four may be some of those before, too
	f.p("CSEL GT, R7, R6, R6")
	f.p("ADD  R6<<3, R3, R8")
	f.p("VLD2 (R8), [V0.S4, V1.S4]")
	f.p("ADD  R4, R8, R8")
	f.p("VLD2 (R8), [V2.S4, V3.S4]")
	f.p("LSL  $1, R6, R10")
	f.p("VDUP R10, V4.S4")
	f.p("VADD V16.S4, V4.S4, V4.S4")
	f.p("VADD V17.S4, V4.S4, V5.S4")
	f.p("VADD V18.S4, V4.S4, V6.S4")
	f.p("VADD V17.S4, V6.S4, V7.S4")
	for i := 1; i < 4; i++ { // V19: where it is more, or NaN
		f.word(neonWord(single, "FCMGT", 0, i, 19))
		f.word(neonWord(single, "FCMEQ", i, i, 20))
		f.word(neonWord(single, "NOT", 0, 20, 20))
		f.p("VORR V20.B16, V19.B16, V19.B16")
		f.p("VBIT V19.B16, V%d.B16, V0.B16", i)
		f.p("VBIT V19.B16, V%d.B16, V4.B16", 4+i)
	}
	f.p("ADD  R6<<2, R1, R8")
	f.p("VST1 [V0.S4], (R8)")
	f.p("CBZ  R2, next")
	f.p("ADD  R6<<2, R2, R8")
	f.p("VST1 [V4.S4], (R8)")
	f.label("next")
	f.p("ADD  $4, R6, R6")
	f.p("CMP  R0, R6")
	f.p("BLT  four")
	f.p("RET")
	fmt.Fprintf(&f.a, "\n// The places of four windows from that of the first on, and ones.\n")
	for i, v := range []int{0, 2, 4, 6, 1, 1, 1, 1} {
		fmt.Fprintf(&f.a, "DATA neonPool<>+%d(SB)/4, $%d\n", 4*i, v)
	}
	fmt.Fprintf(&f.a, "GLOBL neonPool<>(SB), RODATA|NOPTR, $32\n")
}

// neonTall returns, for arm64, the tall blocks of products of which the columns of A lie in memory
// as vectors do, as assembly and as declarations.
func neonTall() (assembly, stubs []byte) {
	f := newNeonFile()
	for _, r := range []float{single, double} {
		for columns := 1; columns <= tallest; columns++ {
			f.tall(r, columns, tallVectors[columns-1])
		}
	}
	return []byte(f.a.String()), []byte(f.s.String())
}

// tall writes one of so many vectors by columns. V0 to V7 hold a column of A, V8 to V15 the sums,
// by column, and V16 to V19 a row of B, to whose elements R8 to R11 point.
func (f *neonFile) tall(r float, columns, vectors int) {
	lane := map[int]string{4: "S4", 8: "D2"}[r.size]
	rows := vectors * 16 / r.size
	f.function(r, fmt.Sprintf("tall%sNEONx%dx%d", r.name, rows, columns), fmt.Sprintf("sets C [%d, %d] to A·B. Element (i, k) of A is i + k·distance behind a, element (k, j) of B is k·stepB + j·columnB\n"+
		"// behind b, element (i, j) of C is i + j·%[1]d behind c. k is at least 1.", rows, columns),
		"(k int, a *T, distance int, b *T, stepB int, columnB int, c *T)", 0, 56)
	f.load(0, "k", "a", "distance", "b", "stepB", "columnB", "c")
	for _, register := range []int{2, 4, 5} {
		f.p("LSL  $%d, R%d, R%[2]d", map[int]int{4: 2, 8: 3}[r.size], register)
	}
	f.p("MOVD R3, R8")
	for j := 1; j < columns; j++ {
		f.p("ADD  R5, R%d, R%d", 7+j, 8+j)
	}
	for i := range columns * vectors {
		f.p("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", 8+i)
	}
	f.label("step")
	f.p("MOVD R1, R7")
	for v := range vectors {
		f.p("VLD1.P 16(R7), [V%d.%s]", v, lane)
	}
	f.p("ADD  R2, R1, R1")
	for j := range columns {
		f.p("VLD1R.P (R%d)(R4), [V%d.%s]", 8+j, 16+j, lane)
		for v := range vectors {
			f.p("VFMLA V%[1]d.%[4]s, V%[2]d.%[4]s, V%[3]d.%[4]s", 16+j, v, 8+j*vectors+v, lane)
		}
	}
	f.p("SUBS $1, R0, R0")
	f.p("BNE  step")
	for i := range columns * vectors {
		f.p("VST1.P [V%d.%s], 16(R6)", 8+i, lane)
	}
	f.p("RET")
}
