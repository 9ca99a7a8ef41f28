package main

import "github.com/mmcloughlin/avo/operand"

// intFunctions are functions of ints of 32 bits, which lie where numbers of single precision do.
// Sums, differences and products wrap around, conditions are 1 and 0, and counts of a shift have no
// sign.
var intFunctions = []function{
	{"NegInts", 1, false, func(k *code, x []value) value { return k.subInts(k.zero(), x[0]) }},
	{"AbsInts", 1, false, func(k *code, x []value) value { return k.mostInts(x[0], k.subInts(k.zero(), x[0])) }},
	{"AddInts", 2, false, func(k *code, x []value) value { return k.addInts(x[0], x[1]) }},
	{"SubInts", 2, false, func(k *code, x []value) value { return k.subInts(x[0], x[1]) }},
	{"MulInts", 2, false, func(k *code, x []value) value { return k.mulInts(x[0], x[1]) }},
	{"MinInts", 2, false, func(k *code, x []value) value { return k.twoInts("SMIN", k.c.VPMINSD, x[0], x[1]) }},
	{"MaxInts", 2, false, func(k *code, x []value) value { return k.mostInts(x[0], x[1]) }},
	{"LessInts", 2, false, func(k *code, x []value) value { return k.choose(k.lessInts(x[0], x[1]), k.oneInt(), k.zero()) }},
	{"LessEqualInts", 2, false, func(k *code, x []value) value { return k.choose(k.lessInts(x[1], x[0]), k.zero(), k.oneInt()) }},
	{"EqualInts", 2, false, func(k *code, x []value) value { return k.choose(k.equalInts(x[0], x[1]), k.oneInt(), k.zero()) }},
	{"AndInts", 2, false, func(k *code, x []value) value {
		zero := k.zero()
		return k.choose(k.equalInts(x[0], zero), zero, k.choose(k.equalInts(x[1], zero), zero, k.oneInt()))
	}},
	{"OrInts", 2, false, func(k *code, x []value) value {
		zero := k.zero()
		return k.choose(k.equalInts(k.or(x[0], x[1]), zero), zero, k.oneInt())
	}},
	{"NotInts", 1, false, func(k *code, x []value) value {
		zero := k.zero()
		return k.choose(k.equalInts(x[0], zero), k.oneInt(), zero)
	}},
	{"WhereInts", 3, false, func(k *code, x []value) value { return k.choose(k.equalInts(x[0], k.zero()), x[2], x[1]) }},
	{"WhereLessInts", 4, false, func(k *code, x []value) value { return k.choose(k.lessInts(x[0], x[1]), x[2], x[3]) }},
	{"WhereLessEqualInts", 4, false, func(k *code, x []value) value { return k.choose(k.lessInts(x[1], x[0]), x[3], x[2]) }},
	{"WhereEqualInts", 4, false, func(k *code, x []value) value { return k.choose(k.equalInts(x[0], x[1]), x[2], x[3]) }},
	{"ShiftLeft", 2, false, func(k *code, x []value) value {
		if k.neon != nil { // its counts are signed bytes
			return k.neon.op(k, "USHL", x[0], k.neon.op(k, "UMIN", x[1], k.bits(32)))
		}
		return k.twoInts("", k.c.VPSLLVD, x[0], x[1])
	}},
	{"ShiftRight", 2, false, func(k *code, x []value) value {
		if k.neon != nil {
			return k.neon.op(k, "SSHL", x[0], k.neon.op(k, "NEG", k.neon.op(k, "UMIN", x[1], k.bits(31))))
		}
		return k.twoInts("", k.c.VPSRAVD, x[0], x[1])
	}},
	{"ShiftRightZeros", 2, false, func(k *code, x []value) value { // zeros come from the left
		if k.neon != nil {
			return k.neon.op(k, "USHL", x[0], k.neon.op(k, "NEG", k.neon.op(k, "UMIN", x[1], k.bits(32))))
		}
		return k.twoInts("", k.c.VPSRLVD, x[0], x[1])
	}},
	{"MulHigh", 2, false, func(k *code, x []value) value { return k.mulHigh(x[0], x[1]) }},
	{"Random", 4, false, func(k *code, x []value) value { return k.philox(x[0], x[1], x[2], x[3]) }},
	{"FromInts", 1, false, func(k *code, x []value) value { return k.fromInts(x[0]) }},
	{"ToInts", 1, false, func(k *code, x []value) value { // the nearest that there is, and 0 of NaN
		if k.neon != nil {
			return k.neon.op(k, "FCVTZS", x[0])
		}
		v := k.new()
		k.c.VCVTTPS2DQ(x[0], v) // the least int of what is beyond the range
		v = k.choose(k.compare(less, x[0], k.number(1<<31)), v, k.load(k.bits(1<<31-1)))
		return k.choose(k.compare(unordered, x[0], x[0]), k.zero(), v)
	}},
}

