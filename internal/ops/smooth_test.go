package ops

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestSecondDerivatives holds the second derivatives of every function and loss to central
// differences of the first where their formulas have seams: at 0 and −0, at whole numbers, at their
// limits and thresholds, and where operands are equal. |x|, Max and Where stand in many of them for
// the sake of range alone, and have another derivative there.
func TestSecondDerivatives(t *testing.T) {
	const h, g = 1e-5, 1.5
	seams := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1, -1, 2, -2, 3, -3, 6, 100, -100}
	tried := 0
	for _, f := range slices.Concat(fn.Functions, fn.Choices, lossFunctions) {
		n := f.Operands()
		value := func(x []float64) float64 { return f.At(f.Scalars, x...) }
		var points [][]float64
		at := slices.Concat(seams, f.NonDifferentiable)
		if n > 2 {
			at = []float64{0, 1, -1, 0.5}
		}
		var fill func(x []float64)
		fill = func(x []float64) {
			if len(x) == n {
				points = append(points, slices.Clone(x))
				return
			}
			for _, v := range at {
				fill(append(x, v))
			}
		}
		fill(nil)
		for _, x := range points {
			for i := range n {
				d := f.Gradient(i)
				if f.Mask(i) {
					continue
				}
				slope := func(x []float64) float64 { return d.At(f.Scalars, append(slices.Clone(x), value(x), g)...) }
				for j := range n {
					moved := func(by float64) []float64 {
						m := slices.Clone(x)
						m[j] += by
						return m
					}
					// Differences to either side that agree say that there is a second derivative:
					// no kink, no step, no edge of the range. Of the first too, of which the second
					// may be one.
					here, up, down := slope(x), (slope(moved(h))-slope(x))/h, (slope(x)-slope(moved(-h)))/h
					upper, lower := (slope(moved(2*h))-slope(moved(h)))/h, (slope(moved(-h))-slope(moved(-2*h)))/h
					scale := 1 + math.Abs(here) + math.Abs(up)
					if f.Mask(j) || !(math.Abs(up-down) < 1e-3*scale) || !(math.Abs(upper-lower) < 1e-3*scale) || math.IsInf(scale, 0) || flat(f, i, x) {
						continue
					}
					tried++
					full := append(slices.Clone(x), value(x), g, here, 1)
					got := d.Gradient(j).At(f.Scalars, full...)
					if d.Uses(n) { // and through the value
						got += d.Gradient(n).At(f.Scalars, full...) * f.Gradient(j).At(f.Scalars, append(slices.Clone(x), value(x), 1)...)
					}
					if want := (slope(moved(h)) - slope(moved(-h))) / (2 * h); !(math.Abs(got-want) <= 1e-4*scale) {
						t.Errorf("%s at %v: its gradient by operand %d has the derivative %v by operand %d, differences have %v", f.Name, x, i, got, j, want)
					}
				}
			}
		}
	}
	if tried < 5000 {
		t.Errorf("%d second derivatives were tried", tried)
	}
}

// flat reports whether the first derivative itself is not that of a smooth function: values to
// either side do not have it.
func flat(f *kernels.Function, i int, x []float64) bool {
	const h = 1e-6
	at := func(by float64) float64 {
		m := slices.Clone(x)
		m[i] += by
		return f.At(f.Scalars, m...)
	}
	up, down := (at(h)-at(0))/h, (at(0)-at(-h))/h
	return !(math.Abs(up-down) < 1e-3*(1+math.Abs(up)))
}
