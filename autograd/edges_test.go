package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

var nan, inf = math.NaN(), math.Inf(1)

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

// onEveryVariant runs f on every device, as devtest.Each does, and with the kernels for GPUs.
func onEveryVariant(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	devtest.Each(t, true, f)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { f(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestUnaryEdges holds values and gradients to what is documented where a function has a kink, a
// NaN or an infinity, for each gradient that comes from above.
func TestUnaryEdges(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			name       string
			f          func(x *node) *node
			x, g, y, w []float64 // w: the gradient
		}{
			{"Abs", (*node).Abs, []float64{nan, 0, 0, -inf, inf, -2}, []float64{3, 3, inf, 3, 3, inf}, []float64{nan, 0, 0, inf, inf, 2}, []float64{nan, 0, 0, -3, 3, -inf}},
			{"Sign", (*node).Sign, []float64{nan, 0, 5, -5, inf, 2}, []float64{inf, inf, inf, -inf, nan, 1}, []float64{nan, 0, 1, -1, 1, 1}, []float64{0, 0, 0, 0, 0, 0}},
			{"Pow(0)", func(x *node) *node { return x.Pow(0) }, []float64{nan, 0, inf, -1, 2, 3}, []float64{3, 3, 3, 3, inf, nan}, []float64{1, 1, 1, 1, 1, 1}, []float64{0, 0, 0, 0, 0, 0}},
			{"Pow(2)", func(x *node) *node { return x.Pow(2) }, []float64{nan, 0, 3, -3}, []float64{1, 1, 1, 1}, []float64{nan, 0, 9, 9}, []float64{nan, 0, 6, -6}},
			{"Clamp", func(x *node) *node { return x.Clamp(-1, 2) }, []float64{nan, -inf, inf, -1, 2, 0}, []float64{5, 5, 5, 5, 5, 5}, []float64{nan, -1, 2, -1, 2, 0}, []float64{5, 0, 0, 0, 0, 5}},
			{"Clamp(3, 0)", func(x *node) *node { return x.Clamp(3, 0) }, []float64{nan, -inf, inf, -1, 1, 5}, []float64{5, 5, 5, 5, 5, 5}, []float64{nan, 0, 0, 0, 0, 0}, []float64{5, 0, 0, 0, 0, 0}},
			{"Tanh", (*node).Tanh, []float64{400, -400, inf, -inf, 20, -20, nan, 0}, []float64{1, 1, 1, 1, 1, 1, 1, 1}, []float64{1, -1, 1, -1, 1, -1, nan, 0}, []float64{0, 0, 0, 0, 0, 0, nan, 1}},
		} {
			p := param(d, c.x...)
			y := c.f(p)
			if got := values(t, y.Value()); !equal(got, c.y) {
				t.Errorf("%s of %v is %v, want %v", c.name, c.x, got, c.y)
			}
			if err := y.Backward(autograd.BackwardOptions{Seed: vec(d, c.g...)}); err != nil {
				t.Fatal(err)
			}
			got := values(t, p.Grad())
			if c.name == "Pow(2)" { // pow itself is good to 16 ULP
				for i := range got {
					if math.Abs(got[i]-c.w[i]) <= 16*epsilon(d)*math.Abs(c.w[i]) {
						got[i] = c.w[i]
					}
				}
			}
			if !equal(got, c.w) {
				t.Errorf("%s at %v: gradient of %v is %v, want %v", c.name, c.x, c.g, got, c.w)
			}
		}
	})
}

