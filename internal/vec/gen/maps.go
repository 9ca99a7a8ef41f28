package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maps writes a loop for each function. They are no functions of Go: entry writes the one that
// calls them.
func maps(c *build.Context, s *set, r float) {
	k := &code{c: c, s: s, r: r, constants: map[uint64]operand.Mem{}}
	for _, f := range allFunctions() {
		if r == single || f.double {
			k.loop(f, s.unit()/s.bytes)
		}
	}
}

func (f function) in(s *set, r float) string { return "map" + f.name + r.name + s.name }

// loop writes the loop that computes f of some vectors at a time. AX is the number of elements, a
// multiple of the set's unit and not 0; CX points to results, DX, SI, DI and R8 to operands, and BX
// is how many bytes behind the elements are.
func (k *code) loop(f function, vectors int) {
	c := k.c
	c.Function(f.in(k.s, k.r))
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func()")
	c.Label("whole")
	in := make([]value, f.operands)
	for v := range vectors {
		c.Comment(nextVector)
		load, store := k.load, k.pick(c.VMOVUPS, c.VMOVUPD)
		if k.s == avx512 {
			m := []reg.Register{reg.K1, reg.K2}[v]
			load = func(from operand.Op) value { return k.loadSome(m, from.(operand.Mem)) }
			store = func(o ...operand.Op) { k.storeSome(m, o[0].(value), o[1].(operand.Mem)) }
		}
		for i, p := range []reg.Register{reg.RDX, reg.RSI, reg.RDI, reg.R8}[:f.operands] {
			in[i] = load(operand.Mem{Base: p, Index: reg.RBX, Scale: 1, Disp: v * k.s.bytes})
		}
		store(f.of(k, in), operand.Mem{Base: reg.RCX, Index: reg.RBX, Scale: 1, Disp: v * k.s.bytes})
	}
	c.Comment(lastVector)
	c.ADDQ(operand.Imm(uint64(vectors*k.s.bytes)), reg.RBX)
	c.SUBQ(operand.Imm(uint64(vectors*k.s.bytes/k.r.size)), reg.RAX)
	c.JNE(operand.LabelRef("whole"))
	c.RET()
}

// exported is a name of a function that Go could call.
var exported = regexp.MustCompile(`(?m)^(// func \w+\(\)\n)?((?:// Requires.*\n)?)TEXT ·(\w+)\(SB\)`)

// local returns assembly whose functions are none of Go: only this file knows their names.
func local(assembly []byte) []byte {
	return exported.ReplaceAll(assembly, []byte("${2}TEXT $3<>(SB)"))
}

// entry returns the function that computes any function of n elements by its loop, as assembly and
// as declaration. The last elements, fewer than the unit, pass through vectors on the stack: what
// an element becomes does not depend on where it lies.
func entry(s *set, r float) (assembly, stub string) {
	var a strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&a, "\t"+format+"\n", args...) }
	name, unit := "map"+r.name+s.name, s.unit()/r.size
	signature := strings.ReplaceAll("(f Function, n int, to, x0, x1, x2, x3 *T)", "T", r.goType())
	table := tableOf(&a, s, r)
	frame := 0
	if s == avx2 {
		frame = 4 * s.bytes
	}
	fmt.Fprintf(&a, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-56\n", name, signature, name, frame)
	p("MOVBQZX f+0(FP), R9")
	p("LEAQ    %s<>(SB), R10", table)
	p("MOVQ    (R10)(R9*8), R9")
	p("MOVQ    n+8(FP), AX")
	p("MOVQ    to+16(FP), CX")
	for i, x := range []string{"DX", "SI", "DI", "R8"} {
		p("MOVQ    x%d+%d(FP), %s", i, 24+8*i, x)
	}
	p("XORQ    BX, BX")
	p("MOVQ    AX, R11")
	p("ANDQ    $%d, R11", unit-1)
	p("SUBQ    R11, AX")
	p("JZ      rest")
	if s == avx512 {
		p("KXNORW  K1, K1, K1")
		p("KXNORW  K2, K2, K2")
	}
	p("CALL    R9")
	a.WriteString("\nrest:\n")
	p("TESTQ   R11, R11")
	p("JZ      done")
	if s == avx512 {
		maskedRest(p, unit)
	} else {
		stackedRest(p, r, table)
	}
	a.WriteString("\ndone:\n")
	p("VZEROUPPER")
	p("RET")
	if s == avx2 {
		a.WriteString("\n// Set bits, and zeros: from n elements before their border on lies a mask of n.\n")
		for i, v := range []string{"$-1", "$0"} {
			for j := range 4 {
				fmt.Fprintf(&a, "DATA %sends<>+%d(SB)/8, %s\n", table, 32*i+8*j, v)
			}
		}
		fmt.Fprintf(&a, "GLOBL %sends<>(SB), RODATA|NOPTR, $64\n", table)
	}
	return a.String(), fmt.Sprintf("\n// %s sets n elements from to on to f of those from x0 on, and so on. They may be the same.\n//\n//go:noescape\nfunc %s%s\n", name, name, signature)
}

