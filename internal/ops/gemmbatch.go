package ops

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kernels/selftest"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Batch is how many products a launch computes, and how far apart their operands lie: product (i₀,
// i₁, i₂) below N reads A from element i₀·A[0] + i₁·A[1] + i₂·A[2] on, and B likewise. A stride of
// 0 repeats a matrix.
type Batch struct {
	N, A, B [3]int
}

// Len returns the number of products.
func (b Batch) Len() int { return b.N[0] * b.N[1] * b.N[2] }

// GemmBatch returns the kernel of a batch of matrix products,
//
//	C [m, n] = op(A)·op(B) + accumulate·C + biased·BIAS [n]
//
// built for a tile. Arguments: those of [Gemm] without a function, then the number of products,
// N[1], N[2], A and B of a [Batch], and run: the products that a work-item of a CPU computes, 1 on
// others. The matrices of C lie one after the other, [⌈K/slice⌉, products, m, ldc].
func GemmBatch(form GemmForm, tile GemmTile) *kernels.Kernel {
	return fused.KernelFor(fn.Identity, tile.variant("batch of products", form),
		func() *kernels.Kernel { return newGemmBatch(form, tile) })
}

// Where the further arguments of a batch are.
const (
	batchLen = iota + gemmSlice + 1
	batchN1
	batchN2
	batchA0
	batchA1
	batchA2
	batchB0
	batchB1
	batchB2
	batchRun
)

var batchParams = []kernels.Param{intArg("batch"), intArg("n1"), intArg("n2"), intArg("a0"), intArg("a1"), intArg("a2"),
	intArg("b0"), intArg("b1"), intArg("b2")}

// batchOf returns the Batch that ints pass, from number from on, which says how many products it
// has.
func batchOf(num func(i int) int, from int) Batch {
	n1, n2 := num(from+1), num(from+2)
	return Batch{N: [3]int{num(from) / max(1, n1*n2), n1, n2}, A: [3]int{num(from + 3), num(from + 4), num(from + 5)},
		B: [3]int{num(from + 6), num(from + 7), num(from + 8)}}
}

// Args returns the arguments that pass it.
func (b Batch) Args() [9]kernels.Arg {
	return [9]kernels.Arg{kernels.IntArg(b.Len()), kernels.IntArg(b.N[1]), kernels.IntArg(b.N[2]), kernels.IntArg(b.A[0]), kernels.IntArg(b.A[1]), kernels.IntArg(b.A[2]),
		kernels.IntArg(b.B[0]), kernels.IntArg(b.B[1]), kernels.IntArg(b.B[2])}
}

// at returns where the operands of product y begin.
func (b Batch) at(y int) (a, at int) {
	i0, i1, i2 := y/(b.N[1]*b.N[2]), y/b.N[2]%b.N[1], y%b.N[2]
	return i0*b.A[0] + i1*b.A[1] + i2*b.A[2], i0*b.B[0] + i1*b.B[1] + i2*b.B[2]
}

// extent returns how far the first element of the last matrices of A and of B is from that of the
// first ones.
func (b Batch) extent() (a, at int) {
	if b.Len() == 0 {
		return 0, 0
	}
	return b.at(b.Len() - 1)
}

// GemmBatchRun chooses how many products of [rows, K] by [K, n], of all parts, a work-item of a CPU
// computes: so many that they are worth its start, and so few that every core has some. Others
// compute one.
func GemmBatchRun(rows, n, k, parts int, l kernels.Target) int {
	if !l.CPU {
		return 1
	}
	const least = 1 << 17 // multiplications
	return max(1, min(least/max(1, rows*n*k), parts/(8*max(1, l.Units))))
}

