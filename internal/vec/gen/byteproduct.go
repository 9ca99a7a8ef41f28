package main

import (
	"bytes"
	"fmt"
	"log"
	"regexp"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byteProducts writes the blocks of products of bytes. VNNI is the instruction that adds up four
// products of bytes at once, of 64 bytes with AVX-512, and of 32 on processors that have it beside
// AVX2. With AVX2 alone bytes become 16 bits wide, and pairs of their products are added up.
func byteProducts(c *build.Context, s *set, r float) {
	if r == double {
		return
	}
	if s == avx2 {
		packByteRows(c, s)
		packByteColumns(c, s)
		correctBytes(c, s)
	}
	for _, rows := range s.heights {
		if s == avx2 {
			byteBlock(c, s, "AVX2", rows, 8)
			byteBlock(c, s, "AVXVNNI", rows, 16)
			continue
		}
		byteBlock(c, s, "AVX512", rows, 32)
		byteBlock(c, s, "AVX512", rows, 16)
	}
}

// beginLoop begins a function of one of the loops on bytes.
func beginLoop(c *build.Context, name, signature string, doc ...string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	doc[0] = name + " " + doc[0]
	c.Doc(doc...)
	c.SignatureExpr("func" + signature)
}

// parameter loads a parameter.
func parameter(c *build.Context, name string) reg.GPVirtual {
	return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
}

// bytePanel is the bytes of four rows of a panel of B: 16 columns.
const bytePanel = 64

// byteBlock writes the function that computes rows by columns of C, which stay in registers.
func byteBlock(c *build.Context, s *set, name string, rows, columns int) {
	pairs := name == "AVX2" // of products are added up, not fours
	size := "bytes"
	if pairs {
		size = "16-bit integers"
	}
	beginLoop(c, fmt.Sprintf("byteProduct%sx%dx%d", name, rows, columns),
		"(k int, a *byte, rowA int, b *byte, panel int, c *int32, rowC int, add bool)",
		fmt.Sprintf("sets C [%d, %d] to A·B, or adds it to C, for 4·k steps of the sum. Rows of A,", rows, columns)+
			fmt.Sprintf(" unsigned %s, are rowA bytes apart.", size),
		"B is packed: panels are panel bytes apart. Rows of C are rowC elements apart. k is at least 1.")
	k := parameter(c, "k")
	a := rowPointers(c, parameter(c, "a"), parameter(c, "rowA"), rows)
	b, panel := parameter(c, "b"), parameter(c, "panel")
	vectors := 4 * columns / s.bytes
	if pairs { // there are two sums of each column
		vectors *= 2
	}
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range vectors {
			v := s.vector(c)
			s.clear(c, v)
			sums[i] = append(sums[i], v)
		}
	}
	right := make([]reg.VecVirtual, vectors)
	for j := range right {
		right[j] = s.vector(c)
	}
	c.Label("step")
	for j, v := range right {
		switch m := (operand.Mem{Base: b}); {
		case pairs:
			m.Disp = 16 * j
			c.VPMOVSXBW(m, v)
		case s == avx2:
			m.Disp = 32 * j
			c.VMOVDQU(m, v)
		default:
			if j > 0 {
				m.Index, m.Scale = panel, 1
			}
			c.VMOVDQU32(m, v)
		}
	}
	for i := range rows {
		left := s.vector(c)
		if pairs {
			c.VPBROADCASTQ(a.at(i), left)
		} else {
			c.VPBROADCASTD(a.at(i), left)
		}
		for j, v := range right {
			if !pairs {
				c.VPDPBUSD(v, left, sums[i][j])
				continue
			}
			two := s.vector(c)
			c.VPMADDWD(v, left, two)
			c.VPADDD(two, sums[i][j], sums[i][j])
		}
	}
	if pairs {
		a.advance(c, operand.Imm(8))
	} else {
		a.advance(c, operand.Imm(4))
	}
	c.ADDQ(operand.Imm(bytePanel), b)
	c.DECQ(k)
	c.JNZ(operand.LabelRef("step"))

	if pairs { // two sums of each column lie side by side
		for i := range sums {
			v := sums[i][0]
			c.VPHADDD(sums[i][1], v, v)
			c.VPERMQ(operand.Imm(0b11011000), v, v)
			sums[i] = sums[i][:1]
		}
	}
	rowC := parameter(c, "rowC")
	c.SHLQ(operand.Imm(2), rowC)
	to := rowPointers(c, parameter(c, "c"), rowC, rows)
	add := c.Load(c.Param("add"), c.GP8())
	c.TESTB(add, add)
	c.JZ(operand.LabelRef("store"))
	each := func(f func(m operand.Mem, v reg.VecVirtual)) {
		for i := range rows {
			for j, v := range sums[i] {
				m := to.at(i)
				m.Disp = j * s.bytes
				f(m, v)
			}
		}
	}
	each(func(m operand.Mem, v reg.VecVirtual) { c.VPADDD(m, v, v) })
	c.Label("store")
	each(func(m operand.Mem, v reg.VecVirtual) {
		if s == avx2 {
			c.VMOVDQU(v, m)
		} else {
			c.VMOVDQU32(v, m)
		}
	})
	c.VZEROUPPER()
	c.RET()
}

