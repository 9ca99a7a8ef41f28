package ops

import (
	"testing"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

func square(batch, in, out, size, kernel, stride int) *ConvShape {
	s := &ConvShape{Batch: batch, Groups: 1, In: in, Out: out, Size: [3]int{1, size, size}, Kernel: [3]int{1, kernel, kernel},
		Stride: [3]int{1, stride, stride}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, kernel / 2, kernel / 2}}
	for a := range s.OutSize {
		s.OutSize[a] = (s.Size[a]+2*s.Pad[a]-s.Kernel[a])/s.Stride[a] + 1
	}
	return s
}

// TestConvBlock: the blocks of positions of a work-item fit its planes, cover all rows with no
// short last one where that can be helped, and are as many as keep the cores busy. Where a row fits
// in no way, there are none.
func TestConvBlock(t *testing.T) {
	l := kernels.Target{CPU: true, Units: 2}
	for _, c := range []struct {
		s          *ConvShape
		transposed bool
		rows, cols int
		ok         bool
	}{
		{square(128, 1, 32, 28, 5, 1), false, 28, 28, true},
		{square(128, 32, 64, 14, 5, 1), false, 14, 14, true},
		{square(128, 32, 64, 14, 5, 1), true, 14, 14, true},
		{square(8, 64, 64, 56, 3, 1), false, 14, 56, true},
		{square(1, 64, 64, 56, 3, 1), false, 5, 56, true},
		{square(1, 3, 64, 224, 7, 2), true, 8, 112, true},
		{square(1, 3, 8, 4000, 3, 1), false, 1, 1024, true},
		{row(192, 192, 20_000, 1), false, 1, 256, true}, // all channels at once
		{row(8, 8, 600, 1), false, 1, 160, true},        // as many as keep the cores busy
		{row(3, 8, 100, 3), false, 1, 98, true},
		{square(1, 1, 1, 100, 65, 1), false, 1, 1, false}, // taps
		{&ConvShape{Batch: 1, Groups: 1, In: 1, Out: 1, Size: [3]int{1, 1, 200_000}, OutSize: [3]int{1, 1, 2}, Kernel: [3]int{1, 1, 2},
			Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 199_998}}, false, 1, 1, false},
	} {
		rows, cols, ok := c.s.ConvBlock(c.transposed, l)
		if rows != c.rows || cols != c.cols || ok != c.ok {
			t.Errorf("%+v, transposed %v: %d×%d %v, want %d×%d %v", *c.s, c.transposed, rows, cols, ok, c.rows, c.cols, c.ok)
		}
		if !ok && c.s.ConvKernel(c.transposed, kernels.Float32, l) != ConvDirect {
			t.Errorf("%+v: no kernel without planes", *c.s)
		}
	}
}

// row returns a convolution of a single row.
func row(in, out, size, kernel int) *ConvShape {
	one := [3]int{1, 1, 1}
	return &ConvShape{Batch: 1, Groups: 1, In: in, Out: out, Size: [3]int{1, 1, size}, OutSize: [3]int{1, 1, size - kernel + 1},
		Kernel: [3]int{1, 1, kernel}, Stride: one, Dilation: one}
}

