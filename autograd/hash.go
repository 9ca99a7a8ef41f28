package autograd

import "github.com/clgrad/clgrad/tensor"

// HashEncode returns the features [n, levels·features] of constant positions [n, 2] in the unit square, from a
// hash grid with the given table [entries, features]: for each level, the bilinear interpolation of the entries
// at the corners of the cell. It panics with tensor.ErrShape, and with tensor.ErrValue if the positions need a
// gradient. Gradient of the table: the same weights times g, added up for each entry.
func (table *Node) HashEncode(grid *tensor.HashGrid, positions *Node) *Node {
	const op = "HashEncode"
	c, t := positions.use(op), table.use(op)
	if positions.needs {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: "positions have no gradient: pass a constant"})
	}
	return Apply(op, grid.Encode(c, t), []*Node{table, positions}, func(g *tensor.Tensor, in *Grads) {
		in.Fill(0, func(dst *tensor.Tensor) { grid.GradTo(dst, c, g) })
	}, c)
}
