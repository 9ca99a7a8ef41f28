package ops

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// GemmForm says which operands of a matrix product are stored transposed.
type GemmForm string

// The forms of C [m, n] = op(A)·op(B).
const (
	NN GemmForm = "nn" // A [m, K], B [K, n]
	NT GemmForm = "nt" // A [m, K], B [n, K]
	TN GemmForm = "tn" // A [K, m], B [K, n]
	TT GemmForm = "tt" // A [K, m], B [n, K]
)

// GemmForms lists the forms.
var GemmForms = []GemmForm{NN, NT, TN, TT}

// TransposesA reports whether A is stored transposed.
func (f GemmForm) TransposesA() bool { return f[0] == 't' }

// TransposesB reports whether B is.
func (f GemmForm) TransposesB() bool { return f[1] == 't' }

// FormOf returns the form of these.
func FormOf(a, b bool) GemmForm {
	switch {
	case a && b:
		return TT
	case a:
		return TN
	case b:
		return NT
	}
	return NN
}

// Gemm returns the kernel of a matrix product with an epilogue,
//
//	C [m, n] = f(op(A)·op(B) + accumulate·C + biased·BIAS [n])
//
// built for a tile and a function of one operand; nil is none. Arguments: A, B, BIAS, C, m, n, K,
// lda, ldb, ldc, accumulate and biased (0 or 1), rows (of GemmRows), slice (of GemmSlice), and with
// a function Z, then and the scalars that occur in it. then is one of EpilogueApply to
// EpilogueNone; with EpilogueApplyAndKeep, Z [m, ldc] becomes the operand of f, which its gradient
// may need; else it is any buffer. Each ld is the distance of two rows in memory. If biased is 0,
// BIAS is any buffer. Without a function, with slice < K, C is [⌈K/slice⌉, m, ldc]: a share for
// each slice of the sum.
func Gemm(form GemmForm, tile GemmTile, f *kernels.Function) *kernels.Kernel {
	if f == nil {
		f = fn.Identity
	}
	return fused.KernelFor(f, tile.variant("product", form), func() *kernels.Kernel { return newGemm(form, tile, f) })
}

// What the kernel of a product with a function does with it.
const (
	EpilogueApply        = iota
	EpilogueApplyAndKeep // and store its operand
	EpilogueNone         // not: C becomes the operand, as of a product without, so that a device need not build that too
)

// Where the arguments of a product are. Those from gemmZ on are there with an epilogue only.
const (
	gemmA = iota
	gemmB
	gemmBias
	gemmC
	gemmM
	gemmN
	gemmK
	gemmLDA
	gemmLDB
	gemmLDC
	gemmAccumulate
	gemmBiased
	gemmRows
	gemmSlice
	gemmZ
	gemmEpilogue
	gemmScalars
)

// GemmRows chooses the rows of C that one work-item of a CPU computes, for a product in a number of
// slices: enough that packing its panel of B is a small part of the work, few enough that its slice
// of A stays in the second-level cache, and so many alike that every core gets the same share.
func GemmRows(m, n, slices int, tile GemmTile, l kernels.Target) int {
	const most, multiple = 264, 12
	share := intmath.CeilDiv(m*intmath.CeilDiv(n, tile.N)*slices, l.Units) // of a core, in rows
	return max(multiple, intmath.RoundUp(intmath.CeilDiv(share, intmath.CeilDiv(share, most)), multiple))
}

// GemmSlice chooses the length of the slices in which K is summed up: K, unless the tiles of C
// alone would leave units idle, and then so much less that they do not. Longer sums than gemmTerms
// are in slices in any case, which are added pairwise. Of tiles with the FMA it depends on none, so
// that tuning changes no result.
func GemmSlice(tile GemmTile, m, n, k int, l kernels.Target) int {
	return GemmBatchSlice(tile, 1, m, n, k, l)
}

