package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// normOf is the definition of a norm of lines: those elements of a for which of returns the same
// number.
func normOf(a array, of func(i int) int, centred bool, eps float64) array {
	y := array{a.shape, make([]float64, len(a.data))}
	sum, square, count := map[int]float64{}, map[int]float64{}, map[int]float64{}
	for i, v := range a.data {
		count[of(i)]++
		if centred {
			sum[of(i)] += v
		}
	}
	for i, v := range a.data {
		d := v - sum[of(i)]/count[of(i)]
		square[of(i)] += d * d
	}
	for i, v := range a.data {
		l := of(i)
		y.data[i] = (v - sum[l]/count[l]) / math.Sqrt(square[l]/count[l]+eps)
	}
	return y
}

// TestNorms holds norms to their definition, for shapes of which work-groups have one line, many,
// or a part.
func TestNorms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const eps = 1e-3
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, s := range [][]int{{3, 5}, {1, 5003}, {130, 7}, {2, 3, 4}, {1, 2, 1, 3, 1, 2, 1, 2}} {
			a := random(r, s...)
			last := s[len(s)-1]
			expect(t, fmt.Sprint("LayerNorm ", s), on(d, a).LayerNorm(-1, nil, nil, eps), normOf(a, func(i int) int { return i / last }, true, eps), 2e-5)
			expect(t, fmt.Sprint("RMSNorm ", s), on(d, a).RMSNorm(-1, nil, eps), normOf(a, func(i int) int { return i / last }, false, eps), 2e-5)
			expect(t, fmt.Sprint("LayerNorm of all ", s), on(d, a).LayerNorm(0, nil, nil, eps), normOf(a, func(int) int { return 0 }, true, eps), 2e-5)
		}
		for _, s := range [][]int{{6, 4}, {40, 1}, {2, 6, 5}, {3, 2, 3, 7}, {1, 2, 2, 1, 3}, {300, 40}, {2, 2, 4099}} {
			a := random(r, s...)
			inner := size(s[2:])
			channel := func(i int) int { return i / inner % s[1] }
			expect(t, fmt.Sprint("BatchNorm ", s), on(d, a).BatchNorm(nil, nil, eps), normOf(a, channel, true, eps), 2e-5)
			expect(t, fmt.Sprint("InstanceNorm ", s), on(d, a).InstanceNorm(nil, nil, eps), normOf(a, func(i int) int { return i / inner }, true, eps), 2e-5)
			if s[1]%2 == 0 {
				group := s[1] / 2 * inner
				expect(t, fmt.Sprint("GroupNorm ", s), on(d, a).GroupNorm(2, nil, nil, eps), normOf(a, func(i int) int { return i / group }, true, eps), 2e-5)
			}
		}
		a := random(r, 6, 8)
		view := on(d, a).T().Step(0, 3).Slice(1, 1, 5) // [3, 4]
		v := array{[]int{3, 4}, devtest.Float64s(t, view)}
		expect(t, "LayerNorm of a view", view.LayerNorm(1, nil, nil, eps), normOf(v, func(i int) int { return i / 4 }, true, eps), 2e-5)
		expect(t, "BatchNorm of a view", view.BatchNorm(nil, nil, eps), normOf(v, func(i int) int { return i % 4 }, true, eps), 2e-5)
		ints := devtest.New(d, []uint8{1, 2, 3, 200, 5, 6}, 2, 3)
		expect(t, "RMSNorm of bytes", ints.RMSNorm(1, nil, eps), normOf(array{[]int{2, 3}, devtest.Float64s(t, ints)}, func(i int) int { return i / 3 }, false, eps), 2e-5)
	})
}

// TestNormsAreStable: a mean that is large beside the deviation costs nothing where no element is
// rounded.
func TestNormsAreStable(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a := array{[]int{4, 1024}, make([]float64, 4096)}
		for i := range a.data {
			a.data[i] = 4096 + float64(i*5%8)/4
		}
		x := on(d, a)
		expect(t, "LayerNorm", x.LayerNorm(1, nil, nil, 1e-5), normOf(a, func(i int) int { return i / 1024 }, true, 1e-5), 1e-5)
		expect(t, "GroupNorm", x.GroupNorm(2, nil, nil, 1e-5), normOf(a, func(i int) int { return i / 512 }, true, 1e-5), 1e-5)
		expect(t, "BatchNorm", x.T().BatchNorm(nil, nil, 1e-5), normOf(array{[]int{1024, 4}, devtest.Float64s(t, x.T())}, func(i int) int { return i % 4 }, true, 1e-5), 1e-5)
	})
}

// TestBatchVarianceFarFromZero: the variance of a batch is as exact where the mean is ten thousand times
// the deviation, be a channel a run of elements or one.
func TestBatchVarianceFarFromZero(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, s := range [][]int{{8, 17, 64}, {64, 3, 4}, {16, 8, 2}, {2, 5, 1000}, {1000, 5, 1}, {20000, 2}} {
			r := rand.New(rand.NewPCG(1, 2))
			c, inner := s[1], size(s[2:])
			x := make([]float64, size(s))
			for i := range x {
				x[i] = float64(float32(1e4 + 4*r.Float64() - 2))
			}
			o := tensor.BatchNormOptions{Mean: tensor.Zeros(d, c), Var: tensor.Zeros(d, c), Momentum: 1}
			devtest.New(d, x, s...).BatchNorm(nil, nil, 1e-5, o)
			for ch, got := range devtest.Float64s(t, o.Var) {
				n, mean, square := float64(len(x)/c), 0.0, 0.0
				for i, v := range x {
					if i/inner%c == ch {
						mean += v / n
					}
				}
				for i, v := range x {
					if i/inner%c == ch {
						square += (v - mean) * (v - mean)
					}
				}
				if want := square / (n - 1); math.Abs(got/want-1) > 3e-6 {
					t.Errorf("%v: the variance of channel %d is %v, want %v", s, ch, got, want)
				}
			}
		}
	})
}

