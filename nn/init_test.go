package nn_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestOrthogonal: the shorter of rows and columns are orthogonal, of length gain, and their signs
// are not those of the factorisation.
func TestOrthogonal(t *testing.T) {
	for _, wide := range []bool{false, true} {
		d := devtest.Open(t, "cpu", tensor.Options{DefaultType: devtest.Floats(wide)})
		for _, shape := range [][]int{{5, 5}, {3, 7}, {7, 3}, {4, 2, 3, 1}, {1, 6}, {6, 1}} {
			w := nn.Orthogonal(3)(d, tensor.NewRNG(1), 0, 0, shape...)
			if fmt.Sprint(w.Shape()) != fmt.Sprint(shape) {
				t.Errorf("shape %v, want %v", w.Shape(), shape)
			}
			m := w.Reshape(shape[0], -1)
			if m.Shape()[0] > m.Shape()[1] {
				m = m.T()
			}
			n := m.Shape()[0]
			ones := make([]float64, n*n)
			for i := range n {
				ones[i*n+i] = 9
			}
			same(t, fmt.Sprintf("the products of rows of %v", shape), m.MatMul(m.T()), devtest.New(d, ones, n, n), 1e-6)
		}
		if n := nn.Orthogonal(1)(d, tensor.NewRNG(1), 0, 0, 3, 0).Len(); n != 0 {
			t.Errorf("of no columns there are %d elements", n)
		}
		// The determinant of a rotation is 1, that of a reflection −1: both come, and of one number
		// both signs.
		var positive, reflections int
		for seed := range 40 {
			v, err := nn.Orthogonal(1)(d, tensor.NewRNG(uint64(seed)), 0, 0, 2, 2).Float64s()
			if err != nil {
				t.Fatal(err)
			}
			if v[0] > 0 {
				positive++
			}
			if v[0]*v[3]-v[1]*v[2] < 0 {
				reflections++
			}
		}
		if positive < 10 || positive > 30 || reflections < 10 || reflections > 30 {
			t.Errorf("of 40 matrices %d begin with a positive number, and %d are reflections", positive, reflections)
		}
	}
	d := devtest.CPU(t)
	if err := tensor.Try(func() { nn.Orthogonal(1)(d, tensor.NewRNG(1), 3, 3, 3) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a vector: err = %v", err)
	}
}

// TestTruncatedNormal: nothing is beyond the bounds, on one side of the mean or far from it, and
// nothing infinite is drawn where they are wide.
func TestTruncatedNormal(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct{ sd, low, high, mean float64 }{
			{1, -2, 2, 0}, {1, 0.5, 3, 1.1317}, {0.5, -1, -0.25, -0.5215}, {1, math.Inf(-1), math.Inf(1), 0}, {0.02, 0, 2, 0.02 * 0.7979},
		} {
			v, err := nn.TruncatedNormal(c.sd, c.low, c.high)(d, tensor.NewRNG(842), 1, 1, 20000).Float64s() // the first bound is among the uniform numbers
			if err != nil {
				t.Fatal(err)
			}
			var mean float64
			for _, e := range v {
				mean += e / float64(len(v))
				if !(e >= c.low && e <= c.high) || math.Abs(e) > 5.5*c.sd {
					t.Fatalf("%v in [%v, %v] gives %v", c.sd, c.low, c.high, e)
				}
			}
			if math.Abs(mean-c.mean) > 0.02 {
				t.Errorf("%v in [%v, %v] has mean %v, want %v", c.sd, c.low, c.high, mean, c.mean)
			}
		}
	})
	for _, c := range [][3]float64{{0, -2, 2}, {1, 2, 2}, {math.NaN(), -2, 2}, {1, math.NaN(), 2}} {
		if err := tensor.Try(func() { nn.TruncatedNormal(c[0], c[1], c[2]) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%v: err = %v", c, err)
		}
	}
}
