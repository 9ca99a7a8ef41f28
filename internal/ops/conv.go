package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// ConvShape is the numbers of a convolution of 1, 2 or 3 axes, which joins X [Batch, Groups·In,
// Size…], W [Groups·Out, In, Kernel…] and Y [Batch, Groups·Out, OutSize…]. Along each axis,
// position q of Y meets tap r of W at position q·Stride − Pad + r·Dilation of X, where positions
// outside of X hold 0. With fewer axes, the first have size 1. Three kernels compute each of the
// three from the others, and their gradients are such kernels again.
type ConvShape struct {
	Batch, Groups, In, Out                       int // channels In and Out are those of a group
	Size, OutSize, Kernel, Stride, Dilation, Pad [3]int
}

// Where the arguments of a convolution are: its operands, then the numbers of its shape.
const (
	convX = iota
	convW
	convBias
	convY
	convNumbers
	convTransposed = convNumbers + convCount
	convBiased     = convTransposed + 1
	convRows       = convTransposed + 2
	convCols       = convTransposed + 3

	convWeightX       = 0
	convWeightG       = 1
	convWeightD       = 2
	convWeightNumbers = 3
	convWeightSlice   = convWeightNumbers + convCount
	convWeightBiased  = convWeightSlice + 1

	convCount = 22
)

var convNames = []string{"batch", "groups", "ci", "co", "iz", "iy", "ix", "oz", "oy", "ox", "kz", "ky", "kx",
	"sz", "sy", "sx", "dz", "dy", "dx", "pz", "py", "px"}

// Args appends the numbers of the shape to the arguments of a launch.
func (s *ConvShape) Args(args []kernels.Arg) []kernels.Arg {
	args = append(args, kernels.IntArg(s.Batch), kernels.IntArg(s.Groups), kernels.IntArg(s.In), kernels.IntArg(s.Out))
	for _, v := range [...]*[3]int{&s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad} {
		args = append(args, kernels.IntArg(v[0]), kernels.IntArg(v[1]), kernels.IntArg(v[2]))
	}
	return args
}

// convShapeOf reads the numbers of a shape from the arguments of a launch.
func convShapeOf(args []kernels.Arg, from int) *ConvShape {
	at := func(i int) int { return int(args[from+i].Int) }
	s := &ConvShape{Batch: at(0), Groups: at(1), In: at(2), Out: at(3)}
	for k, v := range [...]*[3]int{&s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad} {
		for a := range v {
			v[a] = at(4 + 3*k + a)
		}
	}
	return s
}

// Flat returns the same convolution with its positions in as few and as long rows as there can be: axes of which each
// position of Y meets that of X alone become one, and those of one position lie before the others.
//
//	pictures [C, 10, 20], taps [1, 1]  become  rows [C, 200], a tap [1]
//	columns [C, 508, 1], taps [5, 1]   become  rows [C, 508], taps [5]
func (s *ConvShape) Flat() ConvShape {
	f := *s
	plain := func(a int) bool {
		return f.Kernel[a] == 1 && f.Stride[a] == 1 && f.Pad[a] == 0 && f.Size[a] == f.OutSize[a]
	}
	for _, a := range []int{1, 2, 1} { // joins axis a with the one before it
		b := a - 1
		switch {
		case plain(a) && plain(b):
			f.Size[a] *= f.Size[b]
			f.OutSize[a] = f.Size[a]
		case plain(a) && f.Size[a] == 1:
			for _, v := range [...]*[3]int{&f.Size, &f.OutSize, &f.Kernel, &f.Stride, &f.Dilation, &f.Pad} {
				v[a] = v[b]
			}
		default:
			continue
		}
		f.Size[b], f.OutSize[b], f.Kernel[b], f.Stride[b], f.Dilation[b], f.Pad[b] = 1, 1, 1, 1, 1, 0
	}
	return f
}

func volume(v [3]int) int { return v[0] * v[1] * v[2] }

// weights returns the elements of W for one output channel.
func (s *ConvShape) weights() int { return s.In * volume(s.Kernel) }

// Rows returns the rows of Y of one channel, those of all images.
func (s *ConvShape) Rows() int { return s.Batch * s.OutSize[0] * s.OutSize[1] }

