package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// scans are the scans along an axis, with their references over a line: the last of what it has
// come to.
var scans = map[string]struct {
	f    func(x *tensor.Tensor, axis int) *tensor.Tensor
	last func(line []float64) float64
}{
	"CumSum":        {(*tensor.Tensor).CumSum, sumOf},
	"CumProd":       {(*tensor.Tensor).CumProd, factorsOf},
	"LogCumSumExp":  {(*tensor.Tensor).LogCumSumExp, func(line []float64) float64 { return math.Log(sumOf(each1(line, math.Exp))) }},
	"CumMax":        {firstAlong((*tensor.Tensor).CumMax), slices.Max[[]float64]},
	"CumMin":        {firstAlong((*tensor.Tensor).CumMin), slices.Min[[]float64]},
	"CumMax, index": {secondAlong((*tensor.Tensor).CumMax), func(line []float64) float64 { return float64(lastIndex(line, slices.Max(line))) }},
	"CumMin, index": {secondAlong((*tensor.Tensor).CumMin), func(line []float64) float64 { return float64(lastIndex(line, slices.Min(line))) }},
}

func firstAlong(f func(x *tensor.Tensor, axis int) (a, b *tensor.Tensor)) func(x *tensor.Tensor, axis int) *tensor.Tensor {
	return func(x *tensor.Tensor, axis int) *tensor.Tensor {
		a, b := f(x, axis)
		b.Free()
		return a
	}
}

func secondAlong(f func(x *tensor.Tensor, axis int) (a, b *tensor.Tensor)) func(x *tensor.Tensor, axis int) *tensor.Tensor {
	return func(x *tensor.Tensor, axis int) *tensor.Tensor {
		a, b := f(x, axis)
		a.Free()
		return b
	}
}

func lastIndex(line []float64, v float64) int {
	for i := len(line) - 1; ; i-- {
		if line[i] == v || v != v && line[i] != line[i] {
			return i
		}
	}
}

// alongEach returns what f makes of every line of x, of elements v, along an axis: as many elements
// as the line has.
func alongEach(shape []int, v []float64, axis int, f func(line []float64) []float64) []float64 {
	outer, n, inner := size(shape[:axis]), shape[axis], size(shape[axis+1:])
	out := make([]float64, len(v))
	for o := range outer {
		for i := range inner {
			line := make([]float64, n)
			for k := range line {
				line[k] = v[(o*n+k)*inner+i]
			}
			for k, y := range f(line) {
				out[(o*n+k)*inner+i] = y
			}
		}
	}
	return out
}

// TestScans holds each, along every axis of tensors of every layout and type, to its reference.
func TestScans(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, some(rand.New(rand.NewPCG(3, 9)), 4*37*2*5), 4, 37, 2, 5)
		for name, x := range map[string]*tensor.Tensor{
			"whole": x, "transposed": x.Transpose(3, 0, 2, 1), "gaps": x.Slice(1, 3, 30).Step(3, 2), "repeated": x.Slice(2, 0, 1).Expand(4, 37, 2, 5),
			"empty": x.Slice(1, 2, 2), "ints": x.MulScalar(4).To(tensor.Int32), "bytes": x.MulScalar(4).Abs().To(tensor.Uint8), "halves": x.To(tensor.Float16),
		} {
			v := devtest.Float64s(t, x)
			for op, s := range scans {
				for axis := range x.Rank() {
					want := alongEach(x.Shape(), v, axis, func(line []float64) []float64 {
						out := make([]float64, len(line))
						for k := range line {
							if out[k] = s.last(line[:k+1]); op == "CumProd" && (name == "ints" || name == "bytes") {
								p := int64(1)
								for _, x := range line[:k+1] {
									p *= int64(x)
								}
								out[k] = float64(p)
							}
						}
						return out
					})
					same(t, fmt.Sprintf("%s of %s, axis %d", op, name, axis), s.f(x, axis-x.Rank()), array{x.Shape(), want})
				}
			}
		}
		for op, s := range scans {
			want := 3.0
			if op[len(op)-5:] == "index" {
				want = 0
			}
			same(t, op+" of a scalar", s.f(tensor.Scalar(d, 3), -1), array{[]int{}, []float64{want}})
			fails(t, func() { s.f(x, 4) }, tensor.ErrAxis)
			fails(t, func() { s.f(tensor.Scalar(d, 3), 1) }, tensor.ErrAxis)
		}
	})
}