// GemmBatchTileFor returns the tile for a batch of products: like that of one product with the rows
// of all of them, but one of those that cover a single matrix with the least waste.
func GemmBatchTileFor(form GemmForm, batch, m, n, k int, t kernels.DType, l kernels.Target, tuned []GemmChoice) GemmTile {
	tiles := GemmTiles(t, l)
	if l.CPU { // rows are cut as they come, and up to 16 columns have a form of their own in each
		best := tiles[0]
		for _, tile := range tiles {
			if n > 16 && tile.N >= n && tile.N < best.N {
				best = tile
			}
		}
		if best != tiles[0] {
			return best
		}
		return GemmTileFor(form, m*batch, n, k, t, l, tuned)
	}
	covers := func(tile GemmTile) int { return intmath.RoundUp(m, tile.M) * intmath.RoundUp(n, tile.N) }
	least := covers(tiles[0])
	for _, tile := range tiles {
		least = min(least, covers(tile))
	}
	fits := func(tile GemmTile) bool { return 4*covers(tile) <= 5*least }
	var fit []GemmChoice
	for _, c := range tuned {
		if fits(c.Tile) {
			fit = append(fit, c)
		}
	}
	if tile := GemmTileFor(form, m*batch, n, k, t, l, fit); fits(tile) {
		return tile
	}
	best := GemmTile{}
	for _, tile := range tiles { // the largest that fits and fills the device, else the smallest
		groups := batch * intmath.CeilDiv(m, tile.M) * intmath.CeilDiv(n, tile.N)
		switch {
		case !fits(tile):
		case best == GemmTile{}, groups >= l.Units && tile.M*tile.N > best.M*best.N, groups < l.Units && tile.M*tile.N < best.M*best.N:
			best = tile
		}
	}
	return best
}

// The texts before the files of products that make batches of them. On a GPU the batch is in the
// first dimension of the grid, which is the only one that may be long.
const (
	batchHead = `// @depends: common
// @then: %s
// A batch of products, for %s.cl: %s's part y%%batch begins BATCH_AT elements after the first.
#define FORM %d
#define BATCH_PARAMS , int batch, int n1, int n2, int a0, int a1, int a2, int b0, int b1, int b2, int run
#define BATCH_AT(y, s0, s1, s2) ((y) / (n1 * n2) * (s0) + (y) / n2 %% n1 * (s1) + (y) %% n2 * (s2))
`
	batchCPU = `#define PRODUCTS(gemm)                                                                                         \
    for (int z = get_group_id(2) * run, z_end = min(z + run, batch * ((K + slice - 1) / slice)); z < z_end; z++) { \
        const int part = z / batch, y = z % batch;                                                                 \
        const int a_at = BATCH_AT(y, a0, a1, a2), b_at = BATCH_AT(y, b0, b1, b2);                                  \
        gemm;                                                                                                      \
    }
`
	batchGPU = `#define GROUP_PROLOGUE                                                                                          \
    const int columns = (n + TN - 1) / TN, column = get_group_id(0) % columns, z = get_group_id(0) / columns; \
    const int row = get_group_id(1);                                                                          \
    const int part = z / batch, y = z % batch;                                                                \
    const int a_at = A_off + BATCH_AT(y, a0, a1, a2), b_at = B_off + BATCH_AT(y, b0, b1, b2);
`
)

func batchText(file, each string, form GemmForm) string {
	return fmt.Sprintf(batchHead, file, file, "an operand", slices.Index(GemmForms, form)) + each
}

func newGemmBatch(form GemmForm, tile GemmTile) *kernels.Kernel {
	p := &product{form: form, tile: tile}
	single := Gemm(form, tile, nil)
	k := &kernels.Kernel{
		Name: single.Name, File: "gemm_cpu_batch_" + string(form) + ".cl", GPU: tile.file() + "_batch_" + string(form) + ".cl", Defines: tile.definesOf(form),
		Text: batchText("gemm_cpu", batchCPU, form), GPUText: batchText(tile.file(), batchGPU, form),
		Params: append(append(slices.Clone(single.Params[:gemmSlice+1]), batchParams...), intArg("run")),
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			m, n, rows := int(a[gemmM].Int), int(a[gemmN].Int), int(a[gemmRows].Int)
			parts := int(a[batchLen].Int) * intmath.CeilDiv(int(a[gemmK].Int), int(a[gemmSlice].Int))
			if l.CPU {
				runs := intmath.CeilDiv(parts, int(a[batchRun].Int))
				return kernels.Grid{Dims: 3, Local: [3]int{1, 1, 1},
					Global: [3]int{p.groups(p.packsA(a), n, intmath.CeilDiv(m, rows)*runs, l), intmath.CeilDiv(m, rows), runs}}
			}
			items, others := tile.items(), intmath.CeilDiv(n, tile.N)*parts
			return kernels.Grid{Dims: 2, Local: [3]int{items, 1}, Global: [3]int{others * items, tile.rowGroups(m, others, l)}}
		},
		Variants: func(t kernels.DType, l kernels.Target) []*kernels.Kernel {
			if tile.Inner.stored() {
				return tile.storedVariants(l, func(other GemmTile) *kernels.Kernel { return GemmBatch(form, other) })
			}
			var others []*kernels.Kernel
			for _, other := range tile.others(t, l) {
				others = append(others, GemmBatch(form, other))
			}
			return others
		},
		Host: kernels.HostKernel{F32: gemmBatchHost(p, blas32.Implementation().Sgemm),
			F64: gemmBatchHost(p, blas64.Implementation().Dgemm)},
		Tol:   kernels.Tolerance{ULP: 4, Rel: gemmRel, Scale: p.scale},
		Cases: p.batchCases, Semantics: p.batchSemantics, SelfTest: p.batchSelfTest,
		Fusions: fused.Fusions{Epilogue: p.stores(batchLen)},
	}
	if tile.Inner.stored() {
		p.takeStored(k)
		k.Host.F64 = nil
	}
	return k
}

