package ops

import (
	"fmt"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Inner says how a product's kernel multiplies and adds: by ordinary arithmetic, or on the matrix
// units of a GPU, which gemm_mma.cl does.
type Inner uint8

// The inner products, numbered as in gemm_mma.cl.
const (
	FMA    Inner = iota
	TF32         // factors rounded to tf32
	FP16         // factors rounded to float16
	BF16x3       // factors of float32, as sums of three bfloat16: as accurate as FMA

	BF16 Inner = 6 // factors of bfloat16; what mma.cl has between them is fusedmlp's

	Swizzled    = 8               // with one of these: the operands are packed before
	BStationary = 2 * Swizzled    // with one of these: a small B is held while the rows of A pass, which gemm_bstationary.cl does
	WarpGroups  = 2 * BStationary // with these: groups of four warps multiply, which gemm_groups.cl and gemm_bstationary_groups.cl do
	LongK       = 2 * WarpGroups  // with one of these: groups of four warps share out the steps of a long sum, which gemm_longk.cl does
	AsStored    = 2 * LongK       // with WarpGroups and a factor of 16 bits: operands are read as they lie, which gemm_tensor.cl does
)

// factors returns what the units take, without the way that it gets there.
func (i Inner) factors() Inner { return i & (Swizzled - 1) }

func (i Inner) swizzled() bool { return i&Swizzled != 0 }

func (i Inner) bStationary() bool { return i&BStationary != 0 }

func (i Inner) longK() bool { return i&LongK != 0 }

func (i Inner) stored() bool { return i&AsStored != 0 }

// WarpGroups reports whether groups of warps multiply.
func (i Inner) WarpGroups() bool { return i&WarpGroups != 0 }

// Probed returns the inner product that shows whether a device has what this one takes: its
// instructions are the same.
func (i Inner) Probed() Inner {
	if i.bStationary() && i.WarpGroups() {
		return i
	}
	return i &^ BStationary
}

// String returns the name.
func (i Inner) String() string {
	name := [...]string{FMA: "fma", TF32: "tf32", FP16: "float16", BF16x3: "parts", BF16: "bfloat16"}[i.factors()]
	switch {
	case i.stored():
		name += " as stored"
	case i.longK():
		name += " long"
	case i.bStationary() && i.WarpGroups():
		name += " held grouped"
	case i.WarpGroups():
		name += " grouped"
	case i.swizzled():
		name += " packed"
	case i.bStationary():
		name += " held"
	}
	return name
}

// Precision returns what the factors are rounded to.
func (i Inner) Precision() kernels.Precision {
	switch i.factors() {
	case TF32:
		return kernels.PrecisionTF32
	case FP16:
		return kernels.PrecisionFloat16
	case BF16:
		return kernels.PrecisionBFloat16
	}
	return kernels.PrecisionFloat32
}

// unitFactors are the inner products on matrix units.
var unitFactors = [...]Inner{TF32, FP16, BF16x3, BF16}

// warp is how many work-items of a GPU multiply together on its matrix units.
const warp = 32

// matrixTiles are those of each inner product on matrix units: for matrices of up to 64 rows or
// columns, for others, for those that fill a device with large ones, and for those that do not fill
// it with others.
var matrixTiles = [...][]GemmTile{
	TF32: {{64, 64, 16, 32, 32, TF32}, {64, 64, 32, 32, 32, TF32}, {128, 128, 32, 64, 32, TF32}},
	FP16: {{64, 64, 32, 32, 32, FP16}, {64, 64, 64, 32, 32, FP16}, {128, 128, 64, 64, 32, FP16}},
	BF16x3: {{64, 64, 16, 32, 32, BF16x3}, {64, 64, 32, 32, 32, BF16x3}, {128, 128, 32, 64, 32, BF16x3}, {32, 64, 64, 32, 32, BF16x3},
		{64, 64, 32, 32, 64, BF16x3}, {64, 64, 32, 64, 32, BF16x3}},
	BF16: {{64, 64, 32, 32, 32, BF16}, {64, 64, 64, 32, 32, BF16}, {128, 128, 64, 64, 32, BF16}},
}

// swizzledTiles are those of packed operands.
var swizzledTiles = [...]GemmTile{
	TF32:   {128, 128, 16, 64, 64, TF32 | Swizzled},
	FP16:   {192, 128, 16, 96, 64, FP16 | Swizzled},
	BF16x3: {128, 64, 16, 64, 64, BF16x3 | Swizzled},
	BF16:   {192, 128, 16, 96, 64, BF16 | Swizzled},
}

// warpGroupTiles are those of packed operands that groups multiply.
var warpGroupTiles = [...]GemmTile{
	TF32:   {128, 128, 8, 64, 128, TF32 | Swizzled | WarpGroups},
	FP16:   {128, 128, 16, 64, 128, FP16 | Swizzled | WarpGroups},
	BF16x3: {64, 128, 16, 64, 128, BF16x3 | Swizzled | WarpGroups},
	BF16:   {128, 128, 16, 64, 128, BF16 | Swizzled | WarpGroups},
}

// bStationaryTiles are those of a B that is held: of up to N columns and K steps, and more than
// half as many, for blocks of M rows of A.
var bStationaryTiles = [...]GemmTile{
	TF32:   {256, 64, 64, 16, 64, TF32 | BStationary},
	FP16:   {256, 64, 64, 16, 64, FP16 | BStationary},
	BF16x3: {256, 64, 64, 16, 64, BF16x3 | BStationary},
	BF16:   {256, 64, 64, 16, 64, BF16 | BStationary},
}

// bStationaryWarpGroupTile is that of bStationaryTiles for factors of float32 which groups
// multiply. With others, which are fewer products, they gain nothing.
var bStationaryWarpGroupTile = GemmTile{256, 64, 64, 16, 64, BF16x3 | BStationary | WarpGroups}

// longKTiles are those of a long sum, of Aᵀ·B with M and N columns. The units take no tf32 that
// lies in rows along them.
var longKTiles = [...]GemmTile{
	FP16:   {64, 64, 16, 64, 64, FP16 | LongK},
	BF16x3: {64, 64, 16, 64, 64, BF16x3 | LongK},
	BF16:   {64, 64, 16, 64, 64, BF16 | LongK},
}

var longKSteps = [...]int{FP16: 1 << 18, BF16x3: 1 << 14, BF16: 1 << 18} // of sums of fewer, other tiles are as fast

const bStationaryRows = 1 << 16 // of fewer, holding B does not pay

// MatrixTiles returns the tiles of an inner product on matrix units that a device with floats of
// type t and the limits l can run, the smallest first.
func MatrixTiles(inner Inner, t kernels.DType, l kernels.Target) []GemmTile {
	if l.CPU || t != kernels.Float32 {
		return nil
	}
	tiles := matrixTiles[inner.factors()]
	if inner != inner.factors() {
		tiles = []GemmTile{probedTile(inner)}
	}
	return slices.DeleteFunc(slices.Clone(tiles), func(tile GemmTile) bool {
		return !tile.fits(l)
	})
}

// probedTile returns the tile that shows whether a device has what an inner product takes.
func probedTile(inner Inner) GemmTile {
	switch {
	case inner.stored():
		return storedTile(inner.factors(), len(storedBlocks)-1) // whose work-groups take the most
	case inner.longK():
		return longKTiles[inner.factors()]
	case inner.swizzled():
		return swizzledTile(inner)
	case inner.bStationary():
		return bStationaryWarpGroupTile
	}
	return matrixTiles[inner.factors()][0]
}

// swizzledTile returns the tile of packed operands of an inner product.
func swizzledTile(inner Inner) GemmTile {
	if inner.WarpGroups() {
		return warpGroupTiles[inner.factors()]
	}
	return swizzledTiles[inner.factors()]
}

func (t GemmTile) fits(l kernels.Target) bool {
	if t.Inner.stored() { // devices say nothing of the local memory that a kernel may declare: see Probed
		return t.items() <= l.MaxGroup
	}
	return t.local() <= l.LocalMem && t.items() <= l.MaxGroup
}

// local returns the bytes of local memory that a tile on matrix units takes.
func (t GemmTile) local() int {
	if t.Inner.bStationary() {
		const flaws = 16 // and what aligns it
		return t.K*t.N*t.Inner.bytes() + flaws
	}
	if t.Inner.longK() {
		const padded, counter = 9, 8 // eighths of what is staged of B, and the bytes of what counts those of a stage
		return t.ways() * (t.K*t.N*t.Inner.bytes()*padded/8 + t.stages()*(t.K*(t.M+t.N)*4+counter))
	}
	sums := (t.ways() - 1) * t.M * t.N * 4
	return max(t.stages()*t.staged(), sums)
}

// ways returns how many warps share out the steps of each part of a tile. Tiles of less than four
// parts are for products that fill a device with warps in no other way.
func (t GemmTile) ways() int {
	if t.Inner.longK() {
		return 2
	}
	if t.Inner.swizzled() || t.Inner.bStationary() || t.Inner.stored() || t.M/t.ItemM*(t.N/t.ItemN) >= 4 {
		return 1
	}
	return t.K / 16
}

// bytes returns those of a staged element.
func (i Inner) bytes() int { return [...]int{TF32: 4, FP16: 2, BF16x3: 6, BF16: 2}[i.factors()] }

// staged returns those of the operands that a tile stages at once.
func (t GemmTile) staged() int { return t.K * (t.M + t.N) * t.Inner.bytes() }

// rowGroups returns how many work-groups of a GPU share out m rows, where others share out the
// rest: one for each tile, but where B is held one for each unit, which has room for no other.
func (t GemmTile) rowGroups(m, others int, l kernels.Target) int {
	groups := intmath.CeilDiv(m, t.M)
	if t.Inner.bStationary() {
		groups = min(groups, max(1, l.Units/others))
	}
	return groups
}

// stages returns how many times it has them. A second buffer saves a barrier, but costs room for
// groups.
func (t GemmTile) stages() int {
	if t.Inner.stored() {
		return storedBlocks[t.block()].stages
	}
	if t.Inner.swizzled() {
		return min(5, 48<<10/t.staged())
	}
	if t.Inner.longK() || t.staged() <= 8<<10 {
		return 2
	}
	return 1
}

func innerFor(p kernels.Precision) Inner {
	return [...]Inner{kernels.PrecisionFloat32: BF16x3, kernels.PrecisionTF32: TF32, kernels.PrecisionFloat16: FP16,
		kernels.PrecisionBFloat16: BF16}[p]
}

// MatrixTileFor returns the tile for a batch of products on matrix units, which a device may or may
// not have, where that is worth while: one with the FMA as its inner product is none. It follows
// the precision, shape and device alone.
func MatrixTileFor(p kernels.Precision, form GemmForm, batch, m, n, k int, t kernels.DType, l kernels.Target) GemmTile {
	if l.CPU || t != kernels.Float32 || min(m, n, k) < 16 || float64(batch)*float64(m)*float64(n)*float64(k) < 1<<20 {
		return GemmTile{}
	}
	inner := innerFor(p)
	if held := bStationaryTiles[inner]; !form.TransposesA() && n > held.N/2 && n <= held.N && k > held.K/2 && k <= held.K && m >= bStationaryRows && held.fits(l) {
		return held
	}
	narrow := min(m, n) <= 64
	if inner == BF16x3 && narrow && (min(m, n) <= 32 || k < 1<<14) { // the ordinary units keep up with the memory
		return GemmTile{}
	}
	best := GemmTile{}
	for i, tile := range matrixTiles[inner] {
		groups := batch * intmath.CeilDiv(m, tile.M) * intmath.CeilDiv(n, tile.N)
		use := false
		switch i {
		case 0:
			use = true
		case 1:
			use = !narrow || inner == BF16x3
		case 2:
			use = !narrow && groups >= l.Units
		case 3:
			use = !narrow && k < 1024 && batch*intmath.CeilDiv(m, 64)*intmath.CeilDiv(n, 64) < l.Units // longer sums are worth shares
		default: // what a warp reads along its rows of memory is the longer side
			use = !narrow && best.M == 64 && groups >= l.Units && (tile.ItemM > tile.ItemN) == form.TransposesA()
		}
		if use && tile.fits(l) {
			best = tile
		}
	}
	return best
}

// WarpGroupTileFor is MatrixTileFor of operands that are not packed, where groups of four warps
// multiply: of many rows, or of a long sum of operands that are dense, whose rows are contiguous.
func WarpGroupTileFor(p kernels.Precision, form GemmForm, dense bool, batch, m, n, k int, t kernels.DType, l kernels.Target) GemmTile {
	tile := MatrixTileFor(p, form, batch, m, n, k, t, l)
	switch factors := tile.Inner.factors(); {
	case tile.Inner == BF16x3|BStationary:
		return bStationaryWarpGroupTile
	case factors == BF16x3 || factors == FP16 || factors == BF16:
		if long := longKTiles[factors]; form == TN && dense && batch == 1 && m == long.M && n == long.N && k >= longKSteps[factors] && long.fits(l) {
			return long
		}
	}
	return GemmTile{}
}

// SwizzledTileFor is MatrixTileFor of a product that is so large that its operands are worth
// packing, in shares of one: a tile that groups of warps multiply or not.
func SwizzledTileFor(p kernels.Precision, grouped bool, m, n, k int, t kernels.DType, l kernels.Target) GemmTile {
	inner, least := innerFor(p)|Swizzled, 1536
	if grouped {
		inner, least = inner|WarpGroups, 1280
	}
	tile := swizzledTile(inner)
	if l.CPU || t != kernels.Float32 || min(m, n, k) < least || !tile.fits(l) || intmath.CeilDiv(m, 64)*intmath.CeilDiv(n, 64) < l.Units {
		return GemmTile{}
	}
	return tile
}

// MatrixProbe returns the kernel that shows whether a device has units for an inner product, or
// whether it copies packed operands.
func MatrixProbe(inner Inner) *kernels.Kernel {
	form := NN
	if inner.longK() {
		form = TN
	}
	return Gemm(form, probedTile(inner), nil)
}

// others returns the tiles that may take the place of one whose kernel fails its trial: on a GPU no
// slow form for CPUs.
func (t GemmTile) others(float kernels.DType, l kernels.Target) []GemmTile {
	if t.Inner != FMA && l.CPU {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(GemmTiles(float, l)), func(other GemmTile) bool { return other == t })
}

// file returns the name of the source for GPUs, without its ending.
func (t GemmTile) file() string {
	switch {
	case t.Inner == FMA:
		return "gemm_gpu"
	case t.Inner.stored():
		return "gemm_tensor"
	case t.Inner.bStationary() && t.Inner.WarpGroups():
		return "gemm_bstationary_groups"
	case t.Inner.bStationary():
		return "gemm_bstationary"
	case t.Inner.longK():
		return "gemm_longk"
	case t.Inner.WarpGroups():
		return "gemm_groups"
	}
	return "gemm_mma"
}

// definesOf are the compiler's options of a product of a form. They name the form: compilers take
// as long for each of the four in a file.
func (t GemmTile) definesOf(form GemmForm) string {
	defines := fmt.Sprintf("%s -DFORM=%d", t.defines(), slices.Index(GemmForms, form))
	if t.Inner == FMA || t.Inner.bStationary() {
		return defines
	}
	if t.Inner.stored() {
		return fmt.Sprintf("%s -DSTAGES=%d -DBFLOAT16_UNITS", defines, t.stages())
	}
	defines += fmt.Sprintf(" -DSTAGES=%d -DWAYS=%d", t.stages(), t.ways())
	if t.Inner.swizzled() {
		defines += " -DPACKED -DBRICKS"
		switch {
		case t.Inner.WarpGroups():
			defines += " -DBAND=16"
		case t.Inner.factors() == TF32: // with others it gains nothing
			defines += " -DBAND=8"
		}
	}
	return defines
}

// scale is gemmScale. The units cut sums off, and may be off by a unit of the last place for every
// few steps.
func (p *product) scale(a []kernels.Arg) float64 {
	if p.tile.Inner.Precision() == kernels.PrecisionFloat32 {
		return gemmScale(a)
	}
	return gemmScale(a) * (1 + float64(a[gemmK].Int)/64)
}

// rounded returns an operand's elements as the inner product takes them: themselves, or a copy that
// done gives back.
func rounded[T kernels.Float](inner Inner, pool *sync.Pool, x []T) (y []T, done func()) {
	p := inner.Precision()
	if p == kernels.PrecisionFloat32 {
		return x, keepNothing
	}
	return roundedTo(p, pool, x)
}

func keepNothing() {}

// roundedTo is a function of its own so that products in float32 allocate nothing.
func roundedTo[T kernels.Float](p kernels.Precision, pool *sync.Pool, x []T) ([]T, func()) {
	buf := borrowed[T](pool, len(x))
	y := *buf
	parallel.For(len(x), parallel.Grain, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = T(p.Round(float64(v)))
		}
	})
	return y, func() { pool.Put(buf) }
}

