package autograd_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestLaunchesOfNodes: a node shows the kernels of its own operation, not what was launched before
// it: by the making of tensors, an optimizer, another Backward, or a user.
func TestLaunchesOfNodes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		params := perceptron(d, 8, 16, 2)
		opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.1)))
		x, y := autograd.Const(tensor.Zeros(d, 5, 8)), autograd.Const(tensor.Full(d, 1, 5, 16))
		before := map[string]func(){
			"nothing":     func() {},
			"new tensors": func() { tensor.Full(d, 1, 2); tensor.Zeros(d, 3) },
			"a step": func() {
				if err := x.MatMul(params[0]).Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
			},
			"an optimizer": func() {
				optim.NewAdamW([]*node{param(d, 1)}, optim.AdamWDefaults(optim.Constant(0.1)))
			},
			"a user's launch": func() { x.Value().Exp().FillInPlace(1) },
		}
		for what, f := range before {
			for name, c := range map[string]struct {
				f    func() *node
				want []string // lines, in the order of nodes
			}{
				"unary":  {func() *node { return param(d, 1, 2).Square() }, []string{"k_square"}},
				"matmul": {func() *node { return x.MatMul(params[0]).Sum() }, []string{"k_gemm_nn", "k_sum"}},
				"const":  {func() *node { return autograd.Const(tensor.Full(d, 3, 2)).Add(param(d, 1, 2)) }, []string{"k_add"}},
				"loss":   {func() *node { return x.MatMul(params[0]).SquaredError(y).MulScalar(2) }, []string{"k_gemm_nn", "k_squared_error", "k_mul_scalar"}},
			} {
				f()
				var b bytes.Buffer
				if err := autograd.WriteDOT(&b, c.f()); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, word := range strings.FieldsFunc(b.String(), func(r rune) bool { return strings.ContainsRune("\\\" \n[]=", r) }) {
					if word = strings.TrimPrefix(word, "n"); strings.HasPrefix(word, "k_") {
						got = append(got, word)
					}
				}
				if strings.Join(got, " ") != strings.Join(c.want, " ") {
					t.Errorf("%s after %s shows %v, want %v", name, what, got, c.want)
				}
			}
		}
	})
}

// TestFailureNamesNode: in check mode, a failure names the node that asked for the launch, on the
// way forward and back; one in a launch outside the graph names none.
func TestFailureNamesNode(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue // it is the host kernel
		}
		dir := t.TempDir()
		t.Setenv(cl.PathEnv, dir)
		for _, f := range []*kernels.Function{fn.Square, fn.Exp.Gradient(0)} { // their vectors and ends are off by 1
			for _, aligned := range []bool{false, true} {
				k := fused.Map(f.Alone(), kernels.Float32, fused.AccessPattern{Rank: 1, Aligned: aligned})
				for file, text := range map[string]string{k.File: k.Text, k.GPU: k.GPUText} {
					if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.ReplaceAll(text, "    return ", "    return 1 + ")), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, c := range []struct {
			name, kernel, node string
			f                  func(d tensor.Device, p *node)
		}{
			{"forward", "k_square", "Square [2]", func(_ tensor.Device, p *node) { p.Neg().Square().Neg().Sum() }},
			{"backward", "k_exp_grad", "broken [2]", func(_ tensor.Device, p *node) { _ = p.MulScalar(2).Exp().Named("broken").Neg().Sum().Backward() }},
			{"operations on Nodes in a gradient", "k_square", "own [2]", func(_ tensor.Device, p *node) {
				own := autograd.NewOp("own", p.Value().Copy(), []*node{p}, func(g *node, in *autograd.Grads) { in.AccumulateNode(0, g.Neg().Square()) })
				_ = own.Sum().Backward()
			}},
			{"a hook", "k_square", "hooked [2]", func(_ tensor.Device, p *node) {
				h := p.Neg().Named("hooked")
				h.Hook(func(g *node) *node { return g.Neg().Square() }) // which is contiguous, as the kernel that is wrong wants it
				_ = h.Sum().Backward()
			}},
			{"a gradient that is recorded", "k_exp_grad", "exp_grad [2 2]", func(_ tensor.Device, p *node) {
				layer := p.Reshape(2, 1).Linear(p.Reshape(1, 2), nil, fn.Exp)
				_ = layer.Neg().Sum().Backward(autograd.BackwardOptions{CreateGraph: true})
			}},
			{"a user's launch before an operation", "k_square", "", func(_ tensor.Device, p *node) {
				p.Value().Square()
				_ = p.Neg().Sum().Backward()
			}},
			{"a user's launch before Backward", "k_square", "", func(_ tensor.Device, p *node) {
				loss := p.Neg().Sum()
				p.Value().Square()
				_ = loss.Backward()
			}},
		} {
			d, err := tensor.Open(sel, tensor.Options{Check: true})
			if err != nil {
				t.Fatal(err)
			}
			c.f(d, param(d, 1, 2))
			var e *tensor.CheckError
			if err := d.Sync(); !errors.As(err, &e) || e.Kernel != c.kernel || e.Node != c.node {
				t.Errorf("%s, %s: err = %v, want one in %s for node %q", sel, c.name, err, c.kernel, c.node)
			} else if c.node != "" && !strings.Contains(err.Error(), c.node) {
				t.Errorf("%s, %s: no %q in: %v", sel, c.name, c.node, err)
			}
			d.Close()
		}
	}
}
