package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tallest is the most columns of a tall block.
const tallest = 4

// tallVectors is how many vectors a tall block has, by the number of its columns: as many sums as
// the additions that are under way at a time, or as registers hold.
var tallVectors = []int{8, 4, 2, 2}

// tallBlocks writes the blocks of products of few columns, whose vectors go down the rows of C: for
// A whose columns lie in memory as vectors do, and for one that is transposed on its way into the
// registers.
func tallBlocks(c *build.Context, s *set, r float) {
	for columns := 1; columns <= tallest; columns++ {
		for _, transpose := range []bool{false, true} {
			t := &tall{code: &code{c: c, s: s, r: r}, columns: columns, vectors: tallVectors[columns-1]}
			if transpose {
				t.vectors = []int{2, 2, 2, 1}[columns-1]
			}
			t.write(transpose)
		}
	}
}

// tall is such a block while it is written.
type tall struct {
	*code
	columns, vectors int
	sums             [][]value // of a column, and of a vector
	b                []reg.GPVirtual
	stepB, columnB   reg.Register
}

func (t *tall) write(transpose bool) {
	c, r := t.c, t.r
	lanes := t.s.bytes / r.size
	rows := t.vectors * lanes
	name, where := fmt.Sprintf("tall%s%sx%dx%d", r.name, t.s.name, rows, t.columns), "i + k·distance"
	if transpose {
		name, where = name+"Transposed", "i·distance + k"
	}
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	least := 1
	if transpose {
		least = lanes / 2
	}
	c.Doc(fmt.Sprintf("%s sets C [%d, %d] to A·B. Element (i, k) of A is %s behind a, element (k, j) of B is k·stepB + j·columnB", name, rows, t.columns, where),
		fmt.Sprintf("behind b, element (i, j) of C is i + j·%d behind c. k is at least %d.", rows, least))
	c.SignatureExpr(strings.ReplaceAll("func(k int, a *T, distance int, b *T, stepB, columnB int, c *T)", "T", r.goType()))
	k := c.Load(c.Param("k"), c.GP64())
	var a fours
	if transpose {
		a = foursOf(c, r, "a", "distance", rows)
	} else {
		a = fours{every: []reg.GPVirtual{c.Load(c.Param("a"), c.GP64()).(reg.GPVirtual)}, row: inBytes(c, r, "distance")}
	}
	t.stepB, t.columnB = inBytes(c, r, "stepB"), inBytes(c, r, "columnB")
	t.b = []reg.GPVirtual{c.Load(c.Param("b"), c.GP64()).(reg.GPVirtual)}
	if t.columns > 3 { // an address adds a column once or twice
		third := c.GP64()
		c.LEAQ(operand.Mem{Base: t.b[0], Index: t.columnB, Scale: 2}, third)
		t.b = append(t.b, third)
	}
	t.sums = make([][]value, t.columns)
	for j := range t.sums {
		for range t.vectors {
			v := t.new()
			t.s.clear(c, v)
			t.sums[j] = append(t.sums[j], v)
		}
	}
	if transpose {
		t.transposedSteps(k, a)
	} else {
		c.Label("step")
		left := make([]value, t.vectors)
		for v := range left {
			left[v] = t.load(operand.Mem{Base: a.every[0], Disp: v * t.s.bytes})
		}
		t.step(left)
		c.ADDQ(a.row, a.every[0])
		c.DECQ(k)
		c.JNZ(operand.LabelRef("step"))
	}
	to := c.Load(c.Param("c"), c.GP64())
	for j := range t.sums {
		for v, sum := range t.sums[j] {
			t.pick(c.VMOVUPS, c.VMOVUPD)(sum, operand.Mem{Base: to, Disp: (j*t.vectors + v) * t.s.bytes})
		}
	}
	c.VZEROUPPER()
	c.RET()
}

// step adds the products of a column of A and of a row of B, and continues to the next row.
func (t *tall) step(left []value) {
	for j := range t.sums {
		m := operand.Mem{Base: t.b[j/3]}
		if j == 3 {
			m.Index, m.Scale = t.columnB, 1
		} else if j > 0 {
			m.Index, m.Scale = t.columnB, uint8(j)
		}
		right := t.all(m)
		for v := range left {
			t.pick(t.c.VFMADD231PS, t.c.VFMADD231PD)(right, left[v], t.sums[j][v])
		}
	}
	for _, p := range t.b {
		t.c.ADDQ(t.stepB, p)
	}
}

// transposedSteps goes over k some steps at a time. The last ones, if they are fewer, are read with
// those before, which are skipped.
func (t *tall) transposedSteps(k reg.Register, a fours) {
	c, lanes := t.c, t.s.bytes/t.r.size
	some := lanes / 2
	columns := func() [][]value {
		left := make([][]value, some)
		for v := range t.vectors {
			for i, column := range t.transposed(func(i int) operand.Mem { return a.at(v*lanes + i) }) {
				left[i] = append(left[i], column)
			}
		}
		return left
	}
	c.SUBQ(operand.Imm(uint64(some)), k)
	c.Label("some")
	for _, left := range columns() {
		t.step(left)
	}
	for _, p := range a.every {
		c.ADDQ(operand.Imm(16), p)
	}
	c.SUBQ(operand.Imm(uint64(some)), k)
	c.JGE(operand.LabelRef("some"))
	c.ADDQ(operand.Imm(uint64(some)), k)
	c.JZ(operand.LabelRef("done"))
	back := c.GP64()
	c.LEAQ(operand.Mem{Base: k, Disp: -some}, back)
	for _, p := range a.every {
		c.LEAQ(operand.Mem{Base: p, Index: back, Scale: uint8(t.r.size)}, p)
	}
	for i, left := range columns() {
		if i == 0 {
			for rest := 1; rest < some-1; rest++ {
				c.CMPQ(k, operand.Imm(uint64(rest)))
				c.JEQ(operand.LabelRef(fmt.Sprint("last", rest)))
			}
			continue
		}
		c.Label(fmt.Sprint("last", some-i))
		t.step(left)
	}
	c.Label("done")
}