// borrowed returns n elements of the pool.
func borrowed[T kernels.Float](pool *sync.Pool, n int) *[]T {
	buf, _ := pool.Get().(*[]T)
	if buf == nil || cap(*buf) < n {
		buf = new([]T)
		*buf = scratch[T](n)
	}
	*buf = (*buf)[:n]
	return buf
}

// strangeCases are the launches that test elements which are no sums of three bfloat16, and the
// ends of those that are.
func (p *product) strangeCases() []kernels.Case {
	var cases []kernels.Case
	for _, s := range []struct {
		name string
		a, b float64 // the largest elements
	}{
		{"the smallest parts", 0x1p-108, 0x1p60}, {"less than them", 0x1p-112, 0x1p62}, {"denormals", 0x1p-135, 0x1p40},
		{"products that are denormal", 0x1p-66, 0x1p-66}, {"more than the largest parts", 0x1p61, 0x1p58},
	} {
		const m, n, k = 33, 20, 50
		lda, ldb, rowsA, rowsB := k, n, m, k
		if p.form.TransposesA() {
			lda, rowsA = m, k
		}
		if p.form.TransposesB() {
			ldb, rowsB = k, n
		}
		cases = append(cases, kernels.Case{Name: s.name, Build: func(o *kernels.Operands) {
			o.In(rowsA*lda, -s.a, s.a).In(rowsB*ldb, -s.b, s.b).In(n, -1, 1).In(m*n, 0, 0).Int(m, n, k, lda, ldb, n, 0, 0, 12, k)
			if p.epilogue != nil {
				o.In(0, 0, 0).Int(EpilogueNone).Float(p.epilogue.values()...)
			}
			p.addPacked(o)
		}})
	}
	return cases
}

