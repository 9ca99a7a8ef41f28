package ops

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// ConvDirect and ConvWeightDirect are the kernels without tiles: see ConvShape.ConvKernel and
// WeightKernel.
var (
	ConvDirect = convKernel(&kernels.Kernel{Name: "k_conv_direct", File: "conv_direct.cl",
		Fusions: fused.Fusions{Epilogue: storesConv(1, 1)},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			s, transposed := convShapeOf(a, convNumbers), a[convTransposed].Int != 0
			written, size := s.Out, volume(s.OutSize)
			if transposed {
				written, size = s.In, volume(s.Size)
			}
			const block = 4 // BLOCK_O of conv_direct.cl
			return kernels.Grid2D(size, s.Batch*s.Groups*intmath.CeilDiv(written, block), l)
		}})
	ConvWeightDirect = convWeightKernel(&kernels.Kernel{Name: "k_conv_weight_direct", File: "conv_direct.cl",
		Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
			s, slice := convShapeOf(a, convWeightNumbers), int(a[convWeightSlice].Int)
			const group = 64 // SUM_GROUP of conv_direct.cl
			return kernels.Grid{Dims: 2, Local: [3]int{group, 1},
				Global: [3]int{s.Groups * s.Out * (s.weights() + int(a[convWeightBiased].Int)) * group, intmath.CeilDiv(s.Rows(), slice)}}
		}})
)

// convs are the kernels in tiles, by tile; that of CPUs is the zero tile.
var convs, convWeights tiledKernels

type tiledKernels struct {
	sync.Mutex
	of map[convForm]*kernels.Kernel
}

// convForm is what a kernel in tiles is built for: split as SPLIT of conv_gpu.cl, far as
// ConvShape.far.
type convForm struct {
	tile  GemmTile
	split int
	far   bool
}

// Conv returns the kernel of ConvShape.ConvKernel for a tile of which split work-items share each
// element, and for axes of few taps or any number.
func Conv(tile GemmTile, split int, far bool) *kernels.Kernel {
	form := convForm{tile, split, far}
	return convs.get(form, func() *kernels.Kernel {
		return convKernel(&kernels.Kernel{Name: "k_conv_output", File: "conv_cpu.cl", GPU: "conv_gpu.cl",
			Defines: form.defines(), Fusions: fused.Fusions{Epilogue: storesConvTiles},
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				s, transposed := convShapeOf(a, convNumbers), a[convTransposed].Int != 0
				z, y, x := s.axes(transposed, 0) // which has the most positions
				phases, written := s.phases(transposed), s.Out
				if transposed {
					written = s.In
				}
				if l.CPU {
					blocks := z.count * intmath.CeilDiv(y.count, int(a[convRows].Int)) * intmath.CeilDiv(x.count, int(a[convCols].Int))
					return kernels.Grid{Dims: 3, Local: [3]int{1, 1, 1}, Global: [3]int{blocks, s.Batch * s.Groups, phases}}
				}
				t := tile.orFirst()
				items := split * t.items()
				return kernels.Grid{Dims: 3, Local: [3]int{items, 1, 1}, Global: [3]int{
					intmath.CeilDiv(s.Batch*z.count*y.count*x.count, t.N) * items, s.Groups * intmath.CeilDiv(written, t.M), phases}}
			},
			Variants: func(t kernels.DType, l kernels.Target) []*kernels.Kernel { return []*kernels.Kernel{ConvDirect} },
		})
	})
}

// ConvWeight returns the kernel of ConvShape.WeightKernel for a tile, and for axes of few taps or
// any number.
func ConvWeight(tile GemmTile, far bool) *kernels.Kernel {
	form := convForm{tile, 1, far}
	return convWeights.get(form, func() *kernels.Kernel {
		return convWeightKernel(&kernels.Kernel{Name: "k_conv_weight", File: "conv_cpu.cl", GPU: "conv_gpu.cl", Defines: form.defines(),
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				s := convShapeOf(a, convWeightNumbers)
				slices := intmath.CeilDiv(s.Rows(), int(a[convWeightSlice].Int))
				if l.CPU {
					return kernels.Groups(s.Groups, slices)
				}
				t := tile.orFirst()
				return kernels.Grid{Dims: 3, Local: [3]int{t.items(), 1, 1}, Global: [3]int{
					intmath.CeilDiv(s.Out, t.N) * t.items(), s.Groups * intmath.CeilDiv(s.weights(), t.M), slices}}
			},
			Variants: func(t kernels.DType, l kernels.Target) []*kernels.Kernel { return []*kernels.Kernel{ConvWeightDirect} },
		})
	})
}