// GemmBatchSlice is GemmSlice for a batch of products.
func GemmBatchSlice(tile GemmTile, batch, m, n, k int, l kernels.Target) int {
	if tile.Inner.stored() {
		return tile.storedSlice(batch, m, n, k, l)
	}
	short, perUnit, rows, columns := 128, 2, 64, 64 // a slice of less is not worth the share that it writes
	switch {
	case l.CPU:
		short, perUnit = 4096, 1
	case tile.Inner != FMA && !tile.Inner.longK() && tile.ways() > 1: // a work-group has them already
		short, rows, columns = 512, tile.M, tile.N
	}
	tiles := batch * intmath.CeilDiv(m, rows) * intmath.CeilDiv(n, columns)
	slices := 1
	if tiles < l.Units && k >= 2*short {
		slices = max(1, min(perUnit*l.Units/tiles, k/short))
	}
	if terms := max(gemmTerms, m*n/(m+n+1)); k > terms { // the shares are not larger than the operands
		slices = max(slices, intmath.CeilDiv(k, terms))
	}
	if slices == 1 {
		return max(k, 1)
	}
	return intmath.RoundUp(intmath.CeilDiv(k, slices), 16)
}

// gemmTerms is the longest sum that a product adds up one term after the other.
const gemmTerms = 8192

// product is a matrix product while its kernel is made.
type product struct {
	form     GemmForm
	tile     GemmTile
	epilogue *inner // nil: none
	maps     int    // of operands as they are stored, the argument with the scratch
}

// groups returns how many work-groups of a CPU share out the panels of n columns: fewer where they
// pack A or widen it, which one of them then does for several panels, as long as there is work for every
// core. others is how many share out the rest.
func (p *product) groups(packs bool, n, others int, l kernels.Target) int {
	const most, each = 16, 2 // panels, and work-groups for a core
	panels := intmath.CeilDiv(n, p.tile.N)
	if !packs {
		return panels
	}
	return intmath.CeilDiv(panels, max(1, min(most, panels*others/(each*max(1, l.Units)))))
}

// packsA reports whether a CPU packs A, or widens it, for a launch.
func (p *product) packsA(a []kernels.Arg) bool {
	return p.form.TransposesA() || a[gemmA].Buf != nil && a[gemmA].Buf.DType().Half()
}

// blocks says how products in one launch share its work-groups on a GPU: a row of tiles after the
// other, and a share of the sum after the other.
func (p *product) blocks() *fused.GroupRanges {
	t := p.tile
	return &fused.GroupRanges{Items: t.items(), Define: fmt.Sprint("FORM ", slices.Index(GemmForms, p.form)),
		Place: "const int columns = (n + TN - 1) / TN, column = block % columns, down = (m + TM - 1) / TM, row = block / columns % down; " +
			"const int z = block / columns / down, part = z, a_at = A_off, b_at = B_off;"}
}

