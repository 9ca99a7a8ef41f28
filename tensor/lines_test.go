package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

type reduction struct {
	f    func(x *tensor.Tensor, axes ...int) *tensor.Tensor
	want func(line []float64) float64
}

// lineReductions are those of whole lines, with their references.
var lineReductions = map[string]reduction{
	"Prod":   {(*tensor.Tensor).Prod, factorsOf},
	"Norm 1": {norm(1), func(line []float64) float64 { return sumOf(each1(line, math.Abs)) }},
	"Norm 2": {norm(2), func(line []float64) float64 { return math.Sqrt(sumOf(each1(line, square))) }},
	"Norm 3": {norm(3), func(line []float64) float64 {
		return math.Cbrt(sumOf(each1(line, func(x float64) float64 { return math.Pow(math.Abs(x), 3) })))
	}},
	"Norm 0":       {norm(0), countOf},
	"MaxNorm":      {norm(math.Inf(1)), func(line []float64) float64 { return slices.Max(each1(line, math.Abs)) }},
	"MinNorm":      {norm(math.Inf(-1)), func(line []float64) float64 { return slices.Min(each1(line, math.Abs)) }},
	"LogSumExp":    {(*tensor.Tensor).LogSumExp, func(line []float64) float64 { return math.Log(sumOf(each1(line, math.Exp))) }},
	"CountNonzero": {(*tensor.Tensor).CountNonzero, countOf},
	"Any":          {(*tensor.Tensor).Any, func(line []float64) float64 { return min(countOf(line), 1) }},
	"All": {(*tensor.Tensor).All, func(line []float64) float64 {
		if countOf(line) == float64(len(line)) {
			return 1
		}
		return 0
	}},
	"Var":           {func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Var(1, axes...) }, varOf(1)},
	"Std":           {func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Std(0, axes...) }, func(line []float64) float64 { return math.Sqrt(varOf(0)(line)) }},
	"ArgMax":        {(*tensor.Tensor).ArgMax, func(line []float64) float64 { return float64(slices.Index(line, slices.Max(line))) }},
	"ArgMin":        {(*tensor.Tensor).ArgMin, func(line []float64) float64 { return float64(slices.Index(line, slices.Min(line))) }},
	"MaxWithIndex":  {firstOf((*tensor.Tensor).MaxWithIndex), slices.Max[[]float64]},
	"Median":        {firstOf((*tensor.Tensor).Median), func(line []float64) float64 { return inOrder(line, false)[(len(line)-1)/2].v }},
	"Median, index": {secondOf((*tensor.Tensor).Median), func(line []float64) float64 { return float64(inOrder(line, false)[(len(line)-1)/2].i) }},
	"MinWithIndex":  {firstOf((*tensor.Tensor).MinWithIndex), slices.Min[[]float64]},
}

func norm(p float64) func(x *tensor.Tensor, axes ...int) *tensor.Tensor {
	return func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Norm(p, axes...) }
}

func firstOf(f func(x *tensor.Tensor, axes ...int) (a, b *tensor.Tensor)) func(x *tensor.Tensor, axes ...int) *tensor.Tensor {
	return func(x *tensor.Tensor, axes ...int) *tensor.Tensor {
		a, b := f(x, axes...)
		b.Free()
		return a
	}
}

func secondOf(f func(x *tensor.Tensor, axes ...int) (a, b *tensor.Tensor)) func(x *tensor.Tensor, axes ...int) *tensor.Tensor {
	return func(x *tensor.Tensor, axes ...int) *tensor.Tensor {
		a, b := f(x, axes...)
		a.Free()
		return b
	}
}

func square(x float64) float64 { return x * x }

func each1(line []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(line))
	for i, x := range line {
		out[i] = f(x)
	}
	return out
}

func factorsOf(line []float64) float64 {
	p := 1.0
	for _, x := range line {
		p *= x
	}
	return p
}

func countOf(line []float64) (n float64) {
	for _, x := range line {
		if x != 0 {
			n++
		}
	}
	return n
}

// varOf is a variance in two passes.
func varOf(correction int) func(line []float64) float64 {
	return func(line []float64) float64 {
		mean := sumOf(line) / float64(len(line))
		return sumOf(each1(line, func(x float64) float64 { return square(x - mean) })) / float64(max(len(line)-correction, 0))
	}
}

