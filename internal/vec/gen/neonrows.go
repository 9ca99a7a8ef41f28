package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/build"
)

// neonFile is assembly and declarations for arm64 as they are written.
type neonFile struct{ a, s strings.Builder }

func newNeonFile() *neonFile {
	f := new(neonFile)
	f.a.WriteString(generated + "\n#include \"textflag.h\"\n")
	f.s.WriteString(generated + "\npackage vec\n")
	return f
}

func (f *neonFile) p(format string, args ...any)     { fmt.Fprintf(&f.a, "\t"+format+"\n", args...) }
func (f *neonFile) label(format string, args ...any) { fmt.Fprintf(&f.a, "\n"+format+":\n", args...) }
func (f *neonFile) word(code uint32, what string)    { f.p("WORD $0x%08x // %s", code, what) }

// function begins one of so many bytes of variables and of arguments, which T in the signature
// stands for the type in.
func (f *neonFile) function(r float, name, doc, signature string, locals, arguments int) {
	signature = strings.ReplaceAll(signature, "T", r.goType())
	fmt.Fprintf(&f.s, "\n// %s %s\n//\n//go:noescape\nfunc %s%s\n", name, doc, name, signature)
	fmt.Fprintf(&f.a, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", name, signature, name, locals, arguments)
}

// copyElements copies as many elements as R12 says, 1 at least, from where one register points to
// where the other does, both of which go on.
func (f *neonFile) copyElements(r float, label, from, to string) {
	f.label("%s", label)
	f.p("%s.P %d(%s), R13", map[int]string{4: "MOVWU", 8: "MOVD"}[r.size], r.size, from)
	f.p("%s.P R13, %d(%s)", map[int]string{4: "MOVW", 8: "MOVD"}[r.size], r.size, to)
	f.p("SUBS $1, R12, R12")
	f.p("BNE  %s", label)
}

// locals is where variables begin in a frame: below is the address of return.
const locals = 16

// neonWord returns an instruction on registers: two operands, or one, and a result.
func neonWord(r float, name string, b, a, to int) (uint32, string) {
	o := neonOps[name]
	code := o.code | uint32(b<<16|a<<5|to)
	if o.float && r.size == 8 {
		code |= 1 << 22
	}
	return code, fmt.Sprintf("%s V%d, V%d, V%d", name, b, a, to)
}

// neonReductions are the instructions that join a vector of elements, in V0 and V4 on, to sums: x
// and y are the registers of elements. The sums of two halves are joined as x is to sum.
var neonReductions = map[string]func(f *neonFile, r float, sum, x, y int){
	"Sum":       func(f *neonFile, r float, sum, x, _ int) { f.word(neonWord(r, "FADD", x, sum, sum)) },
	"Dot":       func(f *neonFile, r float, sum, x, y int) { f.word(neonWord(r, "FMLA", y, x, sum)) },
	"MaxNumber": neonMaxNumber,

	"Product": func(f *neonFile, r float, sum, x, _ int) { f.word(neonWord(r, "FMUL", x, sum, sum)) },
	"Max":     func(f *neonFile, r float, sum, x, _ int) { f.word(neonWord(r, "FMAX", x, sum, sum)) },
	"Min":     func(f *neonFile, r float, sum, x, _ int) { f.word(neonWord(r, "FMIN", x, sum, sum)) },
}

// neonMaxNumber makes sum the larger of itself and x, and leaves it where x is NaN or both are 0.
func neonMaxNumber(f *neonFile, r float, sum, x, _ int) {
	f.word(neonWord(r, "FCMGT", sum, x, 8))
	f.word(neonWord(r, "BIT", 8, x, sum))
}

// neonRows returns the loops over rows, that of AdamW, that of AddWide, and those of ints, for
// arm64.
func neonRows() (assembly, stubs []byte) {
	f := newNeonFile()
	for _, r := range []float{single, double} {
		table := &neonTable{name: "neonRow" + r.name, at: map[uint64]int{}}
		for _, reduction := range reductions {
			f.reduction(r, reduction)
		}
		for _, function := range functions {
			for _, name := range scaled {
				if function.name == name {
					f.scaled(r, function, table)
				}
			}
		}
		f.adamw(r, table)
		if len(table.bits) > 0 {
			panic("a constant, for which there is no table")
		}
	}
	f.addWide()
	f.joinInts()
	return []byte(f.a.String()), []byte(f.s.String())
}

// reduction writes a loop with 32 sums beside each other, in V16 to V31 or half of them. V0 to V3
// hold elements of x, V4 to V7 of y. The last elements go through memory that is filled with what
// changes nothing.
func (f *neonFile) reduction(r float, what reduction) {
	vectors, size := lanes*r.size/16, lanes*r.size
	const sums = 16
	f.function(r, "row"+what.name+r.name+"NEON", "returns "+what.doc+", n elements from there on.", "(n int, x, y *T) T", locals+2*size, 24+r.size)
	f.p("MOVD n+0(FP), R0")
	f.p("MOVD x+8(FP), R1")
	f.p("MOVD y+16(FP), R2")
	bits := math.Float64bits(what.start)
	lane, dup := "D2", "D"
	if r.size == 4 {
		bits, lane, dup = uint64(math.Float32bits(float32(what.start))), "S4", "S"
	}
	f.p("MOVD $0x%x, R3", bits)
	for i := range vectors {
		f.p("VDUP R3, V%d.%s", sums+i, lane)
	}
	join := func(x, y string) {
		for i := 0; i < vectors; i += 4 {
			f.p("VLD1.P 64(%s), [V0.B16, V1.B16, V2.B16, V3.B16]", x)
			if what.operands > 1 {
				f.p("VLD1.P 64(%s), [V4.B16, V5.B16, V6.B16, V7.B16]", y)
			}
			for j := range 4 {
				neonReductions[what.name](f, r, sums+i+j, j, 4+j)
			}
		}
	}
	f.p("SUBS $%d, R0, R0", lanes)
	f.p("BLT  rest")
	f.label("whole")
	join("R1", "R2")
	f.p("SUBS $%d, R0, R0", lanes)
	f.p("BGE  whole")
	f.label("rest")
	f.p("ADDS $%d, R0, R0", lanes)
	f.p("BEQ  done")
	for i, from := range []string{"R1", "R2"}[:what.operands] {
		f.p("VDUP R3, V0.%s", lane)
		f.p("ADD  $%d, RSP, R10", locals+i*size)
		f.p("MOVD R10, R11")
		for range size / 16 {
			f.p("VST1.P [V0.B16], 16(R11)")
		}
		f.p("MOVD R0, R12")
		f.copyElements(r, "take"+from, from, "R10")
	}
	f.p("ADD  $%d, RSP, R10", locals)
	f.p("ADD  $%d, RSP, R11", locals+size)
	join("R10", "R11")
	f.label("done")
	fold := neonReductions[what.name]
	if what.name == "Dot" {
		fold = neonReductions["Sum"]
	}
	for n := vectors / 2; n > 0; n /= 2 {
		for i := range n {
			fold(f, r, sums+i, sums+n+i, 0)
		}
	}
	f.p("VEXT $8, V%d.B16, V%[1]d.B16, V0.B16", sums)
	fold(f, r, sums, 0, 0)
	if r.size == 4 {
		f.p("VREV64 V%d.S4, V0.S4", sums)
		fold(f, r, sums, 0, 0)
	}
	f.p("FMOV%s F%d, ret+24(FP)", dup, sums)
	f.p("RET")
}

// scaled writes the loop of a function whose second operand is a number.
func (f *neonFile) scaled(r float, what function, table *neonTable) {
	k := &code{c: build.NewContext(), s: neonSet, r: r, neon: &neonCode{r: r, constants: table}}
	in := []value{k.new(), k.new()}
	body, at := k.neon.text(in, what.of(k, in))
	wide, lane := 16/r.size, map[int]string{4: "S4", 8: "D2"}[r.size]
	f.function(r, "row"+what.name+"By"+r.name+"NEON", "sets n elements from to on to "+what.name+" of those from x on and by. They may be the same.",
		"(n int, to, x *T, by T)", locals+16, 24+r.size)
	f.p("MOVD n+0(FP), R0")
	f.p("MOVD to+8(FP), R1")
	f.p("MOVD x+16(FP), R2")
	f.p("%s by+24(FP), R3", map[int]string{4: "MOVWU", 8: "MOVD"}[r.size])
	f.p("SUBS $%d, R0, R0", wide)
	f.p("BLT  rest")
	f.label("whole")
	f.p("VLD1.P 16(R2), [V0.B16]")
	f.p("VDUP R3, V1.%s", lane)
	f.a.WriteString(body)
	f.p("VST1.P [V%d.B16], 16(R1)", at[0])
	f.p("SUBS $%d, R0, R0", wide)
	f.p("BGE  whole")
	f.label("rest")
	f.p("ADDS $%d, R0, R0", wide)
	f.p("BEQ  done")
	f.p("ADD  $%d, RSP, R10", locals)
	f.p("MOVD R10, R11")
	f.p("MOVD R0, R12")
	f.copyElements(r, "take", "R2", "R11")
	f.p("VLD1 (R10), [V0.B16]")
	f.p("VDUP R3, V1.%s", lane)
	f.a.WriteString(body)
	f.p("VST1 [V%d.B16], (R10)", at[0])
	f.p("MOVD R0, R12")
	f.copyElements(r, "give", "R10", "R1")
	f.label("done")
	f.p("RET")
}

// adamw writes the loop of the optimizer's rule over all parameters.
func (f *neonFile) adamw(r float, table *neonTable) {
	k := &code{c: build.NewContext(), s: neonSet, r: r, neon: &neonCode{r: r, constants: table}}
	var in []value
	for range adamwOperands + adamwScalars {
		in = append(in, k.new())
	}
	x := [adamwOperands]value(in[:adamwOperands])
	k.adamw(&x, func(i int) value { return in[adamwOperands+i] })
	changed := []int{param, mean, square}
	body, at := k.neon.text(in, x[param], x[mean], x[square])
	wide, lane := 16/r.size, map[int]string{4: "S4", 8: "D2"}[r.size]
	f.function(r, "adamw"+r.name+"NEON", "updates n elements from p, m and v on by the gradients from d on and the scalars that by points to.",
		"(n int, p, d, m, v, by *T)", locals+16*adamwOperands, 48)
	f.p("MOVD n+0(FP), R0")
	for i, name := range []string{"p", "d", "m", "v"} {
		f.p("MOVD %s+%d(FP), R%d", name, 8+8*i, 1+i)
	}
	f.p("MOVD by+40(FP), R5")
	scalars := func() {
		f.p("MOVD R5, R6")
		for i := range adamwScalars {
			f.p("VLD1R.P %d(R6), [V%d.%s]", r.size, adamwOperands+i, lane)
		}
	}
	f.p("SUBS $%d, R0, R0", wide)
	f.p("BLT  rest")
	f.label("whole")
	for i := range adamwOperands {
		f.p("VLD1 (R%d), [V%d.B16]", 1+i, i)
	}
	scalars()
	f.a.WriteString(body)
	for i, operand := range changed {
		f.p("VST1.P [V%d.B16], 16(R%d)", at[i], 1+operand)
	}
	f.p("ADD  $16, R%d, R%[1]d", 1+grad)
	f.p("SUBS $%d, R0, R0", wide)
	f.p("BGE  whole")
	f.label("rest")
	f.p("ADDS $%d, R0, R0", wide)
	f.p("BEQ  done")
	for i := range adamwOperands {
		f.p("ADD  $%d, RSP, R10", locals+16*i)
		f.p("MOVD R10, R11")
		f.p("MOVD R0, R12")
		f.p("MOVD R%d, R14", 1+i)
		f.copyElements(r, fmt.Sprint("take", i), "R14", "R11")
		f.p("VLD1 (R10), [V%d.B16]", i)
	}
	scalars()
	f.a.WriteString(body)
	for i, operand := range changed {
		f.p("ADD  $%d, RSP, R10", locals+16*operand)
		f.p("VST1 [V%d.B16], (R10)", at[i])
		f.p("MOVD R0, R12")
		f.copyElements(r, fmt.Sprint("give", operand), "R10", fmt.Sprint("R", 1+operand))
	}
	f.label("done")
	f.p("RET")
}
