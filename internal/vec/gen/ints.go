package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// intJoins are the functions of two ints that there are loops of: on what the elements become, and
// the code of NEON's instruction.
var intJoins = []struct {
	name, becomes string
	neon          uint32
}{{"Add", "their sums with", 0x4EA08400}, {"Mul", "their products with", 0x4EA09C00}, {"Max", "the greater of them and", 0x4EA06400},
	{"Min", "the less of them and", 0x4EA06C00}}

// intDoc is what is said of a loop.
func intDoc(becomes string) string {
	return fmt.Sprintf("sets n elements from to on to %s those from x on. n is a multiple of 8, but not 0.", becomes)
}

const intSignature = "(n int, to, x *int32)"

// joinInts writes a loop for each function.
func joinInts(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	for i, f := range intJoins {
		join := []func(...operand.Op){c.VPADDD, c.VPMULLD, c.VPMAXSD, c.VPMINSD}[i]
		name := "ints" + f.name + s.name
		c.Function(name)
		c.Attributes(attr.NOSPLIT)
		c.Pragma("noescape")
		c.Doc(name + " " + intDoc(f.becomes))
		c.SignatureExpr("func" + intSignature)
		n, to, x := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("x"), c.GP64())
		at, v := c.GP64(), c.YMM()
		c.XORQ(at, at)
		c.Label("eight")
		c.VMOVDQU(operand.Mem{Base: to, Index: at, Scale: 4}, v)
		join(operand.Mem{Base: x, Index: at, Scale: 4}, v, v)
		c.VMOVDQU(v, operand.Mem{Base: to, Index: at, Scale: 4})
		c.ADDQ(operand.Imm(8), at)
		c.CMPQ(at, n)
		c.JLT(operand.LabelRef("eight"))
		c.VZEROUPPER()
		c.RET()
	}
}

// joinInts writes them for arm64.
func (f *neonFile) joinInts() {
	for _, join := range intJoins {
		f.function(single, "ints"+join.name+"NEON", intDoc(join.becomes), intSignature, 0, 24)
		f.p("MOVD n+0(FP), R0")
		f.p("MOVD to+8(FP), R1")
		f.p("MOVD x+16(FP), R2")
		f.label("eight")
		f.p("VLD1 (R1), [V0.B16, V1.B16]")
		f.p("VLD1.P 32(R2), [V2.B16, V3.B16]")
		for i := range uint32(2) {
			f.word(join.neon|(i+2)<<16|i<<5|i, fmt.Sprintf("%s V%d, V%d, V%d", strings.ToUpper(join.name), i+2, i, i))
		}
		f.p("VST1.P [V0.B16, V1.B16], 32(R1)")
		f.p("SUBS $8, R0, R0")
		f.p("BNE  eight")
		f.p("RET")
	}
}
