package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// taps writes the loop that adds up taps: multiples of what lies at some offsets. Four vectors of
// sums stay in registers while all taps are added.
func (k *code) taps() {
	c, s, r := k.c, k.s, k.r
	in, wide := r.on(c, s), s.bytes/r.size
	name := "tapSums" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name+" sets n elements from to on to the sums over some taps, at least one: of by[t] times the elements from x[offsets[t]]",
		"on, of one tap after the other, with one rounding each. n is not 0.")
	c.SignatureExpr(strings.ReplaceAll("func(n int, to, x *T, taps int, offsets *int, by *T)", "T", r.goType()))
	load := func(name string) reg.Register { return c.Load(c.Param(name), c.GP64()) }
	n, to, x, taps, offsets, by := load("n"), load("to"), load("x"), load("taps"), load("offsets"), load("by")
	tap, from := c.GP64(), c.GP64()
	// sums returns those of so many vectors from x on, of which load reads those of a tap.
	sums := func(label string, vectors int, load func(m operand.Mem) operand.Op) []value {
		sum := make([]value, vectors)
		for i := range sum {
			sum[i] = k.new()
			s.clear(c, sum[i])
		}
		c.XORQ(tap, tap)
		c.Label(label)
		c.MOVQ(operand.Mem{Base: offsets, Index: tap, Scale: 8}, from)
		c.LEAQ(operand.Mem{Base: x, Index: from, Scale: uint8(r.size)}, from)
		w := k.new()
		in.broadcast(operand.Mem{Base: by, Index: tap, Scale: uint8(r.size)}, w)
		for i := range sum {
			in.fma(load(operand.Mem{Base: from, Disp: i * s.bytes}), w, sum[i])
		}
		c.INCQ(tap)
		c.CMPQ(tap, taps)
		c.JLT(operand.LabelRef(label))
		return sum
	}
	const vectors = 4
	c.SUBQ(operand.Imm(uint64(vectors*wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	for i, v := range sums("wholeTap", vectors, func(m operand.Mem) operand.Op { return m }) {
		k.pick(c.VMOVUPS, c.VMOVUPD)(v, operand.Mem{Base: to, Disp: i * s.bytes})
	}
	c.ADDQ(operand.U32(vectors*s.bytes), x)
	c.ADDQ(operand.U32(vectors*s.bytes), to)
	c.SUBQ(operand.Imm(uint64(vectors*wide)), n)
	c.JGE(operand.LabelRef("whole"))
	c.Label("rest")
	c.ADDQ(operand.Imm(uint64(vectors*wide)), n)
	c.JZ(operand.LabelRef("done"))
	c.Label("some")
	there := k.masks(n)(0)
	last := sums("someTap", 1, func(m operand.Mem) operand.Op { return k.loadSome(there, m) })
	k.storeSome(there, last[0], operand.Mem{Base: to})
	c.ADDQ(operand.Imm(uint64(s.bytes)), x)
	c.ADDQ(operand.Imm(uint64(s.bytes)), to)
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JG(operand.LabelRef("some"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
