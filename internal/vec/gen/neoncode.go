package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// neonCode is the arithmetic of a loop body in NEON's instructions, most of which Go's assembler
// does not know by name: they are words, with the name behind them. Values are avo's registers
// without number, which get those of the processor at the end.
type neonCode struct {
	r         float
	constants *neonTable
	list      []neonStep
}

// neonTable is the constants of all loops on a type, each as often as a vector holds it.
type neonTable struct {
	name string
	at   map[uint64]int
	bits []uint64
}

// neonStep is an instruction: name and code, and what it reads and writes. In a step that changes
// what it writes, the first operand is what that was.
type neonStep struct {
	name    string
	code    uint32
	to      value
	from    []value
	changes bool
	load    int // of the constant at this place, where name is "load"
}

// neonOps are the instructions on two or one vectors, on floats with the bit that says so.
var neonOps = map[string]struct {
	code  uint32
	float bool
}{
	"FADD": {0x4E20D400, true}, "FSUB": {0x4EA0D400, true}, "FMUL": {0x6E20DC00, true}, "FDIV": {0x6E20FC00, true},
	"FMLA": {0x4E20CC00, true}, "FMLS": {0x4EA0CC00, true}, "FSQRT": {0x6EA1F800, true},
	"FMAX": {0x4E20F400, true}, "FMIN": {0x4EA0F400, true},
	"FRINTN": {0x4E218800, true}, "FRINTM": {0x4E219800, true}, "FRINTP": {0x4EA18800, true}, "FRINTZ": {0x4EA19800, true},
	"FCMEQ": {0x4E20E400, true}, "FCMGE": {0x6E20E400, true}, "FCMGT": {0x6EA0E400, true},
	"AND": {0x4E201C00, false}, "ORR": {0x4EA01C00, false}, "EOR": {0x6E201C00, false}, "BIT": {0x6EA01C00, false}, "BSL": {0x6E601C00, false}, "NOT": {0x6E205800, false},
	"ADD": {0x4EA08400, false}, "SUB": {0x6EA08400, false}, "MUL": {0x4EA09C00, false}, "NEG": {0x6EA0B800, false}, "SMAX": {0x4EA06400, false},
	"SMIN": {0x4EA06C00, false}, "UMIN": {0x6EA06C00, false}, "CMGT": {0x4EA03400, false}, "CMEQ": {0x6EA08C00, false}, "SSHL": {0x4EA04400, false},
	"USHL": {0x6EA04400, false}, "UMULL": {0x2EA0C000, false}, "UMULL2": {0x6EA0C000, false}, "UZP2": {0x4E805800, false}, "SCVTF": {0x4E21D800, false},
	"FCVTZS": {0x4EA1B800, false},
}

// op adds an instruction that returns a new value.
func (n *neonCode) op(k *code, name string, from ...operand.Op) value {
	return n.add(k, name, false, from)
}

// change adds an instruction that changes the first of its operands, of which it takes a copy.
func (n *neonCode) change(k *code, name string, from ...operand.Op) value {
	return n.add(k, name, true, from)
}

func (n *neonCode) add(k *code, name string, changes bool, from []operand.Op) value {
	o := neonOps[name]
	code := o.code
	if o.float && n.r.size == 8 {
		code |= 1 << 22
	}
	s := neonStep{name: name, code: code, to: k.new(), changes: changes}
	for _, f := range from {
		s.from = append(s.from, n.value(k, f))
	}
	n.list = append(n.list, s)
	return s.to
}

// shift adds a shift by a number of bits: left, or right with zeros behind.
func (n *neonCode) shift(k *code, a value, left bool, by int) value {
	size := 8 * n.r.size
	s := neonStep{name: fmt.Sprintf("SHL $%d,", by), code: 0x4F005400 | uint32(size+by)<<16, to: k.new(), from: []value{a}}
	if !left {
		s.name, s.code = fmt.Sprintf("USHR $%d,", by), 0x6F000400|uint32(2*size-by)<<16
	}
	n.list = append(n.list, s)
	return s.to
}