// TestReductionsHaveReferences: each reduction of the table of operations has a reference by hand, under its name or
// one that begins with it.
func TestReductionsHaveReferences(t *testing.T) {
	for name := range devtest.Reductions[*tensor.Tensor](t) {
		_, by := reductions[name]
		for key := range lineReductions {
			by = by || key == name || strings.HasPrefix(key, name+" ")
		}
		if !by {
			t.Errorf("lineReductions has no reference of %s", name)
		}
	}
}

// TestLineReductions holds each, over every set of axes, of tensors of every layout, to its
// reference, as TestKeepdims does. Some elements are 0, and some are equal.
func TestLineReductions(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, some(rand.New(rand.NewPCG(3, 8)), 4*3*2*5), 4, 3, 2, 5)
		for name, x := range map[string]*tensor.Tensor{
			"whole": x, "transposed": x.Transpose(3, 1, 0, 2), "gaps": x.Slice(3, 1, 3), "repeated": x.Slice(2, 0, 1).Expand(4, 3, 2, 5),
			"empty": x.Slice(1, 2, 2), "rank 0": tensor.Scalar(d, 3), "rank 8": x.Slice(3, 0, 2).Reshape(2, 2, 1, 3, 1, 2, 2, 1),
			"ints": x.MulScalar(4).To(tensor.Int32), "bytes": x.MulScalar(4).Abs().To(tensor.Uint8).Transpose(1, 0, 2, 3), "halves": x.To(tensor.Float16),
		} {
			v, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for op, r := range lineReductions {
				masks := 1 << x.Rank()
				for mask := range masks {
					if masks > 16 && mask%51 != 0 || name != "whole" && mask%5 != 0 {
						continue // all axes, those that are apart, and one
					}
					want := r.want
					if op == "Prod" && x.Type() == tensor.Int32 {
						want = func(line []float64) float64 { return float64(int32(int64(r.want(line)))) }
					}
					if op == "Prod" && x.Type() == tensor.Uint8 && size(x.Shape()) > 30 { // beyond what a float64 holds
						continue
					}
					checkReduction(t, fmt.Sprintf("%s of %s, axes %b", op, name, mask), x, v, mask, r.f, want)
				}
			}
		}
	})
}

// some returns numbers of [−2, 2), every fifth of them 0, and in steps that single precision and
// float16 have.
func some(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		if i%5 != 3 {
			v[i] = math.Round(256*(4*r.Float64()-2)) / 256
		}
	}
	return v
}

// TestLongLines: lines that are reduced in shares, and many columns of them. Of equal extremes the
// first counts, in whichever share it is, and a NaN before all others.
func TestLongLines(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const n = 40003
		r := rand.New(rand.NewPCG(4, 8))
		for _, inner := range []int{1, 3, 17} {
			data := some(r, n*inner)
			for i := range inner { // two equal maxima and minima
				data[20000*inner+i], data[39000*inner+i] = 3, 3
				data[12345*inner+i], data[12346*inner+i] = -3, -3
			}
			x := devtest.New(d, data, 1, n, inner)
			tol := 1e-12
			if d.DefaultType() == kernels.Float32 {
				tol = 2e-5
			}
			for op, c := range lineReductions {
				if op == "Prod" { // of these it is 0
					continue
				}
				got := devtest.Float64s(t, c.f(x, 1))
				for i := range inner {
					line := make([]float64, n)
					for k := range line {
						line[k] = data[k*inner+i]
					}
					if want := c.want(line); math.Abs(got[i]-want) > tol*math.Abs(want) {
						t.Errorf("%s of %d columns: %v, want %v", op, inner, got[i], want)
					}
				}
				if again := devtest.Float64s(t, c.f(x, 1)); !sameNumbers(got, again) {
					t.Errorf("%s: other bits at the second time", op)
				}
			}
			for i := range inner {
				data[30001*inner+i], data[30003*inner+i] = math.NaN(), math.NaN()
			}
			x = devtest.New(d, data, 1, n, inner)
			for _, f := range []func(x *tensor.Tensor, axes ...int) (a, b *tensor.Tensor){(*tensor.Tensor).MaxWithIndex, (*tensor.Tensor).MinWithIndex} {
				values, indices := f(x, 1)
				for i, v := range devtest.Float64s(t, values) {
					if k := devtest.Float64s(t, indices)[i]; !math.IsNaN(v) || k != 30001 {
						t.Errorf("%v at %v, want the NaN at 30001", v, k)
					}
				}
			}
		}
		factors := make([]float64, n)
		for i := range factors {
			factors[i] = []float64{2, 0.5, -1, 1, 1}[i%5]
		}
		if got, want := devtest.Float64s(t, devtest.New(d, factors).Prod())[0], factorsOf(factors); got != want {
			t.Errorf("a product of %d factors is %v, want %v", n, got, want)
		}
	})
}

