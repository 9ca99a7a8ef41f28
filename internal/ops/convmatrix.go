package ops

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// ConvMatrix is a convolution on the matrix units of a GPU, in float32: the pass behind those that pack its
// operands, of ConvPack. The zero ConvMatrix is none.
type ConvMatrix struct {
	Tile   GemmTile
	Stages int // buffers of what a tile stages
}

// Those of outputs and of weights. They were the fastest on an H200.
var (
	convMatrixOutput = ConvMatrix{GemmTile{64, 64, 32, 32, 32, BF16x3}, 2}
	convMatrixWeight = ConvMatrix{GemmTile{64, 64, 16, 32, 32, BF16x3}, 3}
)

// MatrixUnits returns how the matrix units of a device with the limits l, if it has any, compute Y
// from X and W, or with transposed X from Y and W. It is none where that is not worth it.
func (s *ConvShape) MatrixUnits(transposed bool, t kernels.DType, l kernels.Target) ConvMatrix {
	written := s.Out
	if transposed {
		written = s.In
	}
	if written <= convFew { // what a tile copies is for few products
		return ConvMatrix{}
	}
	return convMatrixOutput.of(s, t, l)
}

// MatrixUnitsWeight is MatrixUnits of the parts of the gradient of the weights.
func (s *ConvShape) MatrixUnitsWeight(t kernels.DType, l kernels.Target) ConvMatrix {
	return convMatrixWeight.of(s, t, l)
}

// of returns m if it is worth it for a shape: packing takes launches and memory, and few channels
// leave most of a tile empty.
func (m ConvMatrix) of(s *ConvShape, t kernels.DType, l kernels.Target) ConvMatrix {
	const channels, products, chunks = 16, 1 << 22, 1 << 26 // products for each unit, and chunks of an operand
	if l.CPU || t != kernels.Float32 || s.Groups != 1 || min(s.In, s.Out) < channels || max(s.OperandX().chunks(), s.OperandY().chunks(), s.Out*s.weights()/convChunk) > chunks ||
		float64(s.Batch)*float64(s.Products()) < products*float64(l.Units) ||
		m.Stages*m.Tile.staged() > l.LocalMem || m.items() > l.MaxGroup {
		return ConvMatrix{}
	}
	return m
}

// items returns how many work-items a tile has.
func (m ConvMatrix) items() int { return warp * (m.Tile.M / m.Tile.ItemM) * (m.Tile.N / m.Tile.ItemN) }

// Slice is ConvSlice of the parts that WeightKernel makes.
func (m ConvMatrix) Slice(s *ConvShape, l kernels.Target) int {
	const short = 512 // positions
	rows := max(s.Rows(), 1)
	tiles := intmath.CeilDiv(s.Out, m.Tile.N) * m.unitBlocks(s)
	slices := max(1, min(4*l.Units/tiles, rows*s.OutSize[2]/short, rows))
	return intmath.CeilDiv(rows, slices)
}

// unitBlocks returns how many tiles the weights have, in chunks of channels of one tap.
func (m ConvMatrix) unitBlocks(s *ConvShape) int {
	return intmath.CeilDiv(intmath.CeilDiv(s.In, convChunk)*volume(s.Kernel)*convChunk, m.Tile.M)
}

// Operands returns how X and the weights, or with transposed Y and the weights, are packed for
// Kernel.
func (s *ConvShape) Operands(transposed bool) (read, weights ConvOperand) {
	taps := volume(s.Kernel)
	if transposed {
		return s.OperandY(), ConvOperand{s.In, taps, s.Out, taps, s.weights()}
	}
	return s.OperandX(), ConvOperand{s.Out, taps, s.In, s.weights(), taps}
}

// OperandX returns how X is packed.
func (s *ConvShape) OperandX() ConvOperand {
	n := volume(s.Size)
	return ConvOperand{s.Batch, n, s.In, s.In * n, n}
}

// OperandY returns how Y is packed.
func (s *ConvShape) OperandY() ConvOperand {
	n := volume(s.OutSize)
	return ConvOperand{s.Batch, n, s.Out, s.Out * n, n}
}