// value returns an operand in a register. Constants are loaded where they are used.
func (n *neonCode) value(k *code, from operand.Op) value {
	m, constant := from.(operand.Mem)
	if !constant {
		return from.(value)
	}
	s := neonStep{name: "load", to: k.new(), load: m.Disp}
	n.list = append(n.list, s)
	return s.to
}

// constant returns a constant by its bits: its place in the table is the displacement.
func (n *neonCode) constant(bits uint64) operand.Mem {
	t := n.constants
	at, there := t.at[bits]
	if !there {
		at = len(t.bits)
		t.at[bits], t.bits = at, append(t.bits, bits)
	}
	return operand.Mem{Disp: 16 * at}
}

// compare returns a mask: all bits of an element, or none.
func (n *neonCode) compare(k *code, way uint64, a value, b operand.Op) value {
	switch right := n.value(k, b); way {
	case equal:
		return n.op(k, "FCMEQ", a, right)
	case less:
		return n.op(k, "FCMGT", right, a)
	case lessEqual:
		return n.op(k, "FCMGE", right, a)
	case notEqual:
		return n.op(k, "NOT", n.op(k, "FCMEQ", a, right))
	default: // unordered
		return n.op(k, "NOT", n.op(k, "AND", n.op(k, "FCMEQ", a, a), n.op(k, "FCMEQ", right, right)))
	}
}

// text returns the instructions that compute results, with operands in V0, V1 … and the table at
// R9, and the numbers of the registers that the results are in then. A register is free again after
// the last use of what it holds.
func (n *neonCode) text(operands []value, results ...value) (instructions string, at []int) {
	var b strings.Builder
	last := map[reg.ID]int{}
	for _, v := range results {
		last[v.ID()] = len(n.list)
	}
	for i, s := range n.list {
		for _, v := range s.from {
			last[v.ID()] = max(last[v.ID()], i)
		}
	}
	number, taken := map[reg.ID]int{}, make([]bool, 32)
	for i, v := range operands {
		number[v.ID()], taken[i] = i, true
	}
	word := func(code uint32, what string) { fmt.Fprintf(&b, "\tWORD $0x%08x // %s\n", code, what) }
	for i, s := range n.list {
		var from []int
		for _, v := range s.from {
			from = append(from, number[v.ID()])
		}
		free := func(v value) {
			if last[v.ID()] <= i {
				taken[number[v.ID()]] = false
			}
		}
		to := -1
		if s.changes && last[s.from[0].ID()] == i && !slices.ContainsFunc(s.from[1:], func(v value) bool { return v.ID() == s.from[0].ID() }) {
			to = from[0]
		}
		if !s.changes {
			for _, v := range s.from {
				free(v)
			}
		}
		if to < 0 {
			if to = slices.Index(taken, false); to < 0 {
				panic("no register is left")
			}
		}
		number[s.to.ID()], taken[to] = to, true
		if s.name == "load" {
			fmt.Fprintf(&b, "\tFMOVQ %d(R9), F%d\n", s.load, to)
			continue
		}
		if s.changes {
			if to != from[0] {
				word(neonOps["ORR"].code|uint32(from[0]<<16|from[0]<<5|to), fmt.Sprintf("MOV V%d, V%d", from[0], to))
			}
			for _, v := range s.from {
				if number[v.ID()] != to {
					free(v)
				}
			}
			from = from[1:]
		}
		code, what := s.code|uint32(from[0]<<5|to), fmt.Sprintf("%s V%d", s.name, from[0])
		if len(from) > 1 {
			code |= uint32(from[1] << 16)
			what += fmt.Sprintf(", V%d", from[1])
		}
		word(code, fmt.Sprintf("%s, V%d", what, to))
		if _, used := last[s.to.ID()]; !used {
			taken[to] = false
		}
	}
	for _, v := range results {
		at = append(at, number[v.ID()])
	}
	return b.String(), at
}
