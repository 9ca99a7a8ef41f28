package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// prefetchedBlock is how many elements are converted at once, at least, where the next ones are prefetched: of
// fewer, less than what is prefetched may lie behind them.
const prefetchedBlock = 1024

// halfLoops writes the loops between numbers of single precision and those of 16 bits, float16 and
// bfloat16: of 16 at a time. What is rounded is rounded to nearest, ties to even.
func halfLoops(c *build.Context, s *set, r float) {
	if r == double {
		return
	}
	lanes := s.bytes / r.size
	loop := func(name, doc, signature string, size, fromSize int, body func(to, x operand.Mem)) {
		name += s.name
		c.Function(name)
		c.Attributes(attr.NOSPLIT)
		c.Pragma("noescape")
		c.Doc(name + " " + doc + " n is a multiple of 16, but not 0.")
		c.SignatureExpr("func" + signature)
		n, to, x := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("x"), c.GP64())
		at := c.GP64()
		c.XORQ(at, at)
		c.Label("some")
		for i := 0; i < 16; i += lanes {
			body(operand.Mem{Base: to, Index: at, Scale: uint8(size), Disp: size * i},
				operand.Mem{Base: x, Index: at, Scale: uint8(fromSize), Disp: fromSize * i})
		}
		c.ADDQ(operand.Imm(16), at)
		c.CMPQ(at, n)
		c.JLT(operand.LabelRef("some"))
		// The next block's halves, as many lines as can be under way, come while this one is computed.
		halves := x
		if size == 2 {
			halves = to
		}
		c.CMPQ(n, operand.U32(prefetchedBlock))
		c.JLT(operand.LabelRef("done"))
		for i := range 16 {
			c.PREFETCHT0(operand.Mem{Base: halves, Index: at, Scale: 2, Disp: 64 * i})
		}
		c.Label("done")
		c.VZEROUPPER()
		c.RET()
	}
	const wide, narrow = "(n int, to *float32, x *uint16)", "(n int, to *uint16, x *float32)"
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "halves"}
	loop("fromFloat16", "sets n numbers from to on to the float16 from x on.", wide, 4, 2, func(to, x operand.Mem) {
		v := k.new()
		c.VCVTPH2PS(x, v)
		c.VMOVUPS(v, to)
	})
	loop("toFloat16", "sets n float16 from to on to the numbers from x on, rounded.", narrow, 2, 4, func(to, x operand.Mem) {
		v := k.new()
		c.VMOVUPS(x, v)
		c.VCVTPS2PH(operand.Imm(0), v, to)
	})
	loop("fromBFloat16", "sets n numbers from to on to the bfloat16 from x on.", wide, 4, 2, func(to, x operand.Mem) {
		v := k.new()
		c.VPMOVZXWD(x, v)
		c.VPSLLD(operand.Imm(16), v, v)
		c.VMOVUPS(v, to)
	})
	half, one, nan := k.bits(0x7FFF), k.bits(1), k.bits(0x7FC0)
	doc := "sets n bfloat16 from to on to the numbers from x on, rounded: every NaN to the same one."
	loop("toBFloat16", doc, narrow, 2, 4, func(to, x operand.Mem) {
		v, bits, odd := k.new(), k.new(), k.new()
		c.VMOVUPS(x, v)
		c.VPSRLD(operand.Imm(16), v, odd)
		if s == avx512 {
			none := c.K()
			c.VPANDD_BCST(one, odd, odd)
			c.VPADDD_BCST(half, v, bits)
			c.VPADDD(odd, bits, bits)
			c.VPSRLD(operand.Imm(16), bits, bits)
			c.VCMPPS(operand.Imm(3), v, v, none) // is it a NaN
			c.VPBROADCASTD(nan, none, bits)
			c.VPMOVDW(bits, to)
			return
		}
		none := c.YMM()
		c.VPAND(one, odd, odd)
		c.VPADDD(half, v, bits)
		c.VPADDD(odd, bits, bits)
		c.VPSRLD(operand.Imm(16), bits, bits)
		c.VCMPPS(operand.Imm(3), v, v, none) // is it a NaN
		c.VBLENDVPS(none, nan, bits, bits)
		c.VPACKUSDW(bits, bits, bits)
		c.VPERMQ(operand.Imm(0b1000), bits, bits) // the halves of each vector are packed apart
		c.VMOVDQU(bits.AsX(), to)
	})
}
