package ops

import (
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestMatrixTiles: every tile divides as gemm_mma.cl assumes, fits the local memory of NVIDIA's
// devices, and has a name of its own.
func TestMatrixTiles(t *testing.T) {
	l := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	names := map[string]bool{}
	for _, inner := range unitFactors {
		tiles := MatrixTiles(inner, kernels.Float32, l)
		if len(tiles) != len(matrixTiles[inner]) {
			t.Errorf("%v: %d of %d tiles fit 48 KiB", inner, len(tiles), len(matrixTiles[inner]))
		}
		for _, tile := range tiles {
			vectors := func(wide int) bool { return wide*tile.K/4%tile.items() == 0 }
			if tile.Inner != inner || tile.M%tile.ItemM != 0 || tile.N%tile.ItemN != 0 || tile.ItemM%16 != 0 || tile.ItemN%16 != 0 || tile.K%16 != 0 ||
				!vectors(tile.M) || !vectors(tile.N) {
				t.Errorf("tile %v does not divide into warps and loads", tile)
			}
			if names[tile.String()] || !strings.HasSuffix(tile.String(), inner.String()) {
				t.Errorf("a second tile is called %v", tile)
			}
			names[tile.String()] = true
		}
	}
	for name, l := range map[string]kernels.Target{"a CPU": {CPU: true, LocalMem: 1 << 20, MaxGroup: 1024}, "too little local memory": {LocalMem: 4 << 10, MaxGroup: 1024}} {
		if tiles := MatrixTiles(BF16x3, kernels.Float32, l); len(tiles) != 0 {
			t.Errorf("%s has tiles %v", name, tiles)
		}
	}
	if tiles := MatrixTiles(BF16x3, kernels.Float64, l); len(tiles) != 0 {
		t.Errorf("float64 has tiles %v", tiles)
	}
}

// TestPackedTiles: tiles of packed operands divide into what multiplies them, a block is of whole
// bricks, and what they share is packed as they want it.
func TestPackedTiles(t *testing.T) {
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, p := range []kernels.Precision{kernels.PrecisionFloat32, kernels.PrecisionTF32, kernels.PrecisionFloat16, kernels.PrecisionBFloat16} {
		for _, grouped := range []bool{false, true} {
			tile := SwizzledTileFor(p, grouped, 4096, 4096, 4096, kernels.Float32, l)
			a, b := tile.packings()
			rows, step, items := 16, 16, tile.M/tile.ItemM*(tile.N/tile.ItemN)*32
			if grouped {
				rows, items = 64, items*4+32
				step = 2 * a.chunk()
			}
			if tile.Inner.Precision() != p || !tile.Inner.swizzled() || tile.Inner.WarpGroups() != grouped || tile.items() != items || tile.items() > l.MaxGroup ||
				tile.M%tile.ItemM != 0 || tile.N%tile.ItemN != 0 || tile.ItemM%rows != 0 || grouped && tile.ItemN != 128 || tile.K%step != 0 || tile.stages() < 2 {
				t.Errorf("%v, groups %v: %v of %d work-items, %d stages", p, grouped, tile, tile.items(), tile.stages())
			}
			if none := SwizzledTileFor(p, grouped, 1024, 4096, 4096, kernels.Float32, l); none.Inner != FMA {
				t.Errorf("%v, groups %v: %v for few rows", p, grouped, none)
			}
			for _, pack := range []packing{a, b} {
				seen := map[int]bool{}
				for x := range pack.width {
					for k := range pack.steps {
						seen[pack.where(x, k)] = true
					}
				}
				if len(seen) != pack.plane() {
					t.Errorf("%v: %d of %d words of a block of %d by %d", tile, len(seen), pack.plane(), pack.width, pack.steps)
				}
			}
		}
	}
}

// TestGroupedTiles: where groups of four warps multiply operands that are not packed, they hold B
// beside many rows, or share a long sum of dense operands out. Their tiles fit the local memory of
// NVIDIA's devices, and each is probed by a kernel of its own.
func TestGroupedTiles(t *testing.T) {
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		p              kernels.Precision
		form           GemmForm
		dense          bool
		batch, m, n, k int
		want           Inner
	}{
		{kernels.PrecisionFloat32, NN, true, 1, 262144, 64, 64, BF16x3 | BStationary | WarpGroups},
		{kernels.PrecisionFloat32, NT, false, 3, 65536, 33, 40, BF16x3 | BStationary | WarpGroups},
		{kernels.PrecisionTF32, NT, true, 1, 65536, 64, 64, FMA},
		{kernels.PrecisionFloat16, NN, true, 1, 65536, 64, 64, FMA},
		{kernels.PrecisionFloat32, NN, true, 1, 65535, 64, 64, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 262144, 64, 64, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 64, 64, 262144, BF16x3 | LongK},
		{kernels.PrecisionFloat16, TN, true, 1, 64, 64, 262144, FP16 | LongK},
		{kernels.PrecisionFloat16, TN, true, 1, 64, 64, 65536, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 64, 64, 16384, BF16x3 | LongK},
		{kernels.PrecisionTF32, TN, true, 1, 64, 64, 262144, FMA},
		{kernels.PrecisionFloat32, TN, false, 1, 64, 64, 262144, FMA},
		{kernels.PrecisionFloat32, TN, true, 2, 64, 64, 262144, FMA},
		{kernels.PrecisionFloat32, NN, true, 1, 64, 64, 262144, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 64, 64, 16383, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 62, 64, 262144, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 64, 60, 262144, FMA},
		{kernels.PrecisionFloat32, TN, true, 1, 68, 64, 262144, FMA},
	} {
		tile := WarpGroupTileFor(c.p, c.form, c.dense, c.batch, c.m, c.n, c.k, kernels.Float32, l)
		if tile.Inner != c.want {
			t.Errorf("%+v: %v", c, tile)
		}
		if tile.Inner == FMA {
			continue
		}
		if probed := tile.Inner.Probed(); probed != tile.Inner || !slices.Equal(MatrixTiles(probed, kernels.Float32, l), []GemmTile{tile}) {
			t.Errorf("%v is probed as %v, which has the tiles %v", tile, probed, MatrixTiles(probed, kernels.Float32, l))
		}
		if tile.items()%128 != 0 || tile.items() > 512 || tile.local() > l.LocalMem {
			t.Errorf("%v has %d work-items and %d bytes", tile, tile.items(), tile.local())
		}
	}
	for k, want := range map[int]int{262144: 1008, 65536: 256, 16384: 128} {
		if slice := GemmSlice(longKTiles[BF16x3], 64, 64, k, l); slice != want {
			t.Errorf("a sum of %d steps has slices of %d, want %d", k, slice, want)
		}
	}
}

