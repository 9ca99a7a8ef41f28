package ops

import (
	"fmt"
	"math/bits"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// GemmTile is the blocking of a matrix product. On a GPU a work-group computes M×N elements of C in
// K steps at a time, each work-item ItemM×ItemN of them, or each warp or group of warps where Inner
// is one of the matrix units; on a CPU, where ItemM is 0, M×N is the block that a core keeps in
// registers. It decides how fast a product is, and no bit of its result, which Inner alone does.
type GemmTile struct {
	M, N, K, ItemM, ItemN int
	Inner                 Inner
}

// variant identifies a kernel of a function that multiplies in the tile.
func (t GemmTile) variant(kernel string, form GemmForm) fused.Variant {
	return fused.Variant{Kernel: kernel, Shape: [5]int{t.M, t.N, t.K, t.ItemM<<16 | t.ItemN,
		int(form[0])<<16 | int(form[1])<<8 | int(t.Inner)}}
}

// The candidates of the tuner, the default first.
var (
	gpuTiles = []GemmTile{
		{64, 64, 16, 4, 4, FMA}, {128, 128, 16, 8, 8, FMA}, {128, 128, 8, 8, 8, FMA}, {128, 64, 16, 8, 4, FMA},
		{64, 64, 16, 8, 4, FMA}, {64, 64, 32, 8, 4, FMA}, {256, 64, 16, 8, 8, FMA},
		{32, 64, 32, 4, 4, FMA}, {32, 32, 32, 4, 4, FMA},
	}
	cpuTiles = []GemmTile{{M: 6, N: 64}, {M: 8, N: 48}, {M: 12, N: 32}, {M: 6, N: 32}, {M: 4, N: 32}, {M: 6, N: 16}, {M: 12, N: 16}}
)

// GemmTiles returns the tiles that a device can run, the default first.
func GemmTiles(t kernels.DType, l kernels.Target) []GemmTile {
	if l.CPU {
		return cpuTiles
	}
	var fit []GemmTile
	for i, tile := range gpuTiles {
		// Two buffers of K rows of each operand, padded by 4.
		local := 2 * tile.K * (tile.M + tile.N + 8) * t.Size()
		if i == 0 || local <= l.LocalMem && tile.items() <= l.MaxGroup {
			fit = append(fit, tile)
		}
	}
	return fit
}

func (t GemmTile) items() int {
	items := t.M / t.ItemM * (t.N / t.ItemN)
	switch {
	case t.Inner.longK():
		return items * 4 * warp * t.ways()
	case t.Inner.WarpGroups() && (t.Inner.swizzled() || t.Inner.stored()):
		return items*4*warp + warp // of which one copies
	case t.Inner != FMA:
		return items * warp * t.ways()
	}
	return items
}

// steps returns how often work-groups of a GPU stage K steps for a product: an emulator takes half a second for
// each. It is 0 on a CPU.
func (t GemmTile) steps(m, n, k int) int {
	if t.ItemM == 0 {
		return 0
	}
	return intmath.CeilDiv(m, t.M) * intmath.CeilDiv(n, t.N) * intmath.CeilDiv(k, t.K)
}

func (t GemmTile) defines() string {
	if t.ItemM == 0 {
		return fmt.Sprintf("-DMR=%d -DWIDE=%d", t.M, t.N/16)
	}
	defines := fmt.Sprintf("-DTM=%d -DTN=%d -DTK=%d -DWM=%d -DWN=%d", t.M, t.N, t.K, t.ItemM, t.ItemN)
	if t.Inner != FMA {
		defines += fmt.Sprintf(" -DINNER=%d", t.Inner.factors())
	}
	return defines
}

// String returns, for example, 128x64x16/8x8, 128x64x16/32x32 tf32, or 6x64 for a CPU.
func (t GemmTile) String() string {
	if t.ItemM == 0 {
		return fmt.Sprintf("%dx%d", t.M, t.N)
	}
	name := fmt.Sprintf("%dx%dx%d/%dx%d", t.M, t.N, t.K, t.ItemM, t.ItemN)
	if t.Inner != FMA {
		name += " " + t.Inner.String()
	}
	return name
}

// MarshalText and UnmarshalText make the form of String that of a tuning table.
func (t GemmTile) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText accepts the tiles of the tuner only: others may not build, or be wrong.
func (t *GemmTile) UnmarshalText(text []byte) error {
	for _, list := range [][]GemmTile{gpuTiles, cpuTiles} {
		for _, tile := range list {
			if tile.String() == string(text) {
				*t = tile
				return nil
			}
		}
	}
	return fmt.Errorf("no tile is called %q: run the tuner again", text)
}

// GemmChoice is the Tile that was fastest for a product of one Form and size: [M, K] by [K, N].
type GemmChoice struct {
	Form    GemmForm `json:"form"`
	M       int      `json:"m"`
	N       int      `json:"n"`
	K       int      `json:"k"`
	Tile    GemmTile `json:"tile"`
	GFLOPS  float64  `json:"gflops"`  // measured
	Default float64  `json:"default"` // the same with the default tile
}

// GemmTileFor returns the tile of a product on a device for which tuned was found: that of the
// nearest size, sizes compared by their powers of two. Without tuning, larger tiles where there are
// enough of them to fill a GPU.
func GemmTileFor(form GemmForm, m, n, k int, t kernels.DType, l kernels.Target, tuned []GemmChoice) GemmTile {
	best, distance := GemmTile{}, -1
	for i := range tuned {
		c := &tuned[i]
		if c.Form != form || t != kernels.Float32 {
			continue
		}
		if d := octaves(m, c.M) + octaves(n, c.N) + octaves(k, c.K); distance < 0 || d < distance {
			best, distance = c.Tile, d
		}
	}
	switch {
	case distance >= 0:
		return best
	case l.CPU:
		return cpuTiles[0]
	case t == kernels.Float32 && n > 64 && intmath.CeilDiv(m, 128)*intmath.CeilDiv(n, 128) >= l.Units:
		return gpuTiles[1]
	}
	return gpuTiles[0]
}

// octaves returns how many powers of two lie between a and b.
func octaves(a, b int) int {
	d := bits.Len(uint(a)) - bits.Len(uint(b))
	return max(d, -d)
}
