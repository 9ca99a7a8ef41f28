package expr

import (
	"fmt"
	"math"
	"slices"
)

// Expr is a formula: a leaf, or a primitive of others. It is immutable, and may be part of several
// formulas. A condition is a formula whose value is true or false; [Where] and the logical
// operations take them, arithmetic does not.
//
// A formula is a number, of the type that it is computed in, or an int: int32 whatever that type
// is, wrapping around. Ints are indices, words of random numbers and what is made of those;
// [Expr.Float] makes a number of one. A constant beside an int is an int.
type Expr struct {
	op    op
	args  []*Expr
	index int     // of an operand or scalar, or an axis
	value float64 // of a constant
	whole bool    // it is an int
}

// Input returns operand i of a function, which counts from 0. It panics unless i is 0 to 255.
func Input(i int) *Expr { return leaf(opOperand, i) }

// Param returns scalar i of a function: a number that is the same for all elements, and given when
// it is computed. It counts from 0, and Param panics unless i is 0 to 255.
func Param(i int) *Expr { return leaf(opScalar, i) }

// IntParam returns scalar i of a function, passed as an int.
func IntParam(i int) *Expr { return leaf(opInt, i).asInt() }

// Index returns the index of the element along an axis of a map, an int. It panics unless axis is 0
// to 255.
func Index(axis int) *Expr { return leaf(opIndex, axis).asInt() }

func (x *Expr) asInt() *Expr {
	x.whole = true
	return x
}

func leaf(o op, i int) *Expr {
	if i < 0 || i > math.MaxUint8 {
		panic(fmt.Sprintf("expr: %s %d: they count from 0 to %d", primitives[o].name, i, math.MaxUint8))
	}
	return &Expr{op: o, index: i}
}

// Const returns a constant.
func Const(v float64) *Expr { return &Expr{op: opConst, value: v} }

func (x *Expr) with(o op, others ...*Expr) *Expr {
	args := append([]*Expr{x}, others...)
	info := &primitives[o]
	if len(args) != len(info.takes) {
		panic("expr: " + info.name + ": wrong number of arguments")
	}
	whole := false // the arguments that may be of either kind are ints
	for i, a := range args {
		if a == nil {
			panic("expr: " + info.name + ": an argument is nil")
		}
		if primitives[a.op].condition != (info.takes[i] == 'c') {
			panic("expr: " + info.name + ": takes " + map[bool]string{true: "a condition", false: "a number"}[info.takes[i] == 'c'] +
				", not " + primitives[a.op].name)
		}
		whole = whole || info.takes[i] == 'r' && a.whole && info.onInts()
	}
	for i, a := range args {
		switch want := info.takes[i] == 'i' || info.takes[i] == 'r' && whole; {
		case want && a.op == opConst && !a.whole:
			if a.value != float64(int32(a.value)) {
				panic(fmt.Sprintf("expr: %s: takes an int, not %v", info.name, a.value))
			}
			args[i] = Const(a.value).asInt()
		case want != a.whole:
			panic("expr: " + info.name + ": takes " + map[bool]string{true: "an int", false: "a number: see Real"}[want] + ", not " + primitives[a.op].name)
		}
	}
	return &Expr{op: o, args: args, whole: whole || info.gives == 'i'}
}

// Neg is −x.
func (x *Expr) Neg() *Expr { return x.with(opNeg) }

// Abs is |x|.
func (x *Expr) Abs() *Expr { return x.with(opAbs) }

// Add is x + y.
func (x *Expr) Add(y *Expr) *Expr { return x.with(opAdd, y) }

// Sub is x − y.
func (x *Expr) Sub(y *Expr) *Expr { return x.with(opSub, y) }

// Mul is x·y.
func (x *Expr) Mul(y *Expr) *Expr { return x.with(opMul, y) }

// Div is x/y.
func (x *Expr) Div(y *Expr) *Expr { return x.with(opDiv, y) }

// FMA is x·y + z, rounded once.
func (x *Expr) FMA(y, z *Expr) *Expr { return x.with(opFMA, y, z) }

// Min is the lesser of x and y, NaN if either is. Of 0 and −0 it is either.
func (x *Expr) Min(y *Expr) *Expr { return x.with(opMin, y) }

