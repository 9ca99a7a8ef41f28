package tensor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// integerConvCase is a convolution of three spatial axes. Of fewer, the first have size 1.
type integerConvCase struct {
	axes, batch, groups, in, out                    int // channels of a group
	size, kernel, stride, dilation, padding, behind [3]int
}

// convOfInts is ConvInteger in plain loops, and the size of its result.
func (c *integerConvCase) convOfInts(x, w []int, zeroX int, zeroW func(o int) int) (y []int32, size [3]int) {
	for a := range size {
		size[a] = (c.size[a]+c.padding[a]+c.behind[a]-c.dilation[a]*(c.kernel[a]-1)-1)/c.stride[a] + 1
	}
	for n := range c.batch {
		for o := range c.groups * c.out {
			for p := range size[0] * size[1] * size[2] {
				at := [3]int{p / (size[1] * size[2]), p / size[2] % size[1], p % size[2]}
				sum := int32(0)
				for i := range c.in {
					channel := (n*c.groups+o/c.out)*c.in + i
					for r := range c.kernel[0] * c.kernel[1] * c.kernel[2] {
						ky, kx := c.kernel[1], c.kernel[2]
						tap := [3]int{r / (ky * kx), r / kx % ky, r % kx}
						element, inside := channel, true
						for a := range tap {
							f := at[a]*c.stride[a] - c.padding[a] + tap[a]*c.dilation[a]
							inside = inside && f >= 0 && f < c.size[a]
							element = element*c.size[a] + f
						}
						if inside {
							weight := w[(o*c.in+i)*c.kernel[0]*c.kernel[1]*c.kernel[2]+r]
							sum += int32((x[element] - zeroX) * (weight - zeroW(o)))
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y, size
}

// integerConvCases are shapes at odd sizes.
func integerConvCases() []integerConvCase {
	type three = [3]int
	one, none := three{1, 1, 1}, three{}
	all := []integerConvCase{
		{2, 1, 1, 1, 1, one, one, one, one, none, none},
		{1, 2, 1, 3, 5, three{1, 1, 37}, three{1, 1, 5}, three{1, 1, 2}, three{1, 1, 3}, three{0, 0, 4},
			three{0, 0, 7}},
		{2, 2, 1, 7, 9, three{1, 13, 11}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		{2, 1, 1, 4, 33, three{1, 9, 35}, three{1, 3, 2}, three{1, 2, 3}, three{1, 2, 1}, three{0, 2, 0},
			three{0, 0, 3}},
		{2, 2, 1, 5, 6, three{1, 7, 9}, one, one, one, none, none}, // 1×1
		// 1×1, strided
		{2, 1, 1, 8, 17, three{1, 8, 8}, one, three{1, 2, 2}, one, none, none},
		{2, 2, 3, 2, 4, three{1, 6, 10}, three{1, 2, 3}, one, one, three{0, 1, 0}, three{0, 0, 2}}, // groups
		// depthwise
		{2, 2, 5, 1, 1, three{1, 17, 19}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		{2, 1, 4, 1, 1, three{1, 9, 14}, three{1, 3, 5}, three{1, 2, 3}, three{1, 2, 1}, three{0, 2, 1},
			three{0, 0, 4}},
		// two each
		{2, 1, 3, 1, 2, three{1, 8, 9}, three{1, 3, 3}, three{1, 2, 1}, one, three{0, 1, 1}, three{0, 1, 1}},
		// sums over 2²⁴
		{2, 1, 2, 1, 1, three{1, 20, 20}, three{1, 17, 17}, one, one, three{0, 8, 8}, three{0, 8, 8}},
		{3, 2, 1, 3, 4, three{5, 6, 7}, three{2, 3, 2}, three{2, 1, 2}, three{2, 1, 3}, three{1, 0, 2},
			three{0, 3, 1}},
		{3, 1, 2, 1, 1, three{4, 5, 6}, three{3, 2, 3}, one, one, three{1, 1, 1}, three{1, 0, 1}},
		// parts of a row
		{1, 1, 1, 2, 3, three{1, 1, 2500}, three{1, 1, 9}, one, one, three{0, 0, 4}, three{0, 0, 4}},
		// far taps
		{1, 1, 1, 1, 2, three{1, 1, 3}, three{1, 1, 3}, one, three{1, 1, 5000}, three{0, 0, 5001},
			three{0, 0, 5001}},
		// wide
		{2, 1, 1, 4, 3, three{1, 5, 40}, three{1, 2, 33}, three{1, 1, 2}, one, three{0, 0, 16}, three{0, 0, 16}},
		{2, 1, 1, 70, 65, three{1, 7, 7}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		// sums that floats hold, and those that they do not, of few channels
		{2, 1, 2, 28, 3, three{1, 19, 18}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		{2, 1, 1, 60, 3, three{1, 19, 18}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		{2, 3, 8, 1, 1, three{1, 90, 91}, three{1, 3, 3}, one, one, three{0, 1, 1}, three{0, 1, 1}},
		{2, 0, 1, 3, 5, three{1, 4, 4}, three{1, 3, 3}, one, one, none, none}, // an empty batch
		{2, 1, 1, 0, 3, three{1, 4, 4}, three{1, 3, 3}, one, one, none, none}, // no channels
		{2, 1, 1, 2, 0, three{1, 4, 4}, three{1, 3, 3}, one, one, none, none},
	}
	return all
}

// call computes a case.
func (c *integerConvCase) call(x, w, zeroX, zeroW *tensor.Tensor) *tensor.Tensor {
	from := 3 - c.axes
	o := tensor.ConvIntegerOptions{ZeroX: zeroX, ZeroW: zeroW}
	o.Stride, o.Dilation, o.Groups = c.stride[from:], c.dilation[from:], c.groups
	o.Padding, o.PaddingEnd = c.padding[from:], c.behind[from:]
	return tensor.ConvInteger(x, w, o)
}

// TestConvInteger: convolutions of all types, shapes and kinds of zero points are those of plain loops, bit by bit, on
// every device.
func TestConvInteger(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := rand.New(rand.NewPCG(1, 2))
		byteTypes := []tensor.Type{tensor.Int8, tensor.Uint8}
		for i, c := range integerConvCases() {
			from := 3 - c.axes
			shapeX := append([]int{c.batch, c.groups * c.in}, c.size[from:]...)
			shapeW := append([]int{c.groups * c.out, c.in}, c.kernel[from:]...)
			for j, typX := range byteTypes {
				for l, typW := range byteTypes {
					x, w := bytesOf(d, rng, typX, shapeX...), bytesOf(d, rng, typW, shapeW...)
					for kind := range 3 {
						var zeroX, zeroW *tensor.Tensor
						zx, zw := 0, func(int) int { return 0 }
						if kind > 0 {
							zeroX = bytesOf(d, rng, typX, 1)
							zeroW = bytesOf(d, rng, typW, []int{1, c.groups * c.out}[kind-1])
							all := ints(t, zeroW)
							zx, zw = ints(t, zeroX)[0], func(o int) int { return all[min(o, len(all)-1)] }
						}
						got := c.call(x, w, zeroX, zeroW)
						want, size := c.convOfInts(ints(t, x), ints(t, w), zx, zw)
						shape := append([]int{c.batch, c.groups * c.out}, size[from:]...)
						v, err := got.Int32s()
						if err != nil || !slices.Equal(v, want) || !slices.Equal(got.Shape(), shape) {
							t.Errorf("case %d, types %d %d, zero points %d: %v of %v, want %v of %v: %v", i, j, l, kind,
								v[:min(len(v), 20)], got.Shape(), want[:min(len(want), 20)], shape, err)
						}
					}
				}
			}
		}
		// An image without an axis before its channels, views, and a zero point that is a scalar.
		c := integerConvCase{2, 1, 1, 3, 4, [3]int{1, 6, 7}, [3]int{1, 3, 2}, [3]int{1, 1, 1}, [3]int{1, 1, 1},
			[3]int{0, 1, 1}, [3]int{0, 1, 1}}
		x := bytesOf(d, rng, tensor.Uint8, 7, 9, 3).Transpose(2, 1, 0).Slice(1, 2, 8).Transpose(0, 1, 2)
		w := bytesOf(d, rng, tensor.Int8, 4, 4, 3, 2).Slice(1, 1, 4)
		zero := tensor.New(d, []uint8{255}, []int{}...)
		got := c.call(x, w, zero, nil)
		want, size := c.convOfInts(ints(t, x), ints(t, w), 255, func(int) int { return 0 })
		v, err := got.Int32s()
		if err != nil || !slices.Equal(v, want) || !slices.Equal(got.Shape(), []int{4, size[1], size[2]}) {
			t.Errorf("an image: %v of %v, want %v: %v", v, got.Shape(), want, err)
		}
	})
}

// TestConvIntegerMisuse: what is no convolution of integers of 8 bits names what is wrong.
func TestConvIntegerMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, w := tensor.ZerosOf(d, tensor.Int8, 1, 4, 5, 6), tensor.ZerosOf(d, tensor.Uint8, 6, 4, 3, 3)
	vector := tensor.ZerosOf(d, tensor.Int8, 4)
	with := func(o ...tensor.ConvIntegerOptions) func() { return func() { tensor.ConvInteger(x, w, o...) } }
	of := func(x, w *tensor.Tensor) func() { return func() { tensor.ConvInteger(x, w) } }
	freed := x.Copy()
	freed.Free()
	var strideless tensor.ConvIntegerOptions
	strideless.Stride = []int{0}
	for name, c := range map[string]struct {
		f    func()
		kind error
	}{
		"floats":                 {of(x, w.To(tensor.Float32)), tensor.ErrType},
		"int32":                  {of(x.To(tensor.Int32), w), tensor.ErrType},
		"other channels":         {of(x.Slice(1, 0, 3), w), tensor.ErrShape},
		"a matrix":               {of(x, w.Reshape(24, 9)), tensor.ErrShape},
		"a vector":               {of(vector, w), tensor.ErrShape},
		"too small":              {of(x.Slice(2, 0, 2), w), tensor.ErrShape},
		"nil":                    {of(x, nil), tensor.ErrValue},
		"freed":                  {of(freed, w), tensor.ErrFreed},
		"two devices":            {of(x, tensor.ZerosOf(devtest.CPU(t), tensor.Int8, 6, 4, 3, 3)), tensor.ErrDevice},
		"two options":            {with(tensor.ConvIntegerOptions{}, tensor.ConvIntegerOptions{}), tensor.ErrValue},
		"a stride of 0":          {with(strideless), tensor.ErrValue},
		"a zero of another type": {with(tensor.ConvIntegerOptions{ZeroW: vector}), tensor.ErrType},
		"zeros of X":             {with(tensor.ConvIntegerOptions{ZeroX: vector}), tensor.ErrShape},
		"four zeros":             {with(tensor.ConvIntegerOptions{ZeroW: vector.To(tensor.Uint8)}), tensor.ErrShape},
	} {
		var e *tensor.Error
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Op != "ConvInteger" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleConvInteger() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x := tensor.New(d, []uint8{101, 102, 103, 104}, 1, 1, 4)
	w := tensor.New(d, []int8{1, -2, 3}, 1, 1, 3)
	o := tensor.ConvIntegerOptions{ZeroX: tensor.New(d, []uint8{100})}
	o.Padding = []int{1}
	fmt.Println(tensor.ConvInteger(x, w, o).Int32s())
	// Output: [4 6 8 -5] <nil>
}
