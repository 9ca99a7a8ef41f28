package catalog

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// convolutions are those, pooling and interpolation.
var convolutions = family{"conv", []operation{
	{"Conv", cases{
		"one":       conv(tensor.ConvOptions{Stride: []int{2}, Padding: []int{3}, Dilation: []int{2}}),
		"two":       conv(tensor.ConvOptions{Padding: []int{2, 2}}),
		"strided":   conv(tensor.ConvOptions{Stride: []int{2, 3}, Padding: []int{1, 2}, Dilation: []int{2, 1}}),
		"grouped":   conv(tensor.ConvOptions{Groups: 2, Stride: []int{2}}),
		"depthwise": conv(tensor.ConvOptions{Groups: 5, Padding: []int{1}}),
		"three":     conv(tensor.ConvOptions{Padding: []int{1}, Stride: []int{1, 2, 1}}),
		"image":     conv(tensor.ConvOptions{}),
		"same":      conv(tensor.ConvOptions{Padding: []int{1, 0}, PaddingEnd: []int{2, 1}}),
		"empty":     conv(tensor.ConvOptions{}),
		"special":   conv(tensor.ConvOptions{Padding: []int{1}}),
	}},
	{"ConvTranspose", cases{
		"one":     convTranspose(tensor.ConvTransposeOptions{Stride: []int{3}, Padding: []int{1}, OutputPadding: []int{2}}),
		"two":     convTranspose(tensor.ConvTransposeOptions{Stride: []int{2, 1}, Dilation: []int{1, 3}, Padding: []int{0, 2}}),
		"grouped": convTranspose(tensor.ConvTransposeOptions{Groups: 2, Stride: []int{2}, OutputPadding: []int{1}}),
		"three":   convTranspose(tensor.ConvTransposeOptions{Stride: []int{2}}),
		"image":   convTranspose(tensor.ConvTransposeOptions{Dilation: []int{2}}),
		"special": convTranspose(tensor.ConvTransposeOptions{Stride: []int{2}}),
	}},
	{"MaxPool", integersToo(maxPools(maxPool))},
	{"MaxPoolWithIndex", maxPools(func(window []int, o tensor.MaxPoolOptions) func(in []*node) []*node {
		return func(in []*node) []*node { return indexed(in[0].MaxPoolWithIndex(window, o)) }
	})},
	{"AvgPool", cases{
		"one":         avgPool([]int{3}, tensor.AvgPoolOptions{Stride: []int{2}, Padding: []int{1}}),
		"two":         avgPool([]int{2, 3}, tensor.AvgPoolOptions{Padding: []int{1}, ExcludePadding: true}),
		"ceil":        avgPool([]int{3, 3}, tensor.AvgPoolOptions{Stride: []int{2}, Padding: []int{1}, Ceil: true}),
		"ceil inside": avgPool([]int{3, 3}, tensor.AvgPoolOptions{Stride: []int{2, 4}, Padding: []int{1, 1}, Ceil: true, ExcludePadding: true}),
		"divisor":     avgPool([]int{2, 2}, tensor.AvgPoolOptions{Stride: []int{1}, Divisor: 3}),
		"three":       avgPool([]int{2, 1, 2}, tensor.AvgPoolOptions{Stride: []int{1}}),
		"empty":       avgPool([]int{2, 2}, tensor.AvgPoolOptions{}),
		"special":     avgPool([]int{2, 2}, tensor.AvgPoolOptions{Stride: []int{1}, Padding: []int{1}}),
	}},
	{"AdaptiveMaxPool", adaptive(func(size []int) func(in []*node) []*node {
		return unary(func(x *node) *node { return x.AdaptiveMaxPool(size) })
	})},
	{"AdaptiveMaxPoolWithIndex", adaptive(func(size []int) func(in []*node) []*node {
		return func(in []*node) []*node { return indexed(in[0].AdaptiveMaxPoolWithIndex(size)) }
	})},
	{"AdaptiveAvgPool", adaptive(func(size []int) func(in []*node) []*node {
		return unary(func(x *node) *node { return x.AdaptiveAvgPool(size) })
	})},
	{"Interpolate", cases{
		"nearest":       interpolate([]int{7, 3}, tensor.InterpolateOptions{}),
		"exact":         interpolate([]int{7, 3}, tensor.InterpolateOptions{Exact: true}),
		"cubic":         interpolate([]int{7, 3}, tensor.InterpolateOptions{Cubic: true}),
		"cubic corners": interpolate([]int{2, 9}, tensor.InterpolateOptions{Cubic: true, AlignCorners: true}),
		"area":          interpolate([]int{3, 2}, tensor.InterpolateOptions{Area: true}),
		"line":          interpolate([]int{9}, tensor.InterpolateOptions{Linear: true}),
		"bilinear":      interpolate([]int{7, 3}, tensor.InterpolateOptions{Linear: true}),
		"corners":       interpolate([]int{2, 9}, tensor.InterpolateOptions{Linear: true, AlignCorners: true}),
		"three":         interpolate([]int{5, 1, 3}, tensor.InterpolateOptions{Linear: true, AlignCorners: true}),
		"shrunk":        interpolate([]int{3, 4}, tensor.InterpolateOptions{Linear: true}),
		"volume":        interpolate([]int{5, 2, 3}, tensor.InterpolateOptions{}),
		"empty":         interpolate([]int{5, 2}, tensor.InterpolateOptions{Linear: true}),
		"special":       interpolate([]int{8}, tensor.InterpolateOptions{}),
		"nan":           interpolate([]int{4}, tensor.InterpolateOptions{Linear: true}),

		"bytes nearest":          interpolateBytes([]int{13, 4}, tensor.InterpolateOptions{}),
		"bytes nearest-exact":    interpolateBytes([]int{13, 4}, tensor.InterpolateOptions{Exact: true}),
		"bytes bilinear":         interpolateBytes([]int{13, 4}, tensor.InterpolateOptions{Linear: true}),
		"bytes bilinear corners": interpolateBytes([]int{3, 20}, tensor.InterpolateOptions{Linear: true, AlignCorners: true}),
		"bytes bicubic":          interpolateBytes([]int{13, 4}, tensor.InterpolateOptions{Cubic: true}),
		"bytes bicubic corners":  interpolateBytes([]int{3, 20}, tensor.InterpolateOptions{Cubic: true, AlignCorners: true}),
	}},
	{"autograd.MaxUnpool", cases{
		"odd":  one(func(in []*node) *node { return autograd.MaxUnpool(in[0], in[1].Value(), []int{7, 6}) }),
		"line": one(func(in []*node) *node { return autograd.MaxUnpool(in[0], in[1].Value(), []int{4}) }),
	}},
	{"autograd.Fold", cases{
		"odd": unary(func(x *node) *node { return autograd.Fold(x, []int{4, 5}, []int{2, 2}) }),
		"options": unary(func(x *node) *node {
			return autograd.Fold(x, []int{6, 7}, []int{3, 2}, tensor.ConvOptions{Dilation: []int{1, 2}, Padding: []int{1, 0}, Stride: []int{2, 3}})
		}),
	}},
	{"autograd.GridSample", gridSamples()},
	{"autograd.AffineGrid", cases{
		"odd":     unary(func(x *node) *node { return autograd.AffineGrid(x, []int{4, 5}, false) }),
		"corners": unary(func(x *node) *node { return autograd.AffineGrid(x, []int{4, 1, 3}, true) }),
	}},
}}