// get returns the kernel of a form.
func (k *tiledKernels) get(form convForm, build func() *kernels.Kernel) *kernels.Kernel {
	k.Lock()
	defer k.Unlock()
	if k.of == nil {
		k.of = map[convForm]*kernels.Kernel{}
	}
	if k.of[form] == nil {
		k.of[form] = build()
	}
	return k.of[form]
}

// orFirst returns the tile, or the default of GPUs for that of CPUs: a CPU's kernel may be tried as
// a GPU's.
func (t GemmTile) orFirst() GemmTile {
	if t == (GemmTile{}) {
		return gpuTiles[0]
	}
	return t
}

func (f convForm) defines() string {
	switch {
	case f.tile == (GemmTile{}):
		return ""
	case f.far:
		return fmt.Sprintf("%s -DSPLIT=%d -DFAR", f.tile.defines(), f.split)
	}
	return fmt.Sprintf("%s -DSPLIT=%d", f.tile.defines(), f.split)
}

func convKernel(k *kernels.Kernel) *kernels.Kernel {
	k.Params = []kernels.Param{in("X"), in("W"), in("BIAS"), out("Y")}
	for _, name := range append(convNames[:convCount:convCount], "transposed", "biased", "rows", "cols") {
		k.Params = append(k.Params, intArg(name))
	}
	k.Host = kernels.HostKernel{F32: convHost[float32](), F64: convHost[float64]()}
	k.Semantics = convOperations
	k.Tol = kernels.Tolerance{ULP: 4, Rel: gemmRel, Scale: func(a []kernels.Arg) float64 {
		s := convShapeOf(a, convNumbers)
		terms := s.In
		if a[convTransposed].Int != 0 {
			terms = s.Out
		}
		return float64(terms*volume(s.Kernel))*kernels.MaxAbs(a, convX)*kernels.MaxAbs(a, convW) + float64(a[convBiased].Int)*kernels.MaxAbs(a, convBias)
	}}
	k.Cases = func(few bool) []kernels.Case {
		return convOutputCases(convCases(few), func(*ConvShape, bool) bool { return true })
	}
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		s, transposed := convShapeOf(like, convNumbers), like[convTransposed].Int != 0
		x, y := s.Groups*s.In*volume(s.Size), s.Groups*s.Out*volume(s.OutSize) // of an image
		batch := s.selfTestBatch(x + y)
		if batch == 0 {
			return nil
		}
		if transposed {
			x, y = y, x
		}
		ops := []kernels.Operand{selftest.Uniform(batch*x, -1, 1), selftest.Uniform(like[convW].N, -1, 1),
			selftest.Uniform(like[convBias].N, -1, 1), selftest.Output(batch * y)}
		for _, a := range like[convNumbers:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		ops[convNumbers].Number = float64(batch)
		return ops
	}
	return k
}

// convOutputCases are those of kernels of ConvShape.ConvKernel, for the shapes that one can
// compute.
func convOutputCases(shapes []*ConvShape, can func(s *ConvShape, transposed bool) bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range shapes {
		for transposed := range 2 {
			if !can(s, transposed == 1) {
				continue
			}
			biased := (i + transposed) % 2
			cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v transposed %d", *s, transposed), Build: func(o *kernels.Operands) {
				x, y := s.Batch*s.Groups*s.In*volume(s.Size), s.Batch*s.Groups*s.Out*volume(s.OutSize)
				channels := s.Groups * s.Out
				if transposed == 1 {
					x, y, channels = y, x, s.Groups*s.In
				}
				rows, cols, _ := s.ConvBlock(transposed == 1, kernels.Target{CPU: true, Units: 2})
				o.In(x, -1, 1).In(s.Groups*s.Out*s.weights(), -1, 1).In(channels*biased, -1, 1).Out(y)
				o.Args = s.Args(o.Args)
				o.Int(transposed, biased, rows, cols)
			}})
		}
	}
	return cases
}

