package fusedmlp

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// On a GPU local memory has what the layers make of a tile of samples. Where there is no room for
// all of it, some lies in global memory instead, of which each group has a part, which the
// second-level cache holds. A larger tile is worth that: it reads all weights, and adds to the
// share of their gradient, once.
//
// What gradients read of the layers' sums goes first: it is written and read once for each sample.
// Of deep perceptrons all goes but what one layer reads and what it makes, which take turns in two
// places: the even layers' and the odd ones'. What the layers read is copied as it is made, and
// fetched again on the way back.

// keeping says how much of that is in local memory.
type keeping int

const (
	keptLocally keeping = iota // all
	keptNoSums                 // all but the sums
	keptInTurn                 // two layers
)

// sums returns the elements that a sample takes of what gradients read of the layers' sums.
func (p *Perceptron) sums() (rows int) {
	for i := range p.Layers {
		if p.keepsSums(i) {
			rows += p.row(i + 1)
		}
	}
	return rows
}

// width is how much layer i reads of a sample; of as many as there are layers, the outputs.
func (p *Perceptron) width(i int) int {
	if i < len(p.Layers) {
		return p.Layers[i].Inputs
	}
	return p.Layers[i-1].Outputs
}

// row is the elements of local memory that a sample takes of it.
func (p *Perceptron) row(i int) int { return rowOf(p.width(i)) }

func rowOf(n int) int { return intmath.RoundUp(n, 4) + 4 }

// turns returns the elements that a sample takes of the two places in which layers take turns.
func (p *Perceptron) turns() (places [2]int) {
	for i := range len(p.Layers) + 1 {
		places[i%2] = max(places[i%2], p.row(i))
	}
	return places
}

// gradients returns the elements that a sample takes of gradients that are kept until others are
// joined with them.
func (p *Perceptron) gradients() (rows int) {
	_, places := p.gradientPlaces()
	for _, n := range places {
		rows += rowOf(n)
	}
	return rows
}

// local returns the elements of local memory for a tile of samples.
func (p *Perceptron) local(tile int, k keeping) int {
	rows := 0
	switch k {
	case keptLocally:
		rows = p.sums()
		fallthrough
	case keptNoSums:
		for i := range len(p.Layers) + 1 {
			rows += p.row(i)
		}
		rows += p.gradients()
	case keptInTurn:
		places := p.turns()
		rows = places[0] + places[1]
	}
	return rows*tile + mlpItems
}

// fits reports whether local memory has room for a tile of samples.
func (p *Perceptron) fits(tile int, k keeping, t kernels.DType) bool {
	return p.local(tile, k)*t.Size() <= mlpLocal
}

// keeping returns how much of a tile of samples is in local memory.
func (p *Perceptron) keeping(tile int, t kernels.DType) keeping {
	for _, k := range []keeping{keptLocally, keptNoSums} {
		if p.fits(tile, k, t) {
			return k
		}
	}
	return keptInTurn
}

// copied reports whether what layer i reads is copied to global memory where layers take turns. The
// last finds it where it was made, unless it is added to the outputs.
func (p *Perceptron) copied(i int) bool {
	last := len(p.Layers) - 1
	return i < last || i == last && slices.Contains(skips(&p.Layers[last]), last)
}

// outside returns the elements that a sample takes of global memory.
func (p *Perceptron) outside(k keeping) (rows int) {
	switch k {
	case keptInTurn:
		for i := range p.Layers {
			if p.copied(i) {
				rows += p.row(i)
			}
		}
		rows += p.gradients()
		fallthrough
	case keptNoSums:
		rows += p.sums()
	}
	return rows
}

// Scratch returns the lengths of the arguments of a step after V: of the memory in which groups
// keep what local memory, or a CPU's stack, has no room for, if there is such on one of them.
func (p *Perceptron) Scratch(block, groups int, t kernels.DType, inputGrad bool, l kernels.Target) []int {
	gpu, cpu := block*p.outside(p.keeping(block, t)), p.cpuOutside(t, inputGrad)
	switch {
	case gpu+cpu == 0:
		return nil
	case l.CPU:
		return []int{groups * cpu}
	}
	return []int{groups * gpu}
}

// scratch reports whether the kernel has that argument.
func (s *fusedStep) scratch() bool { return s.outside(s.keeps)+s.cpuOutside(s.float, s.down) > 0 }

// scratchParam is its parameter.
func (s *fusedStep) scratchParam() string {
	if s.scratch() {
		return ", OUT(S)"
	}
	return ""
}

// memory is an address space, and the macros that read and write vectors in it.
type memory struct{ space, macro string }

func (m memory) at(cols int) string { return fmt.Sprint(m.macro, cols) }

// sumsIn is where sums are, and keptIn where gradients are that are kept, and what earlier layers
// read.
func (s *fusedStep) sumsIn() memory { return s.inLocal(s.keeps == keptLocally) }
func (s *fusedStep) keptIn() memory { return s.inLocal(s.keeps != keptInTurn) }

func (s *fusedStep) inLocal(yes bool) memory {
	if yes {
		return memory{"local", "LOCAL"}
	}
	return memory{"global", "GLOBAL"}
}

// fence is what barriers hold for, beside local memory, where other memory is written or read
// before them.
func (s *fusedStep) fence() string {
	if s.outside(s.keeps) > 0 {
		return " | CLK_GLOBAL_MEM_FENCE"
	}
	return ""
}

// placeAll writes the declarations of what is kept of a tile: x of each layer, which are in turn in
// the same place if need be, and then a of those whose x is copied; z, what gradients read of sums;
// g, gradients.
func (s *fusedStep) placeAll(w *writer) {
	at, all := 0, s.outside(s.keeps)*s.block
	put := func(m memory, name string, row int) {
		v := map[string]any{"name": name, "row": row, "all": all, "at": at}
		if m.space == "local" {
			w.p("    local REAL $name[TILE * $row] __attribute__((aligned(32)));", v)
			return
		}
		w.p("    global REAL *$name = S + S_off + (long)get_group_id(0) * $all + $at;", v)
		at += row * s.block
	}
	if s.keeps == keptInTurn {
		for k, row := range s.turns() {
			put(s.inLocal(true), fmt.Sprint("turn", k), row)
		}
	}
	for i := range len(s.Layers) + 1 {
		name := fmt.Sprint("x", i)
		if s.keeps != keptInTurn {
			put(s.inLocal(true), name, s.row(i))
			continue
		}
		w.p("    local REAL *$name = turn$k;", map[string]any{"name": name, "k": i % 2})
		if s.copied(i) {
			put(s.keptIn(), fmt.Sprint("a", i), s.row(i))
		}
	}
	for i := range s.Layers {
		if s.keepsSums(i) {
			put(s.sumsIn(), fmt.Sprint("z", i), s.row(i+1))
		}
	}
	for place, n := range s.room {
		put(s.keptIn(), fmt.Sprint("g", place), rowOf(n))
	}
}
