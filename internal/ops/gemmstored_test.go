package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestStoredBlocks: the tiles of operands as they are stored divide into groups of four warps, fit
// the memory and the registers of a unit, and have names of their own.
func TestStoredBlocks(t *testing.T) {
	const (
		most      = 227 << 10 // bytes of local memory that a work-group of capability 9.0 may have
		registers = 1 << 16
	)
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	names := map[string]bool{}
	for i, b := range storedBlocks {
		tile := storedTile(BF16, i)
		rows := tile.M * 40 * 4 // of sums, before they are stored: ROW of gemm_tensor.cl
		local := tile.stages()*(tile.M+tile.N)*storedSteps*2 + rows + 1024
		if tile.M%64 != 0 || tile.N%64 != 0 || tile.N > 256 || tile.block() != i || tile.items() != tile.M/64*128+32 ||
			!tile.fits(l) {
			t.Errorf("%v is block %d of %d work-items", tile, tile.block(), tile.items())
		}
		if local*b.perUnit > most || tile.items()*b.perUnit*tile.N/2 > registers {
			t.Errorf("%v: %d of %d bytes each", tile, b.perUnit, local)
		}
		if names[tile.String()] {
			t.Errorf("a second tile is called %v", tile)
		}
		names[tile.String()] = true
	}
	probed := MatrixTiles(BF16|AsStored|WarpGroups, kernels.Float32, l)
	if len(probed) != 1 || probed[0] != storedTile(BF16, len(storedBlocks)-1) {
		t.Errorf("probed by %v", probed)
	}
}

// TestStoredTileFor: the tile of a product of 16 bits is large where there are enough of them, sums
// are in slices where there are few, and other products have none.
func TestStoredTileFor(t *testing.T) {
	l := kernels.Target{Units: 132, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		p                  kernels.Precision
		batch, m, n, k     int
		tileM, tileN, cuts int // 0: none
	}{
		{kernels.PrecisionBFloat16, 1, 4096, 4096, 4096, 128, 256, 1},
		{kernels.PrecisionFloat16, 1, 2048, 2048, 2048, 128, 256, 1},
		{kernels.PrecisionBFloat16, 1, 1024, 1024, 1024, 64, 128, 1},
		{kernels.PrecisionBFloat16, 1, 4096, 768, 3072, 128, 192, 1},
		{kernels.PrecisionBFloat16, 96, 1024, 1024, 64, 128, 256, 1},
		{kernels.PrecisionBFloat16, 1, 512, 512, 512, 64, 64, 1},
		{kernels.PrecisionBFloat16, 1, 64, 64, 262144, 64, 64, 128},
		{kernels.PrecisionBFloat16, 1, 64, 64, 64, 0, 0, 0},
		{kernels.PrecisionBFloat16, 1, 4096, 4096, 8, 0, 0, 0},
		{kernels.PrecisionFloat32, 1, 4096, 4096, 4096, 0, 0, 0},
		{kernels.PrecisionTF32, 1, 4096, 4096, 4096, 0, 0, 0},
	} {
		tile := StoredTileFor(c.p, NN, c.batch, c.m, c.n, c.k, l)
		if tile.M != c.tileM || tile.N != c.tileN {
			t.Errorf("%+v: %v", c, tile)
		}
		if tile.Inner == FMA {
			continue
		}
		slice := GemmBatchSlice(tile, c.batch, c.m, c.n, c.k, l)
		if cuts := (c.k + slice - 1) / slice; cuts != c.cuts || cuts > 1 && slice%storedSteps != 0 {
			t.Errorf("%+v: %d slices of %d", c, cuts, slice)
		}
	}
	cpu := kernels.Target{CPU: true, Units: 8, LocalMem: 1 << 20, MaxGroup: 4096}
	if tile := StoredTileFor(kernels.PrecisionBFloat16, NN, 1, 4096, 4096, 4096, cpu); tile.Inner != FMA {
		t.Errorf("on a CPU %v", tile)
	}
	tile := storedTile(BF16, 0)
	for _, c := range [][3]int{{1, 1, 1}, {65, 64, 2}, {8192, 8192, 264}} {
		if groups := tile.StoredGroups(c[0], c[1], 1, l); groups != c[2] {
			t.Errorf("%d×%d: %d groups, want %d", c[0], c[1], groups, c[2])
		}
	}
}
