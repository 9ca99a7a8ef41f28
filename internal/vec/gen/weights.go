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

// weightFormat is a format of weights: integers of 8 or 4 bits, or floats of 16.
type weightFormat struct {
	name string // in names of functions
	bits int
}

var weights8, weights4 = weightFormat{"8", 8}, weightFormat{"4", 4}
var weightsFloat16, weightsBFloat16 = weightFormat{"Float16", 16}, weightFormat{"BFloat16", 16}

var weightFormats = []weightFormat{weights8, weights4, weightsFloat16, weightsBFloat16}

// pairBytes is the bytes of two rows of a panel.
func (f weightFormat) pairBytes() int { return 2 * weightPanel * f.bits / 8 }

// columnBytes is the bytes of a column: of one row, or of two of 4 bits.
func (f weightFormat) columnBytes() int { return max(1, f.bits/8) }

// weightLoops writes the loops that multiply a row by weights of each format, and those that make floats of them.
func weightLoops(c *build.Context, s *set, r float) {
	if r == double {
		return
	}
	for _, f := range weightFormats {
		w := &weights{weightFormat: f, c: c, s: s}
		if f == weights4 && s == avx512 {
			w.table = nibbles(c, s)
		}
		for rows := 1; rows <= 3; rows++ {
			w.multiply(rows)
		}
		w.unpack()
	}
}

// weights writes the loops on weights of one format.
type weights struct {
	weightFormat
	c     *build.Context
	s     *set
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
	if w.bits >= 8 {
		even = w.one(m, table)
		m.Disp += weightPanel * w.columnBytes()
		return even, w.one(m, table)
	}
	even, odd = w.s.vector(c), w.s.vector(c)
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
	case w.weightFormat == weightsFloat16:
		c.VCVTPH2PS(m, v)
		return v
	case w.weightFormat == weightsBFloat16:
		c.VPMOVZXWD(m, v)
		c.VPSLLD(operand.Imm(16), v, v)
		return v
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
	beginLoop(w.c, name, signature, doc...)
	if w.table.Symbol.Name == "" {
		return nil
	}
	table := w.s.vector(w.c)
	w.c.VMOVUPS(w.table, table)
	return table
}

