package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// butterflies writes the loop of a butterfly of radix 4 of a Fourier transform, over complex numbers whose float and
// imaginary parts are rows of planes.
func butterflies(c *build.Context, s *set, r float) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "butterfly"}
	name := "butterfly" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " does n butterflies of radix 4: see Loops.Butterfly. The distances are in bytes.")
	c.SignatureExpr(strings.ReplaceAll("func(n int, to, from *T, plane, toApart, fromApart int, by *T)", "T", r.goType()))
	n, plane := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("plane"), c.GP64())
	rows := func(name, apart string) (list [4]reg.Register) {
		list[0] = c.Load(c.Param(name), c.GP64())
		distance := c.Load(c.Param(apart), c.GP64())
		for i := 1; i < 4; i++ {
			next := c.GP64()
			c.LEAQ(operand.Mem{Base: list[i-1], Index: distance, Scale: 1}, next)
			list[i] = next
		}
		return list
	}
	to, from := rows("to", "toApart"), rows("from", "fromApart")
	by := c.Load(c.Param("by"), c.GP64())
	number := func(i int) value { return k.all(operand.Mem{Base: by, Disp: i * r.size}) }
	each := func(load func(m operand.Mem) value, store func(v value, m operand.Mem)) {
		var re, im [4]value
		for i := range re {
			x, y := load(operand.Mem{Base: from[i]}), load(operand.Mem{Base: from[i], Index: plane, Scale: 1})
			if i > 0 { // times a root of unity
				wr, wi := number(2*i-2), number(2*i-1)
				x, y = k.fnma(wi, y, k.mul(x, wr)), k.fma(wi, x, k.mul(y, wr))
			}
			re[i], im[i] = x, y
		}
		put := func(i int, x, y value) {
			store(x, operand.Mem{Base: to[i]})
			store(y, operand.Mem{Base: to[i], Index: plane, Scale: 1})
		}
		sumX, sumY, oddX, oddY := k.add(re[0], re[2]), k.add(im[0], im[2]), k.add(re[1], re[3]), k.add(im[1], im[3])
		put(0, k.add(sumX, oddX), k.add(sumY, oddY))
		put(2, k.sub(sumX, oddX), k.sub(sumY, oddY))
		x, y, turnX, turnY := k.sub(re[0], re[2]), k.sub(im[0], im[2]), k.sub(re[1], re[3]), k.sub(im[1], im[3])
		sign := number(6)
		turnX, turnY = k.mul(turnX, sign), k.mul(turnY, sign)
		put(1, k.sub(x, turnY), k.add(y, turnX))
		put(3, k.add(x, turnY), k.sub(y, turnX))
	}
	wide := s.bytes / r.size
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	each(func(m operand.Mem) value { return k.load(m) }, func(v value, m operand.Mem) { k.pick(c.VMOVUPS, c.VMOVUPD)(v, m) })
	for i := range to {
		c.ADDQ(operand.Imm(uint64(s.bytes)), to[i])
		c.ADDQ(operand.Imm(uint64(s.bytes)), from[i])
	}
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
