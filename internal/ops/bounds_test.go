package ops

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestScales: the magnitude on which a tolerance is a share bounds what meets in the sums of a
// launch, worked out here by hand. Too small a one refuses a device that is right, too large a one
// lets wrong results pass.
func TestScales(t *testing.T) {
	floats := func(vs ...float64) kernels.Arg { return kernels.BufferArg(kernels.HostBufferOf(vs), 0, len(vs)) }
	args := func(vecs []kernels.Arg, numbers ...float64) []kernels.Arg {
		for _, v := range numbers {
			// A launch has each number as one of the two; a scale reads the one that its kernel
			// has.
			vecs = append(vecs, kernels.Arg{Int: int64(v), Float: v})
		}
		return vecs
	}
	none := floats()
	product := func(biased float64) []kernels.Arg {
		return args([]kernels.Arg{floats(1, -2), floats(3), floats(-5, 4), none}, 7, 8, 10, 0, 0, 0, 1, biased, 12, 10)
	}
	tile := GemmTile{M: 6, N: 64}
	for _, c := range []struct {
		name string
		k    *kernels.Kernel
		args []kernels.Arg
		want float64
	}{
		{"sum", Sum, args([]kernels.Arg{floats(2, -3), none}, 100, 10, -0.5), 10 * 0.5 * 3},
		{"sum of an axis", SumAxis, args([]kernels.Arg{floats(-3), none}, 5, 100, 7, -2, 1), 100 * 2 * 3},
		{"shares", ReducePartials, args([]kernels.Arg{floats(-3), floats(-2), none}, 100, 4), 4 * 3 * 2},
		{"product", Gemm(NN, tile, nil), product(0), 10 * 2 * 3},
		{"product with a bias", Gemm(NN, tile, nil), product(1), 10*2*3 + 5},
	} {
		if got := c.k.Tol.Scale(c.args); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBounds: how far an element of a layer, and of its gradient, may be off is worked out from the
// derivative of its function there, from the sums that it is of, and from the errors of the
// function itself, which Go's and a device's tanh make.
func TestBounds(t *testing.T) {
	const eps = 0x1p-23
	mem := func(vs ...float64) kernels.Arg { return kernels.BufferArg(kernels.HostBufferOf(vs), 0, len(vs)) }
	// Two rows of sums: 1·3 + 2·(−1) + 0.5 = 1.5, and −3 − 2 + 0.5 + 7, where C had 7, or −4.5.
	layer := func(accumulate int, scalars ...float64) []kernels.Arg {
		args := append([]kernels.Arg{mem(1, 2, -1, 2), mem(3, -1), mem(0.5), mem(0, 7)}, ints(2, 1, 2, 2, 1, 1, accumulate, 1, 12, 2)...)
		args = append(args, mem(0, 0), kernels.IntArg(1))
		for _, s := range scalars {
			args = append(args, kernels.FloatArg(s))
		}
		return args
	}
	const off = 8 * eps * (2*2*3 + 0.5) // of the sums
	tile := GemmTile{M: 6, N: 64}
	for _, c := range []struct {
		name     string
		k        *kernels.Kernel
		args     []kernels.Arg
		param, i int
		want     float64 // within a half, for the errors of the function
	}{
		{"what is kept", Gemm(NN, tile, fn.LeakyReLU), layer(0, 9), gemmZ, 1, off},
		{"above 0", Gemm(NN, tile, fn.LeakyReLU), layer(0, 9), gemmC, 0, off},
		{"a steep slope", Gemm(NN, tile, fn.LeakyReLU), layer(0, 9), gemmC, 1, 9 * off},
		{"a gentle slope", Gemm(NN, tile, fn.LeakyReLU), layer(0, 0.1), gemmC, 1, 0.1 * off},
		{"added to", Gemm(NN, tile, fn.LeakyReLU), layer(1, 0.1), gemmC, 1, off},
		{"a steep function", Gemm(NN, tile, fn.Exp), layer(0), gemmC, 0, math.Exp(1.5) * off},
		{"clamped", Gemm(NN, tile, fn.Clamp), layer(0, -1, 1), gemmC, 0, 0},
		{"gradient", LinearGrad(fn.Softplus.Gradient(0)), append([]kernels.Arg{mem(1, -2), mem(3, 5), mem(0, 0), mem(0)}, ints(2, 1, 2)...), 2, 0,
			3 / (1 + math.Exp(-1)) * eps * (4 + 1 + 4)},
		{"its shares", LinearGrad(fn.ReLU.CheapestGradient(nil)), append([]kernels.Arg{mem(1, 1, -1), mem(3, -5, 9), mem(0, 0, 0), mem(0)}, ints(3, 1, 3)...), 3, 0,
			2 * 3 * eps * (3 + 5)},
	} {
		got := c.k.Tol.Bound(kernels.Float32, c.args)(c.param, c.i)
		if !(got >= 0.5*c.want && got <= 1.5*c.want+1e-12) {
			t.Errorf("%s: %v, want about %v", c.name, got, c.want)
		}
	}
}

// TestLinearGradRun: runs fill the device, and none is short, or so long that what adds them up
// rounds much.
func TestLinearGradRun(t *testing.T) {
	for _, c := range []struct {
		rows int
		l    kernels.Target
		want int
	}{
		{0, kernels.Target{Units: 4}, 16}, {512, kernels.Target{Units: 4}, 16}, {513, kernels.Target{Units: 4}, 17}, {3200, kernels.Target{Units: 4}, 100},
		{128, kernels.Target{CPU: true, Units: 4}, 16}, {800, kernels.Target{CPU: true, Units: 4}, 100},
		{1000000, kernels.Target{CPU: true, Units: 4}, 256}, {1000000, kernels.Target{Units: 4}, 256},
	} {
		if got := LinearGradRun(c.rows, c.l); got != c.want {
			t.Errorf("%d rows, %+v: runs of %d, want %d", c.rows, c.l, got, c.want)
		}
	}
}

// TestSumRuns: rows are summed in runs only where a GPU's units would be idle, and each run is
// worth its start.
func TestSumRuns(t *testing.T) {
	gpu := kernels.Target{Units: 10}
	for _, c := range []struct {
		outer, n, inner int
		l               kernels.Target
		want            int
	}{
		{1, 100000, 64, gpu, 40}, {1, 100000, 33, gpu, 40}, {1, 100000, 32, gpu, 80}, {1, 100000, 1, gpu, 80},
		{1, 100000, 320, gpu, 1}, {1, 100000, 289, gpu, 1}, {1, 100000, 288, gpu, 8}, {1, 8193, 1, gpu, 64}, {1, 8192, 1, gpu, 1},
		{1, 8192, 128, gpu, 1}, {1, 8192, 129, gpu, 16}, {1, 1023, 288, gpu, 1},
		{2, 100000, 1, gpu, 1}, {0, 100000, 1, gpu, 1}, {1, 100000, 1, kernels.Target{CPU: true, Units: 10}, 1},
	} {
		if got := SumRuns(c.outer, c.n, c.inner, c.l); got != c.want {
			t.Errorf("[%d, %d, %d] on %+v: %d runs, want %d", c.outer, c.n, c.inner, c.l, got, c.want)
		}
	}
}

// TestGemmSlice: the sum of a product is cut where whole tiles would leave units idle, into slices
// that are worth their shares, and where it is long.
func TestGemmSlice(t *testing.T) {
	gpu, cpu := kernels.Target{Units: 100}, kernels.Target{CPU: true, Units: 4}
	for _, c := range []struct {
		m, n, k int
		l       kernels.Target
		want    int
	}{
		{64, 64, 0, gpu, 1}, {64, 64, 255, gpu, 255}, {64, 64, 256, gpu, 128}, {64, 64, 100000, gpu, 512}, {64, 64, 10000, gpu, 144},
		{640, 640, 10000, gpu, 5008}, {640, 576, 10000, gpu, 5008}, {577, 576, 10000, gpu, 5008}, {640, 577, 10000, gpu, 5008},
		{65, 64, 10000, gpu, 144}, {129, 129, 10000, gpu, 464},
		{64, 64, 8191, cpu, 8191}, {64, 64, 8192, cpu, 4096}, {64, 64, 65536, cpu, 8192}, {128, 64, 32768, cpu, 8192}, {128, 128, 8192, cpu, 8192}, {128, 128, 65536, cpu, 8192},
		{129, 64, 65536, cpu, 8192}, {640, 640, 8192, gpu, 8192}, {40000, 40000, 1 << 16, gpu, 1 << 14}, // no larger than the operands
	} {
		for _, tile := range []GemmTile{{}, gpuTiles[1], matrixTiles[BF16x3][0]} {
			if got := GemmSlice(tile, c.m, c.n, c.k, c.l); got != c.want {
				t.Errorf("%d×%d×%d on %+v in %v: slices of %d, want %d", c.m, c.n, c.k, c.l, tile, got, c.want)
			}
		}
	}
	shared := GemmTile{32, 64, 64, 32, 32, BF16x3} // whose warps share the steps out
	for _, c := range [][4]int{{256, 512, 512, 512}, {64, 64, 1023, 1023}, {64, 64, 1024, 512}, {64, 64, 100000, 1008}, {320, 640, 10000, 5008}, {320, 576, 10000, 5008}} {
		if got := GemmSlice(shared, c[0], c[1], c[2], gpu); got != c[3] {
			t.Errorf("%v in %v: slices of %d", c, shared, got)
		}
	}
}

// TestGemmGroups: products that pack A do so once for several panels, as long as there are
// work-groups for every core; others have a work-group for each panel.
func TestGemmGroups(t *testing.T) {
	for _, c := range []struct {
		form        GemmForm
		n, others   int
		units, want int
	}{{NN, 1024, 5, 2, 16}, {NT, 65, 1, 1, 2}, {TN, 1024, 5, 2, 1}, {TN, 1024, 5, 64, 16}, {TN, 1024, 5, 8, 4}, {TN, 1024, 5, 16, 8}, {TN, 64, 5, 2, 1}, {TN, 1, 1, 0, 1}, {TN, 2000, 100, 1, 2}} {
		p := &product{form: c.form, tile: cpuTiles[0]}
		if got := p.groups(c.form.TransposesA(), c.n, c.others, kernels.Target{CPU: true, Units: c.units}); got != c.want {
			t.Errorf("%s of %d columns beside %d for %d cores: %d groups, want %d", c.form, c.n, c.others, c.units, got, c.want)
		}
	}
}

// TestGemmRows: the rows of a work-item share a product out evenly among the cores, and are neither
// few nor many.
func TestGemmRows(t *testing.T) {
	tile := GemmTile{M: 6, N: 64}
	for _, c := range []struct{ m, n, slices, units, want int }{
		{1, 1, 1, 4, 12}, {48, 64, 1, 4, 12}, {49, 64, 1, 4, 24}, {1056, 64, 1, 4, 264}, {1060, 64, 1, 4, 144},
		{528, 65, 1, 4, 264}, {528, 64, 2, 4, 264}, {530, 64, 2, 4, 144}, {4096, 4096, 1, 2, 264},
	} {
		if got := GemmRows(c.m, c.n, c.slices, tile, kernels.Target{CPU: true, Units: c.units}); got != c.want {
			t.Errorf("%d×%d in %d slices on %d cores: %d rows, want %d", c.m, c.n, c.slices, c.units, got, c.want)
		}
	}
}

// TestGemmPiece: a call of BLAS is worth its goroutine, and has fewer rows where there are few. The
// bits of a product depend on it.
func TestGemmPiece(t *testing.T) {
	for _, c := range []struct{ m, n, k, want int }{
		{128, 100, 1000, 8}, {129, 100, 1000, 64}, {1023, 100, 1000, 64}, {1024, 100, 1000, 256}, {100000, 1000, 1000, 256},
		{128, 64, 64, 8}, {128, 32, 64, 16}, {2000, 8, 8, 512}, {129, 16, 16, 128}, {10, 0, 0, 4 * 8192}, {10, 1 << 20, 1 << 10, 8},
	} {
		if got := gemmPiece(c.m, c.n, c.k); got != c.want {
			t.Errorf("%d×%d×%d: pieces of %d rows, want %d", c.m, c.n, c.k, got, c.want)
		}
	}
}

// TestGemmBatchTileFor: a batch of small matrices gets a tile that they fill, whatever was tuned
// for one product of as many rows, and one of large matrices what that has.
func TestGemmBatchTileFor(t *testing.T) {
	gpu, cpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}, kernels.Target{CPU: true, Units: 2}
	tall := GemmChoice{Form: NN, M: 65536, N: 64, K: 64, Tile: gpuTiles[6]}
	for _, c := range []struct {
		batch, m, n int
		l           kernels.Target
		want        GemmTile
	}{
		{1000, 256, 64, gpu, gpuTiles[6]}, {1000, 64, 64, gpu, gpuTiles[0]}, {1000, 8, 8, gpu, gpuTiles[8]}, {1000, 30, 64, gpu, gpuTiles[7]},
		{1000, 64, 64, cpu, cpuTiles[0]}, {1000, 64, 8, cpu, cpuTiles[0]}, {1000, 64, 32, cpu, GemmTile{M: 12, N: 32}}, {1000, 64, 40, cpu, GemmTile{M: 8, N: 48}},
	} {
		var tuned []GemmChoice
		if !c.l.CPU {
			tuned = []GemmChoice{tall}
		}
		if got := GemmBatchTileFor(NN, c.batch, c.m, c.n, 64, kernels.Float32, c.l, tuned); got != c.want {
			t.Errorf("%d of %d×%d on %+v: %v, want %v", c.batch, c.m, c.n, c.l, got, c.want)
		}
	}
	for _, c := range []struct{ rows, n, k, parts, want int }{{8, 8, 8, 100000, 256}, {8, 8, 8, 160, 10}, {64, 64, 64, 1000, 1}, {1, 1, 1, 3, 1}} {
		if got := GemmBatchRun(c.rows, c.n, c.k, c.parts, cpu); got != c.want {
			t.Errorf("%+v: a work-item computes %d products", c, got)
		}
	}
	if got := GemmBatchRun(8, 8, 8, 100000, gpu); got != 1 {
		t.Errorf("on a GPU a work-group computes %d products", got)
	}
}

// TestGemmTileFor: without tuning, a GPU gets large tiles where they fill it and are of use.
func TestGemmTileFor(t *testing.T) {
	gpu := kernels.Target{Units: 100}
	for _, c := range []struct {
		m, n  int
		float kernels.DType
		l     kernels.Target
		want  GemmTile
	}{
		{1280, 1280, kernels.Float32, gpu, gpuTiles[1]}, {1281, 1153, kernels.Float32, gpu, gpuTiles[1]}, {1280, 1152, kernels.Float32, gpu, gpuTiles[0]},
		{1152, 1280, kernels.Float32, gpu, gpuTiles[0]}, {1280, 1280, kernels.Float64, gpu, gpuTiles[0]}, {128000, 64, kernels.Float32, gpu, gpuTiles[0]},
		{128000, 65, kernels.Float32, gpu, gpuTiles[1]}, {1280, 1280, kernels.Float32, kernels.Target{CPU: true, Units: 1}, cpuTiles[0]},
	} {
		if got := GemmTileFor(NN, c.m, c.n, 100, c.float, c.l, nil); got != c.want {
			t.Errorf("%d×%d of %v on %+v: %v, want %v", c.m, c.n, c.float, c.l, got, c.want)
		}
	}
	near, far := GemmChoice{Form: NN, M: 100, N: 100, K: 100, Tile: gpuTiles[2]}, GemmChoice{Form: NN, M: 100, N: 100, K: 1000, Tile: gpuTiles[3]}
	for k, want := range map[int]GemmTile{10: near.Tile, 100: near.Tile, 200: near.Tile, 600: far.Tile, 10000: far.Tile} {
		for _, tuned := range [][]GemmChoice{{near, far}, {far, near}} {
			if got := GemmTileFor(NN, 100, 100, k, kernels.Float32, gpu, tuned); got != want {
				t.Errorf("a sum of %d: %v, want %v", k, got, want)
			}
		}
	}
	small, wide, tall := near, near, near // of which each is nearer in one size than the others
	wide.N, wide.Tile, tall.M, tall.Tile = 1600, gpuTiles[5], 1600, gpuTiles[6]
	for _, c := range []struct {
		m, n int
		want GemmTile
	}{{100, 100, small.Tile}, {100, 1000, wide.Tile}, {1000, 100, tall.Tile}, {10, 5000, wide.Tile}, {5000, 10, tall.Tile}, {1, 1, small.Tile}} {
		if got := GemmTileFor(NN, c.m, c.n, 100, kernels.Float32, gpu, []GemmChoice{small, wide, tall}); got != c.want {
			t.Errorf("%d×%d: %v, want %v", c.m, c.n, got, c.want)
		}
	}
	other := near
	other.Form, other.Tile = TN, gpuTiles[7]
	if got := GemmTileFor(NN, 100, 100, 100, kernels.Float32, gpu, []GemmChoice{other, near, other}); got != near.Tile {
		t.Errorf("among those of another form: %v, want %v", got, near.Tile)
	}
	first := GemmChoice{Form: NN, M: 100, N: 100, K: 100, Tile: gpuTiles[4]} // of equal distances, the first
	if got := GemmTileFor(NN, 1, 1, 1, kernels.Float32, gpu, []GemmChoice{first, near}); got != first.Tile {
		t.Errorf("%v, want %v", got, first.Tile)
	}
}

// TestGemmTilesFit: a GPU gets the tiles for which it has local memory and work-items, and the
// default in any case.
func TestGemmTilesFit(t *testing.T) {
	large := gpuTiles[1] // 2·16 rows of 128 + 128 + 8 elements, for 16×16 work-items
	for _, c := range []struct {
		local, group int
		float        kernels.DType
		fits         bool
	}{
		{33792, 256, kernels.Float32, true}, {33791, 256, kernels.Float32, false}, {33792, 255, kernels.Float32, false},
		{67584, 256, kernels.Float64, true}, {67583, 256, kernels.Float64, false},
	} {
		tiles := GemmTiles(c.float, kernels.Target{LocalMem: c.local, MaxGroup: c.group})
		if slices.Contains(tiles, large) != c.fits || tiles[0] != gpuTiles[0] {
			t.Errorf("%d bytes and %d work-items have the tiles %v", c.local, c.group, tiles)
		}
	}
	if tiles := GemmTiles(kernels.Float64, kernels.Target{}); len(tiles) != 1 || tiles[0] != gpuTiles[0] {
		t.Errorf("without local memory: %v", tiles)
	}
	gpu := kernels.Target{LocalMem: 48 << 10, MaxGroup: 1024}
	others := Gemm(TN, large, fn.Tanh).Variants(kernels.Float32, gpu)
	if len(others) != len(gpuTiles)-1 || slices.Contains(others, Gemm(TN, large, fn.Tanh)) || slices.ContainsFunc(others, func(k *kernels.Kernel) bool { return k.Name != "k_gemm_tn" }) {
		t.Errorf("%d kernels take the place of one of %d tiles", len(others), len(gpuTiles))
	}
	for tile, want := range map[GemmTile]string{{M: 6, N: 64}: "-DMR=6 -DWIDE=4", {128, 64, 16, 8, 4, FMA}: "-DTM=128 -DTN=64 -DTK=16 -DWM=8 -DWN=4"} {
		if got := tile.defines(); got != want {
			t.Errorf("%v is built with %s, want %s", tile, got, want)
		}
	}
}

// TestCasesOfProducts: among the launches that test a product are all that its kernels do
// differently, also among the few.
func TestCasesOfProducts(t *testing.T) {
	for i := range 8 * len(GemmForms) {
		form, few := GemmForms[i/8], i%2 == 1
		p := &product{form: form}
		wanted := []string{"shares 1", "shares 3"}
		if i/2%2 == 1 {
			p.epilogue = newInner(fn.Clamp)
			wanted = []string{"shares 1", "then 0", "then 1", "then 2"}
		}
		if i/4%2 == 1 {
			p.tile = gpuTiles[0]
			wanted = append(wanted, "tiles 1 1", "tiles 1 3", "tiles 3 1", "3 steps", "a step that is cut off",
				"aligned true", "aligned false")
			if p.epilogue == nil {
				wanted = append(wanted, "shares of several tiles")
			}
		}
		seen, most := map[string]bool{}, 0
		for _, c := range p.cases(few) {
			o := kernels.NewOperands(kernels.Float32, 1, 1)
			c.Build(o)
			n := func(i int) int { return int(o.Args[i].Int) }
			m, cols, sum, lda, ldb, accumulate, biased, rows, slice := n(4), n(5), n(6), n(7), n(8), n(10), n(11), n(12), n(13)
			most = max(most, m*cols*sum)
			rowA, rowB := sum, cols // that are without gaps
			if form.TransposesA() {
				rowA = m
			}
			if form.TransposesB() {
				rowB = sum
			}
			if lda < rowA || ldb < rowB || rows%12 != 0 || slice < 1 || slice < sum && (accumulate+biased > 0 || p.epilogue != nil) {
				t.Errorf("%s %s: no launch is like that", form, c.Name)
			}
			shares := (sum + slice - 1) / slice
			for i, elements := range []int{m * sum / rowA * lda, cols * sum / rowB * ldb, cols, shares * m * cols} {
				spread := map[bool]bool{}
				for j := range o.Args[i].N {
					spread[o.Args[i].At(j) < 0] = true
				}
				if o.Args[i].N != elements || elements > 20 && len(spread) < 2 {
					t.Errorf("%s %s: operand %d has %d elements, want %d, of both signs", form, c.Name, i, o.Args[i].N, elements)
				}
			}
			if p.epilogue != nil {
				then := n(gemmEpilogue)
				seen[fmt.Sprint("then ", then)] = true
				if o.Args[gemmZ].N != map[int]int{EpilogueApplyAndKeep: m * cols}[then] || len(o.Args) != gemmScalars+2 {
					t.Errorf("%s %s: %d arguments, and %d elements are kept", form, c.Name, len(o.Args), o.Args[gemmZ].N)
				}
			}
			seen[fmt.Sprint("accumulate ", accumulate, ", biased ", biased)] = true
			seen[fmt.Sprint("gaps ", lda > rowA, ldb > rowB)] = true
			seen[fmt.Sprint("shares ", shares)] = true
			if t := p.tile; t.M > 0 {
				seen[fmt.Sprint("tiles ", intmath.CeilDiv(m, t.M), " ", intmath.CeilDiv(cols, t.N))] = true
				seen["shares of several tiles"] = seen["shares of several tiles"] || shares > 1 && cols > t.N
				seen[fmt.Sprint(intmath.CeilDiv(slice, t.K), " steps")] = true
				seen["a step that is cut off"] = seen["a step that is cut off"] || slice > t.K && slice%t.K != 0
				seen[fmt.Sprint("aligned ", (lda|ldb)%4 == 0)] = true
			}
			seen[fmt.Sprint("rows ", rows)] = true
		}
		for _, want := range append(wanted, "accumulate 0, biased 0", "accumulate 1, biased 0", "accumulate 0, biased 1", "accumulate 1, biased 1",
			"gaps false false", "gaps true true", "rows 12", "rows 24", "rows 36") {
			if !seen[want] {
				t.Errorf("%s, few %v: no launch with %s", form, few, want)
			}
		}
		if few && most > 100000 || !few && most < 1000000 {
			t.Errorf("%s, few %v: the largest has %d products", form, few, most)
		}
	}
}
