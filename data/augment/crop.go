package augment

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// CropOptions is what may be said to [RandomCrop].
type CropOptions struct {
	Padding int               // pixels that each side gets before
	Pad     tensor.PadOptions // what they are: 0 if nothing is said
}

// RandomCrop returns a window of a size of each picture, [n, channels, height, width] of x's type, at
// a place that is uniform among those inside of the padded picture. It panics with tensor.ErrShape if
// the window is larger than that.
func RandomCrop(x *tensor.Tensor, height, width int, rng *tensor.RNG, options ...CropOptions) *tensor.Tensor {
	const op = "RandomCrop"
	b, o := mustBeBatch(op, x), option(op, options)
	if o.Padding < 0 {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("CropOptions.Padding is %d: it is 0 or more", o.Padding)))
	}
	down, across := b.height+2*o.Padding-height, b.width+2*o.Padding-width
	if height < 1 || width < 1 || down < 0 || across < 0 {
		panic(misuse(op, tensor.ErrShape, fmt.Sprintf("a window of %d × %d in pictures with %d pixels of padding", height, width, o.Padding), x.Shape()))
	}
	if o.Padding > 0 {
		x = x.Pad([][2]int{{o.Padding, o.Padding}, {o.Padding, o.Padding}}, o.Pad)
		defer x.Free()
	}
	y := tensor.EmptyOf(x.Device(), x.Type(), b.n, b.channels, height, width)
	lo, hi, call := rng.Next()
	scalars := []kernels.Arg{lo, hi, call, kernels.IntArg(b.channels), kernels.IntArg(b.height + 2*o.Padding),
		kernels.IntArg(b.width + 2*o.Padding), kernels.IntArg(down + 1), kernels.IntArg(across + 1)}
	tensor.MapInto(cropMap, scalars, []*tensor.Tensor{y}, x)
	return y
}

// RandomHorizontalFlip returns pictures of x's type, each of which is mirrored, left to right, with
// probability p.
func RandomHorizontalFlip(x *tensor.Tensor, p float64, rng *tensor.RNG) *tensor.Tensor {
	return flip("RandomHorizontalFlip", flipAcross, x, p, rng)
}

// RandomVerticalFlip returns pictures of x's type, each of which is turned upside down with
// probability p.
func RandomVerticalFlip(x *tensor.Tensor, p float64, rng *tensor.RNG) *tensor.Tensor {
	return flip("RandomVerticalFlip", flipDown, x, p, rng)
}

func flip(op string, j *kernels.FusedElementwise, x *tensor.Tensor, p float64, rng *tensor.RNG) *tensor.Tensor {
	b := mustBeBatch(op, x)
	mustBeProbability(op, p)
	y := tensor.EmptyOf(x.Device(), x.Type(), b.n, b.channels, b.height, b.width)
	lo, hi, call := rng.Next()
	scalars := []kernels.Arg{lo, hi, call, kernels.IntArg(b.channels), kernels.IntArg(b.height), kernels.IntArg(b.width),
		kernels.IntArg(int(p * (1 << drawnBits)))}
	tensor.MapInto(j, scalars, []*tensor.Tensor{y}, x)
	return y
}

// Formulas of elements [picture, channel, row, column] of the result, which read the pictures by
// index. Ints: the seed's words and the call of the RNG; channels, height and width of a picture read.
var (
	picture, channel, row, column = expr.Index(0), expr.Index(1), expr.Index(2), expr.Index(3)
	channels, height, width       = expr.IntParam(3), expr.IntParam(4), expr.IntParam(5)
)

// drawn returns random word i of the current element's picture, of two.
func drawn(i float64) *expr.Expr {
	return expr.Random(picture.Mul(expr.Const(2)).Add(expr.Const(i)), expr.IntParam(2), expr.IntParam(0), expr.IntParam(1))
}

// pixel is the element of the current picture and channel at a row and a column.
func pixel(row, column *expr.Expr) *expr.Expr {
	return expr.Load(0, picture.Mul(channels).Add(channel).Mul(height).Add(row).Mul(width).Add(column))
}

// drawnBits is how many bits of a word decide whether something happens.
const drawnBits = 24

var (
	// cropMap has the ints: how many rows, and columns, a window may begin at.
	cropMap = join("random_crop", []float64{3, 5, 7, 2, 4, 3, 2, 2},
		pixel(row.Add(drawn(0).MulHigh(expr.IntParam(6))), column.Add(drawn(1).MulHigh(expr.IntParam(7)))))
	// The maps of flips have the int: the probability, times 2 to the drawnBits.
	flipAcross = join("random_horizontal_flip", []float64{3, 5, 7, 2, 4, 3, 1 << 23},
		pixel(row, flipped(column, width)))
	flipDown = join("random_vertical_flip", []float64{3, 5, 7, 2, 4, 3, 1 << 23},
		pixel(flipped(row, height), column))
)

// flipped is an index along an axis of n elements, counted from the other end if the picture is
// flipped: if the probability is above the drawn number, 1 is multiplied by the way there.
func flipped(index, n *expr.Expr) *expr.Expr {
	number := drawn(0).Quo(expr.Const(1 << (32 - drawnBits)))
	is := expr.IntParam(6).Sub(number).Max(expr.Const(0)).Min(expr.Const(1))
	way := n.Sub(expr.Const(1)).Sub(index).Sub(index)
	return index.Add(is.Mul(way))
}

func join(name string, scalars []float64, formula *expr.Expr) *kernels.FusedElementwise {
	f := &kernels.Function{Name: name, Value: formula, Scalars: scalars, Domains: [][2]float64{{0, 1}}, Integers: true}
	return &kernels.FusedElementwise{Name: name, Functions: []*kernels.Function{f}}
}