func epsilon(d tensor.Device) float64 {
	if d.DefaultType() == tensor.Float64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// TestTanhSaturates: from where 1 is the nearest float, the value is 1, by itself and in the launch
// of a layer of whatever width: a GELU composed of it is 0 far below 0.
func TestTanhSaturates(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		one := 9.02
		if d.DefaultType() == tensor.Float64 {
			one = 19.07
		}
		for _, cols := range []int{1, 3, 16, 33} {
			var x, exact []float64
			for i := range 8 * cols {
				v := one + math.Pow(1.3, float64(i%40))
				x, exact = append(x, v, -v), append(exact, 1, -1)
			}
			in := devtest.New(d, x, len(x)/cols, cols)
			eye := make([]float64, cols*cols)
			for i := range cols {
				eye[i*cols+i] = 1
			}
			layer := tensor.Linear(in, devtest.New(d, eye, cols, cols), nil, fn.Tanh)
			for what, y := range map[string]*tensor.Tensor{"tanh": in.Tanh(), "a layer": layer} {
				if got := values(t, y); !equal(got, exact) {
					t.Errorf("%s of %d columns of %v is %v", what, cols, x, got)
				}
			}
		}
		x := autograd.Const(vec(d, 400, -400))
		gelu := x.MulScalar(0.5).Mul(x.Add(x.Pow(3).MulScalar(0.044715)).MulScalar(math.Sqrt(2 / math.Pi)).Tanh().AddScalar(1))
		want(t, "GELU of ±400", gelu.Value(), 400, 0)
	})
}

// TestBinaryEdges is TestUnaryEdges for two operands.
func TestBinaryEdges(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		x, y := []float64{nan, 1, nan, 2, 3, 2, inf}, []float64{1, nan, nan, 3, 2, 2, 1}
		g := []float64{4, 4, 4, 4, 4, 4, 4}
		for _, c := range []struct {
			name      string
			f         func(x, y *node) *node
			z, dx, dy []float64
		}{
			{"Maximum", (*node).Maximum, []float64{nan, nan, nan, 3, 3, 2, inf}, []float64{4, 4, 4, 0, 4, 2, 4}, []float64{4, 4, 4, 4, 0, 2, 0}},
			{"Minimum", (*node).Minimum, []float64{nan, nan, nan, 2, 2, 2, 1}, []float64{4, 4, 4, 4, 0, 2, 0}, []float64{4, 4, 4, 0, 4, 2, 4}},
		} {
			p, q := param(d, x...), param(d, y...)
			z := c.f(p, q)
			if got := values(t, z.Value()); !equal(got, c.z) {
				t.Errorf("%s is %v, want %v", c.name, got, c.z)
			}
			if err := z.Backward(autograd.BackwardOptions{Seed: vec(d, g...)}); err != nil {
				t.Fatal(err)
			}
			if dx, dy := values(t, p.Grad()), values(t, q.Grad()); !equal(dx, c.dx) || !equal(dy, c.dy) {
				t.Errorf("%s: gradients %v %v, want %v %v", c.name, dx, dy, c.dx, c.dy)
			}
		}
	})
}

// TestDivExtremes: the square of a small or large divisor is no float, the gradient is one.
func TestDivExtremes(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, c := range [][3]float64{{1e-20, 1e-25, -1e30}, {1e20, 1e25, -1e-30}, {2, 4, -0.125}} {
			x, y := autograd.Const(vec(d, c[0])), param(d, c[1])
			if err := x.Div(y).Backward(); err != nil {
				t.Fatal(err)
			}
			if got := values(t, y.Grad())[0]; !(math.Abs(got/c[2]-1) < 1e-5) {
				t.Errorf("d(%v/y)/dy at %v is %v, want %v", c[0], c[1], got, c[2])
			}
		}
	})
}