// convPackedParams are those of packed operands, after all others.
func convPackedParams(other string) []kernels.Param {
	return []kernels.Param{inInts("PX"), inInts("FX"), inInts("P" + other), inInts("F" + other)}
}

// Kernel returns the kernel of ConvShape.ConvKernel: its arguments, then what is read and W as
// ConvPack packs them.
func (m ConvMatrix) Kernel() *kernels.Kernel {
	use := fused.Variant{Kernel: "convolution on matrix units", Shape: m.shape()}
	return fused.KernelFor(fn.Identity, use, func() *kernels.Kernel {
		k := convKernel(&kernels.Kernel{Name: "k_conv_matrix", File: "conv_matrix.cl", Defines: m.defines(),
			Fusions: fused.Fusions{Epilogue: storesConv(0, 4)},
			Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
				s, transposed := convShapeOf(a, convNumbers), a[convTransposed].Int != 0
				z, y, x := s.axes(transposed, 0) // which has the most positions
				written := s.Out
				if transposed {
					written = s.In
				}
				return kernels.Grid{Dims: 3, Local: [3]int{m.items(), 1, 1}, Global: [3]int{
					intmath.CeilDiv(s.Batch*z.count*y.count*x.count, m.Tile.N) * m.items(), intmath.CeilDiv(written, m.Tile.M), s.phases(transposed)}}
			},
			Variants: m.others(ConvMatrix.Kernel),
		})
		k.Cases = func(few bool) []kernels.Case {
			return append(convOutputCases(ungrouped(convCases(few)), func(*ConvShape, bool) bool { return true }), convStrange(few, convNumbers)...)
		}
		return withPacked(k, convPackedParams("W"), convNumbers, func(s *ConvShape, a []kernels.Arg) (from [2]int, of [2]ConvOperand) {
			of[0], of[1] = s.Operands(a[convTransposed].Int != 0)
			return [2]int{convX, convW}, of
		})
	})
}

// WeightKernel returns the kernel of ConvShape.WeightKernel: its arguments, then X and the gradient
// as ConvPack packs them.
func (m ConvMatrix) WeightKernel() *kernels.Kernel {
	use := fused.Variant{Kernel: "gradient of a convolution on matrix units", Shape: m.shape()}
	return fused.KernelFor(fn.Identity, use, func() *kernels.Kernel {
		k := convWeightKernel(&kernels.Kernel{Name: "k_conv_matrix_weight", File: "conv_matrix_weight.cl", Defines: m.defines(),
			Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
				s := convShapeOf(a, convWeightNumbers)
				return kernels.Grid{Dims: 3, Local: [3]int{m.items(), 1, 1}, Global: [3]int{
					intmath.CeilDiv(s.Out, m.Tile.N) * m.items(), m.unitBlocks(s), intmath.CeilDiv(s.Rows(), int(a[convWeightSlice].Int))}}
			},
			Variants: m.others(ConvMatrix.WeightKernel),
		})
		k.Cases = func(few bool) []kernels.Case {
			return append(convWeightCases(ungrouped(convCases(few))), convStrange(few, convWeightNumbers)...)
		}
		return withPacked(k, convPackedParams("G"), convWeightNumbers, func(s *ConvShape, a []kernels.Arg) (from [2]int, of [2]ConvOperand) {
			return [2]int{convWeightX, convWeightG}, [2]ConvOperand{s.OperandX(), s.OperandY()}
		})
	})
}

func (m ConvMatrix) shape() [5]int {
	return [5]int{m.Tile.M, m.Tile.N, m.Tile.K, m.Tile.ItemM, m.Tile.ItemN<<8 | m.Stages}
}

func (m ConvMatrix) defines() string {
	return fmt.Sprintf("%s -DSTAGES=%d", m.Tile.defines(), m.Stages)
}

// convMatrixSmall is of one warp: it takes the place of others that a driver builds wrong, and
// tests have time for it.
var convMatrixSmall = ConvMatrix{GemmTile{32, 32, 16, 32, 32, BF16x3}, 2}

// others returns the kernels that may take the place of one.
func (m ConvMatrix) others(kernel func(ConvMatrix) *kernels.Kernel) func(kernels.DType, kernels.Target) []*kernels.Kernel {
	return func(_ kernels.DType, l kernels.Target) []*kernels.Kernel {
		if l.CPU || m == convMatrixSmall {
			return nil
		}
		return []*kernels.Kernel{kernel(convMatrixSmall)}
	}
}