func newGemm(form GemmForm, tile GemmTile, f *kernels.Function) *kernels.Kernel {
	p := &product{form: form, tile: tile}
	k := &kernels.Kernel{
		Name: "k_gemm_" + string(form), File: "gemm_cpu.cl", GPU: tile.file() + ".cl", Defines: tile.definesOf(form),
		Params: []kernels.Param{in("A"), in("B"), in("BIAS"), inOut("C"), intArg("m"), intArg("n"), intArg("K"),
			intArg("lda"), intArg("ldb"), intArg("ldc"), intArg("accumulate"), intArg("biased"), intArg("rows"), intArg("slice")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			m, n, rows := int(a[gemmM].Int), int(a[gemmN].Int), int(a[gemmRows].Int)
			slices := intmath.CeilDiv(int(a[gemmK].Int), int(a[gemmSlice].Int))
			if l.CPU {
				return kernels.Grid{Dims: 3, Local: [3]int{1, 1, 1},
					Global: [3]int{p.groups(p.packsA(a), n, intmath.CeilDiv(m, rows)*slices, l), intmath.CeilDiv(m, rows), slices}}
			}
			items, columns := tile.items(), intmath.CeilDiv(n, tile.N)
			return kernels.Grid{Dims: 3, Local: [3]int{items, 1, 1},
				Global: [3]int{columns * items, tile.rowGroups(m, columns*slices, l), slices}}
		},
		Variants: func(t kernels.DType, l kernels.Target) []*kernels.Kernel {
			if tile.Inner.stored() {
				return tile.storedVariants(l, func(other GemmTile) *kernels.Kernel { return Gemm(form, other, f) })
			}
			var others []*kernels.Kernel
			for _, other := range tile.others(t, l) {
				others = append(others, Gemm(form, other, f))
			}
			return others
		},
		Cases: p.cases, Semantics: p.semantics,
		SelfTest: p.selfTest,
		Tol:      kernels.Tolerance{ULP: 4, Rel: gemmRel, Scale: p.scale},
	}
	if !f.Is(0) {
		e := newInner(f)
		p.epilogue = e
		k.Params = append(append(k.Params, inOut("Z"), intArg("then")), e.params()...)
		macros := func(width int) []string {
			return []string{fmt.Sprint("FORM ", slices.Index(GemmForms, form)), "EPILOGUE_PARAMS , OUT(Z), int then" + e.each(", REAL s%d"),
				"EPILOGUE_FIELDS global Y_MEMORY *c; global REAL *z; int then;" + e.each(" REAL s%d;"),
				"EPILOGUE_VALUES , C + C_off, Z + Z_off, then" + e.each(", s%d"),
				fmt.Sprintf("EPILOGUE(v, at) f%d(v%s)", width, e.each(", at s%d"))}
		}
		name := strings.TrimPrefix(f.Entry(), "k_")
		k.File, k.Text = "gemm_cpu_"+name+".cl", e.source("gemm_cpu", []int{16}, macros(16)...)
		k.GPU, k.GPUText = tile.file()+"_"+name+".cl", e.source(tile.file(), []int{4}, macros(4)...)
		k.Tol.Bound = p.bound // which takes its time: most functions do not magnify what the sums are off by
	}
	forms := fused.Fusions{Epilogue: p.stores(0)}
	if p.epilogue == nil && !tile.Inner.swizzled() && !tile.Inner.bStationary() && !tile.Inner.stored() && tile.ItemM > 0 {
		forms.Batch = &fused.BatchSpec{GroupRanges: p.blocks()}
	}
	if tile.Inner.swizzled() { // opaque: what it reads is not what it is said to be a product of
		k.Params = append(k.Params, packedParams...)
		k.Semantics, forms.Epilogue = nil, nil
	}
	k.Fusions = forms
	if tile.Inner.stored() {
		p.takeStored(k)
		k.Host = kernels.HostKernel{F32: gemmHost(p, blas32.Implementation().Sgemm)}
		return k
	}
	k.Host = kernels.HostKernel{F32: gemmHost(p, blas32.Implementation().Sgemm),
		F64: gemmHost(p, blas64.Implementation().Dgemm)}
	return k
}

// How far the sums of a product may be off: gemmRel epsilons of gemmScale.
const gemmRel = 8

func gemmScale(a []kernels.Arg) float64 {
	return float64(a[gemmK].Int)*kernels.MaxAbs(a, gemmA)*kernels.MaxAbs(a, gemmB) + float64(a[gemmBiased].Int)*kernels.MaxAbs(a, gemmBias)
}

// bound works out, for an element of a product with an epilogue, what the sum is and how far the
// function of it may be off.
func (p *product) bound(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	num := func(i int) int { return int(args[i].Int) }
	n, K, lda, ldb, ldc := num(gemmN), num(gemmK), num(gemmLDA), num(gemmLDB), num(gemmLDC)
	eps, _ := float.Epsilon()
	off := gemmRel * eps * p.scale(args)
	read := func(arg int, as kernels.Precision) []float64 {
		v := make([]float64, args[arg].N)
		for i := range v {
			v[i] = as.Round(args[arg].At(i))
		}
		return v
	}
	var a, b, old []float64
	if num(gemmAccumulate) != 0 {
		old = read(gemmC, kernels.PrecisionFloat32) // now: the product writes over it
	}
	rowA, stepA, rowB, stepB := lda, 1, ldb, 1
	if p.form.TransposesA() {
		rowA, stepA = 1, lda
	}
	if p.form.TransposesB() {
		rowB, stepB = 1, ldb
	}
	return func(param, i int) float64 {
		r, c := i/ldc, i%ldc
		if param == gemmZ || c >= n || num(gemmEpilogue) == EpilogueNone {
			return off
		}
		if a == nil {
			as := p.tile.Inner.Precision()
			a, b = read(gemmA, as), read(gemmB, as)
		}
		z := 0.0
		for k := range K {
			z += a[r*rowA+k*stepA] * b[k*rowB+c*stepB]
		}
		if old != nil {
			z += old[i]
		}
		if num(gemmBiased) != 0 {
			z += args[gemmBias].At(c)
		}
		_, bound := p.epilogue.bound(float, args, gemmScalars, func(int) (float64, float64) { return z, off })
		return bound
	}
}

