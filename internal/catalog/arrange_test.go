package catalog

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// arranged are views and copies that put elements in another place.
var arranged = family{"arrange", []operation{
	{"autograd.Concat", cases{
		"odd":     one(func(in []*node) *node { return autograd.Concat(1, in...) }),
		"first":   one(func(in []*node) *node { return autograd.Concat(0, in[0].T(), in[1], in[1]) }),
		"special": one(func(in []*node) *node { return autograd.Concat(-1, in...) }),
		"int32":   one(func(in []*node) *node { return autograd.Concat(0, in...) }),
	}},
	{"autograd.Stack", cases{
		"odd":     one(func(in []*node) *node { return autograd.Stack(1, in...) }),
		"last":    one(func(in []*node) *node { return autograd.Stack(-1, in...) }),
		"special": one(func(in []*node) *node { return autograd.Stack(0, in...) }),
	}},
	{"Split", lists(func(x *node) []*node { return x.Split(1, 2) })},
	{"SplitWithSizes", lists(func(x *node) []*node { return x.SplitWithSizes(-2, 1, 0, 4) })},
	{"Chunk", lists(func(x *node) []*node { return x.Chunk(1, 4) })},
	{"Unbind", lists(func(x *node) []*node { return x.Unbind(1) })},
	{"Squeeze", cases{
		"all": unary(func(x *node) *node { return x.Squeeze() }), "one": unary(func(x *node) *node { return x.Squeeze(-2) }),
		"none": unary(func(x *node) *node { return x.Squeeze(0) }), "special": unary(func(x *node) *node { return x.Squeeze() }),
	}},
	{"Unsqueeze", cases{
		"odd": unary(func(x *node) *node { return x.Unsqueeze(1) }), "last": unary(func(x *node) *node { return x.Unsqueeze(-1) }),
		"special": unary(func(x *node) *node { return x.Unsqueeze(0) }),
	}},
	view("MoveDim", func(x *node) *node { return x.MoveDim(0, -1) }),
	{"Flatten", cases{
		"odd": unary(func(x *node) *node { return x.Flatten(1, -1) }), "all": unary(func(x *node) *node { return x.Flatten(0, -1) }),
		"scalar": unary(func(x *node) *node { return x.Flatten(0, -1) }), "special": unary(func(x *node) *node { return x.T().Flatten(0, 1) }),
	}},
	{"Diag", cases{
		"odd": unary(func(x *node) *node { return x.Diag(2) }), "below": unary(func(x *node) *node { return x.Diag(-1) }),
		"matrix": unary(func(x *node) *node { return x.Diag(1) }), "none": unary(func(x *node) *node { return x.Diag(-2) }),
		"special": unary(func(x *node) *node { return x.Diag(0) }),
	}},
	{"Diagonal", cases{
		"odd": unary(func(x *node) *node { return x.Diagonal(1, 0, 2) }), "below": unary(func(x *node) *node { return x.Diagonal(-2, -1, 0) }),
		"none": unary(func(x *node) *node { return x.Diagonal(9, 0, 1) }), "special": unary(func(x *node) *node { return x.Diagonal(0, 0, 1) }),
	}},
	{"Unfold", cases{
		"odd": unary(func(x *node) *node { return x.Unfold(1, 3, 2) }), "overlapping": unary(func(x *node) *node { return x.Unfold(-1, 4, 1) }),
		"apart": unary(func(x *node) *node { return x.Unfold(0, 2, 3) }), "special": unary(func(x *node) *node { return x.Unfold(0, 2, 1) }),
	}},
	{"Tile", cases{
		"odd": unary(func(x *node) *node { return x.Tile(2, 1, 3) }), "few": unary(func(x *node) *node { return x.Tile(3) }),
		"more": unary(func(x *node) *node { return x.Tile(2, 1, 2) }), "none": unary(func(x *node) *node { return x.Tile(0, 2) }),
		"special": unary(func(x *node) *node { return x.Tile(2) }),
	}},
	view("RepeatInterleave", func(x *node) *node { return x.RepeatInterleave(3, 1) }),
	view("Roll", func(x *node) *node { return x.Roll(-7, 1) }),
	view("Flip", func(x *node) *node { return x.Flip(0, -1) }),
	{"PixelShuffle", cases{
		"odd": unary(func(x *node) *node { return x.PixelShuffle(2) }), "leading": unary(func(x *node) *node { return x.PixelShuffle(3) }),
		"image": unary(func(x *node) *node { return x.Transpose(0, 2, 1).PixelShuffle(1) }), "empty": unary(func(x *node) *node { return x.PixelShuffle(2) }),
	}},
	{"PixelUnshuffle", cases{
		"odd":   unary(func(x *node) *node { return x.PixelUnshuffle(2) }),
		"image": unary(func(x *node) *node { return x.Transpose(0, 2, 1).PixelUnshuffle(3) }),
	}},
	{"Diff", cases{
		"odd": unary(func(x *node) *node { return x.Diff(1, 1) }), "third": unary(func(x *node) *node { return x.Diff(3, -1) }),
		"none": unary(func(x *node) *node { return x.Diff(4, 0) }), "ints": unary(func(x *node) *node { return x.Diff(2, 0) }),
		"special": unary(func(x *node) *node { return x.Diff(1, -1) }),
	}},
	{"Pad", cases{
		"constant": unary(func(x *node) *node { return x.Pad([][2]int{{1, 0}, {2, 3}}, tensor.PadOptions{Value: 0.5}) }),
		"cut":      unary(func(x *node) *node { return x.Pad([][2]int{{-1, 2}, {3, -2}, {0, -1}}) }),
		"reflect": unary(func(x *node) *node {
			return x.Pad([][2]int{{2, 1}, {3, 4}}, tensor.PadOptions{Mode: tensor.PadReflect})
		}),
		"replicate": unary(func(x *node) *node {
			return x.Pad([][2]int{{2, 0}, {5, 9}}, tensor.PadOptions{Mode: tensor.PadReplicate})
		}),
		"circular": unary(func(x *node) *node {
			return x.Pad([][2]int{{3, 1}, {0, 5}}, tensor.PadOptions{Mode: tensor.PadCircular})
		}),
		"special": unary(func(x *node) *node { return x.Pad([][2]int{{1, 2}}, tensor.PadOptions{Mode: tensor.PadReflect}) }),
	}},
}}

// lists are the cases of an operation with several results.
func lists(f func(x *node) []*node) cases {
	return under(func(in []*node) []*node { return f(in[0]) }, "odd", "special")
}