func interpolate(size []int, o tensor.InterpolateOptions) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.Interpolate(size, o) })
}

func interpolateBytes(size []int, o tensor.InterpolateOptions) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.To(tensor.Uint8).Interpolate(size, o) })
}

func maxPools(f func(window []int, o tensor.MaxPoolOptions) func(in []*node) []*node) cases {
	return cases{
		"one":     f([]int{3}, tensor.MaxPoolOptions{}),
		"two":     f([]int{2, 3}, tensor.MaxPoolOptions{Stride: []int{1, 2}, Padding: []int{1}}),
		"dilated": f([]int{2, 2}, tensor.MaxPoolOptions{Stride: []int{3}, Dilation: []int{2, 3}}),
		"ceil":    f([]int{3, 3}, tensor.MaxPoolOptions{Stride: []int{2}, Padding: []int{0, 1}, Ceil: true}),
		"three":   f([]int{2, 1, 2}, tensor.MaxPoolOptions{Stride: []int{1}}),
		"empty":   f([]int{2, 2}, tensor.MaxPoolOptions{}),
		"special": f([]int{2, 2}, tensor.MaxPoolOptions{Stride: []int{1}}),
	}
}

func maxPool(window []int, o tensor.MaxPoolOptions) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.MaxPool(window, o) })
}

func integersToo(pools cases) cases {
	pools["integers"] = maxPool([]int{2, 2}, tensor.MaxPoolOptions{Stride: []int{1, 2}, Padding: []int{1}, Dilation: []int{1, 2}})
	pools["integers ceil"] = maxPool([]int{1, 3}, tensor.MaxPoolOptions{Stride: []int{2}, Ceil: true})
	return pools
}

func avgPool(window []int, o tensor.AvgPoolOptions) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.AvgPool(window, o) })
}

func adaptive(f func(size []int) func(in []*node) []*node) cases {
	return cases{"one": f([]int{4}), "two": f([]int{3, 5}), "whole": f([]int{1, 1}), "three": f([]int{2, 2, 1}), "special": f([]int{2, 3})}
}

// indexed returns values and their indices as nodes.
func indexed(values *node, indices *tensor.Tensor) []*node {
	return []*node{values, autograd.Const(indices)}
}

func conv(o tensor.ConvOptions) func(in []*node) []*node {
	return one(func(in []*node) *node { return in[0].Conv(in[1], third(in), o) })
}

func convTranspose(o tensor.ConvTransposeOptions) func(in []*node) []*node {
	return one(func(in []*node) *node { return in[0].ConvTranspose(in[1], third(in), o) })
}

// third returns the third operand, or nil if there is none.
func third(in []*node) *node {
	if len(in) > 2 {
		return in[2]
	}
	return nil
}

func gridSamples() cases {
	sample := func(o autograd.GridOptions) func(in []*node) []*node {
		return binary(func(x, grid *node) *node { return autograd.GridSample(x, grid, o) })
	}
	all := cases{"volume": sample(autograd.GridOptions{AlignCorners: true}), "empty": sample(autograd.GridOptions{AlignCorners: true})}
	for mode, name := range []string{"bilinear", "nearest", "bicubic"} {
		for padding, where := range []string{"zeros", "border", "reflection"} {
			p := autograd.GridPadding(padding)
			all[name+" "+where] = sample(autograd.GridOptions{Mode: autograd.GridMode(mode), Padding: p, AlignCorners: p == autograd.GridBorder})
		}
	}
	return all
}
