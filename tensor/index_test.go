package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// lines are index views of one axis: what they are called, and which of n indices they read, or nil
// if there is no such view.
func axisView(n int) map[string]struct {
	view func(x *tensor.Tensor, axis int) *tensor.Tensor
	want []int
} {
	type line = struct {
		view func(x *tensor.Tensor, axis int) *tensor.Tensor
		want []int
	}
	of := map[string]line{}
	ends := []int{0, 1, n - 1, n, n + 1, -1, -n, -n - 1, tensor.End, math.MinInt + 1}
	for _, from := range ends {
		for _, to := range ends {
			start, end := from, to
			for _, b := range []*int{&start, &end} {
				if *b == tensor.End {
					*b = n
				} else if *b < 0 {
					*b += n
				}
			}
			var want []int
			if 0 <= start && start <= end && end <= n {
				want = []int{}
				for i := start; i < end; i++ {
					want = append(want, i)
				}
			}
			of[fmt.Sprintf("[%d:%d]", from, to)] = line{func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.Slice(axis, from, to) }, want}
		}
	}
	for _, step := range []int{1, 2, 3, n, n + 1, math.MaxInt, 0, -1, -2, -n - 1, -math.MaxInt, math.MinInt} {
		var want []int
		if step < 0 && step > math.MinInt {
			want = []int{}
			for i := n - 1; i >= 0; i -= min(-step, n) {
				want = append(want, i)
			}
		}
		if step > 0 {
			want = []int{}
			for i := 0; i < n; i += min(step, n) {
				want = append(want, i)
			}
		}
		of[fmt.Sprintf("[::%d]", step)] = line{func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.Step(axis, step) }, want}
	}
	return of
}

// TestIndexViews holds slices with bounds on either side of what there is, open ones, and steps,
// along every axis of tensors of every layout, against indices counted by hand; and one index along
// an axis.
func TestIndexViews(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := on(d, random(rand.New(rand.NewPCG(2, 5)), 4, 3, 5))
		for name, x := range map[string]*tensor.Tensor{
			"whole": x, "transposed": x.Transpose(2, 0, 1), "gaps": x.Slice(2, 1, 4).Step(0, 2), "repeated": x.Slice(1, 0, 1).Expand(4, 2, 5),
			"empty": x.Slice(1, 3, 3), "rank 1": x.Select(0, 1).Select(0, -1),
		} {
			v, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			a := array{x.Shape(), v}
			for axis, n := range x.Shape() {
				for what, line := range axisView(n) {
					if line.want == nil {
						if tensor.Try(func() { line.view(x, axis) }) == nil {
							t.Errorf("%s of axis %d of %s %v was not refused", what, axis, name, x.Shape())
						}
						continue
					}
					for _, axis := range []int{axis, axis - x.Rank()} {
						same(t, fmt.Sprint(name, what, " of axis ", axis), line.view(x, axis), take(a, (axis+x.Rank())%x.Rank(), line.want))
					}
				}
				for i := range n {
					want := take(a, axis, []int{i})
					want.shape = slices.Delete(want.shape, axis, axis+1)
					same(t, fmt.Sprint(name, " at ", i, " of axis ", axis), x.Select(axis, i), want)
					same(t, fmt.Sprint(name, " at ", i-n, " of axis ", axis), x.Select(axis-x.Rank(), i-n), want)
				}
				for _, i := range []int{n, -n - 1, tensor.End, math.MinInt} {
					fails(t, func() { x.Select(axis, i) }, tensor.ErrIndex)
				}
			}
		}
	})
}

// take returns the elements of a with the given indices along an axis.
func take(a array, axis int, indices []int) array {
	shape := slices.Clone(a.shape)
	shape[axis] = len(indices)
	out := array{shape, []float64{}}
	each(shape, func(index []int) {
		from := slices.Clone(index)
		from[axis] = indices[index[axis]]
		pos := 0
		for d, i := range from {
			pos = pos*a.shape[d] + i
		}
		out.data = append(out.data, a.data[pos])
	})
	return out
}