// gemmBatchHost computes the products on all cores: a few large ones each on all, many one on each.
func gemmBatchHost[T kernels.Float](p *product, gemm blasGemm[T]) func(kernels.HostArgs[T]) {
	t := newHost(p, gemm)
	return func(c kernels.HostArgs[T]) {
		m, K, ldc, slice := c.Int(gemmM), c.Int(gemmK), c.Int(gemmLDC), c.Int(gemmSlice)
		b := batchOf(c.Int, batchLen)
		n := b.Len()
		parts := n * intmath.CeilDiv(K, slice)
		each := parallel.For
		A, doneA := operandOf(p, c, &t.factors, gemmA)
		B, doneB := operandOf(p, c, &t.factors, gemmB)
		defer doneA()
		defer doneB()
		if p.maps > 0 {
			clear(c.Floats(p.maps))
		}
		run := func(lo, hi int) {
			for z := lo; z < hi; z++ {
				from := z / n * slice
				aAt, bAt := b.at(z % n)
				t.part(c, from, min(slice, K-from), A.at(aAt), B.at(bAt), c.Floats(gemmC)[z*m*ldc:], each)
			}
		}
		if parts < 16 {
			run(0, parts)
			return
		}
		each = nil
		parallel.For(parts, max(1, parallel.Grain/max(1, m*c.Int(gemmN)*K)), run)
	}
}

// batchSemantics says what a batch of products does.
func (p *product) batchSemantics(in args) operations {
	num := func(i int) int { return int(in[i].Int) }
	m, n, lda, ldb, ldc := num(gemmM), num(gemmN), num(gemmLDA), num(gemmLDB), num(gemmLDC)
	rowA, stepA, rowB, stepB := lda, 1, 1, ldb
	if p.form.TransposesA() {
		rowA, stepA = 1, lda
	}
	if p.form.TransposesB() {
		rowB, stepB = ldb, 1
	}
	list := p.productsSemantics(in, batchOf(num, batchLen), m, n, num(gemmK), num(gemmSlice), ldc,
		num(gemmAccumulate) != 0,
		num(gemmBiased) != 0, view(in, gemmA, 0, rowA, stepA), view(in, gemmB, 0, stepB, rowB), view(in, gemmC, 0))
	return p.withScratch(list, in)
}

// productsSemantics describes a batch of products of A (i, k) and B (k, j) to C, whose matrices lie
// one after the other.
func (p *product) productsSemantics(in args, b Batch, m, n, k, slice, ldc int, accumulate, biased bool,
	A, B, C kernels.View) operations {
	A.Strides, B.Strides = slices.Concat(b.A[:], A.Strides), slices.Concat(b.B[:], B.Strides)
	whole := []int{b.N[1] * b.N[2] * m * ldc, b.N[2] * m * ldc, m * ldc}
	sum := &operation.MatMul{Batch: b.N[:], M: m, N: n, K: k, Slice: slice, Precision: p.tile.Inner.Precision(), A: A, B: B, C: C}
	sum.C.Strides = slices.Concat(whole, []int{b.Len() * m * ldc, ldc, 1})
	C.Strides = append(whole, ldc, 1)
	return productOperations(in, sum, C, accumulate, biased, func(kernels.View) operations { return nil })
}