// convWeightCases are those of kernels of ConvShape.WeightKernel, for some shapes.
func convWeightCases(shapes []*ConvShape) []kernels.Case {
	var cases []kernels.Case
	for i, s := range shapes {
		slice, biased := max(1, s.Rows()/(1+i%3)), i%2
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v slice %d biased %d", *s, slice, biased), Build: func(o *kernels.Operands) {
			o.In(s.Batch*s.Groups*s.In*volume(s.Size), -1, 1).In(s.Batch*s.Groups*s.Out*volume(s.OutSize), -1, 1)
			o.Out(intmath.CeilDiv(s.Rows(), slice) * s.Groups * s.Out * (s.weights() + biased))
			o.Args = s.Args(o.Args)
			o.Int(slice, biased)
		}})
	}
	return cases
}

// selfTestBatch returns how many images of so many elements a trial takes, 0 if one is too large.
func (s *ConvShape) selfTestBatch(elements int) int {
	if s.Groups*s.Out*s.weights() > selftest.Elements/2 {
		return 0
	}
	return min(s.Batch, selftest.Elements/2/max(elements, 1), selftest.Products/max(s.Products(), 1))
}

func convWeightKernel(k *kernels.Kernel) *kernels.Kernel {
	k.Params = []kernels.Param{in("X"), in("G"), out("D")}
	for _, name := range append(convNames[:convCount:convCount], "slice", "biased") {
		k.Params = append(k.Params, intArg(name))
	}
	k.Host = kernels.HostKernel{F32: convWeightHost[float32](), F64: convWeightHost[float64]()}
	k.Semantics = convWeightOperations
	k.Tol = kernels.Tolerance{ULP: 4, Rel: gemmRel, Scale: func(a []kernels.Arg) float64 {
		s := convShapeOf(a, convWeightNumbers)
		terms := int(a[convWeightSlice].Int) * s.OutSize[2]
		return float64(terms) * max(kernels.MaxAbs(a, convWeightX), float64(a[convWeightBiased].Int)) * kernels.MaxAbs(a, convWeightG)
	}}
	k.Cases = func(few bool) []kernels.Case { return convWeightCases(convCases(few)) }
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		s, slice := convShapeOf(like, convWeightNumbers), int(like[convWeightSlice].Int)
		x, y := s.Groups*s.In*volume(s.Size), s.Groups*s.Out*volume(s.OutSize) // of an image
		s.Batch = s.selfTestBatch(x + y)
		parts := intmath.CeilDiv(s.Rows(), max(slice, 1)) * s.Groups * s.Out * (s.weights() + int(like[convWeightBiased].Int))
		if s.Batch == 0 || parts > selftest.Elements {
			return nil
		}
		ops := []kernels.Operand{selftest.Uniform(s.Batch*x, -1, 1), selftest.Uniform(s.Batch*y, -1, 1),
			selftest.Output(parts)}
		for _, a := range like[convWeightNumbers:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		ops[convWeightNumbers].Number = float64(s.Batch)
		return ops
	}
	return k
}

