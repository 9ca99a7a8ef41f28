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

// operand is an operand of a product while its host kernel runs: elements, or how some from one on are read.
type operand[T kernels.Real] struct {
	x    []T
	read func(to []T, from int)
}

// at returns the operand from an element on.
func (o operand[T]) at(first int) operand[T] {
	x, read := o.from(first)
	return operand[T]{x, read}
}

func (o operand[T]) from(first int) (x []T, read func(to []T, from int)) {
	if o.read == nil {
		return o.x[first:], nil
	}
	return nil, func(to []T, from int) { o.read(to, first+from) }
}

// operandOf returns an operand as the inner product takes it, and what gives back the memory that it may be a copy in.
// One of 16 bits is read where products compute with vector instructions.
func operandOf[T kernels.Real](p *product, c kernels.HostArgs[T], pool *sync.Pool, arg int) (o operand[T], done func()) {
	if p.tile.Inner.stored() || !c.Args()[arg].Buf.DType().Half() {
		o.x, done = factors(p, c, pool, arg)
		return o, done
	}
	read := func(to []T, from int) {
		set, wide := setOf(c), any(to).([]float32) // no other floats are computed from 16 bits
		if c.Args()[arg].Buf.DType() == kernels.BFloat16 {
			vec.FromHalves(set, wide, kernels.Elements[bfloat16.BFloat16](c, arg)[from:][:len(to)])
		} else {
			vec.FromHalves(set, wide, kernels.Elements[float16.Float16](c, arg)[from:][:len(to)])
		}
	}
	if loopsOf(c) != nil {
		return operand[T]{read: read}, func() {}
	}
	wide := borrowed[T](pool, c.Len(arg))
	read(*wide, 0)
	return operand[T]{x: *wide}, func() { pool.Put(wide) }
}
