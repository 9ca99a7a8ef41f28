package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// onForms runs a test on all devices, and on those of OpenCL with the forms for GPUs, too.
func onForms(t *testing.T, test func(t *testing.T, d tensor.Device)) {
	t.Helper()
	for _, sel := range devtest.Selected() {
		for _, gpu := range []bool{false, true} {
			if !gpu || sel != "cpu" {
				opt := tensor.Options{}
				if gpu {
					opt = devtest.GPUKernels()
				}
				t.Run(fmt.Sprintf("%s, for GPUs %t", sel, gpu), func(t *testing.T) { test(t, devtest.Open(t, sel, opt)) })
			}
		}
	}
}

// TestParted: the gradient of a layer's function is computed where the product before it stores its
// result, and its sums are launches of their own, of several layers one; or it stays as it is, and
// why.
func TestParted(t *testing.T) {
	type tensors = []*tensor.Tensor
	tanh, gelu := fn.Tanh.Gradient(0), fn.GELU.Gradient(0)
	for name, c := range map[string]struct {
		rows, wide, cols int
		step             func(x, w, z *tensor.Tensor) tensors
		launches         int
		says             string
		apart            bool // it stays as it is
	}{
		"a layer": {33, 12, 20, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			return tensors{dz, shares}
		}, 2, "stores its result, but for its sums", false},
		"columns that are no vector": {130, 5, 19, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			return tensors{dz, shares}
		}, 2, "but for its sums", false},
		"one column": {70, 7, 1, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			return tensors{dz, shares}
		}, 2, "but for its sums", false},
		"a costly function": {64, 12, 32, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(gelu, nil, z, z, x.MatMul(w))
			return tensors{dz, shares}
		}, 2, "its function is costly", true},
		"infinities": {40, 12, 16, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(fn.ReLU.Gradient(0), nil, z, z, x.MulScalar(1e38).MatMul(w.DivScalar(0.1)))
			return tensors{dz, shares}
		}, 4, "but for its sums", false},
		"two layers": {33, 20, 20, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			first := shares.Sum(0)
			dz, shares = tensorapi.Impl.LinearGrad(tanh, nil, x, x, dz.MatMul(w))
			return tensors{dz, first, shares.Sum(0)}
		}, 4, "k_linear_grad + 4 k_linear_grad: one launch", false},
		"a product that is read again": {33, 12, 20, func(x, w, z *tensor.Tensor) tensors {
			g := x.MatMul(w)
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, g)
			return tensors{dz, shares, g}
		}, 2, "nothing would be gained", true},
		"an operand that changes between": {33, 12, 20, func(x, w, z *tensor.Tensor) tensors {
			g := x.MatMul(w)
			z.MapInPlace(fn.Add, nil, g.Sum(0))
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, g)
			return tensors{dz, shares}
		}, 4, "refused", true},
		"another part of what the product reads": {20, 20, 20, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, w, w, x.MatMul(w))
			return tensors{dz, shares, z}
		}, 2, "but for its sums", false},
		"a gradient that changes in place": {33, 12, 20, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			dz.MapInPlace(fn.Abs, nil)
			return tensors{dz, shares}
		}, 3, "but for its sums", false},
		"no product": {33, 12, 20, func(_, _, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, z.MulScalar(2))
			return tensors{dz, shares}
		}, 2, "", true},
		"no rows": {0, 12, 20, func(x, w, z *tensor.Tensor) tensors {
			dz, shares := tensorapi.Impl.LinearGrad(tanh, nil, z, z, x.MatMul(w))
			return tensors{dz, shares}
		}, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			onForms(t, func(t *testing.T, d tensor.Device) {
				explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					rng := tensor.NewRNG(5)
					x, w, z := rng.Uniform(d, -1, 1, c.rows, c.wide), rng.Uniform(d, -1, 1, c.wide, c.cols), rng.Uniform(d, -1, 1, c.rows, c.cols)
					return func() []*tensor.Tensor { return c.step(x, w, z) }, tensors{x, w}, tensors{z}
				})
				if !strings.Contains(explained, c.says) || strings.Contains(explained, "but for its sums") == c.apart {
					t.Errorf("not %q, or apart is not %t:\n%s", c.says, c.apart, explained)
				}
				if report.Launches != c.launches {
					t.Errorf("%d launches, not %d:\n%s", report.Launches, c.launches, explained)
				}
			})
		})
	}
}

// TestPartedInTraining: layers in training have the bits of eager steps, whichever of their widths
// fill vectors.
func TestPartedInTraining(t *testing.T) {
	onForms(t, func(t *testing.T, d tensor.Device) {
		shapes := [][]int{{5, 17, 16, 1}, {12, 32, 16, 4}, {5, 19, 3, 2}}
		if !devtest.Sweep() && !strings.HasPrefix(d.Name(), "cpu") {
			shapes = shapes[:1]
		}
		for _, sizes := range shapes {
			explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
				rng := tensor.NewRNG(3)
				x := rng.Uniform(d, -1, 1, 50, sizes[0])
				var params []*autograd.Node
				for i, n := range sizes[1:] {
					params = append(params, autograd.Param(rng.Uniform(d, -1, 1, sizes[i], n), "w"), autograd.Param(rng.Uniform(d, -1, 1, n), "b"))
				}
				return func() []*tensor.Tensor {
					h := autograd.Const(x)
					for i := 0; i < len(params); i += 2 {
						h = h.Linear(params[i], params[i+1], fn.Tanh)
					}
					if err := h.Square().Mean().Backward(); err != nil {
						t.Fatal(err)
					}
					var grads []*tensor.Tensor
					for _, p := range params {
						grads = append(grads, p.Grad().Copy())
						p.ZeroGrad()
					}
					return grads
				}, []*tensor.Tensor{x}, nil
			}, replay.Options{Without: []string{"fused-training-step"}})
			if n := strings.Count(explained, "but for its sums"); n != len(sizes)-2 {
				t.Errorf("%v: %d are parted, not %d:\n%s", sizes, n, len(sizes)-2, explained)
			}
			if report.Launches >= report.Step-2 {
				t.Errorf("%v: %d launches of %d", sizes, report.Launches, report.Step)
			}
		}
	})
}
