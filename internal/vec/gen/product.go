package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// products writes the blocks of a product: for each height, two vectors wide, one, and half of one.
func products(c *build.Context, s *set, r float) {
	for _, rows := range s.heights {
		for _, wide := range []int{2, 1} {
			block(c, s, r, rows, wide)
		}
		block(c, s.half(), r, rows, 1)
	}
}

// block writes the function that computes rows by wide vectors of C. All of it stays in registers
// while the sum goes over k; of each step it reads wide vectors of B once, and each element of A
// once.
func block(c *build.Context, s *set, r float, rows, wide int) {
	name := fmt.Sprintf("product%s%sx%dx%d", r.name, s.name, rows, wide*s.bytes/r.size)
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets C [%d, %d] to A·B, or adds it to C. Element (i, k) of A is i·rowA + k·stepA behind a, element", name, rows, wide*s.bytes/r.size),
		"(k, j) of B is k·stepB + j behind b, element (i, j) of C is i·rowC + j behind c. k is at least 1.")
	c.SignatureExpr(strings.ReplaceAll("func(k int, a *T, rowA, stepA int, b *T, stepB int, c *T, rowC int, add bool)", "T", r.goType()))
	in := r.on(c, s)

	k := c.Load(c.Param("k"), c.GP64())
	a := pointers(c, r, "a", "rowA", rows)
	stepA, b, stepB := inBytes(c, r, "stepA"), c.Load(c.Param("b"), c.GP64()), inBytes(c, r, "stepB")

	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range wide {
			v := s.vector(c)
			s.clear(c, v)
			sums[i] = append(sums[i], v)
		}
	}
	right := make([]reg.VecVirtual, wide)
	for j := range right {
		right[j] = s.vector(c)
	}
	c.Label("step")
	for j, v := range right {
		in.load(operand.Mem{Base: b, Disp: j * s.bytes}, v)
	}
	for i := range rows {
		if s.broadcast && wide == 1 {
			in.fmaFromOne(a.at(i), right[0], sums[i][0])
			continue
		}
		left := s.vector(c)
		in.broadcast(a.at(i), left)
		for j := range right {
			in.fma(right[j], left, sums[i][j])
		}
	}
	a.advance(c, stepA)
	c.ADDQ(stepB, b)
	c.DECQ(k)
	c.JNZ(operand.LabelRef("step"))

	to := pointers(c, r, "c", "rowC", rows)
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
	each(func(m operand.Mem, v reg.VecVirtual) { in.add(m, v, v) })
	c.Label("store")
	each(func(m operand.Mem, v reg.VecVirtual) { in.load(v, m) })
	c.VZEROUPPER()
	c.RET()
}

// rows are pointers to every third row of a matrix, and the distance of two rows in bytes: an
// address may add it once or twice.
type rows struct {
	every []reg.GPVirtual
	row   reg.Register
}

func pointers(c *build.Context, r float, base, row string, n int) rows {
	distance := inBytes(c, r, row)
	return rowPointers(c, c.Load(c.Param(base), c.GP64()).(reg.GPVirtual), distance, n)
}

// rowPointers returns pointers to n rows from first on, which are row bytes apart.
func rowPointers(c *build.Context, first reg.GPVirtual, row reg.Register, n int) rows {
	p := rows{row: row}
	for i := 0; i < n; i += 3 {
		if i > 0 {
			next := c.GP64()
			c.LEAQ(operand.Mem{Base: first, Index: p.row, Scale: 2}, next)
			c.ADDQ(p.row, next)
			first = next
		}
		p.every = append(p.every, first)
	}
	return p
}

func (p rows) at(i int) operand.Mem {
	m := operand.Mem{Base: p.every[i/3]}
	if i%3 > 0 {
		m.Index, m.Scale = p.row, uint8(i%3)
	}
	return m
}

func (p rows) advance(c *build.Context, by operand.Op) {
	for _, r := range p.every {
		c.ADDQ(by, r)
	}
}

// inBytes loads a parameter that counts elements, as bytes.
func inBytes(c *build.Context, r float, name string) reg.Register {
	v := c.Load(c.Param(name), c.GP64())
	c.SHLQ(operand.Imm(map[int]uint64{2: 1, 4: 2, 8: 3}[r.size]), v)
	return v
}
