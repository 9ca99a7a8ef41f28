package ops

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// WinogradKernels are the passes of convolutions of two axes and R×R taps on CPUs: see winograd.cl for the
// formulas and the sources. What is read has `read` channels and what is written `written`: X and
// Y, or with the transposed convolution Y and X.
type WinogradKernels struct {
	// Weights makes the transform U [WinogradPlanes, read, WinogradWhole(written)] of W: W, U,
	// written, read, the distances in W of two channels of each, and reversed (0 or 1).
	Weights *kernels.Kernel
	// Output is Y from X and U: X, U, W, BIAS, Y, the numbers of WinogradShape, those of its Block,
	// biased (0 or 1), and the last three of Weights. If biased is 0, BIAS is any buffer.
	Output *kernels.Kernel
	// Gradient makes shares of the gradient by U, D [shares, WinogradPlanes, written,
	// WinogradWhole(read)]: X, the gradient of Y, D, images, the numbers of WinogradShape, and
	// those of its Block.
	Gradient *kernels.Kernel
	// WeightsGrad makes the gradient of W of the sum of the shares: D, W, written, read.
	WeightsGrad *kernels.Kernel
}

// What tiles are made of: an axis of a tile has winogradValues values, of which 7 − R are outputs
// of R taps, and a tile a plane for each pair.
const (
	winogradValues = 6
	WinogradPlanes = winogradValues * winogradValues
)

// What a work-item has room for: TILES, PIXELS and PLANES of winograd.cl.
const (
	winogradTiles  = 52
	winogradPixels = 57344
	winogradPlanes = WinogradPlanes * winogradTiles * 64
)

// WinogradWhole is the number of channels that planes have room for: they are computed in vectors
// of 16.
func WinogradWhole(channels int) int { return intmath.RoundUp(channels, 16) }

// WinogradShape is the numbers of a convolution: Y [Images, Written, OutH, OutW] of X [Images,
// Read, H, W].
type WinogradShape struct {
	Images, Read, Written  int
	H, W, OutH, OutW, PadY int
	PadX, taps             int
}

// Winograd returns the numbers of the convolution, or of the transposed one, whose taps are in
// reverse order and its padding more or less.
func (s *ConvShape) Winograd(transposed bool) WinogradShape {
	n := WinogradShape{Images: s.Batch, Read: s.In, Written: s.Out, H: s.Size[1], W: s.Size[2], OutH: s.OutSize[1], OutW: s.OutSize[2],
		PadY: s.Pad[1], PadX: s.Pad[2], taps: s.Kernel[2]}
	if transposed {
		n.Read, n.Written, n.H, n.W, n.OutH, n.OutW = n.Written, n.Read, n.OutH, n.OutW, n.H, n.W
		n.PadY, n.PadX = n.taps-1-n.PadY, n.taps-1-n.PadX
	}
	return n
}

// Args appends the numbers to the arguments of a launch.
func (n *WinogradShape) Args(args []kernels.Arg) []kernels.Arg {
	return append(args, kernels.IntArg(n.Read), kernels.IntArg(n.Written), kernels.IntArg(n.H), kernels.IntArg(n.W), kernels.IntArg(n.OutH), kernels.IntArg(n.OutW),
		kernels.IntArg(n.PadY), kernels.IntArg(n.PadX))
}

var winogradNames = []string{"read", "written", "h", "w", "oh", "ow", "pad_y", "pad_x"}

func winogradShapeOf(taps int, args []kernels.Arg) *WinogradShape {
	at := func(i int) int { return int(args[i].Int) }
	return &WinogradShape{0, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), taps}
}

// outputs returns how many an axis of a tile has.
func (n *WinogradShape) outputs() int { return winogradValues + 1 - n.taps }

// tiles returns how many rows and columns of tiles an image has.
func (n *WinogradShape) tiles() (rows, cols int) {
	return intmath.CeilDiv(n.OutH, n.outputs()), intmath.CeilDiv(n.OutW, n.outputs())
}

// Block chooses the rows×cols tiles that a work-item has at a time: as many as there is room for,
// in blocks of one size. Those of the gradient have planes of what is written, too. There is none
// for so many channels that a block is not worth its weights.
func (n *WinogradShape) Block(gradient bool) (rows, cols int, ok bool) {
	const least = 12
	channels := WinogradWhole(n.Read)
	if gradient {
		channels = max(channels, WinogradWhole(n.Written))
	}
	most := min(winogradTiles, winogradPlanes/(WinogradPlanes*channels)/4*4)
	fits := func(rows, cols int) bool {
		m := n.outputs()
		return rows*cols <= most && (rows*m+n.taps-1)*(cols*m+n.taps-1)*channels <= winogradPixels
	}
	high, wide := n.tiles()
	for cols = wide; cols > 1 && !fits(1, cols); {
		cols = intmath.CeilDiv(cols, 2)
	}
	for rows = high; rows > 1 && !fits(rows, cols); {
		rows--
	}
	rows = intmath.CeilDiv(high, intmath.CeilDiv(high, rows))
	return rows, cols, fits(rows, cols) && rows*cols >= min(least, high*wide)
}

