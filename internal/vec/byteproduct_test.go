package vec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// setsAndPlain is the sets of this processor, and nil for plain loops.
func setsAndPlain() []*Set { return append(slices.Clone(Sets()), nil) }

// byteSets is the sets of this processor with all loops of products of bytes that it has, and nil.
func byteSets() []*Set { return append(slices.Clone(moreByteSets), setsAndPlain()...) }

// extremes is n random bytes, many of them those where signs and sums turn.
func extremes[T Byte](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		switch b := byte(rng.Uint32()); rng.IntN(4) {
		case 0:
			v[i] = T([]byte{0, 1, 127, 128, 129, 255}[b%6])
		default:
			v[i] = T(b)
		}
	}
	return v
}

// byteCase is a product with its operands, and what it is computed into.
type byteCase[A, B Byte] struct {
	m, n, k        int
	a              []A
	rowA, stepA    int
	b              []B
	stepB, columnB int
	zeroA, zeroB   []int32
	rowC           int
	offset         int // of the operands in memory
}

// newByteCase makes a product of a form, 0 to 3: A and B as they are or transposed. Zero points are
// none, one, or one for each row and column by turns.
func newByteCase[A, B Byte](rng *rand.Rand, form, m, n, k, gap int) *byteCase[A, B] {
	p := &byteCase[A, B]{m: m, n: n, k: k, rowA: k + gap, stepA: 1, stepB: n + gap, columnB: 1, rowC: n + gap, offset: gap}
	rowsA, rowsB := m, k
	if form&1 > 0 {
		p.rowA, p.stepA, rowsA = 1, m+gap, k
	}
	if form&2 > 0 {
		p.stepB, p.columnB, rowsB = 1, k+gap, n
	}
	p.a = extremes[A](rng, p.offset+rowsA*max(p.rowA, p.stepA))[p.offset:]
	p.b = extremes[B](rng, p.offset+rowsB*max(p.stepB, p.columnB))[p.offset:]
	zeros := func(some, count int) []int32 {
		v := make([]int32, []int{0, 1, count}[some])
		for i := range v {
			v[i] = rng.Int32N(512) - 256
		}
		return v
	}
	p.zeroA, p.zeroB = zeros(rng.IntN(3), m), zeros(rng.IntN(3), n)
	return p
}

// want is the product by its definition.
func (p *byteCase[A, B]) want() []int32 {
	zero := func(of []int32, i int) int32 {
		switch len(of) {
		case 0:
			return 0
		case 1:
			return of[0]
		}
		return of[i]
	}
	c := make([]int32, p.m*p.n)
	for i := range p.m {
		for j := range p.n {
			sum, za, zb := int32(0), zero(p.zeroA, i), zero(p.zeroB, j)
			for k := range p.k {
				sum += (int32(p.a[i*p.rowA+k*p.stepA]) - za) * (int32(p.b[k*p.stepB+j*p.columnB]) - zb)
			}
			c[i*p.n+j] = sum
		}
	}
	return c
}

// test computes the product with each set, and in each way of sharing it out.
func (p *byteCase[A, B]) test(t *testing.T) {
	t.Helper()
	want := p.want()
	var b ByteMatrix
	for _, set := range byteSets() {
		for way, each := range []func(n, min int, f func(lo, hi int)){nil, inOne, inPieces} {
			const guard = 0x5A5A5A5A
			c := slices.Repeat([]int32{guard}, p.m*p.rowC+1)
			b.Pack(set, BytesOf(p.b), p.k, p.n, p.stepB, p.columnB, each)
			MultiplyBytes(set, ByteProduct{M: p.m, A: BytesOf(p.a), RowA: p.rowA, StepA: p.stepA, ZeroA: p.zeroA,
				B: &b, ZeroB: p.zeroB, C: c, RowC: p.rowC}, each)
			for at, got := range c {
				i, j, w := at/max(p.rowC, 1), at%max(p.rowC, 1), int32(guard)
				if i < p.m && j < p.n {
					w = want[i*p.n+j]
				}
				if got != w {
					t.Fatalf("%v, way %d, %T·%T [%d, %d, %d], zero points %d and %d: C[%d, %d] is %d, want %d", set, way, p.a, p.b,
						p.m, p.n, p.k, len(p.zeroA), len(p.zeroB), i, j, got, w)
				}
			}
		}
	}
}

// testByteTypes tests one product in each mixture of types.
func testByteTypes(t *testing.T, rng *rand.Rand, form, m, n, k, gap int) {
	t.Helper()
	newByteCase[int8, int8](rng, form, m, n, k, gap).test(t)
	newByteCase[int8, uint8](rng, form, m, n, k, gap).test(t)
	newByteCase[uint8, int8](rng, form, m, n, k, gap).test(t)
	newByteCase[uint8, uint8](rng, form, m, n, k, gap).test(t)
}

