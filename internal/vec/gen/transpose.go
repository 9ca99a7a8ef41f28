package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposed returns, of as many rows as a vector of AVX2 has elements, the first columns: half as
// many. at gives the place of a row. A vector holds parts of two rows, one in each half, and what
// is exchanged then stays in its half.
func (k *code) transposed(at func(i int) operand.Mem) []value {
	c, half := k.c, k.s.bytes/k.r.size/2
	v := make([]value, half)
	for i := range v {
		v[i] = c.YMM()
		c.VBROADCASTF128(at(i), v[i])
		c.VINSERTF128(operand.Imm(1), at(half+i), v[i], v[i])
	}
	pair := func(f func(ops ...operand.Op), a, b value) value {
		to := c.YMM()
		f(b, a, to)
		return to
	}
	if k.r.size == 8 {
		return []value{pair(c.VUNPCKLPD, v[0], v[1]), pair(c.VUNPCKHPD, v[0], v[1])}
	}
	a, b := pair(c.VUNPCKLPS, v[0], v[1]), pair(c.VUNPCKLPS, v[2], v[3])
	d, e := pair(c.VUNPCKHPS, v[0], v[1]), pair(c.VUNPCKHPS, v[2], v[3])
	return []value{pair(c.VUNPCKLPD, a, b), pair(c.VUNPCKHPD, a, b), pair(c.VUNPCKLPD, d, e), pair(c.VUNPCKHPD, d, e)}
}

// fours are the addresses of rows: a pointer to every fourth, and once and three times the distance
// of two rows in bytes.
type fours struct {
	every    []reg.GPVirtual
	row, up3 reg.Register
}

func foursOf(c *build.Context, r float, base, row string, n int) fours {
	p := fours{row: inBytes(c, r, row), up3: c.GP64()}
	c.LEAQ(operand.Mem{Base: p.row, Index: p.row, Scale: 2}, p.up3)
	first := c.Load(c.Param(base), c.GP64()).(reg.GPVirtual)
	for i := 0; i < n; i += 4 {
		if i > 0 {
			next := c.GP64()
			c.LEAQ(operand.Mem{Base: first, Index: p.row, Scale: 4}, next)
			first = next
		}
		p.every = append(p.every, first)
	}
	return p
}

func (p fours) at(i int) operand.Mem {
	m := operand.Mem{Base: p.every[i/4]}
	switch i % 4 {
	case 1, 2:
		m.Index, m.Scale = p.row, uint8(i%4)
	case 3:
		m.Index, m.Scale = p.up3, 1
	}
	return m
}

// transposers writes the loop that transposes as many rows as a vector has elements.
func transposers(c *build.Context, s *set, r float) {
	if r == single {
		transposerHalves(c, s)
	}
	k := &code{c: c, s: s, r: r}
	lanes := s.bytes / r.size
	half := lanes / 2
	name := "transpose" + r.name + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets element (i, j) of to, i·toRow + j, to element (j, i) of from, j·fromRow + i, for j below %d and i below n,", name, lanes),
		fmt.Sprintf("a multiple of %d that is not 0.", half))
	c.SignatureExpr(strings.ReplaceAll("func(n int, to *T, toRow int, from *T, fromRow int)", "T", r.goType()))
	n := c.Load(c.Param("n"), c.GP64())
	to, toRow := c.Load(c.Param("to"), c.GP64()), inBytes(c, r, "toRow")
	from := foursOf(c, r, "from", "fromRow", lanes)
	c.Label("steps")
	for i, v := range k.transposed(from.at) {
		if i > 0 {
			c.ADDQ(toRow, to)
		}
		c.VMOVUPS(v, operand.Mem{Base: to})
	}
	c.ADDQ(toRow, to)
	for _, p := range from.every {
		c.ADDQ(operand.Imm(16), p)
	}
	c.SUBQ(operand.Imm(uint64(half)), n)
	c.JNZ(operand.LabelRef("steps"))
	c.VZEROUPPER()
	c.RET()
}

// transposerHalves writes the loop that transposes sixteen rows of elements of 16 bits, eight at a time.
func transposerHalves(c *build.Context, s *set) {
	const rows, steps, size = 16, 8, 2
	name := "transposeHalves" + s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets element (i, j) of to, i·toRow + j, to element (j, i) of from, j·fromRow + i, for j "+
		"below %d and i below n,", name, rows),
		fmt.Sprintf("a multiple of %d that is not 0.", steps))
	c.SignatureExpr("func(n int, to *uint16, toRow int, from *uint16, fromRow int)")
	half := float{size: size}
	n := c.Load(c.Param("n"), c.GP64())
	to, toRow := c.Load(c.Param("to"), c.GP64()), inBytes(c, half, "toRow")
	from := foursOf(c, half, "from", "fromRow", rows)
	c.Label("steps")
	var v [steps]value
	for i := range v { // rows i and 8+i, one in each half
		v[i] = c.YMM()
		c.VBROADCASTI128(from.at(i), v[i])
		c.VINSERTI128(operand.Imm(1), from.at(steps+i), v[i], v[i])
	}
	type instruction = func(ops ...operand.Op)
	// Each level joins vectors so far apart: pairs, fours and eights of a column lie side by side.
	for _, level := range []struct {
		apart     int
		low, high instruction
	}{{1, c.VPUNPCKLWD, c.VPUNPCKHWD}, {2, c.VPUNPCKLDQ, c.VPUNPCKHDQ}, {4, c.VPUNPCKLQDQ, c.VPUNPCKHQDQ}} {
		var next [steps]value
		for i := range v {
			if i&level.apart != 0 {
				continue
			}
			low, high := c.YMM(), c.YMM()
			level.low(v[i+level.apart], v[i], low)
			level.high(v[i+level.apart], v[i], high)
			next[i], next[i+level.apart] = low, high
		}
		v = next
	}
	for i := range v {
		// Vector i holds the column whose bits are those of i the other way round.
		column := v[i&1<<2|i&2|i>>2]
		if i > 0 {
			c.ADDQ(toRow, to)
		}
		c.VMOVDQU(column, operand.Mem{Base: to})
	}
	c.ADDQ(toRow, to)
	for _, p := range from.every {
		c.ADDQ(operand.Imm(16), p)
	}
	c.SUBQ(operand.Imm(steps), n)
	c.JNZ(operand.LabelRef("steps"))
	c.VZEROUPPER()
	c.RET()
}
