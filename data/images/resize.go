package images

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// Filter is how pixels are weighted where a picture is resized.
type Filter uint8

const (
	Bilinear Filter = iota // by distance, of one pixel around: torchvision's default
	Bicubic                // by a cubic, of two pixels around, with a = −½
)

// support is how many pixels around a filter weights, where the picture is not made smaller.
func (f Filter) support() float64 {
	if f == Bicubic {
		return 2
	}
	return 1
}

// weight is the weight at a distance. Source of the cubic: Keys, "Cubic Convolution Interpolation for
// Digital Image Processing", IEEE TASSP 29, 1981.
func (f Filter) weight(x float64) float64 {
	const a = -0.5
	x = math.Abs(x)
	switch {
	case f == Bilinear:
		return max(0, 1-x)
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((x-5)*x+8)*x*a - 4*a
	}
	return 0
}

// Resize returns the picture at another size. Where it becomes smaller, the filter is as much wider,
// so that every pixel counts (antialiasing). Rows are resized before columns, with weights of 22 bits,
// and rounded to 8 bits in between: the numbers are those of Pillow up to version 12, and so of
// torchvision for its pictures. Pillow 13 resizes columns first where that is less work, and differs by
// 1 there, as PyTorch does for tensors of bytes. It panics with tensor.ErrShape for a size below 1, and with tensor.ErrValue for another filter.
func (p *Picture) Resize(height, width int, f Filter) *Picture {
	if height < 1 || width < 1 || int64(height)*int64(width) > mostPixels {
		panic(misuse("Resize", tensor.ErrShape, fmt.Sprintf("to %d × %d pixels: it has 1 to %d", height, width, mostPixels)))
	}
	if f > Bicubic {
		panic(misuse("Resize", tensor.ErrValue, fmt.Sprintf("there is no filter %d: see Bilinear", f)))
	}
	n := p.Channels
	out := &Picture{width, p.Height, n, p.Pixels}
	if width != p.Width {
		out.Pixels = make([]uint8, p.Height*width*n)
		taps := f.taps(p.Width, width)
		for y := range p.Height {
			row, to := p.Pixels[y*p.Width*n:][:p.Width*n], out.Pixels[y*width*n:][:width*n]
			for x, t := range taps {
				for c := range n {
					sum := int64(half)
					for k, w := range t.weights {
						sum += w * int64(row[(t.first+k)*n+c])
					}
					to[x*n+c] = stored(sum)
				}
			}
		}
	}
	if height == p.Height {
		return &Picture{width, height, n, append([]uint8{}, out.Pixels...)}
	}
	rows, stride := out, width*n
	out = &Picture{width, height, n, make([]uint8, height*stride)}
	sums := make([]int64, stride)
	for y, t := range f.taps(p.Height, height) {
		for i := range sums {
			sums[i] = half
		}
		for k, w := range t.weights {
			for i, v := range rows.Pixels[(t.first+k)*stride:][:stride] {
				sums[i] += w * int64(v)
			}
		}
		for i, sum := range sums {
			out.Pixels[y*stride+i] = stored(sum)
		}
	}
	return out
}

// Weights are whole numbers of 2^-weightBits.
const (
	weightBits = 22
	half       = 1 << (weightBits - 1)
)

// stored returns a sum of weighted pixels as a pixel.
func stored(sum int64) uint8 { return uint8(min(max(sum>>weightBits, 0), math.MaxUint8)) }

// taps is which pixels of a row or column a resized one is made of.
type taps struct {
	first   int
	weights []int64
}

// taps returns the taps of each of n pixels that are made of from.
func (f Filter) taps(from, n int) []taps {
	scale := float64(from) / float64(n)
	wide := max(scale, 1) // of the filter
	all := make([]taps, n)
	for i := range all {
		center := (float64(i) + 0.5) * scale
		first := max(int(center-f.support()*wide+0.5), 0)
		end := min(int(center+f.support()*wide+0.5), from)
		weights, sum := make([]float64, end-first), 0.0
		for k := range weights {
			weights[k] = f.weight((float64(first+k) - center + 0.5) * (1 / wide))
			sum += weights[k]
		}
		all[i] = taps{first, make([]int64, len(weights))}
		for k, w := range weights {
			if sum != 0 {
				w /= sum
			}
			all[i].weights[k] = int64(math.Round(w * (1 << weightBits)))
		}
	}
	return all
}

// ResizeShorter returns the picture with its shorter side n pixels long, and the other in proportion,
// rounded down: torchvision's Resize of a number. It panics as [Picture.Resize] does.
func (p *Picture) ResizeShorter(n int, f Filter) *Picture {
	height, width := n, n
	switch {
	case p.Height < p.Width:
		width = int(int64(n) * int64(p.Width) / int64(p.Height))
	case p.Height > p.Width:
		height = int(int64(n) * int64(p.Height) / int64(p.Width))
	}
	return p.Resize(height, width, f)
}
