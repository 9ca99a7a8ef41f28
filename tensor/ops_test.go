package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/mat"
)

// array is the reference: a dense array indexed by hand.
type array struct {
	shape []int
	data  []float64
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// each calls f with every index of a shape, in row-major order.
func each(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	for range size(shape) {
		f(index)
		for d := len(shape) - 1; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
}

// at reads an element by NumPy's broadcasting rule.
func (a array) at(index []int) float64 {
	pos := 0
	lead := len(index) - len(a.shape)
	for d, n := range a.shape {
		i := index[lead+d]
		if n == 1 {
			i = 0
		}
		pos = pos*n + i
	}
	return a.data[pos]
}

func random(r *rand.Rand, shape ...int) array {
	a := array{shape, make([]float64, size(shape))}
	for i := range a.data {
		a.data[i] = float64(float32(0.25 + r.Float64()))
	}
	return a
}

func on(d tensor.Device, a array) *tensor.Tensor {
	return devtest.New(d, a.data, append([]int{}, a.shape...)...)
}

func expect(t *testing.T, what string, got *tensor.Tensor, want array, tol float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.shape) && len(got.Shape())+len(want.shape) > 0 {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.shape)
	}
	if eps, _ := got.Type().Epsilon(); got.Type().Half() {
		tol = max(tol, eps) // it is rounded
	}
	v, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		if d := math.Abs(v[i] - want.data[i]); d > tol*max(1, math.Abs(want.data[i])) || math.IsNaN(v[i]) != math.IsNaN(want.data[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v[i], want.data[i])
		}
	}
}

func TestBinaryBroadcasting(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, s := range [][2][]int{
			{{3, 5}, {3, 5}}, {{3, 5}, {5}}, {{5}, {3, 5}}, {{3, 5}, {1, 5}}, {{3, 5}, {3, 1}}, {{3, 1}, {1, 5}}, {{}, {4}}, {{4}, {}},
			{{}, {}}, {{2, 3, 4}, {3, 4}}, {{2, 3, 4}, {3, 1}}, {{2, 1, 4}, {3, 1}}, {{0, 3}, {3}}, {{3, 0, 2}, {1, 1, 2}},
			{{2, 1, 2, 1, 2, 1}, {1, 3, 1, 2, 1, 2}}, {{1, 1}, {7}}, {{1009}, {1}}, {{300, 67}, {67}},
		} {
			a, b := random(r, s[0]...), random(r, s[1]...)
			shape, ok := tensor.Broadcast(a.shape, b.shape)
			if !ok {
				t.Fatalf("%v and %v do not broadcast", a.shape, b.shape)
			}
			for _, f := range tabled(d, 2) {
				want := array{shape, nil}
				each(shape, func(i []int) {
					want.data = append(want.data, expected(f, f.Scalars, a.at(i), b.at(i)))
				})
				expect(t, fmt.Sprint(f.Name, s), tensor.Map(f, f.Scalars, on(d, a), on(d, b)), want, 1e-6)
			}
			if slices.Equal(shape, a.shape) {
				x := on(d, a)
				x.MapInPlace(fn.Sub, nil, on(d, b))
				want := array{shape, nil}
				each(shape, func(i []int) { want.data = append(want.data, a.at(i)-b.at(i)) })
				expect(t, "in place", x, want, 1e-6)
			}
		}
	})
}

