package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// byteLoops writes the loops that make ints and numbers of single precision of bytes, and bytes of
// them: of 32 at a time.
func byteLoops(c *build.Context, s *set, r float) {
	if r == double {
		return
	}
	loop := func(name, doc, signature string, body func(to, x operand.Mem)) {
		name += s.name
		c.Function(name)
		c.Attributes(attr.NOSPLIT)
		c.Pragma("noescape")
		c.Doc(name + " " + doc + " n is a multiple of 32, but not 0.")
		c.SignatureExpr("func" + signature)
		n, to, x := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("x"), c.GP64())
		at := c.GP64()
		c.XORQ(at, at)
		c.Label("some")
		body(operand.Mem{Base: to, Index: at}, operand.Mem{Base: x, Index: at})
		c.ADDQ(operand.Imm(32), at)
		c.CMPQ(at, n)
		c.JLT(operand.LabelRef("some"))
		c.VZEROUPPER()
		c.RET()
	}
	// place is element i of those that a loop is at.
	place := func(m operand.Mem, size, i int) operand.Mem {
		m.Scale, m.Disp = uint8(size), size*i
		return m
	}
	for _, float := range []bool{false, true} {
		what, typ := "Ints", "int32"
		if float {
			what, typ = "Floats", "float32"
		}
		loop("bytesTo"+what, "sets n numbers from to on to the bytes from x on.", "(n int, to *"+typ+", x *byte)", func(to, x operand.Mem) {
			for i := 0; i < 32; i += 8 {
				v := c.YMM()
				c.VPMOVZXBD(place(x, 1, i), v)
				if float {
					c.VCVTDQ2PS(v, v)
				}
				c.VMOVDQU(v, place(to, 4, i))
			}
		})
	}
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "bytes"}
	low := k.bits(0xFF)
	order := c.StaticGlobal("bytesOrder" + s.name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		c.AppendDatum(operand.U32(v))
	}
	for _, float := range []bool{false, true} {
		what, typ := "Ints", "int32"
		if float {
			what, typ = "Floats", "float32"
		}
		loop("bytesOf"+what, "sets n bytes from to on to the lowest of the numbers from x on, whose fractions are cut off.",
			"(n int, to *byte, x *"+typ+")", func(to, x operand.Mem) {
				var pairs [2]operand.Op
				for i := range pairs {
					var both [2]operand.Op
					for j := range both {
						v := c.YMM()
						from := place(x, 4, 16*i+8*j)
						if float {
							c.VCVTTPS2DQ(from, v)
						} else {
							c.VMOVDQU(from, v)
						}
						c.VPAND(low, v, v)
						both[j] = v
					}
					v := c.YMM()
					c.VPACKUSDW(both[1], both[0], v)
					pairs[i] = v
				}
				v, turn := c.YMM(), c.YMM()
				c.VPACKUSWB(pairs[1], pairs[0], v)
				// The halves of each vector are packed apart.
				c.VMOVDQU(order, turn)
				c.VPERMD(v, turn, v)
				c.VMOVDQU(v, place(to, 1, 0))
			})
	}
}
