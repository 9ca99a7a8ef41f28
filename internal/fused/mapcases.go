package fused

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// tolerance of a map: the bits of the host kernel where every step is rounded as IEEE 754 says, else what
// the errors of the steps add up to, for each element from its own operands.
func (m *mapSpec) tolerance() kernels.Tolerance {
	if m.typ != kernels.Float32 || m.program.Exact() {
		return kernels.Tolerance{}
	}
	return kernels.Tolerance{ULP: 1, Bound: m.bound}
}

func (m *mapSpec) bound(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	return m.boundOf(float, args, -1, nil)
}

// boundOf is bound where element i of one tensor, in the order of the results, has errors.
func (m *mapSpec) boundOf(float kernels.DType, args []kernels.Arg, stored int,
	errors func(i int) float64) func(param, i int) float64 {
	before := slices.Clone(args)
	for t := range m.uses { // a result may be an operand
		for y := len(m.uses); y < m.tensors(); y++ {
			if args[t].Buf == args[y].Buf {
				in := kernels.NewHostBuffer(args[t].Buf.DType(), args[t].N)
				kernels.CopyHostBuffer(in, 0, args[t].Buf.(*kernels.HostBuffer), args[t].Off, args[t].N)
				before[t] = kernels.BufferArg(in, 0, args[t].N)
				break
			}
		}
	}
	l := mapLoopsOf(m, args)
	places := make([]map[int]int, m.tensors()) // of a result with gaps: element of its memory to its number
	eps, least := float.Epsilon()
	number := func(y, i int) (n int, written bool) { // of the element that lies at i
		if l.dense[y] {
			return i, i >= 0 && i < l.n
		}
		if places[y] == nil {
			places[y] = map[int]int{}
			for k := range l.n {
				places[y][l.at(y, k)] = k
			}
		}
		n, written = places[y][i]
		return n, written
	}
	return func(y, i int) float64 {
		at, written := number(y, i)
		for z := len(m.uses); z < m.tensors() && !written; z++ { // what lies in the gaps of a result is another's
			if args[z].Buf == args[y].Buf {
				if at, written = number(z, args[y].Off+i-args[z].Off); written {
					y = z
				}
			}
		}
		if !written {
			return 0
		}
		i = at
		value, bound := m.program.BoundOf(y-len(m.uses), expr.Leaves{
			Operand: func(o int) (value, off float64) {
				t := slices.Index(m.uses, o)
				if t == stored {
					return before[t].At(i), errors(i)
				}
				return before[t].At(l.at(t, i)), 0
			},
			Scalar: func(s int) float64 { return scalarOf[float64](m.scalar(args, s)) },
			Index: func(axis int) int {
				n := i
				for d := l.rank - 1; d > axis; d-- {
					n /= l.dims[d]
				}
				return n % l.dims[axis]
			},
			Element: func(o, k int) float64 {
				t := slices.Index(m.uses, o)
				if k < 0 || k >= int(args[m.stridesAt(t)].Int) {
					return 0
				}
				return before[t].At(k)
			}}, eps, least)
		if m.half(y) { // rounded to either side
			spacing, _ := m.types[y].Epsilon()
			bound += spacing * math.Abs(value)
		}
		return bound
	}
}

// at returns where element i of the result's order lies in tensor t.
func (l *mapLoops) at(t, i int) int {
	inner := l.dims[l.rank-1]
	return l.row(t, i/inner) + i%inner*l.strides[t][l.rank-1]
}

// shapes are the dimensions that a map is tested with, around its chunks, tiles and vectors.
func (m *mapSpec) shapes(few bool) [][]int {
	if m.outer == 0 {
		var shapes [][]int
		for _, n := range kernels.Sizes(few) {
			shapes = append(shapes, []int{n})
		}
		return shapes
	}
	outer := make([]int, m.outer)
	for i := range outer {
		outer[i] = 1
	}
	with := func(inner int, last ...int) []int {
		d := slices.Clone(outer)
		copy(d[max(0, len(d)-len(last)):], last[max(0, len(last)-len(d)):])
		return append(d, inner)
	}
	switch {
	case few && m.l.Aligned: // rows of whole vectors
		return [][]int{with(8, 2, 3), with(68, 33)}
	case few:
		return [][]int{with(7, 2, 3), with(67, 33)}
	}
	shapes := [][]int{with(1, 1), with(0, 3), with(5, 0), with(3, 70), with(8, 2, 3, 5), with(67, 2, 33), with(256, 9), with(4100, 2)}
	if m.l.Aligned {
		shapes = [][]int{with(4, 1), with(0, 3), with(8, 70), with(16, 2, 3, 5), with(68, 2, 33), with(4100, 2)}
	}
	return shapes
}

// cases are launches over shapes, the operands laid out as the layout says: a tensor whose step is
// Fixed has one element for each row, and one that is Strided has its axes the other way round.
func (m *mapSpec) cases(few bool) []kernels.Case {
	var cases []kernels.Case
	for _, dims := range m.shapes(few) {
		cases = append(cases, kernels.Case{Name: fmt.Sprint(dims), Build: func(o *kernels.Operands) { m.operands(o, dims) }})
	}
	return cases
}

// user returns the first function that uses an operand.
func user(j *kernels.FusedElementwise, operand int) *kernels.Function {
	for _, f := range j.Functions {
		if f.Uses(operand) {
			return f
		}
	}
	return j.Functions[0]
}

// testElements is how many an operand has in a case that is read by index.
const testElements = 600

