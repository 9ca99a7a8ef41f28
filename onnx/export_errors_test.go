package onnx_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// fullDisk takes some bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (w *fullDisk) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestExportErrors: what cannot be written is an error that says why, and nothing was written.
func TestExportErrors(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rng := tensor.NewRNG(1)
	linear := nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 2})
	x := rng.Normal(d, 0, 1, 4, 3)
	freed := rng.Normal(d, 0, 1, 4, 3)
	freed.Free()
	custom := func(f func(x *autograd.Node) *autograd.Node) onnx.ExportOptions {
		return onnx.ExportOptions{Forward: func(in []*tensor.Tensor) []*autograd.Node {
			return []*autograd.Node{f(autograd.Const(in[0]))}
		}}
	}
	own := func(op string, x *autograd.Node) *autograd.Node {
		v := x.ValueFor(op)
		return autograd.NewOp(op, v.Mul(v).Mul(v), []*autograd.Node{x}, func(g *autograd.Node, in *autograd.Grads) {})
	}
	dynamic := func(axes map[int]string, f func(x *autograd.Node) *autograd.Node) onnx.ExportOptions {
		o := custom(f)
		o.Dynamic = []map[int]string{axes}
		return o
	}
	first, second := autograd.Param(rng.Normal(d, 0, 1, 3), "a"), autograd.Param(rng.Normal(d, 0, 1, 3), "a")
	calls := 0
	for name, c := range map[string]struct {
		model  any
		inputs []*tensor.Tensor
		o      onnx.ExportOptions
		want   []string // parts of the error
	}{
		"no forward": {struct{}{}, []*tensor.Tensor{x}, onnx.ExportOptions{}, []string{"struct {} has no method Forward"}},
		"two inputs": {linear, []*tensor.Tensor{x, x}, onnx.ExportOptions{},
			[]string{"2 inputs: say in ExportOptions.Forward"}},
		"no input":    {linear, nil, onnx.ExportOptions{}, []string{"no example input"}},
		"nil input":   {linear, []*tensor.Tensor{nil}, onnx.ExportOptions{}, []string{"input 0 is nil"}},
		"freed input": {linear, []*tensor.Tensor{freed}, onnx.ExportOptions{}, []string{"input 0 was freed"}},
		"old opset":   {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Opset: 11}, []string{"opset 11: it is 17 to 23"}},
		"external":    {linear, []*tensor.Tensor{x}, onnx.ExportOptions{External: true}, []string{"use ExportFile"}},
		"wrong shape": {linear, []*tensor.Tensor{rng.Normal(d, 0, 1, 4, 5)}, onnx.ExportOptions{},
			[]string{"Linear", "[4 5]"}},
		"names": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Inputs: []string{"a", "b"}},
			[]string{"2 names of inputs, and 1 inputs"}},
		"output names": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Outputs: []string{"a", "b"}},
			[]string{"2 names of outputs, and 1 outputs"}},
		"same names": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Inputs: []string{"a"}, Outputs: []string{"a"}},
			[]string{`output "a" has the name of another`}},
		"empty name": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Inputs: []string{""}},
			[]string{"one input has no name"}},
		"taken name": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Inputs: []string{"weight"}},
			[]string{`input "weight" has the name of another`}},
		"no such axis": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: []map[int]string{{2: "n"}}},
			[]string{"input 0 has no axis 2"}},
		"unnamed axis": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: []map[int]string{{0: ""}}},
			[]string{`named ""`}},
		"fixed axis": {linear, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: []map[int]string{{1: "n"}}},
			[]string{"with n = 6", "Linear"}},
		"two parameters": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			return x.Add(first).Add(second)
		}), []string{`the parameter "a" has the name of another`}},
		"operations": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			return own("cube", x.CumProd(0)).Add(own("other", x.ErfInv())).Add(x)
		}), []string{"not supported in opset 18", "cube", "export_errors_test.go:", "other"}},
		"training": {&nn.Dropout{P: 0.5, RNG: rng}, []*tensor.Tensor{x}, onnx.ExportOptions{},
			[]string{"Dropout: it drops elements: nn.Eval(model)"}},
		"statistics": {nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3}), []*tensor.Tensor{x}, onnx.ExportOptions{},
			[]string{"BatchNorm: it takes the statistics of the batch", "nn.Eval(model)"}},
		"by tensors": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			return x.Add(autograd.Const(x.Value().Neg()))
		}), []string{"add: a tensor of shape [4 3] follows from the inputs, and no operation on nodes makes it"}},
		"by their maximum": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			return x.Div(autograd.Const(x.Value().Max()))
		}), []string{"a tensor of shape [] follows from the inputs"}},
		"by sums of integers": {nil, []*tensor.Tensor{tensor.New(d, []int64{4, 3, 1, 2})},
			custom(func(x *autograd.Node) *autograd.Node { return x.Add(autograd.Const(x.Value().Sum())) }),
			[]string{"a tensor of shape [] follows from the inputs"}},
		"changed in place": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			y := x.Neg()
			y.Value().ZeroInPlace()
			return y.Exp()
		}), []string{"neg: its result was changed in place"}},
		"input in place": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			x.Value().ZeroInPlace()
			return x.Exp()
		}), []string{"input 0 was changed in place"}},
		"branches": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			if calls++; calls%2 == 0 {
				return x.Neg()
			}
			return x.Exp()
		}), []string{"other operations are called"}},
		"random numbers": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node {
			return x.Add(autograd.Const(rng.Normal(d, 0, 1, 4, 3)))
		}), []string{"a tensor of shape [4 3] follows from the inputs"}},
		"nil output": {nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node { return nil }),
			[]string{"output 0 is nil"}},
		"rounded size": {nil, []*tensor.Tensor{rng.Normal(d, 0, 1, 1, 2, 6)},
			dynamic(map[int]string{2: "t"}, func(x *autograd.Node) *autograd.Node {
				return x.Interpolate([]int{(x.Shape()[2] + 1) / 2})
			}), []string{"Interpolate: a size", "follows from dynamic sizes"}},
		"unrolled": {nil, []*tensor.Tensor{x}, dynamic(map[int]string{0: "t"}, func(x *autograd.Node) *autograd.Node {
			return autograd.Concat(0, x.Unbind(0)...)
		}), []string{"Concat: it takes 4 operands, and another number for other inputs"}},
		"fixed windows": {nil, []*tensor.Tensor{x}, dynamic(map[int]string{0: "t"},
			func(x *autograd.Node) *autograd.Node { return x.Unfold(0, 2, 1) }),
			[]string{"Unfold: it cannot be written for a dynamic size"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := onnx.Export(&b, c.model, c.inputs, c.o)
			if err == nil || !strings.HasPrefix(err.Error(), "onnx: Export: ") {
				t.Fatalf("the error is %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error has no %q: %v", part, err)
				}
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written", b.Len())
			}
			if n, ok := c.model.(*nn.BatchNorm); ok { // it was in training
				mean, err := n.Mean.Float64s()
				if err != nil || slices.ContainsFunc(mean, func(v float64) bool { return v != 0 }) {
					t.Errorf("the running mean is %v, err %v", mean, err)
				}
			}
		})
	}
	err := onnx.Export(io.Discard, nil, []*tensor.Tensor{x}, custom(func(x *autograd.Node) *autograd.Node { return own("cube", x) }))
	if !errors.Is(err, onnx.ErrUnsupported) {
		t.Errorf("the error is no ErrUnsupported: %v", err)
	}
	for _, room := range []int{0, 10, 100, 200} {
		if err := onnx.Export(&fullDisk{room}, linear, []*tensor.Tensor{x}); !errors.Is(err, errFull) {
			t.Errorf("with %d bytes left, the error is %v", room, err)
		}
	}
	linear.Bias.Value().Free()
	if err := onnx.Export(io.Discard, linear, []*tensor.Tensor{x}); err == nil || !strings.Contains(err.Error(), "freed") {
		t.Errorf("with a bias that was freed, the error is %v", err)
	}
	path := filepath.Join(t.TempDir(), "no", "such.onnx")
	if err := onnx.ExportFile(path, nil, []*tensor.Tensor{x}, custom((*autograd.Node).Neg)); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("in a folder that there is not, the error is %v", err)
	}
}
