package expr

import (
	"math"
	"unsafe"
)

// Number is a type that formulas are computed in.
type Number interface{ float32 | float64 | int32 }

// Block is how many elements are computed at a time: few enough that all values of a formula stay in the first cache,
// and so many that choosing the loop of a step costs nothing beside them.
const Block = 512

// Eval computes a program on blocks of elements. It is for one goroutine at a time.
type Eval[T Number] struct {
	p      *Program
	slots  [][]T // Block elements each
	values [][]T // of each step, in the block that is computed
}

// NewEval returns an Eval of p.
func NewEval[T Number](p *Program) *Eval[T] {
	e := &Eval[T]{p, make([][]T, p.slots), make([][]T, len(p.steps))}
	memory := make([]T, p.slots*Block)
	for i := range e.slots {
		e.slots[i] = memory[i*Block : (i+1)*Block]
	}
	for _, s := range p.steps {
		if s.op == opConst {
			fill(e.slots[s.slot], T(s.value))
		}
	}
	return e
}

// Scalars sets the scalars of the blocks to come.
func (e *Eval[T]) Scalars(scalar func(i int) T) {
	for _, s := range e.p.steps {
		if s.op == opScalar {
			fill(e.slots[s.slot], scalar(s.index))
		}
	}
}

func fill[T Number](d []T, v T) {
	for i := range d {
		d[i] = v
	}
}

// Run computes as many elements as out has, at most Block, from those of the operands, nil for one that does not occur.
// out may be an operand.
func (e *Eval[T]) Run(out []T, operands [][]T) {
	n := len(out)
	for i := range e.p.steps {
		s := &e.p.steps[i]
		d := e.slots[s.slot][:n]
		if i == e.p.result {
			d = out
		}
		switch s.op {
		case opOperand:
			if i == e.p.result {
				copy(d, operands[s.index])
				return
			}
			e.values[i] = operands[s.index][:n]
			continue
		case opConst, opScalar:
			if i == e.p.result {
				copy(d, e.slots[s.slot])
				return
			}
		default:
			compute(s.op, d, e.arg(s, 0, n), e.arg(s, 1, n), e.arg(s, 2, n), e.arg(s, 3, n))
		}
		e.values[i] = d
	}
}

// arg returns the values of argument k of a step; any slice of that length if it has no such argument.
func (e *Eval[T]) arg(s *step, k, n int) []T { return e.values[s.args[k]][:n] }

// compute runs one primitive over a block.
func compute[T Number](o op, d, a, b, c, e []T) {
	a, b, c, e = a[:len(d)], b[:len(d)], c[:len(d)], e[:len(d)]
	switch o {
	case opNeg:
		for i := range d {
			d[i] = -a[i]
		}
	case opAdd:
		for i := range d {
			d[i] = a[i] + b[i]
		}
	case opSub:
		for i := range d {
			d[i] = a[i] - b[i]
		}
	case opMul:
		for i := range d {
			d[i] = a[i] * b[i]
		}
	case opDiv:
		for i := range d {
			d[i] = a[i] / b[i]
		}
	case opFMA:
		fma(d, a, b, c)
	case opAbs:
		for i := range d {
			d[i] = max(a[i], -a[i])
		}
	case opMin:
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	case opMax:
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	case opLt:
		for i := range d {
			d[i] = T(bit(a[i] < b[i]))
		}
	case opLe:
		for i := range d {
			d[i] = T(bit(a[i] <= b[i]))
		}
	case opEq:
		for i := range d {
			d[i] = T(bit(a[i] == b[i]))
		}
	case opAnd:
		for i := range d {
			d[i] = T(bit(a[i] != 0) & bit(b[i] != 0))
		}
	case opOr:
		for i := range d {
			d[i] = T(bit(a[i] != 0) | bit(b[i] != 0))
		}
	case opNot:
		for i := range d {
			d[i] = T(bit(a[i] == 0))
		}
	case opWhere:
		choose(opWhereEq, d, a, zeros[T](len(d)), c, b)
	case opWhereLt, opWhereLe, opWhereEq:
		choose(o, d, a, b, c, e)
	default:
		if f := primitives[o].value; f != nil {
			for i := range d {
				d[i] = T(f(float64(a[i])))
			}
			return
		}
		f := primitives[o].two
		for i := range d {
			d[i] = T(f(float64(a[i]), float64(b[i])))
		}
	}
}

// bit returns 1 for true; the compiler makes no branch of it.
func bit(b bool) int {
	var i int
	if b {
		i = 1
	}
	return i & 1
}

// choose sets d to yes where a < b, or a ≤ b or a = b, and to no elsewhere. It moves the words that hold the values: of
// integers the compiler makes conditional moves, of floats branches, and signs are as good as random: a mispredicted
// branch costs more than the function.
func choose[T Number](o op, d, a, b, yes, no []T) {
	if unsafe.Sizeof(*new(T)) == 8 {
		chooseWords(o, words[uint64](d), a, b, words[uint64](yes), words[uint64](no))
		return
	}
	chooseWords(o, words[uint32](d), a, b, words[uint32](yes), words[uint32](no))
}

func chooseWords[W uint32 | uint64, T Number](o op, d []W, a, b []T, yes, no []W) {
	a, b, yes, no = a[:len(d)], b[:len(d)], yes[:len(d)], no[:len(d)]
	switch o {
	case opWhereLt:
		for i := range d {
			v, w := no[i], yes[i]
			if a[i] < b[i] {
				v = w
			}
			d[i] = v
		}
	case opWhereLe:
		for i := range d {
			v, w := no[i], yes[i]
			if a[i] <= b[i] {
				v = w
			}
			d[i] = v
		}
	default:
		for i := range d {
			v, w := no[i], yes[i]
			if a[i] == b[i] {
				v = w
			}
			d[i] = v
		}
	}
}

// words returns the values as the words that hold them, of their size.
func words[W uint32 | uint64, T Number](v []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// zeros returns n zeros, which must not be written.
func zeros[T Number](n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&zeroWords)), n)
}

var zeroWords [Block]uint64

// fma rounds x·y + z once. Of floats, the product is exact in double precision; the sum is rounded to odd, so that the
// second rounding, to float, is right.
func fma[T Number](d, x, y, z []T) {
	if _, single := any(d).([]float32); !single {
		for i := range d {
			d[i] = T(math.FMA(float64(x[i]), float64(y[i]), float64(z[i])))
		}
		return
	}
	for i := range d {
		p, a := float64(x[i])*float64(y[i]), float64(z[i])
		s := p + a
		back := s - p
		if lost := (p - (s - back)) + (a - back); lost != 0 && !math.IsInf(s, 0) && math.Float64bits(s)&1 == 0 {
			away := uint64(1)
			if (lost > 0) != (s > 0) {
				away = ^uint64(0)
			}
			s = math.Float64frombits(math.Float64bits(s) + away)
		}
		d[i] = T(s)
	}
}

// At returns the value of the formula for one element, in double precision.
func (p *Program) At(operand, scalar func(i int) float64) float64 {
	v, _ := p.bound(func(i int) (value, off float64) { return operand(i), 0 }, scalar, 0, 0)
	return v
}
