package hashgrid

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// each runs f on every device, with the kernels for CPUs and, of OpenCL devices, those for GPUs.
func each(t *testing.T, double bool, f func(t *testing.T, d tensor.Device)) {
	for _, sel := range devtest.Selected() {
		for _, gpu := range []bool{false, true} {
			if gpu && sel == "cpu" {
				continue
			}
			opt := tensor.Options{DefaultType: devtest.Floats(double)}
			if gpu {
				opt = devtest.GPUKernels(opt)
			}
			t.Run(fmt.Sprintf("%s/gpu=%v", sel, gpu), func(t *testing.T) { f(t, devtest.Open(t, sel, opt)) })
		}
	}
}

// levels are two grids with an entry for each vertex, and one that is hashed.
var levels = []Level{{4, 3, 30}, {8, 6, 80}, {37, 29, 64}}

// encoded returns what Encode makes of a table and positions, and the gradient of the table for one
// of Encode's result.
func encoded(t *testing.T, g *Grid, table, positions, up *tensor.Tensor) (features, gradient []float64) {
	t.Helper()
	p := autograd.Param(table, "table")
	y := g.Encode(p, autograd.Const(positions)).Retain()
	if err := y.Backward(autograd.BackwardOptions{Seed: up}); err != nil {
		t.Fatal(err)
	}
	return devtest.Float64s(t, y.Value()), devtest.Float64s(t, p.Grad())
}

// TestGradient holds the gradient of a table that is used twice against central differences.
func TestGradient(t *testing.T) {
	each(t, true, func(t *testing.T, d tensor.Device) {
		const features, n, h = 3, 20, 6e-6
		g := New(d, levels, features)
		defer g.Free()
		rng := tensor.NewRNG(4)
		a, b := rng.Uniform(d, 0, 1, n, 2), rng.Uniform(d, 0, 1, n, 2)
		up := rng.Uniform(d, -1, 1, n, 3*features)
		at := devtest.Float64s(t, rng.Uniform(d, -1, 1, g.Entries, features))
		f := func(table *autograd.Node) *autograd.Node {
			twice := g.Encode(table, autograd.Const(a)).Add(g.Encode(table, autograd.Const(b)))
			return twice.Mul(autograd.Const(up)).Sum()
		}
		param := func(v []float64) *autograd.Node {
			return autograd.Param(devtest.New(d, v, g.Entries, features), "table")
		}
		table := param(at)
		if err := f(table).Backward(); err != nil {
			t.Fatal(err)
		}
		got := devtest.Float64s(t, table.Grad())
		for i := 0; i < len(at); i += 5 {
			value := func(v float64) float64 {
				moved := slices.Clone(at)
				moved[i] = v
				sum, err := f(param(moved)).Item()
				if err != nil {
					t.Fatal(err)
				}
				return sum
			}
			if want := (value(at[i]+h) - value(at[i]-h)) / (2 * h); math.Abs(got[i]-want) > 1e-7 {
				t.Fatalf("∂/∂table[%d] = %v, the difference is %v", i, got[i], want)
			}
		}
	})
}

// TestCellPerPixel: where there is a cell for each pixel, the features at a pixel's centre are
// those of one entry.
func TestCellPerPixel(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		const across, down = 8, 4
		g := New(d, []Level{{across, down, (across + 2) * (down + 2)}}, 2)
		defer g.Free()
		entries := make([]float64, 2*g.Entries)
		for i := range entries {
			entries[i] = float64(i)
		}
		var centres, want []float64
		for row := range down {
			for column := range across {
				centres = append(centres, (float64(column)+0.5)/across, (float64(row)+0.5)/down)
				e := float64((row+1)*(across+2) + column + 1)
				want = append(want, 2*e, 2*e+1)
			}
		}
		y := g.Encode(autograd.Const(devtest.New(d, entries, g.Entries, 2)), autograd.Const(devtest.New(d, centres, across*down, 2)))
		if got := devtest.Float64s(t, y.Value()); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestViews: non-contiguous operands give the bits of their copies.
func TestViews(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		const features, n = 3, 40
		g := New(d, levels, features)
		defer g.Free()
		rng := tensor.NewRNG(5)
		table, positions := rng.Uniform(d, -1, 1, features, g.Entries).T(), rng.Uniform(d, 0, 1, n, 4).Slice(1, 1, 3)
		up := rng.Uniform(d, -1, 1, 3*features, n).T()
		wantY, wantG := encoded(t, g, table.Copy(), positions.Copy(), up.Copy())
		gotY, gotG := encoded(t, g, table, positions, up)
		if !slices.Equal(gotY, wantY) || !slices.Equal(gotG, wantG) {
			t.Error("views give other features or another gradient than copies")
		}
		// One position for all: the same cells.
		one := devtest.New(d, []float64{0.3, 0.7}, 1, 2)
		repeated, _ := encoded(t, g, table, one.Expand(n, 2), up)
		once, _ := encoded(t, g, table, one, up.Slice(0, 0, 1))
		if !slices.Equal(repeated[:len(once)], once) || !slices.Equal(repeated[len(repeated)-len(once):], once) {
			t.Error("a position that is repeated has other features than one")
		}
	})
}

