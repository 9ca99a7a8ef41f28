package kerneltest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/tensor"
)

// TestCheckFindsFaults runs kernels whose first run, that of the device, does something that the
// second, that of the host kernel, does not: each fault is found and named.
func TestCheckFindsFaults(t *testing.T) {
	guard := kernels.NewOperands(kernels.Float32, 1, 1).In(1, 0, 1).Args[0].Off
	ulps := func(v float32, n int) float32 { return math.Float32frombits(math.Float32bits(v) + uint32(n)) }
	for _, c := range []struct {
		name  string
		fault func(x, y []float32)
		say   string // "" where there is none
	}{
		{"none", func(_, _ []float32) {}, ""},
		{"after the output", func(_, y []float32) { unsafe.Slice(&y[0], len(y)+1)[len(y)] = 1 }, "wrote Y[5], outside"},
		{"at the end of the guard", func(_, y []float32) { unsafe.Slice(&y[0], len(y)+guard)[len(y)+guard-1] = 1 }, "wrote Y[76], outside"},
		{"before the output", func(_, y []float32) { *(*float32)(unsafe.Add(unsafe.Pointer(&y[0]), -4)) = 1 }, "wrote Y[-1], outside"},
		{"the input", func(x, _ []float32) { x[2] = 7 }, "wrote X[2], outside"},
		{"after the input", func(x, _ []float32) { unsafe.Slice(&x[0], len(x)+1)[len(x)] = 7 }, "wrote X[5], outside"},
		{"not written", func(_, y []float32) { y[4] = float32(math.NaN()) }, "Y[4] = NaN"},
		{"3 ULP", func(_, y []float32) { y[1] = ulps(y[1], 3) }, ""},
		{"4 ULP", func(_, y []float32) { y[1] = ulps(y[1], 4) }, "Y[1]"},
		{"1000 ULP", func(_, y []float32) { y[3] = ulps(y[3], 1000) }, "(1000 ULP)"},
	} {
		d := devtest.Open(t, "cpu", tensor.Options{})
		runs := 0
		k := &kernels.Kernel{Name: "k_double", File: "own.cl", Tol: kernels.ULP(3),
			Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}},
			Grid:   kernels.GridPerElement(1),
			Host: kernels.HostKernel{F32: func(call kernels.HostArgs[float32]) {
				x, y := call.Floats(0), call.Floats(1)
				for i := range y {
					y[i] = 2 * x[i]
				}
				if runs++; runs == 1 {
					c.fault(x, y)
				}
			}}}
		_, err := Check(d, k, c.name, kernels.NewOperands(kernels.Float32, 1, 1).In(5, 1, 2).Out(5).Args)
		if c.say == "" && err != nil || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%s: err = %v, want %q", c.name, err, c.say)
		}
		if runs != 2 {
			t.Errorf("%s: %d runs", c.name, runs)
		}
	}
}

// double is a kernel that is right, in OpenCL C and in Go.
func double() *kernels.Kernel {
	return &kernels.Kernel{Name: "double_it", Text: "// @depends: common\nkernel void double_it(IN(X), OUT(Y), int n) { int i = get_global_id(0); if (i < n) Y[Y_off + i] = 2 * X[X_off + i]; }",
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   kernels.GridFromArg(2),
		Host:   kernels.HostKernel{F32: doubleHost[float32], F64: doubleHost[float64]},
		Tol:    kernels.ULP(1), // a device may flush denormals
		Cases:  kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Special().Out(n).Int(n) })}
}

func doubleHost[T kernels.Float](c kernels.HostArgs[T]) {
	y := c.Floats(1)
	for i, x := range c.Floats(0) {
		y[i] = 2 * x
	}
}

// TestAll: what is right passes on every device, and of what is not, every kernel is named.
func TestAll(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every fault is to be found here
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		if err := All(d, false, double()); err != nil {
			t.Error(err)
		}
		bare, idle, half := double(), double(), double()
		bare.Cases = nil
		idle.Name, idle.Cases = "idle", func(bool) []kernels.Case { return nil }
		half.Name, half.Host = "half", kernels.HostKernel{}
		err := All(d, false, bare, double(), idle, half)
		for _, say := range []string{"double_it has no test case", "idle has no test case", "half has no host kernel for " +
			d.DefaultType().String()} {
			if err == nil || strings.Count(err.Error(), say) != 1 {
				t.Errorf("err = %v, want once %q", err, say)
			}
		}
		short := double()
		short.Cases = kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Out(n) })
		if err := tensor.Try(func() { _ = All(d, true, short) }); !errors.Is(err, tensor.ErrArgument) {
			t.Errorf("operands without n: err = %v", err)
		}
		if d.Name()[:3] == "cpu" {
			return // it runs the host kernel
		}
		wrong := double()
		wrong.Text = strings.Replace(wrong.Text, "2 *", "3 *", 1)
		if err := All(d, true, wrong); err == nil || !strings.Contains(err.Error(), "double_it n=") {
			t.Errorf("a wrong source: err = %v", err)
		}
	})
}

// TestAllDescriptions: a kernel that says what it computes is checked against that on every device,
// and one that says something else, or says nothing of a parameter, is named.
func TestAllDescriptions(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every fault is to be found here
	says := func(factor float64, always bool) *kernels.Kernel {
		times := &kernels.Function{Name: "times", Value: expr.Const(factor).Mul(expr.Input(0))}
		k := double()
		k.Semantics = func(args []kernels.Arg) []kernels.Op {
			n := int(args[2].Int)
			if n > 7 && !always {
				return nil
			}
			return []kernels.Op{&operation.Map{Dims: []int{n}, Operands: []kernels.View{kernels.ViewOf(args, 0, 0, 1)},
				Results: []operation.Result{{Function: times, View: kernels.ViewOf(args, 1, 0, 1)}}}}
		}
		return k
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		if err := All(d, false, says(2, true), says(2, false)); err != nil {
			t.Error(err)
		}
		if err := All(d, false, says(3, true)); err == nil || !strings.HasPrefix(err.Error(), "double_it n=") || !strings.Contains(err.Error(), ": its description: Y[") {
			t.Errorf("three times: err = %v", err)
		}
		unread := says(2, true)
		unread.Params = append(slices.Clone(unread.Params), kernels.Param{Name: "Z", Mode: kernels.In})
		unread.Text = strings.Replace(unread.Text, "int n)", "int n, IN(Z))", 1)
		unread.Cases = kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Out(n).Int(n).In(1, 0, 1) })
		if err := All(d, true, unread); err == nil || !strings.Contains(err.Error(), "no launch says that it reads Z") {
			t.Errorf("an operand that it says nothing of: err = %v", err)
		}
	})
}