// cases are the launches that test a product: they cover tiles that are whole and cut off, rows
// that are aligned and not, shares of the sum, and what an epilogue stores.
func (p *product) cases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {13, 17, 31}, {7, 130, 5}, {132, 260, 36}, {65, 67, 63}, {130, 3, 20},
		{30, 16, 300}, {26, 80, 520}, {20, 48, 48}, {64, 65, 64}, {65, 64, 66}, {64, 64, 64}, {8, 70, 7},
		{6, 13, 300}, {1, 67, 100}} {
		m, n, k, pad := s[0], s[1], s[2], i%3
		if few && (m*n*k > 100000 || p.tile.steps(m, n, k) > 6) {
			continue
		}
		lda, ldb, ldc := p.apart(k+pad), p.apart(n+pad), n
		rowsA, rowsB := m, k
		if p.form.TransposesA() {
			lda, rowsA = p.apart(m+pad), k
		}
		if p.form.TransposesB() {
			ldb, rowsB = p.apart(k+pad), n
		}
		slice, accumulate, biased := k, i%2, i/2%2
		if i%3 == 1 && p.epilogue == nil && !p.tile.Inner.swizzled() { // in shares
			slice, accumulate, biased = (k+2)/3, 0, 0
			if p.tile.Inner.stored() {
				slice = intmath.RoundUp(slice, storedSteps)
			}
		}
		shares := (k + slice - 1) / slice
		rows := 12 * (1 + i%3)
		cases = append(cases, kernels.Case{Name: fmt.Sprint(s), Build: func(o *kernels.Operands) {
			p.elements(o, rowsA*lda)
			p.elements(o, rowsB*ldb)
			o.In(n, -1, 1).In(shares*m*ldc, -1, 1).Int(m, n, k, lda, ldb, ldc, accumulate, biased, rows, slice)
			if p.epilogue != nil {
				then := i % 3
				o.In(stored(then)*m*ldc, 0, 0).Int(then).Float(p.epilogue.values()...)
			}
			p.addPacked(o)
			if p.tile.Inner.stored() {
				o.Out(MapsLen(rows))
			}
		}})
	}
	if p.tile.Inner.factors() == BF16x3 {
		cases = append(cases, p.strangeCases()...)
	}
	return cases
}

// stored returns how many matrices Z has.
func stored(then int) int {
	if then == EpilogueApplyAndKeep {
		return 1
	}
	return 0
}