// TestNoPositions: there are no features, and the gradient is 0, also after a pass that left one.
func TestNoPositions(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		g := New(d, levels, 2)
		defer g.Free()
		rng := tensor.NewRNG(6)
		table := rng.Uniform(d, -1, 1, g.Entries, 2)
		if _, some := encoded(t, g, table, rng.Uniform(d, 0, 1, 9, 2), rng.Uniform(d, 1, 2, 9, 6)); slices.Max(some) <= 0 {
			t.Fatal("no gradient of nine positions")
		}
		y, gradient := encoded(t, g, table, tensor.Empty(d, 0, 2), tensor.Empty(d, 0, 6))
		if len(y) != 0 || slices.ContainsFunc(gradient, func(v float64) bool { return v != 0 }) {
			t.Errorf("%d features, gradient %v", len(y), gradient)
		}
	})
}

// TestOutsideTheSquare: such positions, and those that are no numbers, read and write nothing but
// the table; those near the square are extrapolated.
func TestOutsideTheSquare(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		g := New(d, levels, 1)
		defer g.Free()
		inf := math.Inf(1)
		at := []float64{-3, 0.5, 0.5, 7, 1e30, -1e30, inf, 0.5, 0.5, -inf, math.NaN(), 0.5, 0.25, 0.25}
		table, up := tensor.Full(d, 0.5, g.Entries, 1), tensor.Full(d, 1, 7, 3)
		y, _ := encoded(t, g, table, devtest.New(d, at, 7, 2), up)
		for _, i := range []int{0, 1, 2, 3, 4, 5, 18, 19, 20} { // weights add up to 1, wherever they were taken
			if math.Abs(y[i]-0.5) > 1e-4 {
				t.Errorf("feature %d of a constant is %v, want 0.5", i, y[i])
			}
		}
	})
}

// TestFarOutside: however far a position is from the square, it sees the cell at its side: an int
// holds no such column.
func TestFarOutside(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		for _, far := range []float64{1e10, -1e10, 1e20, -1e20} {
			g := New(d, []Level{{4, 3, 30}}, 1) // 6×5 vertices
			_, gradient := encoded(t, g, tensor.Full(d, 0.5, 30, 1), devtest.New(d, []float64{far, 0.5}, 1, 2), tensor.Full(d, 1, 1, 1))
			g.Free()
			for i, v := range gradient {
				column, row := i%6, i/6
				seen := (column == 4 || column == 5) == (far > 0) && (column < 2) == (far < 0) && (row == 2 || row == 3)
				if !seen && v != 0 || math.IsNaN(v) && d.Target().CPU { // fixed point has no such sums
					t.Errorf("x = %g reads vertex %d of row %d: its gradient is %v", far, column, row, v)
				}
			}
			if !slices.ContainsFunc(gradient, func(v float64) bool { return v != 0 }) {
				t.Errorf("x = %g reads nothing", far)
			}
		}
	})
}