// batchCases are the launches that test a batch: matrices that are repeated along every axis of it,
// in another order, with gaps between, in shares, and several to a work-item.
func (p *product) batchCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range []struct {
		m, n, k int
		dims    [3]int
		a, b    [3]int // the matrices that each axis advances by
	}{
		{1, 1, 1, [3]int{1, 1, 3}, [3]int{0, 0, 1}, [3]int{0, 0, 1}},
		{8, 8, 8, [3]int{1, 1, 37}, [3]int{0, 0, 1}, [3]int{0, 0, 1}},
		{13, 17, 31, [3]int{2, 3, 2}, [3]int{1, 0, 2}, [3]int{0, 1, 0}},
		{65, 34, 20, [3]int{1, 2, 3}, [3]int{0, 3, 1}, [3]int{0, 1, 2}},
		{5, 70, 50, [3]int{2, 1, 2}, [3]int{2, 0, 1}, [3]int{0, 0, 0}},
		{7, 18, 9, [3]int{1, 1, 2}, [3]int{0, 0, 1}, [3]int{0, 0, 1}},
		{64, 64, 64, [3]int{1, 1, 2}, [3]int{0, 0, 1}, [3]int{0, 0, 1}},
		{16, 64, 300, [3]int{1, 1, 2}, [3]int{0, 0, 1}, [3]int{0, 0, 1}},
	} {
		if few && (s.dims[0]*s.dims[1]*s.dims[2] > 3 || s.m*s.n*s.k > 2000) {
			continue
		}
		pad := i % 3
		lda, ldb, ldc, rowsA, rowsB := p.apart(s.k+pad), p.apart(s.n+pad), s.n, s.m, s.k
		if p.form.TransposesA() {
			lda, rowsA = p.apart(s.m+pad), s.k
		}
		if p.form.TransposesB() {
			ldb, rowsB = p.apart(s.k+pad), s.n
		}
		b := Batch{N: s.dims}
		for d := range 3 {
			b.A[d], b.B[d] = s.a[d]*p.apart(rowsA*lda+pad), s.b[d]*p.apart(rowsB*ldb+3*pad)
		}
		lastA, lastB := b.extent()
		slice, accumulate, biased := s.k, i%2, (i+1)/2%2
		if i%3 == 0 {
			slice, accumulate, biased = (s.k+2)/3, 0, 0
			if p.tile.Inner.stored() {
				slice = intmath.RoundUp(slice, storedSteps)
			}
		}
		rows := 12 * (1 + i%3)
		parts := b.Len() * intmath.CeilDiv(s.k, slice)
		cases = append(cases, kernels.Case{Name: fmt.Sprint(s), Build: func(o *kernels.Operands) {
			p.elements(o, lastA+rowsA*lda)
			p.elements(o, lastB+rowsB*ldb)
			o.In(s.n, -1, 1).In(parts*s.m*ldc, -1, 1).Int(s.m, s.n, s.k, lda, ldb, ldc, accumulate, biased, rows, slice)
			for _, a := range b.Args() {
				o.Int(int(a.Int))
			}
			o.Int(1 + i%4)
			if p.tile.Inner.stored() {
				o.Out(MapsLen(rows))
			}
		}})
	}
	return cases
}

// batchSelfTest makes the operands of a batch with fewer products, and then fewer rows, than the
// launch where that is too large, and with matrices one after the other where they are far apart.
// There is none of a sum in shares that is too large, nor of matrices of which one is.
func (p *product) batchSelfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	one := p.selfTest(like[:gemmSlice+1])
	if one == nil {
		return nil
	}
	b := batchOf(func(i int) int { return int(like[i].Int) }, batchLen)
	m, n, k := int(one[gemmM].Number), int(one[gemmN].Number), int(one[gemmK].Number)
	each := max(one[gemmA].N, one[gemmB].N, one[gemmC].N, 1)
	n2 := max(1, min(b.Len(), selftest.Products/max(1, m*n*k), selftest.Elements/(4*each)))
	if parts := one[gemmC].N; parts > m*int(one[gemmLDC].Number) && n2 < b.Len() {
		return nil
	}
	stepA, stepB := one[gemmA].N, one[gemmB].N
	if b.A == [3]int{} {
		stepA = 0
	}
	if b.B == [3]int{} {
		stepB = 0
	}
	one[gemmA].N += (n2 - 1) * stepA
	one[gemmB].N += (n2 - 1) * stepB
	one[gemmC].N *= n2
	for _, v := range []int{n2, 1, n2, 0, 0, stepA, 0, 0, stepB, int(like[batchRun].Int)} {
		one = append(one, selftest.Number(float64(v)))
	}
	return one
}

