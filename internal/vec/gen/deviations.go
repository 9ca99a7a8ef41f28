package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// deviations writes the loop that adds up how much four rows differ from one, with the squares of that or without. What is
// added to is read and written once for four rows.
func (k *code) deviations(squared bool) {
	c, s, r := k.c, k.s, k.r
	name, also := "deviations"+r.name+s.name, ""
	if squared {
		name, also = "squared"+strings.ToUpper(name[:1])+name[1:], ", and their squares to those from squares on"
	}
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " adds to n elements from sums on the differences of four rows from that which from points to" + also +
		": see Loops.Deviations. The rows begin at x, stride bytes apart.")
	c.SignatureExpr(strings.ReplaceAll("func(n int, sums, squares, from, x *T, stride int)", "T", r.goType()))
	load := func(name string) reg.Register { return c.Load(c.Param(name), c.GP64()) }
	n, sums, from, stride := load("n"), load("sums"), load("from"), load("stride")
	var squares reg.Register
	if squared {
		squares = load("squares")
	}
	rows := [4]reg.Register{load("x")}
	for i := 1; i < len(rows); i++ {
		rows[i] = c.GP64()
		c.LEAQ(operand.Mem{Base: rows[i-1], Index: stride, Scale: 1}, rows[i])
	}
	each := func(load func(m operand.Mem) value, store func(v value, m operand.Mem)) {
		mean, sum := load(operand.Mem{Base: from}), load(operand.Mem{Base: sums})
		var square value
		if squared {
			square = load(operand.Mem{Base: squares})
		}
		for _, row := range rows {
			d := k.sub(load(operand.Mem{Base: row}), mean)
			sum = k.add(sum, d)
			if squared {
				square = k.fma(d, d, square)
			}
		}
		store(sum, operand.Mem{Base: sums})
		if squared {
			store(square, operand.Mem{Base: squares})
		}
	}
	wide := s.bytes / r.size
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	each(func(m operand.Mem) value { return k.load(m) }, func(v value, m operand.Mem) { k.pick(c.VMOVUPS, c.VMOVUPD)(v, m) })
	next := append(rows[:], sums, from)
	if squared {
		next = append(next, squares)
	}
	for _, p := range next {
		c.ADDQ(operand.Imm(uint64(s.bytes)), p)
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