// FitsWinograd reports whether a convolution, its transpose and the gradient of its weights are to
// be computed so on a device: one of 3×3 or 5×5 taps, of channels that fill vectors, on an OpenCL
// CPU. Of more weights than that, their planes fit in no cache: docs/benchmarks/winograd.md has
// what was measured.
func (s *ConvShape) FitsWinograd(l kernels.Target) bool {
	const channels, most = 12, 1 << 16 // channels, and pairs of channels
	one := [3]int{1, 1, 1}
	taps := s.Kernel[2]
	if !l.CPU || l.LocalMem == 0 || s.Groups != 1 || s.Stride != one || s.Dilation != one || s.Size[0] != 1 || s.OutSize[0] != 1 ||
		s.Kernel[0] != 1 || s.Pad[0] != 0 || s.Kernel[1] != taps || taps != 3 && taps != 5 || min(s.In, s.Out) < channels || s.In*s.Out >= most {
		return false
	}
	for transposed := range 2 {
		n := s.Winograd(transposed == 1)
		rows, cols := n.tiles()
		_, _, output := n.Block(false)
		_, _, gradient := n.Block(true)
		if whole := rows * cols * n.outputs() * n.outputs(); !output || !gradient || whole < 36 || 4*n.OutH*n.OutW < 3*whole {
			return false
		}
	}
	return true
}

// blocks returns how many blocks of rows×cols tiles all images have.
func (n *WinogradShape) blocks(rows, cols int) int {
	high, wide := n.tiles()
	return n.Images * intmath.CeilDiv(high, rows) * intmath.CeilDiv(wide, cols)
}

// Partials returns in how many shares the gradient of the weights is computed, of blocks of
// rows×cols tiles.
func (n *WinogradShape) Partials(rows, cols int, l kernels.Target) int {
	return max(1, min(n.blocks(rows, cols), 2*l.Units))
}

// winograds are the kernels by their taps.
var winograds = map[int]func() *WinogradKernels{3: sync.OnceValue(func() *WinogradKernels { return newWinograd(3) }),
	5: sync.OnceValue(func() *WinogradKernels { return newWinograd(5) })}

// Winograd returns the kernels for 3×3 or 5×5 taps.
func Winograd(taps int) *WinogradKernels { return winograds[taps]() }

func newWinograd(taps int) *WinogradKernels {
	kernel := func(name string, grid func(a []kernels.Arg) kernels.Grid, params []kernels.Param, numbers ...string) *kernels.Kernel {
		for _, n := range numbers {
			params = append(params, intArg(n))
		}
		return &kernels.Kernel{Name: "k_winograd" + name, File: "winograd.cl", Defines: fmt.Sprintf("-DR=%d", taps), Params: params,
			Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid { return grid(a) }}
	}
	at := func(a []kernels.Arg, i int) int { return int(a[i].Int) }
	k := &WinogradKernels{
		Weights: kernel("_weights", func(a []kernels.Arg) kernels.Grid { return kernels.Groups(intmath.CeilDiv(at(a, 2), 16), at(a, 3)) },
			[]kernels.Param{in("W"), out("U")}, "written", "read", "w_written", "w_read", "reversed"),
		Output: kernel("", func(a []kernels.Arg) kernels.Grid {
			n := winogradShapeOf(taps, a[5:])
			high, wide := n.tiles()
			return kernels.Grid{Dims: 3, Local: [3]int{1, 1, 1}, Global: [3]int{
				intmath.CeilDiv(wide, at(a, 14)), intmath.CeilDiv(high, at(a, 13)), a[4].N / max(1, n.Written*n.OutH*n.OutW)}}
		}, []kernels.Param{in("X"), in("U"), in("W"), in("BIAS"), out("Y")},
			append(winogradNames[:8:8], "block_rows", "block_cols", "biased", "w_written", "w_read", "reversed")...),
		Gradient: kernel("_gradient", func(a []kernels.Arg) kernels.Grid {
			n := winogradShapeOf(taps, a[4:])
			return kernels.Groups(a[2].N/max(1, WinogradPlanes*n.Written*WinogradWhole(n.Read)), 1)
		}, []kernels.Param{in("X"), in("G"), out("D")}, append(append([]string{"images"}, winogradNames...), "block_rows", "block_cols")...),
		WeightsGrad: kernel("_weights_grad", func(a []kernels.Arg) kernels.Grid { return kernels.Groups(intmath.CeilDiv(at(a, 3), 16), at(a, 2)) },
			[]kernels.Param{in("D"), out("W")}, "written", "read"),
	}
	w := winogradOf(taps)
	k.Weights.Host = kernels.HostKernel{F32: winogradWeightsHost[float32](w), F64: winogradWeightsHost[float64](w)}
	k.Output.Host = kernels.HostKernel{F32: winogradHost[float32](w), F64: winogradHost[float64](w)}
	k.Gradient.Host = kernels.HostKernel{F32: winogradGradientHost[float32](w), F64: winogradGradientHost[float64](w)}
	k.WeightsGrad.Host = kernels.HostKernel{F32: winogradWeightsGradHost[float32](w),
		F64: winogradWeightsGradHost[float64](w)}
	k.Weights.Tol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 { return w.taps.size() * kernels.MaxAbs(a, 0) }}
	k.Output.Tol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		return float64(a[5].Int)*w.input.size()*w.outputs.size()*kernels.MaxAbs(a, 0)*kernels.MaxAbs(a, 1) + float64(a[15].Int)*kernels.MaxAbs(a, 3)
	}}
	k.Gradient.Tol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		high, wide := winogradShapeOf(taps, a[4:]).tiles()
		return float64(int(a[3].Int)*high*wide) * w.input.size() * w.points.size() * kernels.MaxAbs(a, 0) * kernels.MaxAbs(a, 1)
	}}
	k.WeightsGrad.Tol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 { return w.sums.size() * kernels.MaxAbs(a, 0) }}
	k.winogradCases(taps)
	k.winogradTrials(taps)
	return k
}
