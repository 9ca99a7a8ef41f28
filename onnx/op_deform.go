package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "DeformConv", Since: 19, Attributes: "dilations group kernel_shape offset_group pads strides",
			Run: deformConv, Shape: convShape(0, 1)},
		Operator{Name: "Col2Im", Since: 18, Attributes: "dilations pads strides", Run: col2im, Shape: col2imShape},
	)
}

// deformConv is a convolution that reads its input, for each weight and output, at an offset.
func deformConv(c *Call) []*Value {
	x, weights, bias := floatsOf(c, 0), c.Node(1), c.NodeOr(3)
	spatial := spatialOf(c, x)
	if weights.Rank() != x.Rank() {
		c.fail(tensor.ErrShape, "weights are %v for an input %v", weights.Shape(), x.Shape())
	}
	axes, shape := len(spatial), x.Shape()
	w := windowOf(c, spatial, weights.Shape()[2:])
	w.place(c, false)
	groups, sets := c.Int("group", 1), c.Int("offset_group", 1)
	if groups < 1 || sets < 1 || shape[1]%sets != 0 || shape[1] != weights.Shape()[1]*groups ||
		weights.Shape()[0]%groups != 0 {
		c.fail(tensor.ErrShape, "weights %v, %d groups and %d groups of offsets for an input %v", weights.Shape(),
			groups, sets, shape)
	}
	taps, points := 1, 1
	for a := range w.in {
		taps, points = taps*w.kernel[a], points*w.out[a]
	}
	offsets := inFloat32(c.Node(2))
	if !slices.Equal(offsets.Shape(), slices.Concat([]int{shape[0], sets * taps * axes}, w.out)) {
		c.fail(tensor.ErrShape, "offsets are %v for %d weights and outputs %v", offsets.Shape(), taps, w.out)
	}
	if taps*points*shape[0]*shape[1] == 0 {
		c.Fail("weights %v and an input %v without elements", weights.Shape(), shape)
	}
	offsets = offsets.Reshape(shape[0]*sets, taps, axes, points)
	at := make([]*autograd.Node, axes)
	for a, n := range spatial { // from −1 to 1, the last axis first
		place := offsets.Select(2, a).Add(weightsOf(c, w.positions(a), offsets.Type(), taps, points))
		at[axes-1-a] = place.MulScalar(2 / float64(n)).AddScalar(1/float64(n) - 1)
	}
	list := append(shapeAlong(axes, 0, taps*points), axes)
	grid := autograd.Stack(-1, at...).Reshape(append([]int{shape[0] * sets}, list...)...)
	split := slices.Concat([]int{shape[0] * sets, shape[1] / sets}, spatial)
	y := autograd.GridSample(x.Reshape(split...), grid).Reshape(shape[0]*sets, shape[1]/sets, taps*points)
	if mask := c.NodeOr(4); mask != nil {
		y = y.Mul(mask.Reshape(shape[0]*sets, 1, taps*points))
	}
	each := shape[1] / groups * taps
	columns := y.Reshape(shape[0], groups, each, points)
	y = weights.Reshape(groups, weights.Shape()[0]/groups, each).MatMul(columns)
	y = y.Reshape(slices.Concat([]int{shape[0], weights.Shape()[0]}, w.out)...)
	if bias != nil {
		y = y.Add(perChannel(bias, y.Rank()))
	}
	return Out(like(y, x.Type()))
}

// positions returns where along an axis the weights [taps, points] of all windows lie.
func (w *window) positions(a int) []float64 {
	inner, innerOut := 1, 1 // of the axes behind
	for b := a + 1; b < len(w.in); b++ {
		inner, innerOut = inner*w.kernel[b], innerOut*w.out[b]
	}
	taps, points := inner, innerOut
	for b := 0; b <= a; b++ {
		taps, points = taps*w.kernel[b], points*w.out[b]
	}
	list := make([]float64, 0, taps*points)
	for k := range taps {
		for p := range points {
			q, j := p/innerOut%w.out[a], k/inner%w.kernel[a]
			list = append(list, float64(q*w.stride[a]-w.before[a]+j*w.dilation[a]))
		}
	}
	return list
}

// col2im adds blocks [images, channels·block, blocks] to where they lie in an image.
func col2im(c *Call) []*Value {
	x, size, block := c.Node(0), c.Ints(1), c.Ints(2)
	if x.Rank() != 3 || len(size) != len(block) || len(size) == 0 {
		c.fail(tensor.ErrShape, "blocks %v of %v for an image %v", x.Shape(), block, size)
	}
	volume := 1
	for a, n := range size {
		if n < 1 || block[a] < 1 || volume > mostAxis/n || block[a] > mostAxis {
			c.Fail("blocks of %v for an image %v", block, size)
		}
		volume *= n
	}
	w := windowOf(c, size, block)
	w.place(c, false)
	taps, points := 1, 1
	for a := range w.in {
		taps, points = taps*w.kernel[a], points*w.out[a]
	}
	images, rows := x.Shape()[0], x.Shape()[1]
	if rows%taps != 0 || x.Shape()[2] != points {
		c.fail(tensor.ErrShape, "blocks %v of %v for an image %v, which has %d", x.Shape(), block, size, points)
	}
	// The place of each element in the image. What lies in the padding goes to one behind it.
	index := make([]int64, taps*points)
	for a := range w.in {
		for i, v := range w.positions(a) {
			if v < 0 || int(v) >= size[a] || index[i] < 0 {
				index[i] = -1
			} else {
				index[i] = index[i]*int64(size[a]) + int64(v)
			}
		}
	}
	for i, v := range index {
		if v < 0 {
			index[i] = int64(volume)
		}
	}
	channels := rows / taps
	zeros := autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), images*channels, volume+1))
	y := zeros.IndexAdd(1, tensor.New(c.Device(), index), x.Reshape(images*channels, taps*points))
	return Out(y.Slice(1, 0, volume).Reshape(slices.Concat([]int{images, channels}, size)...))
}

func col2imShape(c *ShapeCall) []Known {
	size, ok := c.Ints(1)
	block, okBlock := c.Ints(2)
	if !ok {
		return []Known{{Type: c.Type(0)}}
	}
	out := ofRank(c.Type(0), 2+len(size))
	copy(out.Dims[2:], size)
	if x := c.Dims(0); len(x) == 3 {
		out.Dims[0] = x[0]
		if okBlock {
			out.Dims[1], _ = x[1].exactly(countOf(block))
		}
	}
	return []Known{out}
}