// TestWays: squares that do not fill a device with large tiles have small ones, whose warps share
// the steps out, as many as fill it.
func TestWays(t *testing.T) {
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	for n, want := range map[int][2]GemmTile{
		256:  {{32, 64, 64, 32, 32, BF16x3}, {32, 64, 64, 32, 32, BF16x3}},
		512:  {{32, 64, 64, 32, 32, BF16x3}, {32, 64, 64, 32, 32, BF16x3}},
		1024: {{64, 64, 32, 32, 64, BF16x3}, {64, 64, 32, 64, 32, BF16x3}},
	} {
		for i, form := range []GemmForm{NT, TN} {
			tile := MatrixTileFor(kernels.PrecisionFloat32, form, 1, n, n, n, kernels.Float32, l)
			if tile != want[i] || tile.ways() != tile.K/16 || tile.items()%128 != 0 {
				t.Errorf("%s of %d: %v in %d ways", form, n, tile, tile.ways())
			}
			if slice := GemmSlice(tile, n, n, n, l); slice != n {
				t.Errorf("%s of %d: slices of %d", form, n, slice)
			}
		}
	}
}

// TestRowGroups: a unit holds B once, for all rows that it computes; other tiles have a work-group
// each.
func TestRowGroups(t *testing.T) {
	l := kernels.Target{Units: 132}
	for _, c := range []struct{ m, others, held, tiles int }{{1, 1, 1, 1}, {256, 1, 1, 4}, {257, 1, 2, 5}, {262144, 1, 132, 4096}, {262144, 3, 44, 4096}, {262144, 500, 1, 4096}} {
		held, tile := bStationaryTiles[BF16x3], matrixTiles[BF16x3][0]
		if a, b := held.rowGroups(c.m, c.others, l), tile.rowGroups(c.m, c.others, l); a != c.held || b != c.tiles {
			t.Errorf("%d rows beside %d: %d groups of %v, %d of %v", c.m, c.others, a, held, b, tile)
		}
	}
}