// multiply writes the loop that multiplies rows of X by a panel. The sums of even rows of W and those
// of odd ones are apart. They fit the registers for a part of the columns at a time.
func (w *weights) multiply(rows int) {
	c := w.c
	signature := "(runs, k int, to, x, sums *float32, w *byte, scale, zero *float32, step, rowX, rowSums int)"
	table := w.begin(fmt.Sprintf("multiplyWeights%s%sx%d", w.name, w.s.name, rows), signature,
		"adds to 64 elements from to on, for each run, scale·(Σx·w − zero·sum), of k elements from x on and",
		"as many rows of w. Each run has a sum, and 64 elements of scale and zero, which are step elements behind those of",
		"the run before it. zero may be nil. k is even if there are several runs. Neither is 0.",
		fmt.Sprintf("It does so for %d rows of x, rowX elements apart, whose sums are rowSums apart, and results 64.", rows))
	runs, k, to, x := parameter(c, "runs"), parameter(c, "k"), parameter(c, "to"), parameter(c, "x")
	sums, from := parameter(c, "sums"), parameter(c, "w")
	scale, zero, rowX := parameter(c, "scale"), parameter(c, "zero"), parameter(c, "rowX")
	c.SHLQ(operand.Imm(2), rowX)
	c.Label("run")
	atX, at, n := c.GP64(), c.GP64(), c.GP64()
	lanes, wide := w.s.bytes/4, 4
	if rows > 1 && w.s == avx2 {
		wide = 2
	}
	for part := 0; part < weightPanel/lanes; part += wide {
		label := func(name string) string { return fmt.Sprint(name, part) }
		var sum [2][3][4]reg.VecVirtual // of even and odd rows of W, for each row of X
		each := func(f func(i, j int)) {
			for i := range rows {
				for j := range wide {
					f(i, j)
				}
			}
		}
		for odd := range sum {
			each(func(i, j int) {
				sum[odd][i][j] = w.s.vector(c)
				w.s.clear(c, sum[odd][i][j])
			})
		}
		// element is where an element of X of an even or odd place is.
		element := func(odd, i int) operand.Mem {
			m := operand.Mem{Base: atX, Disp: 4 * odd}
			if i > 0 {
				m.Index, m.Scale = rowX, uint8(i)
			}
			return m
		}
		// elements loads those of all rows, where the registers suffice.
		elements := func(odd int) (left []reg.VecVirtual) {
			for i := 0; i < rows && (rows == 1 || w.bits >= 8); i++ {
				left = append(left, w.s.vector(c))
				c.VBROADCASTSS(element(odd, i), left[i])
			}
			return left
		}
		// add adds products of them and a vector of columns of a row of W.
		add := func(odd, j int, left []reg.VecVirtual, weights reg.VecVirtual) {
			for i := range rows {
				switch {
				case left != nil:
					c.VFMADD231PS(weights, left[i], sum[odd][i][j])
				case w.s.broadcast:
					c.VFMADD231PS_BCST(element(odd, i), weights, sum[odd][i][j])
				default:
					v := w.s.vector(c)
					c.VBROADCASTSS(element(odd, i), v)
					c.VFMADD231PS(weights, v, sum[odd][i][j])
				}
			}
		}
		c.MOVQ(x, atX)
		c.LEAQ(operand.Mem{Base: from, Disp: part * lanes * w.columnBytes()}, at)
		c.MOVQ(k, n)
		c.SHRQ(operand.Imm(1), n)
		c.JZ(operand.LabelRef(label("last")))
		c.Label(label("pair"))
		if part == 0 {
			for line := 0; line < w.pairBytes(); line += 64 {
				c.PREFETCHT0(operand.Mem{Base: at, Disp: ahead + line})
			}
		}
		if w.bits >= 8 {
			for odd := range sum {
				left := elements(odd)
				for j := range wide {
					add(odd, j, left, w.one(operand.Mem{Base: at, Disp: (weightPanel*odd + j*lanes) * w.columnBytes()}, table))
				}
			}
		} else {
			left := [2][]reg.VecVirtual{elements(0), elements(1)}
			for j := range wide {
				even, odd := w.two(operand.Mem{Base: at, Disp: j * lanes}, table)
				add(0, j, left[0], even)
				add(1, j, left[1], odd)
			}
		}
		c.ADDQ(operand.Imm(8), atX)
		c.ADDQ(operand.U32(w.pairBytes()), at)
		c.DECQ(n)
		c.JNZ(operand.LabelRef(label("pair")))
		c.Label(label("last"))
		c.TESTQ(operand.U32(1), k)
		c.JZ(operand.LabelRef(label("add")))
		left := elements(0)
		for j := range wide {
			add(0, j, left, w.one(operand.Mem{Base: at, Disp: j * lanes * w.columnBytes()}, table))
		}
		c.Label(label("add"))
		each(func(i, j int) { c.VADDPS(sum[1][i][j], sum[0][i][j], sum[0][i][j]) })
		place := func(base reg.Register, i, j int) operand.Mem {
			return operand.Mem{Base: base, Disp: 4*weightPanel*i + 4*lanes*(part+j)}
		}
		c.TESTQ(zero, zero)
		c.JZ(operand.LabelRef(label("scale")))
		rowSums, atSums := c.GP64(), c.GP64()
		c.Load(c.Param("rowSums"), rowSums)
		c.MOVQ(sums, atSums)
		for i := range rows {
			of := w.s.vector(c)
			c.VBROADCASTSS(operand.Mem{Base: atSums}, of)
			c.LEAQ(operand.Mem{Base: atSums, Index: rowSums, Scale: 4}, atSums)
			for j := range wide {
				c.VFNMADD231PS(place(zero, 0, j), of, sum[0][i][j])
			}
		}
		c.Label(label("scale"))
		each(func(i, j int) {
			total := w.s.vector(c)
			c.VMOVUPS(place(to, i, j), total)
			c.VFMADD231PS(place(scale, 0, j), sum[0][i][j], total)
			c.VMOVUPS(total, place(to, i, j))
		})
		if part+wide == weightPanel/lanes { // at is where the next run begins
			c.LEAQ(operand.Mem{Base: at, Disp: -part * lanes * w.columnBytes()}, from)
		}
	}
	c.LEAQ(operand.Mem{Base: x, Index: k, Scale: 4}, x)
	c.ADDQ(operand.Imm(4), sums)
	step := parameter(c, "step")
	c.LEAQ(operand.Mem{Base: scale, Index: step, Scale: 4}, scale)
	c.TESTQ(zero, zero)
	c.JZ(operand.LabelRef("next"))
	c.LEAQ(operand.Mem{Base: zero, Index: step, Scale: 4}, zero)
	c.Label("next")
	c.DECQ(runs)
	c.JNZ(operand.LabelRef("run"))
	c.VZEROUPPER()
	c.RET()
}

// unpack writes the loop that makes floats of two rows of a panel at a time.
func (w *weights) unpack() {
	c := w.c
	table := w.begin(fmt.Sprintf("unpackWeights%s%s", w.name, w.s.name), "(pairs int, to *float32, row int, w *byte, scale, zero *float32)",
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
		even, odd := w.two(operand.Mem{Base: from, Disp: j * w.columnBytes()}, table)
		for i, v := range []reg.VecVirtual{even, odd} {
			c.VSUBPS(operand.Mem{Base: zero, Disp: 4 * j}, v, v)
			c.VMULPS(operand.Mem{Base: scale, Disp: 4 * j}, v, v)
			c.VMOVUPS(v, operand.Mem{Base: []reg.Register{to, next}[i], Disp: 4 * j})
		}
	}
	c.LEAQ(operand.Mem{Base: to, Index: row, Scale: 2}, to)
	c.ADDQ(operand.U32(w.pairBytes()), from)
	c.DECQ(pairs)
	c.JNZ(operand.LabelRef("pair"))
	c.VZEROUPPER()
	c.RET()
}
