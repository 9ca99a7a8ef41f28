package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestFunctionsWithinMaps: what is added to a function, taken from it or multiplied with it in one
// launch finds the bits that the function has alone. Compilers of GPUs leave out the rounding of a
// quotient before a sum, and make 1/√x one instruction, unless they are built to divide exactly.
func TestFunctionsWithinMaps(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		functions := fn.Functions
		if !devtest.Sweep() {
			functions = []*kernels.Function{fn.Div, fn.DivScalar, fn.Sqrt}
		}
		rng := tensor.NewRNG(5)
		const n = 20000
		y := rng.Uniform(d, -1, 1, n)
		for _, f := range functions {
			var xs []*tensor.Tensor
			for k := range f.Operands() {
				domain := [2]float64{-2, 2}
				if k < len(f.Domains) {
					domain = f.Domains[k]
				}
				xs = append(xs, rng.Uniform(d, domain[0], domain[1], n))
			}
			value := func() *tensor.Tensor { return tensor.Map(f, f.Scalars, xs...).To(d.DefaultType()) }
			for _, step := range []func() []*tensor.Tensor{
				func() []*tensor.Tensor { return []*tensor.Tensor{value().Add(y), value().Mul(y)} },
				func() []*tensor.Tensor { return []*tensor.Tensor{y.MulScalar(0.3).Sub(value()), value().Reciprocal()} },
			} {
				want := bits(t, step())
				rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return step(), nil })
				if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				if err := rec.Run(); err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				if bits(t, rec.Outputs()) != want {
					t.Errorf("%s: a replay has other bits than the step", f.Name)
				}
				rec.Free()
			}
		}
	})
}