var dotProduct = regexp.MustCompile(`VPDPBUSD +Y(\d+), Y(\d+), Y(\d+)`)

// withoutAVX512 replaces VNNI on vectors of 32 bytes, of which Go's assembler knows the code of AVX-512
// alone, by the code that AVX-VNNI has.
func withoutAVX512(assembly []byte) []byte {
	assembly = bytes.ReplaceAll(assembly, []byte("AVX512VL, AVX512VNNI"), []byte("AVXVNNI"))
	return dotProduct.ReplaceAllFunc(assembly, func(instruction []byte) []byte {
		var r [3]int // signed bytes, unsigned bytes, sums
		for i, text := range dotProduct.FindSubmatch(instruction)[1:] {
			if r[i], _ = strconv.Atoi(string(text)); r[i] > 15 {
				log.Fatalf("AVX-VNNI has no register Y%d", r[i])
			}
		}
		code := []int{0xC4, 0xE2 ^ r[2]>>3<<7 ^ r[0]>>3<<5, 0x7D ^ r[1]<<3, 0x50, 0xC0 | r[2]&7<<3 | r[0]&7}
		var b bytes.Buffer
		for _, v := range code {
			fmt.Fprintf(&b, "BYTE $0x%02x; ", v)
		}
		fmt.Fprintf(&b, "// %s", instruction)
		return b.Bytes()
	})
}

// flipped loads the bits that packing flips in each byte.
func flipped(c *build.Context) reg.VecVirtual {
	low, flip := c.XMM(), c.YMM()
	c.VMOVQ(parameter(c, "flip"), low)
	c.VPBROADCASTQ(low, flip)
	return flip
}

// packByteRows writes the functions that pack a row of A, as bytes and as 16-bit integers.
func packByteRows(c *build.Context, s *set) {
	for _, wide := range []bool{false, true} {
		name, what := "packByteRow", "bytes"
		if wide {
			name, what = "packWideRow", "16-bit integers"
		}
		beginLoop(c, name+s.name, "(n int, to, x *byte, flip uint64) int",
			fmt.Sprintf("sets n %s from to on to the bytes from x on, with the bits of flip flipped,", what)+" and returns their sum.",
			"n is a multiple of 32, but not 0.")
		n, to, x, flip := parameter(c, "n"), parameter(c, "to"), parameter(c, "x"), flipped(c)
		sums, zero := c.YMM(), c.YMM()
		s.clear(c, sums)
		s.clear(c, zero)
		at := c.GP64()
		c.XORQ(at, at)
		c.Label("some")
		v, some := c.YMM(), c.YMM()
		c.VPXOR(operand.Mem{Base: x, Index: at, Scale: 1}, flip, v)
		c.VPSADBW(v, zero, some)
		c.VPADDQ(some, sums, sums)
		if wide {
			low, high, upper := c.YMM(), c.YMM(), c.XMM()
			c.VPMOVZXBW(v.AsX(), low)
			c.VEXTRACTI128(operand.Imm(1), v, upper)
			c.VPMOVZXBW(upper, high)
			c.VMOVDQU(low, operand.Mem{Base: to, Index: at, Scale: 2})
			c.VMOVDQU(high, operand.Mem{Base: to, Index: at, Scale: 2, Disp: 32})
		} else {
			c.VMOVDQU(v, operand.Mem{Base: to, Index: at, Scale: 1})
		}
		c.ADDQ(operand.Imm(32), at)
		c.CMPQ(at, n)
		c.JLT(operand.LabelRef("some"))
		upper, sum := c.XMM(), c.GP64()
		c.VEXTRACTI128(operand.Imm(1), sums, upper)
		c.VPADDQ(upper, sums.AsX(), sums.AsX())
		c.VPSRLDQ(operand.Imm(8), sums.AsX(), upper)
		c.VPADDQ(upper, sums.AsX(), sums.AsX())
		c.VMOVQ(sums.AsX(), sum)
		c.Store(sum, c.ReturnIndex(0))
		c.VZEROUPPER()
		c.RET()
	}
}

