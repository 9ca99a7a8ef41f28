package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// rotations writes the loop that rotates two rows.
func rotations(c *build.Context, s *set, r float) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "rotate"}
	name := "rotate" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " rotates n elements from x and y on by the cosine, the sine, and the sine's negative, that by points to.")
	c.SignatureExpr(strings.ReplaceAll("func(n int, x, y, by *T)", "T", r.goType()))
	n := c.Load(c.Param("n"), c.GP64())
	x, y, by := c.Load(c.Param("x"), c.GP64()), c.Load(c.Param("y"), c.GP64()), c.Load(c.Param("by"), c.GP64())
	var turn [3]value
	for i := range turn {
		turn[i] = k.all(operand.Mem{Base: by, Disp: i * r.size})
	}
	behind := c.GP64()
	c.XORQ(behind, behind)
	each := func(load func(m operand.Mem) value, store func(v value, m operand.Mem)) {
		atX, atY := operand.Mem{Base: x, Index: behind, Scale: 1}, operand.Mem{Base: y, Index: behind, Scale: 1}
		p, q := load(atX), load(atY)
		store(k.fma(turn[0], p, k.mul(turn[2], q)), atX)
		store(k.fma(turn[0], q, k.mul(turn[1], p)), atY)
	}
	wide := s.bytes / r.size
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	each(func(m operand.Mem) value { return k.load(m) }, func(v value, m operand.Mem) { k.pick(c.VMOVUPS, c.VMOVUPD)(v, m) })
	c.ADDQ(operand.Imm(uint64(s.bytes)), behind)
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JGE(operand.LabelRef("whole"))
	c.Label("rest")
	c.ADDQ(operand.Imm(uint64(wide)), n)
	c.JZ(operand.LabelRef("done"))
	first := k.masks(n)(0)
	each(func(m operand.Mem) value { return k.loadSome(first, m) }, func(v value, m operand.Mem) { k.storeSome(first, v, m) })
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
