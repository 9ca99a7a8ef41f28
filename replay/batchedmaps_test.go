package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestBatchedMaps: maps of one function on tensors of several sizes are one launch, where the first was, with
// the bits of the step. What a map reads or writes keeps its place among the launches.
func TestBatchedMaps(t *testing.T) {
	shapes := [][]int{{5}, {33, 7}, {1}, {4000}, {2, 3, 4}, {0, 4}, {50, 70}}
	each := func(of []*tensor.Tensor, f func(i int, x *tensor.Tensor) *tensor.Tensor) (list []*tensor.Tensor) {
		for i, x := range of {
			list = append(list, f(i, x))
		}
		return list
	}
	for name, c := range map[string]struct {
		step     func(x []*tensor.Tensor) []*tensor.Tensor
		launches int // unless maps are batched
		batched  int
	}{
		"of several sizes": {func(x []*tensor.Tensor) []*tensor.Tensor {
			return each(x, func(_ int, x *tensor.Tensor) *tensor.Tensor { return x.Exp() })
		}, 6, 1},
		"in place": {func(x []*tensor.Tensor) []*tensor.Tensor {
			return each(x, func(_ int, x *tensor.Tensor) *tensor.Tensor { x.MapInPlace(fn.Neg, nil); return x.View() })
		}, 6, 1},
		"of other types": {func(x []*tensor.Tensor) []*tensor.Tensor {
			return each(x, func(_ int, x *tensor.Tensor) *tensor.Tensor { return x.To(tensor.BFloat16).To(tensor.Float32) })
		}, 6, 1},
		"with scalars of their own": {func(x []*tensor.Tensor) []*tensor.Tensor {
			return each(x, func(i int, x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(float64(i)) })
		}, 6, 1},
		"of views": {func(x []*tensor.Tensor) []*tensor.Tensor {
			return each(x[6:], func(_ int, x *tensor.Tensor) *tensor.Tensor {
				return tensor.Concat(0, x.Slice(0, 1, 7).Slice(1, 1, 4).Exp().Reshape(-1), x.Slice(0, 20, 25).Slice(1, 3, 6).Exp().Reshape(-1))
			})
		}, 2, 1},
		"about a product of the first": {func(x []*tensor.Tensor) []*tensor.Tensor {
			a := x[1].Exp()
			return []*tensor.Tensor{a, a.MatMul(a.T()), x[3].Exp()}
		}, 3, 2},
		"that depend on each other": {func(x []*tensor.Tensor) []*tensor.Tensor {
			a := x[1].Exp()
			return []*tensor.Tensor{a, a.T().MatMul(a).Exp(), x[3].Exp()}
		}, 4, 3},
		"of memory that is changed between them": {func(x []*tensor.Tensor) []*tensor.Tensor {
			a := x[1].Exp()
			x[6].SetInPlace(x[6].Sum(0, tensor.Keepdims).Add(x[6]))
			return []*tensor.Tensor{a, x[6].Exp()}
		}, 4, 3},
	} {
		t.Run(name, func(t *testing.T) {
			onForms(t, func(t *testing.T, d tensor.Device) {
				run := func(opt *replay.Options) (string, []replay.Launch) {
					rng := tensor.NewRNG(3)
					var x []*tensor.Tensor
					for _, s := range shapes {
						x = append(x, rng.Uniform(d, -2, 2, s...).Retain())
					}
					var out []*tensor.Tensor
					l := doSteps(t, d, 3, func() ([]*tensor.Tensor, error) { out = c.step(x); return out, nil }, opt)
					return bits(t, append(out, x...)), l
				}
				want, _ := run(nil)
				apart, alone := run(&replay.Options{Without: []string{"batch-launches"}})
				var explained strings.Builder
				got, l := run(&replay.Options{Explain: &explained})
				if got != want || apart != want {
					t.Errorf("replays leave\n%.200s, apart\n%.200s\nwant\n%.200s", got, apart, want)
				}
				if len(alone) != c.launches || len(l) != c.batched {
					t.Errorf("%d launches, and %d apart; want %d and %d\n%s%s", len(l), len(alone), c.batched, c.launches, explained.String(), fmt.Sprint(l))
				}
			})
		})
	}
}