// TestViews reads non-contiguous views of views, repeats and transposed axes.
func TestViews(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a := random(rand.New(rand.NewPCG(1, 2)), 3, 4, 5)
		x := on(d, a)
		pick := func(shape []int, f func(i []int) []int) array {
			w := array{shape, nil}
			each(shape, func(i []int) { w.data = append(w.data, a.at(f(i))) })
			return w
		}
		expect(t, "Transpose", x.Transpose(2, 0, 1), pick([]int{5, 3, 4}, func(i []int) []int { return []int{i[1], i[2], i[0]} }), 0)
		expect(t, "Transpose()", x.Transpose(), pick([]int{5, 4, 3}, func(i []int) []int { return []int{i[2], i[1], i[0]} }), 0)
		expect(t, "Slice", x.Slice(1, 1, 3), pick([]int{3, 2, 5}, func(i []int) []int { return []int{i[0], i[1] + 1, i[2]} }), 0)
		expect(t, "Slice of Slice", x.Slice(-1, 2, 5).Slice(0, 2, 3), pick([]int{1, 4, 3}, func(i []int) []int { return []int{2, i[1], i[2] + 2} }), 0)
		expect(t, "empty Slice", x.Slice(0, 1, 1), array{[]int{0, 4, 5}, nil}, 0)
		expect(t, "Expand", x.Slice(1, 0, 1).Expand(2, 3, 7, 5), pick([]int{2, 3, 7, 5}, func(i []int) []int { return []int{i[1], 0, i[3]} }), 0)
		expect(t, "Reshape", x.Reshape(-1, 10), array{[]int{6, 10}, a.data}, 0)
		expect(t, "Reshape of a view", x.Transpose(1, 0, 2).Reshape(4, 15), pick([]int{4, 3, 5}, func(i []int) []int { return []int{i[1], i[0], i[2]} }).as(4, 15), 0)
		m := on(d, array{[]int{20, 3}, a.data})
		expect(t, "T", m.T().Copy(), pick([]int{3, 20}, transposedIndex(3)), 0)
		expect(t, "rows repeated", m.Slice(0, 2, 3).Expand(4, 3).Copy(), array{[]int{4, 3}, slices.Concat(a.data[6:9], a.data[6:9], a.data[6:9], a.data[6:9])}, 0)
		expect(t, "scalar repeated", tensor.Scalar(d, 2.5).Expand(3, 2).Copy(), array{[]int{3, 2}, []float64{2.5, 2.5, 2.5, 2.5, 2.5, 2.5}}, 0)
		// A view is the same memory.
		row := x.Slice(0, 1, 2)
		row.FillInPlace(9)
		expect(t, "written through a view", x.Slice(0, 1, 2).Slice(1, 0, 1).Reshape(5), array{[]int{5}, []float64{9, 9, 9, 9, 9}}, 0)
	})
}

func (a array) as(shape ...int) array { return array{shape, a.data} }

// transposedIndex maps an index of the transpose of [20, cols] to one of [3, 4, 5].
func transposedIndex(cols int) func(i []int) []int {
	return func(i []int) []int {
		flat := i[1]*cols + i[0]
		return []int{flat / 20, flat / 5 % 4, flat % 5}
	}
}

func TestReductions(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 3))
		for _, shape := range [][]int{{7}, {3, 5}, {2, 3, 4, 2}, {1, 1}, {513, 3}, {40, 1000}, {5001, 3}, {2048, 3}, {0, 3}, {3, 0}} {
			a := random(r, shape...)
			x := on(d, a)
			for mask := range 1 << len(shape) {
				var axes, rest []int
				count := 1
				for d := range shape {
					if mask>>d&1 == 1 {
						axes = append(axes, d)
						count *= shape[d]
					} else {
						rest = append(rest, shape[d])
					}
				}
				if len(axes) == 0 {
					continue
				}
				sum, top := array{rest, make([]float64, size(rest))}, array{rest, make([]float64, size(rest))}
				for i := range top.data {
					top.data[i] = math.Inf(-1)
				}
				each(shape, func(index []int) {
					pos := 0
					for d := range shape {
						if mask>>d&1 == 0 {
							pos = pos*shape[d] + index[d]
						}
					}
					sum.data[pos] += a.at(index)
					top.data[pos] = max(top.data[pos], a.at(index))
				})
				expect(t, fmt.Sprint("Sum", shape, axes), x.Sum(axes...), sum, 1e-5)
				if count > 0 {
					expect(t, fmt.Sprint("Max", shape, axes), x.Max(axes...), top, 0)
				}
				for i := range sum.data {
					sum.data[i] /= float64(count)
				}
				expect(t, fmt.Sprint("Mean", shape, axes), x.Mean(axes...), sum, 1e-5)
			}
			whole := array{nil, []float64{0}}
			for _, v := range a.data {
				whole.data[0] += v
			}
			expect(t, "Sum()", x.Sum(), whole, 1e-5)
			expect(t, "Sum of a transposed view", x.Transpose().Sum(), whole, 1e-5)
		}
		big := tensor.Full(d, 0.5, 100001)
		expect(t, "Sum in chunks", big.Sum(), array{nil, []float64{50000.5}}, 1e-6)
		expect(t, "SumTo", tensor.Full(d, 1, 2, 3, 4).SumTo(3, 1), array{[]int{3, 1}, []float64{8, 8, 8}}, 0)
	})
}

func TestMatMul(t *testing.T) {
	onEveryVariant(t, testMatMul)
}

