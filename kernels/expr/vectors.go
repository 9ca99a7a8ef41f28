package expr

import "github.com/clgrad/clgrad/internal/vec"

// loops is a set's loops on numbers of type T.
type loops[T Number] interface {
	Has(f vec.Function) bool
	Map(f vec.Function, to, x0, x1, x2, x3 []T)
}

// vectorOf has the primitives that there may be vector loops of, with the same arguments.
var vectorOf = [...]vec.Function{
	opNeg: vec.Neg, opAbs: vec.Abs, opAdd: vec.Add, opSub: vec.Sub, opMul: vec.Mul, opDiv: vec.Div, opFMA: vec.FMA, opMin: vec.Min, opMax: vec.Max,
	opCopysign: vec.Copysign, opFloor: vec.Floor, opCeil: vec.Ceil, opTrunc: vec.Trunc, opRound: vec.Round, opSqrt: vec.Sqrt,
	opLt: vec.Less, opLe: vec.LessEqual, opEq: vec.Equal, opAnd: vec.And, opOr: vec.Or, opNot: vec.Not,
	opWhere: vec.Where, opWhereLt: vec.WhereLess, opWhereLe: vec.WhereLessEqual, opWhereEq: vec.WhereEqual,
	opExp: vec.Exp, opExp2: vec.Exp2, opExpm1: vec.Expm1, opTanh: vec.Tanh, opLog: vec.Log, opLog2: vec.Log2, opLog1p: vec.Log1p,
	opSin: vec.Sin, opCos: vec.Cos, opSinPi: vec.SinPi, opCosPi: vec.CosPi, opErf: vec.Erf, opErfc: vec.Erfc,
}

// Vectors says whether the blocks to come are computed with the vector instructions of the processor, as far as there are
// loops in them. Until then they are not.
func (e *Eval[T]) Vectors(use bool) {
	e.loops = nil
	if !use {
		return
	}
	set, _ := vec.Chosen()
	if set == nil {
		return
	}
	if l, ok := any(vec.On[float32](set)).(loops[T]); ok {
		e.loops = l
	} else if l, ok := any(vec.On[float64](set)).(loops[T]); ok {
		e.loops = l
	}
}

// vector computes a primitive with a vector loop, and reports whether there is one.
func (e *Eval[T]) vector(o op, d, x0, x1, x2, x3 []T) bool {
	if e.loops == nil {
		return false
	}
	f := vectorOf[o]
	if f == vec.None || !e.loops.Has(f) {
		return false
	}
	if o != opSin && o != opCos {
		e.loops.Map(f, d, x0, x1, x2, x3)
		return true
	}
	// Few angles are too large for the loop. They are kept, for d may lie where they do.
	e.large = e.large[:0]
	limit := float64(vec.SineLimit)
	for i, v := range x0 {
		if x := float64(v); !(x <= limit && x >= -limit) {
			e.large = append(e.large, large[T]{i, T(primitives[o].value(x))})
		}
	}
	e.loops.Map(f, d, x0, x1, x2, x3)
	for _, v := range e.large {
		d[v.at] = v.value
	}
	return true
}

// large is an element that a plain loop computes.
type large[T Number] struct {
	at    int
	value T
}
