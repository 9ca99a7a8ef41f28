package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// What a work-item of ConvDepthwise has memory for: DEPTH_PLANES, DEPTH_SUMS and DEPTH_TAPS of
// conv_depthwise_cpu.cl.
const (
	depthwisePlanes = 16384
	depthwiseSums   = 8192
	depthwiseTaps   = 256
)

// depthwise reports whether ConvDepthwise computes a shape: pictures whose groups have one channel,
// of which there are enough to keep a CPU busy.
func (s *ConvShape) depthwise(transposed bool) bool {
	const least = 8 // channels
	one := s.Size[0] == 1 && s.Kernel[0] == 1 && s.OutSize[0] == 1 && s.Pad[0] == 0
	taps := s.Kernel[1] * s.Kernel[2]
	if transposed || s.In != 1 || s.Out != 1 || !one || s.Batch*s.Groups < least || taps < 2 || taps > depthwiseTaps {
		return false
	}
	spanY, spanX := s.Dilation[1]*(s.Kernel[1]-1), s.Dilation[2]*(s.Kernel[2]-1)
	row := min(s.Stride[2], spanX+1) * (s.OutSize[2] + spanX/s.Stride[2])
	return s.OutSize[2] <= depthwiseSums && (spanY+1)*row <= depthwisePlanes
}

// ConvDepthwise is the kernel of ConvShape.ConvKernel for CPUs where groups have one channel.
var ConvDepthwise = func() *kernels.Kernel {
	k := convKernel(&kernels.Kernel{Name: "k_conv_depthwise", File: "conv_depthwise_cpu.cl",
		Fusions: fused.Fusions{Epilogue: storesConv(fused.MapVectorCPU, 1)},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			const each = 8 // work-groups of a unit
			s := convShapeOf(a, convNumbers)
			return kernels.Groups(min(s.Batch*s.Groups, each*l.Units), 1)
		},
		Variants: func(kernels.DType, kernels.Target) []*kernels.Kernel { return []*kernels.Kernel{ConvDirect} },
	})
	k.Cases = func(few bool) []kernels.Case { return convOutputCases(depthwiseCases(few), (*ConvShape).depthwise) }
	return k
}()

// depthwiseCases are the shapes that test ConvDepthwise: rows of one vector and of several, strides
// and dilations that divide each other and do not, padding beyond the weights, several strips, and
// channels that the work-groups share unevenly.
func depthwiseCases(few bool) []*ConvShape {
	one := [3]int{1, 1, 1}
	all := []*ConvShape{
		{Batch: 1, Groups: 9, In: 1, Out: 1, Size: [3]int{1, 5, 7}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
		{Batch: 3, Groups: 3, In: 1, Out: 1, Size: [3]int{1, 6, 37}, Kernel: [3]int{1, 2, 3}, Stride: [3]int{1, 2, 2}, Dilation: one, Pad: [3]int{0, 0, 1}},
	}
	if !few {
		all = append(all,
			&ConvShape{Batch: 1, Groups: 8, In: 1, Out: 1, Size: [3]int{1, 1, 1}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
			&ConvShape{Batch: 2, Groups: 37, In: 1, Out: 1, Size: [3]int{1, 9, 20}, Kernel: [3]int{1, 5, 5}, Stride: one, Dilation: one, Pad: [3]int{0, 2, 2}},
			&ConvShape{Batch: 1, Groups: 8, In: 1, Out: 1, Size: [3]int{1, 150, 130}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
			&ConvShape{Batch: 1, Groups: 8, In: 1, Out: 1, Size: [3]int{1, 40, 75}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 2, 2}, Dilation: one, Pad: [3]int{0, 1, 1}},
			&ConvShape{Batch: 2, Groups: 5, In: 1, Out: 1, Size: [3]int{1, 17, 50}, Kernel: [3]int{1, 3, 2}, Stride: [3]int{1, 3, 3}, Dilation: [3]int{1, 2, 5}, Pad: [3]int{0, 4, 6}},
			&ConvShape{Batch: 4, Groups: 4, In: 1, Out: 1, Size: [3]int{1, 3, 9}, Kernel: [3]int{1, 1, 2}, Stride: [3]int{1, 1, 5}, Dilation: one, Pad: [3]int{0, 2, 8}})
	}
	for _, s := range all {
		s.setOut()
	}
	return all
}