// onEveryVariant runs f on every device, and with the kernels for GPUs, which sum long products and
// columns in slices.
func onEveryVariant(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	devtest.Each(t, true, f)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { f(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

func testMatMul(t *testing.T, d tensor.Device) {
	r := rand.New(rand.NewPCG(1, 4))
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 4}, {17, 1, 9}, {1, 65, 3}, {70, 64, 66}, {5, 3, 0}, {0, 3, 2}, {130, 130, 70}, {5, 7, 1000}} {
		m, n, k := s[0], s[1], s[2]
		a, b := random(r, m, k), random(r, k, n)
		want := array{[]int{m, n}, make([]float64, m*n)}
		each([]int{m, n, k}, func(i []int) {
			want.data[i[0]*n+i[1]] += a.data[i[0]*k+i[2]] * b.data[i[2]*n+i[1]]
		})
		x, y := on(d, a), on(d, b)
		xt, yt := x.T().Copy().T(), y.T().Copy().T()
		for form, c := range map[string]*tensor.Tensor{
			"nn": x.MatMul(y), "tn": xt.MatMul(y), "nt": x.MatMul(yt), "tt": xt.MatMul(yt),
		} {
			expect(t, fmt.Sprint(form, s), c, want, 1e-5)
		}
		// Non-contiguous operands: columns of wider matrices, and every second column.
		wide := tensor.Zeros(d, k, n+3)
		cols := wide.Slice(1, 2, n+2)
		wide.SetInPlace(tensor.Map(fn.Add, nil, wide, pad(d, b, 2, n+3)))
		expect(t, fmt.Sprint("columns", s), x.MatMul(cols), want, 1e-5)
		acc := tensor.Full(d, 1, m, n)
		tensorapi.Impl.MatMulInto(acc, x, y, true)
		for i := range want.data {
			want.data[i]++
		}
		expect(t, fmt.Sprint("accumulate", s), acc, want, 1e-5)
		outer := tensor.Full(d, 1, m, n)
		outer.OuterAccInPlace(x.T(), y)
		expect(t, fmt.Sprint("outer products", s), outer, want, 1e-5)
	}
}

// pad returns a in the columns from left on of a matrix of zeros.
func pad(d tensor.Device, a array, left, cols int) *tensor.Tensor {
	w := array{[]int{a.shape[0], cols}, make([]float64, a.shape[0]*cols)}
	for i, v := range a.data {
		w.data[i/a.shape[1]*cols+left+i%a.shape[1]] = v
	}
	return on(d, w)
}

// TestOverlap: an in-place operation on views of one storage gives what it would give on copies,
// and where a kernel cannot, it is refused.
func TestOverlap(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a := random(rand.New(rand.NewPCG(1, 6)), 400, 33)
		minus := func(pick func(i int) float64) array {
			w := array{a.shape, nil}
			for i, v := range a.data {
				w.data = append(w.data, v-pick(i))
			}
			return w
		}
		x := on(d, a)
		x.MapInPlace(fn.Sub, nil, x.Slice(0, 0, 1))
		expect(t, "first row", x, minus(func(i int) float64 { return a.data[i%33] }), 1e-6)
		x = on(d, a)
		x.MapInPlace(fn.Sub, nil, x.Slice(0, 0, 1).Slice(1, 2, 3))
		expect(t, "one element", x, minus(func(int) float64 { return a.data[2] }), 1e-6)
		x = on(d, a)
		x.MapInPlace(fn.Sub, nil, x)
		expect(t, "itself", x, minus(func(i int) float64 { return a.data[i] }), 0)
		x = on(d, a)
		x.Slice(0, 0, 399).SetInPlace(x.Slice(0, 1, 400))
		expect(t, "shifted", x.Slice(0, 0, 399), array{[]int{399, 33}, a.data[33:]}, 0)
		sq := tensor.Full(d, 1, 8, 8)
		for name, f := range map[string]func(){
			"MatMulInto":      func() { tensorapi.Impl.MatMulInto(sq, sq, tensor.Zeros(d, 8, 8), false) },
			"OuterAccInPlace": func() { sq.OuterAccInPlace(tensor.Zeros(d, 8, 8), sq) },
			"SumRowsInto":     func() { tensorapi.Impl.SumRowsInto(sq.Slice(0, 0, 1).Reshape(8), sq, false) },
		} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
				t.Errorf("%s: err = %v", name, err)
			}
		}
		tensorapi.Impl.MatMulInto(sq.Slice(0, 0, 4), sq.Slice(0, 4, 8), tensor.Full(d, 1, 8, 8), false) // apart
		expect(t, "apart", sq.Slice(0, 0, 1), array{[]int{1, 8}, []float64{8, 8, 8, 8, 8, 8, 8, 8}}, 0)
	})
}

