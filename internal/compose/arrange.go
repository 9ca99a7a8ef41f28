package compose

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// PixelShuffle makes of channels r² more pixels: [..., c·r², h, w] becomes [..., c, h·r, w·r].
func PixelShuffle[T Array[T]](x T, r int) T {
	lead, c, h, w := planes(x, r)
	if c%(r*r) != 0 {
		misuse(Shape, "%d channels are no multiple of %d²", c, r)
	}
	y := x.Reshape(product(lead), c/(r*r), r, r, h, w).Transpose(0, 1, 4, 2, 5, 3)
	return y.Reshape(append(lead, c/(r*r), h*r, w*r)...)
}

// PixelUnshuffle makes of r² pixels more channels: [..., c, h·r, w·r] becomes [..., c·r², h, w].
func PixelUnshuffle[T Array[T]](x T, r int) T {
	lead, c, h, w := planes(x, r)
	if h%r != 0 || w%r != 0 {
		misuse(Shape, "%d × %d pixels are no multiples of %d", h, w, r)
	}
	y := x.Reshape(product(lead), c, h/r, r, w/r, r).Transpose(0, 1, 3, 5, 2, 4)
	return y.Reshape(append(lead, c*r*r, h/r, w/r)...)
}

// planes returns the sizes of the last three axes of an image, and those before.
func planes[T Array[T]](x T, r int) (lead []int, c, h, w int) {
	shape := x.Shape()
	n := len(shape) - 3
	if n < 0 {
		misuse(Shape, "an image has three axes or more: channels, rows and columns")
	}
	const most = 1 << 15 // its square is an int
	if r < 1 || r > most {
		misuse(Value, "a factor of %d: it is 1 to %d", r, most)
	}
	return slices.Clone(shape[:n]), shape[n], shape[n+1], shape[n+2]
}

// Diff is the differences of neighbours along an axis, n times over. Of bools they are where neighbours differ.
func Diff[T Array[T]](x T, n, axis int) T {
	a := axisOf(axis, x.Rank())
	if n < 0 {
		misuse(Value, "differences of order %d: it is 0 or more", n)
	}
	for range n {
		size := x.Shape()[a]
		if size == 0 {
			break
		}
		low, high := x.Slice(a, 0, size-1), x.Slice(a, 1, size)
		if x.Type() == kernels.Bool {
			x = high.Ne(low)
		} else {
			x = high.Sub(low)
		}
	}
	return x
}

// GLU is the first half along an axis, times the sigmoid of the second.
func GLU[T Array[T]](x T, axis int) T {
	a := axisOf(axis, x.Rank())
	n := x.Shape()[a]
	if n%2 != 0 {
		misuse(Shape, "axis %d has %d elements, which are no two halves", axis, n)
	}
	return x.Slice(a, 0, n/2).Mul(x.Slice(a, n/2, n).Sigmoid())
}