// TestMaxGradient: over any axes, the elements that attain a maximum share its gradient; where it
// is NaN, the NaNs. So it is with a minimum, here with the axes kept.
func TestMaxGradient(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		x := []float64{1, nan, 3, nan, 5, 5, 7, 2, -inf, -inf, -inf, -inf} // [2, 3, 2]
		shape := []int{2, 3, 2}
		for _, c := range []struct {
			axes []int
			y, g []float64
			w    []float64
		}{
			{nil, []float64{nan}, []float64{8}, []float64{0, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0}},
			{[]int{2, 0, 1}, []float64{nan}, []float64{8}, []float64{0, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0}},
			{[]int{-1}, []float64{nan, nan, 5, 7, -inf, -inf}, []float64{1, 2, 4, 8, 6, 2}, []float64{0, 1, 0, 2, 2, 2, 8, 0, 3, 3, 1, 1}},
			{[]int{1, -1}, []float64{nan, 7}, []float64{8, 6}, []float64{0, 4, 0, 4, 0, 0, 6, 0, 0, 0, 0, 0}},
			{[]int{0, 2}, []float64{nan, nan, 5}, []float64{2, 4, 8}, []float64{0, 2, 0, 4, 4, 4, 0, 0, 0, 0, 0, 0}},
			{[]int{2, -3}, []float64{nan, nan, 5}, []float64{2, 4, 8}, []float64{0, 2, 0, 4, 4, 4, 0, 0, 0, 0, 0, 0}},
			{[]int{0}, []float64{7, nan, 3, nan, 5, 5}, []float64{1, 2, 3, 4, 5, 6}, []float64{0, 2, 3, 4, 5, 6, 1, 0, 0, 0, 0, 0}},
		} {
			p := autograd.Param(devtest.New(d, x, shape...), "p")
			y := p.Max(c.axes...)
			if got := values(t, y.Value()); !equal(got, c.y) {
				t.Errorf("Max%v is %v, want %v", c.axes, got, c.y)
				continue
			}
			if err := y.Backward(autograd.BackwardOptions{Seed: devtest.New(d, c.g, y.Shape()...)}); err != nil {
				t.Fatal(err)
			}
			if got := values(t, p.Grad()); !equal(got, c.w) {
				t.Errorf("Max%v: gradient %v, want %v", c.axes, got, c.w)
			}
			// The minimum of the opposite numbers is attained by the same elements.
			q := autograd.Param(devtest.New(d, x, shape...).Neg(), "q")
			low := q.Min(append([]int{tensor.Keepdims}, c.axes...)...)
			if err := low.Backward(autograd.BackwardOptions{Seed: devtest.New(d, c.g, low.Shape()...)}); err != nil {
				t.Fatal(err)
			}
			if got := values(t, q.Grad()); !equal(got, c.w) {
				t.Errorf("Min%v: gradient %v, want %v", c.axes, got, c.w)
			}
		}
		s := autograd.Param(tensor.Scalar(d, 3), "s")
		if err := s.Max().Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, "gradient of a scalar's Max", s.Grad(), 1)
	})
}

// TestReductionAxes: every reduction refuses the same axes, and names itself.
func TestReductionAxes(t *testing.T) {
	d := devtest.CPU(t)
	x, empty := autograd.Param(tensor.Zeros(d, 2, 3, 4), "x"), autograd.Param(tensor.Zeros(d, 0, 2, 3), "empty")
	for name, f := range devtest.Reductions[*node](t) {
		for _, axes := range [][]int{{0, 0}, {0, 7}, {3}, {-4}, {0, -3}, {1, 2, 1}, {0, 1, 2, 2}} {
			fails(t, tensor.Try(func() { f(x, axes...) }), tensor.ErrAxis, name+":", "[2 3 4]")
		}
		y := f(empty, 1, 2)
		if shape := y.(interface{ Shape() []int }).Shape(); fmt.Sprint(shape) != "[0]" {
			t.Errorf("%s of [0 2 3] over 1, 2 has shape %v", name, shape)
		}
		if y, ok := y.(*node); ok {
			if err := y.Sum().Backward(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		spare := append(make([]int, 0, 4), 9, 9, 9, 9)
		f(x, spare[:0]...)
		x.Transpose(spare[:0]...)
		if fmt.Sprint(spare) != "[9 9 9 9]" {
			t.Errorf("%s wrote to the caller's axes: %v", name, spare)
		}
	}
	fails(t, tensor.Try(func() { empty.Max() }), tensor.ErrShape, "Max", "[0 2 3]", "no elements")
	fails(t, tensor.Try(func() { empty.Max(0, 2) }), tensor.ErrShape, "Max")
}