// TestExtremesOfInts: ints that single precision does not tell apart, and those at the ends of their range, in
// rows and columns that are cut into parts.
func TestExtremesOfInts(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const n = 40003
		for _, inner := range []int{1, 5, 64} {
			for _, ends := range [][2]int32{{1 << 30, 1<<30 + 3}, {math.MinInt32, math.MaxInt32}} {
				least, most := ends[0], ends[1]
				data := make([]int32, n*inner)
				for i := range data {
					data[i] = []int32{least + 1, most - 1}[i%2]
				}
				for i := range inner {
					data[(777+i)*inner+i], data[39000*inner+i] = least, least
					data[(20000+i)*inner+i], data[20600*inner+i] = most, most
				}
				x := tensor.New(d, data, 1, n, inner)
				for _, f := range []struct {
					of    func(x *tensor.Tensor, axes ...int) (a, b *tensor.Tensor)
					takes func(v, best int32) bool
				}{{(*tensor.Tensor).MaxWithIndex, func(v, best int32) bool { return v > best }},
					{(*tensor.Tensor).MinWithIndex, func(v, best int32) bool { return v < best }}} {
					a, b := f.of(x, 1)
					values, indices := devtest.Float64s(t, a), devtest.Float64s(t, b)
					for i := range inner {
						at := 0
						for k := range n {
							if f.takes(data[k*inner+i], data[at*inner+i]) {
								at = k
							}
						}
						if values[i] != float64(data[at*inner+i]) || indices[i] != float64(at) {
							t.Errorf("column %d of %d: %v at %v, want %v at %v", i, inner, values[i], indices[i], data[at*inner+i], at)
						}
					}
				}
			}
		}
	})
}

