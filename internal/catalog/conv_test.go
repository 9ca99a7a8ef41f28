package catalog

import "github.com/clgrad/clgrad/tensor"

// convolutions are those, pooling and interpolation.
var convolutions = family{"conv", "Convolution and pooling", []operation{
	{"Conv", "torch.nn.functional.conv1d, conv2d, conv3d", cases{
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
	{"ConvTranspose", "torch.nn.functional.conv_transpose1d, 2d, 3d", cases{
		"one":     convTranspose(tensor.ConvTransposeOptions{Stride: []int{3}, Padding: []int{1}, OutputPadding: []int{2}}),
		"two":     convTranspose(tensor.ConvTransposeOptions{Stride: []int{2, 1}, Dilation: []int{1, 3}, Padding: []int{0, 2}}),
		"grouped": convTranspose(tensor.ConvTransposeOptions{Groups: 2, Stride: []int{2}, OutputPadding: []int{1}}),
		"three":   convTranspose(tensor.ConvTransposeOptions{Stride: []int{2}}),
		"image":   convTranspose(tensor.ConvTransposeOptions{Dilation: []int{2}}),
		"special": convTranspose(tensor.ConvTransposeOptions{Stride: []int{2}}),
	}},
}}

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
