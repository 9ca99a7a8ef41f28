package fused

import "github.com/clgrad/clgrad/kernels"

// RowSpec says how launches of a kernel are done row by row, so that a work-group can do several
// launches one after the other: see [FuseVertical].
type RowSpec struct {
	// Function is a function of what Text returns or, without Text, of the kernel's file in
	// kernels/cl; names in such a file are in no other. It has the parameters of the kernel and
	// then, on CPUs and if it is Free, int from and int to, the rows that it does, which without
	// Free are one run. Else it has int group, the number of the work-group of the launch for which
	// it stands, and memory for each of Local.
	Function string
	// Local lists the local memory of a work-group of rowsGroup work-items on devices that are no
	// CPU.
	Local []Local
	// Free says that any number of work-items may do any rows together, on devices that are no CPU,
	// too.
	Free bool
	// Text returns the OpenCL C of Function, whose name gets a prefix, for kernels from outside
	// this module and such as are generated: it opens with an @depends line.
	Text func(prefix string, cpu bool) string
	// Of says what a launch does, nil if it is not done by rows.
	Of func(args []kernels.Arg, l kernels.Target) *RowTiling
}

// Local is local memory that a function is passed.
type Local struct {
	Type string // of its elements
	N    int    // how many there are
}

// rowsGroup is how many work-items a work-group has that does rows, on devices that are no CPU.
const rowsGroup = 256

// RowTiling says which elements of its arguments each row of a launch reads or writes.
type RowTiling struct {
	Rows   int        // how many there are
	Run    int        // how many a work-group has, 0 for any number
	Slices []RowSlice // by argument; those past the last are Shared
}

// RowTilingOf returns the rows of a launch, nil if it has none or the kernel has no [RowSpec].
func RowTilingOf(k *kernels.Kernel, args []kernels.Arg, l kernels.Target) *RowTiling {
	if Of(k).Rows == nil || Of(k).Rows.Of == nil {
		return nil
	}
	of := Of(k).Rows.Of(args, l)
	if of == nil || of.Rows < 1 || of.Run < 0 {
		return nil
	}
	return of
}

// Slice returns the elements of argument arg that a row has.
func (of *RowTiling) Slice(arg int) RowSlice {
	if arg < len(of.Slices) {
		return of.Slices[arg]
	}
	return Shared
}

// RowSlice is the elements of an argument that belong to row r: Width neighbours from Off + r·Step
// on, and again each Apart elements further, Times in all.
type RowSlice struct {
	Off, Step, Width, Times, Apart int
	kind                           rowSliceKind
}

type rowSliceKind uint8

const (
	byRow rowSliceKind = iota
	shared
	unused
)

// Shared is the slice of elements that belong to no row: any work-group may read or write them.
// Unused is the slice of an argument that is neither read nor written.
var Shared, Unused = RowSlice{kind: shared}, RowSlice{kind: unused}

// ConsecutiveRows is the slice of rows of width elements that follow each other.
func ConsecutiveRows(width int) RowSlice { return RowSlice{Step: width, Width: width, Times: 1} }

// Used reports whether the argument is read or written.
func (c RowSlice) Used() bool { return c.kind != unused }

// Agrees reports whether no row has an element by c that another has by d. The elements are those
// of one memory, of which their arguments begin at a and b.
func (c RowSlice) Agrees(a int, d RowSlice, b, rows int) bool {
	if c.kind != byRow || d.kind != byRow || c.Step != d.Step {
		return false
	}
	far := b + d.Off - a - c.Off
	if far < 0 {
		return d.Agrees(b, c, a, rows)
	}
	if c.Times > 1 || d.Times > 1 {
		apart := max(c.Apart, d.Apart)
		if apart < rows*c.Step || c.Times > 1 && c.Apart != apart || d.Times > 1 && d.Apart != apart {
			return false
		}
		far %= apart
	}
	return c.Width <= c.Step && far+d.Width <= c.Step
}
