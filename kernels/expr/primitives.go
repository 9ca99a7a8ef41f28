package expr

import (
	"math"

	"github.com/clgrad/clgrad/internal/convert"
)

type op uint8

// The primitives. Their rows are in the table below.
const (
	opOperand op = iota
	opScalar
	opConst
	opNeg
	opAbs
	opAdd
	opSub
	opMul
	opDiv
	opFMA
	opMin
	opMax
	opFmod
	opCopysign
	opFloor
	opCeil
	opTrunc
	opRound
	opFloat16
	opBFloat16
	opSqrt
	opHypot
	opPow
	opExp
	opExpOfNegative
	opExp2
	opExpm1
	opLog
	opLog2
	opLog10
	opLog1p
	opSin
	opCos
	opTan
	opAsin
	opAcos
	opAtan
	opAtan2
	opSinh
	opCosh
	opTanh
	opAsinh
	opAcosh
	opAtanh
	opErf
	opErfc
	opSinPi
	opCosPi
	opLdexp
	opFloat
	opIndex
	opInt
	opAt
	opQuo
	opRem
	opMulHigh
	opRandom
	opErfInv
	opFloorDiv
	opBitAnd
	opBitOr
	opBitXor
	opShiftLeft
	opShiftRight
	opLt
	opLe
	opEq
	opAnd
	opOr
	opNot
	opWhere
	// Primitives that Compile makes others of: see expand.
	opSigmoid
	opSoftplus
	// A choice by a comparison, in one step: what Compile makes of Where(a.Lt(b), yes, no).
	opWhereLt
	opWhereLe
	opWhereEq
	// A vector loop of several primitives: see join.
	opLoop
)

// primitive says everything of a primitive but its derivative, which is in derivative.go.
type primitive struct {
	name      string
	takes     string // a letter for each argument: r a number, or all such an int if ints says how; c a condition; i an int
	gives     byte   // i: an int, whatever it takes
	condition bool   // the value is true or false
	c         string // OpenCL C, for values and vectors of a type; $0, $1, $2 are the arguments, $T the type
	ints      string // OpenCL C for ints, if it differs; $U is the unsigned type, $B its bits less one
	whole     bool   // has a value in int32 arithmetic
	integers  bool   // has a value in int32 arithmetic alone
	depends   string // the .cl file with the functions that c calls
	// lanes says that vectors are computed one element after the other: PoCL 3.1's builtin for
	// vectors is wrong in elements beside an infinite one.
	lanes bool
	alike bool // vectors have the bits of elements that are computed alone
	// ulp is the error that OpenCL 1.2, section 7.4, allows of a device in single precision; that
	// of double precision is not larger.
	ulp int
	// value is the primitive in Go, of one argument, and two of two. One with neither has a case in
	// eval.go.
	value func(a float64) float64
	two   func(a, b float64) float64
}

