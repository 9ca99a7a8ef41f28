package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// ConvOptions are those of [Tensor.Conv]. Its lists have a number for each spatial axis, or one for
// all.
type ConvOptions struct {
	Stride     []int // positions of the input from one output to the next; nil: 1
	Padding    []int // zeros before and behind the input; nil: none
	PaddingEnd []int // zeros behind it, where they are another number; nil: Padding
	Dilation   []int // positions of the input from one weight to the next; nil: 1
	Groups     int   // parts of the channels that are convolved apart; 0: 1
}

// ConvTransposeOptions are those of [Tensor.ConvTranspose]. Its lists have a number for each
// spatial axis, or one for all.
type ConvTransposeOptions struct {
	Stride        []int // positions of the output from one input to the next; nil: 1
	Padding       []int // positions cut off both ends of the output; nil: none
	OutputPadding []int // positions more at the end of the output, below the stride or the dilation; nil: none
	Dilation      []int // positions of the output from one weight to the next; nil: 1
	Groups        int   // parts of the channels that are convolved apart; 0: 1
}

func (t *Tensor) conv(w, bias *Tensor, options ...ConvOptions) *Tensor {
	const op = "Conv"
	checkConv(op, t, w, bias)
	s := convShape(op, t, w, options)
	return api{}.Conv(op, &s.ConvShape, false, t, w, bias, s.result)
}

func (t *Tensor) convTranspose(w, bias *Tensor, options ...ConvTransposeOptions) *Tensor {
	const op = "ConvTranspose"
	checkConv(op, t, w, bias)
	s := convTransposeShape(op, t, w, options)
	return api{}.Conv(op, &s.ConvShape, true, t, w, bias, s.result)
}

// convolution is the numbers of a convolution, and the shape of its result.
type convolution struct {
	ops.ConvShape
	result []int
}

func checkConv(op string, t, w, bias *Tensor) {
	check(op, t, w)
	if bias != nil {
		check(op, t, bias)
	}
	if !higher(t.typ, w.typ).Float() {
		misuse(op, ErrType, "integers have no product here: convert one with To(tensor.Float32)", t, w)
	}
	mustBeConvShapes(op, t, w)
}

// mustBeConvShapes panics unless t and w have the ranks of an input and of weights.
func mustBeConvShapes(op string, t, w *Tensor) {
	if w.Rank() < 3 || w.Rank() > 5 {
		misuse(op, ErrShape, "weights have two axes of channels, and 1, 2 or 3 spatial axes", t, w)
	}
	if t.Rank() != w.Rank() && t.Rank() != w.Rank()-1 {
		misuse(op, ErrShape, fmt.Sprintf("with weights of %d spatial axes, the input has an axis of channels before these, and may have one of images before that", w.Rank()-2), t, w)
	}
}

// channelMistake says what is wrong with weights for an input of so many channels, its axis `axis`.
func channelMistake(channels, axis, groups int, w *Tensor) string {
	if groups > 1 {
		return fmt.Sprintf("in %d groups, the first axis of the weights is a multiple of %d, and the second %d times is "+
			"the number of channels", groups, groups, groups)
	}
	one := ""
	if axis == 0 {
		one = "; without an axis of images it is one image [channels, …]"
	}
	return fmt.Sprintf("the input has %d channels (axis %d), and the weights are for %d%s", channels, axis, w.shape[1], one)
}

