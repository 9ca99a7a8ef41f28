package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// convMatrix is conv of contiguous operands, on matrix units.
func convMatrix(op string, m ops.ConvMatrix, s *ops.ConvShape, transposed bool, x, w *Tensor, bias kernels.Arg, biased bool, y *Tensor) {
	d := x.Device()
	read, weights := s.Operands(transposed)
	px, pw := packConv(op, x, read), packConv(op, w, weights)
	defer px.free()
	defer pw.free()
	list := d.core().list()
	args := s.Args(append(list.args, x.arg(), w.arg(), bias, y.arg()))
	args = append(args, kernels.FlagArg(transposed), kernels.FlagArg(biased), kernels.IntArg(1), kernels.IntArg(1))
	list.launchTyped(d, m.Kernel(), pw.args(px.args(args)))
}

// convMatrixWeight computes parts of the gradient of the weights on matrix units, from X and the
// gradient of Y, which are contiguous: args are those of ops.ConvShape.WeightKernel.
func convMatrixWeight(op string, m ops.ConvMatrix, s *ops.ConvShape, x, g *Tensor, list *argList, args []kernels.Arg) {
	px, pg := packConv(op, x, s.OperandX()), packConv(op, g, s.OperandY())
	defer px.free()
	defer pg.free()
	list.launchTyped(x.Device(), m.WeightKernel(), pg.args(px.args(args)))
}

// packedConv is an operand of a convolution as ops.ConvPack packs it.
type packedConv struct{ words, flaws *Tensor }

func packConv(op string, t *Tensor, as ops.ConvOperand) packedConv {
	d := t.Device()
	n, m := as.BufferSizes()
	p := packedConv{alloc(op, d, Int32, []int{n}), alloc(op, d, Int32, []int{m})}
	list := d.core().list()
	list.launchTyped(d, ops.ConvPack, as.Args(append(list.args, t.arg(), p.words.arg(), p.flaws.arg())))
	return p
}

func (p packedConv) args(args []kernels.Arg) []kernels.Arg {
	return append(args, p.words.arg(), p.flaws.arg())
}

func (p packedConv) free() {
	p.words.Free()
	p.flaws.Free()
}