// GemmDirect computes a batch of products of small matrices on a GPU, an element of C for each
// work-item: A, B, C, m, n, K, a_row, a_step, b_step, b_column, accumulate, and those of a [Batch].
// Element (i, k) of A is i·a_row + k·a_step, element (k, j) of B is k·b_step + j·b_column. Its bits
// are those of GemmBatch.
var GemmDirect = &kernels.Kernel{Name: "k_gemm_direct", File: "gemm_direct.cl",
	Params: append([]kernels.Param{in("A"), in("B"), inOut("C"), intArg("m"), intArg("n"), intArg("K"), intArg("a_row"), intArg("a_step"),
		intArg("b_step"), intArg("b_column"), intArg("accumulate")}, batchParams...),
	Grid: kernels.GridPerElement(2), Semantics: directSemantics, Cases: directCases, SelfTest: directSelfTest,
	Fusions: fused.Fusions{Epilogue: storesDirect},
	Host:    kernels.HostKernel{F32: directHost[float32], F64: directHost[float64]},
	Tol: kernels.Tolerance{ULP: 4, Rel: gemmRel, Scale: func(a []kernels.Arg) float64 {
		return float64(a[5].Int)*kernels.MaxAbs(a, 0)*kernels.MaxAbs(a, 1) + float64(a[10].Int)*kernels.MaxAbs(a, 2)
	}}}

// Direct reports whether the matrices of a batch are so small that a tile of a GPU would be mostly
// empty.
func Direct(m, n, k int, l kernels.Target) bool { return !l.CPU && m <= 16 && n <= 16 && k <= 256 }

const directBatch = 11

func directHost[T kernels.Float](c kernels.HostArgs[T]) {
	A, B, C, m, n, K := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4), c.Int(5)
	aRow, aStep, bStep, bColumn, accumulate := c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10) != 0
	b := batchOf(c.Int, directBatch)
	c.Parallel(b.Len(), m*n*K, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			aAt, bAt := b.at(y)
			for i := range m {
				for j := range n {
					var sum T
					for k := range K {
						sum += A[aAt+i*aRow+k*aStep] * B[bAt+k*bStep+j*bColumn]
					}
					at := &C[(y*m+i)*n+j]
					if accumulate {
						sum += *at
					}
					*at = sum
				}
			}
		}
	})
}

func directSemantics(in args) operations {
	num := func(i int) int { return int(in[i].Int) }
	return new(product).productsSemantics(in, batchOf(num, directBatch), num(3), num(4), num(5), max(1, num(5)), num(4), num(10) != 0,
		false, view(in, 0, 0, num(6), num(7)), view(in, 1, 0, num(8), num(9)), view(in, 2, 0))
}

// directCases are the launches that test small products: of both forms of each operand, repeated
// and with gaps.
func directCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range [][5]int{{1, 1, 1, 1, 1}, {8, 8, 8, 5, 7}, {3, 5, 16, 2, 3}, {16, 13, 0, 2, 2}, {5, 16, 33, 3, 1}} {
		m, n, k := s[0], s[1], s[2]
		b := Batch{N: [3]int{s[3], 1, s[4]}, A: [3]int{s[4] * m * k, 0, m * k}, B: [3]int{0, 0, k * n}}
		strides := []int{k, 1, n, 1}
		if i%2 > 0 {
			strides = []int{1, m, 1, k}
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprint(s), Build: func(o *kernels.Operands) {
			o.In(s[3]*s[4]*m*k, -1, 1).In(s[4]*k*n, -1, 1).In(b.Len()*m*n, -1, 1).Int(m, n, k).Int(strides...).Int(i % 2)
			for _, a := range b.Args() {
				o.Int(int(a.Int))
			}
		}})
	}
	return cases
}

// directSelfTest is the launch with fewer products where there are too many, one after the other where
// they are far apart.
func directSelfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	num := func(i int) int { return int(like[i].Int) }
	b, m, n, k := batchOf(num, directBatch), num(3), num(4), num(5)
	a, at := (m-1)*num(6)+(k-1)*num(7)+1, (k-1)*num(8)+(n-1)*num(9)+1
	count := max(1, min(b.Len(), selftest.Elements/(4*max(a, at))))
	if a > selftest.Elements || at > selftest.Elements {
		return nil
	}
	ops := []kernels.Operand{selftest.Uniform(count*a, -1, 1), selftest.Uniform(count*at, -1, 1),
		selftest.Uniform(count*m*n, -1, 1)}
	for i := 3; i < directBatch; i++ {
		ops = append(ops, selftest.Number(float64(num(i))))
	}
	for _, v := range []int{count, 1, count, 0, 0, a, 0, 0, at} {
		ops = append(ops, selftest.Number(float64(v)))
	}
	return ops
}