// convShape works out a convolution of t with w, which checkConv has checked.
func convShape(op string, t, w *Tensor, options []ConvOptions) convolution {
	o := only(op, options)
	axes := w.Rank() - 2
	lead := t.Rank() - axes - 1 // axes before the channels
	var s convolution
	s.Stride, s.Dilation = perAxis(op, "Stride", o.Stride, axes, 1, 1), perAxis(op, "Dilation", o.Dilation, axes, 1, 1)
	s.Pad = perAxis(op, "Padding", o.Padding, axes, 0, 0)
	end := s.Pad
	if o.PaddingEnd != nil {
		end = perAxis(op, "PaddingEnd", o.PaddingEnd, axes, 0, 0)
	}
	s.Groups = groups(op, o.Groups)
	channels := t.shape[lead]
	if channels != w.shape[1]*s.Groups || w.shape[0]%s.Groups != 0 {
		misuse(op, ErrShape, channelMistake(channels, lead, s.Groups, w), t, w)
	}
	s.Batch, s.In, s.Out = intmath.Product(t.shape[:lead]), w.shape[1], w.shape[0]/s.Groups
	s.result = append(slices.Clone(t.shape[:lead]), w.shape[0])
	s.Size, s.Kernel, s.OutSize = spatial(t.shape[lead+1:]), spatial(w.shape[2:]), [3]int{1, 1, 1}
	for a := 3 - axes; a < 3; a++ {
		padded := s.Size[a] + s.Pad[a] + end[a]
		reach := s.Dilation[a]*(s.Kernel[a]-1) + 1
		if s.Kernel[a] < 1 || reach > padded {
			misuse(op, ErrShape, fmt.Sprintf("along axis %d, weights reach over %d positions, and the input has %d with its padding", t.Rank()-3+a, reach, padded), t, w)
		}
		s.OutSize[a] = (padded-reach)/s.Stride[a] + 1
		s.result = append(s.result, s.OutSize[a])
	}
	s.settle(op, t, w)
	return s
}

// convTransposeShape works out a transposed convolution of t with w, which checkConv has checked:
// its input is the result of the convolution, its result is the input.
func convTransposeShape(op string, t, w *Tensor, options []ConvTransposeOptions) convolution {
	o := only(op, options)
	axes := w.Rank() - 2
	lead := t.Rank() - axes - 1
	var s convolution
	s.Stride, s.Dilation = perAxis(op, "Stride", o.Stride, axes, 1, 1), perAxis(op, "Dilation", o.Dilation, axes, 1, 1)
	s.Pad = perAxis(op, "Padding", o.Padding, axes, 0, 0)
	more := perAxis(op, "OutputPadding", o.OutputPadding, axes, 0, 0)
	s.Groups = groups(op, o.Groups)
	if t.shape[lead] != w.shape[0] || w.shape[0]%s.Groups != 0 {
		misuse(op, ErrShape, fmt.Sprintf("the first axis of the weights is the number of channels, a multiple of %d groups", s.Groups), t, w)
	}
	s.Batch, s.In, s.Out = intmath.Product(t.shape[:lead]), w.shape[1], w.shape[0]/s.Groups
	s.result = append(slices.Clone(t.shape[:lead]), w.shape[1]*s.Groups)
	s.OutSize, s.Kernel, s.Size = spatial(t.shape[lead+1:]), spatial(w.shape[2:]), [3]int{1, 1, 1}
	for a := 3 - axes; a < 3; a++ {
		if most := max(s.Stride[a], s.Dilation[a]); more[a] >= most {
			panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("an OutputPadding of %d is below the stride or the dilation, %d", more[a], most)})
		}
		s.Size[a] = (s.OutSize[a]-1)*s.Stride[a] - 2*s.Pad[a] + s.Dilation[a]*(s.Kernel[a]-1) + more[a] + 1
		if s.Kernel[a] < 1 || s.OutSize[a] < 1 || s.Size[a] < 1 {
			misuse(op, ErrShape, fmt.Sprintf("the result would have size %d along axis %d", s.Size[a], t.Rank()-3+a), t, w)
		}
		s.result = append(s.result, s.Size[a])
	}
	s.settle(op, t, w)
	return s
}

// settle checks that kernels can count the positions, and sets a stride of which there is no second
// position to 1.
func (s *convolution) settle(op string, t, w *Tensor) {
	for a := range s.Stride {
		if s.OutSize[a] == 1 {
			s.Stride[a] = 1
		}
		const most = math.MaxInt32 / 4
		if s.Size[a] > most || s.Pad[a] > most || s.OutSize[a] > most/s.Stride[a] {
			misuse(op, ErrShape, fmt.Sprintf("a padded axis has more than %d positions", most), t, w)
		}
		if s.Kernel[a] == 1 {
			s.Dilation[a] = 1
		}
	}
}

