package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightPanel is the columns of W that are packed together: each takes a byte of a row, or of two
// rows of 4 bits.
const weightPanel = 64

// ahead is the bytes by which the loop on rows prefetches weights.
const ahead = 8192

// weightPairBytes is the bytes of two rows of a panel.
func weightPairBytes(bits int) int { return 2 * weightPanel * bits / 8 }

// weightLoops writes the loops that multiply a row by weights of 8 and of 4 bits, and those that make
// floats of them.
func weightLoops(c *build.Context, s *set, r real) {
	if r == double {
		return
	}
	for _, bits := range []int{8, 4} {
		w := &weights{c: c, s: s, bits: bits}
		if bits == 4 && s == avx512 {
			w.table = nibbles(c, s)
		}
		w.row()
		w.unpack()
	}
}

// weights writes the loops on weights of one size.
type weights struct {
	c     *build.Context
	s     *set
	bits  int
	table operand.Mem // of the floats that 4 bits stand for
}

// nibbles is the table of the floats that signed integers of 4 bits stand for.
func nibbles(c *build.Context, s *set) operand.Mem {
	m := c.StaticGlobal("nibbles" + s.name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AppendDatum(operand.U32(math.Float32bits(float32((i+8)%16 - 8))))
	}
	return m
}

// two loads a vector of columns of two rows as floats.
func (w *weights) two(m operand.Mem, table reg.VecVirtual) (even, odd reg.VecVirtual) {
	c := w.c
	even, odd = w.s.vector(c), w.s.vector(c)
	if w.bits == 8 {
		c.VPMOVSXBD(m, even)
		c.VCVTDQ2PS(even, even)
		m.Disp += weightPanel
		c.VPMOVSXBD(m, odd)
		c.VCVTDQ2PS(odd, odd)
		return even, odd
	}
	v := w.s.vector(c)
	if table != nil { // the lowest four bits choose
		c.VPMOVZXBD(m, v)
		c.VPERMPS(table, v, even)
		c.VPSRLD(operand.Imm(4), v, v)
		c.VPERMPS(table, v, odd)
		return even, odd
	}
	c.VPMOVSXBD(m, v)
	c.VPSLLD(operand.Imm(28), v, even)
	c.VPSRAD(operand.Imm(28), even, even)
	c.VPSRAD(operand.Imm(4), v, odd)
	c.VCVTDQ2PS(even, even)
	c.VCVTDQ2PS(odd, odd)
	return even, odd
}

// one loads a vector of columns of one row, the first of two, as floats.
func (w *weights) one(m operand.Mem, table reg.VecVirtual) reg.VecVirtual {
	c, v := w.c, w.s.vector(w.c)
	switch {
	case w.bits == 8:
		c.VPMOVSXBD(m, v)
	case table != nil:
		c.VPMOVZXBD(m, v)
		c.VPERMPS(table, v, v)
		return v
	default:
		c.VPMOVSXBD(m, v)
		c.VPSLLD(operand.Imm(28), v, v)
		c.VPSRAD(operand.Imm(28), v, v)
	}
	c.VCVTDQ2PS(v, v)
	return v
}

// begin begins a function, with the table of 4 bits in a register if there is one.
func (w *weights) begin(name, signature string, doc ...string) reg.VecVirtual {
	beginLoop(w.c, fmt.Sprint(name, w.bits, w.s.name), signature, doc...)
	if w.table.Symbol.Name == "" {
		return nil
	}
	table := w.s.vector(w.c)
	w.c.VMOVUPS(w.table, table)
	return table
}

