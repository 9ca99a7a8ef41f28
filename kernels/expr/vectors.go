package expr

import (
	"math/bits"
	"sync"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/x448/float16"
)

// loops is a set's loops on numbers of type T.
type loops[T Number] interface {
	Has(f vec.Function) bool
	Map(f vec.Function, to, x0, x1, x2, x3 []T)
	Sum(x []T) T
}

// vectorOf has the primitives that there may be vector loops of, with the same arguments.
var vectorOf = [...]vec.Function{
	opNeg: vec.Neg, opAbs: vec.Abs, opAdd: vec.Add, opSub: vec.Sub, opMul: vec.Mul, opDiv: vec.Div, opFMA: vec.FMA, opMin: vec.Min, opMax: vec.Max,
	opCopysign: vec.Copysign, opFloor: vec.Floor, opCeil: vec.Ceil, opTrunc: vec.Trunc, opRound: vec.Round, opSqrt: vec.Sqrt,
	opLt: vec.Less, opLe: vec.LessEqual, opEq: vec.Equal, opAnd: vec.And, opOr: vec.Or, opNot: vec.Not,
	opWhere: vec.Where, opWhereLt: vec.WhereLess, opWhereLe: vec.WhereLessEqual, opWhereEq: vec.WhereEqual,
	opExp: vec.Exp, opExpOfNegative: vec.Exp, opExp2: vec.Exp2, opExpm1: vec.Expm1, opTanh: vec.Tanh, opLog: vec.Log, opLog2: vec.Log2, opLog1p: vec.Log1p,
	opSin: vec.Sin, opCos: vec.Cos, opSinPi: vec.SinPi, opCosPi: vec.CosPi, opErf: vec.Erf, opErfc: vec.Erfc,
	opErfInv: vec.ErfInv, opLog10: vec.Log10, opPow: vec.Pow, opHypot: vec.Hypot, opTan: vec.Tan, opAsin: vec.Asin, opAcos: vec.Acos,
	opAtan: vec.Atan, opAtan2: vec.Atan2, opSinh: vec.Sinh, opCosh: vec.Cosh, opAsinh: vec.Asinh, opAcosh: vec.Acosh, opAtanh: vec.Atanh,
	opFmod: vec.Fmod, opFloorDiv: vec.FloorDiv, opBitAnd: vec.BitAnd, opBitOr: vec.BitOr, opBitXor: vec.BitXor,
	opLoop: vec.None, // the step says which
}

// intVectorOf has those of ints.
var intVectorOf = [...]vec.Function{
	opNeg: vec.NegInts, opAbs: vec.AbsInts, opAdd: vec.AddInts, opSub: vec.SubInts, opMul: vec.MulInts, opMin: vec.MinInts, opMax: vec.MaxInts,
	opLt: vec.LessInts, opLe: vec.LessEqualInts, opEq: vec.EqualInts, opAnd: vec.AndInts, opOr: vec.OrInts, opNot: vec.NotInts,
	opWhere: vec.WhereInts, opWhereLt: vec.WhereLessInts, opWhereLe: vec.WhereLessEqualInts, opWhereEq: vec.WhereEqualInts,
	opBitAnd: vec.BitAnd, opBitOr: vec.BitOr, opBitXor: vec.BitXor, opShiftLeft: vec.ShiftLeft, opShiftRight: vec.ShiftRight,
	opMulHigh: vec.MulHigh, opRandom: vec.Random,
}

// Vectors says whether the blocks to come are computed with the vector instructions of the
// processor, as far as there are loops in them. Until then they are not.
func (e *Eval[T]) Vectors(use bool) {
	if e.work != nil && e.vectors == use {
		return
	}
	e.vectors, e.loops, e.set = use, nil, nil
	if use {
		e.findLoops()
	}
	if joined := e.p.joined(); joined == nil || e.loops == nil || !e.loops.Has(vec.Formulas[0].Function) {
		e.change(&e.plain, &e.p.plan)
	} else {
		e.change(&e.joined, joined)
	}
}

// change goes over to another plan, whose work is made the first time.
func (e *Eval[T]) change(to **work[T], p *plan) {
	if *to == nil {
		*to = newWork[T](p, e.p.Block())
	}
	e.work = *to
	e.putScalars()
}

// findLoops takes the loops of the processor on numbers of type T and on ints, if there are any.
func (e *Eval[T]) findLoops() {
	if e.set, _ = vec.Chosen(); e.set == nil {
		return
	}
	if l, ok := any(vec.On[float32](e.set)).(loops[T]); ok {
		e.loops = l
	} else if l, ok := any(vec.On[float64](e.set)).(loops[T]); ok {
		e.loops = l
	}
}

