package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// Ints is a list of int32 on a device: row indices, labels. All are in [0, bound).
type Ints struct {
	st    *storage
	n     int
	bound int
	freed bool
}

func newInts(d Device, n, bound int) *Ints {
	return &Ints{st: newStorage(d, kernels.Int32, n), n: n, bound: bound}
}

// NewInts returns the given numbers on a device. It panics with ErrIndex if one is negative or above
// 2³¹−2.
func NewInts(d Device, data []int) *Ints {
	host := make([]int32, len(data))
	for i, v := range data {
		if v < 0 || v >= math.MaxInt32 {
			panic(&Error{Op: "NewInts", Kind: ErrIndex, Detail: fmt.Sprintf("element %d is %d", i, v)})
		}
		host[i] = int32(v)
	}
	bound := 0
	if len(data) > 0 {
		bound = slices.Max(data) + 1
	}
	t := newInts(d, len(data), bound)
	if t.st.buf != nil {
		_ = d.Upload(t.st.buf, 0, kernels.MemOf(host)) // a failure sticks to the device
	}
	return t
}

// Len returns how many there are.
func (t *Ints) Len() int { return t.n }

// Free releases t; using it afterwards panics with ErrFreed.
func (t *Ints) Free() {
	if !t.freed {
		t.freed = true
		t.st.release()
	}
}

// Values waits for the device and returns the numbers.
func (t *Ints) Values() ([]int32, error) {
	t.check("Values")
	host := kernels.NewMem(kernels.Int32, t.n)
	if err := t.st.dev.Err(); err != nil {
		return nil, err
	}
	if err := t.st.dev.Download(host, t.st.buf, 0); err != nil {
		return nil, err
	}
	return kernels.Slice[int32](host, 0, t.n), nil
}

// Arg passes the numbers to [Launch].
func (t *Ints) Arg() kernels.Arg {
	t.check("Arg")
	return t.arg()
}

func (t *Ints) arg() kernels.Arg { return kernels.Vec(t.st.buf, 0, t.n) }

func (t *Ints) check(op string) {
	if t.freed {
		panic(&Error{Op: op, Kind: ErrFreed, Detail: "the indices were freed"})
	}
}

// GatherRows returns the rows of a matrix t [r, c] that index names: y[i] = t[index[i]], of shape
// [index.Len(), c]. It panics with ErrIndex if an index may be r or more.
func (t *Tensor) GatherRows(index *Ints) *Tensor {
	d := checkRows("GatherRows", t, index)
	if index.bound > t.shape[0] {
		misuse("GatherRows", ErrIndex, fmt.Sprintf("indices reach %d", index.bound-1), t)
	}
	x := t.contiguous()
	defer x.done()
	y := alloc("GatherRows", d, []int{index.n, t.shape[1]})
	launch(d, kernels.GatherRows, x.arg(), index.arg(), y.arg(), kernels.I(index.n), kernels.I(t.shape[1]))
	return y
}

// ScatterAddRowsInPlace adds the rows of g [index.Len(), c] to the rows of t [r, c] that index names, in
// order: t[index[i]] += g[i]. It is the gradient of GatherRows.
func (t *Tensor) ScatterAddRowsInPlace(index *Ints, g *Tensor) {
	const op = "ScatterAddRowsInPlace"
	writable(op, t, g)
	d := checkRows(op, t, index)
	if g.Rank() != 2 || g.shape[0] != index.n || g.shape[1] != t.shape[1] {
		misuse(op, ErrShape, "", t, g)
	}
	if index.bound > t.shape[0] {
		misuse(op, ErrIndex, fmt.Sprintf("indices reach %d", index.bound-1), t)
	}
	disjoint(op, t, g)
	cg := g.contiguous()
	defer cg.done()
	launch(d, kernels.ScatterAddRows, cg.arg(), index.arg(), t.arg(), kernels.I(index.n), kernels.I(t.shape[1]))
}

func checkRows(op string, t *Tensor, index *Ints) Device {
	d := check(op, t)
	index.check(op)
	if t.Rank() != 2 {
		misuse(op, ErrShape, "rows are those of a matrix", t)
	}
	if index.st.dev != d {
		misuse(op, ErrDevice, "the indices are on "+index.st.dev.Name(), t)
	}
	return d
}