// row writes the loop that multiplies a row of X by a panel. The sums of even rows of W and those of
// odd ones are apart; four vectors of both fit the registers.
func (w *weights) row() {
	c := w.c
	signature := "(runs, k int, to, x, sums *float32, w *byte, scale, zero *float32, step int)"
	table := w.begin("multiplyWeights", signature,
		"adds to 64 elements from to on, for each run, scale·(Σx·w − zero·sum), of k elements from x on",
		"and as many rows of w. Each run has a sum, and 64 elements of scale and zero, which are step elements",
		"behind those of the run before it. zero may be nil. k is even if there are several runs. Neither is 0.")
	runs, k, to, x := parameter(c, "runs"), parameter(c, "k"), parameter(c, "to"), parameter(c, "x")
	sums, from := parameter(c, "sums"), parameter(c, "w")
	scale, zero, step := parameter(c, "scale"), parameter(c, "zero"), parameter(c, "step")
	c.SHLQ(operand.Imm(2), step)
	c.Label("run")
	atX, at, n := c.GP64(), c.GP64(), c.GP64()
	lanes := w.s.bytes / 4
	for part := 0; part < weightPanel/lanes; part += 4 {
		label := func(name string) string { return fmt.Sprint(name, part) }
		var even, odd [4]reg.VecVirtual
		for j := range even {
			even[j], odd[j] = w.s.vector(c), w.s.vector(c)
			w.s.clear(c, even[j])
			w.s.clear(c, odd[j])
		}
		c.MOVQ(x, atX)
		c.LEAQ(operand.Mem{Base: from, Disp: part * lanes}, at)
		c.MOVQ(k, n)
		c.SHRQ(operand.Imm(1), n)
		c.JZ(operand.LabelRef(label("last")))
		c.Label(label("pair"))
		if part == 0 {
			for line := 0; line < weightPairBytes(w.bits); line += 64 {
				c.PREFETCHT0(operand.Mem{Base: at, Disp: ahead + line})
			}
		}
		x0, x1 := w.s.vector(c), w.s.vector(c)
		c.VBROADCASTSS(operand.Mem{Base: atX}, x0)
		c.VBROADCASTSS(operand.Mem{Base: atX, Disp: 4}, x1)
		for j := range even {
			w0, w1 := w.two(operand.Mem{Base: at, Disp: j * lanes}, table)
			c.VFMADD231PS(w0, x0, even[j])
			c.VFMADD231PS(w1, x1, odd[j])
		}
		c.ADDQ(operand.Imm(8), atX)
		c.ADDQ(operand.U32(weightPairBytes(w.bits)), at)
		c.DECQ(n)
		c.JNZ(operand.LabelRef(label("pair")))
		c.Label(label("last"))
		c.TESTQ(operand.U32(1), k)
		c.JZ(operand.LabelRef(label("add")))
		x0 = w.s.vector(c)
		c.VBROADCASTSS(operand.Mem{Base: atX}, x0)
		for j := range even {
			c.VFMADD231PS(w.one(operand.Mem{Base: at, Disp: j * lanes}, table), x0, even[j])
		}
		c.Label(label("add"))
		for j := range even {
			c.VADDPS(odd[j], even[j], even[j])
		}
		place := func(base reg.Register, j int) operand.Mem {
			return operand.Mem{Base: base, Disp: 4 * lanes * (part + j)}
		}
		c.TESTQ(zero, zero)
		c.JZ(operand.LabelRef(label("scale")))
		sum := w.s.vector(c)
		c.VBROADCASTSS(operand.Mem{Base: sums}, sum)
		for j := range even {
			c.VFNMADD231PS(place(zero, j), sum, even[j])
		}
		c.Label(label("scale"))
		for j := range even {
			total := w.s.vector(c)
			c.VMOVUPS(place(to, j), total)
			c.VFMADD231PS(place(scale, j), even[j], total)
			c.VMOVUPS(total, place(to, j))
		}
		if part+4 == weightPanel/lanes { // at is where the next run begins
			c.LEAQ(operand.Mem{Base: at, Disp: -part * lanes}, from)
		}
	}
	c.LEAQ(operand.Mem{Base: x, Index: k, Scale: 4}, x)
	c.ADDQ(operand.Imm(4), sums)
	c.ADDQ(step, scale)
	c.TESTQ(zero, zero)
	c.JZ(operand.LabelRef("next"))
	c.ADDQ(step, zero)
	c.Label("next")
	c.DECQ(runs)
	c.JNZ(operand.LabelRef("run"))
	c.VZEROUPPER()
	c.RET()
}

// unpack writes the loop that makes floats of two rows of a panel at a time.
func (w *weights) unpack() {
	c := w.c
	table := w.begin("unpackWeights", "(pairs int, to *float32, row int, w *byte, scale, zero *float32)",
		"sets 64 columns of 2·pairs rows, row elements apart from to on, to (w − zero)·scale,",
		"which are 64 elements each. pairs is not 0.")
	pairs, to, row := parameter(c, "pairs"), parameter(c, "to"), parameter(c, "row")
	from, scale, zero := parameter(c, "w"), parameter(c, "scale"), parameter(c, "zero")
	c.SHLQ(operand.Imm(2), row)
	lanes := w.s.bytes / 4
	c.Label("pair")
	next := c.GP64()
	c.LEAQ(operand.Mem{Base: to, Index: row, Scale: 1}, next)
	for j := 0; j < weightPanel; j += lanes {
		even, odd := w.two(operand.Mem{Base: from, Disp: j}, table)
		for i, v := range []reg.VecVirtual{even, odd} {
			c.VSUBPS(operand.Mem{Base: zero, Disp: 4 * j}, v, v)
			c.VMULPS(operand.Mem{Base: scale, Disp: 4 * j}, v, v)
			c.VMOVUPS(v, operand.Mem{Base: []reg.Register{to, next}[i], Disp: 4 * j})
		}
	}
	c.LEAQ(operand.Mem{Base: to, Index: row, Scale: 2}, to)
	c.ADDQ(operand.U32(weightPairBytes(w.bits)), from)
	c.DECQ(pairs)
	c.JNZ(operand.LabelRef("pair"))
	c.VZEROUPPER()
	c.RET()
}