// convCases are the shapes that test the kernels: of 1, 2 and 3 axes, with strides, dilations and
// padding that divide each other and do not, with groups of one channel and of many, with short
// rows and long ones, and with tiles that are whole and cut off.
func convCases(few bool) []*ConvShape {
	one := [3]int{1, 1, 1}
	all := []*ConvShape{
		{Batch: 2, Groups: 1, In: 2, Out: 3, Size: [3]int{1, 3, 5}, Kernel: [3]int{1, 3, 2}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
		{Batch: 1, Groups: 2, In: 1, Out: 1, Size: [3]int{3, 2, 5}, Kernel: [3]int{2, 1, 2}, Stride: [3]int{1, 1, 2}, Dilation: [3]int{2, 1, 3}, Pad: [3]int{1, 0, 1}},
	}
	if !few {
		all = append(all,
			&ConvShape{Batch: 2, Groups: 1, In: 3, Out: 5, Size: [3]int{1, 7, 9}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
			&ConvShape{Batch: 1, Groups: 2, In: 2, Out: 9, Size: [3]int{1, 8, 11}, Kernel: [3]int{1, 3, 2}, Stride: [3]int{1, 2, 3}, Dilation: [3]int{1, 2, 1}, Pad: [3]int{0, 2, 1}},
			&ConvShape{Batch: 2, Groups: 3, In: 1, Out: 1, Size: [3]int{1, 5, 20}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 2}, Dilation: one, Pad: [3]int{0, 1, 0}},
			&ConvShape{Batch: 2, Groups: 1, In: 2, Out: 3, Size: [3]int{4, 5, 6}, Kernel: [3]int{3, 2, 3}, Stride: [3]int{2, 1, 2}, Dilation: [3]int{1, 2, 2}, Pad: [3]int{1, 1, 2}},
			&ConvShape{Batch: 1, Groups: 1, In: 17, Out: 40, Size: [3]int{1, 6, 6}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
			&ConvShape{Batch: 3, Groups: 1, In: 8, Out: 70, Size: [3]int{1, 1, 30}, Kernel: [3]int{1, 1, 5}, Stride: [3]int{1, 1, 2}, Dilation: one, Pad: [3]int{0, 0, 2}},
			&ConvShape{Batch: 2, Groups: 1, In: 12, Out: 8, Size: [3]int{1, 4, 4}, Kernel: one, Stride: [3]int{1, 3, 2}, Dilation: one},
			&ConvShape{Batch: 1, Groups: 1, In: 8, Out: 8, Size: [3]int{1, 9, 9}, Kernel: [3]int{1, 2, 2}, Stride: [3]int{1, 4, 4}, Dilation: [3]int{1, 3, 6}, Pad: [3]int{0, 5, 7}},
			&ConvShape{Batch: 1, Groups: 1, In: 2, Out: 20, Size: [3]int{1, 2, 8}, Kernel: [3]int{1, 1, 6}, Stride: [3]int{1, 1, 7}, Dilation: one, Pad: [3]int{0, 0, 6}},
			&ConvShape{Batch: 2, Groups: 1, In: 20, Out: 66, Size: [3]int{1, 12, 17}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 1, 1}},
			// Few positions: one, some in a row, and some in two.
			&ConvShape{Batch: 2, Groups: 2, In: 37, Out: 11, Size: one, Kernel: one, Stride: one, Dilation: one},
			&ConvShape{Batch: 1, Groups: 1, In: 7, Out: 6, Size: [3]int{2, 1, 4}, Kernel: [3]int{3, 1, 3}, Stride: one, Dilation: one, Pad: [3]int{2, 0, 0}},
			&ConvShape{Batch: 1, Groups: 2, In: 9, Out: 5, Size: [3]int{1, 3, 4}, Kernel: [3]int{1, 2, 2}, Stride: one, Dilation: one},
			&ConvShape{Batch: 1, Groups: 1, In: 3, Out: 20, Size: [3]int{1, 3, 600}, Kernel: [3]int{1, 2, 7}, Stride: [3]int{1, 1, 2}, Dilation: [3]int{1, 1, 3}, Pad: [3]int{0, 0, 9}},
			&ConvShape{Batch: 1, Groups: 1, In: 90, Out: 3, Size: [3]int{1, 1, 1200}, Kernel: [3]int{1, 1, 3}, Stride: one, Dilation: one, Pad: [3]int{0, 0, 1}})
	}
	for _, s := range all {
		s.setOut()
	}
	return all
}

// setOut sets the size of Y for padding at both ends.
func (s *ConvShape) setOut() {
	for a := range s.OutSize {
		s.OutSize[a] = (s.Size[a]+2*s.Pad[a]-s.Dilation[a]*(s.Kernel[a]-1)-1)/s.Stride[a] + 1
	}
}
