package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// spec returns the shape for a description, without the first axes that have one position and one tap.
func (s *ConvShape) spec() operation.ConvolutionSpec {
	first := firstAxis(func(a int) bool {
		return s.Size[a] == 1 && s.OutSize[a] == 1 && s.Kernel[a] == 1 && s.Stride[a] == 1 && s.Pad[a] == 0
	})
	return operation.ConvolutionSpec{Batch: s.Batch, Groups: s.Groups, In: s.In, Out: s.Out,
		Windows: windowsOf(first, &s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad)}
}

// windowsOf returns windows along the axes from one on.
func windowsOf(first int, size, outSize, kernel, stride, dilation, pad *[3]int) operation.Windows {
	return operation.Windows{Size: size[first:], OutSize: outSize[first:], Kernel: kernel[first:],
		Stride: stride[first:], Dilation: dilation[first:], Pad: pad[first:]}
}

// firstAxis returns the first of three axes that is not single, or the last.
func firstAxis(single func(axis int) bool) int {
	first := 0
	for first < 2 && single(first) {
		first++
	}
	return first
}

// rowMajor returns the strides of contiguous memory.
func rowMajor(dims []int) []int {
	strides, n := make([]int, len(dims)), 1
	for d := len(dims) - 1; d >= 0; d-- {
		strides[d], n = n, n*dims[d]
	}
	return strides
}

// convOperations says what the kernels of ConvShape.ConvKernel compute: X, W, BIAS, Y, the numbers of the shape,
// transposed, biased.
func convOperations(in args) operations {
	c := &operation.Convolution{ConvolutionSpec: convShapeOf(in, convNumbers).spec(),
		Transposed: in[convTransposed].Int != 0, Biased: in[convBiased].Int != 0}
	read, written, channels := c.Inputs(), c.Outputs(), c.Out
	if c.Transposed {
		read, written, channels = written, read, c.In
	}
	c.X, c.W = view(in, convX, 0, rowMajor(read)...), view(in, convW, 0, rowMajor(c.Weights())...)
	if c.Biased {
		c.Bias = view(in, convBias, 0, channels, 1)
	}
	c.Y = view(in, convY, 0, rowMajor(written)...)
	return operations{c}
}

// convWeightOperations says what those of ConvShape.WeightKernel compute: X, G, D [slices, groups, In·Kernel + biased,
// Out], the numbers of the shape, slice, biased.
func convWeightOperations(in args) operations {
	s := convShapeOf(in, convWeightNumbers)
	biased := int(in[convWeightBiased].Int)
	c := &operation.ConvolutionWeightGrad{ConvolutionSpec: s.spec(), Slice: int(in[convWeightSlice].Int), Biased: biased != 0}
	group := (s.weights() + biased) * s.Out
	strides := []int{s.Groups * group, group, 1}
	for _, n := range rowMajor(c.Weights())[2:] {
		strides = append(strides, n*s.Out)
	}
	c.X = view(in, convWeightX, 0, rowMajor(c.Inputs())...)
	c.G = view(in, convWeightG, 0, rowMajor(c.Outputs())...)
	c.D = view(in, convWeightD, 0, strides...)
	if c.Biased {
		c.DBias = view(in, convWeightD, s.weights()*s.Out, strides[:3]...)
	}
	return operations{c}
}

// convPartsOperations says what ConvParts computes: D [slices, groups, weights + biased, co], W [groups, co, weights],
// BIAS [groups, co], slices, groups, weights, co, biased.
func convPartsOperations(in args) operations {
	slices, groups, weights, co, biased := int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int), int(in[7].Int)
	group := (weights + biased) * co
	sum := func(offset int, strides ...int) kernels.View {
		v := temporary(0, strides...)
		v.Offset = offset
		return v
	}
	list := operations{
		fold(fn.Add, in, 1, slices, groups*group, temporary(0, groups*group, groups*group, 1)),
		mapped(fn.Identity, nil, []int{groups, co, weights}, view(in, 1, 0, co*weights, weights, 1), sum(0, group, 1, co))}
	if biased != 0 {
		list = append(list, mapped(fn.Identity, nil, []int{groups, co}, view(in, 2, 0, co, 1), sum(weights*co, group, 1)))
	}
	return list
}
