package ops

import (
	"sync"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Products of operands of 16 bits that are read as they lie in memory: see gemm_tensor.cl. They
// have one more argument than others, the last: scratch for tensor maps, of MapsLen floats.

// storedBlocks are the tiles' rows and columns, the smallest first. A group of four warps has 64
// rows of one.
var storedBlocks = [...]struct {
	m, n, stages int
	perUnit      int     // work-groups that a unit has room for
	efficiency   float64 // measured at 4096×4096×4096 on an H200, relative to the last
}{
	{64, 64, 4, 2, 0.52}, {64, 128, 4, 2, 0.77}, {128, 128, 6, 1, 0.94}, {128, 192, 5, 1, 1}, {128, 256, 4, 1, 1},
}

const (
	storedSteps = 64 // of k that are staged at once
	// StoredAlign is the multiple of elements at which an operand begins, and that its rows and the
	// matrices of a batch are apart: the copies' 16 bytes.
	StoredAlign = 8
	mapsWords   = 64 // MAPS_WORDS of gemm_tensor.cl
	mapsExtra   = 32 // MAPS_EXTRA
)

// storedTile returns the tile of block i.
func storedTile(factors Inner, i int) GemmTile {
	b := storedBlocks[i]
	return GemmTile{b.m, b.n, storedSteps, 64, b.n, factors | AsStored | WarpGroups}
}

// block returns the number of the block of a tile of operands as they are stored.
func (t GemmTile) block() int {
	for i, b := range storedBlocks {
		if b.m == t.M && b.n == t.N {
			return i
		}
	}
	return 0
}

// StoredTileFor returns the tile of a batch of products of operands of 16 bits, of the precision's
// type, that are read as they lie: the one that takes the least time by what each was measured to
// do. One with the FMA as its inner product is none.
func StoredTileFor(p kernels.Precision, form GemmForm, batch, m, n, k int, l kernels.Target) GemmTile {
	factors := innerFor(p)
	if factors != FP16 && factors != BF16 || MatrixTileFor(p, form, batch, m, n, k, kernels.Float32, l).Inner == FMA {
		return GemmTile{}
	}
	best, least := GemmTile{}, 0.0
	for i, b := range storedBlocks {
		tile := storedTile(factors, i)
		if !tile.fits(l) {
			continue
		}
		const (
			ends   = 256  // steps in whose time a tile is begun and stored
			adding = 35e6 // multiplications of a unit in whose time shares are added up, in launches of their own
		)
		slices := tile.storedSlices(batch, m, n, k, l)
		groups := batch * intmath.CeilDiv(m, b.m) * intmath.CeilDiv(n, b.n) * slices
		time := float64(intmath.CeilDiv(groups, l.Units)*b.m*b.n) * float64(intmath.CeilDiv(k, slices)+ends) / b.efficiency
		if slices > 1 {
			time += adding
		}
		if best == (GemmTile{}) || time < least {
			best, least = tile, time
		}
	}
	return best
}

// storedSlices returns in how many slices K is summed up: in more than one where the tiles are few
// and long, and sums are longer than gemmTerms.
func (t GemmTile) storedSlices(batch, m, n, k int, l kernels.Target) int {
	const short = 1024 // steps; of fewer, a share is not worth adding it up
	tiles := batch * intmath.CeilDiv(m, t.M) * intmath.CeilDiv(n, t.N)
	slices := 1
	if 2*tiles <= l.Units && k >= 4*short {
		slices = min(l.Units/tiles, k/short)
	}
	if terms := max(gemmTerms, m*n/(m+n+1)); k > terms {
		slices = max(slices, intmath.CeilDiv(k, terms))
	}
	return slices
}

// storedSlice returns the length of the slices, a multiple of the steps that are staged unless it is K.
func (t GemmTile) storedSlice(batch, m, n, k int, l kernels.Target) int {
	slices := t.storedSlices(batch, m, n, k, l)
	if slices == 1 {
		return max(k, 1)
	}
	return intmath.RoundUp(intmath.CeilDiv(k, slices), storedSteps)
}

// StoredGroups returns how many work-groups share out the tiles of products in a number of parts.
func (t GemmTile) StoredGroups(m, n, parts int, l kernels.Target) int {
	return max(1, min(parts*intmath.CeilDiv(m, t.M)*intmath.CeilDiv(n, t.N), l.Units*storedBlocks[t.block()].perUnit))
}

// MapsLen returns how many floats the scratch of a launch of so many work-groups has.
func MapsLen(groups int) int { return groups*mapsWords + mapsExtra }

// takeStored changes the kernel of a product, with all its parameters, to one of operands as they are
// stored. Argument gemmRows is the number of work-groups.
func (p *product) takeStored(k *kernels.Kernel) {
	mode := kernels.In.Of(kernels.Float16)
	if p.tile.Inner.factors() == BF16 {
		mode = kernels.In.Of(kernels.BFloat16)
	}
	k.Params[gemmA].Mode, k.Params[gemmB].Mode = mode, mode
	p.maps = len(k.Params)
	k.Params = append(k.Params, out("MAPS"))
	k.File, k.Text, k.GPU, k.GPUText = k.GPU, k.GPUText, "", "" // no other device has one
	k.Grid = func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
		items := p.tile.items()
		return kernels.Grid{Dims: 1, Local: [3]int{items}, Global: [3]int{int(a[gemmRows].Int) * items}}
	}
	fused.Of(k).Epilogue.CPU = 0
	selfTest := k.SelfTest
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		ops := selfTest(like[:p.maps])
		if ops == nil {
			return nil
		}
		return append(ops, selftest.Output(MapsLen(int(like[gemmRows].Int))))
	}
}

// storedVariants returns the kernels of other tiles.
func (t GemmTile) storedVariants(l kernels.Target, kernel func(tile GemmTile) *kernels.Kernel) []*kernels.Kernel {
	var others []*kernels.Kernel
	for i := range storedBlocks {
		if tile := storedTile(t.Inner.factors(), i); tile != t && tile.fits(l) {
			others = append(others, kernel(tile))
		}
	}
	return others
}

// elements adds an operand of n elements to a case, in its type.
func (p *product) elements(o *kernels.Operands, n int) {
	typ := kernels.Float16
	switch {
	case !p.tile.Inner.stored():
		o.In(n, -1, 1)
		return
	case p.tile.Inner.factors() == BF16:
		typ = kernels.BFloat16
	}
	o.Elements(typ, n, func(int) float64 { return 2*o.Rand.Float64() - 1 })
}

// apart returns how far rows or matrices of a case are apart that could be n apart.
func (p *product) apart(n int) int {
	if p.tile.Inner.stored() {
		return intmath.RoundUp(n, StoredAlign)
	}
	return n
}

// factors returns an operand's elements as the inner product takes them: themselves, or a copy that
// done gives back.
func factors[T kernels.Float](p *product, c kernels.HostArgs[T], pool *sync.Pool, arg int) (x []T, done func()) {
	if !p.tile.Inner.stored() {
		return rounded(p.tile.Inner, pool, c.Floats(arg))
	}
	wide := any(borrowed[T](pool, c.Len(arg))).(*[]float32) // the kernel has no host kernel for others
	if set := setOf(c); p.tile.Inner.factors() == BF16 {
		vec.FromHalves(set, *wide, kernels.Elements[bfloat16.BFloat16](c, arg))
	} else {
		vec.FromHalves(set, *wide, c.Halves(arg))
	}
	return any(*wide).([]T), func() { pool.Put(any(wide)) }
}
