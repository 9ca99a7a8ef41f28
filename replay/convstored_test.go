package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestStoredConvolutions: maps of convolutions are computed where these are stored, with the bits of
// launches of their own: activations, residuals, factors of channels, and of results that are read
// elsewhere, too. On an OpenCL CPU they are not where sums are added up in the result, or neighbours
// are stored apart.
func TestStoredConvolutions(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // with it, a kernel whose results are wrong is replaced
	devices := devtest.Keep(t)
	type operands struct{ x, w, bias, residual, factor *tensor.Tensor }
	then := func(y *tensor.Tensor, fs ...func(*tensor.Tensor) *tensor.Tensor) []*tensor.Tensor {
		for _, f := range fs {
			z := f(y)
			y.Free()
			y = z
		}
		return []*tensor.Tensor{y}
	}
	relu, add := (*tensor.Tensor).ReLU, func(by *tensor.Tensor) func(*tensor.Tensor) *tensor.Tensor {
		return func(y *tensor.Tensor) *tensor.Tensor { return y.Add(by) }
	}
	same, grouped := tensor.ConvOptions{Padding: []int{1}}, tensor.ConvOptions{Padding: []int{1}, Groups: 3}
	for name, c := range map[string]struct {
		x, w, y []int // shapes; of the residual, that of the result
		step    func(o operands) []*tensor.Tensor
		apart   bool // on an OpenCL CPU
	}{
		"few rows": {[]int{2, 3, 7, 5}, []int{18, 3, 3, 3}, []int{2, 18, 7, 5}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, same), relu)
		}, false},
		"channels last": {[]int{1, 3, 9, 40}, []int{5, 3, 3, 3}, []int{1, 5, 9, 40}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, same), func(y *tensor.Tensor) *tensor.Tensor { return y.MoveDim(1, 3).Neg() })
		}, false},
		"a residual": {[]int{2, 3, 9, 70}, []int{6, 3, 3, 3}, []int{2, 6, 9, 70}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, same), add(o.residual), relu)
		}, false},
		"a factor of channels": {[]int{1, 3, 11, 20}, []int{5, 3, 1, 2}, []int{1, 5, 11, 19}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, nil), func(y *tensor.Tensor) *tensor.Tensor { return y.Mul(o.factor) }, relu)
		}, false},
		"kept": {[]int{1, 3, 6, 33}, []int{4, 3, 3, 3}, []int{1, 4, 6, 33}, func(o operands) []*tensor.Tensor {
			y := o.x.Conv(o.w, o.bias, same)
			return []*tensor.Tensor{y, y.ReLU()}
		}, false},
		"strided": {[]int{1, 3, 15, 41}, []int{16, 3, 3, 3}, []int{1, 16, 8, 21}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}), relu)
		}, false},
		"depthwise": {[]int{2, 3, 9, 21}, []int{3, 1, 3, 3}, []int{2, 3, 9, 21}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, grouped), relu)
		}, false},
		"depthwise of many channels": {[]int{2, 5, 9, 21}, []int{5, 1, 3, 3}, []int{2, 5, 9, 21}, func(o operands) []*tensor.Tensor {
			y := o.x.Conv(o.w, o.bias, tensor.ConvOptions{Padding: []int{1}, Groups: 5})
			return []*tensor.Tensor{y, y.Add(o.residual)}
		}, false},
		"pointwise": {[]int{2, 20, 9, 21}, []int{30, 20, 1, 1}, []int{2, 30, 9, 21}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias), add(o.residual), relu)
		}, false},
		"a long row": {[]int{1, 2, 2, 1500}, []int{3, 2, 3, 3}, []int{1, 3, 2, 1500}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias, same), add(o.residual), relu)
		}, false},
		"a long sum": {[]int{1, 1100, 3, 3}, []int{2, 1100, 2, 2}, []int{1, 2, 2, 2}, func(o operands) []*tensor.Tensor {
			return then(o.x.Conv(o.w, o.bias), relu)
		}, true},
		"transposed": {[]int{2, 3, 6, 9}, []int{3, 5, 3, 3}, []int{2, 5, 8, 11}, func(o operands) []*tensor.Tensor {
			return then(o.x.ConvTranspose(o.w, o.bias), add(o.residual), relu)
		}, false},
		"transposed with a stride": {[]int{2, 3, 6, 9}, []int{3, 5, 2, 2}, []int{2, 5, 12, 18}, func(o operands) []*tensor.Tensor {
			return then(o.x.ConvTranspose(o.w, o.bias, tensor.ConvTransposeOptions{Stride: []int{2}}), relu)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			devices.Each(t, true, func(t *testing.T, d tensor.Device) {
				explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					rng := tensor.NewRNG(3)
					channels := c.y[1]
					o := operands{rng.Uniform(d, -1, 1, c.x...), rng.Uniform(d, -1, 1, c.w...), rng.Uniform(d, -1, 1, channels),
						rng.Uniform(d, -1, 1, c.y...), rng.Uniform(d, -1, 1, channels, 1, 1)}
					return func() []*tensor.Tensor { return c.step(o) }, []*tensor.Tensor{o.x, o.residual}, nil
				})
				l := d.Target()
				apart := c.apart && l.CPU && l.LocalMem > 0
				if joined := strings.Contains(explained, "computed where 0 k_conv"); joined == apart {
					t.Errorf("of %d launches %d are left:\n%s", report.Step, report.Launches, explained)
				}
			})
		})
	}
}
