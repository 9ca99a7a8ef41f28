package expr

import (
	"cmp"
	"math"
	"unsafe"

	"github.com/clgrad/clgrad/internal/vec"
)

// Number is a type that formulas are computed in.
type Number interface {
	float32 | float64 | int32 | int64 | uint64
}

// Block is how many elements every program computes at a time, at least: see Program.Block.
const Block = 512

// mostBlock is how many elements a program computes at a time, at most.
const mostBlock = 8 * Block

// firstCache is how many numbers fit in the first cache of a processor.
const firstCache = 8192

// Block returns how many elements the program computes at a time: few enough that its values stay
// in the first cache, and so many that choosing the loop of a step costs nothing beside them.
func (p *Program) Block() int {
	n, of := mostBlock, cmp.Or(p.joined(), &p.plan)
	for n > Block && n*(of.registers[0]+of.registers[1]+1) > firstCache {
		n /= 2
	}
	return n
}

// Eval computes a program on blocks of elements. It is for one goroutine at a time.
type Eval[T Number] struct {
	p      *Program
	plain  *work[T] // nil until it is used
	joined *work[T] // the same
	*work[T]
	scalars []T // by their index
	whole   []int32
	vectors bool // what Vectors said last
	out     [1][]T
	loops   loops[T] // nil: plain ones
	set     *vec.Set // of loops on ints; nil: plain ones
	counts  []int32  // a block
	spare   []T      // a block
}

// work is a plan and the values of its steps.
type work[T Number] struct {
	plan    *plan
	numbers memory[T]
	ints    memory[int32]
	filled  []int // of each step whose value is a number: how many elements of its slot hold it
}

// memory is the values of one kind.
type memory[T Number] struct {
	registers [][]T // a block each
	values    [][]T // of each step, in the block that is computed
}

func newMemory[T Number](registers, steps, block int) memory[T] {
	m := memory[T]{make([][]T, registers), make([][]T, steps)}
	all := make([]T, registers*block)
	for i := range m.registers {
		m.registers[i] = all[i*block : (i+1)*block]
	}
	return m
}

// NewEval returns an Eval of p.
func NewEval[T Number](p *Program) *Eval[T] {
	n := 0
	for i := range p.steps {
		if s := &p.steps[i]; s.op == opScalar || s.op == opInt {
			n = max(n, s.index+1)
		}
	}
	return &Eval[T]{p: p, scalars: make([]T, n), whole: make([]int32, n)}
}

// newWork returns memory for a plan and blocks of some length, with its constants.
func newWork[T Number](p *plan, block int) *work[T] {
	steps := len(p.steps)
	w := &work[T]{p, newMemory[T](p.registers[0], steps, block), newMemory[int32](p.registers[1], steps, block),
		make([]int, steps)}
	for i := range p.steps {
		switch s := &p.steps[i]; {
		case s.op == opConst && s.whole:
			w.ints.registers[s.register][0], w.filled[i] = int32(s.value), 1
		case s.op == opConst:
			w.numbers.registers[s.register][0], w.filled[i] = T(s.value), 1
		}
	}
	return w
}

// Scalars sets the scalars of the blocks to come, those that are ints too.
func (e *Eval[T]) Scalars(scalar func(i int) T, whole ...func(i int) int32) {
	if len(e.scalars) == 0 { // nor are there ints
		return
	}
	for i := range e.p.steps {
		switch s := &e.p.steps[i]; s.op {
		case opScalar:
			e.scalars[s.index] = scalar(s.index)
		case opInt:
			e.whole[s.index] = whole[0](s.index)
		}
	}
	if e.work != nil {
		e.putScalars()
	}
}

// putScalars puts the scalars where the steps read them, and computes what is made of scalars and
// constants alone.
func (e *Eval[T]) putScalars() {
	for i := range e.plan.steps {
		switch s := &e.plan.steps[i]; {
		case s.op == opScalar:
			put(e.numbers.registers[s.register], e.scalars[s.index], &e.filled[i])
		case s.op == opInt:
			put(e.ints.registers[s.register], e.whole[s.index], &e.filled[i])
		case s.once:
			var made [1]T
			e.compute(s, made[:])
			put(e.numbers.registers[s.register], made[0], &e.filled[i])
		}
		if s := &e.plan.steps[i]; s.number() && !s.whole {
			e.numbers.values[i] = e.numbers.registers[s.register][:1]
		}
	}
}

// compute sets d to the primitive of a step of the values of its arguments.
func (e *Eval[T]) compute(s *step, d []T) {
	n := len(d)
	a, b, c, f := e.numbers.arg(s, 0, n), e.numbers.arg(s, 1, n), e.numbers.arg(s, 2, n), e.numbers.arg(s, 3, n)
	if !e.vector(s, d, a, b, c, f) {
		compute(s.op, d, a, b, c, f)
	}
}

// put makes the first element of d, the slot of a step whose value is a number, v. What the slot is filled
// with stays if it is that number.
func put[T Number](d []T, v T, filled *int) {
	if *filled == 0 || !same(d[0], v) {
		d[0], *filled = v, 1
	}
}

// same reports whether two numbers have the same bits.
func same[T Number](a, b T) bool {
	x, y := [1]T{a}, [1]T{b}
	if unsafe.Sizeof(a) == 8 {
		return words[uint64](x[:])[0] == words[uint64](y[:])[0]
	}
	return words[uint32](x[:])[0] == words[uint32](y[:])[0]
}