// Max is the greater of x and y, NaN if either is. Of 0 and −0 it is either.
func (x *Expr) Max(y *Expr) *Expr { return x.with(opMax, y) }

// Fmod is x − y·trunc(x/y). Of integers, it is 0 where y is 0.
func (x *Expr) Fmod(y *Expr) *Expr { return x.with(opFmod, y) }

// Copysign is |x| with the sign of y.
func (x *Expr) Copysign(y *Expr) *Expr { return x.with(opCopysign, y) }

// Sigmoid is 1/(1 + e⁻ˣ), which overflows nowhere. Its derivatives are products of it and that of
// −x: smooth, and nothing cancels in them.
func (x *Expr) Sigmoid() *Expr { return x.with(opSigmoid) }

// Softplus is log(1 + eˣ), which overflows only where x does. Its derivative is Sigmoid: it has no
// kink at 0.
func (x *Expr) Softplus() *Expr { return x.with(opSoftplus) }

// Floor is the next whole number below.
func (x *Expr) Floor() *Expr { return x.with(opFloor) }

// Ceil is the next whole number above.
func (x *Expr) Ceil() *Expr { return x.with(opCeil) }

// Trunc is the next whole number towards 0.
func (x *Expr) Trunc() *Expr { return x.with(opTrunc) }

// Round is the nearest whole number, the even one of two.
func (x *Expr) Round() *Expr { return x.with(opRound) }

// Float16 is x rounded to a float16, ties to even. Its derivative is 1: rounding is no step of a
// formula, but how what comes out is stored.
func (x *Expr) Float16() *Expr { return x.with(opFloat16) }

// BFloat16 is x rounded to a bfloat16, ties to even. Its derivative is 1.
func (x *Expr) BFloat16() *Expr { return x.with(opBFloat16) }

// Square is x².
func (x *Expr) Square() *Expr { return x.Mul(x) }

// Sqrt is √x.
func (x *Expr) Sqrt() *Expr { return x.with(opSqrt) }

// Hypot is √(x² + y²), without overflow.
func (x *Expr) Hypot(y *Expr) *Expr { return x.with(opHypot, y) }

// Pow is xʸ.
func (x *Expr) Pow(y *Expr) *Expr { return x.with(opPow, y) }

// Exp is eˣ.
func (x *Expr) Exp() *Expr { return x.with(opExp) }

// ExpOfNegative is eˣ of an x that is not above 0, or NaN. In single precision it may be 0 where it
// is below the least normal number.
func (x *Expr) ExpOfNegative() *Expr { return x.with(opExpOfNegative) }

// Exp2 is 2ˣ.
func (x *Expr) Exp2() *Expr { return x.with(opExp2) }

// Expm1 is eˣ − 1.
func (x *Expr) Expm1() *Expr { return x.with(opExpm1) }

// Log is ln x.
func (x *Expr) Log() *Expr { return x.with(opLog) }

// Log2 is log₂ x.
func (x *Expr) Log2() *Expr { return x.with(opLog2) }

// Log10 is log₁₀ x.
func (x *Expr) Log10() *Expr { return x.with(opLog10) }

// Log1p is ln(1 + x).
func (x *Expr) Log1p() *Expr { return x.with(opLog1p) }

// Sin is sin x.
func (x *Expr) Sin() *Expr { return x.with(opSin) }

// Cos is cos x.
func (x *Expr) Cos() *Expr { return x.with(opCos) }

// Tan is tan x.
func (x *Expr) Tan() *Expr { return x.with(opTan) }

// Asin is arcsin x.
func (x *Expr) Asin() *Expr { return x.with(opAsin) }

// Acos is arccos x.
func (x *Expr) Acos() *Expr { return x.with(opAcos) }

// Atan is arctan x.
func (x *Expr) Atan() *Expr { return x.with(opAtan) }

// Atan2 is the angle of the point (y, x).
func (x *Expr) Atan2(y *Expr) *Expr { return x.with(opAtan2, y) }

// Sinh is sinh x.
func (x *Expr) Sinh() *Expr { return x.with(opSinh) }

// Cosh is cosh x.
func (x *Expr) Cosh() *Expr { return x.with(opCosh) }

