package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What package vec's Corners holds: four planes of entries, and behind them four of weights, of so
// many samples each.
const (
	cornerSamples = 128
	cornerPlane   = cornerSamples * 4
)

// hashFactor is what the row of a vertex is multiplied by: HASH of hashgrid's sources.
const hashFactor = 2654435761

// corners writes the loops over levels of a grid with an entry, or a hashed one, for each vertex:
// four features of an entry are a vector.
func corners(c *build.Context, s *set, r float) {
	if r != single {
		return
	}
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "corner"}
	k.findCorners()
	k.gatherInterp()
	k.scatterAdd()
}

// findCorners writes the loop that finds the entries around positions, and their weights: rounded
// as hashgrid's host kernel rounds them.
func (k *code) findCorners() {
	c := k.c
	name := "corners" + k.r.name + k.s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name+" sets the entries and weights from to on to those at the corners of the cells of n positions from x on. n is a multiple of 8, but",
		"not 0. level is the first entry, the cells across and down, and the mask of the hash or 0. It returns the largest entry.")
	c.SignatureExpr("func(n int, to *int32, x *float32, level *int32) uint32")
	n, to, x := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), c.Load(c.Param("x"), c.GP64())
	level := c.Load(c.Param("level"), c.GP64())
	every := func(at int) value {
		v := c.YMM()
		c.VPBROADCASTD(operand.Mem{Base: level, Disp: 4 * at}, v)
		return v
	}
	two := func(f func(ops ...operand.Op), a reg.Register, b operand.Op) value {
		v := c.YMM()
		f(b, a, v)
		return v
	}
	and := func(ops ...operand.Op) { c.VPAND(ops[0], ops[1], ops[2]) }
	xor := func(ops ...operand.Op) { c.VPXOR(ops[0], ops[1], ops[2]) }
	one := func(f func(ops ...operand.Op), a operand.Op) value {
		v := c.YMM()
		f(a, v)
		return v
	}
	first, across, down, mask := every(0), every(1), every(2), every(3)
	lastColumn, lastRow := one(c.VCVTDQ2PS, across), one(c.VCVTDQ2PS, down)
	line := two(c.VPADDD, across, k.ints(2))
	largest := c.YMM()
	c.VPXOR(largest, largest, largest)
	hashed := c.GP32()
	c.MOVL(operand.Mem{Base: level, Disp: 12}, hashed)
	for _, hashes := range []bool{true, false} {
		loop := "vertices"
		if hashes {
			loop = "hashed"
			c.TESTL(hashed, hashed)
			c.JZ(operand.LabelRef("vertices"))
		}
		c.Label(loop)
		// Of x y x y … those in their order, in which halves of a register come last.
		a, b := k.load(operand.Mem{Base: x}), k.load(operand.Mem{Base: x, Disp: 32})
		place := func(which uint64, cells, last value) (cell, rest value) {
			v := c.YMM()
			c.VSHUFPS(operand.Imm(which), b, a, v)
			c.VPERMPD(operand.Imm(0xD8), v, v)
			p := k.fma(v, cells, k.number(0.5))
			cell = one(c.VCVTTPS2DQ, k.least(k.most(p, k.number(0)), last)) // NaN is 0
			return cell, k.sub(p, one(c.VCVTDQ2PS, cell))
		}
		column, right := place(0x88, lastColumn, lastColumn)
		row, below := place(0xDD, lastRow, lastRow)
		left, above := k.sub(k.load(k.number(1)), right), k.sub(k.load(k.number(1)), below)
		for i, w := range []value{k.mul(left, above), k.mul(right, above), k.mul(left, below), k.mul(right, below)} {
			c.VMOVUPS(w, operand.Mem{Base: to, Disp: (4 + i) * cornerPlane})
		}
		var entries [4]value
		if hashes {
			up := two(c.VPMULLD, row, k.ints(hashFactor))
			next := two(c.VPADDD, up, k.ints(hashFactor))
			right := two(c.VPADDD, column, k.ints(1))
			for i, at := range [][2]value{{column, up}, {right, up}, {column, next}, {right, next}} {
				entries[i] = two(c.VPADDD, two(and, two(xor, at[0], at[1]), mask), first)
			}
		} else {
			entries[0] = two(c.VPADDD, two(c.VPADDD, two(c.VPMULLD, row, line), column), first)
			entries[1] = two(c.VPADDD, entries[0], k.ints(1))
			entries[2] = two(c.VPADDD, entries[0], line)
			entries[3] = two(c.VPADDD, entries[1], line)
		}
		for i, e := range entries {
			c.VPMAXUD(e, largest, largest)
			c.VMOVDQU(e, operand.Mem{Base: to, Disp: i * cornerPlane})
		}
		c.ADDQ(operand.Imm(32), to)
		c.ADDQ(operand.Imm(64), x)
		c.SUBQ(operand.Imm(8), n)
		c.JNZ(operand.LabelRef(loop))
		if hashes {
			c.JMP(operand.LabelRef("done"))
		}
	}
	c.Label("done")
	half := c.XMM()
	c.VEXTRACTI128(operand.Imm(1), largest, half)
	c.VPMAXUD(largest.AsX(), half, half)
	for _, shuffle := range []uint64{0x4E, 0xB1} {
		other := c.XMM()
		c.VPSHUFD(operand.Imm(shuffle), half, other)
		c.VPMAXUD(other, half, half)
	}
	result := c.GP32()
	c.VMOVD(half, result)
	c.Store(result, c.ReturnIndex(0))
	c.VZEROUPPER()
	c.RET()
}

