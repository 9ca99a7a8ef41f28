package main

import "fmt"

// neonWiden are the instructions that make wider integers of signed ones, and floats of those of 16 bits, of the lower
// half of a vector or of the upper, and those that shift bytes.
var neonWiden = map[string]uint32{
	"SXTL B": 0x0F08A400, "SXTL2 B": 0x4F08A400, "SXTL H": 0x0F10A400, "SXTL2 H": 0x4F10A400, "SHL B 4": 0x4F0C5400, "SSHR B 4": 0x4F0C0400,
	"FCVTL": 0x0E217800, "FCVTL2": 0x4E217800, "SHLL": 0x2E613800, "SHLL2": 0x6E613800,
}

// widen writes one of those instructions.
func (f *neonFile) widen(name string, from, to int) {
	f.word(neonWiden[name]|uint32(from<<5|to), fmt.Sprintf("%s V%d, V%d", name, from, to))
}

// neonWeights returns, for arm64, the loops on weights, as assembly and as declarations.
func neonWeights() (assembly, stubs []byte) {
	f := newNeonFile()
	for _, w := range weightFormats {
		f.multiplyWeights(w)
		f.unpackWeights(w)
	}
	return []byte(f.a.String()), []byte(f.s.String())
}

// twoRows loads 16 columns of two rows from where a register points to, as signed bytes in V0 and V1, where V2 is
// changed, or as floats of 16 bits in V0 and V1, and V2 and V3.
func (f *neonFile) twoRows(w weightFormat, at string) {
	if w.bits >= 8 {
		f.p("ADD  $%d, %s, R19", weightPanel*w.columnBytes(), at)
		f.oneRow(w, at, 0)
		f.oneRow(w, "R19", 1)
		return
	}
	f.p("VLD1 (%s), [V2.B16]", at)
	f.widen("SHL B 4", 2, 0)
	f.widen("SSHR B 4", 0, 0)
	f.widen("SSHR B 4", 2, 1)
}

// oneRow loads 16 columns of the first or the second row of two, of 8 bits or more.
func (f *neonFile) oneRow(w weightFormat, at string, row int) {
	if w.bits == 8 {
		f.p("VLD1 (%s), [V%d.B16]", at, row)
	} else {
		f.p("VLD1 (%s), [V%d.B16, V%d.B16]", at, 2*row, 2*row+1)
	}
}

// floatsOf makes floats of 16 columns of the first or the second row of two, in V4 to V7. Those of integers change V2
// and V3.
func (f *neonFile) floatsOf(w weightFormat, from int) {
	if w.bits == 16 {
		wide := [2]string{"FCVTL", "FCVTL2"}
		if w == weightsBFloat16 {
			wide = [2]string{"SHLL", "SHLL2"}
		}
		for i := range 4 {
			f.widen(wide[i%2], 2*from+i/2, 4+i)
		}
		return
	}
	f.widen("SXTL B", from, 2)
	f.widen("SXTL2 B", from, 3)
	for i := range 4 {
		f.widen([]string{"SXTL H", "SXTL2 H"}[i%2], 2+i/2, 4+i)
		f.ints("SCVTF", 0, 4+i, 4+i)
	}
}

