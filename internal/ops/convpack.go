package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// ConvOperand is how an operand of a convolution lies in memory: element q of a channel of an
// image, of Size, is at image·Row + channel·Step + q.
type ConvOperand struct{ Images, Size, Channels, Row, Step int }

// What conv_pack.cl packs: channels of a chunk, and chunks that have a flag.
const (
	convChunk = 8
	convFlag  = 128
)

// chunks returns how many there are of all channels of all elements.
func (o ConvOperand) chunks() int {
	return o.Images * o.Size * intmath.CeilDiv(o.Channels, convChunk)
}

// BufferSizes returns the lengths of what ConvPack writes.
func (o ConvOperand) BufferSizes() (words, flaws int) {
	return 3 * 4 * o.chunks(), intmath.CeilDiv(o.chunks(), convFlag)
}

// Args appends the numbers to the arguments of ConvPack.
func (o ConvOperand) Args(args []kernels.Arg) []kernels.Arg {
	return append(args, kernels.IntArg(o.Images), kernels.IntArg(o.Size), kernels.IntArg(o.Channels), kernels.IntArg(o.Row), kernels.IntArg(o.Step))
}

// Where the arguments of ConvPack are.
const (
	convPackS = iota
	convPackP
	convPackF
	convPackNumbers
)

func convOperandOf(args []kernels.Arg) ConvOperand {
	at := func(i int) int { return int(args[convPackNumbers+i].Int) }
	return ConvOperand{at(0), at(1), at(2), at(3), at(4)}
}

// ConvPack is the pass of a convolution that packs an operand for matrix units: the operand, the words [3, Images,
// Size, chunk of channels, 4] of three bfloat16 for each element, whether they are not the
// elements, and the numbers of the ConvOperand.
var ConvPack = &kernels.Kernel{Name: "k_conv_pack", File: "conv_pack.cl",
	Params: []kernels.Param{in("S"), outInts("P"), outInts("F"), intArg("images"), intArg("size"), intArg("channels"), intArg("row"), intArg("step")},
	Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
		return kernels.Grid{Dims: 1, Local: [3]int{convFlag}, Global: [3]int{intmath.RoundUp(convOperandOf(a).chunks(), convFlag)}}
	},
	Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
		o := ConvOperand{c.Int(convPackNumbers), c.Int(convPackNumbers + 1), c.Int(convPackNumbers + 2), c.Int(convPackNumbers + 3), c.Int(convPackNumbers + 4)}
		s := c.Floats(convPackS)
		o.pack(c.Ints(convPackP), c.Ints(convPackF), func(i int) float32 { return s[i] })
	}},
	Fusions: fused.Fusions{Batch: &fused.BatchSpec{GroupRanges: &fused.GroupRanges{Items: convFlag}}},
	Cases: func(few bool) []kernels.Case {
		var cases []kernels.Case
		for i, s := range []struct {
			ConvOperand
			largest float64
		}{{ConvOperand{2, 9, 16, 0, 0}, 1}, {ConvOperand{3, 30, 21, 0, 0}, 100}, {ConvOperand{1, 1, 3, 0, 0}, 1e-3},
			{ConvOperand{2, 5, 20, 0, 0}, 0x1p-112}, {ConvOperand{4, 70, 9, 0, 0}, 0x1p62}} {
			o := s.ConvOperand
			if o.Step, o.Row = o.Size, o.Size*o.Channels; i%2 > 0 { // as the weights of a transposed convolution
				o.Row, o.Step = o.Size, o.Size*o.Images
			}
			words, flaws := o.BufferSizes()
			blank := func(int) int { return 77 }
			cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", o), Build: func(to *kernels.Operands) {
				to.In(o.Images*o.Channels*o.Size, -s.largest, s.largest).Ints(words, blank).Ints(flaws, blank).Int(o.Images, o.Size, o.Channels, o.Row, o.Step)
			}})
		}
		return cases
	},
	SelfTest: func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		o := convOperandOf(like)
		n := (o.Images-1)*o.Row + (o.Channels-1)*o.Step + o.Size
		if n > selftest.Elements/4 {
			return nil
		}
		words, flaws := o.BufferSizes()
		ops := []kernels.Operand{selftest.Uniform(n, -1, 1), selftest.Output(words), selftest.Output(flaws)}
		for _, a := range like[convPackNumbers:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		return ops
	},
}

// pack packs the operand whose element i is at(i).
func (o ConvOperand) pack(words, flaws []int32, at func(i int) float32) {
	clear(words)
	clear(flaws)
	chunks, n := intmath.CeilDiv(o.Channels, convChunk), o.chunks()
	for i := range n {
		p, size := i/chunks, float32(0)
		for c := i % chunks * convChunk; c < min(o.Channels, (i%chunks+1)*convChunk); c++ {
			v := at(p/o.Size*o.Row + p%o.Size + c*o.Step)
			size = float32(math.FMA(float64(v), float64(v), float64(size)))
			if (packing{inner: BF16x3}).put(words[i*4+c%convChunk/2:], 4*n, v, c%2) {
				flaws[i/convFlag] = 1
			}
		}
		if !(size < 0x1p100) {
			flaws[i/convFlag] = 1
		}
	}
}
