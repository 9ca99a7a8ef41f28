package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copies writes the loop that copies short rows, of any type: a call for each would take longer
// than its copy.
func copies(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	name := "copyPlanes" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name+" copies so many planes of so many rows of n bytes, 16 at least. Planes and rows are as many bytes apart as said, the first",
		"byte of both sides is at to and from, and no row lies on another.")
	c.SignatureExpr("func(planes, rows, n int, to *byte, toPlane, toRow int, from *byte, fromPlane, fromRow int)")
	load := func(name string) reg.Register { return c.Load(c.Param(name), c.GP64()) }
	planes, n, to, toRow, from, fromRow := load("planes"), load("n"), load("to"), load("toRow"), load("from"), load("fromRow")
	toPlane, fromPlane, rows := load("toPlane"), load("fromPlane"), c.GP64()
	allRows, err := c.Param("rows").Resolve()
	if err != nil {
		panic(err)
	}
	// How far the next plane is from behind the last row of one.
	across := c.GP64()
	c.MOVQ(allRows.Addr, rows)
	c.MOVQ(toRow, across)
	c.IMULQ(rows, across)
	c.SUBQ(across, toPlane)
	c.MOVQ(fromRow, across)
	c.IMULQ(rows, across)
	c.SUBQ(across, fromPlane)
	move := func(bytes int, at reg.Register, disp int) {
		var v reg.Register = c.YMM()
		if bytes == 16 {
			v = c.XMM()
		}
		place := func(base reg.Register) operand.Mem {
			if at == nil {
				return operand.Mem{Base: base, Disp: disp}
			}
			return operand.Mem{Base: base, Index: at, Scale: 1, Disp: disp}
		}
		c.VMOVUPS(place(from), v)
		c.VMOVUPS(v, place(to))
	}
	next := func(row string) {
		c.ADDQ(fromRow, from)
		c.ADDQ(toRow, to)
		c.DECQ(rows)
		c.JNZ(operand.LabelRef(row))
		c.ADDQ(fromPlane, from)
		c.ADDQ(toPlane, to)
		c.MOVQ(allRows.Addr, rows)
		c.DECQ(planes)
		c.JNZ(operand.LabelRef(row))
		c.VZEROUPPER()
		c.RET()
	}
	c.CMPQ(n, operand.Imm(32))
	c.JGE(operand.LabelRef("long"))
	// Of two vectors the last ends where the row does, and lies on the first if they have too much
	// room.
	c.Label("short")
	move(16, nil, 0)
	move(16, n, -16)
	next("short")
	c.Label("long")
	at, last := c.GP64(), c.GP64()
	c.MOVQ(n, last)
	c.SUBQ(operand.Imm(32), last)
	c.Label("row")
	c.XORQ(at, at)
	c.JMP(operand.LabelRef("whole"))
	c.Label("vector")
	move(32, at, 0)
	c.ADDQ(operand.Imm(32), at)
	c.Label("whole")
	c.CMPQ(at, last)
	c.JLT(operand.LabelRef("vector"))
	move(32, n, -32)
	next("row")
}

// fills writes the loop that sets words to one word.
func fills(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	name := "fillWords" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " sets n words from to on to v. n is a multiple of 8, but not 0.")
	c.SignatureExpr("func(n int, to *uint32, v uint32)")
	n, to, v := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("v"), c.GP32())
	one, all, at := c.XMM(), c.YMM(), c.GP64()
	c.VMOVD(v, one)
	c.VPBROADCASTD(one, all)
	c.XORQ(at, at)
	c.Label("eight")
	c.VMOVDQU(all, operand.Mem{Base: to, Index: at, Scale: 4})
	c.ADDQ(operand.Imm(8), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("eight"))
	c.VZEROUPPER()
	c.RET()
}

// reverses writes the loop that turns the order of words round, and the one that takes every second.
func reverses(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	everySecond(c, s)
	everySecondHalf(c, s)
	name := "reverseWords" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " sets n words from to on to those from on, from the last one on. n is a multiple of 8, but not 0.")
	c.SignatureExpr("func(n int, to, from *uint32)")
	n, to, from := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("from"), c.GP64())
	order, v := c.YMM(), c.YMM()
	places := c.StaticGlobal("reverseOrder")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := uint64(7); i < 8; i -= 2 { // two words each
		c.AppendDatum(operand.U64(i | (i-1)<<32))
	}
	c.VMOVDQU(places, order)
	c.Label("eight")
	c.VPERMD(operand.Mem{Base: from, Index: n, Scale: 4, Disp: -32}, order, v)
	c.VMOVDQU(v, operand.Mem{Base: to})
	c.ADDQ(operand.Imm(32), to)
	c.SUBQ(operand.Imm(8), n)
	c.JNZ(operand.LabelRef("eight"))
	c.VZEROUPPER()
	c.RET()
}

// everySecond writes the loop that takes every second word.
func everySecond(c *build.Context, s *set) {
	name := "everySecond" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " sets n elements from to on to every second of 2·n from from on. n is a multiple of 8, but not 0.")
	c.SignatureExpr("func(n int, to, from *float32)")
	n, to, from := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("from"), c.GP64())
	v := c.YMM()
	c.Label("eight")
	c.VMOVUPS(operand.Mem{Base: from}, v)
	c.VSHUFPS(operand.Imm(0x88), operand.Mem{Base: from, Disp: 32}, v, v) // of each half those of both
	c.VPERMPD(operand.Imm(0xD8), v, v)
	c.VMOVUPS(v, operand.Mem{Base: to})
	c.ADDQ(operand.Imm(64), from)
	c.ADDQ(operand.Imm(32), to)
	c.SUBQ(operand.Imm(8), n)
	c.JNZ(operand.LabelRef("eight"))
	c.VZEROUPPER()
	c.RET()
}

// everySecondHalf writes the loop that takes every second element of 16 bits.
func everySecondHalf(c *build.Context, s *set) {
	name := "everySecondHalf" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " sets n elements from to on to every second of 2·n from from on. n is a multiple of 16, but not 0.")
	c.SignatureExpr("func(n int, to, from *uint16)")
	n, to, from := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("from"), c.GP64())
	lower, a, b := c.YMM(), c.YMM(), c.YMM()
	c.VPCMPEQD(lower, lower, lower)
	c.VPSRLD(operand.Imm(16), lower, lower) // the lower half of each word
	c.Label("sixteen")
	c.VPAND(operand.Mem{Base: from}, lower, a)
	c.VPAND(operand.Mem{Base: from, Disp: 32}, lower, b)
	c.VPACKUSDW(b, a, a) // of each half those of both
	c.VPERMQ(operand.Imm(0xD8), a, a)
	c.VMOVDQU(a, operand.Mem{Base: to})
	c.ADDQ(operand.Imm(64), from)
	c.ADDQ(operand.Imm(32), to)
	c.SUBQ(operand.Imm(16), n)
	c.JNZ(operand.LabelRef("sixteen"))
	c.VZEROUPPER()
	c.RET()
}
