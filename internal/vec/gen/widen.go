package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	addWideDoc       = "adds n elements from x on to those from to on. n is a multiple of 8, but not 0."
	addWideSignature = "(n int, to *float64, x *float32)"
)

// wideSums writes the loop that adds numbers of single precision to sums of double precision.
func wideSums(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	name := "addWide" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " " + addWideDoc)
	c.SignatureExpr("func" + addWideSignature)
	n, to, x := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("x"), c.GP64())
	at := c.GP64()
	c.XORQ(at, at)
	c.Label("eight")
	for i := range 2 {
		v := c.YMM()
		place := func(base reg.Register, size int) operand.Mem {
			return operand.Mem{Base: base, Index: at, Scale: uint8(size), Disp: 4 * i * size}
		}
		c.VCVTPS2PD(place(x, 4), v)
		c.VADDPD(place(to, 8), v, v)
		c.VMOVUPD(v, place(to, 8))
	}
	c.ADDQ(operand.Imm(8), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("eight"))
	c.VZEROUPPER()
	c.RET()
}

// addWide writes it for arm64.
func (f *neonFile) addWide() {
	f.function(single, "addWideNEON", addWideDoc, addWideSignature, 0, 24)
	f.p("MOVD n+0(FP), R0")
	f.p("MOVD to+8(FP), R1")
	f.p("MOVD x+16(FP), R2")
	f.label("eight")
	f.p("VLD1.P 32(R2), [V0.B16, V1.B16]")
	f.p("VLD1 (R1), [V4.B16, V5.B16, V6.B16, V7.B16]")
	for i := range 4 {
		// The lower half of a vector, and the upper one.
		code, name := uint32(0x0E617800), "FCVTL"
		if i%2 == 1 {
			code, name = 0x4E617800, "FCVTL2"
		}
		f.word(code|uint32(i/2<<5|16), name+" V"+string(rune('0'+i/2))+", V16")
		f.word(neonWord(double, "FADD", 16, 4+i, 4+i))
	}
	f.p("VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R1)")
	f.p("SUBS $8, R0, R0")
	f.p("BNE  eight")
	f.p("RET")
}