// trial makes the operands of a product with fewer rows than the launch where that is too large,
// and with rows closer to each other in memory where they are far apart. There is none of a sum in
// shares that is too large, since its shares depend on the rows, nor of one whose B alone is.
func (p *product) selfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	num := func(i int) int { return int(like[i].Int) }
	m, n, sum, ldc, slice := num(gemmM), num(gemmN), num(gemmK), num(gemmLDC), num(gemmSlice)
	rows := max(1, min(m, selftest.Products/max(1, n*sum), selftest.Elements/max(1, sum+ldc)))
	if rows < m && sum > slice {
		return nil
	}
	// rowsA and rowsB are those in memory, of cols elements that are ld apart.
	rowsA, colsA, rowsB, colsB := rows, sum, sum, n
	if p.form.TransposesA() {
		rowsA, colsA = sum, rows
	}
	if p.form.TransposesB() {
		rowsB, colsB = n, sum
	}
	near := func(ld, rows, cols int) int { // with the alignment of ld
		if rows <= selftest.Elements/max(1, ld) {
			return ld
		}
		return min(ld, intmath.RoundUp(cols, 16)+ld%16)
	}
	lda, ldb := near(num(gemmLDA), rowsA, colsA), near(num(gemmLDB), rowsB, colsB)
	if rowsA > selftest.Elements/max(1, lda) || rowsB > selftest.Elements/max(1, ldb) {
		return nil
	}
	ops := []kernels.Operand{selftest.Uniform(rowsA*lda, -1, 1), selftest.Uniform(rowsB*ldb, -1, 1), selftest.Uniform(like[gemmBias].N, -1, 1),
		selftest.Uniform(intmath.CeilDiv(sum, max(1, slice))*rows*ldc, -1, 1)}
	numbers := len(like)
	if p.tile.Inner.swizzled() {
		numbers -= len(packedParams)
	}
	for i := gemmM; i < numbers; i++ {
		if i == gemmZ {
			ops = append(ops, selftest.Uniform(stored(num(gemmEpilogue))*rows*ldc, 0, 0))
			continue
		}
		ops = append(ops, selftest.Number(float64(like[i].Int)+like[i].Float)) // one of them is 0
	}
	selftest.SetNumbers(ops[gemmM:], float64(rows))
	selftest.SetNumbers(ops[gemmLDA:], float64(lda), float64(ldb))
	if p.tile.Inner.swizzled() {
		ops = append(ops, p.packed(func(i int) int { return int(ops[i].Number) })...)
	}
	return ops
}

// gemmHost computes a product, the rows of C shared among the cores.
func gemmHost[T kernels.Float](p *product, gemm blasGemm[T]) func(kernels.HostArgs[T]) {
	t := newHost(p, gemm)
	return func(c kernels.HostArgs[T]) {
		K, slice := c.Int(gemmK), c.Int(gemmSlice)
		A, doneA := operandOf(p, c, &t.factors, gemmA)
		B, doneB := operandOf(p, c, &t.factors, gemmB)
		if slices := intmath.CeilDiv(K, slice); slices > 1 {
			t.slices(c, slices, A, B)
		} else if slices == 1 {
			t.part(c, 0, K, A, B, c.Floats(gemmC), parallel.For)
		}
		doneA()
		doneB()
		if p.maps > 0 {
			clear(c.Floats(p.maps))
		}
	}
}

// host kernel is what the launches of a product's host kernel leave to each other.
type host[T kernels.Float] struct {
	p         *product
	gemm      blasGemm[T]
	ta, tb    blas.Transpose
	scratch   sync.Pool  // of *[]T: a launch leaves nothing to the garbage collector
	factors   sync.Pool  // the same, for operands that are rounded
	functions *sync.Pool // nil: there is no epilogue
}

func newHost[T kernels.Float](p *product, gemm blasGemm[T]) *host[T] {
	t := &host[T]{p: p, gemm: gemm, ta: blas.NoTrans, tb: blas.NoTrans}
	if p.epilogue != nil {
		t.functions = blocksPool[T](p.epilogue)
	}
	if p.form.TransposesA() {
		t.ta = blas.Trans
	}
	if p.form.TransposesB() {
		t.tb = blas.Trans
	}
	return t
}

// slices computes the slices of a sum, shared among the cores. Where there are as many as cores, each has one: C is
// small, and its rows alone would leave cores without work.
func (t *host[T]) slices(c kernels.HostArgs[T], n int, A, B operand[T]) {
	m, K, slice, ldc, each := c.Int(gemmM), c.Int(gemmK), c.Int(gemmSlice), c.Int(gemmLDC), parallel.For
	if n >= runtime.GOMAXPROCS(0) {
		each = nil
	}
	out := c.Floats(gemmC)
	c.Parallel(n, m*c.Int(gemmN)*slice/additionProducts, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			t.part(c, i*slice, min(slice, K-i*slice), A, B, out[i*m*ldc:], each)
		}
	})
}

// additionProducts is how many multiplications of a product take as long as an addition of [kernels.HostArgs.Parallel].
const additionProducts = 16