// ungrouped returns the shapes of one group.
func ungrouped(shapes []*ConvShape) []*ConvShape {
	return slices.DeleteFunc(shapes, func(s *ConvShape) bool { return s.Groups > 1 })
}

// convStrange are the launches that test elements which are no sums of three bfloat16, in one image
// of two.
func convStrange(few bool, numbers int) []kernels.Case {
	s := &ConvShape{Batch: 2, Groups: 1, In: 9, Out: 10, Size: [3]int{1, 8, 8}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 1, 1}}
	s.setOut()
	var cases []kernels.Case
	for _, largest := range []float64{0x1p-112, 0x1p62} {
		for flawed := range 2 {
			build := func(o *kernels.Operands) {
				in := func(n int, is bool) { // the last element is too large or too small
					o.In(n, -1, 1)
					if a := o.Args[len(o.Args)-1]; is {
						a.Buf.(*kernels.HostBuffer).Set(a.Off+n-1, largest*1.234567)
					}
				}
				in(s.Batch*s.In*volume(s.Size), flawed == 0)
				if numbers == convNumbers {
					in(s.Out*s.weights(), flawed == 1)
					o.In(s.Out, -1, 1).Out(s.Batch * s.Out * volume(s.OutSize))
					o.Args = s.Args(o.Args)
					o.Int(0, 1, 1, 1)
					return
				}
				in(s.Batch*s.Out*volume(s.OutSize), flawed == 1)
				o.Out(2 * s.Out * (s.weights() + 1))
				o.Args = s.Args(o.Args)
				o.Int(s.Rows()/2, 1)
			}
			cases = append(cases, kernels.Case{Name: fmt.Sprint("an element of ", largest, " in operand ", flawed), Build: build})
		}
	}
	if few {
		return cases[:1]
	}
	return cases
}

// withPacked adds the packed operands of a convolution without groups to a kernel, its cases and
// its trial: operands says which of the arguments are packed, and how.
func withPacked(k *kernels.Kernel, params []kernels.Param, numbers int, operands func(s *ConvShape, a []kernels.Arg) (from [2]int, of [2]ConvOperand)) *kernels.Kernel {
	packed := func(a []kernels.Arg) []kernels.Operand {
		var ops []kernels.Operand
		from, of := operands(convShapeOf(a, numbers), a)
		for i, o := range of {
			n, m := o.BufferSizes()
			var words, flaws []int32
			get := func(of *[]int32) func(before []kernels.Arg, i int) float64 {
				return func(before []kernels.Arg, e int) float64 {
					if words == nil {
						words, flaws = make([]int32, n), make([]int32, m)
						o.pack(words, flaws, func(at int) float32 { return float32(before[from[i]].At(at)) })
					}
					return float64((*of)[e])
				}
			}
			ops = append(ops, selftest.Computed(n, get(&words)), selftest.Computed(m, get(&flaws)))
		}
		return ops
	}
	cases, selfTest, n := k.Cases, k.SelfTest, len(k.Params)
	k.Cases = func(few bool) []kernels.Case {
		var all []kernels.Case
		for _, c := range cases(few) {
			all = append(all, kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
				c.Build(o)
				before := o.Args
				for _, op := range packed(before) {
					o.Elements(kernels.Int32, op.N, func(i int) float64 { return op.From(before, i) })
				}
			}})
		}
		return all
	}
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		ops := selfTest(like[:n])
		if ops == nil {
			return nil
		}
		args := make([]kernels.Arg, len(ops))
		for i, op := range ops {
			args[i] = kernels.IntArg(int(op.Number))
		}
		return append(ops, packed(args)...)
	}
	k.Params = append(k.Params, params...)
	k.Semantics = nil // packed operands are parts next to each other, which is no view
	return k
}

// convsOnMatrixUnits returns what tests run: tiles of one warp, which they have time for.
func convsOnMatrixUnits() []*kernels.Kernel {
	return []*kernels.Kernel{ConvPack, convMatrixSmall.Kernel(), convMatrixSmall.WeightKernel()}
}
