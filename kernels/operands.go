package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Case is a launch that tests a kernel.
type Case struct {
	Name  string            // of the sizes, for messages
	Build func(o *Operands) // adds every argument, in the order of Kernel.Params
}

// Of returns the case with buffers of other types, by argument; those past the last stay what they are.
// Elements are rounded, and what the case derives of them is derived of rounded ones.
func (c Case) Of(types []DType) Case {
	return Case{c.Name, func(o *Operands) {
		for _, t := range types {
			if t.Half() {
				o.rounded = NewHostBuffer(t, 1)
			}
		}
		first := len(o.Args) // there are others before, of a launch that does several
		c.Build(o)
		o.rounded = nil
		for i, t := range types {
			if t.Half() {
				o.Args[first+i] = o.Args[first+i].converted(t)
			}
		}
	}}
}

// Sizes are numbers of elements to test a kernel with: around the sizes of work-groups and
// vectors, and odd. Few leaves out the large ones, and 0.
func Sizes(few bool) []int {
	if few {
		return []int{1, 7, 16, 257}
	}
	return []int{0, 1, 7, 16, 255, 256, 257, 1009, 1023, 1025, 5000}
}

// CasesBySize returns what Kernel.Cases of most kernels is: a case for each of some sizes
// around those of work-groups and vectors.
func CasesBySize(build func(o *Operands, n int)) func(few bool) []Case {
	return func(few bool) []Case {
		var cases []Case
		for _, n := range Sizes(few) {
			cases = append(cases, Case{fmt.Sprintf("n=%d", n), func(o *Operands) { build(o, n) }})
		}
		return cases
	}
}

// guard is the number of elements kept around every buffer argument. They must not change. It is a
// multiple of eight, which some kernels ask of their offsets, and of no power of two above.
const guard = 72

// Operands makes the arguments of one launch: buffers as host memory inside guards, numbers as they
// are. Each method but Special, Kinks and Start adds arguments, and all return o.
type Operands struct {
	Args  []Arg      // so far
	Rand  *rand.Rand // for what is drawn otherwise than by In
	float DType

	rounded *HostBuffer // of one element, whose type floats are rounded to; nil: they are not
}

// NewOperands returns the arguments of a launch on floats of a type, none yet. What is drawn depends
// on the seeds.
func NewOperands(float DType, seed1, seed2 uint64) *Operands {
	return &Operands{Rand: rand.New(rand.NewPCG(seed1, seed2)), float: float}
}

// FloatType returns the type of the floats, Float32 or Float64.
func (o *Operands) FloatType() DType { return o.float }

func (o *Operands) add(m *HostBuffer) *Operands {
	o.Args = append(o.Args, BufferArg(m, guard, m.Len()-2*guard))
	return o
}

// In adds n floats uniform in [low, high).
func (o *Operands) In(n int, low, high float64) *Operands {
	return o.Floats(n, func(int) float64 { return low + (high-low)*o.Rand.Float64() })
}

// Out adds n floats that must all be written: they start as NaN.
func (o *Operands) Out(n int) *Operands { return o.Floats(n, func(int) float64 { return math.NaN() }) }

// Floats adds the n floats f(0), f(1), …
func (o *Operands) Floats(n int, f func(i int) float64) *Operands {
	return o.Elements(o.float, n, func(i int) float64 {
		v := f(i)
		if o.rounded != nil {
			o.rounded.Set(0, v)
			v = o.rounded.At(0)
		}
		return v
	})
}

// Elements adds memory of the n elements f(0), f(1), … of a type, converted as [HostBuffer.Set] does.
func (o *Operands) Elements(t DType, n int, f func(i int) float64) *Operands {
	m := NewHostBuffer(t, n+2*guard)
	for i := range m.Len() {
		v := -12345.0 // the guards
		if t.Integer() && (!t.Signed() || t == Int8) {
			v = 123
		}
		if i >= guard && i < guard+n {
			v = f(i - guard)
		}
		m.Set(i, v)
	}
	return o.add(m)
}

// Ints adds memory of the n ints f(0), f(1), …
func (o *Operands) Ints(n int, f func(i int) int) *Operands {
	return o.Elements(Int32, n, func(i int) float64 { return float64(f(i)) })
}

// Int adds ints by value.
func (o *Operands) Int(vs ...int) *Operands {
	for _, v := range vs {
		o.Args = append(o.Args, IntArg(v))
	}
	return o
}

// Float adds floats by value.
func (o *Operands) Float(vs ...float64) *Operands {
	for _, v := range vs {
		o.Args = append(o.Args, FloatArg(v))
	}
	return o
}

// Special replaces the first elements of the last buffer by values that break careless kernels:
// NaN, infinities, both zeros, denormals and the largest.
func (o *Operands) Special() *Operands {
	return o.Start(math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-42, -1e-42, 3e38)
}

// Kinks is Special for gradients: what is finite stays so in the products of single precision.
func (o *Operands) Kinks() *Operands {
	return o.Start(math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1))
}

// Start replaces the first elements of the last buffer.
func (o *Operands) Start(values ...float64) *Operands {
	a := o.Args[len(o.Args)-1]
	for i := range min(a.N, len(values)) {
		a.Buf.(*HostBuffer).Set(guard+i, values[i])
	}
	return o
}

// Operand is one argument of a trial. Package selftest makes them.
type Operand struct {
	N      int     // elements of a buffer
	Lo, Hi float64 // they are uniform in [Lo, Hi); ints are whole
	Number float64 // an argument by value
	Blank  bool    // the buffer starts as NaN, or as 77 where it holds integers: all of it must be written
	// From returns element i of a buffer that is not drawn, from the arguments before it, as host
	// memory.
	From func(before []Arg, i int) float64
}

// At returns element i of an argument that is host memory, as those of a trial are.
func (a Arg) At(i int) float64 { return a.Buf.(*HostBuffer).At(a.Off + i) }
