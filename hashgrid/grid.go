package hashgrid

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// The largest grids.
const (
	MaxCells    = 1 << 15 // of a level along a side: vertices are counted in an int32
	MaxFeatures = 8       // of an entry
)

// Level is one grid: Across by Down cells, whose (Across+2)·(Down+2) vertices are hashed to
// Entries, a power of two from 2 on, or have one each if there are that many. Position (x, y) lies
// at (x·Across + ½, y·Down + ½) between the vertices: where there is a cell for each pixel of a
// picture, the centres of pixels are vertices.
type Level struct{ Across, Down, Entries int }

func (l Level) vertices() int { return (l.Across + 2) * (l.Down + 2) }

// hashed reports whether vertices share entries.
func (l Level) hashed() bool { return l.Entries < l.vertices() }

// Grid is the layout of a table of features on a device. It must not be changed.
type Grid struct {
	Levels   []Level // from the coarsest on
	Features int     // of an entry
	Entries  int     // of all levels, one after the other: the rows of the table

	device    tensor.Device
	levels    *tensor.Tensor // as hash_gpu.cl says
	sum, fine *tensor.Tensor // of a gradient in fixed point, 0 between two; nil on CPUs
	strange   *tensor.Tensor // with them
}

// New returns a layout. It panics with tensor.ErrValue if there is no level, for a level with a
// number of cells that is not 1 to MaxCells or another number of entries than Level says, for
// features outside 1 to MaxFeatures, and for a table of more than 2³⁰ numbers.
func New(d tensor.Device, levels []Level, features int) *Grid {
	misuse := func(format string, a ...any) {
		panic(&tensor.Error{Pkg: "hashgrid", Op: "New", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, a...)})
	}
	if features < 1 || features > MaxFeatures || len(levels) == 0 {
		misuse("%d levels of %d features: there is at least one of each, at most %d features", len(levels), features, MaxFeatures)
	}
	g := &Grid{Levels: slices.Clone(levels), Features: features, device: d}
	var table []int32
	places := 0 // of entries in sum
	for i, l := range levels {
		if min(l.Across, l.Down) < 1 || max(l.Across, l.Down) > MaxCells {
			misuse("level %d has %d×%d cells: there are 1 to %d along each side", i, l.Across, l.Down, MaxCells)
		}
		if l.Entries < 2 || l.Entries > l.vertices() || l.hashed() && l.Entries&(l.Entries-1) != 0 {
			misuse("level %d has %d entries for %d×%d cells: there are %d, one for each vertex, or a smaller power of two, 2 at least", i, l.Entries, l.Across, l.Down, l.vertices())
		}
		mask := 0
		if l.hashed() {
			mask = l.Entries - 1
		}
		copies := copiesOf(l.Entries)
		table = append(table, int32(g.Entries), int32(l.Across), int32(l.Down), int32(mask), int32(places), int32(copies-1))
		places += copies * l.Entries
		if g.Entries += l.Entries; g.Entries > math.MaxInt32/2/features {
			misuse("levels 0 to %d have %d entries of %d features: a table has at most 2³⁰ numbers", i, g.Entries, features)
		}
	}
	g.levels = tensor.New(d, table).Retain()
	if !d.Target().CPU {
		g.sum = tensor.ZerosOf(d, tensor.Int32, 2*places*features).Retain()
		g.fine = tensor.ZerosOf(d, tensor.Int32, 2*places*features).Retain()
		g.strange = tensor.ZerosOf(d, tensor.Int32, wordsOf(g.Entries*features)).Retain()
	}
	return g
}

// copiesOf returns how many copies sums of so many entries have, a power of two. In few places
// additions wait for each other.
func copiesOf(entries int) int {
	const most = 8192 // places
	copies := 1
	for 2*copies*entries <= most {
		copies *= 2
	}
	return copies
}

// Free releases what the layout holds on the device.
func (g *Grid) Free() {
	g.levels.Free()
	if g.sum != nil {
		g.sum.Free()
		g.fine.Free()
		g.strange.Free()
	}
}

// Encode returns the features [n, levels·Features] of constant positions [n, 2] in the unit square,
// from a table [Entries, Features]: F[i, l·Features + f] = Σ_c w[c]·table[entry[c], f] over the
// corners c of the cell of level l that position i lies in, with bilinear weights w. A position
// outside the square sees the outermost cell, extrapolated; one that is no number has features that
// are none.
//
// It panics with tensor.ErrShape, with tensor.ErrDevice unless all are on the grid's device, and
// with tensor.ErrValue if the positions need a gradient: they have none.
//
// Gradient of the table: Σ w·g over the positions that read an entry. The order of the additions is
// fixed on a CPU. Elsewhere they are made in fixed point, in which it does not matter: each term is
// rounded to 2⁻³⁶ or, where all features of a level have gradients below 2⁻²² at a position, as
// those of a mean of many have, to 2⁻⁵⁸. What is below 2⁻⁵⁹ is lost: a smaller loss is to be
// scaled. A sum that leaves ±2²⁶ is NaN, and so is one of which a term does, or is infinite or NaN.
// Terms that are within, and whose sum leaves ±3·2²⁶, may wrap round unnoticed, and so may small
// ones at more than 2²⁶ positions.
func (g *Grid) Encode(table, positions *autograd.Node) *autograd.Node {
	t, c := table.ValueFor(op), positions.ValueFor(op)
	g.check(t, c)
	if positions.NeedsGrad() {
		panic(&tensor.Error{Pkg: "hashgrid", Op: op, Kind: tensor.ErrValue, Detail: "positions have no gradient: pass a constant"})
	}
	n := c.Shape()[0]
	y := tensor.EmptyOf(g.device, t.Type(), n, len(g.Levels)*g.Features)
	at := c.Contiguous()
	defer at.Free()
	entries := t.Contiguous()
	defer entries.Free()
	tensor.Launch(g.device, encode(g.Features), at.Arg(), entries.Arg(), g.levels.Arg(), y.Arg(),
		kernels.IntArg(n), kernels.IntArg(len(g.Levels)))
	return g.encoded(table, positions, y)
}