// part computes the k steps of the sum from one on, of matrices that begin at A, B and out; each
// shares the rows out, nil on this goroutine alone.
func (t *host[T]) part(c kernels.HostArgs[T], from, k int, A, B operand[T], out []T,
	each func(n, min int, f func(lo, hi int))) {
	if loops := loopsOf(c); loops != nil {
		t.vectors(c, loops, from, k, A, B, out, each)
		return
	}
	t.plain(c, from, k, A.x, B.x, out, each)
}

// loopsOf returns the vector loops that a host kernel is to use, nil for none.
func loopsOf[T kernels.Float](c kernels.HostArgs[T]) *vec.Loops[T] {
	if set := setOf(c); set != nil {
		return vec.On[T](set)
	}
	return nil
}

// setOf returns the vector instructions that a call computes with: nil if there are none.
func setOf[T kernels.Element](c kernels.HostArgs[T]) *vec.Set {
	if !c.Vectors() {
		return nil
	}
	set, _ := vec.Chosen() // a device that is open has seen the error
	return set
}

// vectors is part with vector instructions.
func (t *host[T]) vectors(c kernels.HostArgs[T], loops *vec.Loops[T], from, k int, A, B operand[T], out []T,
	each func(n, min int, f func(lo, hi int))) {
	p := vec.Product[T]{M: c.Int(gemmM), N: c.Int(gemmN), K: k, RowA: c.Int(gemmLDA), StepA: 1, StepB: c.Int(gemmLDB), ColumnB: 1, Add: c.Int(gemmAccumulate) != 0, C: out, RowC: c.Int(gemmLDC)}
	if t.p.form.TransposesA() {
		p.RowA, p.StepA = 1, p.RowA
	}
	if t.p.form.TransposesB() {
		p.StepB, p.ColumnB = 1, p.StepB
	}
	A, B = A.at(from*p.StepA), B.at(from*p.StepB)
	p.A, p.ReadA, p.B, p.ReadB = A.x, A.reader(), B.x, B.reader()
	if c.Int(gemmBiased) != 0 {
		p.Bias = c.Floats(gemmBias)[:p.N]
	}
	if t.functions != nil && c.Int(gemmEpilogue) != EpilogueNone {
		p.End = func(lo, hi int) { finish(c, t.functions, lo, hi) }
	}
	loops.Product(p, each)
}

// plain is part with gonum's BLAS. A·B is computed as A·(Bᵀ)ᵀ: gonum's inner loop is then a dot
// product of two rows, which runs about twice as fast as the one that adds multiples of rows, and
// transposing B costs O(kn) against O(mnk). For Aᵀ·B, whose operands are both large where C is
// small, two transposes cost more than they save. But gonum adds no multiple by 0, which of an
// infinity or a NaN is NaN: where there is one in B, both are transposed. Of Aᵀ·Bᵀ, A always is.
func (t *host[T]) plain(c kernels.HostArgs[T], from, k int, A, B, out []T, each func(n, min int, f func(lo, hi int))) {
	m, n, lda, ldb, ldc := c.Int(gemmM), c.Int(gemmN), c.Int(gemmLDA), c.Int(gemmLDB), c.Int(gemmLDC)
	biased := c.Int(gemmBiased) != 0
	var beta T // of C's old elements; BLAS does not read C where it is 0
	if c.Int(gemmAccumulate) != 0 {
		beta = 1
	}
	a, row := A[from:], lda // row is the distance of two rows of op(A)
	ta, b, tb := t.ta, B[from:], t.tb
	if ta == blas.Trans {
		a, row = A[from*lda:], 1
	}
	if tb == blas.NoTrans {
		b = B[from*ldb:]
	}
	skips := ta == blas.Trans && (tb == blas.Trans || !finite(b, k, n, ldb))
	if skips {
		buf := transposed(&t.scratch, a, k, m, lda)
		defer t.scratch.Put(buf)
		a, lda, row, ta = *buf, k, k, blas.NoTrans
	}
	if ta == blas.NoTrans && tb == blas.NoTrans {
		buf := transposed(&t.scratch, b, k, n, ldb)
		defer t.scratch.Put(buf)
		b, ldb, tb = *buf, k, blas.Trans
	}
	rows := gemmPiece(m, n, k)
	if each == nil {
		each = func(n, _ int, f func(lo, hi int)) { f(0, n) }
	}
	each(intmath.CeilDiv(m, rows), 1, func(first, end int) {
		for lo := first * rows; lo < min(end*rows, m); lo += rows {
			hi, beta := min(lo+rows, m), beta
			if biased && beta == 0 { // BLAS adds the bias as C's old elements
				for r := lo; r < hi; r++ {
					copy(out[r*ldc:r*ldc+n], c.Floats(gemmBias))
				}
				beta = 1
			} else if biased {
				for r := lo; r < hi; r++ {
					for j, v := range c.Floats(gemmBias)[:n] {
						out[r*ldc+j] += v
					}
				}
			}
			t.gemm(ta, tb, hi-lo, n, k, 1, a[lo*row:], lda, b, ldb, beta, out[lo*ldc:], ldc)
			if t.functions != nil && c.Int(gemmEpilogue) != EpilogueNone {
				finish(c, t.functions, lo, hi)
			}
		}
	})
}

