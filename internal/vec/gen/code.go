package main

import (
	"fmt"
	"log"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// code writes arithmetic on vectors of one type, in the instructions of one set. Values are never
// overwritten: each operation returns a new register.
type code struct {
	c         *build.Context
	s         *set
	r         float
	constants map[uint64]operand.Mem // by their bits: each fills a vector of memory
	prefix    string                 // of their names
	neon      *neonCode              // not nil: in the instructions of NEON
}

type value = reg.VecVirtual

// mask is a condition on each element: a vector whose elements have all bits set or none, or a
// register of masks.
type mask = reg.Register

func (k *code) new() value { return k.s.vector(k.c) }

// pick returns the instruction for the type.
func (k *code) pick(single, double func(ops ...operand.Op)) func(ops ...operand.Op) {
	if k.r.size == 4 {
		return single
	}
	return double
}

// number returns a constant as an operand in memory.
func (k *code) number(v float64) operand.Mem {
	if k.r.size == 4 {
		return k.bits(uint64(math.Float32bits(float32(v))))
	}
	return k.bits(math.Float64bits(v))
}

// bits returns a constant by its bits: one element where an operand in memory may be one for all
// lanes, else a vector. Go aligns data to 32 bytes at most, and a vector of 64 that lies across two
// lines of the cache takes two loads.
func (k *code) bits(v uint64) operand.Mem {
	if k.neon != nil {
		return k.neon.constant(v)
	}
	if m, ok := k.constants[v]; ok {
		return m
	}
	m := k.c.StaticGlobal(fmt.Sprintf("%s%s%s%x", k.prefix, k.r.name, k.s.name, v))
	k.c.DataAttributes(attr.RODATA | attr.NOPTR)
	lanes := k.s.bytes / k.r.size
	if k.s.broadcast {
		lanes = 1
	}
	switch {
	case k.r.size == 4 && lanes == 1:
		k.c.AppendDatum(operand.U32(v))
	case k.r.size == 4:
		for range lanes / 2 {
			k.c.AppendDatum(operand.U64(v<<32 | v))
		}
	default:
		for range lanes {
			k.c.AppendDatum(operand.U64(v))
		}
	}
	k.constants[v] = m
	return m
}

func (k *code) load(m operand.Op) value {
	if k.neon != nil {
		return k.neon.value(k, m)
	}
	v := k.new()
	if k.one(m) {
		k.pick(k.c.VBROADCASTSS, k.c.VBROADCASTSD)(m, v)
	} else {
		k.pick(k.c.VMOVUPS, k.c.VMOVUPD)(m, v)
	}
	return v
}

// one reports whether an operand is one element in memory for all lanes: a constant.
func (k *code) one(o operand.Op) bool {
	m, memory := o.(operand.Mem)
	return memory && k.s.broadcast && m.Symbol.Name != ""
}

// forms is an instruction in single and in double precision, and with one element in memory for all
// lanes.
type forms struct {
	single, double, ones, oneDouble func(ops ...operand.Op)
}

// of returns the form for the operand that may be in memory.
func (k *code) of(f forms, o operand.Op) func(ops ...operand.Op) {
	if k.one(o) {
		return k.pick(f.ones, f.oneDouble)
	}
	return k.pick(f.single, f.double)
}

// two is an operation on a and b, which may be in memory. In NEON's instructions it has a name of
// its own; the smaller and the larger are chosen, since those that it has for them treat NaN and 0
// otherwise.
func (k *code) two(name string, f forms, a value, b operand.Op) value {
	switch {
	case k.neon != nil && name == "least":
		b := k.neon.value(k, b)
		return k.choose(k.compare(less, a, b), a, b)
	case k.neon != nil && name == "most":
		b := k.neon.value(k, b)
		return k.choose(k.compare(less, b, a), a, b)
	case k.neon != nil:
		return k.neon.op(k, name, a, b)
	}
	v := k.new()
	k.of(f, b)(b, a, v)
	return v
}

func (k *code) add(a value, b operand.Op) value {
	return k.two("FADD", forms{k.c.VADDPS, k.c.VADDPD, k.c.VADDPS_BCST, k.c.VADDPD_BCST}, a, b)
}
func (k *code) sub(a value, b operand.Op) value {
	return k.two("FSUB", forms{k.c.VSUBPS, k.c.VSUBPD, k.c.VSUBPS_BCST, k.c.VSUBPD_BCST}, a, b)
}
func (k *code) mul(a value, b operand.Op) value {
	return k.two("FMUL", forms{k.c.VMULPS, k.c.VMULPD, k.c.VMULPS_BCST, k.c.VMULPD_BCST}, a, b)
}
func (k *code) div(a value, b operand.Op) value {
	return k.two("FDIV", forms{k.c.VDIVPS, k.c.VDIVPD, k.c.VDIVPS_BCST, k.c.VDIVPD_BCST}, a, b)
}
func (k *code) and(a value, b operand.Op) value {
	return k.two("AND", forms{k.c.VANDPS, k.c.VANDPD, k.c.VANDPS_BCST, k.c.VANDPD_BCST}, a, b)
}
func (k *code) or(a value, b operand.Op) value {
	return k.two("ORR", forms{k.c.VORPS, k.c.VORPD, k.c.VORPS_BCST, k.c.VORPD_BCST}, a, b)
}
func (k *code) xor(a value, b operand.Op) value {
	return k.two("EOR", forms{k.c.VXORPS, k.c.VXORPD, k.c.VXORPS_BCST, k.c.VXORPD_BCST}, a, b)
}

// least and most are the smaller and the larger of a and b, and b where one is NaN or both are 0.
func (k *code) least(a value, b operand.Op) value {
	return k.two("least", forms{k.c.VMINPS, k.c.VMINPD, k.c.VMINPS_BCST, k.c.VMINPD_BCST}, a, b)
}
func (k *code) most(a value, b operand.Op) value {
	return k.two("most", forms{k.c.VMAXPS, k.c.VMAXPD, k.c.VMAXPS_BCST, k.c.VMAXPD_BCST}, a, b)
}

// fma is a·b + c, rounded once; b and c may be in memory.
func (k *code) fma(a value, b, c operand.Op) value {
	if k.neon != nil {
		return k.neon.change(k, "FMLA", c, a, b)
	}
	v := k.load(c)
	k.of(forms{k.c.VFMADD231PS, k.c.VFMADD231PD, k.c.VFMADD231PS_BCST, k.c.VFMADD231PD_BCST}, b)(b, a, v)
	return v
}

// fnma is c − a·b, rounded once.
func (k *code) fnma(a value, b, c operand.Op) value {
	if k.neon != nil {
		return k.neon.change(k, "FMLS", c, a, b)
	}
	v := k.load(c)
	k.of(forms{k.c.VFNMADD231PS, k.c.VFNMADD231PD, k.c.VFNMADD231PS_BCST, k.c.VFNMADD231PD_BCST}, b)(b, a, v)
	return v
}

func (k *code) sqrt(a value) value {
	if k.neon != nil {
		return k.neon.op(k, "FSQRT", a)
	}
	v := k.new()
	k.pick(k.c.VSQRTPS, k.c.VSQRTPD)(a, v)
	return v
}

// The ways to round to a whole number, without an exception.
const (
	nearest = 8 + iota
	down
	up
	toZero
)

func (k *code) round(a value, way uint64) value {
	if k.neon != nil {
		return k.neon.op(k, map[uint64]string{nearest: "FRINTN", down: "FRINTM", up: "FRINTP", toZero: "FRINTZ"}[way], a)
	}
	v := k.new()
	switch {
	case k.s == avx512:
		k.pick(k.c.VRNDSCALEPS, k.c.VRNDSCALEPD)(operand.Imm(way), a, v)
	case k.r.size == 4:
		k.c.VROUNDPS(operand.Imm(way), a, v)
	default:
		k.c.VROUNDPD(operand.Imm(way), a, v)
	}
	return v
}

// The comparisons. All are false for NaN but notEqual and unordered, which is nothing else.
const (
	equal     = 0
	less      = 17
	lessEqual = 18
	notEqual  = 4
	unordered = 3
)

func (k *code) compare(way uint64, a value, b operand.Op) mask {
	if k.neon != nil {
		return k.neon.compare(k, way, a, b)
	}
	if k.s == avx512 {
		m := k.c.K()
		k.of(forms{k.c.VCMPPS, k.c.VCMPPD, k.c.VCMPPS_BCST, k.c.VCMPPD_BCST}, b)(operand.Imm(way), b, a, m)
		return m
	}
	m := k.new()
	k.pick(k.c.VCMPPS, k.c.VCMPPD)(operand.Imm(way), b, a, m)
	return m
}

// choose is yes where m holds, no elsewhere.
func (k *code) choose(m mask, yes operand.Op, no value) value {
	if k.neon != nil {
		return k.neon.change(k, "BSL", m, yes, no)
	}
	v := k.new()
	switch {
	case k.s == avx512:
		blend := x86.VBLENDMPS
		switch one := k.one(yes); {
		case one && k.r.size == 8:
			blend = x86.VBLENDMPD_BCST
		case one:
			blend = x86.VBLENDMPS_BCST
		case k.r.size == 8:
			blend = x86.VBLENDMPD
		}
		i, err := blend(yes, no, m, v)
		if err != nil {
			log.Fatal(err)
		}
		i.Inputs = i.Inputs[:3] // avo takes what v was for one, too, and v for taken from the start
		k.c.Instruction(i)
	case k.r.size == 4:
		k.c.VBLENDVPS(m, yes, no, v)
	default:
		k.c.VBLENDVPD(m, yes, no, v)
	}
	return v
}

// shiftLeft and shiftRight move the bits of each element.
func (k *code) shiftLeft(a value, by int) value {
	if k.neon != nil {
		return k.neon.shift(k, a, true, by)
	}
	v := k.new()
	k.pick(k.c.VPSLLD, k.c.VPSLLQ)(operand.Imm(uint64(by)), a, v)
	return v
}

func (k *code) shiftRight(a value, by int) value {
	if k.neon != nil {
		return k.neon.shift(k, a, false, by)
	}
	v := k.new()
	k.pick(k.c.VPSRLD, k.c.VPSRLQ)(operand.Imm(uint64(by)), a, v)
	return v
}

// polynomial is c[0] + c[1]·x + c[2]·x² …
func (k *code) polynomial(x value, c ...float64) value {
	v := k.load(k.number(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		by := k.number(c[i])
		if k.neon != nil {
			v = k.fma(v, x, by)
			continue
		}
		k.of(forms{k.c.VFMADD213PS, k.c.VFMADD213PD, k.c.VFMADD213PS_BCST, k.c.VFMADD213PD_BCST}, by)(by, x, v)
	}
	return v
}

// What the type is made of.
func (k *code) fraction() int { return map[int]int{4: 23, 8: 52}[k.r.size] } // bits of the fraction
func (k *code) bias() float64 { return map[int]float64{4: 127, 8: 1023}[k.r.size] }
func (k *code) sign() operand.Mem {
	return k.bits(1 << (8*k.r.size - 1))
}

// whole is so large that of a sum with it the lowest bits are those of the whole number that was
// added.
func (k *code) whole() float64 { return math.Ldexp(1.5, k.fraction()) }

// power is 2ⁿ for whole n in the range of normal numbers.
func (k *code) power(n value) value {
	return k.shiftLeft(k.add(n, k.number(k.whole()+k.bias())), k.fraction())
}
