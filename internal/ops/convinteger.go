package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// Where the arguments of ConvInteger are.
const (
	convIntegerX = iota
	convIntegerW
	convIntegerZeroX
	convIntegerZeroW
	convIntegerY
	convIntegerNumbers
	convIntegerZerosX = convIntegerNumbers + convCount
	convIntegerZerosW = convIntegerZerosX + 1
	convIntegerSign   = convIntegerZerosX + 2
)

// ConvInteger is a convolution of integers of 8 bits, Y = (X − ZX) ∗ (W − ZW): X, W, ZX, ZW, Y, the numbers of the
// shape, zerosX, zerosW, sign. Padding counts as 0 after the subtraction. zerosX is how many zero points X has: none
// or one. zerosW is those of W: none, one, or one for each channel of Y. sign is 1 if X is signed, plus 2 if W is.
var ConvInteger = newConvInteger()

func newConvInteger() *kernels.Kernel {
	k := &kernels.Kernel{Name: "k_conv_integer", File: "conv_integer_cpu.cl", GPU: "conv_integer_gpu.cl",
		Params: []kernels.Param{inBytes("X"), inBytes("W"), inBytes("ZX"), inBytes("ZW"), outInts("Y")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			s := convShapeOf(a, convIntegerNumbers)
			positions, groups := volume(s.OutSize), s.Batch*s.Groups
			if l.CPU {
				const columns, rows = 32, 64 // TILE_COLUMNS and ROWS of conv_integer_cpu.cl
				return kernels.Grid{Dims: 3, Local: [3]int{1, 1, 1},
					Global: [3]int{intmath.CeilDiv(positions, columns), intmath.CeilDiv(s.Out, rows), groups}}
			}
			const block = 4 // CHANNELS of conv_integer_gpu.cl
			return kernels.Grid2D(positions, groups*intmath.CeilDiv(s.Out, block), l)
		},
		Host:      kernels.ElementHostKernel(convIntegerHost),
		Cases:     convIntegerCases,
		Semantics: convIntegerSemantics,
	}
	for _, name := range append(convNames[:convCount:convCount], "zerosX", "zerosW", "sign") {
		k.Params = append(k.Params, intArg(name))
	}
	return k
}

// convIntegerCases are the launches that test ConvInteger: the shapes of other convolutions, with all signs and
// numbers of zero points.
func convIntegerCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range convCases(few) {
		for sign := range 4 {
			if sign != i%4 && s.Products()*s.Batch > 100000 {
				continue
			}
			cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v, sign %d", *s, sign),
				Build: func(o *kernels.Operands) {
					word := func(int) float64 { return float64(o.Rand.IntN(256)) }
					zerosX, zerosW := (i+sign)%2, [3]int{0, 1, s.Groups * s.Out}[(i+sign/2)%3]
					o.Elements(kernels.Uint8, s.Batch*s.Groups*s.In*volume(s.Size), word).
						Elements(kernels.Uint8, s.Groups*s.Out*s.weights(), word).
						Elements(kernels.Uint8, zerosX, word).Elements(kernels.Uint8, zerosW, word).
						Ints(s.Batch*s.Groups*s.Out*volume(s.OutSize), func(int) int { return -77 })
					o.Args = s.Args(o.Args)
					o.Int(zerosX, zerosW, sign)
				}})
		}
	}
	return cases
}
