package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels"
)

// What String prints of a tensor, as NumPy does.
const (
	printedElements = 1000 // of a larger tensor the edges are printed
	printedEdge     = 3    // elements at each end of an axis
	printedWidth    = 75   // columns of a line
)

// readGap is how many elements between two that are printed are copied from the device with them: a copy
// of its own takes longer.
const readGap = 64

// String returns the shape, the type and the device of t, and in the lines below its elements as NumPy
// prints them:
//
//	tensor [2 3] of float32 on cpu (Go, 2 threads):
//	[[0.5 1.  1.5]
//	 [2.  2.5 3. ]]
//
// Of more than 1,000 elements it prints three at each end of an axis, and copies no others from the
// device. It waits for what was launched. Where the elements cannot be read, the line says why: t was
// freed, the device has failed, a step is being recorded, or another goroutine uses the device.
func (t *Tensor) String() string {
	if t == nil || t.st == nil {
		return "no tensor"
	}
	if t.freed != nil {
		return fmt.Sprintf("tensor %v of %v (freed)", t.shape, t.typ)
	}
	head := fmt.Sprintf("tensor %v of %v on %s", t.shape, t.typ, t.st.dev.Name())
	if why := t.unreadable(); why != "" {
		return head + " (" + why + ")"
	}
	p := t.printed()
	numbers, err := p.read()
	if err != nil {
		return head + " (" + err.Error() + ")"
	}
	return head + ":\n" + p.format(numbers)
}

// unreadable returns why the elements of t cannot be read now, "" if they can.
func (t *Tensor) unreadable() string {
	d := t.st.dev
	switch {
	case t.st.recorded:
		return "made in a recorded step, which keeps nothing there: return it from the step"
	case d.Err() != nil:
		return "the device has failed: " + d.Err().Error()
	case d.core().recording.Load() != nil, recordings.Load() > 0 && ownListener() != nil:
		return "a step is being recorded: print it after Run"
	}
	return ""
}

// printed is the part of a tensor that is printed.
type printed struct {
	*Tensor
	index [][]int // the printed indices of each axis
	cut   []bool  // by axis: whether indices between the edges are left out
}

func (t *Tensor) printed() *printed {
	p := &printed{Tensor: t, index: make([][]int, len(t.shape)), cut: make([]bool, len(t.shape))}
	for axis, n := range t.shape {
		if p.cut[axis] = t.Len() > printedElements && n > 2*printedEdge; p.cut[axis] {
			p.index[axis] = append(sequence(0, printedEdge), sequence(n-printedEdge, n)...)
		} else if t.Len() > 0 {
			p.index[axis] = sequence(0, n)
		}
	}
	return p
}

// offsets returns where in the storage the printed elements lie, in row-major order.
func (p *printed) offsets() []int {
	list := []int{p.off}
	for axis, index := range p.index {
		next := make([]int, 0, len(list)*len(index))
		for _, off := range list {
			for _, i := range index {
				next = append(next, off+i*p.strides[axis])
			}
		}
		list = next
	}
	return list
}

// read returns the printed elements as they are stored, in row-major order. No kernel is launched: runs
// of the storage are copied that hold the elements.
func (p *printed) read() (*kernels.HostBuffer, error) {
	offsets := p.offsets()
	sorted := slices.Clone(offsets)
	slices.Sort(sorted)
	typ := p.typ.Stored()
	numbers := kernels.NewHostBuffer(typ, len(offsets))
	order := make(map[int][]int, len(offsets)) // the elements that lie at an offset
	for i, off := range offsets {
		order[off] = append(order[off], i)
	}
	sorted = slices.Compact(sorted)
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n]-sorted[n-1] <= readGap {
			n++
		}
		first := sorted[0]
		run := kernels.NewHostBuffer(typ, sorted[n-1]-first+1)
		var err error
		misuse := Try(func() { err = p.st.dev.Download(run, p.st.buf, first) })
		if err := errors.Join(misuse, err); err != nil {
			return nil, err
		}
		for _, off := range sorted[:n] {
			for _, i := range order[off] {
				kernels.CopyHostBuffer(numbers, i, run, off-first, 1)
			}
		}
		sorted = sorted[n:]
	}
	return numbers, nil
}

// format returns the printed elements in brackets.
func (p *printed) format(numbers *kernels.HostBuffer) string {
	if p.Len() == 0 {
		return "[]"
	}
	words := wordsOf(p.typ, numbers, p.Rank() == 0)
	if p.Rank() == 0 {
		return words[0]
	}
	text, _ := p.bracketed(0, words, " ", printedWidth)
	return text
}

// bracketed returns the part of words that is one index of the axes before axis, in brackets, and the
// words behind it. Lines begin with indent, and have width columns.
func (p *printed) bracketed(axis int, words []string, indent string, width int) (string, []string) {
	last := axis == p.Rank()-1
	var b strings.Builder
	line := indent
	add := func(word string) { // to a row
		if len(line)+len(word) > width-1 && len(line) > len(indent) {
			b.WriteString(strings.TrimRight(line, " ")[len(indent):] + "\n" + indent)
			line = indent
		}
		line += word + " "
	}
	for i := range p.index[axis] {
		if p.cut[axis] && i == printedEdge && last {
			add("...")
		} else if p.cut[axis] && i == printedEdge {
			b.WriteString(strings.Repeat("\n", p.Rank()-axis-1) + indent + "...")
		}
		if last {
			add(words[0])
			words = words[1:]
			continue
		}
		if i > 0 {
			b.WriteString(strings.Repeat("\n", p.Rank()-axis-1) + indent)
		}
		var part string
		part, words = p.bracketed(axis+1, words, indent+" ", width-1)
		b.WriteString(part)
	}
	if last {
		b.WriteString(line[len(indent) : len(line)-1])
	}
	return "[" + b.String() + "]", words
}