// Products returns the multiplications of one image.
func (s *ConvShape) Products() int { return s.Groups * s.Out * s.weights() * volume(s.OutSize) }

// convAxis is what is summed up along one axis for an output, as axis of convolution.cl.
type convAxis struct {
	count, spread, first int
	taps, r, rstep       int
	stride, shift, step  int
}

func (s *ConvShape) forward(a int) convAxis {
	return convAxis{s.OutSize[a], 1, 0, s.Kernel[a], 0, 1, s.Stride[a], -s.Pad[a], s.Dilation[a]}
}

func (s *ConvShape) backward(a, phase int) convAxis {
	k, stride, dilation, p := s.Kernel[a], s.Stride[a], s.Dilation[a], s.Pad[a]
	rstep, rest := stride, dilation
	for rest != 0 {
		rstep, rest = rest, rstep%rest
	}
	rstep = stride / rstep
	r := 0
	for r < min(k, rstep) && (phase+p-r*dilation)%stride != 0 {
		r++
	}
	taps := 0
	if r < min(k, rstep) {
		taps = intmath.CeilDiv(k-r, rstep)
	}
	return convAxis{intmath.CeilDiv(s.Size[a]-phase, stride), stride, phase, taps, r, rstep, 1,
		(phase + p - r*dilation) / stride, -(rstep * dilation / stride)}
}

// axes returns those of Y, or of a phase of X.
func (s *ConvShape) axes(transposed bool, phase int) (z, y, x convAxis) {
	if !transposed {
		return s.forward(0), s.forward(1), s.forward(2)
	}
	t := s.Stride
	return s.backward(0, phase/(t[1]*t[2])), s.backward(1, phase/t[2]%t[1]), s.backward(2, phase%t[2])
}

// largest returns an axis of Y, or of the phase of X that has the most taps, with the positions of
// that which has the most.
func (s *ConvShape) largest(transposed bool, a int) convAxis {
	if !transposed {
		return s.forward(a)
	}
	axis := s.backward(a, 0)
	axis.taps = intmath.CeilDiv(s.Kernel[a], axis.rstep)
	return axis
}

// phases returns how many sets of taps the positions of Y, or of X, have.
func (s *ConvShape) phases(transposed bool) int {
	if transposed {
		return volume(s.Stride)
	}
	return 1
}

// Whether work-items of a CPU compute a shape: PLANES and TAPS of conv_cpu.cl.
const (
	convPlanes = 81920
	convTaps   = 4096
	convPixels = 256

	convVectors = 32 // positions that a work-item computes at a time: WIDE vectors of conv_cpu.cl
)

// planes returns how many elements the planes of a channel have at most, for one tap of the first
// axis and rows×cols positions of a number of channels: block_of of conv_cpu.cl.
func planes(y, x convAxis, rows, cols, written int) int {
	rows, cols = min(rows, y.count), min(cols, x.count)
	span := func(a convAxis) int { return max(a.step, -a.step) * max(a.taps-1, 0) }
	tall := min(y.stride, span(y)+1) * (rows + span(y)/y.stride)
	between := span(x) / x.stride
	joined := tall * min(x.stride, span(x)+1) * (cols + between)
	if written >= 16 && 8*between >= cols { // a phase with a column less has the planes apart
		return max(joined, tall*x.taps*cols)
	}
	return joined
}