// columnSums adds up columns of packed bytes, in vectors of the sums of four columns each.
type columnSums struct {
	at          reg.GPVirtual
	ones, pairs reg.VecVirtual
	sums        []reg.VecVirtual
}

// newColumnSums loads the sums of 16 columns.
func newColumnSums(c *build.Context) columnSums {
	s := columnSums{at: parameter(c, "sums"), ones: c.XMM(), pairs: c.XMM()}
	c.VPCMPEQB(s.ones, s.ones, s.ones)
	c.VPABSB(s.ones, s.ones)
	c.VPCMPEQW(s.pairs, s.pairs, s.pairs)
	c.VPABSW(s.pairs, s.pairs)
	for i := range 4 {
		s.sums = append(s.sums, c.XMM())
		c.VMOVDQU(operand.Mem{Base: s.at, Disp: 16 * i}, s.sums[i])
	}
	return s
}

// add adds four bytes of each of four columns.
func (s columnSums) add(c *build.Context, four int, v reg.VecVirtual) {
	sum := c.XMM()
	c.VPMADDUBSW(v, s.ones, sum)
	c.VPMADDWD(s.pairs, sum, sum)
	c.VPADDD(sum, s.sums[four], s.sums[four])
}

func (s columnSums) store(c *build.Context) {
	for i, v := range s.sums {
		c.VMOVDQU(v, operand.Mem{Base: s.at, Disp: 16 * i})
	}
}

