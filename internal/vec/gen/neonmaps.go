package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// neonMaps returns the loops of all functions for arm64, as assembly and as declarations.
func neonMaps() (assembly, stubs []byte) {
	var a, s strings.Builder
	a.WriteString(generated + "\n#include \"textflag.h\"\n")
	s.WriteString(generated + "\npackage vec\n")
	for _, r := range []float{single, double} {
		table := &neonTable{name: "neon" + r.name, at: map[uint64]int{}}
		for _, f := range allFunctions() {
			if r == single || f.double {
				neonLoop(&a, r, f, table)
			}
		}
		neonEntry(&a, &s, r, table)
		fmt.Fprintf(&a, "\n// The constants of those loops, a vector of each.\n")
		for i, bits := range table.bits {
			if r.size == 4 {
				bits |= bits << 32
			}
			for half := range 2 {
				fmt.Fprintf(&a, "DATA %s<>+%d(SB)/8, $0x%016x\n", table.name, 16*i+8*half, bits)
			}
		}
		fmt.Fprintf(&a, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", table.name, 16*len(table.bits))
	}
	return []byte(a.String()), []byte(s.String())
}

// neonSet stands for vectors of 16 bytes: of avo's registers only the names count.
var neonSet = &set{name: "NEON", bytes: 16, vector: func(c *build.Context) reg.VecVirtual { return c.XMM() }}

// neonLoop writes the loop that computes f of a vector at a time. R0 is the number of elements, a
// multiple of a vector's and not 0; R1 points to results, R2 to R5 to operands, whose vectors are
// V0 to V3, and R9 to the constants.
func neonLoop(a *strings.Builder, r float, f function, table *neonTable) {
	k := &code{c: build.NewContext(), s: neonSet, r: r, neon: &neonCode{r: r, constants: table}}
	in := make([]value, f.operands)
	for i := range in {
		in[i] = k.new()
	}
	body, at := k.neon.text(in, f.of(k, in))
	fmt.Fprintf(a, "\nTEXT %s<>(SB), NOSPLIT, $0-0\nwhole:\n", f.in(neonSet, r))
	for i := range in {
		fmt.Fprintf(a, "\tVLD1.P 16(R%d), [V%d.B16]\n", 2+i, i)
	}
	a.WriteString(body)
	fmt.Fprintf(a, "\tVST1.P [V%d.B16], 16(R1)\n\tSUBS $%d, R0, R0\n\tBNE  whole\n\tRET\n", at[0], 16/r.size)
}

// neonEntry writes the function that computes any function of n elements by its loop, as entry
// does: the last elements pass through a vector on the stack for each operand.
func neonEntry(a, s *strings.Builder, r float, constants *neonTable) {
	name, lanes := "map"+r.name+"NEON", 16/r.size
	signature := strings.ReplaceAll("(f Function, n int, to, x0, x1, x2, x3 *T)", "T", r.goType())
	table := tableOf(a, neonSet, r)
	f := &neonFile{}
	f.function(r, name, "sets n elements from to on to f of those from x0 on, and so on. They may be the same.", signature, locals+4*16, 56)
	f.p("MOVBU f+0(FP), R19")
	f.p("MOVD $%s<>(SB), R20", table)
	f.p("MOVD (R20)(R19<<3), R19")
	f.p("MOVD n+8(FP), R0")
	f.p("MOVD to+16(FP), R1")
	for i := range 4 {
		f.p("MOVD x%d+%d(FP), R%d", i, 24+8*i, 2+i)
	}
	f.p("MOVD $%s<>(SB), R9", constants.name)
	f.p("AND  $%d, R0, R21", lanes-1)
	f.p("SUBS R21, R0, R0")
	f.p("BEQ  rest")
	f.p("CALL (R19)")
	f.label("rest")
	f.p("CBZ  R21, done")
	f.p("MOVD R1, R22")
	for i := range 4 {
		f.p("ADD  $%d, RSP, R10", locals+16*i)
		f.p("MOVD R10, R11")
		f.p("MOVD R21, R12")
		f.copyElements(r, fmt.Sprint("take", i), fmt.Sprint("R", 2+i), "R11")
		f.p("MOVD R10, R%d", 2+i)
	}
	f.p("ADD  $%d, RSP, R1", locals)
	f.p("MOVD $%d, R0", lanes)
	f.p("CALL (R19)")
	f.p("ADD  $%d, RSP, R11", locals)
	f.p("MOVD R21, R12")
	f.copyElements(r, "give", "R11", "R22")
	f.label("done")
	f.p("RET")
	a.WriteString(f.a.String())
	s.WriteString(f.s.String())
}