// Tanh is tanh x.
func (x *Expr) Tanh() *Expr { return x.with(opTanh) }

// Asinh is arsinh x.
func (x *Expr) Asinh() *Expr { return x.with(opAsinh) }

// Acosh is arcosh x.
func (x *Expr) Acosh() *Expr { return x.with(opAcosh) }

// Atanh is artanh x.
func (x *Expr) Atanh() *Expr { return x.with(opAtanh) }

// Erf is the error function.
func (x *Expr) Erf() *Expr { return x.with(opErf) }

// Erfc is 1 − erf x, exact where that is small.
func (x *Expr) Erfc() *Expr { return x.with(opErfc) }

// SinPi is sin πx, exact to its last places however large x is.
func (x *Expr) SinPi() *Expr { return x.with(opSinPi) }

// CosPi is cos πx, as SinPi.
func (x *Expr) CosPi() *Expr { return x.with(opCosPi) }

// Ldexp is x·2ⁿ, of an int n.
func (x *Expr) Ldexp(n *Expr) *Expr { return x.with(opLdexp, n) }

// Float is an int as a number: rounded to the type that the formula is computed in.
func (n *Expr) Float() *Expr { return n.with(opFloat) }

// Quo is ⌊n/m⌋ of ints, both taken as unsigned; an m of 0 counts as 1.
func (n *Expr) Quo(m *Expr) *Expr { return n.with(opQuo, m) }

// Rem is the remainder of Quo.
func (n *Expr) Rem(m *Expr) *Expr { return n.with(opRem, m) }

// MulHigh is ⌊n·m/2³²⌋ of ints, both taken as unsigned: of a random n, a number below m.
func (n *Expr) MulHigh(m *Expr) *Expr { return n.with(opMulHigh, m) }

// Random returns number i of a stream, 32 random bits as an int: with words w₀ … w₃ of
// Philox4x32-10 for the counter (⌊i/4⌋, call, 0, 0) and the key (lo, hi), it is that of i mod 4, i
// taken as unsigned. Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2,
// 3", SC 2011.
func Random(i, call, lo, hi *Expr) *Expr { return i.with(opRandom, call, lo, hi) }

// Load is element n of operand i in the order of its indices, 0 if it has no such element: the
// operand is read by index, by itself or with others, and nowhere else. It panics unless i is 0
// to 255.
func Load(i int, n *Expr) *Expr {
	leaf(opAt, i)
	x := n.with(opAt)
	x.index = i
	return x
}

// FloorDiv is ⌊x/y⌋, as Python rounds it: exact where |x/y| is below 2²¹ in single precision. Of
// integers, it is 0 where y is 0.
func (x *Expr) FloorDiv(y *Expr) *Expr { return x.with(opFloorDiv, y) }

// BitAnd is the bits that are set in x and y. It and the others of bits are of integers alone.
func (x *Expr) BitAnd(y *Expr) *Expr { return x.with(opBitAnd, y) }

// BitOr is the bits that are set in x or y.
func (x *Expr) BitOr(y *Expr) *Expr { return x.with(opBitOr, y) }

// BitXor is the bits that are set in one of x and y.
func (x *Expr) BitXor(y *Expr) *Expr { return x.with(opBitXor, y) }

// ShiftLeft is x·2ʸ, of which the low 32 bits stay; 0 unless y is 0 to 31.
func (x *Expr) ShiftLeft(y *Expr) *Expr { return x.with(opShiftLeft, y) }

// ShiftRight is ⌊x/2ʸ⌋; where y is not 0 to 31, as for 31: 0, or −1 for x below 0.
func (x *Expr) ShiftRight(y *Expr) *Expr { return x.with(opShiftRight, y) }

// ErfInv is the inverse of the error function, infinite at −1 and 1 and NaN beyond.
func (x *Expr) ErfInv() *Expr { return x.with(opErfInv) }

// Lt says that x < y.
func (x *Expr) Lt(y *Expr) *Expr { return x.with(opLt, y) }

// Le says that x ≤ y.
func (x *Expr) Le(y *Expr) *Expr { return x.with(opLe, y) }

// Gt says that x > y.
func (x *Expr) Gt(y *Expr) *Expr { return y.with(opLt, x) }

