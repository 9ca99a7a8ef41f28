package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The operands of adamw, and its scalars in their order.
const (
	param = iota
	grad
	mean
	square
	adamwOperands
)

const (
	keep = iota // 1 − decay
	b1
	oneB1
	b2
	oneB2
	step
	root
	eps
	adamwScalars
)

// updates writes the loop of an optimizer's rule over all parameters.
func updates(c *build.Context, s *set, r float) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "update"}
	name := "adamw" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " updates n elements from p, m and v on by the gradients from d on and the scalars that by points to.")
	c.SignatureExpr(strings.ReplaceAll("func(n int, p, d, m, v, by *T)", "T", r.goType()))
	n := c.Load(c.Param("n"), c.GP64())
	var at []reg.Register
	for _, name := range []string{"p", "d", "m", "v"} {
		at = append(at, c.Load(c.Param(name), c.GP64()))
	}
	by := c.Load(c.Param("by"), c.GP64())
	behind := c.GP64()
	c.XORQ(behind, behind)
	each := func(load func(m operand.Mem) value, store func(v value, m operand.Mem)) {
		var x [adamwOperands]value
		for i, p := range at {
			x[i] = load(operand.Mem{Base: p, Index: behind, Scale: 1})
		}
		k.adamw(&x, func(i int) value { return k.all(operand.Mem{Base: by, Disp: i * r.size}) })
		for _, i := range []int{param, mean, square} {
			store(x[i], operand.Mem{Base: at[i], Index: behind, Scale: 1})
		}
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

// adamw is the rule of internal/ops/rules.go, rounded where that is.
func (k *code) adamw(x *[adamwOperands]value, by func(i int) value) {
	g := x[grad]
	x[mean] = k.fma(by(b1), x[mean], k.mul(g, by(oneB1)))
	x[square] = k.fma(by(b2), x[square], k.mul(k.mul(by(oneB2), g), g))
	change := k.div(k.mul(by(step), x[mean]), k.fma(k.sqrt(x[square]), by(root), by(eps)))
	x[param] = k.sub(k.mul(x[param], by(keep)), change)
}

// all is one element of memory in all lanes.
func (k *code) all(m operand.Mem) value {
	v := k.new()
	k.pick(k.c.VBROADCASTSS, k.c.VBROADCASTSD)(m, v)
	return v
}
