package ops

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// MatMulInteger is a batch of products of integers of 8 bits, C [batch, m, n] = (A − ZA)·(B − ZB): A, B, ZA,
// ZB, C, m, n, k, lda, step, column, nextA, nextB, zerosA, zerosB, sign. Element (i, q) of A is i·lda + q,
// element (q, j) of B is q·step + j·column, one of which is 1. zerosA is how many zero points A has: none, one,
// or one for each row. zerosB is those of the columns of B. sign is 1 if A is signed, plus 2 if B is.
var MatMulInteger = &kernels.Kernel{Name: "k_matmul_integer", File: "matmul_integer_cpu.cl",
	GPU: "matmul_integer_gpu.cl",
	Params: []kernels.Param{inBytes("A"), inBytes("B"), inBytes("ZA"), inBytes("ZB"), outInts("C"), intArg("m"),
		intArg("n"), intArg("k"), intArg("lda"), intArg("step"), intArg("column"), intArg("nextA"), intArg("nextB"),
		intArg("zerosA"), intArg("zerosB"), intArg("sign")},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		m, n := int(a[5].Int), int(a[6].Int)
		batch := 0
		if m*n > 0 {
			batch = a[4].N / (m * n)
		}
		if l.CPU {
			return kernels.Grid{Dims: 3, Global: [3]int{intmath.CeilDiv(n, 32), intmath.CeilDiv(m, 16), batch},
				Local: [3]int{1, 1, 1}}
		}
		return matMulIntegerTiles(m, n, batch)
	},
	Host:      kernels.ElementHostKernel(matMulIntegerHost),
	Cases:     matMulIntegerCases,
	Semantics: matMulIntegerSemantics,
}

// matMulIntegerTiles is the grid of the kernels for GPUs.
func matMulIntegerTiles(m, n, batch int) kernels.Grid {
	const tile, side = 64, 16 // TILE and SIDE of matmul_integer_gpu.cl and matmul_integer_dot.cl
	return kernels.Grid{Dims: 3, Local: [3]int{side, side, 1},
		Global: [3]int{intmath.CeilDiv(n, tile) * side, intmath.CeilDiv(m, tile) * side, batch}}
}

// MatMulIntegerDot is [MatMulInteger] by OpenCL's integer dot product. A compiler that does not know it takes a function
// in its place.
var MatMulIntegerDot = newMatMulIntegerDot()

func newMatMulIntegerDot() *kernels.Kernel {
	k := *MatMulInteger
	k.Name, k.File, k.GPU = "k_matmul_integer_dot", "matmul_integer_dot.cl", ""
	k.Grid = func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
		m, n := int(a[5].Int), int(a[6].Int)
		if m*n == 0 {
			return matMulIntegerTiles(0, 0, 0)
		}
		return matMulIntegerTiles(m, n, a[4].N/(m*n))
	}
	k.Variants = func(kernels.DType, kernels.Target) []*kernels.Kernel { return []*kernels.Kernel{MatMulInteger} }
	return &k
}

// MatMulIntegerOn returns the kernel of products of integers of 8 bits on a device.
func MatMulIntegerOn(l kernels.Target) *kernels.Kernel {
	if l.IntegerDot {
		return MatMulIntegerDot
	}
	return MatMulInteger
}

func matMulIntegerHost(c kernels.HostArgs[uint8]) {
	to := c.Ints(4)
	m, n, k := c.Int(5), c.Int(6), c.Int(7)
	if m*n == 0 {
		return
	}
	sign := c.Int(15)
	a, b := byteOperand{c.Bytes(0), sign&1 != 0}, byteOperand{c.Bytes(1), sign&2 != 0}
	p := vec.ByteProduct{M: m, RowA: c.Int(8), StepA: 1, C: to, RowC: n,
		ZeroA: zeroPoints(c, 2, c.Int(13), sign&1 != 0), ZeroB: zeroPoints(c, 3, c.Int(14), sign&2 != 0)}
	p.B, _ = byteMatrices.Get().(*vec.ByteMatrix)
	if p.B == nil {
		p.B = new(vec.ByteMatrix)
	}
	defer byteMatrices.Put(p.B)
	set, nextA, nextB := setOf(c), c.Int(11), c.Int(12)
	for z := range len(to) / (m * n) {
		if z == 0 || nextB > 0 {
			p.B.Pack(set, b.from(z*nextB), k, n, c.Int(9), c.Int(10), parallel.For)
		}
		p.A, p.C = a.from(z*nextA), to[z*m*n:]
		vec.MultiplyBytes(set, p, parallel.For)
	}
}

var byteMatrices sync.Pool // of *vec.ByteMatrix

// byteOperand is memory of integers of 8 bits.
type byteOperand struct {
	bits   []uint8
	signed bool
}

// from returns the elements from one on.
func (o byteOperand) from(at int) vec.Bytes { return vec.BytesAs(o.bits[at:], o.signed) }

// zeroPoints returns n zero points as ints.
func zeroPoints(c kernels.HostArgs[uint8], arg, n int, signed bool) []int32 {
	if n == 0 {
		return nil
	}
	zeros := make([]int32, n)
	for i, v := range c.Bytes(arg)[:n] {
		zeros[i] = int32(v)
		if signed {
			zeros[i] = int32(int8(v))
		}
	}
	return zeros
}

// matMulIntegerCases are the launches that test MatMulInteger: sizes around the tiles, B with rows or columns
// that are contiguous, all signs and numbers of zero points, and batches, also such that share a B.
func matMulIntegerCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range [][4]int{ // batch, m, n, k
		{1, 1, 1, 1}, {1, 3, 5, 7}, {1, 5, 17, 3}, {2, 4, 16, 16}, {3, 9, 31, 33}, {1, 64, 64, 17}, {1, 67, 65, 19},
		{2, 1, 130, 40},
		{1, 130, 3, 129}, {1, 2, 3, 0}, {0, 2, 3, 4}, {1, 0, 3, 4}, {1, 70, 70, 600},
	} {
		batch, m, n, k := s[0], s[1], s[2], s[3]
		if few && m*n*k > 5000 {
			continue
		}
		for sign := range 4 {
			if few && sign != (i+i/2)%4 {
				continue
			}
			gap, transposed, zeros := i%3, (i+sign)%2 == 1, (i+sign)%3
			cases = append(cases, kernels.Case{Name: fmt.Sprintf("%d of %dx%dx%d, sign %d", batch, m, n, k, sign),
				Build: func(o *kernels.Operands) {
					word := func(int) float64 { return float64(o.Rand.IntN(256)) }
					lda, step, column := k+gap, n+gap, 1
					nextA, nextB := m*lda, k*step
					if transposed {
						step, column = 1, k+gap
						nextB = n * column
					}
					matrices := batch
					if sign == 2 {
						nextB, matrices = 0, 1
					}
					zerosA, zerosB := [3]int{0, 1, m}[zeros], [3]int{n, 0, 1}[zeros]
					o.Elements(kernels.Uint8, batch*m*lda, word).
						Elements(kernels.Uint8, max(matrices*nextB, max(k*step, n*column)), word).
						Elements(kernels.Uint8, zerosA, word).Elements(kernels.Uint8, zerosB, word).
						Ints(batch*m*n, func(int) int { return -77 }).Int(m, n, k, lda, step, column, nextA, nextB, zerosA, zerosB, sign)
				}})
		}
	}
	return cases
}