// ConvBlock chooses the rows×cols positions that one work-item of a CPU computes: few enough that
// the planes of all channels fit, if that is possible, and so many that reading them is a small
// part of the work. ok is false if a single row does not fit.
func (s *ConvShape) ConvBlock(transposed bool, l kernels.Target) (rows, cols int, ok bool) {
	const most, least = 1024, 128 // positions
	read, written := s.In, s.Out
	if transposed {
		read, written = written, read
	}
	z, y, x := s.largest(transposed, 0), s.largest(transposed, 1), s.largest(transposed, 2)
	measure := func(rows, cols int) int { return z.taps * planes(y, x, rows, cols, written) }
	for cols = min(x.count, most); measure(1, cols) > convPlanes && cols > 1; {
		cols = intmath.CeilDiv(cols, 2)
	}
	if measure(1, cols) > convPlanes || z.taps*y.taps*x.taps > convTaps {
		return 1, 1, false
	}
	tall := y.count
	rows = min(tall, max(1, most/max(cols, 1)))
	for rows > 1 && measure(rows, cols)*read > convPlanes && (rows-1)*cols >= least {
		rows--
	}
	for rows > 1 && measure(rows, cols) > convPlanes {
		rows--
	}
	apart := s.Batch * s.Groups * s.phases(transposed)
	for rows > 1 && apart*intmath.CeilDiv(tall, rows) < 4*l.Units && (rows-1)*cols >= least {
		rows = intmath.CeilDiv(rows, 2)
	}
	rows = intmath.CeilDiv(tall, intmath.CeilDiv(tall, max(rows, 1)))
	// A single row is parted, too.
	wide := cols
	for rows == 1 && cols >= 2*least && (measure(1, cols)*read > convPlanes || apart*tall*intmath.CeilDiv(x.count, cols) < 4*l.Units) {
		cols = intmath.CeilDiv(cols, 2)
	}
	if cols < wide {
		cols = intmath.CeilDiv(cols, convVectors) * convVectors
	}
	return rows, cols, true
}

// atOnce reports whether the planes of all channels fit at once, for rows×cols positions.
func (s *ConvShape) atOnce(transposed bool, rows, cols int) bool {
	read, written := s.In, s.Out
	if transposed {
		read, written = written, read
	}
	z, y, x := s.largest(transposed, 0), s.largest(transposed, 1), s.largest(transposed, 2)
	return read*z.taps*planes(y, x, rows, cols, written) <= convPlanes && read*z.taps*y.taps*x.taps <= convTaps
}

// StoresHalves reports whether the launch that stores results of 16 bits rounds sums once: not an OpenCL CPU's where the planes
// of all channels do not fit at once, for then sums are added up in Y.
func (s *ConvShape) StoresHalves(transposed bool, l kernels.Target) bool {
	if !l.CPU || l.LocalMem == 0 || s.depthwise(transposed) || s.FitsWinograd(l) {
		return true
	}
	rows, cols, ok := s.ConvBlock(transposed, l)
	return !ok || s.atOnce(transposed, rows, cols)
}

// fitsWeight reports whether the planes of a channel fit while gradients of weights are computed.
func (s *ConvShape) fitsWeight() bool {
	cols := min(s.OutSize[2], convPixels)
	rows := max(1, convPixels/max(cols, 1))
	return planes(s.forward(1), s.forward(2), rows, cols, 0) <= convPlanes && s.Kernel[1]*s.Kernel[2] <= convTaps
}

// ConvSlice chooses how many rows of Y are summed up to one part of the gradient of the weights:
// all, unless the weights alone would leave units idle. It does not depend on the tile, so that
// tuning changes no result.
func (s *ConvShape) ConvSlice(l kernels.Target) int {
	rows := max(s.Rows(), 1)
	if l.CPU {
		slices := max(1, 2*l.Units/s.Groups)
		return intmath.CeilDiv(rows, min(slices, rows))
	}
	const short = 128 // positions: a slice of less is not worth the part that it writes
	tile := s.weightTile(kernels.Float32)
	tiles := s.Groups * intmath.CeilDiv(s.Out, tile.N) * intmath.CeilDiv(s.weights(), tile.M)
	if s.few(s.Out) {
		tiles = s.Groups * s.Out * s.weights()
	}
	slices := max(1, min(4*l.Units/max(tiles, 1), rows*s.OutSize[2]/short, rows))
	return intmath.CeilDiv(rows, slices)
}

// few reports whether so few channels of a group are computed that a tile of them is not worth it.
func (s *ConvShape) few(channels int) bool { return channels < 8 }

