package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The access of a loop to the vectors of its elements: whole ones, or what is left at the end.
type (
	loads  func(m operand.Mem) value
	stores func(v value, m operand.Mem)
)

// function begins one, named with the type and the set, in whose signature T is the type.
func (k *code) function(name, doc, signature string) {
	name += k.r.name + k.s.name
	k.c.Function(name)
	k.c.Attributes(attr.NOSPLIT)
	k.c.Pragma("noescape")
	k.c.Doc(name + " " + doc)
	k.c.SignatureExpr(strings.ReplaceAll(signature, "T", k.r.goType()))
}

// pointer returns an argument.
func (k *code) pointer(name string) reg.Register { return k.c.Load(k.c.Param(name), k.c.GP64()) }

// elements writes a loop over n elements, which the body reads and writes at offset place, and the end of the
// function.
func (k *code) elements(place reg.Register, body func(load loads, store stores)) {
	c, wide, n := k.c, k.s.bytes/k.r.size, k.pointer("n")
	c.XORQ(place, place)
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	store := k.pick(c.VMOVUPS, c.VMOVUPD)
	body(func(m operand.Mem) value { return k.load(m) }, func(v value, m operand.Mem) { store(v, m) })
	c.ADDQ(operand.Imm(uint64(k.s.bytes)), place)
	c.SUBQ(operand.Imm(uint64(wide)), n)
	c.JGE(operand.LabelRef("whole"))
	c.Label("rest")
	c.ADDQ(operand.Imm(uint64(wide)), n)
	c.JZ(operand.LabelRef("done"))
	first := k.masks(n)(0)
	body(func(m operand.Mem) value { return k.loadSome(first, m) },
		func(v value, m operand.Mem) { k.storeSome(first, v, m) })
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// arguments returns where elements lie from arguments on, and a register for the offset.
func (k *code) arguments(names ...string) (at []operand.Mem, place reg.Register) {
	place = k.c.GP64()
	for _, name := range names {
		at = append(at, operand.Mem{Base: k.pointer(name), Index: place, Scale: 1})
	}
	return at, place
}

// scaledFMA writes the loop that multiplies by a number and then by weights, and adds biases.
func (k *code) scaledFMA() {
	k.function("scaledFMA", "sets n elements from to on to (x·by)·w + b, rounded twice. to may be x.",
		"func(n int, to, x *T, by T, w, b *T)")
	at, place := k.arguments("to", "x", "w", "b")
	by := k.parameter("by")
	k.elements(place, func(load loads, store stores) {
		store(k.fma(k.mul(load(at[1]), by), load(at[2]), load(at[3])), at[0])
	})
}

// normGradSums writes the loop over a row of a norm's gradient that adds to the gradients of weights and biases.
func (k *code) normGradSums() {
	k.function("normGradSums", "sets n elements from h on to (x − mean)·rstd and those from up on to dy·w, and adds "+
		"dy·h to those from dw on and dy to those from db on.", "func(n int, h, up, dw, db, x, dy, w *T, mean, rstd T)")
	at, place := k.arguments("h", "up", "dw", "db", "x", "dy", "w")
	mean, rstd := k.parameter("mean"), k.parameter("rstd")
	k.elements(place, func(load loads, store stores) {
		h, g := k.mul(k.sub(load(at[4]), mean), rstd), load(at[5])
		store(h, at[0])
		store(k.mul(g, load(at[6])), at[1])
		store(k.fma(g, h, load(at[2])), at[2])
		store(k.add(load(at[3]), g), at[3])
	})
}

// normGrad writes the loop that makes the gradient of a row of what was summed up.
func (k *code) normGrad() {
	k.function("normGrad", "sets n elements from to on to ((up − mean) − h·by)·rstd, each step rounded.",
		"func(n int, to, up, h *T, mean, by, rstd T)")
	at, place := k.arguments("to", "up", "h")
	mean, by, rstd := k.parameter("mean"), k.parameter("by"), k.parameter("rstd")
	k.elements(place, func(load loads, store stores) {
		store(k.mul(k.sub(k.sub(load(at[1]), mean), k.mul(load(at[2]), by)), rstd), at[0])
	})
}