// only returns the options of a call, which are given once or not at all.
func only[O any](op string, options []O) (o O) {
	if len(options) > 1 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "options are given once"})
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o
}

func groups(op string, n int) int {
	if n < 0 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("%d groups: there are 1 or more", n)})
	}
	return max(n, 1)
}

// perAxis returns a number for each of the last axes of three, and `other` for those before, or for
// all if none is given.
func perAxis(op, name string, v []int, axes, other, least int) [3]int {
	all := [3]int{other, other, other}
	if v == nil {
		return all
	}
	if len(v) != axes && len(v) != 1 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("%s has %d numbers: there is one for all axes, or one for each of %d", name, len(v), axes)})
	}
	for i := range axes {
		n := v[min(i, len(v)-1)]
		if n < least || n > math.MaxInt32/4 {
			panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("%s is %d: it is at least %d, and at most %d", name, n, least, math.MaxInt32/4)})
		}
		all[3-axes+i] = n
	}
	return all
}

// spatial returns the sizes of the last axes of three; the others are 1.
func spatial(shape []int) [3]int {
	all := [3]int{1, 1, 1}
	copy(all[3-len(shape):], shape)
	return all
}

func (api) Conv(op string, s *ops.ConvShape, transposed bool, x, w, bias *Tensor, shape []int) *Tensor {
	d := x.Device()
	written, read := s.Groups*s.Out, s.In
	if transposed {
		written, read = s.Groups*s.In, s.Out
	}
	if bias != nil && (bias.Rank() != 1 || bias.shape[0] != written) {
		misuse(op, ErrShape, fmt.Sprintf("the bias has one element for each of %d channels", written), x, w, bias)
	}
	typ := kept(floats(x, w, bias), x, w, bias)
	of := typ // of the result
	if !s.StoresHalves(transposed, d.Target()) {
		of = typ.Computed()
	}
	y := alloc(op, d, of, shape)
	if y.Len() == 0 {
		return y
	}
	if x.Len() == 0 || read == 0 {
		y.zero()
		if bias != nil {
			column := bias.Reshape(append([]int{written}, make1(w.Rank()-2)...)...)
			y.MapInPlace(fn.Add, nil, column)
			column.Free()
		}
		return y
	}
	cx, cw := x.dense(typ), w.dense(typ)
	defer cx.release()
	defer cw.release()
	b := noBias(cx.Tensor)
	if bias != nil {
		cb := bias.dense(typ)
		defer cb.release()
		b = cb.arg()
	}
	if s.FitsWinograd(d.Target()) {
		winograd(op, s, transposed, cx.Tensor, cw.Tensor, b, bias != nil, y)
		return y
	}
	if m := s.MatrixUnits(transposed, typ.Computed(), matrixTarget(d)); hasUnits(d, m.Tile.Inner) {
		convMatrix(op, m, s, transposed, cx.Tensor, cw.Tensor, b, bias != nil, y)
		return y
	}
	convTiles(s, transposed, cx.Tensor, cw.Tensor, b, bias != nil, y)
	return y
}

// noBias returns the argument of a convolution that has none: any buffer, and no element of it, for the kernel does not
// read it.
func noBias(x *Tensor) kernels.Arg {
	b := x.arg()
	b.N = 0
	return b
}

// convTiles sets y to a convolution of contiguous tensors by the kernels that add up products of x and w as they are.
func convTiles(s *ops.ConvShape, transposed bool, x, w *Tensor, bias kernels.Arg, biased bool, y *Tensor) {
	d := x.Device()
	if d.Target().CPU {
		flat := s.Flat()
		s = &flat
	}
	list := d.core().list()
	rows, cols, _ := s.ConvBlock(transposed, d.Target())
	args := s.Args(append(list.args, x.arg(), w.arg(), bias, y.arg()))
	args = append(args, kernels.FlagArg(transposed), kernels.FlagArg(biased), kernels.IntArg(rows), kernels.IntArg(cols))
	list.launchTyped(d, s.ConvKernel(transposed, y.typ.Computed(), d.Target()), args)
}