func TestRows(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 3, 2)
		index := devtest.New(d, []int32{2, 0, 2})
		y := x.GatherRows(index)
		expect(t, "GatherRows", y, array{[]int{3, 2}, []float64{5, 6, 1, 2, 5, 6}}, 0)
		x.ScatterAddRowsInPlace(index, y)
		expect(t, "ScatterAddRowsInPlace", x, array{[]int{3, 2}, []float64{2, 4, 3, 4, 15, 18}}, 0)
	})
}

// TestRandomStreams: numbers depend on the seed and the call alone; their moments are right.
func TestRandomStreams(t *testing.T) {
	const n = 40000
	var uniform, ints [][]float64
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(99)
		u, err := rng.Uniform(d, -1, 3, n).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		uniform = append(uniform, u)
		z, err := rng.Normal(d, 1, 2, n).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		var mean, square float64
		for _, v := range z {
			mean += v / n
			square += v * v / n
		}
		if sd := math.Sqrt(square - mean*mean); math.Abs(mean-1) > 0.05 || math.Abs(sd-2) > 0.05 {
			t.Errorf("normal: mean %v, standard deviation %v; want 1, 2", mean, sd)
		}
		v, err := rng.Ints(d, 7, n).Int32s()
		if err != nil {
			t.Fatal(err)
		}
		hist := make([]float64, 7)
		for _, i := range v {
			hist[i]++
		}
		for i, h := range hist {
			if math.Abs(h-n/7.0) > 400 { // five standard deviations
				t.Errorf("%v of %d ints are %d", h, n, i)
			}
		}
		ints = append(ints, hist)
		again, err := tensor.NewRNG(99).Uniform(d, -1, 3, n).Float64s()
		if err != nil || !reflect.DeepEqual(u, again) {
			t.Errorf("the same seed and call gave other numbers (err %v)", err)
		}
	})
	for i := range uniform {
		for j := range uniform[i] {
			if math.Abs(uniform[i][j]-uniform[0][j]) > 1e-6 {
				t.Fatalf("device %d makes %v where the first makes %v", i, uniform[i][j], uniform[0][j])
			}
		}
		if !reflect.DeepEqual(ints[i], ints[0]) {
			t.Errorf("device %d makes other ints", i)
		}
	}
}

// TestUniformBelowItsEnd: the largest of the random words, which the fourth of this stream is,
// makes the number before the end of the interval where its share of the interval would round to
// the end.
func TestUniformBelowItsEnd(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		const u = 1 - 0x1p-24 // of the fourth
		for _, c := range []struct{ low, high, single, double float64 }{
			{0, 1, u, u}, {-1, 1, 1 - 0x1p-23, 1 - 0x1p-23}, {1, 2, 2 - 0x1p-23, 1 + u}, {2, 1, 1 + 0x1p-23, 2 - u}, {4096, 4097, 4097 - 0x1p-11, 4096 + u}, {3, 3, 3, 3},
		} {
			want := map[kernels.DType]float64{kernels.Float32: c.single, kernels.Float64: c.double}[d.DefaultType()]
			v, err := tensor.NewRNG(39075).Uniform(d, c.low, c.high, 4).Float64s()
			if err != nil || v[3] != want {
				t.Errorf("between %v and %v: %v, want %v at the end (err %v)", c.low, c.high, v, want, err)
			}
		}
	})
}

func TestMat(t *testing.T) {
	d := devtest.CPU(t)
	m := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	x := tensor.FromMat(d, m.T())
	got, err := x.ToMat()
	if err != nil || !mat.Equal(got, m.T()) {
		t.Errorf("there and back: %v, %v", got, err)
	}
	if got, err = tensor.FromMat(d, m.Slice(0, 2, 1, 3)).T().ToMat(); err != nil || !mat.Equal(got, m.Slice(0, 2, 1, 3).T()) {
		t.Errorf("views of both kinds: %v, %v", got, err)
	}
}

// TestNumberOfALongRow: an operand that has one number for a row of more elements than are computed
// at a time.
func TestNumberOfALongRow(t *testing.T) {
	d := devtest.CPU(t)
	const rows, n = 5, 1301
	x := tensor.Arange(d, 0, rows*n, 1).Reshape(rows, n)
	for _, by := range []*tensor.Tensor{tensor.Arange(d, 1, rows+1, 1).Reshape(rows, 1), tensor.Arange(d, 1, rows*n+1, 1).Reshape(rows, n).Slice(1, 0, 1)} {
		y, err := x.Mul(by).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := by.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			if want := float64(i) * numbers[i/n]; v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
	}
}
