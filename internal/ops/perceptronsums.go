package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
)

// On a GPU local memory has what the layers make of a tile of samples. Where there is no room for all of it, what gradients read of the layers'
// sums lies in global memory instead: each group has a part of that, which the second-level cache holds. It is written and read once
// for each sample. A larger tile is worth more: it reads all weights, and adds to the share of their gradient, once.

// sums returns the elements that a sample takes of what gradients read of the layers' sums.
func (p *Perceptron) sums() (rows int) {
	for i := range p.Layers {
		if p.keepsSums(i) {
			rows += p.row(i + 1)
		}
	}
	return rows
}

// fits reports whether local memory has room for a tile of samples, but for the sums.
func (p *Perceptron) fits(tile int, t kernels.DType) bool {
	return (p.local(tile)-p.sums()*tile)*t.Size() <= mlpLocal
}

// outside reports whether the sums of a tile of samples lie in global memory.
func (p *Perceptron) outside(tile int, t kernels.DType) bool {
	return p.local(tile)*t.Size() > mlpLocal
}

// Scratch returns the lengths of the arguments of a pass after V: of the memory in which groups keep sums, if they do.
func (p *Perceptron) Scratch(block, groups int, t kernels.DType) []int {
	if !p.outside(block, t) {
		return nil
	}
	return []int{groups * block * p.sums()}
}

// sumsParam is the parameter of that memory.
func (s *pass) sumsParam() string {
	if s.outside {
		return ", OUT(S)"
	}
	return ""
}

// sumsIn is the address space of the sums, and sumsAt the macro that reads and writes vectors of them.
func (s *pass) sumsIn() string {
	if s.outside {
		return "global"
	}
	return "local"
}

func (s *pass) sumsAt(cols int) string {
	if s.outside {
		return fmt.Sprint("GLOBAL", cols)
	}
	return fmt.Sprint("LOCAL", cols)
}

// sumsFence is what barriers hold for, beside local memory, where sums are written or read before them.
func (s *pass) sumsFence() string {
	if s.outside {
		return " | CLK_GLOBAL_MEM_FENCE"
	}
	return ""
}

// placeSums writes the declarations of the sums.
func (s *pass) placeSums(w *writer) {
	at := 0
	for i := range s.Layers {
		if !s.keepsSums(i) {
			continue
		}
		v := map[string]any{"i": i, "row": s.row(i + 1), "all": s.sums() * s.block, "at": at}
		if s.outside {
			w.p("    global REAL *z$i = S + S_off + (long)get_group_id(0) * $all + $at;", v)
		} else {
			w.p("    local REAL z$i[TILE * $row] __attribute__((aligned(32)));", v)
		}
		at += s.row(i+1) * s.block
	}
}