// finite reports whether all elements of x [rows, cols], whose rows are ld apart, are finite.
func finite[T kernels.Float](x []T, rows, cols, ld int) bool {
	for r := range rows {
		for _, v := range x[r*ld : r*ld+cols] {
			if v-v != 0 {
				return false
			}
		}
	}
	return true
}

// finish applies the epilogue to rows of C.
func finish[T kernels.Float](c kernels.HostArgs[T], functions *sync.Pool, lo, hi int) {
	b := functions.Get().(*blocks[T])
	defer functions.Put(b)
	b.scalars(c, gemmScalars)
	n, ldc := c.Int(gemmN), c.Int(gemmLDC)
	step := 1
	if n == ldc { // the rows are one
		step, n = hi-lo, (hi-lo)*n
	}
	for r := lo; r < hi; r += step {
		row := c.Floats(gemmC)[r*ldc : r*ldc+n]
		if c.Int(gemmEpilogue) == EpilogueApplyAndKeep {
			copy(c.Floats(gemmZ)[r*ldc:], row)
		}
		b.run(row, row)
	}
}

// gemmPiece returns the rows of C that one call of BLAS computes. BLAS adds up in blocks where
// there are many rows, and in a row where there are few: the size of a piece, unlike the number of
// cores, must not change from run to run.
func gemmPiece(m, n, k int) int {
	least := max(1, 4*parallel.Grain/max(n*k, 1)) // of less work, a goroutine is not worth its start
	switch {
	case m <= 128: // gradients of weights: few rows, long sums
		return max(least, 8)
	case m < 1024:
		return max(least, 64)
	}
	return max(least, 256)
}

// blasGemm is C = alpha·op(A)·op(B) + beta·C, as BLAS has it.
type blasGemm[T kernels.Float] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// scratch returns n elements, from a multiple of 32 bytes on, as memory of devices is: gonum adds
// the products of two rows in an order that depends on where they lie. It is not inlined: what does
// not leave a function may lie on its stack.
//
//go:noinline
func scratch[T kernels.Float](n int) []T { return make([]T, intmath.RoundUp(n, 8))[:n] }

// transposed returns the transpose of x [rows, cols], whose rows are ld apart, in a slice of the
// pool.
func transposed[T kernels.Float](pool *sync.Pool, x []T, rows, cols, ld int) *[]T {
	buf, _ := pool.Get().(*[]T)
	if buf == nil || cap(*buf) < rows*cols {
		buf = new([]T)
		*buf = scratch[T](rows * cols)
	}
	*buf = (*buf)[:rows*cols]
	transpose(*buf, x, rows, cols, ld)
	return buf
}

// transpose writes the transpose of x [rows, cols], whose rows are ld apart, to y.
func transpose[T kernels.Float](y, x []T, rows, cols, ld int) {
	const block = 32 // columns at a time: as many lines of y stay in the cache
	for c0 := 0; c0 < cols; c0 += block {
		c1 := min(c0+block, cols)
		for r := range rows {
			for c, v := range x[r*ld+c0 : r*ld+c1] {
				y[(c0+c)*rows+r] = v
			}
		}
	}
}
