package recurrent

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// mostWeights is how many weights stay in the cache of a core for all times. The products of several rows by more of
// them are faster as those of all rows, a launch for each time: 1.3 to 2.3 times, of 4 to 64 rows.
const mostWeights = 1 << 17

// Fits reports whether a device is to compute cells of a type in one launch.
func (c *Cell) Fits(d tensor.Device, typ tensor.Type, batch, hidden int) bool {
	return d.Target().CPU && (typ == tensor.Float32 || typ == tensor.Float64) &&
		(batch == 1 || c.gates()*hidden*hidden <= mostWeights)
}

// Layer is a direction of a layer whose states are computed, all of one float type.
type Layer struct {
	X       *tensor.Tensor // what the input gives the gates [time, batch, gates·hidden]
	Weights *tensor.Tensor // of the state [hidden, gates·hidden]; of an ONNX cell [gates·hidden, hidden]
	Bias    *tensor.Tensor // of the state [gates·hidden], or nil
	Ends    *tensor.Tensor // of an ONNX cell: the time from which on a row keeps its state [batch], int32; nil: there is none
	Back    bool           // from the last time to the first
}

// Run computes states [time + 1, batch, hidden], and behind them the cells of an LSTM, in place. They are contiguous and
// hold those before all steps: at time 0, or at the end on the way back.
func (c *Cell) Run(states *tensor.Tensor, l Layer) {
	if states.Len() == 0 {
		return
	}
	d, shape := states.Device(), l.X.Shape()
	x, w := l.X.Contiguous(), l.Weights.Contiguous()
	defer x.Free()
	defer w.Free()
	scratch := tensor.EmptyOf(d, states.Type(), shape[1], shape[2])
	defer scratch.Free()
	bias := w // any, if there is none
	if l.Bias != nil {
		bias = l.Bias.Contiguous()
		defer bias.Free()
	}
	args := []kernels.Arg{x.Arg(), w.Arg(), bias.Arg(), states.Arg(), scratch.Arg(), kernels.IntArg(shape[0]), kernels.IntArg(shape[1]),
		kernels.IntArg(states.Shape()[2]), kernels.FlagArg(l.Bias != nil), kernels.FlagArg(l.Back)}
	if c.onnx {
		ends := l.Ends
		if ends == nil {
			ends = tensor.FullOf(d, tensor.Int32, float64(shape[0]), shape[1])
			defer ends.Free()
		}
		ends = ends.Contiguous()
		defer ends.Free()
		args = append(args, ends.Arg())
	}
	tensor.Launch(d, c.kernel, args...)
}
