package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// longSize is how many elements the tests of long sums have: under the race detector, which is no
// matter to them, few.
func longSize() int {
	switch {
	case os.Getenv("CLGRAD_MORE") != "":
		return 100_000_000
	case underRace || testing.Short() && runtime.GOARCH != "amd64":
		return 200_000
	}
	return 10_000_000
}

// onLong runs f in float32 on every device; with ten million elements also with the kernels for GPUs, and in float64 on
// the Go device.
func onLong(t *testing.T, f func(t *testing.T, d tensor.Device)) { onLongIn(t, true, f) }

// onLongIn leaves the kernels for GPUs to make test-more where gpuKernels is not set: a CPU is slow in them. A
// hundred million elements show nothing of them, nor of float64, that ten million do not, and take minutes.
func onLongIn(t *testing.T, gpuKernels bool, f func(t *testing.T, d tensor.Device)) {
	t.Setenv(tensor.SelfTestEnv, "off") // TestKernels compares these kernels with their host kernels
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) { f(t, devtest.Open(t, sel, tensor.Options{})) })
		switch {
		case os.Getenv("CLGRAD_MORE") != "":
		case sel == "cpu":
			t.Run(sel+"/float64", func(t *testing.T) {
				f(t, devtest.Open(t, sel, tensor.Options{DefaultType: tensor.Float64}))
			})
		case gpuKernels || devtest.More():
			t.Run(sel+"/gpu kernels", func(t *testing.T) { f(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// sumBound is the bound that Sum documents, for a sum of n terms whose magnitudes add up to size.
func sumBound(d tensor.Device, n int, size float64) float64 {
	u := 0x1p-24
	if d.DefaultType().String() == "float64" {
		u = 0x1p-53
	}
	return (256 + math.Log2(float64(max(n, 1)))) * u * size
}

// long is a box of numbers [outer, n, inner], and exact sums of each line of it: of the numbers,
// and of their magnitudes.
type long struct {
	outer, n, inner int
	data            []float32
}

// line calls f with each element of the line at (o, i), in order.
func (l long) line(o, i int, f func(k int, x float64)) {
	for k := range l.n {
		f(k, float64(l.data[(o*l.n+k)*l.inner+i]))
	}
}

// exact adds numbers in twice the precision of float64.
type exact struct{ high, low float64 }

func (e *exact) add(x float64) {
	s := e.high + x
	b := s - e.high
	e.low += (e.high - (s - b)) + (x - b)
	e.high = s
}

func (e *exact) value() float64 { return e.high + e.low }

// boxes returns boxes of about size elements, of all positions of the axis, from the same numbers.
func boxes(data []float32) []long {
	var list []long
	size := len(data)
	for _, s := range [][2]int{{1, 1}, {1, 33}, {3, 3}, {2, 20}} {
		l := long{s[0], size / (s[0] * s[1]), s[1], nil}
		l.data = data[:l.outer*l.n*l.inner]
		list = append(list, l)
	}
	return list
}

// longNumbers returns numbers whose running sum in their precision is far off: the mean is a
// hundred times the deviation.
func longNumbers(size int, mean, sd float64) []float32 {
	r := rand.New(rand.NewPCG(26, 6))
	data := make([]float32, size)
	for i := range data {
		data[i] = float32(mean + sd*(2*r.Float64()-1))
	}
	return data
}

// lineSums are what TestLongSums takes of each line.
var lineSums = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"Sum":       func(x *tensor.Tensor) *tensor.Tensor { return x.Sum(1) },
	"Mean":      func(x *tensor.Tensor) *tensor.Tensor { return x.Mean(1) },
	"Norm(1)":   func(x *tensor.Tensor) *tensor.Tensor { return x.Norm(1, 1) },
	"Norm(2)":   func(x *tensor.Tensor) *tensor.Tensor { return x.Norm(2, 1) },
	"Var":       func(x *tensor.Tensor) *tensor.Tensor { return x.Var(0, 1) },
	"LogSumExp": func(x *tensor.Tensor) *tensor.Tensor { return x.LogSumExp(1) },
}

// lineResults are the results by line, and for each what the bound is a multiple of.
type lineResults struct{ value, size []float64 }

// prefix is the sum of elements up to one.
type prefix struct {
	at  int
	sum float64
}

// reduced returns the lineSums of all lines, and some prefix sums.
func (l long) reduced() (map[string]*lineResults, []prefix) {
	all, prefixes := map[string]*lineResults{}, []prefix{}
	for o := range l.outer {
		for i := range l.inner {
			var sum, squares, powers, deviations exact
			l.line(o, i, func(k int, x float64) {
				sum.add(x)
				squares.add(x * x)
				powers.add(math.Exp(x - 20))
				if k%99_991 == 0 || k == l.n-1 {
					prefixes = append(prefixes, prefix{(o*l.n+k)*l.inner + i, sum.value()})
				}
			})
			mean := sum.value() / float64(l.n)
			l.line(o, i, func(_ int, x float64) { deviations.add((x - mean) * (x - mean)) })
			variance, length := deviations.value()/float64(l.n), math.Sqrt(squares.value())
			for name, v := range map[string][2]float64{"Sum": {sum.value(), sum.value()}, "Mean": {mean, mean}, "Norm(1)": {sum.value(), sum.value()},
				"Norm(2)": {length, length}, "Var": {variance, variance + math.Sqrt(variance)*mean}, "LogSumExp": {20 + math.Log(powers.value()), 1}} {
				if all[name] == nil {
					all[name] = &lineResults{}
				}
				all[name].value, all[name].size = append(all[name].value, v[0]), append(all[name].size, v[1])
			}
		}
	}
	return all, prefixes
}

// TestLongSums: the error of a sum, a mean, a norm or a prefix sum of ten million elements is
// within the bound that Sum documents, in every position of the axis.
func TestLongSums(t *testing.T) {
	data := longNumbers(longSize()-1, 10, 9.99)
	for i, l := range boxes(data) {
		all, prefixes := l.reduced()
		t.Run(fmt.Sprintf("%dx%dx%d", l.outer, l.n, l.inner), func(t *testing.T) {
			onLongIn(t, i%2 == 0, func(t *testing.T, d tensor.Device) {
				x := devtest.New(d, l.data, l.outer, l.n, l.inner)
				defer x.Free()
				for name, want := range all {
					y := lineSums[name](x)
					for i, v := range devtest.Float64s(t, y) {
						if bound := sumBound(d, l.n, want.size[i]); !(math.Abs(v-want.value[i]) <= bound) {
							t.Errorf("%s: element %d is %v, want %v within %.3g", name, i, v, want.value[i], bound)
							break
						}
					}
					y.Free()
				}
				sums := x.CumSum(1)
				defer sums.Free()
				got := devtest.Float64s(t, sums)
				for _, p := range prefixes {
					if bound := sumBound(d, l.n, p.sum); !(math.Abs(got[p.at]-p.sum) <= bound) {
						t.Errorf("CumSum: element %d is %v, want %v within %.3g", p.at, got[p.at], p.sum, bound)
						break
					}
				}
			})
		})
	}
}

// TestLongSumsOfViews: the bound of long sums holds for non-contiguous views, for several axes, for
// all, and for SumTo.
func TestLongSumsOfViews(t *testing.T) {
	size := longSize()
	rows := size / 30 * 2
	data := longNumbers(3*rows*5, 3, 2.5)
	at := func(o, k, i int) float64 { return float64(data[(o*rows+k)*5+i]) }
	sumOver := func(os, is []int, step int) (float64, int) {
		var e exact
		n := 0
		for _, o := range os {
			for k := 0; k < rows; k += step {
				for _, i := range is {
					e.add(at(o, k, i))
					n++
				}
			}
		}
		return e.value(), n
	}
	var apart exact
	for o := range 3 {
		for _, v := range data[(o*5+2)*rows:][:rows] {
			apart.add(float64(v))
		}
	}
	o, i := []int{0, 1, 2}, []int{0, 1, 2, 3, 4}
	onLongIn(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, data, 3, rows, 5)
		defer x.Free()
		check := func(name string, y *tensor.Tensor, element int, os, is []int, step int) {
			t.Helper()
			want, n := sumOver(os, is, step)
			if got := devtest.Float64s(t, y)[element]; !(math.Abs(got-want) <= sumBound(d, n, want)) {
				t.Errorf("%s: %v, want %v within %.3g", name, got, want, sumBound(d, n, want))
			}
		}
		check("all", x.Sum(), 0, o, i, 1)
		check("axes 0 and 1", x.Sum(0, 1), 3, o, []int{3}, 1)
		check("axes 1 and 2", x.Sum(1, 2), 1, []int{1}, i, 1)
		if got, bound := devtest.Float64s(t, x.Reshape(3, 5, rows).Sum(0, 2))[2], sumBound(d, 3*rows, apart.value()); !(math.Abs(got-apart.value()) <= bound) {
			t.Errorf("axes 0 and 2: %v, want %v within %.3g", got, apart.value(), bound)
		}
		check("SumTo", x.SumTo(5), 2, o, []int{2}, 1)
		turned := x.Transpose(1, 0, 2) // [rows, 3, 5]
		check("axis 0 of a view", turned.Sum(0), 7, []int{1}, []int{2}, 1)
		thin := x.Reshape(3, rows/2, 2, 5).Slice(2, 0, 1)
		check("every second row", thin.Sum(1, 2), 4, []int{0}, []int{4}, 2)
		check("all of every second row", thin.Sum(), 0, o, i, 2)
	})
}

// TestLongSumsOfOnes: counts stay exact where a running sum of float32 ends at 2²⁴.
func TestLongSumsOfOnes(t *testing.T) {
	n := 2 * longSize()
	onLong(t, func(t *testing.T, d tensor.Device) {
		ones := tensor.Full(d, 1, n, 2)
		for i, v := range devtest.Float64s(t, ones.CountNonzero(0)) {
			if v != float64(n) {
				t.Errorf("column %d of %d ones has %v that are not 0", i, n, v)
			}
		}
		if long := 1<<24 + 3; n > 4*long || devtest.More() { // of one part, if floats could count it
			rows := tensor.Full(d, 1, 4, long)
			for i, v := range devtest.Float64s(t, rows.CountNonzero(1)) {
				if v != float64(long) {
					t.Errorf("row %d of %d ones has %v that are not 0", i, long, v)
				}
			}
			rows.Free()
		}
		for i, v := range devtest.Float64s(t, ones.Sum(0)) {
			if v != float64(n) {
				t.Errorf("the sum of column %d of %d ones is %v", i, n, v)
			}
		}
		ones.Free()
		ones = tensor.Full(d, 1, n)
		defer ones.Free()
		sums := ones.CumSum(0)
		defer sums.Free()
		for _, at := range []int{0, 1, n / 3, n - 2, n - 1} {
			// A number that float32 has not is off by its rounding.
			if v := devtest.Float64s(t, sums.Slice(0, at, at+1))[0]; math.Abs(v-float64(at+1)) > float64(at+1)*0x1p-22 {
				t.Errorf("CumSum of %d ones is %v at %d", n, v, at)
			}
		}
	})
}

// TestLongStatistics: the mean and the variance of a million rows, and of 2²⁵ numbers with a mean
// of a million, are those of the numbers.
func TestLongStatistics(t *testing.T) {
	rows, many := 1_000_000, 1<<25
	if longSize() < rows {
		rows, many = 50_000, 1<<18
	}
	r := rand.New(rand.NewPCG(2000, 10))
	table, line := make([]float32, rows*3), make([]float32, many)
	for i := range table {
		table[i] = float32(2000 + 10*r.NormFloat64())
	}
	for i := range line {
		line[i] = float32(1e6 + r.NormFloat64())
	}
	statistics := func(data []float32, from, step int) (mean, variance float64) {
		var sum, squares exact
		for i := from; i < len(data); i += step {
			sum.add(float64(data[i]))
		}
		n := float64((len(data)-from-1)/step + 1)
		mean = sum.value() / n
		for i := from; i < len(data); i += step {
			squares.add((float64(data[i]) - mean) * (float64(data[i]) - mean))
		}
		return mean, squares.value() / (n - 1)
	}
	onLongIn(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, table, rows, 3)
		means, variances := devtest.Float64s(t, x.Mean(0)), devtest.Float64s(t, x.Var(1, 0))
		square := func(y *tensor.Tensor) *tensor.Tensor { return y.Mul(y) }
		centred := devtest.Float64s(t, square(x.Sub(x.Mean(0))).Mean(0))
		for i := range 3 {
			mean, variance := statistics(table, i, 3)
			if math.Abs(means[i]-mean) > 1e-6*mean || math.Abs(variances[i]-variance) > 1e-4*variance || math.Abs(centred[i]-variance) > 1e-4*variance {
				t.Errorf("column %d: mean %v, Var %v, mean of squares %v, want %v and %v", i, means[i], variances[i], centred[i], mean, variance)
			}
		}
		x.Free()
		x = devtest.New(d, line, many)
		defer x.Free()
		mean, variance := statistics(line, 0, 1)
		// A float32 near a million is off by 1/32, and so is what a mean of those can be compared
		// with.
		if got := devtest.Float64s(t, x.Mean())[0]; math.Abs(got-mean) > 2e-7*mean {
			t.Errorf("Mean of %d numbers: %v, want %v", many, got, mean)
		}
		if got := devtest.Float64s(t, x.Var(1, 0))[0]; math.Abs(got-variance) > 0.01*variance {
			t.Errorf("Var of %d numbers: %v, want %v", many, got, variance)
		}
	})
}

