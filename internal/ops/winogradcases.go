package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// winogradShapes are those that the kernels are tested with: tiles that are whole and cut off, in
// one block and in several, with padding and with less than none, and channels that fill vectors
// and do not.
func winogradShapes(taps int, few bool) []WinogradShape {
	all := []WinogradShape{
		{Images: 2, Read: 3, Written: 5, H: 7, W: 6, PadY: 1, PadX: 0},
		{Images: 1, Read: 17, Written: 2, H: 9, W: 14, PadY: taps - 1, PadX: -1},
	}
	if !few {
		all = append(all, WinogradShape{Images: 3, Read: 16, Written: 49, H: 14, W: 14, PadY: taps / 2, PadX: taps / 2},
			WinogradShape{Images: 2, Read: 33, Written: 16, H: 5, W: 70, PadY: 0, PadX: 2})
	}
	for i := range all {
		n := &all[i]
		n.taps, n.OutH, n.OutW = taps, n.H+2*n.PadY-taps+1, n.W+2*n.PadX-taps+1
	}
	return all
}

// winogradCases gives the kernels the launches that test them.
func (k *WinogradKernels) winogradCases(taps int) {
	each := func(kernel *kernels.Kernel, build func(o *kernels.Operands, i int, n *WinogradShape)) {
		kernel.Cases = func(few bool) []kernels.Case {
			var cases []kernels.Case
			for i, n := range winogradShapes(taps, few) {
				cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", n), Build: func(o *kernels.Operands) { build(o, i, &n) }})
			}
			return cases
		}
	}
	size := taps * taps
	distances := func(i int, n *WinogradShape) (wWritten, wRead, reversed int) {
		if i%2 == 1 {
			return size, n.Written * size, 1
		}
		return n.Read * size, size, 0
	}
	each(k.Weights, func(o *kernels.Operands, i int, n *WinogradShape) {
		wWritten, wRead, reversed := distances(i, n)
		o.In(n.Written*n.Read*size, -1, 1).Out(WinogradPlanes*n.Read*WinogradWhole(n.Written)).Int(n.Written, n.Read, wWritten, wRead, reversed)
	})
	each(k.Output, func(o *kernels.Operands, i int, n *WinogradShape) {
		rows, cols, _ := n.Block(false)
		wWritten, wRead, reversed := distances(i, n)
		o.In(n.Images*n.Read*n.H*n.W, -1, 1).In(WinogradPlanes*n.Read*WinogradWhole(n.Written), -1, 1)
		o.In(n.Written*n.Read*size, -1, 1).In(n.Written*(i%2), -1, 1)
		o.Out(n.Images * n.Written * n.OutH * n.OutW)
		o.Args = n.Args(o.Args)
		o.Int(max(1, rows-i%3), cols, i%2, wWritten, wRead, reversed)
	})
	each(k.Gradient, func(o *kernels.Operands, i int, n *WinogradShape) {
		rows, cols, _ := n.Block(true)
		rows = max(1, rows-i%3)
		shares := min(1+i, n.blocks(rows, cols))
		o.In(n.Images*n.Read*n.H*n.W, -1, 1).In(n.Images*n.Written*n.OutH*n.OutW, -1, 1)
		o.Out(shares * WinogradPlanes * n.Written * WinogradWhole(n.Read)).Int(n.Images)
		o.Args = n.Args(o.Args)
		o.Int(rows, cols)
	})
	each(k.WeightsGrad, func(o *kernels.Operands, _ int, n *WinogradShape) {
		o.In(WinogradPlanes*n.Written*WinogradWhole(n.Read), -1, 1).Out(n.Written*n.Read*taps*taps).Int(n.Written, n.Read)
	})
}

// winogradTrials lets the kernels that go over images be tried with a few of them.
func (k *WinogradKernels) winogradTrials(taps int) {
	images := func(n *WinogradShape, given int) int {
		high, wide := n.tiles()
		products := WinogradPlanes * high * wide * n.Read * n.Written
		return min(given, selftest.Elements/2/max(1, n.Read*n.H*n.W+n.Written*n.OutH*n.OutW),
			selftest.Products/max(1, products))
	}
	numbers := func(ops []kernels.Operand, like []kernels.Arg) []kernels.Operand {
		for _, a := range like {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		return ops
	}
	k.Output.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		n := winogradShapeOf(taps, like[5:])
		some := images(n, like[4].N/max(1, n.Written*n.OutH*n.OutW))
		if some == 0 || like[1].N > selftest.Elements/2 {
			return nil
		}
		return numbers([]kernels.Operand{selftest.Uniform(some*n.Read*n.H*n.W, -1, 1), selftest.Uniform(like[1].N, -1, 1),
			selftest.Uniform(like[2].N, -1, 1),
			selftest.Uniform(like[3].N, -1, 1), selftest.Output(some * n.Written * n.OutH * n.OutW)}, like[5:])
	}
	k.Gradient.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		n := winogradShapeOf(taps, like[4:])
		some := images(n, int(like[3].Int))
		if some == 0 || like[2].N > selftest.Elements {
			return nil
		}
		shares := min(some, like[2].N/max(1, WinogradPlanes*n.Written*WinogradWhole(n.Read)))
		ops := numbers([]kernels.Operand{selftest.Uniform(some*n.Read*n.H*n.W, -1, 1),
			selftest.Uniform(some*n.Written*n.OutH*n.OutW, -1, 1),
			selftest.Output(shares * WinogradPlanes * n.Written * WinogradWhole(n.Read))}, like[3:])
		ops[3].Number = float64(some)
		return ops
	}
}