// onMatrixUnits returns kernels of products by each inner product: of each form, of a batch and
// with an epilogue in tiles of one warp, which Oclgrind has time for, and some in the tiles of
// devices.
func onMatrixUnits() []*kernels.Kernel {
	var all []*kernels.Kernel
	for _, inner := range unitFactors {
		small, tiles := GemmTile{32, 32, 16, 32, 32, inner}, matrixTiles[inner]
		all = append(all, Gemm(NT, small, fn.Tanh), Gemm(TN, small, nil), Gemm(NN, small, nil), Gemm(NT, small, nil), Gemm(TT, small, nil), GemmBatch(NN, small),
			Gemm(NN, tiles[0], nil), Gemm(TN, tiles[2], nil),
			fused.FuseEpilogue(Gemm(NN, small, nil), fused.Epilogue{Of: storedPair, Value: 1,
				Layout: fused.AccessPattern{Rank: 1}, Keep: true}))
		if inner == BF16x3 {
			all = append(all, fused.Batch(Gemm(TN, small, nil), 2))
		}
		large := swizzledTiles[inner]
		all = append(all, Gemm(NN, GemmTile{64, 64, 16, 32, 32, inner | Swizzled}, nil), Gemm(NT, large, fn.Tanh), Gemm(TN, large, nil))
		held := GemmTile{32, 32, 32, 16, 32, inner | BStationary}
		all = append(all, Gemm(NN, held, fn.Tanh), Gemm(NT, held, nil))
		if inner != TF32 {
			all = append(all, Gemm(TN, longKTiles[inner], nil))
		}
		if inner == BF16x3 {
			grouped := GemmTile{64, 64, 64, 16, 64, inner | BStationary | WarpGroups}
			all = append(all, Gemm(TN, longKTiles[inner], fn.Tanh), Gemm(NN, grouped, fn.Tanh), Gemm(NT, grouped, nil), GemmBatch(NT, held), Gemm(NN, bStationaryTiles[inner], nil), Gemm(NN, GemmTile{32, 32, 32, 32, 32, inner}, nil), Gemm(TN, tiles[3], nil))
		}
		if inner == FP16 || inner == BF16 {
			for i, form := range [len(storedBlocks)]GemmForm{TN, NT, NN, TN, NT} {
				all = append(all, Gemm(form, storedTile(inner, i), nil))
			}
			stored := storedTile(inner, 0)
			all = append(all, Gemm(TT, stored, fn.Tanh), GemmBatch(NN, stored), GemmBatch(TN, stored),
				fused.FuseEpilogue(Gemm(NN, stored, nil), fused.Epilogue{Of: fn.Identity.Alone(),
					Layout: fused.AccessPattern{Rank: 1, Types: [fused.MapTensors]kernels.DType{1: kernels.Float16}}}))
		}
		groups := warpGroupTiles[inner]
		all = append(all, Gemm(NN, groups, nil), Gemm(NT, groups, fn.Tanh), Gemm(TN, groups, nil))
		for _, tile := range []GemmTile{large, groups} {
			for _, second := range []bool{false, true} {
				if k, _, _ := tile.Packings(1, 1, second); !slices.Contains(all, k) {
					all = append(all, k)
				}
			}
		}
	}
	return all
}