// TestRunningStatistics: training moves them, evaluation and a batch without elements do not.
func TestRunningStatistics(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 10, 2, 10, 6, 40}, 3, 2) // means 3 and 20, variances with correction 7 and 300
		both := devtest.New(d, []float64{7, 7, 0, 0, 1, 1, 7, 7}, 4, 2)
		o := tensor.BatchNormOptions{Mean: both.Select(0, 1), Var: both.Select(0, 2)}
		x.BatchNorm(nil, nil, 0, o)
		expectNumbers(t, "a tenth", devtest.Float64s(t, both), []float64{7, 7, 0.3, 2, 1.6, 30.9, 7, 7})
		o.Momentum = 1
		x.BatchNorm(nil, nil, 0, o)
		expectNumbers(t, "all", devtest.Float64s(t, both), []float64{7, 7, 3, 20, 7, 300, 7, 7})
		tensor.Zeros(d, 0, 2).BatchNorm(nil, nil, 0, o)
		o.Eval = true
		y := x.BatchNorm(devtest.New(d, []float64{1, 2}), devtest.New(d, []float64{0, 1}), 2, o)
		expectNumbers(t, "evaluation", devtest.Float64s(t, y.Select(1, 0)), []float64{-2. / 3, -1. / 3, 1})
		expectNumbers(t, "evaluation, weighted", devtest.Float64s(t, y.Select(1, 1)), []float64{1 - 20/math.Sqrt(302), 1 - 20/math.Sqrt(302), 1 + 40/math.Sqrt(302)})
		expectNumbers(t, "afterwards", devtest.Float64s(t, both), []float64{7, 7, 3, 20, 7, 300, 7, 7})
	})
}

// TestNormMisuse: what is no norm's panics, and names what is wrong.
func TestNormMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, two, three := tensor.Zeros(d, 2, 3), tensor.Zeros(d, 2), tensor.Zeros(d, 3)
	for _, f := range []func(){
		func() { x.LayerNorm(-1, two, nil, 0) }, func() { x.LayerNorm(0, nil, three, 0) }, func() { x.RMSNorm(-1, two, 0) },
		func() { x.GroupNorm(2, nil, nil, 0) }, func() { x.GroupNorm(0, nil, nil, 0) }, func() { x.GroupNorm(1, two, nil, 0) },
		func() { x.InstanceNorm(nil, two, 0) }, func() { two.InstanceNorm(nil, nil, 0) }, func() { two.BatchNorm(nil, nil, 0) },
		func() { x.BatchNorm(two, nil, 0) }, func() { tensor.Zeros(d, 1, 3).BatchNorm(nil, nil, 0) },
		func() { x.BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: two, Var: two}) },
	} {
		fails(t, f, tensor.ErrShape)
	}
	fails(t, func() { x.LayerNorm(2, nil, nil, 0) }, tensor.ErrAxis)
	fails(t, func() { x.RMSNorm(-3, nil, 0) }, tensor.ErrAxis)
	gaps := tensor.Zeros(d, 3, 2).Select(1, 0)
	for _, o := range [][]tensor.BatchNormOptions{
		{{}, {}}, {{Eval: true}}, {{Mean: three}}, {{Var: three}}, {{Momentum: -1}}, {{Momentum: math.NaN()}}, {{Momentum: 1.5}},
		{{Mean: gaps, Var: three}}, {{Mean: three, Var: gaps}},
	} {
		fails(t, func() { x.BatchNorm(nil, nil, 0, o...) }, tensor.ErrValue)
	}
	both, other := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}), tensor.Full(d, 7, 3)
	first, last := both.Slice(0, 0, 3), both.Slice(0, 3, 6)
	for name, f := range map[string]func(){
		"one for both":       func() { x.BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: first, Var: first}) },
		"overlapping":        func() { x.BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: first, Var: both.Slice(0, 2, 5)}) },
		"Mean in x":          func() { both.Reshape(2, 3).BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: first, Var: other}) },
		"Var in x":           func() { both.Reshape(2, 3).BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: other, Var: last}) },
		"weights as Mean":    func() { x.BatchNorm(first, nil, 0, tensor.BatchNormOptions{Mean: first, Var: last}) },
		"biases as Variance": func() { x.BatchNorm(nil, last, 0, tensor.BatchNormOptions{Mean: first, Var: last}) },
	} {
		t.Run(name, func(t *testing.T) { fails(t, f, tensor.ErrValue) })
		expectNumbers(t, name+" leaves all as it was", devtest.Float64s(t, both), []float64{1, 2, 3, 4, 5, 6})
	}
	x.BatchNorm(first, first, 0, tensor.BatchNormOptions{Mean: first, Var: first, Eval: true}) // which writes nothing
	fails(t, func() {
		x.BatchNorm(nil, nil, 0, tensor.BatchNormOptions{Mean: tensor.ZerosOf(d, tensor.Int32, 3), Var: three})
	}, tensor.ErrType)
}
