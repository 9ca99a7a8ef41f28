package replay_test

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestTerms: sums of few terms are added up where they are read, with the bits of the sum; others
// stay sums.
func TestTerms(t *testing.T) {
	type tensors = []*tensor.Tensor
	strange := []float64{math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-42, -1e-42, 3e38, 0}
	for name, c := range map[string]struct {
		shape    []int
		step     func(x, older *tensor.Tensor) tensors
		launches int
		says     string
	}{
		"two":               {[]int{2, 70}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Neg()} }, 1, "sum-to-elementwise: 0 k_sum_axis: a map of 2 operands"},
		"five":              {[]int{5, 300}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Exp()} }, 1, "a map of 5 operands"},
		"eight and another": {[]int{8, 33}, func(x, o *tensor.Tensor) tensors { return tensors{x.Sum(0).Add(o)} }, 1, "epilogue"},
		"many columns":      {[]int{8, 3000}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Neg()} }, 1, "a map of 8 operands"},
		"in the middle":     {[]int{3, 4, 17}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(1).Neg()} }, 1, "a map of 4 operands"},
		"of a row":          {[]int{6, 4}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(1).Neg()} }, 1, "a map of 4 operands"},
		"before a softmax":  {[]int{3, 20, 17}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Softmax(-1)} }, 1, "rows: 0 k_sum_axis"},
		"read twice":        {[]int{3, 40}, func(x, _ *tensor.Tensor) tensors { s := x.Sum(0); return tensors{s.Neg(), s.Exp()} }, 1, "a map of 3 operands"},
		"nine":              {[]int{9, 33}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Neg()} }, 1, "epilogue"},
		"a mean":            {[]int{4, 33}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Mean(0).Neg()} }, -1, ""},
		"returned":          {[]int{4, 33}, func(x, _ *tensor.Tensor) tensors { s := x.Sum(0); return tensors{s.Neg(), s} }, -1, "sum-to-elementwise: 0 k_sum_axis: refused"},
		"a product of it": {[]int{4, 9, 9}, func(x, _ *tensor.Tensor) tensors {
			s := x.Sum(0)
			return tensors{s.MatMul(s), s.Neg()}
		}, -1, "sum-to-elementwise: 0 k_sum_axis: refused"},
		"changed between": {[]int{4, 33}, func(x, o *tensor.Tensor) tensors {
			s := x.Sum(0)
			x.MapInPlace(fn.Neg, nil)
			return tensors{s.Neg()}
		}, -1, ""},
		"into what is there": {[]int{4, 33}, func(x, o *tensor.Tensor) tensors { o.SetInPlace(x.Sum(0).Add(o)); return nil }, 1, "a map of 4 operands"},
		"nothing":            {[]int{4, 0}, func(x, _ *tensor.Tensor) tensors { return tensors{x.Sum(0).Neg()} }, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			onGPUs(t, func(t *testing.T, d tensor.Device) {
				withouts := [][]string{nil}
				if len(c.shape) == 3 || devtest.Sweep() {
					withouts = append(withouts, []string{"sum-to-elementwise"})
				}
				for _, without := range withouts {
					said, report := rewritten(t, d, func() (func() tensors, tensors, tensors) {
						x := tensor.Empty(d, c.shape...)
						sum := x.Sum(min(1, len(c.shape)-2))
						older := tensor.NewRNG(2).Normal(d, 0, 1, sum.Shape()...)
						return func() tensors { return c.step(x, older) }, tensors{x}, tensors{older}
					}, replay.Options{Without: without})
					switch {
					case without != nil:
						if strings.Contains(said, "replay: sum-to-elementwise") {
							t.Errorf("it is switched off, and says:\n%s", said)
						}
					case c.launches >= 0 && report.Launches != c.launches || !strings.Contains(said, c.says):
						t.Errorf("%d launches of %d, want %d and %q:\n%s", report.Launches, report.Step, c.launches, c.says, said)
					}
				}
			})
		})
	}
	t.Run("strange", func(t *testing.T) {
		onGPUs(t, func(t *testing.T, d tensor.Device) {
			for n := 2; n <= 8; n += 3 {
				data := make([]float64, 0, n*len(strange)*len(strange)) // each beside each
				for k := range n {
					for i := range len(strange) * len(strange) {
						v := strange[i%len(strange)]
						if k%2 > 0 {
							v = strange[i/len(strange)]
						}
						data = append(data, v)
					}
				}
				x := devtest.New(d, data, n, len(data)/n)
				step := func() tensors { return tensors{x.Sum(0).Abs().Neg(), x.Sum(0).Neg()} }
				want := bits(t, step())
				rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return step(), nil })
				if err != nil {
					t.Fatal(err)
				}
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
				if got := bits(t, rec.Outputs()); got != want {
					t.Errorf("%d terms: %s, want %s", n, got, want)
				}
				rec.Free()
			}
		})
	})
}
