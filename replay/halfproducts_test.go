package replay_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestRandomHalfProducts: steps of products of 16 bits with maps behind them have the bits of eager ones, and on CPUs
// some maps are computed where a product stores its result.
func TestRandomHalfProducts(t *testing.T) {
	half := []randomOp{
		{"product of 16 bits", func(_ *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			typ := []tensor.Type{tensor.Float16, tensor.BFloat16}[r.IntN(2)]
			z := x.To(typ).MatMul(y.To(typ))
			return []func() *tensor.Tensor{z.Tanh, z.Square, z.Exp}[r.IntN(3)]().To(x.Type())
		}},
		{"batch of 16 bits", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			h := x.To(tensor.BFloat16)
			return h.Reshape(-1, 2, 1).MatMul(h.Reshape(-1, 1, 2)).Sigmoid().To(x.Type())
		}},
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		var explained bytes.Buffer
		ops := map[string]int{}
		for seed := range 20 {
			table := slices.Concat(storedOps(), slices.Repeat(half, 20))
			randomSteps(t, d, devtest.Seed(seed), ops, func(w *world) { w.table = table }, replay.Options{Explain: &explained})
		}
		if !strings.Contains(explained.String(), "computed where") {
			t.Error("no map is computed where a product stores its result")
		}
		for _, op := range half {
			if ops[op.name] == 0 {
				t.Errorf("no step did %q", op.name)
			}
		}
	})
}