// EncodeDrawn draws n pixels of an image [height·width, channels], with replacement, and encodes
// their centres, pixel (c, r) being at ((c + ½)/width, (r + ½)/height): it returns the features,
// the centres [n, 2] and the colours [n, channels], in one launch. It panics as Encode does, with
// tensor.ErrShape for an image of another size, and with tensor.ErrValue for a negative n.
func (g *Grid) EncodeDrawn(table *autograd.Node, image *tensor.Tensor, rng *tensor.RNG, n, width, height int) (features, centres *autograd.Node, colours *tensor.Tensor) {
	t := table.ValueFor(op)
	misuse := func(kind error, format string, a ...any) {
		panic(&tensor.Error{Pkg: "hashgrid", Op: op, Kind: kind, Shapes: [][]int{t.Shape(), image.Shape()}, Detail: fmt.Sprintf(format, a...)})
	}
	if n < 0 {
		misuse(tensor.ErrValue, "%d pixels are to be drawn", n)
	}
	if image.Rank() != 2 || min(width, height) < 1 || width > math.MaxInt32/height || image.Shape()[0] != width*height {
		misuse(tensor.ErrShape, "the image has %d×%d pixels: it is [%d·%d channels]", width, height, height, width)
	}
	if image.Device() != g.device {
		misuse(tensor.ErrDevice, "the image is on %s, the grid on %s", image.Device().Name(), g.device.Name())
	}
	channels := image.Shape()[1]
	c, colours := tensor.EmptyOf(g.device, t.Type(), n, 2), tensor.EmptyOf(g.device, t.Type(), n, channels)
	g.check(t, c)
	y := tensor.EmptyOf(g.device, t.Type(), n, len(g.Levels)*g.Features)
	pixels := image.Contiguous()
	defer pixels.Free()
	entries := t.Contiguous()
	defer entries.Free()
	lo, hi, call := rng.Next()
	tensor.Launch(g.device, draw(g.Features), pixels.Arg(), entries.Arg(), g.levels.Arg(), y.Arg(), c.Arg(), colours.Arg(),
		kernels.IntArg(n), kernels.IntArg(len(g.Levels)), kernels.IntArg(width), kernels.IntArg(height), kernels.IntArg(channels), lo, hi, call)
	centres = autograd.Const(c)
	return g.encoded(table, centres, y), centres, colours
}

// encoded is the node of the features y.
func (g *Grid) encoded(table, positions *autograd.Node, y *tensor.Tensor) *autograd.Node {
	c := positions.Value()
	return autograd.NewOp(op, y, []*autograd.Node{table, positions}, func(up *autograd.Node, in *autograd.Grads) {
		write := func(dst *tensor.Tensor) { g.gradient(dst, c, up.Value()) }
		in.AccumulateIntoNode(0, write, func(y *tensor.Tensor) *autograd.Node { // linear in up: its gradient is an encoding
			return autograd.NewOp("HashGradient", y, []*autograd.Node{up}, func(gg *autograd.Node, in *autograd.Grads) {
				in.AccumulateNode(0, g.Encode(gg, positions))
			}, c)
		})
	}, c)
}

// op names the operation in graphs and errors.
const op = "HashEncode"

// gradient writes that of the table to dst, of the gradient up of Encode's result.
func (g *Grid) gradient(dst, positions, up *tensor.Tensor) {
	at := positions.Contiguous()
	defer at.Free()
	u := up.Contiguous()
	defer u.Free()
	n, levels := kernels.IntArg(positions.Shape()[0]), kernels.IntArg(len(g.Levels))
	if g.sum == nil {
		tensor.Launch(g.device, gradient(g.Features), at.Arg(), u.Arg(), g.levels.Arg(), dst.Arg(), n, levels, kernels.IntArg(g.Entries))
		return
	}
	tensor.Launch(g.device, scatter(g.Features), at.Arg(), u.Arg(), g.levels.Arg(), g.sum.Arg(), g.fine.Arg(), g.strange.Arg(), n, levels)
	tensor.Launch(g.device, collect(g.Features), g.sum.Arg(), g.fine.Arg(), g.strange.Arg(), g.levels.Arg(), dst.Arg(), kernels.IntArg(dst.Len()), levels)
}

func (g *Grid) check(table, positions *tensor.Tensor) {
	misuse := func(kind error, format string, a ...any) {
		panic(&tensor.Error{Pkg: "hashgrid", Op: op, Kind: kind, Shapes: [][]int{table.Shape(), positions.Shape()}, Detail: fmt.Sprintf(format, a...)})
	}
	if table.Device() != g.device || positions.Device() != g.device {
		misuse(tensor.ErrDevice, "the table is on %s, the positions on %s, the grid on %s", table.Device().Name(), positions.Device().Name(), g.device.Name())
	}
	if positions.Rank() != 2 || positions.Shape()[1] != 2 || !slices.Equal(table.Shape(), []int{g.Entries, g.Features}) {
		misuse(tensor.ErrShape, "the table is [%d %d], positions are [n 2]", g.Entries, g.Features)
	}
}
