package expr

import "math"

// Bound returns the value of a formula for one element, computed in double precision, and how far
// from it a result may lie: one of a device whose primitives keep within the errors that OpenCL
// allows, or one of Go with package math. The operands may be off themselves. eps is the spacing of
// the device's floats at 1, and least their least normal number: smaller ones may become 0. The
// bound is 0 if only exact primitives made the value of exact operands, or if it is NaN or infinite
// and its arguments are exact.
//
// The error of each step is that of its arguments, by the change that it makes of the value, and
// its own. It is a running bound as in Higham, "Accuracy and Stability of Numerical Algorithms",
// 2002, section 3.3, but of first order.
func (p *Program) Bound(operand func(i int) (value, off float64), scalar func(i int) float64, eps, least float64) (value, bound float64) {
	return p.BoundOf(0, Leaves{Operand: operand, Scalar: scalar}, eps, least)
}

// Leaves are what formulas are of, for one element.
type Leaves struct {
	Operand func(i int) (value, off float64) // how far off it may be, too
	Scalar  func(i int) float64              // those that are ints, too
	Index   func(axis int) int               // of the element
	Element func(i, at int) float64          // of an operand that is read by index
}

// BoundOf is Bound for one of the formulas of a program.
func (p *Program) BoundOf(result int, leaves Leaves, eps, least float64) (value, bound float64) {
	var few [48]interval // on the stack: a bound is computed for each element of a test
	of := few[:]
	if len(p.steps) > len(few) {
		of = make([]interval, len(p.steps))
	}
	for i := range p.steps {
		s := &p.steps[i]
		switch s.op {
		case opOperand:
			of[i].v, of[i].e = leaves.Operand(s.index)
		case opScalar, opInt:
			of[i].v = leaves.Scalar(s.index)
		case opIndex:
			of[i].v = float64(leaves.Index(s.index))
		case opAt:
			of[i].v = leaves.Element(s.index, int(of[s.args[0]].v))
		case opConst:
			of[i].v = s.value
			if eps > 0x1p-50 && !s.whole {
				of[i].v = float64(float32(s.value))
			}
		default:
			var args [4]interval
			for k, a := range s.operands() {
				args[k] = of[a]
			}
			if s.compares() && s.args[0] == s.args[1] { // whether it is NaN does not hang on how far it is off
				args[0].e, args[1].e = 0, 0
			}
			if s.whole {
				of[i].v = intValue(s.op, args)
				continue
			}
			of[i] = s.bounded(args, eps, least)
		}
		if v := math.Abs(of[i].v); s.leaf() && v < least { // what follows may multiply it by much
			of[i].e = math.Max(of[i].e, v)
		}
	}
	r := of[p.results[result]]
	return r.v, r.e
}

// interval is a value and its error.
type interval struct{ v, e float64 }

// intValue is a primitive of ints, which are exact.
func intValue(o op, args [4]interval) float64 {
	var d [1]int32
	var of [4][]int32
	for k, a := range args {
		of[k] = []int32{int32(a.v)}
	}
	computeInts(o, d[:], of[0], of[1], of[2], of[3])
	return float64(d[0])
}

// leaf reports whether the step reads a float, which a device may take for 0 where it is below the
// least normal number.
func (s *step) leaf() bool {
	return s.op == opOperand || s.op == opAt || s.op == opConst && !s.whole || s.op == opScalar
}

// exact reports whether the result is a float already, which nothing rounds.
func (s *step) exact() bool {
	switch s.op {
	case opNeg, opAbs, opMin, opMax, opCopysign, opFloor, opCeil, opTrunc, opRound, opFloat16, opBFloat16,
		opLt, opLe, opEq, opAnd, opOr, opNot, opWhere, opWhereLt, opWhereLe, opWhereEq, opBitAnd, opBitOr, opBitXor, opShiftLeft, opShiftRight:
		return true
	}
	return false
}

// compares reports whether the first two arguments are compared.
func (s *step) compares() bool {
	switch s.op {
	case opLt, opLe, opEq, opWhereLt, opWhereLe, opWhereEq:
		return true
	}
	return false
}

func (s *step) bounded(args [4]interval, eps, least float64) interval {
	at := func(a [4]interval) float64 {
		return scalarValue(s.op, a[0].v, a[1].v, a[2].v, a[3].v)
	}
	v := at(args)
	n := len(primitives[s.op].takes)
	exact := true
	for _, a := range args[:n] {
		exact = exact && a.e == 0
	}
	if exact && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return interval{v, 0}
	}
	cancels := v == 0 && (s.op == opAdd || s.op == opSub)
	if exact && (cancels || s.op == opFloat && float64(float32(v)) == v) { // nothing is rounded
		return interval{v, 0}
	}
	e := 0.0
	for k := range args[:n] { // how the value changes with each argument
		if args[k].e == 0 {
			continue
		}
		up, down := args, args
		up[k].v += args[k].e
		down[k].v -= args[k].e
		e += math.Max(math.Abs(at(up)-v), math.Abs(at(down)-v))
	}
	if s.op >= opWhereLt || s.op == opWhere {
		e = s.chosen(args, e)
	}
	if math.IsNaN(e) || math.IsNaN(v) || math.IsInf(v, 0) {
		return interval{v, math.Inf(1)}
	}
	if s.op == opPow && eps < 0x1p-50 && v != 0 { // math.Pow multiplies, and raises e to a part of y·ln x, which is as far off as that is large
		e += (math.Abs(math.Log(math.Abs(v))) + math.Abs(args[1].v)) * eps * math.Abs(v)
	}
	if !s.exact() {
		e += (float64(primitives[s.op].ulp)+1)*eps*math.Abs(v) + least
	}
	return interval{v, e}
}

// chosen returns the error of a choice: that of what was chosen, and the difference of both where
// it may go either way.
func (s *step) chosen(args [4]interval, e float64) float64 {
	if s.op == opWhere {
		if args[0].e > 0 {
			e = math.Max(e, math.Abs(args[1].v-args[2].v)+args[1].e+args[2].e)
		}
		return e
	}
	if margin := args[0].e + args[1].e; margin > 0 && math.Abs(args[0].v-args[1].v) <= margin {
		return math.Max(e, math.Abs(args[2].v-args[3].v)+args[2].e+args[3].e)
	}
	return e
}

// scalarValue is a primitive of one element in double precision.
func scalarValue(o op, a, b, c, e float64) float64 {
	switch o {
	case opFloat:
		return a
	case opLdexp:
		return math.Ldexp(a, int(b))
	case opAdd: // the most frequent, without slices
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	}
	var d [1]float64
	compute(o, d[:], []float64{a}, []float64{b}, []float64{c}, []float64{e})
	return d[0]
}
