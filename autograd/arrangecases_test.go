package autograd_test

import (
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// arrangeCases are those of axes, parts, copies and padding.
func arrangeCases(d tensor.Device) []gradCase {
	of := func(op string, shape []int, f func(x *node) *node) gradCase {
		return gradCase{op, [][]int{shape}, -2, 2, func(in []*node) *node { return f(in[0]) }}
	}
	cases := []gradCase{
		of("Squeeze", []int{1, 3, 1, 2}, func(x *node) *node { return x.Square().Squeeze() }),
		of("Squeeze", []int{3, 1, 2}, func(x *node) *node { return x.Transpose(2, 1, 0).Squeeze(-2, 0) }),
		of("Unsqueeze", []int{3, 4}, func(x *node) *node { return x.T().Unsqueeze(-2).Square() }),
		of("Unsqueeze", []int{}, func(x *node) *node { return x.Unsqueeze(0) }),
		of("MoveDim", []int{2, 3, 4}, func(x *node) *node { return x.Exp().MoveDim(-1, 0) }),
		of("MoveDim", []int{2, 3, 4}, func(x *node) *node { return x.MoveDim(0, 1) }),
		of("Flatten", []int{2, 3, 4}, func(x *node) *node { return x.Square().Transpose(0, 2, 1).Flatten(-2, -1) }),
		of("Flatten", []int{}, func(x *node) *node { return x.Flatten(0, -1) }),
		of("Diagonal", []int{3, 2, 4}, func(x *node) *node { return x.Square().Diagonal(1, 0, -1) }),
		of("Diagonal", []int{4, 4}, func(x *node) *node { return x.T().Diagonal(-1, 0, 1).Mul(x.Diagonal(1, 0, 1)) }),
		of("Unfold", []int{7, 2}, func(x *node) *node { return x.Exp().Unfold(0, 3, 2) }),
		of("Unfold", []int{2, 7}, func(x *node) *node { return x.Unfold(-1, 5, 1).Square() }),
		of("Unfold", []int{6}, func(x *node) *node { return x.Unfold(0, 2, 3) }),
		of("Unfold", []int{3, 2}, func(x *node) *node { return x.Square().Unfold(0, 0, 1) }),
		of("Fold", []int{2, 3, 3}, func(g *node) *node {
			return pulled(g, []int{2, 6}, func(x *node) *node { return x.Unfold(1, 3, 1).Slice(1, 0, 3) })
		}),
		of("Concat", []int{2, 3}, func(x *node) *node { return autograd.Concat(-1, x, x.Square(), x.Slice(1, 1, 2)) }),
		of("Stack", []int{2, 3}, func(x *node) *node { return autograd.Stack(1, x.T(), x.Exp().T()) }),
		of("Slice", []int{2, 6}, func(x *node) *node { // every part adds to one gradient
			y := x.Square()
			q, k, v := y.Chunk(1, 3)[0], y.Chunk(1, 3)[1], y.Split(-1, 4)[1]
			return q.Mul(k).Add(v).Mul(y.SplitWithSizes(1, 1, 2, 3)[1])
		}),
		of("Select", []int{3, 2}, func(x *node) *node { return x.Unbind(0)[0].Mul(x.Unbind(0)[2]) }),
		of("Tile", []int{2, 3}, func(x *node) *node { return x.Square().Tile(2, 3) }),
		of("Tile", []int{3}, func(x *node) *node { return x.Tile(2, 1, 2) }),
		of("Tile", []int{2, 1, 3}, func(x *node) *node { return x.Transpose(2, 1, 0).Tile(4) }),
		of("Tile", []int{2, 3}, func(x *node) *node { return x.Tile(0, 2) }),
		of("RepeatInterleave", []int{2, 3, 2}, func(x *node) *node { return x.Exp().RepeatInterleave(3, 1) }),
		of("RepeatInterleave", []int{2}, func(x *node) *node { return x.Square().RepeatInterleave(0, 0) }),
		of("Roll", []int{2, 5}, func(x *node) *node { return x.Square().Roll(-7, 1) }),
		of("Flip", []int{2, 3, 4}, func(x *node) *node { return x.Transpose(1, 0, 2).Square().Flip(0, -1) }),
		of("Flip", []int{}, func(x *node) *node { return x.Flip() }),
		of("Pad", []int{2, 3}, func(x *node) *node { return x.Square().Pad([][2]int{{1, 0}, {2, 1}}, tensor.PadOptions{Value: 3}) }),
		of("Pad", []int{4, 3}, func(x *node) *node { return x.T().Pad([][2]int{{-1, 2}, {-2, -1}}) }),
		of("Pad", []int{0, 3}, func(x *node) *node { return x.Pad([][2]int{{2, 0}, {0, 1}}) }),
	}
	for _, mode := range []tensor.PadMode{tensor.PadReflect, tensor.PadReplicate, tensor.PadCircular} {
		all := [][][2]int{{{2, 1}}, {{1, 2}, {0, 3}}, {{3, 3}, {-1, -2}}, {{3, -4}}, {{-4, 3}}}
		if mode == tensor.PadCircular { // which wraps what is left of the axis
			all = append(all[:3], [][2]int{{3, -1}}, [][2]int{{-2, 2}, {2, -2}}, [][2]int{{-1, 3}})
		}
		for _, widths := range all {
			cases = append(cases, of("Pad", []int{4, 4}, func(x *node) *node { return x.Square().Pad(widths, tensor.PadOptions{Mode: mode}) }))
		}
	}
	return firstOnOpenCL(d, cases)
}

// firstOnOpenCL leaves one case of each operation for devices that build kernels: what is moved
// where is the same on all.
func firstOnOpenCL(d tensor.Device, cases []gradCase) []gradCase {
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c gradCase) bool {
		again := seen[c.op] && !strings.HasPrefix(d.Name(), "cpu")
		seen[c.op] = true
		return again
	})
}
