package main

import (
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is how many sums a reduction has beside each other, whatever the width of vectors: element
// i is added to sum i % lanes.
const lanes = 32

// reduction is what a loop makes of all elements: join adds a vector of elements, and in the end
// sums, to sums.
type reduction struct {
	name, doc string
	operands  int
	start     float64 // which changes nothing
	join      func(k *code, sum value, x []value) value
	sums      func(k *code, a, b value) value
	less      bool // of the differences of elements and a number, which it stores
}

func plus(k *code, a, b value) value { return k.add(a, b) }

// folded is a reduction that joins elements as it joins sums.
func folded(name, doc string, start float64, join func(k *code, a, b value) value) reduction {
	first := func(k *code, sum value, x []value) value { return join(k, sum, x[0]) }
	return reduction{name, doc, 1, start, first, join, false}
}

var reductions = []reduction{
	folded("Sum", "the sum of x", 0, plus),
	{"Dot", "the sum of x times y", 2, 0,
		func(k *code, sum value, x []value) value { return k.fma(x[0], x[1], sum) }, plus, false},
	{"MaxNumber", "the largest element of x that is a number, −∞ if there is none", 1, math.Inf(-1),
		func(k *code, sum value, x []value) value { return k.most(x[0], sum) },
		func(k *code, a, b value) value { return k.most(a, b) }, false},
	folded("Product", "the product of x", 1, func(k *code, a, b value) value { return k.mul(a, b) }),
	folded("Max", "the greatest element of x, NaN if one is", math.Inf(-1), func(k *code, a, b value) value { return k.max(a, b) }),
	folded("Min", "the least element of x, NaN if one is", math.Inf(1), func(k *code, a, b value) value { return k.min(a, b) }),
}

// differences are reductions of the differences of elements and a number, in one loop with these.
var differences = []reduction{
	{"SubSum", "the sum of x − by", 1, 0,
		func(k *code, sum value, x []value) value { return k.add(sum, x[0]) }, plus, true},
	{"SubSquares", "the sum of squares of x − by", 1, 0,
		func(k *code, sum value, x []value) value { return k.fma(x[0], x[0], sum) }, plus, true},
}

// reduce writes a loop for each reduction, the maps whose second operand is one number, and the sums
// of taps.
func reduce(c *build.Context, s *set, r float) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}, prefix: "row"}
	for _, f := range append(reductions, differences...) {
		k.reduction(f)
	}
	for _, f := range functions {
		for _, name := range scaled {
			if f.name == name {
				k.scaled(f)
			}
		}
	}
	k.taps()
	k.deviations(false)
	k.deviations(true)
	k.scaledFMA()
	k.normGradSums()
	k.normGrad()
}

// scaled are the functions whose second operand may be one number.
var scaled = []string{"Add", "Sub", "Mul", "Div"}