// TestIndexViewsCombined: views of views, in operations that read them in place and those that copy
// them.
func TestIndexViewsCombined(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4)
		for what, c := range map[string]struct {
			got  *tensor.Tensor
			want array
		}{
			"x[:, 1::2]":            {x.Slice(1, 1, tensor.End).Step(1, 2), array{[]int{3, 2}, []float64{1, 3, 5, 7, 9, 11}}},
			"x[::2, ::3]":           {x.Step(0, 2).Step(1, 3), array{[]int{2, 2}, []float64{0, 3, 8, 11}}},
			"x[-1]":                 {x.Select(0, -1), array{[]int{4}, []float64{8, 9, 10, 11}}},
			"x[1, 2]":               {x.Select(0, 1).Select(0, 2), array{[]int{}, []float64{6}}},
			"x[:, 1] @ its product": {x.Step(1, 2).MatMul(x.Step(1, 2).T()), array{[]int{3, 3}, []float64{4, 12, 20, 12, 52, 92, 20, 92, 164}}},
			"x[::2] @ x[::2].T":     {x.Step(0, 2).MatMul(x.Step(0, 2).T()), array{[]int{2, 2}, []float64{14, 62, 62, 366}}},
			"sum of x[:, ::3]":      {x.Step(1, 3).Sum(-1), array{[]int{3}, []float64{3, 11, 19}}},
			"x[0] + x[:, ::4]":      {x.Select(0, 0).Add(x.Step(1, 4)), array{[]int{3, 4}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}},
			"x[3:, 1]":              {x.Slice(0, 3, tensor.End).Select(1, 1), array{[]int{0}, []float64{}}},
			"x[1:1, -1].tanh()":     {x.Slice(0, 1, 1).Select(1, -1).Tanh(), array{[]int{0}, []float64{}}},
		} {
			same(t, what, c.got, c.want)
		}
	})
}

