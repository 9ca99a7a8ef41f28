package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// winograd is conv of contiguous operands, by Winograd's filtering: see ops.WinogradKernels.
func winograd(op string, s *ops.ConvShape, transposed bool, x, w *Tensor, bias kernels.Arg, biased bool, y *Tensor) {
	d := x.Device()
	taps := s.Kernel[2]
	k, n := ops.Winograd(taps), s.Winograd(transposed)
	u := alloc(op, d, y.typ.Computed(), []int{ops.WinogradPlanes, n.Read, ops.WinogradWhole(n.Written)})
	wWritten, wRead := s.In*taps*taps, taps*taps
	if transposed {
		wWritten, wRead = wRead, wWritten
	}
	launchTyped(d, k.Weights, w.arg(), u.arg(), kernels.IntArg(n.Written), kernels.IntArg(n.Read), kernels.IntArg(wWritten), kernels.IntArg(wRead), kernels.FlagArg(transposed))
	rows, cols, _ := n.Block(false)
	list := d.core().list()
	args := n.Args(append(list.args, x.arg(), u.arg(), w.arg(), bias, y.arg()))
	args = append(args, kernels.IntArg(rows), kernels.IntArg(cols), kernels.FlagArg(biased), kernels.IntArg(wWritten), kernels.IntArg(wRead), kernels.FlagArg(transposed))
	list.launchTyped(d, k.Output, args)
	u.Free()
}

// winogradGradient computes the gradient of the weights, to, from x and the gradient g of Y, all
// contiguous.
func winogradGradient(op string, s *ops.ConvShape, x, g, to *Tensor) {
	d := x.Device()
	k, n := ops.Winograd(s.Kernel[2]), s.Winograd(false)
	planes := ops.WinogradPlanes * n.Written * ops.WinogradWhole(n.Read)
	rows, cols, _ := n.Block(true)
	typ := to.typ.Computed()
	shares := alloc(op, d, typ, []int{n.Partials(rows, cols, d.Target()), planes})
	list := d.core().list()
	args := n.Args(append(list.args, x.arg(), g.arg(), shares.arg(), kernels.IntArg(s.Batch)))
	args = append(args, kernels.IntArg(rows), kernels.IntArg(cols))
	list.launchTyped(d, k.Gradient, args)
	u := alloc(op, d, typ, []int{planes})
	sumAxis(u, shares, 1, shares.shape[0], planes, 1, false)
	shares.Free()
	launchTyped(d, k.WeightsGrad, u.arg(), to.arg(), kernels.IntArg(n.Written), kernels.IntArg(n.Read))
	u.Free()
}
