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
	for _, r := range []real{single, double} {
		table := &neonTable{name: "neon" + r.name, at: map[uint64]int{}}
		for _, f := range allFunctions() {
			if r == single || f.double {
				neonLoop(&a, &s, r, f, table)
			}
		}
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

// neonLoop writes the function that computes f of n elements. R1 points to results, R2 to R5 to operands, whose vectors are V0 to V3.
// The last elements, if they fill no vector, go through a vector on the stack for each operand.
func neonLoop(a, s *strings.Builder, r real, f function, table *neonTable) {
	k := &code{c: build.NewContext(), s: neonSet, r: r, neon: &neonCode{r: r, constants: table}}
	in := make([]value, f.operands)
	for i := range in {
		in[i] = k.new()
	}
	body, at := k.neon.text(in, f.of(k, in))
	names := []string{"x0", "x1", "x2", "x3"}
	name, lanes := f.in(neonSet, r), 16/r.size
	signature := strings.ReplaceAll("(n int, to *T, x0 *T, x1 *T, x2 *T, x3 *T)", "T", r.goType())
	fmt.Fprintf(s, "\n// %s sets n elements from to on to %s of those from %s on. They may be the same.\n//\n//go:noescape\nfunc %s%s\n",
		name, f.name, strings.Join(names[:f.operands], ", "), name, signature)
	p := func(format string, args ...any) { fmt.Fprintf(a, "\t"+format+"\n", args...) }
	label := func(l string) { fmt.Fprintf(a, "\n%s:\n", l) }
	element := map[int]string{4: "MOVWU", 8: "MOVD"}[r.size]
	store := map[int]string{4: "MOVW", 8: "MOVD"}[r.size]
	slot := func(i int) int { return 16 + 16*i } // below is where a frame keeps the address of return
	fmt.Fprintf(a, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-48\n", name, signature, name, slot(f.operands))
	p("MOVD n+0(FP), R0")
	p("MOVD to+8(FP), R1")
	for i := range in {
		p("MOVD %s+%d(FP), R%d", names[i], 16+8*i, 2+i)
	}
	p("MOVD $%s<>(SB), R9", table.name)
	p("SUBS $%d, R0, R0", lanes)
	p("BLT  rest")
	label("whole")
	for i := range in {
		p("VLD1.P 16(R%d), [V%d.B16]", 2+i, i)
	}
	a.WriteString(body)
	p("VST1.P [V%d.B16], 16(R1)", at[0])
	p("SUBS $%d, R0, R0", lanes)
	p("BGE  whole")
	label("rest")
	p("ADDS $%d, R0, R0", lanes)
	p("BEQ  done")
	for i := range in {
		p("ADD  $%d, RSP, R10", slot(i))
		p("MOVD R10, R11")
		p("MOVD R0, R12")
		label(fmt.Sprint("take", i))
		p("%s.P %d(R%d), R13", element, r.size, 2+i)
		p("%s.P R13, %d(R11)", store, r.size)
		p("SUBS $1, R12, R12")
		p("BNE  take%d", i)
		p("VLD1 (R10), [V%d.B16]", i)
	}
	a.WriteString(body)
	p("ADD  $%d, RSP, R11", slot(0))
	p("VST1 [V%d.B16], (R11)", at[0])
	label("give")
	p("%s.P %d(R11), R13", element, r.size)
	p("%s.P R13, %d(R1)", store, r.size)
	p("SUBS $1, R0, R0")
	p("BNE  give")
	label("done")
	p("RET")
}