var primitives = [...]primitive{
	opOperand:       {name: "operand", whole: true},
	opScalar:        {name: "scalar", whole: true},
	opConst:         {name: "constant", whole: true},
	opNeg:           {name: "neg", takes: "r", c: "-$0", ints: "as_$T(0 - as_$U($0))", whole: true},
	opAbs:           {name: "abs", takes: "r", c: "fabs($0)", ints: "as_$T(abs($0))", whole: true, value: math.Abs},
	opAdd:           {name: "add", takes: "rr", c: "$0 + $1", ints: "as_$T(as_$U($0) + as_$U($1))", whole: true},
	opSub:           {name: "sub", takes: "rr", c: "$0 - $1", ints: "as_$T(as_$U($0) - as_$U($1))", whole: true},
	opMul:           {name: "mul", takes: "rr", c: "$0 * $1", ints: "as_$T(as_$U($0) * as_$U($1))", whole: true},
	opDiv:           {name: "div", takes: "rr", c: "$0 / $1", ulp: 3},
	opFMA:           {name: "fma", takes: "rrr", c: "fma($0, $1, $2)"},
	opMin:           {name: "min", takes: "rr", c: "$0 != $0 || $0 < $1 ? $0 : $1", ints: "min($0, $1)", whole: true},
	opMax:           {name: "max", takes: "rr", c: "$0 != $0 || $0 > $1 ? $0 : $1", ints: "max($0, $1)", whole: true},
	opFmod:          {name: "fmod", takes: "rr", c: "fmod_$T($0, $1)", ints: "fmod_$T($0, $1)", depends: "floordiv", whole: true, two: math.Mod},
	opCopysign:      {name: "copysign", takes: "rr", c: "copysign($0, $1)", two: math.Copysign},
	opFloor:         {name: "floor", takes: "r", c: "FLOOR($0)", depends: "whole", ints: "$0", whole: true, value: math.Floor},
	opCeil:          {name: "ceil", takes: "r", c: "CEIL($0)", depends: "whole", ints: "$0", whole: true, value: math.Ceil},
	opTrunc:         {name: "trunc", takes: "r", c: "TRUNC($0)", depends: "whole", ints: "$0", whole: true, value: math.Trunc},
	opRound:         {name: "round", takes: "r", c: "RINT($0)", depends: "whole", ints: "$0", whole: true, value: math.RoundToEven},
	opFloat16:       {name: "float16", takes: "r", c: "in_float16_$T($0)", depends: "rounded", value: inFloat16},
	opBFloat16:      {name: "bfloat16", takes: "r", c: "in_bfloat16_$T($0)", depends: "rounded", value: inBFloat16},
	opSqrt:          {name: "sqrt", takes: "r", c: "sqrt($0)", ulp: 3, value: math.Sqrt},
	opHypot:         {name: "hypot", takes: "rr", c: "hypot_$T($0, $1)", depends: "hypot", ulp: 4, two: math.Hypot},
	opPow:           {name: "pow", takes: "rr", c: "pow_$T($0, $1)", ints: "pow_$T($0, $1)", depends: "pow", whole: true, alike: true, ulp: 16, two: pow},
	opExp:           {name: "exp", takes: "r", c: "exp($0)", ulp: 3, value: math.Exp},
	opExpOfNegative: {name: "exp", takes: "r", c: "exp_$T($0)", depends: "exp", alike: true, ulp: 3, value: math.Exp},
	opExp2:          {name: "exp2", takes: "r", c: "exp2($0)", ulp: 3, value: math.Exp2},
	opExpm1:         {name: "expm1", takes: "r", c: "expm1_$T($0)", depends: "expm1", ulp: 3, value: math.Expm1},
	opLog:           {name: "log", takes: "r", c: "log($0)", ulp: 3, value: log},
	opLog2:          {name: "log2", takes: "r", c: "log2_$T($0)", depends: "log2", ulp: 4, value: log2},
	opLog10:         {name: "log10", takes: "r", c: "log10($0)", ulp: 4, value: log10},
	opLog1p:         {name: "log1p", takes: "r", c: "log1p_$T($0)", depends: "log1p", ulp: 2, value: math.Log1p},
	opSin:           {name: "sin", takes: "r", c: "sine_$T($0, 0)", depends: "sine", ulp: 12, value: math.Sin}, // Go is off by 11 at 6e38
	opCos:           {name: "cos", takes: "r", c: "sine_$T($0, 1)", depends: "sine", ulp: 12, value: math.Cos},
	opTan:           {name: "tan", takes: "r", c: "tan_$T($0)", depends: "tan", ulp: 12, value: math.Tan},
	opAsin:          {name: "asin", takes: "r", c: "asin_$T($0)", depends: "asin", ulp: 4, value: asin},
	opAcos:          {name: "acos", takes: "r", c: "acos_$T($0)", depends: "acos", ulp: 4, value: acos},
	opAtan:          {name: "atan", takes: "r", c: "atan_$T($0)", depends: "atan", ulp: 5, value: math.Atan},
	opAtan2:         {name: "atan2", takes: "rr", c: "atan2_$T($0, $1)", depends: "atan2", ulp: 6, two: atan2},
	opSinh:          {name: "sinh", takes: "r", c: "sinh_$T($0)", depends: "sinh", ulp: 4, value: math.Sinh},
	opCosh:          {name: "cosh", takes: "r", c: "cosh_$T($0)", depends: "cosh", ulp: 4, value: math.Cosh},
	opTanh:          {name: "tanh", takes: "r", c: "tanh_$T($0)", depends: "tanh", ulp: 5, value: math.Tanh},
	opAsinh:         {name: "asinh", takes: "r", c: "asinh_$T($0)", depends: "asinh", ulp: 4, value: math.Asinh},
	opAcosh:         {name: "acosh", takes: "r", c: "acosh_$T($0)", depends: "acosh", ulp: 4, value: math.Acosh},
	opAtanh:         {name: "atanh", takes: "r", c: "atanh_$T($0)", depends: "atanh", ulp: 5, value: math.Atanh},
	opErf:           {name: "erf", takes: "r", c: "erf_$T($0)", depends: "erf", ulp: 16, value: math.Erf},
	opErfc:          {name: "erfc", takes: "r", c: "erfc_$T($0)", depends: "erfc", ulp: 16, value: math.Erfc},
	opSinPi:         {name: "sinpi", takes: "r", c: "turn_$T($0, 0)", depends: "sincospi", ulp: 4},
	opCosPi:         {name: "cospi", takes: "r", c: "turn_$T($0, 1)", depends: "sincospi", ulp: 4},
	opLdexp:         {name: "ldexp", takes: "ri", c: "ldexp($0, $1)"},
	opFloat:         {name: "float", takes: "i", c: "CONVERT($T, $0)", ints: "CONVERT($T, $0)", whole: true},
	opIndex:         {name: "index", gives: 'i', whole: true},
	opInt:           {name: "int scalar", gives: 'i', whole: true},
	opAt:            {name: "at", takes: "i", c: "AT($X, $0)", whole: true, lanes: true},
	opQuo:           {name: "quo", takes: "ii", gives: 'i', ints: "as_$T(as_$U($0) / max(as_$U($1), ($U)1))", whole: true},
	opRem:           {name: "rem", takes: "ii", gives: 'i', ints: "as_$T(as_$U($0) % max(as_$U($1), ($U)1))", whole: true},
	opMulHigh:       {name: "mul high", takes: "ii", gives: 'i', ints: "as_$T(mul_hi(as_$U($0), as_$U($1)))", whole: true},
	opRandom:        {name: "random", takes: "iiii", gives: 'i', ints: "as_$T(word_$U(as_$U($0), as_$U($1), as_$U($2), as_$U($3)))", depends: "philox1", whole: true},
	opErfInv:        {name: "erfinv", takes: "r", c: "erfinv_$T($0)", depends: "erfinv", ulp: 16, value: math.Erfinv},
	opFloorDiv:      {name: "floordiv", takes: "rr", c: "floordiv_$T($0, $1)", ints: "floordiv_$T($0, $1)", depends: "floordiv", whole: true, alike: true, ulp: 3, two: floorDiv},
	opBitAnd:        {name: "bitand", takes: "rr", c: "$0 & $1", whole: true, integers: true},
	opBitOr:         {name: "bitor", takes: "rr", c: "$0 | $1", whole: true, integers: true},
	opBitXor:        {name: "bitxor", takes: "rr", c: "$0 ^ $1", whole: true, integers: true},
	opShiftLeft: {name: "shift left", takes: "rr", c: "$1 < 0 || $1 > $B ? ($T)0 : as_$T(as_$U($0) << as_$U($1 & $B))",
		whole: true, integers: true},
	opShiftRight: {name: "shift right", takes: "rr", c: "$0 >> ($1 < 0 || $1 > $B ? ($T)$B : $1) >> ($1 < 0 || $1 > $B ? ($T)1 : ($T)0)", whole: true, integers: true},
	opLt:         {name: "lt", takes: "rr", condition: true, c: "$0 < $1", whole: true},
	opLe:         {name: "le", takes: "rr", condition: true, c: "$0 <= $1", whole: true},
	opEq:         {name: "eq", takes: "rr", condition: true, c: "$0 == $1", whole: true},
	opAnd:        {name: "and", takes: "cc", condition: true, c: "$0 && $1", whole: true},
	opOr:         {name: "or", takes: "cc", condition: true, c: "$0 || $1", whole: true},
	opNot:        {name: "not", takes: "c", condition: true, c: "!$0", whole: true},
	opWhere:      {name: "where", takes: "crr", c: "$0 ? $1 : $2", ints: "CONVERT($T, $0) ? $1 : $2", whole: true},
	opSigmoid:    {name: "sigmoid", takes: "r"},
	opSoftplus:   {name: "softplus", takes: "r"},
	opWhereLt:    {name: "where", takes: "rrrr", c: "$0 < $1 ? $2 : $3", whole: true},
	opWhereLe:    {name: "where", takes: "rrrr", c: "$0 <= $1 ? $2 : $3", whole: true},
	opWhereEq:    {name: "where", takes: "rrrr", c: "$0 == $1 ? $2 : $3", whole: true},
	opLoop:       {name: "loop", takes: "rrrr"},
}

func inFloat16(a float64) float64 { return float64(convert.ToFloat16(a).Float32()) }

func inBFloat16(a float64) float64 { return float64(convert.ToBFloat16(a).Float32()) }

// onInts reports whether the primitive is one of ints too, where it is a number of numbers.
func (p *primitive) onInts() bool { return p.ints != "" && p.gives == 0 }
