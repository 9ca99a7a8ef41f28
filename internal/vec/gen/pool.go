package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pools writes the loop of maxima of windows of two by two, the most usual ones.
func pools(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	k := &code{c: c, s: s.half(), r: r, constants: map[uint64]operand.Mem{}, prefix: "pool"}
	name := "maxPool" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name+" sets n elements from y on, 4 at least, to the maxima of two elements of a row and two of the one that is width elements behind it, and",
		"those from places on, unless it is nil, to their places, of which that of the first element is first. The first maximum is taken, and the",
		"last NaN.")
	c.SignatureExpr("func(n int, y *float32, places *int32, x *float32, width int, first int32)")
	n, y, places := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("y"), c.GP64()), c.Load(c.Param("places"), c.GP64())
	x, width := c.Load(c.Param("x"), c.GP64()), c.Load(c.Param("width"), c.GP64())
	whole := func(n reg.Register) value {
		v := c.XMM()
		c.VMOVD(n, v)
		c.VPBROADCASTD(v, v)
		return v
	}
	sum := func(a value, b operand.Op) value {
		v := c.XMM()
		c.VPADDD(b, a, v)
		return v
	}
	// The places of the first four outputs, of which the elements lie at 0, 2, 4 and 6, and of the
	// next row.
	steps := c.StaticGlobal(name + "Steps")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		c.AppendDatum(operand.U32(2 * i))
	}
	start := sum(whole(c.Load(c.Param("first"), c.GP32())), steps)
	row := whole(width.(reg.GPVirtual).As32())
	c.SHLQ(operand.Imm(2), width)
	at := c.GP64()
	c.XORQ(at, at)
	c.Label("four")
	// The last four outputs may be some of those before, too.
	last := c.GP64()
	c.LEAQ(operand.Mem{Base: n, Disp: -4}, last)
	c.CMPQ(at, last)
	c.CMOVQGT(last, at)
	from := c.GP64()
	c.LEAQ(operand.Mem{Base: x, Index: at, Scale: 8}, from)
	element := func(m operand.Mem) (even, odd value) {
		next := m
		next.Disp += 16
		a, b := k.load(m), k.load(next)
		even, odd = c.XMM(), c.XMM()
		c.VSHUFPS(operand.Imm(0x88), b, a, even)
		c.VSHUFPS(operand.Imm(0xDD), b, a, odd)
		return even, odd
	}
	behind := whole(at.As32())
	now := sum(start, sum(behind, behind))
	best, right := element(operand.Mem{Base: from})
	below, across := element(operand.Mem{Base: from, Index: width, Scale: 1})
	place, under := now, sum(now, row)
	for _, other := range [][2]value{{right, sum(now, k.bits(1))}, {below, under}, {across, sum(under, k.bits(1))}} {
		v := other[0]
		more := k.or(k.compare(less, best, v).(value), k.compare(unordered, v, v))
		best, place = k.choose(more, v, best), k.choose(more, other[1], place)
	}
	c.VMOVUPS(best, operand.Mem{Base: y, Index: at, Scale: 4})
	c.TESTQ(places, places)
	c.JZ(operand.LabelRef("next"))
	c.VMOVDQU(place, operand.Mem{Base: places, Index: at, Scale: 4})
	c.Label("next")
	c.ADDQ(operand.Imm(4), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("four"))
	c.RET()
}
