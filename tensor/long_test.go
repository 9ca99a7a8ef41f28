package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLongProducts: a product that sums over so many terms that they are summed in slices, where a
// device has more than one unit, is what it is in one: stored, added, or with a bias and an
// activation.
func TestLongProducts(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 8))
		for i, s := range [][3]int{{3, 5, 8209}, {2, 2, 8191}, {5, 3, 8192}, {1, 7, 20000}} {
			m, n, k := s[0], s[1], s[2]
			if i > 1 && !d.Target().CPU && !devtest.More() { // a CPU is slow in the tiles of GPUs
				continue
			}
			a, b, bias := random(r, m, k), random(r, k, n), random(r, n)
			sum := array{[]int{m, n}, make([]float64, m*n)}
			for i := range a.data {
				a.data[i] /= float64(k)
			}
			each([]int{m, n, k}, func(i []int) {
				sum.data[i[0]*n+i[1]] += a.data[i[0]*k+i[2]] * b.data[i[2]*n+i[1]]
			})
			added, layer, operand, value := array{sum.shape, nil}, array{sum.shape, nil}, array{sum.shape, nil}, array{sum.shape, nil}
			for i, v := range sum.data {
				added.data = append(added.data, v+3)
				layer.data = append(layer.data, math.Tanh(v+bias.data[i%n]))
				operand.data = append(operand.data, v+bias.data[i%n])
				value.data = append(value.data, math.Log1p(math.Exp(v+bias.data[i%n])))
			}
			x, y := on(d, a), on(d, b)
			for form, x := range map[string]*tensor.Tensor{"nn": x, "tn": x.T().Copy().T()} {
				what := fmt.Sprint(form, s)
				expect(t, what, x.MatMul(y), sum, 1e-5)
				onto := tensor.Full(d, 3, m, n)
				tensorapi.Impl.MatMulInto(onto, x, y, true)
				expect(t, what+" added", onto, added, 1e-5)
				tensorapi.Impl.MatMulInto(onto, x, y, false)
				expect(t, what+" stored", onto, sum, 1e-5)
				expect(t, what+" layer", tensor.Linear(x, y, on(d, bias), fn.Tanh), layer, 1e-5)
				softplus, stored := tensorapi.Impl.Linear(x, y, on(d, bias), fn.Softplus, nil, true)
				expect(t, what+" layer in a graph", softplus, value, 1e-5)
				expect(t, what+" layer's operand", stored, operand, 1e-5)
			}
		}
	})
}
