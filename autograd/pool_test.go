package autograd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPoolOfPadding: a window that is nearly all padding has more positions than an int counts. (A
// GPU goes through them one by one, for some seconds.)
func TestPoolOfPadding(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		if !d.Target().CPU {
			t.Skip("a GPU takes seconds for this")
		}
		const half = 1 << 16
		options := tensor.AvgPoolOptions{Padding: []int{half}}
		x := autograd.Param(tensor.Full(d, 4*half*half, 1, 1), "x")
		y := x.AvgPool([]int{2 * half, 2 * half}, options).Retain()
		if v, err := y.Item(); err != nil || v != 1 {
			t.Errorf("the mean is %v, want 1 (err %v)", v, err)
		}
		if err := y.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if g, err := x.Grad().Item(); err != nil || g != 1.0/(4*half*half) {
			t.Errorf("the gradient is %v, want 2⁻³⁴ (err %v)", g, err)
		}
	})
}

// TestRandomWindows: means and maxima of windows of all kinds, and their gradients, are what plain
// loops over the windows give.
func TestRandomWindows(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(7, 8))
		for range 300 {
			axes := 1 + r.IntN(3)
			w := windowed{adaptive: r.IntN(4) == 0, exclude: r.IntN(2) == 0, ceil: r.IntN(2) == 0}
			shape := []int{1 + r.IntN(3)}
			for range axes {
				k := 1 + r.IntN(5)
				w.window, w.stride, w.pad = append(w.window, k), append(w.stride, 1+r.IntN(6)), append(w.pad, r.IntN(k/2+1))
				shape = append(shape, k+r.IntN(20))
			}
			if !strings.Contains(t.Name(), "/cpu") && !w.adaptive {
				continue // an OpenCL device builds a kernel for each small window, which takes half a second
			}
			compareWindows(t, d, r, w, shape)
		}
	})
}

// windowed is a pooling; if adaptive, of as many outputs as window says.
type windowed struct {
	window, stride, pad     []int
	adaptive, exclude, ceil bool
}

// axis returns the inputs of output q along an axis of size n, from lo to below hi, and how many a
// mean counts.
func (w windowed) axis(a, q, n, out int) (lo, hi, counted int) {
	if w.adaptive {
		lo, hi = q*n/out, ((q+1)*n+out-1)/out
		return lo, hi, hi - lo
	}
	from := q*w.stride[a] - w.pad[a]
	lo, hi = max(0, from), min(n, from+w.window[a])
	if w.exclude {
		return lo, hi, hi - lo
	}
	return lo, hi, min(n+w.pad[a], from+w.window[a]) - from
}

// compareWindows compares a pooling of random numbers with plain loops.
func compareWindows(t *testing.T, d tensor.Device, r *rand.Rand, w windowed, shape []int) {
	t.Helper()
	values := make([]float64, product(shape))
	for i := range values {
		values[i] = float64(float32(r.Float64()*2 - 1))
	}
	for _, mean := range []bool{true, false} {
		x := autograd.Param(devtest.New(d, values, shape...), "x")
		var y *autograd.Node
		switch {
		case mean && w.adaptive:
			y = x.AdaptiveAvgPool(w.window)
		case w.adaptive:
			y = x.AdaptiveMaxPool(w.window)
		case mean:
			y = x.AvgPool(w.window, tensor.AvgPoolOptions{Stride: w.stride, Padding: w.pad, Ceil: w.ceil, ExcludePadding: w.exclude})
		default:
			y = x.MaxPool(w.window, tensor.MaxPoolOptions{Stride: w.stride, Padding: w.pad, Ceil: w.ceil})
		}
		up := make([]float64, y.Len())
		for i := range up {
			up[i] = r.Float64()*2 - 1
		}
		seed := autograd.Const(devtest.New(d, up, y.Shape()...))
		grads, err := autograd.Grad(y, []*autograd.Node{x}, autograd.GradOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		want, gradient := w.plain(values, shape, up, y.Shape(), mean)
		where := fmt.Sprintf("%+v of %v, mean %v", w, shape, mean)
		closeTo(t, where, y.Value(), want)
		closeTo(t, where+", gradient", grads[0].Value(), gradient)
	}
}

// plain returns the outputs of a pooling of x and the gradient of x for that of the outputs.
func (w windowed) plain(x []float64, shape []int, g []float64, out []int, mean bool) (y, d []float64) {
	y, d = make([]float64, len(g)), make([]float64, len(x))
	for o := range y {
		places, counted, rest := []int{0}, 1, o
		stride := 1
		for a := len(shape) - 1; a > 0; a-- {
			lo, hi, n := w.axis(a-1, rest%out[a], shape[a], out[a])
			counted *= n
			var all []int
			for i := lo; i < hi; i++ {
				for _, p := range places {
					all = append(all, p+i*stride)
				}
			}
			places, rest, stride = all, rest/out[a], stride*shape[a]
		}
		slices.Sort(places)
		best := -1
		for _, p := range places {
			p += rest * stride
			if mean {
				y[o] += x[p] / float64(counted)
				d[p] += g[o] / float64(counted)
			} else if best < 0 || x[p] > x[best] {
				best = p
			}
		}
		if best >= 0 {
			y[o] = x[best]
			d[best] += g[o]
		}
	}
	return y, d
}

// closeTo fails unless numbers are those that are wanted, to the digits of sums of a few hundred
// float32.
func closeTo(t *testing.T, what string, x *tensor.Tensor, want []float64) {
	t.Helper()
	for i, v := range values(t, x) {
		if !(math.Abs(v-want[i]) <= 2e-6*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want[i])
		}
	}
}
