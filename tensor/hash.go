package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// HashLevel is one grid of a HashGrid: Across by Down cells, whose (Across+2)·(Down+2) vertices are hashed to
// Entries, a power of two, or have one each if there are that many.
type HashLevel struct{ Across, Down, Entries int }

// hashed reports whether vertices share entries.
func (l HashLevel) hashed() bool { return l.Entries < (l.Across+2)*(l.Down+2) }

// HashGrid is the layout of a multi-resolution hash table over the unit square: grids of rising resolution, with
// a number of features at each vertex. Source: Müller, Evans, Schied, Keller, "Instant Neural Graphics Primitives
// with a Multiresolution Hash Encoding", SIGGRAPH 2022.
type HashGrid struct {
	Levels   []HashLevel // from the coarsest on
	Features int         // of an entry
	Entries  int         // of all levels: the rows of the table

	levels *Ints
	sum    *Ints // of a gradient in fixed point; nil on CPUs
}

// NewHashGrid returns a layout on a device. It panics with ErrValue for a level without cells, with another
// number of entries than HashLevel says, or features outside 1 to kernels.HashFeatures.
func NewHashGrid(d Device, levels []HashLevel, features int) *HashGrid {
	h := &HashGrid{Levels: slices.Clone(levels), Features: features}
	misuse := func(format string, a ...any) {
		panic(&Error{Op: "NewHashGrid", Kind: ErrValue, Detail: fmt.Sprintf(format, a...)})
	}
	if features < 1 || features > kernels.HashFeatures || len(levels) == 0 {
		misuse("%d levels of %d features: there is at least one of each, at most %d features", len(levels), features, kernels.HashFeatures)
	}
	var table []int
	for i, l := range levels {
		vertices := (l.Across + 2) * (l.Down + 2)
		if l.Across < 1 || l.Down < 1 || l.Entries < 1 || l.Entries > vertices || l.hashed() && l.Entries&(l.Entries-1) != 0 {
			misuse("level %d has %d entries for %d×%d cells: there are %d vertices, or a smaller power of two", i, l.Entries, l.Across, l.Down, vertices)
		}
		mask := 0
		if l.hashed() {
			mask = l.Entries - 1
		}
		table = append(table, h.Entries, l.Across, l.Down, mask)
		h.Entries += l.Entries
	}
	h.levels = NewInts(d, table)
	if !d.Limits().CPU {
		h.sum = NewInts(d, make([]int, 2*h.Entries*features))
	}
	return h
}

// Free releases what the layout holds on the device.
func (h *HashGrid) Free() {
	h.levels.Free()
	if h.sum != nil {
		h.sum.Free()
	}
}

// Encode returns the features [n, levels·Features] of positions [n, 2] in the unit square, interpolated between
// the vertices around them from table [Entries, Features]. It panics with ErrShape.
func (h *HashGrid) Encode(positions, table *Tensor) *Tensor {
	const op = "HashEncode"
	d := h.check(op, positions, table, table.shape)
	c, t := positions.contiguous(), table.contiguous()
	defer c.done()
	defer t.done()
	n := positions.shape[0]
	y := alloc(op, d, []int{n, len(h.Levels) * h.Features})
	launch(d, kernels.HashEncode(h.Features), c.arg(), t.arg(), h.levels.arg(), y.arg(), kernels.I(n), kernels.I(len(h.Levels)))
	return y
}

// GradTo writes the gradient of the table to dst [Entries, Features], for the gradient g of Encode's result. The
// order of the additions is fixed on a CPU; elsewhere they are made in fixed point, in which it does not matter:
// to 2⁻³⁶, and exact up to sums of 2²⁶.
func (h *HashGrid) GradTo(dst, positions, g *Tensor) {
	const op = "HashEncode gradient"
	d := h.check(op, positions, g, dst.shape)
	writable(op, dst, positions, g)
	c, cg := positions.contiguous(), g.contiguous()
	defer c.done()
	defer cg.done()
	n, levels := kernels.I(positions.shape[0]), kernels.I(len(h.Levels))
	if h.sum == nil {
		launch(d, kernels.HashGrad(h.Features), c.arg(), cg.arg(), h.levels.arg(), dst.arg(), n, levels, kernels.I(h.Entries))
		return
	}
	launch(d, kernels.HashScatter(h.Features), c.arg(), cg.arg(), h.levels.arg(), h.sum.arg(), n, levels)
	launch(d, kernels.HashCollect, h.sum.arg(), dst.arg(), kernels.I(dst.Len()))
}

func (h *HashGrid) check(op string, positions, other *Tensor, table []int) Device {
	d := check(op, positions, other)
	h.levels.check(op)
	if h.levels.st.dev != d {
		misuse(op, ErrDevice, "the grid is on "+h.levels.st.dev.Name(), positions)
	}
	if positions.Rank() != 2 || positions.shape[1] != 2 || !slices.Equal(table, []int{h.Entries, h.Features}) {
		misuse(op, ErrShape, fmt.Sprintf("positions are [n 2], the table is [%d %d]", h.Entries, h.Features), positions, other)
	}
	return d
}