// TestLongProductSums: the sums of products of matrices with a million rows are within the bound
// that MatMul documents.
func TestLongProductSums(t *testing.T) {
	longProducts(t, min(longSize()/10, 1_000_000), func(t *testing.T, f func(t *testing.T, d tensor.Device)) { devtest.Each(t, true, f) })
	// A CPU takes minutes over a million rows in the tiles of a GPU.
	longProducts(t, 50_000, onLong)
}

func longProducts(t *testing.T, rows int, on func(t *testing.T, f func(t *testing.T, d tensor.Device))) {
	a, b := longNumbers(rows*5, 3, 2.5), longNumbers(rows*4, 2, 1.5)
	var want [20]exact
	for k := range rows {
		for i := range 5 {
			for j := range 4 {
				want[i*4+j].add(float64(a[k*5+i]) * float64(b[k*4+j]))
			}
		}
	}
	on(t, func(t *testing.T, d tensor.Device) {
		x, y := devtest.New(d, a, rows, 5), devtest.New(d, b, rows, 4)
		defer x.Free()
		defer y.Free()
		across := x.T().Copy()
		defer across.Free()
		for name, c := range map[string]*tensor.Tensor{"tn": x.T().MatMul(y), "nn": across.MatMul(y)} {
			for i, v := range devtest.Float64s(t, c) {
				bound := sumBound(d, rows, want[i].value()) * 8192 / 256
				if off := math.Abs(v - want[i].value()); !(off <= bound) || off > 1e-5*want[i].value() {
					t.Errorf("%s: element %d is %v, want %v", name, i, v, want[i].value())
				}
			}
		}
	})
}