// Ge says that x ≥ y.
func (x *Expr) Ge(y *Expr) *Expr { return y.with(opLe, x) }

// Eq says that x = y.
func (x *Expr) Eq(y *Expr) *Expr { return x.with(opEq, y) }

// Ne says that x ≠ y, which holds for a NaN.
func (x *Expr) Ne(y *Expr) *Expr { return x.Eq(y).Not() }

// IsNaN says that x is NaN.
func (x *Expr) IsNaN() *Expr { return x.Ne(x) }

// And says that both conditions hold.
func (c *Expr) And(d *Expr) *Expr { return c.with(opAnd, d) }

// Or says that a condition holds.
func (c *Expr) Or(d *Expr) *Expr { return c.with(opOr, d) }

// Not says that the condition does not hold.
func (c *Expr) Not() *Expr { return c.with(opNot) }

// Where returns yes if the condition c holds, else no: numbers, or ints.
func Where(c, yes, no *Expr) *Expr { return c.with(opWhere, yes, no) }

// Operands returns how many operands the formula has, if the last of them occurs, and whether each
// occurs.
func (x *Expr) Operands() []bool { return x.leaves(opOperand, opAt) }

// Direct is Operands for those that are read element by element.
func (x *Expr) Direct() []bool { return x.leaves(opOperand) }

// Gathers is Operands for those that are read by index, with [Load].
func (x *Expr) Gathers() []bool { return x.leaves(opAt) }

// Scalars is Operands for scalars.
func (x *Expr) Scalars() []bool { return x.leaves(opScalar, opInt) }

// Floats is Operands for scalars that are not passed as ints.
func (x *Expr) Floats() []bool { return x.leaves(opScalar) }

// Ints is Operands for scalars that are ints.
func (x *Expr) Ints() []bool { return x.leaves(opInt) }

// Axes is Operands for the axes whose indices occur.
func (x *Expr) Axes() []bool { return x.leaves(opIndex) }

func (x *Expr) leaves(kinds ...op) []bool {
	var occurs []bool
	for _, e := range x.sorted() {
		if !slices.Contains(kinds, e.op) {
			continue
		}
		for len(occurs) <= e.index {
			occurs = append(occurs, false)
		}
		occurs[e.index] = true
	}
	return occurs
}

// Whole reports whether the formula has a value in int32 arithmetic, which wraps around: all of its
// primitives have, and its constants are ints.
func (x *Expr) Whole() bool {
	for _, e := range x.sorted() {
		if !primitives[e.op].whole || e.op == opConst && e.value != float64(int32(e.value)) {
			return false
		}
	}
	return true
}

// OfIntegers reports whether the formula has a value in int32 arithmetic alone: one of its
// primitives is of integers.
func (x *Expr) OfIntegers() bool {
	for _, e := range x.sorted() {
		if primitives[e.op].integers {
			return true
		}
	}
	return false
}

// is reports whether the formula is the constant v; 0 is not −0.
func (x *Expr) is(v float64) bool {
	return x.op == opConst && math.Float64bits(x.value) == math.Float64bits(v)
}

// IsCondition reports whether the value of the formula is true or false: no number.
func (x *Expr) IsCondition() bool { return primitives[x.op].condition }

// FloatOfInt returns which IntParam the formula is as a float, if it is one.
func (x *Expr) FloatOfInt() (i int, ok bool) {
	if x.op != opFloat {
		return 0, false
	}
	kind, i := x.args[0].Leaf()
	return i, kind == OfInt
}

// IsInt reports whether the formula is an int: no number.
func (x *Expr) IsInt() bool { return x.whole }

// IsOperand reports whether the formula is operand i itself.
func (x *Expr) IsOperand(i int) bool { return x.op == opOperand && x.index == i }

// Factor returns f where the formula is f·X(i), and f does not read X(i); else nil.
func (x *Expr) Factor(i int) *Expr {
	if x.op != opMul {
		return nil
	}
	for k, f := range x.args {
		if reads := f.Operands(); x.args[1-k].IsOperand(i) && (i >= len(reads) || !reads[i]) {
			return f
		}
	}
	return nil
}

// IsZero reports whether the formula is the constant 0.
func (x *Expr) IsZero() bool { return x.op == opConst && x.value == 0 }