// fromInts is ints as numbers.
func (k *code) fromInts(a value) value {
	if k.neon != nil {
		return k.neon.op(k, "SCVTF", a)
	}
	v := k.new()
	k.c.VCVTDQ2PS(a, v)
	return v
}

// shiftRightInts moves the bits of ints, with their sign.
func (k *code) shiftRightInts(a value, by int) value {
	if k.neon != nil {
		return k.neon.op(k, "SSHL", a, k.bits(uint64(uint32(-by))))
	}
	v := k.new()
	k.c.VPSRAD(operand.Imm(uint64(by)), a, v)
	return v
}

func (k *code) zero() value { return k.load(k.bits(0)) }

// oneInt is the int 1.
func (k *code) oneInt() value { return k.load(k.bits(1)) }

// twoInts is an operation on ints, which has a name in NEON's instructions.
func (k *code) twoInts(name string, do func(ops ...operand.Op), a, b value) value {
	if k.neon != nil {
		return k.neon.op(k, name, a, b)
	}
	v := k.new()
	do(b, a, v)
	return v
}

func (k *code) addInts(a, b value) value  { return k.twoInts("ADD", k.c.VPADDD, a, b) }
func (k *code) subInts(a, b value) value  { return k.twoInts("SUB", k.c.VPSUBD, a, b) }
func (k *code) mulInts(a, b value) value  { return k.twoInts("MUL", k.c.VPMULLD, a, b) }
func (k *code) mostInts(a, b value) value { return k.twoInts("SMAX", k.c.VPMAXSD, a, b) }

// lessInts is where a is less than b.
func (k *code) lessInts(a, b value) mask { return k.compareInts("CMGT", k.c.VPCMPGTD, b, a) }

func (k *code) equalInts(a, b value) mask { return k.compareInts("CMEQ", k.c.VPCMPEQD, a, b) }

func (k *code) compareInts(name string, do func(ops ...operand.Op), a, b value) mask {
	if k.neon != nil {
		return k.neon.op(k, name, a, b)
	}
	var m mask = k.c.K()
	if k.s != avx512 {
		m = k.new()
	}
	do(b, a, m)
	return m
}

// mulHigh is the upper half of a product of ints without sign.
func (k *code) mulHigh(a, b value) value {
	if k.neon != nil {
		return k.neon.op(k, "UZP2", k.neon.op(k, "UMULL", a, b), k.neon.op(k, "UMULL2", a, b))
	}
	// Of neighbours, the products of the former fill both places.
	move := func(do func(ops ...operand.Op), x value) value {
		v := k.new()
		do(operand.Imm(32), x, v)
		return v
	}
	former, latter := k.new(), k.new()
	k.c.VPMULUDQ(b, a, former)
	k.c.VPMULUDQ(move(k.c.VPSRLQ, b), move(k.c.VPSRLQ, a), latter)
	return k.or(move(k.c.VPSRLQ, former), move(k.c.VPSLLQ, move(k.c.VPSRLQ, latter)))
}

// philox is word i of a stream of Philox4x32-10: of the four of counter i/4, whose next word is
// call, with a key of two words.
func (k *code) philox(i, call, low, high value) value {
	zero := k.zero()
	c := [4]value{k.shiftRight(i, 2), call, zero, zero}
	for round := range 10 {
		if round > 0 {
			low, high = k.addInts(low, k.load(k.bits(0x9E3779B9))), k.addInts(high, k.load(k.bits(0xBB67AE85)))
		}
		m, n := k.load(k.bits(0xD2511F53)), k.load(k.bits(0xCD9E8D57))
		c = [4]value{k.xor(k.xor(k.mulHigh(c[2], n), c[1]), low), k.mulInts(c[2], n),
			k.xor(k.xor(k.mulHigh(c[0], m), c[3]), high), k.mulInts(c[0], m)}
	}
	odd := k.equalInts(k.and(i, k.bits(1)), k.oneInt())
	upper := k.equalInts(k.and(i, k.bits(2)), k.load(k.bits(2)))
	return k.choose(upper, k.choose(odd, c[3], c[2]), k.choose(odd, c[1], c[0]))
}