// vector computes the primitive of a step with a vector loop, and reports whether there is one.
func (e *Eval[T]) vector(s *step, d, x0, x1, x2, x3 []T) bool {
	o := s.op
	if to, ok := any(d).([]int32); ok {
		return e.vectorInts(s, to, any(x0).([]int32), any(x1).([]int32), any(x2).([]int32), any(x3).([]int32))
	}
	if to, ok := any(d).([]float32); ok && (o == opFloat16 || o == opBFloat16) {
		if o == opFloat16 {
			vec.RoundHalves[float16.Float16](e.set, to, any(x0).([]float32))
		} else {
			vec.RoundHalves[bfloat16.BFloat16](e.set, to, any(x0).([]float32))
		}
		return true
	}
	if e.loops == nil || int(o) >= len(vectorOf) {
		return false
	}
	f := vectorOf[o]
	if o == opLoop {
		f = s.loop
	}
	if f == vec.None || !e.loops.Has(f) {
		return false
	}
	switch o {
	case opSin, opCos, opTan, opFmod, opFloorDiv:
		e.mended(o, f, d, x0, x1)
	case opPow:
		if len(d) == 0 || !e.plan.steps[s.args[1]].uniform || !e.product(d, x0, x1[0]) {
			e.loops.Map(f, d, x0, x1, x2, x3)
		}
	default:
		e.loops.Map(f, d, x0, x1, x2, x3)
	}
	return true
}

// product sets d to squares or cubes of x, the products that the loop of powers has for them, or
// returns false if y is another power.
func (e *Eval[T]) product(d, x []T, y T) bool {
	switch y {
	case 2:
		e.loops.Map(vec.Mul, d, x, x, x, x)
	case 3:
		square := e.room(len(d))
		e.loops.Map(vec.Mul, square, x, x, x, x)
		e.loops.Map(vec.Mul, d, square, x, x, x)
	default:
		return false
	}
	return true
}

// room returns memory for n elements of a block.
func (e *Eval[T]) room(n int) []T {
	if e.spare == nil {
		e.spare = make([]T, e.p.Block())
	}
	return e.spare[:n]
}

// mended computes a primitive with a loop that has NaN where it cannot tell, of few elements: plain
// loops compute those.
func (e *Eval[T]) mended(o op, f vec.Function, d, x0, x1 []T) {
	to, inPlace := d, len(d) > 0 && (&d[0] == &x0[0] || &d[0] == &x1[0])
	if inPlace {
		to = e.room(len(d))
	}
	e.loops.Map(f, to, x0, x1, x1, x1)
	if sum := e.loops.Sum(to); sum-sum != 0 { // NaN where an element is
		for i, v := range to {
			if v != v {
				compute(o, to[i:i+1], x0[i:i+1], x1[i:i+1], x1[i:i+1], x1[i:i+1])
			}
		}
	}
	if inPlace {
		copy(d, to)
	}
}

// vectorInts computes the primitive of a step of ints with a vector loop, and reports whether there
// is one.
func (e *Eval[T]) vectorInts(s *step, d, x0, x1, x2, x3 []int32) bool {
	if e.set == nil {
		return false
	}
	if s.op == opQuo || s.op == opRem {
		return e.divided(s, d, x0, x1)
	}
	if int(s.op) >= len(intVectorOf) || intVectorOf[s.op] == vec.None {
		return false
	}
	e.set.MapInts(intVectorOf[s.op], d, x0, x1, x2, x3)
	return true
}

// divided computes quotients and remainders by a power of two that is the same for all elements, or
// returns false.
func (e *Eval[T]) divided(s *step, d, x, by []int32) bool {
	if len(d) == 0 || !e.plan.steps[s.args[1]].uniform || bits.OnesCount32(uint32(by[0])) != 1 {
		return false
	}
	if e.counts == nil {
		e.counts = make([]int32, e.p.Block())
	}
	with, f := e.counts[:len(d)], vec.ShiftRightZeros
	if s.op == opQuo {
		vec.Fill(with, int32(bits.TrailingZeros32(uint32(by[0]))))
	} else {
		vec.Fill(with, by[0]-1)
		f = vec.BitAnd
	}
	e.set.MapInts(f, d, x, with, x, x)
	return true
}

// intsIn returns the memory of d for ints, or other memory where ints are not as long as the
// elements of d.
func (e *Eval[T]) intsIn(d []T, other []int32) []int32 {
	switch d := any(d).(type) {
	case []int32:
		return d
	case []float32:
		return vec.Ints(d)
	}
	return other
}

// fromInts sets d to ints as numbers, which may lie in its memory.
func (e *Eval[T]) fromInts(d []T, ints []int32) {
	switch to := any(d).(type) {
	case []int32:
		copy(to, ints)
		return
	case []float32:
		if e.set != nil {
			e.set.MapInts(vec.FromInts, vec.Ints(to), ints, ints, ints, ints)
			return
		}
	}
	for k := range d {
		d[k] = T(ints[k])
	}
}

// indices returns those of a block, in d unless they count from 0.
func (e *Eval[T]) indices(d []int32, of Indices) []int32 {
	if of.Rows != nil {
		for r, v := range of.Rows {
			vec.Fill(d[r*of.Cols:(r+1)*of.Cols], v)
		}
		return d
	}
	if of.First == 0 && len(d) <= of.Cols {
		return ascending()[:len(d)]
	}
	row := d[:min(of.Cols, len(d))]
	if e.set != nil {
		vec.Fill(row, int32(of.First))
		e.set.MapInts(vec.AddInts, row, row, ascending()[:len(row)], row, row)
	} else {
		for c := range row {
			row[c] = int32(of.First + c)
		}
	}
	for done := len(row); done < len(d); done *= 2 {
		copy(d[done:], d[:done])
	}
	return d
}

// ascending is the numbers from 0 on, a block of them.
var ascending = sync.OnceValue(func() []int32 {
	v := make([]int32, mostBlock)
	for i := range v {
		v[i] = int32(i)
	}
	return v
})