// TestConvFlat: positions are in rows as long as there can be.
func TestConvFlat(t *testing.T) {
	one, none := [3]int{1, 1, 1}, [3]int{}
	shape := func(size, out, kernel, stride, dilation, pad [3]int) ConvShape {
		return ConvShape{Batch: 2, Groups: 3, In: 4, Out: 5, Size: size, OutSize: out, Kernel: kernel, Stride: stride, Dilation: dilation, Pad: pad}
	}
	same := shape([3]int{2, 3, 4}, [3]int{2, 2, 4}, [3]int{1, 2, 1}, one, one, none)
	padded := shape([3]int{1, 3, 4}, [3]int{1, 5, 4}, one, one, one, [3]int{0, 1, 0})
	behind := shape([3]int{1, 3, 4}, [3]int{1, 4, 4}, one, one, one, none) // padding behind alone
	strided := shape([3]int{1, 3, 4}, [3]int{1, 3, 2}, one, [3]int{1, 1, 2}, one, none)
	for name, c := range map[string]struct{ s, want ConvShape }{
		"pointwise": {shape([3]int{2, 3, 4}, [3]int{2, 3, 4}, one, one, one, none), shape([3]int{1, 1, 24}, [3]int{1, 1, 24}, one, one, one, none)},
		"column": {shape([3]int{1, 9, 1}, [3]int{1, 3, 1}, [3]int{1, 5, 1}, [3]int{1, 2, 1}, [3]int{1, 2, 1}, [3]int{0, 1, 0}),
			shape([3]int{1, 1, 9}, [3]int{1, 1, 3}, [3]int{1, 1, 5}, [3]int{1, 1, 2}, [3]int{1, 1, 2}, [3]int{0, 0, 1})},
		"first axis alone": {shape([3]int{9, 1, 1}, [3]int{8, 1, 1}, [3]int{2, 1, 1}, one, one, none),
			shape([3]int{1, 1, 9}, [3]int{1, 1, 8}, [3]int{1, 1, 2}, one, one, none)},
		"first two joined": {shape([3]int{2, 3, 4}, [3]int{2, 3, 3}, [3]int{1, 1, 2}, one, one, none),
			shape([3]int{1, 6, 4}, [3]int{1, 6, 3}, [3]int{1, 1, 2}, one, one, none)},
		"last two joined": {shape([3]int{5, 3, 4}, [3]int{4, 3, 4}, [3]int{2, 1, 1}, one, one, none),
			shape([3]int{1, 5, 12}, [3]int{1, 4, 12}, [3]int{1, 2, 1}, one, one, none)},
		"taps between": {same, same}, "padded": {padded, padded}, "padded behind": {behind, behind}, "strided": {strided, strided},
	} {
		if got := c.s.Flat(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestConvSlice: gradients of weights are summed up in parts where the weights alone would leave
// units idle, each worth the part that it writes.
func TestConvSlice(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 2}, kernels.Target{Units: 100}
	depthwise := square(8, 1, 1, 14, 3, 1)
	depthwise.Groups = 64
	for _, c := range []struct {
		s      *ConvShape
		l      kernels.Target
		slices int
	}{
		{square(128, 32, 64, 14, 5, 1), cpu, 4}, {square(1, 8, 8, 3, 3, 1), cpu, 3}, {depthwise, cpu, 1},
		{square(128, 32, 64, 14, 5, 1), gpu, 30}, {square(8, 64, 64, 56, 3, 1), gpu, 41}, {square(128, 1, 32, 28, 5, 1), gpu, 399}, {square(1, 64, 64, 14, 3, 1), gpu, 1}, {depthwise, gpu, 1},
		{square(0, 8, 8, 3, 3, 1), gpu, 1},
	} {
		slice := c.s.ConvSlice(c.l)
		if got := intmath.CeilDiv(max(c.s.Rows(), 1), slice); got != c.slices {
			t.Errorf("%+v on %+v: %d parts, want %d", *c.s, c.l, got, c.slices)
		}
	}
}

// TestConvTile: a GPU computes few channels without tiles, and takes narrow tiles for what would
// leave half of others empty. It has another kernel for more taps than a word has bits, and one for
// taps that few channels' rows meet together.
func TestConvTile(t *testing.T) {
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		s          *ConvShape
		transposed bool
		want       *kernels.Kernel
	}{
		{square(8, 64, 64, 56, 3, 1), false, Conv(convSquare, 1, false)},
		{square(128, 1, 32, 28, 5, 1), false, Conv(convWide, 1, false)},
		{square(128, 1, 32, 28, 5, 1), true, fewKernel(fewForm{1, 7, 5})},
		{square(128, 3, 32, 28, 5, 1), true, fewKernel(fewForm{4, 7, 5})},
		{square(128, 64, 32, 14, 5, 1), true, Conv(convSquare, 1, false)},
		{square(128, 32, 64, 14, 5, 1), true, Conv(convLong, 2, false)},
		{square(1, 64, 64, 5, 3, 1), false, Conv(convSmall, 1, false)},
		{square(1, 8, 64, 40, 15, 1), false, Conv(convSquare, 1, false)},
		{square(1, 8, 64, 40, 17, 1), false, Conv(convSquare, 1, true)},
		{square(1, 8, 1, 16, 9, 1), false, fewKernel(fewForm{1, 8, 0})},
		{square(1, 8, 2, 16, 3, 2), false, fewKernel(fewForm{2, 8, 0})},
		{square(1, 2, 8, 5, 1, 2), true, fewKernel(fewForm{2, 4, 0})},
		{square(1, 1<<21, 8, 1, 1, 1), false, ConvDirect},
	} {
		if got := c.s.ConvKernel(c.transposed, kernels.Float32, gpu); got != c.want {
			t.Errorf("%+v, transposed %v: %s %s, want %s %s", *c.s, c.transposed, got.Name, got.Defines, c.want.Name, c.want.Defines)
		}
	}
}

// TestConvWeightTile: the gradient of the weights has a small tile for few outputs, none for a few,
// and a kernel of its own for more taps than a word has bits.
func TestConvWeightTile(t *testing.T) {
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		s    *ConvShape
		t    kernels.DType
		want *kernels.Kernel
	}{
		{square(8, 64, 64, 56, 3, 1), kernels.Float32, ConvWeight(convFlat, false)},
		{square(8, 64, 64, 56, 3, 1), kernels.Float64, ConvWeight(convDouble, false)},
		{square(8, 64, 32, 56, 3, 1), kernels.Float32, ConvWeight(convSmall, false)},
		{square(1, 8, 64, 40, 17, 1), kernels.Float32, ConvWeight(convFlat, true)},
		{square(8, 64, 7, 56, 3, 1), kernels.Float32, ConvWeightDirect},
	} {
		if got := c.s.WeightKernel(c.t, gpu); got != c.want {
			t.Errorf("%+v: %s %s, want %s %s", *c.s, got.Name, got.Defines, c.want.Name, c.want.Defines)
		}
	}
}

