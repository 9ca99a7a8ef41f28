package ops

import (
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
)

// attentionShapeOf returns what a kernel of attention is built for, and the zero value of another kernel.
func attentionShapeOf(k *kernels.Kernel) AttentionShape {
	attentions.Lock()
	defer attentions.Unlock()
	for b, made := range attentions.made {
		if k == made.Forward || k == made.Queries || k == made.Keys {
			return b.AttentionShape
		}
	}
	return AttentionShape{}
}

// widenRows replaces operand i of a launch of attention, of 16 bits, by its rows as floats in scratch memory, which it
// returns: without gaps, and once where items of the batch share them. It reports false for an operand that has no
// place.
func (f *halfForm) widenRows(c kernels.HostArgs[float32], args []kernels.Arg, i int) (*kernels.HostBuffer, bool) {
	at := func(name string) int {
		return slices.IndexFunc(f.k.Params, func(p kernels.Param) bool { return p.Name == name })
	}
	name := strings.ToLower(f.k.Params[i].Name)
	place := at(name + "_outer")
	if place < 0 {
		return nil, false
	}
	l, heads, rows, width := c.Int(at("l")), c.Int(at("heads")), c.Int(at("l")), f.attention.Features
	if name == "k" || name == "v" {
		rows = c.Int(at("s"))
	}
	if name == "v" || name == "g" {
		width = f.attention.Values
	}
	p := AttentionPlace{c.Int(place), c.Int(place + 1), c.Int(place + 2)}
	outer := c.Len(at("LSE")) / max(1, l*heads)
	if p.Outer == 0 {
		outer = 1
	}
	if p.Head == 0 {
		heads = 1
	}
	n := heads * rows * width
	to := f.take(outer * n)
	c.Parallel(outer*heads*rows, width, func(lo, hi int) {
		for ; lo < hi; lo++ {
			from := lo/(heads*rows)*p.Outer + lo/rows%heads*p.Head + lo%rows*p.Row
			lower.Widen(c, kernels.Slice[float32](to, lo*width, width), args[i], from)
		}
	})
	args[i] = kernels.BufferArg(to, 0, outer*n)
	moved := AttentionPlace{Outer: min(p.Outer, 1) * n, Head: min(p.Head, 1) * rows * width, Row: width}.Args()
	copy(args[place:], moved[:])
	return to, true
}