// spread makes at least the elements of d, the slot of a step whose value is a number, what the
// first of them is. filled is how many are.
func spread[T Number](d []T, filled *int) {
	if *filled < len(d) {
		vec.Fill(d, d[0])
		*filled = len(d)
	}
}

// Run computes as many elements as out has, at most a block, from those of the operands, nil for
// one that does not occur. out may be an operand.
func (e *Eval[T]) Run(out []T, operands [][]T) {
	e.out[0] = out
	e.RunAll(e.out[:], operands, nil)
}

// RunAll computes all formulas of the program, as many elements of each as outs have, none of which
// may be an operand if there are several. Of an operand that is read by index it takes all
// elements. index returns the indices of the elements along an axis, which are read at once, and
// may be nil if none occur.
func (e *Eval[T]) RunAll(outs, operands [][]T, index func(axis int) Indices) {
	if e.work == nil {
		e.Vectors(false)
	}
	n := len(outs[0])
	one := -1 // the step that may be computed where the result is to be: the last, after which nothing reads the operands
	if len(outs) == 1 {
		one = e.plan.results[0]
	}
	for i := range e.plan.steps {
		s := &e.plan.steps[i]
		if s.whole {
			d := e.ints.registers[s.register][:n]
			switch s.op {
			case opConst, opInt:
				spread(d, &e.filled[i])
			case opIndex:
				if !s.asFloat {
					d = e.indices(d, index(s.index))
				}
			case opWhere: // by a condition of numbers
				no, yes := words[uint32](e.ints.arg(s, 2, n)), words[uint32](e.ints.arg(s, 1, n))
				chooseWords(opWhereEq, words[uint32](d), e.numbers.arg(s, 0, n), zeros[T](n), no, yes)
			default:
				a, b, c, f := e.ints.arg(s, 0, n), e.ints.arg(s, 1, n), e.ints.arg(s, 2, n), e.ints.arg(s, 3, n)
				if !e.vectorInts(s, d, a, b, c, f) {
					computeInts(s.op, d, a, b, c, f)
				}
			}
			e.ints.values[i] = d
			continue
		}
		if s.op == opOperand {
			e.numbers.values[i] = operands[s.index][:n]
			continue
		}
		d := e.numbers.registers[s.register][:n]
		if i == one && !s.number() {
			d = outs[0]
		}
		switch {
		case s.number():
			spread(d, &e.filled[i])
		case s.op == opFloat:
			whole := e.ints.arg(s, 0, n)
			if from := &e.plan.steps[s.args[0]]; from.op == opIndex && from.asFloat {
				whole = e.intsIn(d, whole)
				whole = e.indices(whole, index(from.index))
			}
			e.fromInts(d, whole)
		case s.op == opAt:
			at(d, operands[s.index], e.ints.arg(s, 0, n))
		case s.op == opLdexp:
			ldexp(d, e.numbers.arg(s, 0, n), e.ints.arg(s, 1, n))
		default:
			e.compute(s, d)
		}
		e.numbers.values[i] = d
	}
	for k, r := range e.plan.results {
		if v := e.numbers.values[r]; len(v) > 0 && unsafe.SliceData(v) != unsafe.SliceData(outs[k]) {
			copy(outs[k], v)
		}
	}
}

// Indices are those of a block's elements along an axis, in rows of Cols elements: along the rows
// from First on or, if there are Rows, that of each row.
type Indices struct {
	Cols, First int
	Rows        []int32
}

// arg returns the values of argument k of a step; any slice of that length if it has no such
// argument.
func (m *memory[T]) arg(s *step, k, n int) []T {
	if k >= len(primitives[s.op].takes) {
		return zeros[T](n)
	}
	return m.values[s.args[k]][:n]
}

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
			v := a[i]
			if v < 0 {
				v = -v
			}
			d[i] = v + 0 // of −0, 0
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
	case opSinPi:
		sinCosPi(d, a, 0)
	case opCosPi:
		sinCosPi(d, a, 1)
	case opPow, opFmod, opFloorDiv, opBitAnd, opBitOr, opBitXor, opShiftLeft, opShiftRight:
		switch d := any(d).(type) {
		case []int32:
			integers(o, d, any(a).([]int32), any(b).([]int32))
			return
		case []int64:
			integers(o, d, any(a).([]int64), any(b).([]int64))
			return
		case []uint64:
			integers(o, d, any(a).([]uint64), any(b).([]uint64))
			return
		}
		f := primitives[o].two
		for i := range d {
			d[i] = T(f(float64(a[i]), float64(b[i])))
		}
	case opFloor, opCeil, opTrunc, opRound:
		if one := T(1); one/2 == 0 { // integers are whole
			copy(d, a)
			return
		}
		f := primitives[o].value
		for i := range d {
			d[i] = T(f(float64(a[i])))
		}
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

// choose sets d to yes where a < b, or a ≤ b or a = b, and to no elsewhere. It moves the words that
// hold the values: of integers the compiler makes conditional moves, of floats branches, and signs
// are as good as random: a mispredicted branch costs more than the function.
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

var zeroWords [mostBlock]uint64

// fma rounds x·y + z once. Of floats, the product is exact in double precision; the sum is rounded
// to odd, so that the second rounding, to float, is right.
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
	v, _ := p.Bound(func(i int) (value, off float64) { return operand(i), 0 }, scalar, 0, 0)
	return v
}
