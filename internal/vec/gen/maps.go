package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maps writes a loop for each function.
func maps(c *build.Context, s *set, r real) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}}
	for _, f := range allFunctions() {
		if r == single || f.double {
			k.loop(f, vectors(f, s, r))
		}
	}
}

func (f function) in(s *set, r real) string { return "map" + f.name + r.name + s.name }

// loop writes the function that computes f of n elements, of some vectors at a time. The vectors at the end, of which the
// last may not be whole, are loaded and stored behind a mask: what an element becomes does not depend on where it lies.
func (k *code) loop(f function, vectors int) {
	c, wide := k.c, k.s.bytes/k.r.size
	c.Function(f.in(k.s, k.r))
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	names := []string{"x0", "x1", "x2", "x3"}
	c.Doc(fmt.Sprintf("%s sets n elements from to on to %s of those from %s on. They may be the same.", f.in(k.s, k.r), f.name,
		strings.Join(names[:f.operands], ", ")))
	c.SignatureExpr(strings.ReplaceAll("func(n int, to, x0, x1, x2, x3 *T)", "T", k.r.goType()))
	n := c.Load(c.Param("n"), c.GP64())
	to := c.Load(c.Param("to"), c.GP64())
	var from []reg.Register
	for _, name := range names[:f.operands] {
		from = append(from, c.Load(c.Param(name), c.GP64()))
	}
	at := c.GP64()
	c.XORQ(at, at)
	c.SUBQ(operand.Imm(uint64(vectors*wide)), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("whole")
	in := make([]value, f.operands)
	for v := range vectors {
		c.Comment(nextVector)
		for i, p := range from {
			in[i] = k.load(operand.Mem{Base: p, Index: at, Scale: 1, Disp: v * k.s.bytes})
		}
		k.pick(c.VMOVUPS, c.VMOVUPD)(f.of(k, in), operand.Mem{Base: to, Index: at, Scale: 1, Disp: v * k.s.bytes})
	}
	c.Comment(lastVector)
	c.ADDQ(operand.Imm(uint64(vectors*k.s.bytes)), at)
	c.SUBQ(operand.Imm(uint64(vectors*wide)), n)
	c.JGE(operand.LabelRef("whole"))
	c.Label("rest")
	c.ADDQ(operand.Imm(uint64(vectors*wide)), n)
	c.JZ(operand.LabelRef("done"))
	some := n
	if vectors > 1 {
		c.Label("next")
		some = c.GP64()
		c.MOVQ(operand.U32(uint32(wide)), some)
		c.CMPQ(n, some)
		c.CMOVQLT(n, some)
	}
	first := k.first(some)
	for i, p := range from {
		in[i] = k.loadSome(first, operand.Mem{Base: p, Index: at, Scale: 1})
	}
	k.storeSome(first, f.of(k, in), operand.Mem{Base: to, Index: at, Scale: 1})
	if vectors > 1 {
		c.ADDQ(operand.Imm(uint64(k.s.bytes)), at)
		c.SUBQ(operand.Imm(uint64(wide)), n)
		c.JG(operand.LabelRef("next"))
	}
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// first is a mask of the first n elements, of fewer than a vector has.
func (k *code) first(n reg.Register) mask {
	if k.s == avx512 {
		bits := k.c.GP32()
		k.c.MOVQ(n, reg.RCX)
		k.c.MOVL(operand.U32(1), bits)
		k.c.SHLL(reg.CL, bits)
		k.c.DECL(bits)
		m := k.c.K()
		k.c.KMOVW(bits, m)
		return m
	}
	base := k.c.GP64()
	k.c.LEAQ(k.ends(), base)
	back := k.c.GP64()
	k.c.MOVQ(n, back)
	k.c.NEGQ(back)
	m := k.new()
	k.c.VMOVUPS(operand.Mem{Base: base, Index: back, Scale: uint8(k.r.size), Disp: k.s.bytes}, m)
	return m
}

// ends is a vector of set bits and one of zeros: from n elements before their border on lies a mask of n.
func (k *code) ends() operand.Mem {
	const key = 1<<64 - 1 // of no constant that occurs
	if m, ok := k.constants[key]; ok {
		return m
	}
	m := k.c.StaticGlobal(k.prefix + k.r.name + k.s.name + "ends")
	k.c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 * k.s.bytes / 8 {
		v := ^uint64(0)
		if i >= k.s.bytes/8 {
			v = 0
		}
		k.c.AppendDatum(operand.U64(v))
	}
	k.constants[key] = m
	return m
}

func (k *code) loadSome(m mask, from operand.Mem) value {
	v := k.new()
	switch {
	case k.s == avx512 && k.r.size == 4:
		k.c.VMOVUPS_Z(from, m, v)
	case k.s == avx512:
		k.c.VMOVUPD_Z(from, m, v)
	case k.r.size == 4:
		k.c.VMASKMOVPS(from, m, v)
	default:
		k.c.VMASKMOVPD(from, m, v)
	}
	return v
}

func (k *code) storeSome(m mask, v value, to operand.Mem) {
	switch {
	case k.s == avx512:
		k.pick(k.c.VMOVUPS, k.c.VMOVUPD)(v, m, to)
	case k.r.size == 4:
		k.c.VMASKMOVPS(v, m, to)
	default:
		k.c.VMASKMOVPD(v, m, to)
	}
}

// tables writes the Go file that names the functions, and lists the loops of each set.
func tables() []byte {
	var t strings.Builder
	t.WriteString(generated + "\npackage vec\n\n// The functions that there may be loops of.\nconst (\n\tNone Function = iota\n")
	for _, f := range allFunctions() {
		fmt.Fprintf(&t, "\t%s\n", f.name)
	}
	t.WriteString("\tfunctions\n)\n\n// Formulas has the functions that are made of others.\nvar Formulas = []Formula{\n")
	for _, f := range formulas {
		t.WriteString(f.table())
	}
	t.WriteString("}\n")
	return []byte(t.String())
}

// tablesOn lists the loops of sets.
func tablesOn(sets []*set) []byte {
	var t strings.Builder
	t.WriteString(generated + "\npackage vec\n")
	for _, s := range sets {
		for _, r := range []real{single, double} {
			fmt.Fprintf(&t, "\nvar maps%s%s = [functions]loop[%s]{\n", r.name, s.name, r.goType())
			for _, f := range allFunctions() {
				if r == single || f.double {
					fmt.Fprintf(&t, "\t%s: %s,\n", f.name, f.in(s, r))
				}
			}
			t.WriteString("}\n")
			fmt.Fprintf(&t, "\nvar rows%s%s = rows[%s]{", r.name, s.name, r.goType())
			for _, f := range reductions {
				fmt.Fprintf(&t, "row%s%s%s, ", f.name, r.name, s.name)
			}
			fmt.Fprintf(&t, "[functions]scaled[%s]{\n", r.goType())
			for _, name := range scaled {
				fmt.Fprintf(&t, "\t%s: row%sBy%s%s,\n", name, name, r.name, s.name)
			}
			t.WriteString("}}\n")
		}
	}
	return []byte(t.String())
}
