package refexec

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// Use is what the operations of a launch do with one argument, as far as it is memory.
type Use struct {
	Read    bool
	Written bool
	Kept    bool // an element's value before the launch is read, or stays
	Empty   bool // it has no elements
}

// machine runs operations on the memory of a launch. T is the device's float type.
type machine[T kernels.Float] struct {
	args        []kernels.Arg
	reads       []reads
	temporaries map[int]map[int]cell
	cells       [kernels.Uint64 + 1]*kernels.HostBuffer
	now         int  // the operation, counted from 1
	again       bool // it may read what it wrote, and write it again
	// The arguments and temporaries that the operation read, and those that it wrote.
	loaded, stored []int
	err            error
}

// reads is what was done with an argument.
type reads struct {
	read, first bool   // first: an element that had not been written
	wrote       []bool // each element
	writers     []int  // of each element of the buffer, the number of the operation that wrote it last
}

// cell is an element of a temporary, and the operation that wrote it.
type cell struct {
	value float64
	typ   kernels.DType
	by    int
}

func newMachine[T kernels.Float](float kernels.DType, args []kernels.Arg) *machine[T] {
	m := &machine[T]{args: args, reads: make([]reads, len(args)), temporaries: map[int]map[int]cell{}}
	writers := map[*kernels.HostBuffer][]int{}
	for i, a := range args {
		if a.Kind == kernels.ArgBuffer {
			m.reads[i].wrote = make([]bool, a.N)
			host := a.Buf.(*kernels.HostBuffer)
			if writers[host] == nil {
				writers[host] = make([]int, host.Len())
			}
			m.reads[i].writers = writers[host]
		}
	}
	for t := range m.cells {
		m.cells[t] = kernels.NewHostBuffer(kernels.DType(t), 1)
	}
	m.cells[kernels.Float32] = kernels.NewHostBuffer(float, 1)
	return m
}

// begin starts an operation, which is counted from 1.
func (m *machine[T]) begin(now int) {
	m.now, m.loaded, m.stored = now, nil, nil
}

// listed fails if the operation read or wrote what it does not list.
func (m *machine[T]) listed(reads, writes []kernels.View) {
	within := func(done []int, views []kernels.View, what string) {
		for _, arg := range done {
			if !slices.ContainsFunc(views, func(v kernels.View) bool { return v.Arg == arg }) {
				m.fail("it %s argument %d, which its Views are not of", what, arg)
			}
		}
	}
	within(m.loaded, reads, "reads")
	within(m.stored, writes, "writes")
}

func note(done *[]int, arg int) {
	if !slices.Contains(*done, arg) {
		*done = append(*done, arg)
	}
}

// fail keeps the first error.
func (m *machine[T]) fail(format string, a ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, a...)
	}
}

// convert returns what a number of a type is as one of another: see operation.Map.
func (m *machine[T]) convert(v float64, from, t kernels.DType) float64 {
	if from.Integer() && t.Integer() {
		return lowBits(int64(v), t)
	}
	m.cells[t].Set(0, v)
	return m.cells[t].At(0)
}

// rounded returns what a sum is as a type: a float is one of the device first; of integers, the low bits are.
func (m *machine[T]) rounded(sum float64, t kernels.DType) float64 {
	if t.Integer() {
		return lowBits(int64(sum), t)
	}
	return m.convert(float64(T(sum)), floats, t)
}

// place returns where the element of a view is. ok is false where there is none.
func (m *machine[T]) place(v kernels.View, index []int) (at int, ok bool) {
	at = v.Offset
	for d, i := range index {
		at += i * v.Strides[d]
	}
	if at < 0 || v.Arg >= 0 && at >= m.args[v.Arg].N {
		m.fail("index %v is element %d of argument %d, which has %d", index, at, v.Arg, m.args[max(v.Arg, 0)].N)
		return 0, false
	}
	return at, true
}

func (m *machine[T]) load(v kernels.View, index ...int) float64 {
	at, ok := m.place(v, index)
	note(&m.loaded, v.Arg)
	switch {
	case !ok:
		return 0
	case v.Arg < 0:
		c, written := m.temporaries[v.Arg][at]
		switch {
		case !written:
			m.fail("index %v is element %d of temporary %d, which nothing has written", index, at, operation.Temp(v.Arg))
		case c.typ != v.Type:
			m.fail("element %d of temporary %d was written as %v, and is read as %v", at, operation.Temp(v.Arg),
				c.typ, v.Type)
		}
		m.mayRead(c.by, v.Arg, at)
		return c.value
	}
	a, r := m.args[v.Arg], &m.reads[v.Arg]
	r.read = true
	r.first = r.first || !r.wrote[at]
	m.mayRead(r.writers[a.Off+at], v.Arg, at)
	return a.At(at)
}

func (m *machine[T]) mayRead(writer, arg, at int) {
	if writer == m.now && !m.again {
		m.fail("element %d of argument %d is read after another index wrote it", at, arg)
	}
}

func (m *machine[T]) store(v kernels.View, value float64, index ...int) {
	at, ok := m.place(v, index)
	note(&m.stored, v.Arg)
	if !ok {
		return
	}
	if v.Arg < 0 {
		if m.temporaries[v.Arg] == nil {
			m.temporaries[v.Arg] = map[int]cell{}
		}
		m.mayWrite(m.temporaries[v.Arg][at].by, v.Arg, at)
		m.temporaries[v.Arg][at] = cell{value, v.Type, m.now}
		return
	}
	a, r := m.args[v.Arg], &m.reads[v.Arg]
	m.mayWrite(r.writers[a.Off+at], v.Arg, at)
	r.writers[a.Off+at], r.wrote[at] = m.now, true
	a.Buf.(*kernels.HostBuffer).Set(a.Off+at, value)
}

func (m *machine[T]) mayWrite(writer, arg, at int) {
	if writer == m.now && !m.again {
		m.fail("element %d of argument %d is written twice", at, arg)
	}
}

func (m *machine[T]) uses() []Use {
	uses := make([]Use, len(m.args))
	for i, r := range m.reads {
		uses[i] = Use{Read: r.read, Kept: r.first, Empty: m.args[i].N == 0}
		for _, wrote := range r.wrote {
			uses[i].Written = uses[i].Written || wrote
			uses[i].Kept = uses[i].Kept || !wrote
		}
	}
	return uses
}
