package ops

import (
	"slices"
	"sync"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// multiply is the Go code of a product whose A and B may be of 16 bits: the code of the product reads those as they
// lie. A bias and a C of 16 bits are floats meanwhile.
func (f *halfForm) multiply(c kernels.HostArgs[float32]) {
	args := slices.Clone(c.Args())
	for i := gemmBias; i < len(f.types); i++ {
		if !f.types[i].Half() {
			continue
		}
		n := args[i].N
		to := f.take(n)
		defer f.scratch.Put(to)
		if i == gemmBias || args[gemmAccumulate].Int != 0 {
			widen(c, kernels.Slice[float32](to, 0, n), args[i], 0)
		}
		args[i] = kernels.BufferArg(to, 0, n)
	}
	f.k.Host.F32(c.With(args, false))
	if to := c.Args()[gemmC]; to.Buf.DType().Half() {
		sums := kernels.Slice[float32](args[gemmC].Buf.(*kernels.HostBuffer), 0, to.N)
		c.Parallel(to.N, 1, func(lo, hi int) {
			lower.Narrow(c, sums[lo:hi], to, lo)
			c.Stored(lo, 1, hi-lo, 0)
		})
	}
}

// operand is an operand of a product while its host kernel runs, from an element on: elements, or how they are read.
type operand[T kernels.Float] struct {
	x     []T
	read  vec.Reader[T] // of the whole operand
	first int           // of those that are read
}

// at returns the operand from an element on.
func (o operand[T]) at(first int) operand[T] {
	if o.read == nil {
		return operand[T]{x: o.x[first:]}
	}
	o.first += first
	return o
}

// reader returns how the operand is read, nil if its elements are there.
func (o operand[T]) reader() vec.Reader[T] {
	if o.read == nil || o.first == 0 {
		return o.read
	}
	return func(to []T, row, from, distance, lines, n int) { o.read(to, row, o.first+from, distance, lines, n) }
}

// operandOf returns an operand as the inner product takes it, and what gives back the memory that it may be a copy in.
// One of 16 bits is read where products compute with vector instructions.
func operandOf[T kernels.Float](p *product, c kernels.HostArgs[T], pool *sync.Pool,
	arg int) (o operand[T], done func()) {
	if p.tile.Inner.stored() || !c.Args()[arg].Buf.DType().Half() {
		o.x, done = factors(p, c, pool, arg)
		return o, done
	}
	if c.Args()[arg].Buf.DType() == kernels.BFloat16 {
		o.read = readerOf[T](setOf(c), kernels.Elements[bfloat16.BFloat16](c, arg))
	} else {
		o.read = readerOf[T](setOf(c), kernels.Elements[float16.Float16](c, arg))
	}
	if loopsOf(c) != nil {
		return o, func() {}
	}
	wide := borrowed[T](pool, c.Len(arg))
	o.read(*wide, 0, 0, 0, 1, c.Len(arg))
	return operand[T]{x: *wide}, func() { pool.Put(wide) }
}

// readerOf reads an operand of these elements; T is float32, of which alone 16 bits are computed.
func readerOf[T kernels.Float, H vec.Half](set *vec.Set, x []H) vec.Reader[T] {
	return func(to []T, row, from, distance, lines, n int) {
		vec.FromHalfLines(set, any(to).([]float32), row, x[from:], distance, lines, n)
	}
}