// TestMultiplyBytes: products of all types, sizes and layouts are exact, with zero points and without,
// with each set of instructions and with plain loops.
func TestMultiplyBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	sizes := [][3]int{{1, 1, 1}, {1, 1, 0}, {3, 2, 0}, {0, 3, 2}, {3, 0, 2}, {1, 16, 4}, {12, 32, 64}, {13, 33, 65},
		{11, 31, 31}, {25, 17, 129}, {1, 100, 511}, {2, 15, 512}, {7, 49, 513}, {121, 40, 70}, {241, 5, 9}, {6, 8, 3},
		{4, 7, 1030}, {130, 24, 33}}
	for range 40 {
		sizes = append(sizes, [3]int{rng.IntN(40), rng.IntN(70), rng.IntN(200)})
	}
	for c, size := range sizes {
		for form := range 4 {
			testByteTypes(t, rng, form, size[0], size[1], size[2], (c+form)%3)
		}
	}
}

// TestMultiplyBytesExtremes: no sum of products of the largest magnitudes saturates, and long sums wrap
// around.
func TestMultiplyBytesExtremes(t *testing.T) {
	for _, v := range []byte{0, 127, 128, 255} {
		for _, w := range []byte{0, 127, 128, 255} {
			const m, n, k = 13, 33, 700
			a, b := slices.Repeat([]byte{v}, m*k), slices.Repeat([]byte{w}, k*n)
			signedA, signedB := signed(a), signed(b)
			layout := byteCase[uint8, uint8]{m: m, n: n, k: k, rowA: k, stepA: 1, stepB: n, columnB: 1, rowC: n}
			testFilled(t, layout, a, b)
			testFilled(t, layout, a, signedB)
			testFilled(t, layout, signedA, b)
			testFilled(t, layout, signedA, signedB)
		}
	}
	if testing.Short() {
		return
	}
	const k = 70001 // 70001·255² does not fit 32 bits
	layout := byteCase[uint8, uint8]{m: 2, n: 17, k: k, rowA: k, stepA: 1, stepB: 17, columnB: 1, rowC: 17}
	testFilled(t, layout, slices.Repeat([]byte{255}, 2*k), slices.Repeat([]byte{255}, 17*k))
}

// signed is bytes as int8.
func signed(x []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(&x[0])), len(x))
}

// testFilled tests a product of a layout with operands.
func testFilled[A, B Byte](t *testing.T, l byteCase[uint8, uint8], a []A, b []B) {
	t.Helper()
	p := byteCase[A, B]{m: l.m, n: l.n, k: l.k, rowA: l.rowA, stepA: l.stepA, stepB: l.stepB, columnB: l.columnB,
		rowC: l.rowC, a: a, b: b}
	p.test(t)
}

// TestMultiplyBytesBounds: operands that are too short are refused.
func TestMultiplyBytesBounds(t *testing.T) {
	for _, set := range setsAndPlain() {
		for short := range 3 {
			lengths := [3]int{5 * 40, 40 * 20, 5 * 20}
			lengths[short]--
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v takes operand %d too short", set, short)
					}
				}()
				var b ByteMatrix
				b.Pack(set, BytesOf(make([]int8, lengths[1])), 40, 20, 20, 1, nil)
				MultiplyBytes(set, ByteProduct{M: 5, A: BytesOf(make([]uint8, lengths[0])), RowA: 40, StepA: 1, B: &b,
					C: make([]int32, lengths[2]), RowC: 20}, nil)
			}()
		}
	}
}

// BenchmarkMultiplyBytes is products of packed weights, beside those of floats of the same size, and
// packing.
func BenchmarkMultiplyBytes(b *testing.B) {
	for _, size := range [][3]int{{1024, 1024, 1024}, {1, 4096, 4096}, {64, 512, 512}, {197, 768, 3072}} {
		for _, set := range byteSets() {
			benchmarkBytes[uint8, int8](b, set, size)
			benchmarkBytes[int8, int8](b, set, size)
		}
		for _, set := range Sets() {
			benchmarkProduct[float32](b, set, fmt.Sprint(size), 0, size)
		}
	}
	const n = 1024
	weights := make([]int8, n*n)
	for _, set := range Sets() {
		for _, step := range []int{n, 1} {
			b.Run(fmt.Sprintf("pack/step%d/%v", step, set), func(b *testing.B) {
				b.SetBytes(n * n)
				var m ByteMatrix
				for b.Loop() {
					m.Pack(set, BytesOf(weights), n, n, step, n+1-step, nil)
				}
			})
		}
	}
}

func benchmarkBytes[A, B Byte](b *testing.B, set *Set, size [3]int) {
	b.Run(fmt.Sprintf("%v/%T·%T/%v", size, *new(A), *new(B), set), func(b *testing.B) {
		p := newByteCase[A, B](rand.New(rand.NewPCG(1, 2)), 0, size[0], size[1], size[2], 0)
		var w ByteMatrix
		w.Pack(set, BytesOf(p.b), p.k, p.n, p.stepB, p.columnB, nil)
		c := make([]int32, p.m*p.n)
		for b.Loop() {
			MultiplyBytes(set, ByteProduct{M: p.m, A: BytesOf(p.a), RowA: p.rowA, StepA: p.stepA, B: &w, C: c, RowC: p.rowC}, nil)
		}
		b.ReportMetric(2*float64(p.m)*float64(p.n)*float64(p.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
	})
}
