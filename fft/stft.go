package fft

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// STFTOptions are the settings of [STFT] and [ISTFT].
type STFTOptions struct {
	Hop         int            // samples from frame to frame; 0: a quarter of a frame
	Window      *autograd.Node // factors [w] of the samples in the middle of a frame; nil: ones
	NotCentered bool           // frame t begins at sample t·Hop, and has its middle there otherwise
	ZeroPadding bool           // beyond the ends of the signal are zeros, and its reflection otherwise
	Normalized  bool           // the norm is Ortho, and Backward otherwise
	TwoSided    bool           // all numbers of a spectrum, and the first size/2 + 1 otherwise
	Length      int            // how many samples ISTFT returns; 0: what the frames cover
}

// check returns the settings with their defaults, and the window of a whole frame, nil for ones.
func (o STFTOptions) check(op string, x *autograd.Node, size int) (STFTOptions, *autograd.Node) {
	if o.Hop == 0 {
		o.Hop = max(1, size/4)
	}
	if size < 1 || o.Hop < 1 || o.Length < 0 {
		misuse(op, tensor.ErrValue, fmt.Sprintf("frames have %d samples, Hop is %d, Length %d: a frame and Hop are 1 or more",
			size, o.Hop, o.Length), x)
	}
	if o.Window == nil {
		return o, nil
	}
	w := o.Window.ValueFor(op)
	if w.Rank() != 1 || w.Len() > size {
		misuse(op, tensor.ErrShape, fmt.Sprintf("the window is of one axis, of at most %d samples", size), o.Window)
	}
	if w.Type() != x.Value().Type() {
		misuse(op, tensor.ErrType, fmt.Sprintf("the window is of type %v, the operand of %v: convert one with To",
			w.Type(), x.Type()), o.Window)
	}
	before := (size - w.Len()) / 2
	if before == 0 && w.Len() == size {
		return o, o.Window
	}
	return o, o.Window.Pad([][2]int{{before, size - w.Len() - before}})
}

func (o STFTOptions) norm() Norm {
	if o.Normalized {
		return Ortho
	}
	return Backward
}

// STFT returns the spectra [..., size/2 + 1, frames, 2] of overlapping frames of size samples of signals x
// [..., samples]. It panics with tensor.ErrShape if the signal, with its padding, is shorter than a
// frame, or the window does not fit, with tensor.ErrValue for settings that cannot be, and with
// tensor.ErrType unless x is of float32 or float64.
//
// Gradients: of the frames by [RFFT], added where they overlap, and of the window.
func STFT(x *autograd.Node, size int, options ...STFTOptions) *autograd.Node {
	const op = "STFT"
	mustFloat(op, x)
	o, window := optional(op, x, options).check(op, x, size)
	rank := x.Value().Rank()
	if rank == 0 {
		misuse(op, tensor.ErrShape, "a signal has an axis", x)
	}
	n, pad := x.Shape()[rank-1], 0
	if !o.NotCentered {
		pad = size / 2
	}
	switch {
	case pad >= n && !o.ZeroPadding && pad > 0:
		misuse(op, tensor.ErrShape,
			fmt.Sprintf("the reflection of %d samples at an end needs more samples than that: set ZeroPadding", pad), x)
	case n+2*pad < size:
		misuse(op, tensor.ErrShape, fmt.Sprintf("the signal is shorter than a frame of %d samples", size), x)
	}
	if pad > 0 {
		mode := tensor.PadReflect
		if o.ZeroPadding {
			mode = tensor.PadConstant
		}
		x = x.Pad([][2]int{{pad, pad}}, tensor.PadOptions{Mode: mode})
	}
	frames := x.Unfold(-1, size, o.Hop) // [..., frames, size]
	if window != nil {
		frames = frames.Mul(window)
	}
	var y *autograd.Node
	if o.TwoSided {
		y = along(op, frames.Unsqueeze(-1).Pad([][2]int{{0, 1}}), rank, false, Options{Norm: o.norm()})
	} else {
		y = RFFT(frames, -1, Options{Norm: o.norm()})
	}
	return y.MoveDim(rank-1, rank)
}

// ISTFT returns the signals [..., samples] whose [STFT] is x [..., size/2 + 1, frames, 2], in the least
// squares; of two-sided spectra the first half is read. Frames are windowed again, added, and divided
// by the sum of the squares of windows. Where that is 0, a sample is NaN or infinite; PyTorch refuses
// the window then. It panics with tensor.ErrShape if a spectrum has not as many numbers as a frame of
// size samples, and otherwise as STFT does.
//
// Gradients: those of the inverse transforms, and of the window.
//
// Source: Griffin, Lim, "Signal Estimation from Modified Short-Time Fourier Transform", 1984.
func ISTFT(x *autograd.Node, size int, options ...STFTOptions) *autograd.Node {
	const op = "ISTFT"
	complexAxis(op, x, -1)
	o, window := optional(op, x, options).check(op, x, size)
	rank := x.Value().Rank()
	want := size/2 + 1
	if o.TwoSided {
		want = size
	}
	if rank < 3 || x.Shape()[rank-3] != want || x.Shape()[rank-2] == 0 {
		misuse(op, tensor.ErrShape, fmt.Sprintf("spectra of frames of %d samples are [..., %d, frames, 2]", size, want), x)
	}
	x = x.MoveDim(rank-2, rank-3) // [..., frames, numbers, 2]
	frames := IRFFT(x, -1, Options{N: size, Norm: o.norm()})
	count := x.Shape()[rank-3]
	total := size + o.Hop*(count-1)
	weight := window
	if window == nil {
		weight = autograd.Const(tensor.FullOf(x.Device(), x.Type(), 1, size))
	} else {
		frames = frames.Mul(window)
	}
	y := overlapped(frames, o.Hop, total)
	squares := overlapped(weight.Square().Expand(count, size), o.Hop, total)
	from, to := 0, total
	if !o.NotCentered {
		from, to = size/2, total-size/2
	}
	if o.Length > 0 {
		to = from + o.Length
	}
	end := min(to, total)
	if end < from {
		misuse(op, tensor.ErrShape, fmt.Sprintf("%d frames have no samples but padding: set NotCentered", count), x)
	}
	y = y.Slice(-1, from, end).Div(squares.Slice(-1, from, end))
	if to > end {
		y = y.Pad([][2]int{{0, to - end}})
	}
	return y
}

// overlapped adds frames [..., count, size], one hop after the other, to signals of total samples.
func overlapped(frames *autograd.Node, hop, total int) *autograd.Node {
	shape := frames.Shape()
	count, size := shape[len(shape)-2], shape[len(shape)-1]
	places := make([]int32, 0, count*size)
	for t := range count {
		for i := range size {
			places = append(places, int32(t*hop+i))
		}
	}
	index := tensor.New(frames.Device(), places)
	lead := shape[:len(shape)-2]
	zeros := tensor.ZerosOf(frames.Device(), frames.Type(), append(lead[:len(lead):len(lead)], total)...)
	return autograd.Const(zeros).IndexAdd(-1, index, frames.Flatten(-2, -1))
}