// ConvKernel returns the kernel for Y from X and W, or with transposed for X from Y and W.
// Arguments: what is read, W, BIAS, what is written, the numbers of the shape, transposed and
// biased (0 or 1), and rows and cols, which are ConvBlock's. If biased is 0, BIAS is any buffer.
func (s *ConvShape) ConvKernel(transposed bool, t kernels.DType, l kernels.Target) *kernels.Kernel {
	read, written, positions := s.In, s.Out, s.Batch*volume(s.OutSize)
	if transposed {
		read, written, positions = s.Out, s.In, s.Batch*volume(s.Size)
	}
	if l.CPU {
		if s.depthwise(transposed) {
			return ConvDepthwise
		}
		if _, _, ok := s.ConvBlock(transposed, l); !ok {
			return ConvDirect
		}
		return Conv(GemmTile{}, 1, false)
	}
	sum := read * volume(s.Kernel)
	if s.few(written) {
		return s.ConvFew(transposed)
	}
	if sum >= convSteps {
		return ConvDirect
	}
	tile, split := convTile(written, positions, sum, t)
	return Conv(tile, split, s.far())
}

// WeightKernel returns the kernel for the parts of the gradient of the weights. Arguments: X, the
// gradient of Y, the parts [slices, Groups, In·Kernel… + biased, Out], the numbers of the shape,
// slice, which is ConvSlice's, and biased, 1 for the gradient of the bias behind those of the
// weights, else 0.
func (s *ConvShape) WeightKernel(t kernels.DType, l kernels.Target) *kernels.Kernel {
	switch {
	case l.CPU && s.fitsWeight():
		return ConvWeight(GemmTile{}, false)
	case l.CPU || s.few(s.Out):
		return ConvWeightDirect
	}
	return ConvWeight(s.weightTile(t), s.far())
}

// far reports whether the axes have more taps than conv_gpu.cl has bits for.
func (s *ConvShape) far() bool { return s.Kernel[0]+s.Kernel[1]+s.Kernel[2] > 31 }

// convSteps bounds the sum of a tile: what conv_gpu.cl divides by multiplying.
const convSteps = 1 << 21

// Tiles of convolutions: of many rows and columns, of few rows, of these and long sums, of few
// columns, and of weights. They were the fastest on an H200.
var (
	convSquare = GemmTile{64, 64, 16, 8, 4, FMA}
	convWide   = GemmTile{32, 64, 16, 8, 4, FMA}
	convLong   = GemmTile{32, 64, 32, 8, 4, FMA} // whose elements two work-items share
	convSmall  = GemmTile{32, 32, 16, 4, 4, FMA}
	convFlat   = GemmTile{64, 64, 8, 8, 4, FMA}
	convDouble = GemmTile{64, 64, 16, 4, 4, FMA} // in float64
)

// convFew is how many rows or columns are few.
const convFew = 32

// convTile returns the tile of an output of so many channels and positions, and how many work-items
// share a sum of so many steps.
func convTile(written, positions, steps int, t kernels.DType) (tile GemmTile, split int) {
	const long = 256
	switch {
	case positions <= convFew:
		return convSmall, 1
	case written <= convFew && steps >= long && t == kernels.Float32:
		return convLong, 2
	case written <= convFew:
		return convWide, 1
	case t == kernels.Float64:
		return convDouble, 1
	}
	return convSquare, 1
}

// weightTile returns the tile of the gradient of the weights.
func (s *ConvShape) weightTile(t kernels.DType) GemmTile {
	switch {
	case s.Out <= convFew:
		return convSmall
	case t == kernels.Float64:
		return convDouble
	}
	return convFlat
}

// convolutions returns the kernels of convolutions: those in tiles once for a CPU, and for the
// smallest tile of a GPU.
func convolutions(t kernels.DType, l kernels.Target) []*kernels.Kernel {
	all := []*kernels.Kernel{ConvDirect, ConvWeightDirect, ConvParts,
		fewKernel(fewForm{1, 8, 3}), fewKernel(fewForm{2, 4, 0}), fewKernel(fewForm{4, 7, 2})}
	if l.CPU {
		return append(all, Conv(GemmTile{}, 1, false), ConvDepthwise, ConvWeight(GemmTile{}, false))
	}
	if t == kernels.Float32 {
		all = append(append(all, convsOnMatrixUnits()...), fused.Batch(ConvPack, 2))
	}
	return append(all, Conv(convSmall, 1, false), ConvWeight(convSmall, false), Conv(convWide, 1, true), ConvWeight(convSmall, true))
}