// TestLongScans: lines that are scanned in shares, each behind what came before, have the sums of
// plain loops, and the same bits at every time.
func TestLongScans(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(4, 9))
		for _, shape := range [][]int{{1, 40003, 1}, {3, 9000, 1}, {1, 20001, 3}, {2, 300, 40}} {
			data := some(r, size(shape))
			x := devtest.New(d, data, shape...)
			tol := 1e-11
			if d.DefaultType() == kernels.Float32 {
				tol = 2e-4
			}
			for op, next := range map[string]func(s, x float64) float64{
				"CumSum": func(s, x float64) float64 { return s + x },
				"LogCumSumExp": func(s, x float64) float64 {
					return max(s, x) + math.Log1p(math.Exp(-math.Abs(s-x)))
				},
				"CumMax": math.Max,
			} {
				want := alongEach(shape, data, 1, func(line []float64) []float64 {
					out := slices.Clone(line)
					for k := 1; k < len(out); k++ {
						out[k] = next(out[k-1], out[k])
					}
					return out
				})
				got := devtest.Float64s(t, scans[op].f(x, 1))
				for i, w := range want {
					if math.Abs(got[i]-w) > tol*max(1, math.Abs(w)) {
						t.Fatalf("%s of %v: element %d is %v, want %v", op, shape, i, got[i], w)
					}
				}
				if !sameNumbers(got, devtest.Float64s(t, scans[op].f(x, 1))) {
					t.Errorf("%s of %v: other bits at the second time", op, shape)
				}
			}
		}
	})
}

// TestScansOfSpecials: NaN and infinities propagate as PyTorch has it.
func TestScansOfSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			op      string
			x, want []float64
		}{
			{"CumSum", []float64{1, inf, 2, -inf, 1}, []float64{1, inf, inf, nan, nan}},
			{"CumProd", []float64{2, 0, inf, 1}, []float64{2, 0, nan, nan}},
			{"LogCumSumExp", []float64{-inf, -inf, 1, inf, -inf}, []float64{-inf, -inf, 1, inf, inf}},
			{"LogCumSumExp", []float64{1, nan, 2}, []float64{1, nan, nan}},
			{"CumMax", []float64{1, 3, 3, nan, 9, nan}, []float64{1, 3, 3, nan, nan, nan}},
			{"CumMax, index", []float64{1, 3, 3, nan, 9, nan}, []float64{0, 1, 2, 3, 3, 5}},
			{"CumMax, index", []float64{-inf, -inf, math.Copysign(0, -1), 0, math.Copysign(0, -1)}, []float64{0, 1, 2, 3, 4}},
			{"CumMin", []float64{inf, 2, nan, -inf}, []float64{inf, 2, nan, nan}},
			{"CumMin, index", []float64{inf, inf, 2, 5, 2, nan, -inf}, []float64{0, 1, 2, 2, 4, 5, 5}},
		} {
			same(t, fmt.Sprint(c.op, c.x), scans[c.op].f(devtest.New(d, c.x), 0), array{[]int{len(c.x)}, c.want})
			wide := devtest.New(d, c.x, len(c.x), 1).Expand(len(c.x), 17)
			for i, got := range devtest.Float64s(t, scans[c.op].f(wide, 0).Select(1, 16)) {
				if got != c.want[i] && got == got {
					t.Errorf("%s of columns of %v: %v, want %v", c.op, c.x, got, c.want[i])
				}
			}
		}
	})
}

// TestCumMaxOfLongLines: the sign of a zero, the last of equal ones and each NaN count behind the
// first vectors of a line, too.
func TestCumMaxOfLongLines(t *testing.T) {
	values := []float64{math.Copysign(0, -1), 0, -1, 1, math.Inf(-1)}
	rng := rand.New(rand.NewPCG(3, 4))
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for _, n := range []int{1, 16, 33, 100} {
			line := make([]float64, n)
			for k := range line {
				line[k] = values[rng.IntN(2+rng.IntN(4))]
				if k > 70 && k%9 == 0 {
					line[k] = math.NaN()
				}
			}
			wide := devtest.New(d, line, n, 1).Expand(n, 19)
			for op, sign := range map[string]float64{"CumMax": 1, "CumMin": -1} {
				rows, columns := devtest.Float64s(t, scans[op].f(wide.T().Copy(), 1).T()), devtest.Float64s(t, scans[op].f(wide.Copy(), 0))
				places := devtest.Float64s(t, scans[op+", index"].f(wide.Copy(), 0))
				same(t, op+" of rows, index", scans[op+", index"].f(wide.T().Copy(), 1).T(), array{[]int{n, 19}, places})
				best := 0
				for k, v := range line {
					if sign*v >= sign*line[best] || v != v {
						best = k
					}
					for name, got := range map[string]float64{"rows": rows[k*19+18], "columns": columns[k*19+18], "first columns": columns[k*19]} {
						if want := line[best]; got != want && got == got || math.Signbit(got) != math.Signbit(want) && want == want {
							t.Fatalf("%s of %s: element %d of %d is %v, want %v", op, name, k, n, got, want)
						}
					}
					if got := places[k*19]; got != float64(best) {
						t.Fatalf("%s of columns: index %d of %d is %v, want %d", op, k, n, got, best)
					}
				}
			}
		}
	})
}
