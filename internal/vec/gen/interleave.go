package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
)

// Comments before what is computed of each of some vectors, and behind the last one.
const (
	nextVector = "The next vector."
	lastVector = "All vectors."
)

// compiled returns what a context holds, with registers. Instructions on vectors beside each other
// stand in turns.
func compiled(c *build.Context) (*ir.File, error) {
	f, err := c.Result()
	if err != nil {
		return nil, err
	}
	for _, fn := range f.Functions() {
		fn.Nodes = interleaved(fn.Nodes)
	}
	return f, pass.Compile.Execute(f)
}

// interleaved returns the nodes with one instruction of each vector after the other. A processor
// looks some two hundred instructions ahead for one whose operands are there: of a long chain, no
// other vector is so near.
func interleaved(nodes []ir.Node) []ir.Node {
	var list []ir.Node
	var parts [][]ir.Node
	for _, n := range nodes {
		c, comment := n.(*ir.Comment)
		switch {
		case comment && c.Lines[0] == nextVector:
			parts = append(parts, nil)
		case comment && c.Lines[0] == lastVector:
			for i := range parts[0] {
				for _, p := range parts {
					list = append(list, p[i])
				}
			}
			parts = nil
		case parts != nil:
			parts[len(parts)-1] = append(parts[len(parts)-1], n)
		default:
			list = append(list, n)
		}
	}
	return list
}