// TestReductionsOfSpecials: NaN, infinities and empty lines give what PyTorch gives.
func TestReductionsOfSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			op   string
			x    []float64
			want float64
		}{
			{"LogSumExp", []float64{-inf, -inf}, -inf}, {"LogSumExp", []float64{inf, -inf, 3}, inf}, {"LogSumExp", []float64{inf, inf}, inf},
			{"LogSumExp", []float64{-inf, 2}, 2}, {"LogSumExp", []float64{1, nan, inf}, nan}, {"LogSumExp", []float64{1000, 1000}, 1000 + math.Ln2},
			{"LogSumExp", []float64{-1000, -1000}, -1000 + math.Ln2}, {"LogSumExp", []float64{}, -inf}, {"LogSumExp", []float64{nan}, nan},
			{"Norm 1", []float64{-inf, 1}, inf}, {"Norm 2", []float64{inf, nan}, nan}, {"Norm 3", []float64{-inf}, inf}, {"Norm 2", []float64{}, 0},
			{"MaxNorm", []float64{1, -inf}, inf}, {"MaxNorm", []float64{nan, inf}, nan}, {"MinNorm", []float64{inf, nan, 0}, nan}, {"Norm 0", []float64{nan, 0, -inf, math.Copysign(0, -1)}, 2},
			{"Prod", []float64{0, inf}, nan}, {"Prod", []float64{}, 1}, {"Prod", []float64{-inf, 2}, -inf}, {"Prod", []float64{2, nan, 0}, nan},
			{"Var", []float64{5}, nan}, {"Var", []float64{}, nan}, {"Var", []float64{1, inf, 2}, nan}, {"Var", []float64{1, nan}, nan}, {"Std", []float64{7, 7, 7}, 0},
			{"Median", []float64{3, nan, 1, nan}, nan}, {"Median, index", []float64{3, nan, 1, nan}, 1}, {"Median", []float64{inf, -inf, 2, 5}, 2}, {"Median", []float64{4, 1}, 1},
			{"Median, index", []float64{2, 1, 2, 2}, 0},
			{"Any", []float64{}, 0}, {"All", []float64{}, 1}, {"Any", []float64{0, nan}, 1}, {"All", []float64{1, nan, inf}, 1}, {"Any", []float64{0, math.Copysign(0, -1)}, 0},
			{"ArgMax", []float64{1, nan, 3, nan}, 1}, {"ArgMin", []float64{1, nan, -inf}, 1}, {"ArgMax", []float64{-inf, -inf}, 0}, {"ArgMin", []float64{inf, inf}, 0},
			{"ArgMax", []float64{math.Copysign(0, -1), 0}, 0}, {"MaxWithIndex", []float64{-inf, -inf}, -inf},
		} {
			x := devtest.New(d, c.x)
			if got := devtest.Float64s(t, lineReductions[c.op].f(x))[0]; got != c.want && !(got != got && c.want != c.want) && math.Abs(got-c.want) > 1e-4 {
				t.Errorf("%s of %v is %v, want %v", c.op, c.x, got, c.want)
			}
			wide := x.Reshape(1, len(c.x), 1).Expand(2, len(c.x), 19) // in columns
			for _, got := range devtest.Float64s(t, lineReductions[c.op].f(wide, 1)) {
				if got != c.want && !(got != got && c.want != c.want) && math.Abs(got-c.want) > 1e-4 {
					t.Errorf("%s of columns of %v is %v, want %v", c.op, c.x, got, c.want)
				}
			}
		}
		x := tensor.Zeros(d, 2, 3)
		fails(t, func() { x.Var(-1) }, tensor.ErrValue)
		fails(t, func() { x.Std(-2, 0) }, tensor.ErrValue)
		fails(t, func() { x.Norm(math.NaN()) }, tensor.ErrValue)
		fails(t, func() { tensor.Zeros(d, 0, 3).Norm(inf, 0) }, tensor.ErrShape)
		for op, r := range lineReductions {
			fails(t, func() { r.f(x, 2) }, tensor.ErrAxis)
			fails(t, func() { r.f(x, 0, -2) }, tensor.ErrAxis)
			if got := r.f(tensor.Zeros(d, 0, 1<<20, 1<<20), 1).Shape(); fmt.Sprint(got) != fmt.Sprint([]int{0, 1 << 20}) {
				t.Errorf("%s of a huge tensor of no elements: %v", op, got)
			}
		}
	})
}

// TestVarianceOfEquals: equal elements have exactly their mean and no variance, however many and large
// they are.
func TestVarianceOfEquals(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, v := range []float64{0.1, -7e5, 3e38} {
			v = float64(float32(v))
			for _, shape := range [][]int{{1, 1, 1}, {1, 700001, 1}, {30, 333, 1}, {1, 3001, 20}, {2, 99999, 3}} {
				x := tensor.Full(d, v, shape...)
				for i, got := range devtest.Float64s(t, x.Var(0, 1)) {
					if got != 0 {
						t.Fatalf("%v of %v: variance %d is %v", shape, v, i, got)
					}
				}
				mean, variance := tensorapi.Impl.Moments("Var", x, 0, 1)
				for i, got := range devtest.Float64s(t, mean) {
					if got != v {
						t.Fatalf("%v of %v: mean %d is %v", shape, v, i, got)
					}
				}
				mean.Free()
				variance.Free()
			}
		}
	})
}

// TestVarianceCancels: numbers that are large beside their deviations have the variance that those
// have, in rows, in columns and in long lines.
func TestVarianceCancels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 30000
		r := rand.New(rand.NewPCG(5, 8))
		data := make([]float64, n)
		for i := range data {
			data[i] = float64(float32(4096 + r.Float64()))
		}
		for _, shape := range [][]int{{1, n, 1}, {100, 300, 1}, {1, 1500, 20}, {3, 100, 100}} {
			x := devtest.New(d, data, shape...)
			got, lines := devtest.Float64s(t, x.Var(1, 1)), devtest.Float64s(t, x.Transpose(0, 2, 1))
			for i, v := range got {
				if want := varOf(1)(lines[i*shape[1] : (i+1)*shape[1]]); math.Abs(v-want) > 2e-3*want {
					t.Errorf("%v: variance %v, want %v", shape, v, want)
				}
			}
		}
	})
}