// multiplyWeights writes the loop that multiplies a row of X by a panel, 16 columns at a time. V16 to
// V19 are the sums of even rows of W, V20 to V23 those of odd ones; V24 and V25 hold elements of X.
func (f *neonFile) multiplyWeights(w weightFormat) {
	f.function(single, fmt.Sprintf("multiplyWeights%sNEON", w.name),
		"adds to 64 elements from to on, for each run, scale·(Σx·w − zero·sum), of k elements from x on and as many\n"+
			"// rows of w. Each run has a sum, and 64 elements of scale and zero, which are step elements behind those of the run\n"+
			"// before it. zero may be nil. k is even if there are several runs. Neither is 0. There is one row of x.",
		"(runs, k int, to, x, sums *float32, w *byte, scale, zero *float32, step, rowX, rowSums int)", 0, 88)
	f.load(0, "runs", "k", "to", "x", "sums", "w", "scale", "zero", "step")
	f.p("LSL  $2, R8, R8")
	f.label("run")
	f.p("MOVD $0, R9") // the first column
	f.label("columns")
	for i := 16; i < 24; i++ {
		f.p("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", i)
	}
	f.p("MOVD R3, R10")
	f.p("ADD  R9<<%d, R5, R11", w.columnBytes()/2)
	f.p("LSR  $1, R1, R12")
	f.p("CBZ  R12, last")
	f.label("pair")
	f.p("VLD1R.P 4(R10), [V24.S4]")
	f.p("VLD1R.P 4(R10), [V25.S4]")
	f.twoRows(w, "R11")
	for row := range 2 {
		f.floatsOf(w, row)
		for j := range 4 {
			f.p("VFMLA V%d.S4, V%d.S4, V%d.S4", 24+row, 4+j, 16+4*row+j)
		}
	}
	f.p("ADD  $%d, R11, R11", w.pairBytes())
	f.p("SUBS $1, R12, R12")
	f.p("BNE  pair")
	f.label("last")
	f.p("TBZ  $0, R1, add")
	f.p("VLD1R (R10), [V24.S4]")
	if w.bits >= 8 {
		f.oneRow(w, "R11", 0)
	} else {
		f.twoRows(w, "R11")
	}
	f.floatsOf(w, 0)
	for j := range 4 {
		f.p("VFMLA V24.S4, V%d.S4, V%d.S4", 4+j, 16+j)
	}
	f.label("add")
	for j := range 4 {
		f.floats("FADD", 20+j, 16+j, 16+j)
	}
	f.p("CBZ  R7, scale")
	f.p("VLD1R (R4), [V24.S4]")
	f.p("ADD  R9<<2, R7, R12")
	f.p("VLD1 (R12), [V0.S4, V1.S4, V2.S4, V3.S4]")
	for j := range 4 {
		f.p("VFMLS V24.S4, V%d.S4, V%d.S4", j, 16+j)
	}
	f.label("scale")
	f.p("ADD  R9<<2, R6, R12")
	f.p("VLD1 (R12), [V0.S4, V1.S4, V2.S4, V3.S4]")
	f.p("ADD  R9<<2, R2, R12")
	f.p("VLD1 (R12), [V4.S4, V5.S4, V6.S4, V7.S4]")
	for j := range 4 {
		f.p("VFMLA V%d.S4, V%d.S4, V%d.S4", j, 16+j, 4+j)
	}
	f.p("VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R12)")
	f.p("ADD  $16, R9, R9")
	f.p("CMP  $%d, R9", weightPanel)
	f.p("BLT  columns")
	f.p("SUB  $%d, R11, R5", (weightPanel-16)*w.columnBytes()) // where the next run begins
	f.p("ADD  R1<<2, R3, R3")
	f.p("ADD  $4, R4, R4")
	f.p("ADD  R8, R6, R6")
	f.p("CBZ  R7, next")
	f.p("ADD  R8, R7, R7")
	f.label("next")
	f.p("SUBS $1, R0, R0")
	f.p("BNE  run")
	f.p("RET")
}

// unpackWeights writes the loop that makes floats of two rows of a panel at a time.
func (f *neonFile) unpackWeights(w weightFormat) {
	f.function(single, fmt.Sprintf("unpackWeights%sNEON", w.name),
		"sets 64 columns of 2·pairs rows, row elements apart from to on, to (w − zero)·scale, which are 64 elements\n"+
			"// each. pairs is not 0.", "(pairs int, to *float32, row int, w *byte, scale, zero *float32)", 0, 48)
	f.load(0, "pairs", "to", "row", "w", "scale", "zero")
	f.p("LSL  $2, R2, R2")
	f.label("pair")
	f.p("MOVD $0, R9") // the first column
	f.label("columns")
	f.p("ADD  R9<<%d, R3, R11", w.columnBytes()/2)
	f.twoRows(w, "R11")
	f.p("ADD  R9<<2, R4, R12")
	f.p("VLD1 (R12), [V16.S4, V17.S4, V18.S4, V19.S4]")
	f.p("ADD  R9<<2, R5, R12")
	f.p("VLD1 (R12), [V20.S4, V21.S4, V22.S4, V23.S4]")
	f.p("ADD  R9<<2, R1, R12")
	for row := range 2 {
		f.floatsOf(w, row)
		for j := range 4 {
			f.floats("FSUB", 20+j, 4+j, 4+j)
			f.floats("FMUL", 16+j, 4+j, 4+j)
		}
		f.p("VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R12)")
		f.p("ADD  R2, R12, R12")
	}
	f.p("ADD  $16, R9, R9")
	f.p("CMP  $%d, R9", weightPanel)
	f.p("BLT  columns")
	f.p("ADD  R2<<1, R1, R1")
	f.p("ADD  $%d, R3, R3", w.pairBytes())
	f.p("SUBS $1, R0, R0")
	f.p("BNE  pair")
	f.p("RET")
}