// TestSetInPlaceViews: writing through every kind of view reaches its elements and no other: from
// sources of every layout, those that share elements with the destination too, and by every
// in-place operation.
func TestSetInPlaceViews(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for what, view := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
			"whole":       (*tensor.Tensor).View,
			"transposed":  func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(2, 0, 1) },
			"x[:, 1:]":    func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 1, tensor.End) },
			"x[..., ::2]": func(x *tensor.Tensor) *tensor.Tensor { return x.Step(-1, 2) },
			"x[1]":        func(x *tensor.Tensor) *tensor.Tensor { return x.Select(0, 1) },
			"x[:, -1]":    func(x *tensor.Tensor) *tensor.Tensor { return x.Select(1, -1) },
			"x[1, 2, 3]":  func(x *tensor.Tensor) *tensor.Tensor { return x.Select(0, 1).Select(0, 2).Select(0, 3) },
			"x[::2, 1].T": func(x *tensor.Tensor) *tensor.Tensor { return x.Step(0, 2).Select(1, 1).T() },
			"x[:, 3:]":    func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 3, 3) },
			"6 axes": func(x *tensor.Tensor) *tensor.Tensor {
				return x.Reshape(2, 2, 3, 1, 5, 1).Slice(0, 1, 2).Step(4, 3).Transpose(4, 3, 2, 1, 0, 5)
			},
		} {
			numbers := make([]float64, 60)
			for i := range numbers {
				numbers[i] = float64(i)
			}
			x := devtest.New(d, numbers, 4, 3, 5)
			places, err := view(x).Float64s() // each element says where it is
			if err != nil {
				t.Fatal(err)
			}
			write := func(from string, src func(place *tensor.Tensor) *tensor.Tensor) {
				x := devtest.New(d, numbers, 4, 3, 5)
				place := view(x)
				s := src(place)
				values, err := s.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				want := array{x.Shape(), slices.Clone(numbers)}
				for i, at := range places {
					want.data[int(at)] = values[i]
				}
				before := tensorapi.Impl.Version(x)
				place.SetInPlace(s)
				same(t, what+" set from "+from, x, want)
				if tensorapi.Impl.Version(x) == before {
					t.Errorf("%s: the write was not counted", what)
				}
			}
			shape := view(x).Shape()
			write("new", func(p *tensor.Tensor) *tensor.Tensor { return p.Neg().SubScalar(1) })
			write("a repeated NaN", func(p *tensor.Tensor) *tensor.Tensor { return tensor.Scalar(d, math.NaN()).Expand(shape...) })
			write("a transpose", func(p *tensor.Tensor) *tensor.Tensor {
				turned := slices.Clone(shape)
				slices.Reverse(turned)
				return tensor.NewRNG(1).Normal(d, 0, 1, turned...).Transpose()
			})
			write("itself", func(p *tensor.Tensor) *tensor.Tensor { return p })
			for op, c := range map[string]struct {
				write func(place *tensor.Tensor)
				want  func(i int, old float64) float64
			}{
				"FillInPlace": {func(p *tensor.Tensor) { p.FillInPlace(7) }, func(int, float64) float64 { return 7 }},
				"ZeroInPlace": {(*tensor.Tensor).ZeroInPlace, func(int, float64) float64 { return 0 }},
				"negInPlace":  {func(p *tensor.Tensor) { p.MapInPlace(fn.Neg, nil) }, func(_ int, old float64) float64 { return -old }},
				"addInPlace of itself": {func(p *tensor.Tensor) { p.MapInPlace(fn.Add, nil, p) },
					func(_ int, old float64) float64 { return 2 * old }},
				"subInPlace of a scalar": {func(p *tensor.Tensor) { p.MapInPlace(fn.Sub, nil, tensor.Scalar(d, 3)) },
					func(_ int, old float64) float64 { return old - 3 }},
				"Upload": {func(p *tensor.Tensor) { tensor.Upload(p, numbers[:p.Len()]) }, func(i int, _ float64) float64 { return numbers[i] }},
			} {
				x := devtest.New(d, numbers, 4, 3, 5)
				c.write(view(x))
				want := array{x.Shape(), slices.Clone(numbers)}
				for i, at := range places {
					want.data[int(at)] = c.want(i, at)
				}
				same(t, op+" of "+what, x, want)
			}
		}
		// Source and destination share elements, at other places.
		square := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3).Step(1, 2)
		square.SetInPlace(square.T())
		same(t, "a square turned", square, array{[]int{2, 2}, []float64{1, 4, 3, 6}})
		x := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 3, 2)
		x.Slice(0, 1, tensor.End).Slice(1, 0, 1).SetInPlace(x.Slice(0, 0, 2).Slice(1, 0, 1))
		same(t, "a column shifted", x, array{[]int{3, 2}, []float64{1, 2, 1, 4, 3, 6}})

		fails(t, func() { tensor.Scalar(d, 1).Expand(2, 3).SetInPlace(tensor.Zeros(d, 2, 3)) }, tensor.ErrValue)
		fails(t, func() { x.Slice(0, 0, 1).Expand(3, 2).SetInPlace(x) }, tensor.ErrValue)
		fails(t, func() { x.Step(0, 2).SetInPlace(x) }, tensor.ErrShape)
	})
}

// TestScalarShapes: the shape of a scalar is empty, never nil, whatever made it: New takes no shape
// for that of a vector.
func TestScalarShapes(t *testing.T) {
	d := devtest.CPU(t)
	one := tensor.Full(d, 2, 1)
	for what, x := range map[string]*tensor.Tensor{
		"Reshape": one.Reshape(), "SumTo": one.SumTo(), "SumTo of [1 1]": one.Reshape(1, 1).SumTo(), "Expand": tensor.Scalar(d, 1).Expand(),
		"One": tensorapi.Impl.One(d), "Sum": one.Sum(), "Max": one.Max(), "Select": one.Select(0, 0), "Zeros": tensor.Zeros(d),
		"Transpose": tensor.Scalar(d, 1).Transpose(), "Add": tensor.Scalar(d, 1).Add(tensor.Scalar(d, 1)), "Keepdims": tensor.Scalar(d, 1).Sum(tensor.Keepdims),
	} {
		if x.Shape() == nil || x.Rank() != 0 || x.Len() != 1 {
			t.Errorf("%s: shape %#v", what, x.Shape())
		}
		same(t, what+" again", devtest.New(d, []float64{7}, x.Shape()...), array{[]int{}, []float64{7}})
	}
}