func (k *code) reduction(f reduction) {
	c, wide := k.c, k.s.bytes/k.r.size
	name := "row" + f.name + k.r.name + k.s.name
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	doc, signature := name+" returns "+f.doc+", n elements from there on.", "func(n int, x, y *T) T"
	if f.less {
		doc = name + " returns " + f.doc + ", n elements from there on, and stores x − by from to on."
		signature = "func(n int, to, x *T, by T) T"
	}
	c.Doc(doc)
	c.SignatureExpr(strings.ReplaceAll(signature, "T", k.r.goType()))
	n := c.Load(c.Param("n"), c.GP64())
	var from []reg.Register
	for _, p := range []string{"x", "y"}[:f.operands] {
		from = append(from, c.Load(c.Param(p), c.GP64()))
	}
	var to reg.Register
	var by value
	pointers := from
	if f.less {
		to, by = c.Load(c.Param("to"), c.GP64()), k.parameter("by")
		pointers = append(pointers, to)
	}
	sums := make([]value, lanes/wide)
	for i := range sums {
		sums[i] = k.load(k.number(f.start))
	}
	join := func(load func(m operand.Mem, i int) value) {
		for i, sum := range sums {
			var x []value
			for _, p := range from {
				x = append(x, load(operand.Mem{Base: p, Disp: i * k.s.bytes}, i))
			}
			k.pick(c.VMOVUPS, c.VMOVUPD)(f.join(k, sum, x), sum)
		}
	}
	c.SUBQ(operand.Imm(lanes), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	join(func(m operand.Mem, _ int) value {
		v := k.load(m)
		if f.less {
			v = k.sub(v, by)
			m.Base = to
			k.pick(c.VMOVUPS, c.VMOVUPD)(v, m)
		}
		return v
	})
	for _, p := range pointers {
		c.ADDQ(operand.U32(lanes*k.r.size), p)
	}
	c.SUBQ(operand.Imm(lanes), n)
	c.JGE(operand.LabelRef("whole"))
	c.Label("rest")
	c.ADDQ(operand.Imm(lanes), n)
	c.JZ(operand.LabelRef("done"))
	masks := k.masks(n)
	join(func(m operand.Mem, i int) value {
		v := k.loadSome(masks(i), m)
		switch {
		case f.less:
			v = k.choose(masks(i), k.sub(v, by), k.load(k.number(0)))
			m.Base = to
			k.storeSome(masks(i), v, m)
		case f.start != 0:
			v = k.choose(masks(i), v, k.load(k.number(f.start)))
		}
		return v
	})
	c.Label("done")
	for len(sums) > 1 {
		half := len(sums) / 2
		for i := range half {
			sums[i] = f.sums(k, sums[i], sums[i+half])
		}
		sums = sums[:half]
	}
	k.fold(sums[0], f)
	c.VZEROUPPER()
	c.RET()
}

// masks returns those of the vectors that begin 0, 1, 2 … vectors from here on, of which the first
// n elements are there: fewer than lanes.
func (k *code) masks(n reg.Register) func(i int) mask {
	c, wide := k.c, k.s.bytes/k.r.size
	if k.s == avx512 {
		bits := c.GP64()
		c.MOVQ(n, reg.RCX)
		c.MOVQ(operand.U32(1), bits)
		c.SHLQ(reg.CL, bits)
		c.DECQ(bits)
		return func(i int) mask {
			part := c.GP64()
			c.MOVQ(bits, part)
			if i > 0 {
				c.SHRQ(operand.Imm(uint64(i*wide)), part)
			}
			m := c.K()
			c.KMOVW(part.As32(), m)
			return m
		}
	}
	base, back := c.GP64(), c.GP64()
	c.LEAQ(k.longEnds(), base)
	c.MOVQ(n, back)
	c.NEGQ(back)
	return func(i int) mask {
		m := k.new()
		c.VMOVUPS(operand.Mem{Base: base, Index: back, Scale: uint8(k.r.size), Disp: lanes*k.r.size + i*k.s.bytes}, m)
		return m
	}
}

// longEnds is set bits for as many elements as there are lanes, and as many zeros.
func (k *code) longEnds() operand.Mem {
	const key = 1<<64 - 2 // of no constant that occurs
	if m, ok := k.constants[key]; ok {
		return m
	}
	m := k.c.StaticGlobal(k.prefix + k.r.name + k.s.name + "lanes")
	k.c.DataAttributes(attr.RODATA | attr.NOPTR)
	words := lanes * k.r.size / 8
	for i := range 2 * words {
		v := ^uint64(0)
		if i >= words {
			v = 0
		}
		k.c.AppendDatum(operand.U64(v))
	}
	k.constants[key] = m
	return m
}

// fold returns what the elements of v make, by halves.
func (k *code) fold(v value, f reduction) {
	c := k.c
	low := v
	if k.s == avx512 {
		half := c.YMM()
		c.VEXTRACTF64X4(operand.Imm(1), v, half)
		low = k.narrow(f, v.AsY(), half)
	}
	half := c.XMM()
	c.VEXTRACTF128(operand.Imm(1), low.AsY(), half)
	low = k.narrow(f, low.AsX(), half)
	for lanes := 16 / k.r.size; lanes > 1; lanes /= 2 {
		other := c.XMM()
		if lanes == 4 || k.r.size == 8 {
			c.VPERMILPD(operand.Imm(1), low.AsX(), other)
		} else {
			c.VPERMILPS(operand.Imm(1), low.AsX(), other)
		}
		low = k.narrow(f, low.AsX(), other)
	}
	c.Store(low.AsX(), c.ReturnIndex(0))
}

// narrow joins two halves, in registers of their width.
func (k *code) narrow(f reduction, a reg.Register, b value) value {
	s := *k.s
	s.vector = func(c *build.Context) reg.VecVirtual {
		if b.Size() == 32 {
			return c.YMM()
		}
		return c.XMM()
	}
	n := *k
	n.s = &s
	v := n.new()
	n.pick(n.c.VMOVUPS, n.c.VMOVUPD)(a, v)
	return f.sums(&n, v, b)
}

// scaled writes the loop of a function whose second operand is a number.
func (k *code) scaled(f function) {
	name := "row" + f.name + "By"
	k.function(name, "sets n elements from to on to "+f.name+" of those from x on and by. They may be the same.",
		"func(n int, to, x *T, by T)")
	at, place := k.arguments("to", "x")
	by := k.parameter("by")
	k.elements(place, func(load loads, store stores) { store(f.of(k, []value{load(at[1]), by}), at[0]) })
}

// parameter returns a number that is an argument, for all lanes.
func (k *code) parameter(name string) value {
	addr, err := k.c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return k.all(addr.Addr)
}