// maskedRest computes the last elements behind masks, which all loops of AVX-512 have.
func maskedRest(p func(format string, args ...any), unit int) {
	p("MOVQ    CX, R12")
	p("MOVQ    R11, CX")
	p("MOVL    $1, R10")
	p("SHLQ    CX, R10")
	p("DECQ    R10")
	p("KMOVW   R10, K1")
	p("SHRQ    $%d, R10", unit/2)
	p("KMOVW   R10, K2")
	p("MOVQ    R12, CX")
	p("MOVQ    $%d, AX", unit)
	p("CALL    R9")
}

// stackedRest computes the last elements in vectors on the stack: AVX2 takes long to store behind a
// mask.
func stackedRest(p func(format string, args ...any), r float, table string) {
	masked := map[int]string{4: "VMASKMOVPS", 8: "VMASKMOVPD"}[r.size]
	mask := func() {
		p("LEAQ    %sends<>(SB), R10", table)
		p("MOVQ    R11, R13")
		p("NEGQ    R13")
		p("VMOVUPS 32(R10)(R13*%d), Y0", r.size)
	}
	p("LEAQ    (CX)(BX*1), R12")
	mask()
	for i, x := range []string{"DX", "SI", "DI", "R8"} {
		p("%s (%s)(BX*1), Y0, Y1", masked, x)
		p("VMOVUPS Y1, %d(SP)", i*avx2.bytes)
		p("LEAQ    %d(SP), %s", i*avx2.bytes, x)
	}
	p("MOVQ    SP, CX")
	p("XORQ    BX, BX")
	p("MOVQ    $%d, AX", avx2.bytes/r.size)
	p("CALL    R9")
	mask()
	p("VMOVUPS (SP), Y1")
	p("%s Y1, Y0, (R12)", masked)
}

// unit is how many bytes of results a loop computes at a time, or several loops of one vector.
func (s *set) unit() int {
	if s == avx512 {
		return 2 * s.bytes
	}
	return s.bytes
}

// tableOf writes the addresses of the loops, 0 where there is none, and returns the name of the
// table.
func tableOf(a *strings.Builder, s *set, r float) string {
	name := "loops" + r.name + s.name
	fmt.Fprintf(a, "\n// The loops, by function.\n")
	list := allFunctions()
	for i, f := range list {
		if r == single || f.double {
			fmt.Fprintf(a, "DATA %s<>+%d(SB)/8, $%s<>(SB)\n", name, 8*(i+1), f.in(s, r))
		}
	}
	fmt.Fprintf(a, "GLOBL %s<>(SB), NOPTR, $%d\n", name, 8*(len(list)+1))
	return name
}

func (k *code) store(v value, to operand.Mem) { k.pick(k.c.VMOVUPS, k.c.VMOVUPD)(v, to) }

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

// tables writes the Go file that names the functions.
func tables() []byte {
	var t strings.Builder
	t.WriteString(generated + "\npackage vec\n\n// The functions that there may be loops of.\nconst (\n\tNone Function = iota\n")
	for _, f := range allFunctions() {
		fmt.Fprintf(&t, "\t%s\n", f.name)
	}
	t.WriteString("\tfunctions\n)\n\n// singleOnly are the functions that there are loops of in single precision only.\nvar singleOnly = [functions]bool{\n")
	for _, f := range allFunctions() {
		if !f.double {
			fmt.Fprintf(&t, "\t%s: true,\n", f.name)
		}
	}
	t.WriteString("}\n\n// Formulas has the functions that are made of others.\nvar Formulas = []Formula{\n")
	for _, f := range formulas {
		t.WriteString(f.table())
	}
	t.WriteString("}\n")
	return []byte(t.String())
}

// tablesOn lists the loops over rows of sets.
func tablesOn(sets []*set) []byte {
	var t strings.Builder
	t.WriteString(generated + "\npackage vec\n")
	for _, s := range sets {
		for _, r := range []float{single, double} {
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