// ints is a whole number in all lanes of memory.
func (k *code) ints(v uint32) operand.Mem { return k.bits(uint64(v)) }

// corner returns, of sample at of a Corners, the entry of a corner in a register, and its weight in
// all lanes.
func (k *code) corner(corners, at reg.Register, i int) (entry reg.GPVirtual, weight reg.VecVirtual) {
	entry, weight = k.c.GP64(), k.c.XMM()
	k.c.MOVL(operand.Mem{Base: corners, Index: at, Scale: 4, Disp: i * cornerPlane}, entry.As32())
	k.c.VBROADCASTSS(operand.Mem{Base: corners, Index: at, Scale: 4, Disp: (4 + i) * cornerPlane}, weight)
	return entry, weight
}

// gatherInterp writes the loop that adds up what samples see of a level.
func (k *code) gatherInterp() {
	c := k.c
	name := "gatherInterp" + k.r.name + k.s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name + " sets the four features of each of n samples, step elements apart from to on, to the weighted sum of those of its entries of table.")
	c.SignatureExpr("func(n int, to *float32, step int, corners *int32, table *float32)")
	n, to, step := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("to"), c.GP64()), inBytes(c, k.r, "step")
	corners, table := c.Load(c.Param("corners"), c.GP64()), c.Load(c.Param("table"), c.GP64())
	at, zero := c.GP64(), c.XMM()
	c.XORQ(at, at)
	c.VXORPS(zero, zero, zero)
	c.Label("sample")
	sum := c.XMM()
	for i := range 4 {
		entry, weight := k.corner(corners, at, i)
		c.SHLQ(operand.Imm(4), entry)
		c.VMULPS(operand.Mem{Base: table, Index: entry, Scale: 1}, weight, weight)
		if i == 0 {
			c.VADDPS(weight, zero, sum)
		} else {
			c.VADDPS(weight, sum, sum)
		}
	}
	c.VMOVUPS(sum, operand.Mem{Base: to})
	c.ADDQ(step, to)
	c.INCQ(at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("sample"))
	c.RET()
}

// scatterAdd writes the loop that adds the gradients of samples to those of entries.
func (k *code) scatterAdd() {
	c := k.c
	name := "scatterAdd" + k.r.name + k.s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(name+" adds the four numbers of each of n samples, step elements apart from by on, times its weights, to those of its entries, of which",
		"entry first is at d. Beyond entries from there on none are changed.")
	c.SignatureExpr("func(n int, d *float32, first, entries uint32, corners *int32, by *float32, step int)")
	n, d := c.Load(c.Param("n"), c.GP64()), c.Load(c.Param("d"), c.GP64())
	first, entries := c.Load(c.Param("first"), c.GP32()), c.Load(c.Param("entries"), c.GP32())
	corners, g, step := c.Load(c.Param("corners"), c.GP64()), c.Load(c.Param("by"), c.GP64()), inBytes(c, k.r, "step")
	at := c.GP64()
	c.XORQ(at, at)
	c.Label("sample")
	up := c.XMM()
	c.VMOVUPS(operand.Mem{Base: g}, up)
	for i := range 4 {
		past := "past" + string(rune('0'+i))
		entry, weight := k.corner(corners, at, i)
		c.SUBL(first, entry.As32())
		c.CMPL(entry.As32(), entries)
		c.JCC(operand.LabelRef(past))
		c.SHLQ(operand.Imm(4), entry)
		place := operand.Mem{Base: d, Index: entry, Scale: 1}
		c.VMULPS(up, weight, weight)
		c.VADDPS(place, weight, weight)
		c.VMOVUPS(weight, place)
		c.Label(past)
	}
	c.ADDQ(step, g)
	c.INCQ(at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("sample"))
	c.RET()
}