func (m *mapSpec) operands(o *kernels.Operands, dims []int) {
	lengths, strides := m.memory(dims)
	for t, operand := range m.uses {
		n := lengths[t]
		f := user(m.j, operand)
		domain := f.Domain(operand)
		switch {
		case m.mask(t):
			o.Elements(kernels.Uint8, n, func(int) float64 { return float64(o.Rand.IntN(3)) })
		case m.stored(t): // every byte
			o.Elements(kernels.Uint8, n, func(i int) float64 { return float64(uint8(i * 37)) })
		case m.types[t].Integer():
			o.Elements(m.types[t], n, func(int) float64 { return float64(o.Rand.IntN(300) - 50) })
			if operand == 0 { // the ends of the range, but for those of 64 bits
				o.Start(-1<<53, 1<<53, 0, -1, 1)
			}
		case !m.own(t):
			o.Elements(m.types[t], n, func(int) float64 { return domain[0] + (domain[1]-domain[0])*o.Rand.Float64() })
		case m.f.Condition(): // whole numbers, so that some are equal
			o.Floats(n, func(int) float64 { return math.Round(domain[0] + (domain[1]-domain[0])*o.Rand.Float64()) })
			values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
			if t > 0 { // beside other elements of operand 0 than its special ones, and beside the same
				values = []float64{1, math.Inf(1), math.Inf(1), math.Copysign(0, -1), 0, 0, math.NaN()}
			}
			o.Start(values...)
		case operand == 0:
			o.In(n, domain[0], domain[1])
			if !f.IsGradient() {
				o.Special()
			} else {
				o.Kinks()
			}
			if len(f.NonDifferentiable) > 0 && n > 8 {
				last := o.Args[len(o.Args)-1]
				last.Buf.(*kernels.HostBuffer).Set(last.Off+7, f.NonDifferentiable[0])
			}
		default:
			o.In(n, domain[0], domain[1])
			if n > 12 && !f.IsGradient() { // beside other elements of operand 0 than its special ones
				last := o.Args[len(o.Args)-1]
				for i, v := range []float64{math.NaN(), math.Inf(1), 0} {
					last.Buf.(*kernels.HostBuffer).Set(last.Off+9+i, v)
				}
			}
		}
	}
	for y := len(m.uses); y < m.tensors(); y++ {
		switch {
		case m.own(y) && m.typ == kernels.Float32:
			o.Out(lengths[y])
		case m.types[y].Float():
			o.Elements(m.types[y], lengths[y], func(int) float64 { return math.NaN() })
		default:
			o.Elements(m.types[y].Stored(), lengths[y], func(int) float64 { return 77 })
		}
	}
	inner := dims[m.outer]
	o.Int(inner)
	if m.outer > 0 {
		rows := 1
		for _, d := range dims[:m.outer] {
			rows *= d
		}
		o.Int(rows)
		o.Int(dims[1:m.outer]...)
	}
	for t := range m.tensors() {
		if m.l.Steps[t] == Indexed {
			o.Int(lengths[t])
			continue
		}
		o.Int(strides[t][:m.outer]...)
		if m.l.Steps[t] == Strided {
			o.Int(strides[t][m.outer])
		}
	}
	for _, s := range m.scalars {
		if m.typ == kernels.Float32 && !m.j.IntScalar(s) {
			o.Float(m.f.Scalars[s])
		} else {
			o.Int(int(math.Ceil(m.f.Scalars[s])))
		}
	}
}

// memory returns how many elements each tensor has in a case, and its strides.
func (m *mapSpec) memory(dims []int) (lengths []int, strides [][]int) {
	for t := range m.tensors() {
		s := make([]int, len(dims))
		at := 1
		switch m.l.Steps[t] {
		case Strided: // the axes the other way round, the innermost one step wider
			for d := range dims {
				s[d] = at
				at *= max(dims[d], 1)
			}
			if m.outer == 0 {
				s[0] = 2
				at *= 2
			}
		default:
			for d := len(dims) - 1; d >= 0; d-- {
				if d == m.outer && m.l.Steps[t] == Broadcast {
					continue
				}
				s[d] = at
				at *= dims[d]
			}
		}
		n := at
		switch {
		case m.l.Steps[t] == Indexed:
			n = testElements
		case slices.Contains(dims, 0):
			n = 0
		}
		lengths, strides = append(lengths, n), append(strides, s)
	}
	return lengths, strides
}

// trial returns the operands of a launch like one with the arguments like; of a large one without
// outer axes, with as many elements as a trial has time for.
func (m *mapSpec) selfTest(like []kernels.Arg) []kernels.Operand {
	params := m.params()
	for t := range m.tensors() {
		if m.typ == kernels.Float32 {
			params[t].Mode %= kernels.InInts
		}
	}
	ops := selftest.LaunchOperands(params, like)
	if ops == nil {
		return nil
	}
	total := 0
	for _, o := range ops {
		total += o.N
	}
	if total > selftest.Elements {
		if m.outer > 0 || m.strided() {
			return nil
		}
		n := selftest.Elements / m.tensors()
		for t := range m.tensors() {
			ops[t].N = min(ops[t].N, n)
			if m.l.Steps[t] == Indexed {
				ops[m.stridesAt(t)].Number = float64(ops[t].N)
			}
		}
		ops[m.nAt()].Number = min(ops[m.nAt()].Number, float64(n))
	}
	for t, operand := range m.uses {
		d := user(m.j, operand).Domain(operand)
		switch {
		case m.mask(t):
			d = [2]float64{0, 3}
		case m.stored(t):
			d = [2]float64{0, 256}
		}
		ops[t].Lo, ops[t].Hi = d[0], d[1]
	}
	return ops
}