// make1 returns a shape of ones.
func make1(n int) []int { return slices.Repeat([]int{1}, n) }

func (api) ConvWeightInto(y, bias *Tensor, s *ops.ConvShape, x, g *Tensor) {
	const op = "ConvWeight"
	d := x.Device()
	if y.Len() == 0 || x.Len() == 0 || g.Len() == 0 {
		y.zero()
		return
	}
	typ := y.typ.Computed()
	of := kept(typ, x, g)
	cx, cg := x.dense(of), g.dense(of)
	defer cx.release()
	defer cg.release()
	if s.FitsWinograd(d.Target()) {
		winogradGradient(op, s, cx.Tensor, cg.Tensor, y)
		if bias != nil {
			planes := api{}.SumLast(cg.Tensor, y.Rank()-2)
			sumAxis(bias, planes, 1, planes.Len()/bias.Len(), bias.Len(), 1, false)
			planes.Free()
		}
		return
	}
	m := s.MatrixUnitsWeight(typ, matrixTarget(d))
	slice := s.ConvSlice(d.Target())
	if !hasUnits(d, m.Tile.Inner) {
		m = ops.ConvMatrix{}
	} else {
		slice = m.Slice(s, d.Target())
	}
	slices := (s.Rows() + slice - 1) / slice
	weights := y.Len() / (s.Groups * s.Out)
	biased := 0
	to := y.arg() // any buffer, and no element of it
	to.N = 0
	if bias != nil {
		biased, to = 1, bias.arg()
	}
	parts := y
	if slices > 1 || s.Out > 1 || biased > 0 || y.typ.Half() {
		parts = alloc(op, d, typ, []int{slices, s.Groups, weights + biased, s.Out})
		defer parts.Free()
	}
	list := d.core().list()
	args := append(s.Args(append(list.args, cx.arg(), cg.arg(), parts.arg())), kernels.IntArg(slice), kernels.IntArg(biased))
	if m == (ops.ConvMatrix{}) {
		list.launchTyped(d, s.WeightKernel(typ, d.Target()), args)
	} else {
		convMatrixWeight(op, m, s, cx.Tensor, cg.Tensor, list, args)
	}
	switch {
	case slices > 1 && (s.Out > 1 || biased > 0), slices == 1 && y.typ.Half():
		launchTyped(d, ops.ConvParts, parts.arg(), y.arg(), to, kernels.IntArg(slices), kernels.IntArg(s.Groups), kernels.IntArg(weights), kernels.IntArg(s.Out), kernels.IntArg(biased))
	case slices > 1:
		sumAxis(y, parts, 1, slices, y.Len(), 1, false)
	case parts != y:
		turn := func(to, from *Tensor) {
			copyTo(to, from)
			to.Free()
			from.Free()
		}
		rows := weights + biased
		turn(y.view([]int{s.Groups, s.Out, weights}, []int{s.Out * weights, weights, 1}, y.off),
			parts.view([]int{s.Groups, s.Out, weights}, []int{rows * s.Out, 1, s.Out}, parts.off))
		if bias != nil {
			turn(bias.view([]int{s.Groups, s.Out}, []int{s.Out, 1}, bias.off), parts.view([]int{s.Groups, s.Out}, []int{rows * s.Out, 1}, parts.off+weights*s.Out))
		}
	}
}

func (api) ConvShape(x, w, bias *Tensor, options []ConvOptions) (*ops.ConvShape, []int) {
	checkConv("Conv", x, w, bias)
	s := convShape("Conv", x, w, options)
	return &s.ConvShape, s.result
}

func (api) ConvTransposeShape(x, w, bias *Tensor, options []ConvTransposeOptions) (*ops.ConvShape, []int) {
	checkConv("ConvTranspose", x, w, bias)
	s := convTransposeShape("ConvTranspose", x, w, options)
	return &s.ConvShape, s.result
}