// TestMatrixTileFor: matrix units take products that are large enough, by what the precision
// allows, in tiles that fill the device.
func TestMatrixTileFor(t *testing.T) {
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		p              kernels.Precision
		batch, m, n, k int
		float          kernels.DType
		l              kernels.Target
		inner          Inner
		large          bool
	}{
		{kernels.PrecisionFloat32, 1, 4096, 4096, 4096, kernels.Float32, l, BF16x3, true},
		{kernels.PrecisionFloat32, 1, 1024, 1024, 1024, kernels.Float32, l, BF16x3, false},
		{kernels.PrecisionTF32, 1, 4096, 4096, 4096, kernels.Float32, l, TF32, true},
		{kernels.PrecisionFloat16, 40, 512, 512, 64, kernels.Float32, l, FP16, true},
		{kernels.PrecisionFloat16, 1, 512, 512, 64, kernels.Float32, l, FP16, false},
		{kernels.PrecisionFloat32, 1, 512, 512, 512, kernels.Float32, l, BF16x3, false},
		{kernels.PrecisionFloat32, 1, 262144, 64, 64, kernels.Float32, l, BF16x3 | BStationary, true},
		{kernels.PrecisionFloat32, 1, 262144, 65, 64, kernels.Float32, l, BF16x3, true},
		{kernels.PrecisionFloat32, 1, 262144, 64, 65, kernels.Float32, l, FMA, false},
		{kernels.PrecisionFloat32, 1, 262144, 32, 64, kernels.Float32, l, FMA, false},
		{kernels.PrecisionFloat32, 1, 65535, 64, 64, kernels.Float32, l, FMA, false},
		{kernels.PrecisionFloat32, 1, 64, 64, 262144, kernels.Float32, l, BF16x3, false},
		{kernels.PrecisionFloat16, 1, 262144, 64, 64, kernels.Float32, l, FP16 | BStationary, true},
		{kernels.PrecisionFloat16, 1, 64, 64, 64, kernels.Float32, l, FMA, false},
		{kernels.PrecisionFloat16, 1, 1 << 20, 15, 64, kernels.Float32, l, FMA, false},
		{kernels.PrecisionFloat16, 1, 4096, 4096, 4096, kernels.Float64, l, FMA, false},
		{kernels.PrecisionFloat16, 1, 4096, 4096, 4096, kernels.Float32, kernels.Target{CPU: true, LocalMem: 1 << 20, MaxGroup: 1024}, FMA, false},
		{kernels.PrecisionFloat32, 1, 4096, 4096, 4096, kernels.Float32, kernels.Target{Units: 10, LocalMem: 4 << 10, MaxGroup: 1024}, FMA, false},
	} {
		if c.inner&BStationary != 0 {
			if tile := MatrixTileFor(c.p, TN, c.batch, c.m, c.n, c.k, c.float, c.l); tile.Inner.bStationary() {
				t.Errorf("Aᵀ passes by rows: %v", tile)
			}
		}
		tile := MatrixTileFor(c.p, NN, c.batch, c.m, c.n, c.k, c.float, c.l)
		if tile.Inner != c.inner || tile.M > 64 != c.large {
			t.Errorf("%v %d of %dx%dx%d: %v", c.p, c.batch, c.m, c.n, c.k, tile)
		}
	}
}

// TestUnitsHaveProbes: a product shows whether a device has the instructions of each kind.
func TestUnitsHaveProbes(t *testing.T) {
	for _, inner := range []Inner{TF32, FP16, FP16 | Swizzled | WarpGroups} {
		if MatrixProbe(inner.Probed()) == nil {
			t.Errorf("no product shows whether a device has %v", inner)
		}
	}
}
