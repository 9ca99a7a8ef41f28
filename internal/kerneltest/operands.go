// Package kerneltest runs kernels on a device beside their Go twins: for tests, and for a person who wants to know
// whether a device can be trusted.
package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/clgrad/clgrad/kernels"
)

// guard is the number of elements kept around every buffer argument. They must not change. It is a
// multiple of four, which some kernels ask of their offsets, and of no power of two above.
const guard = 68

// Operands makes the arguments of one launch: buffers as host memory inside guards, numbers as they are.
type Operands struct {
	r    *rand.Rand
	real kernels.DType
	Args []kernels.Arg
}

func (o *Operands) add(m *kernels.Mem) *Operands {
	o.Args = append(o.Args, kernels.Vec(m, guard, m.Len()-2*guard))
	return o
}

// NewOperands returns the arguments of a launch on reals of a type, none yet. What is drawn depends on the seeds.
func NewOperands(real kernels.DType, seed1, seed2 uint64) *Operands {
	return &Operands{r: rand.New(rand.NewPCG(seed1, seed2)), real: real}
}

// in adds n reals uniform in [lo, hi), inside guards.
func (o *Operands) in(n int, lo, hi float64) *Operands {
	return o.reals(n, func(int) float64 { return lo + (hi-lo)*o.r.Float64() })
}

// out adds n reals that must all be written: they start as NaN.
func (o *Operands) out(n int) *Operands { return o.reals(n, func(int) float64 { return math.NaN() }) }

func (o *Operands) reals(n int, f func(i int) float64) *Operands {
	m := kernels.NewMem(o.real, n+2*guard)
	for i := range m.Len() {
		v := -12345.0 // the guards
		if i >= guard && i < guard+n {
			v = f(i - guard)
		}
		if o.real == kernels.Float64 {
			kernels.Slice[float64](m, i, 1)[0] = v
		} else {
			kernels.Slice[float32](m, i, 1)[0] = float32(v)
		}
	}
	return o.add(m)
}

func (o *Operands) ints(n int, f func(i int) int) *Operands {
	m := kernels.NewMem(kernels.Int32, n+2*guard)
	for i := range n {
		kernels.Slice[int32](m, guard+i, 1)[0] = int32(f(i))
	}
	return o.add(m)
}

func (o *Operands) num(vs ...int) *Operands {
	for _, v := range vs {
		o.Args = append(o.Args, kernels.I(v))
	}
	return o
}

func (o *Operands) real64(vs ...float64) *Operands {
	for _, v := range vs {
		o.Args = append(o.Args, kernels.R(v))
	}
	return o
}

// special replaces the first elements of the last buffer by values that break careless kernels.
func (o *Operands) special() *Operands {
	return o.start(math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-42, -1e-42, 3e38)
}

// kinks is special for gradients: what is finite stays so in the products of single precision.
func (o *Operands) kinks() *Operands {
	return o.start(math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1))
}

// start replaces the first elements of the last buffer.
func (o *Operands) start(values ...float64) *Operands {
	a := o.Args[len(o.Args)-1]
	for i := range min(a.N, len(values)) {
		if o.real == kernels.Float64 {
			kernels.Slice[float64](a.Buf.(*kernels.Mem), guard+i, 1)[0] = values[i]
		} else {
			kernels.Slice[float32](a.Buf.(*kernels.Mem), guard+i, 1)[0] = float32(values[i])
		}
	}
	return o
}