// packByteColumns writes the functions that pack 16 columns of B, where columns lie beside each
// other and where their elements do.
func packByteColumns(c *build.Context, s *set) {
	const result = "of each four rows, the four elements of a column lie together. " +
		"It adds the elements of each column to sums. k is at least 1."
	beginLoop(c, "packByteColumns"+s.name, "(k int, to, b *byte, step int, flip uint64, sums *int32)",
		"packs 4·k rows of 16 columns, rows step bytes apart from b on, with the bits of flip flipped:", result)
	k, to, b, step, flip := parameter(c, "k"), parameter(c, "to"), parameter(c, "b"), parameter(c, "step"), flipped(c)
	sums := newColumnSums(c)
	c.Label("step")
	rows := make([]reg.VecVirtual, 4)
	for i := range rows {
		rows[i] = c.XMM()
		c.VMOVDQU(operand.Mem{Base: b}, rows[i])
		c.ADDQ(step, b)
	}
	halves := make([]reg.VecVirtual, 4) // columns 0 to 7 of two rows each, and 8 to 15
	for i, unpack := range []func(ops ...operand.Op){c.VPUNPCKLBW, c.VPUNPCKLBW, c.VPUNPCKHBW, c.VPUNPCKHBW} {
		halves[i] = c.XMM()
		unpack(rows[i%2*2+1], rows[i%2*2], halves[i])
	}
	for i, unpack := range []func(ops ...operand.Op){c.VPUNPCKLWD, c.VPUNPCKHWD, c.VPUNPCKLWD, c.VPUNPCKHWD} {
		v := c.XMM()
		unpack(halves[i/2*2+1], halves[i/2*2], v)
		c.VPXOR(flip.AsX(), v, v)
		c.VMOVDQU(v, operand.Mem{Base: to, Disp: 16 * i})
		sums.add(c, i, v)
	}
	c.ADDQ(operand.Imm(bytePanel), to)
	c.DECQ(k)
	c.JNZ(operand.LabelRef("step"))
	sums.store(c)
	c.VZEROUPPER()
	c.RET()

	beginLoop(c, "packByteTransposed"+s.name, "(k int, to, b *byte, column int, flip uint64, sums *int32)",
		"packs 16·k rows of 16 columns, columns column bytes apart from b on, with the bits of flip flipped:", result)
	k, to, b, flip = parameter(c, "k"), parameter(c, "to"), parameter(c, "b"), flipped(c)
	distance := parameter(c, "column")
	columns := rowPointers(c, b, distance, 16)
	sums = newColumnSums(c)
	c.Label("step")
	for four := range 4 {
		var in, pairs [4]reg.VecVirtual
		for i := range in {
			in[i], pairs[i] = c.XMM(), c.XMM()
			c.VPXOR(columns.at(4*four+i), flip.AsX(), in[i])
		}
		for i, unpack := range []func(ops ...operand.Op){c.VPUNPCKLDQ, c.VPUNPCKLDQ, c.VPUNPCKHDQ, c.VPUNPCKHDQ} {
			unpack(in[i%2*2+1], in[i%2*2], pairs[i])
		}
		for i, unpack := range []func(ops ...operand.Op){c.VPUNPCKLQDQ, c.VPUNPCKHQDQ, c.VPUNPCKLQDQ, c.VPUNPCKHQDQ} {
			v := c.XMM()
			unpack(pairs[i/2*2+1], pairs[i/2*2], v)
			c.VMOVDQU(v, operand.Mem{Base: to, Disp: bytePanel*i + 16*four})
			sums.add(c, four, v)
		}
	}
	columns.advance(c, operand.Imm(16))
	c.ADDQ(operand.U32(4*bytePanel), to)
	c.DECQ(k)
	c.JNZ(operand.LabelRef("step"))
	sums.store(c)
	c.VZEROUPPER()
	c.RET()
}

// correctBytes writes the loop that corrects a product by the sums of its operands.
func correctBytes(c *build.Context, s *set) {
	beginLoop(c, "correctBytes"+s.name, "(rows, n int, c *int32, rowC int, p, q, u, v *int32)",
		"adds p[i]·u[j] + q[i]·v[j] to element (i, j) of C [rows, n], which is i·rowC + j behind c.",
		"n is a multiple of 8; neither is 0.")
	rows, n, to, rowC := parameter(c, "rows"), parameter(c, "n"), parameter(c, "c"), parameter(c, "rowC")
	p, q, u, v := parameter(c, "p"), parameter(c, "q"), parameter(c, "u"), parameter(c, "v")
	c.SHLQ(operand.Imm(2), rowC)
	c.Label("row")
	byRow, bySum, at := c.YMM(), c.YMM(), c.GP64()
	c.VPBROADCASTD(operand.Mem{Base: p}, byRow)
	c.VPBROADCASTD(operand.Mem{Base: q}, bySum)
	c.XORQ(at, at)
	c.Label("some")
	some, more := c.YMM(), c.YMM()
	c.VPMULLD(operand.Mem{Base: u, Index: at, Scale: 4}, byRow, some)
	c.VPMULLD(operand.Mem{Base: v, Index: at, Scale: 4}, bySum, more)
	c.VPADDD(more, some, some)
	m := operand.Mem{Base: to, Index: at, Scale: 4}
	c.VPADDD(m, some, some)
	c.VMOVDQU(some, m)
	c.ADDQ(operand.Imm(8), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("some"))
	c.ADDQ(rowC, to)
	c.ADDQ(operand.Imm(4), p)
	c.ADDQ(operand.Imm(4), q)
	c.DECQ(rows)
	c.JNZ(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}