// TestPoolKernels: a small window has a kernel of its own, up to a number of them; others share
// one.
func TestPoolKernels(t *testing.T) {
	of := func(k int) *PoolShape {
		return &PoolShape{Kernel: [3]int{1, 1, k}, Stride: [3]int{1, 1, k}, Dilation: [3]int{1, 1, 1}}
	}
	two := of(2).PoolKernel(MaxPool)
	if again, three := of(2).PoolKernel(MaxPool), of(3).PoolKernel(MaxPool); again != two || three == two {
		t.Error("a window has another kernel, or another's")
	}
	wide := of(2)
	wide.Dilation[2] = 3
	for k := range PoolKernel(poolKernels) { // whose window is longer than the inputs of some cases
		for _, few := range []bool{false, true} {
			for _, c := range wide.PoolKernel(k).Cases(few) {
				o := kernels.NewOperands(kernels.Float32, 1, 2)
				c.Build(o)
				for i, p := range wide.PoolKernel(k).Params {
					if p.Mode.Buffer() && o.Args[i].N <= 0 {
						t.Errorf("%s: %s has no element", c.Name, p.Name)
					}
				}
			}
		}
	}
	if of(17).PoolKernel(AvgPool) != of(18).PoolKernel(AvgPool) {
		t.Error("large windows have kernels of their own")
	}
	for stride := range 3 * poolMost {
		s := of(2)
		s.Stride[2] = 100 + stride
		s.PoolKernel(AvgPoolGrad)
	}
	if n := len(pools.of); n > poolMost+poolKernels {
		t.Errorf("%d kernels", n)
	}
}
