package expr

import (
	"unsafe"

	"github.com/clgrad/clgrad/internal/vec"
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
	opExp: vec.Exp, opExp2: vec.Exp2, opExpm1: vec.Expm1, opTanh: vec.Tanh, opLog: vec.Log, opLog2: vec.Log2, opLog1p: vec.Log1p,
	opSin: vec.Sin, opCos: vec.Cos, opSinPi: vec.SinPi, opCosPi: vec.CosPi, opErf: vec.Erf, opErfc: vec.Erfc,
	opErfInv: vec.ErfInv, opLog10: vec.Log10, opPow: vec.Pow, opHypot: vec.Hypot, opTan: vec.Tan, opAsin: vec.Asin, opAcos: vec.Acos,
	opAtan: vec.Atan, opAtan2: vec.Atan2, opSinh: vec.Sinh, opCosh: vec.Cosh, opAsinh: vec.Asinh, opAcosh: vec.Acosh, opAtanh: vec.Atanh,
	opFmod: vec.Fmod, opFloorDiv: vec.FloorDiv, opBitAnd: vec.BitAnd, opBitOr: vec.BitOr, opBitXor: vec.BitXor,
	opLoop: vec.None, // the step says which
}

// Vectors says whether the blocks to come are computed with the vector instructions of the processor, as far as there
// are loops in them. Until then they are not.
func (e *Eval[T]) Vectors(use bool) {
	e.loops = nil
	if use {
		e.findLoops()
	}
	if e.p.joined == nil || e.loops == nil || !e.loops.Has(vec.Formulas[0].Function) {
		e.change(&e.plain, &e.p.plan)
	} else {
		e.change(&e.joined, e.p.joined)
	}
}

// change goes over to another plan, whose work is made the first time.
func (e *Eval[T]) change(to **work[T], p *plan) {
	if *to == nil {
		*to = newWork[T](p, e.p.Block())
	}
	if e.work != *to {
		e.work = *to
		e.putScalars()
	}
}

// findLoops takes the loops of the processor on numbers of type T, if there are any.
func (e *Eval[T]) findLoops() {
	set, _ := vec.Chosen()
	if set == nil {
		return
	}
	if l, ok := any(vec.On[float32](set)).(loops[T]); ok {
		e.loops = l
	} else if l, ok := any(vec.On[float64](set)).(loops[T]); ok {
		e.loops = l
	} else if l, ok := any(bitLoops{vec.On[float32](set)}).(loops[T]); ok {
		e.loops = l
	}
}

// bitLoops is the loops on int32 that set each bit by those of the operands at its place: what they move are words of
// its size.
type bitLoops struct{ words *vec.Loops[float32] }

func (l bitLoops) Has(f vec.Function) bool {
	return (f == vec.BitAnd || f == vec.BitOr || f == vec.BitXor) && l.words.Has(f)
}

func (l bitLoops) Map(f vec.Function, to, x0, x1, x2, x3 []int32) {
	l.words.Map(f, floats(to), floats(x0), floats(x1), floats(x2), floats(x3))
}

// Sum is of no use for bits.
func (l bitLoops) Sum([]int32) int32 { return 0 }

// floats returns the words of ints as floats, to be moved.
func floats(v []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// vector computes the primitive of a step with a vector loop, and reports whether there is one.
func (e *Eval[T]) vector(s *step, d, x0, x1, x2, x3 []T) bool {
	o := s.op
	if e.loops == nil {
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
		if len(d) == 0 || !e.plan.uniform(s.args[1]) || !e.product(d, x0, x1[0]) {
			e.loops.Map(f, d, x0, x1, x2, x3)
		}
	default:
		e.loops.Map(f, d, x0, x1, x2, x3)
	}
	return true
}

// product sets d to squares or cubes of x, the products that the loop of powers has for them, or returns false if y
// is another power.
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

// mended computes a primitive with a loop that has NaN where it cannot tell, of few elements: plain loops compute
// those.
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