// TestMisuse: each is a *tensor.Error of its kind that says what is wrong.
func TestMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	g := New(d, levels, 2)
	table, positions := autograd.Param(tensor.Zeros(d, g.Entries, 2), "table"), autograd.Const(tensor.Zeros(d, 5, 2))
	freed := table.MulScalar(1)
	if err := g.Encode(freed, positions).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	build := func(features int, levels ...Level) func() { return func() { New(d, levels, features) } }
	encode := func(table, positions *autograd.Node) func() { return func() { g.Encode(table, positions) } }
	zeros := func(d tensor.Device, shape ...int) *autograd.Node { return autograd.Const(tensor.Zeros(d, shape...)) }
	small, large := Level{4, 3, 30}, Level{MaxCells, MaxCells, 1 << 29}
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"no level":            {tensor.ErrValue, "hashgrid: New: bad value: 0 levels of 2 features", build(2)},
		"no features":         {tensor.ErrValue, "1 levels of 0 features", build(0, small)},
		"nine features":       {tensor.ErrValue, "at most 8", build(9, small)},
		"kernels of 0":        {tensor.ErrValue, "hashgrid: Kernels: bad value: 0 features: there are 1 to 8", func() { Kernels(0) }},
		"kernels of 9":        {tensor.ErrValue, "9 features", func() { Kernels(MaxFeatures + 1) }},
		"no cells":            {tensor.ErrValue, "level 1 has 4×0 cells", build(2, small, Level{4, 0, 8})},
		"negative cells":      {tensor.ErrValue, "-4×-4 cells", build(2, Level{-4, -4, 4})},
		"too many cells":      {tensor.ErrValue, "1 to 32768 along", build(2, Level{MaxCells + 1, 1, 16})},
		"absurd cells":        {tensor.ErrValue, "1 to 32768 along", build(2, Level{math.MaxInt, math.MaxInt, 16})},
		"entries to spare":    {tensor.ErrValue, "level 0 has 32 entries for 4×3 cells: there are 30", build(2, Level{4, 3, 32})},
		"no power of two":     {tensor.ErrValue, "smaller power of two", build(2, Level{4, 3, 29})},
		"one entry for all":   {tensor.ErrValue, "2 at least", build(2, Level{4, 3, 1})},
		"no entry":            {tensor.ErrValue, "has 0 entries", build(2, Level{4, 3, 0})},
		"too many numbers":    {tensor.ErrValue, "levels 0 to 1 have 1073741824 entries of 1 features", build(1, large, large)},
		"too many features":   {tensor.ErrValue, "levels 0 to 0", build(4, large)},
		"rank of positions":   {tensor.ErrShape, "hashgrid: HashEncode: ", encode(table, zeros(d, 10))},
		"positions in space":  {tensor.ErrShape, "positions are [n 2]", encode(table, zeros(d, 5, 3))},
		"another table":       {tensor.ErrShape, "[174 2]", encode(zeros(d, g.Entries, 3), positions)},
		"exchanged":           {tensor.ErrShape, "[5 2] [174 2]", encode(positions, table.Detach())},
		"positions elsewhere": {tensor.ErrDevice, "the grid on cpu", encode(table, zeros(other, 5, 2))},
		"table elsewhere":     {tensor.ErrDevice, "the grid on cpu", encode(zeros(other, g.Entries, 2), positions)},
		"positions to train":  {tensor.ErrValue, "pass a constant", encode(table, autograd.Param(tensor.Zeros(d, 5, 2), "positions"))},
		"no table":            {tensor.ErrValue, "HashEncode: bad value: the Node is nil", encode(nil, positions)},
		"no positions":        {tensor.ErrValue, "HashEncode: bad value: the Node is nil", encode(table, nil)},
		"a freed table":       {tensor.ErrFreed, "HashEncode: tensor was freed", encode(freed, positions)},
		"a freed grid":        {tensor.ErrFreed, "freed", func() { g.Free(); g.Free(); g.Encode(table, positions) }},
	} {
		if strings.HasPrefix(name, "a freed grid") {
			defer func() {
				if err := tensor.Try(c.f); !errors.Is(err, c.kind) {
					t.Errorf("%s: err = %v", name, err)
				}
			}()
			continue
		}
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want %v that says %q", name, err, c.kind, c.say)
		}
	}
}

// TestGraph: the operation has its name and its kernel in pictures, and changing the positions
// before Backward is found.
func TestGraph(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		g := New(d, levels, 2)
		defer g.Free()
		positions := tensor.NewRNG(7).Uniform(d, 0, 1, 5, 2)
		y := g.Encode(autograd.Param(tensor.Zeros(d, g.Entries, 2), "table"), autograd.Const(positions))
		var picture bytes.Buffer
		if err := autograd.WriteDOT(&picture, y); err != nil || !strings.Contains(picture.String(), `"HashEncode\n[5 6]\nk_hash_encode"`) {
			t.Errorf("err %v, the picture is\n%s", err, picture.String())
		}
		positions.ZeroInPlace()
		if err := y.Sum().Backward(); !errors.Is(err, autograd.ErrChanged) {
			t.Errorf("positions that were changed: err = %v", err)
		}
	})
}

// TestCheckMode: every launch of a pass agrees with its host kernel, on float operands.
func TestCheckMode(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		for _, opt := range []tensor.Options{{Check: true}, devtest.GPUKernels(tensor.Options{Check: true})} {
			d := devtest.Open(t, sel, opt)
			g := New(d, levels, 4)
			rng := tensor.NewRNG(8)
			encoded(t, g, rng.Uniform(d, -1, 1, g.Entries, 4), rng.Uniform(d, 0, 1, 100, 2), rng.Uniform(d, -1, 1, 100, 12))
			g.Free()
		}
	}
}
