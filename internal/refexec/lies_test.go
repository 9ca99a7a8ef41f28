package refexec_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// axpy is Y = a·X + Y: X, Y, n, a; and OUT, of n + 1 elements, Y before that and −1.
var axpy = kernels.Kernel{Name: "axpy", Grid: kernels.GridFromArg(3),
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.InOut}, {Name: "OUT", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}, {Name: "a", Mode: kernels.FloatParam}},
	Host: kernels.HostKernel{F32: axpyHost[float32], F64: axpyHost[float64]}}

func axpyHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, out := c.Floats(0), c.Floats(1), c.Floats(2)
	copy(out, y)
	out[len(y)] = -1
	for i := range y {
		y[i] += c.Float(4) * x[i]
	}
}

var (
	plus  = &kernels.Function{Name: "axpy", Value: expr.Param(0).Mul(expr.Input(0)).Add(expr.Input(1)), Scalars: []float64{2}}
	minus = &kernels.Function{Name: "minus", Value: expr.Const(-1)}
	two   = &kernels.Function{Name: "two", Value: expr.Input(1).Add(expr.Input(0))}
)

// truth describes axpy.
func truth(a []kernels.Arg) (copied, last, sum *operation.Map) {
	x, y, out := kernels.ViewOf(a, 0, 0, 1), kernels.ViewOf(a, 1, 0, 1), kernels.ViewOf(a, 2, 0, 1)
	n := int(a[3].Int)
	copied = &operation.Map{Dims: []int{n}, Operands: []kernels.View{y},
		Results: []operation.Result{{Function: fn.Identity, View: out}}}
	last = &operation.Map{Results: []operation.Result{{Function: minus, View: kernels.ViewOf(a, 2, n)}}}
	sum = &operation.Map{Dims: []int{n}, Operands: []kernels.View{x, y},
		Results: []operation.Result{{Function: plus, Scalars: []operation.Scalar{operation.ArgScalar(4)}, View: y}}}
	return copied, last, sum
}

// TestLies: a description that is not what the kernel computes is found, whatever is wrong with it.
func TestLies(t *testing.T) {
	type list = []kernels.Op
	for name, c := range map[string]struct {
		semantics func(a []kernels.Arg, copied, last, sum *operation.Map) list
		say       string // "" where there is nothing to find
	}{
		"none": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return list{copied, last, sum} }, ""},
		"by a temporary": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			kept := kernels.View{Arg: operation.Temp(0), Offset: 3, Strides: []int{-1}}
			kept.Offset += sum.Dims[0]
			first := *copied
			first.Results = []operation.Result{{Function: fn.Identity, View: kept}}
			second := *copied
			second.Operands = []kernels.View{kept}
			return list{&first, sum, &second, last}
		}, ""},
		"opaque": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return nil }, ""},
		"order": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return list{sum, copied, last} },
			"OUT[0]"},
		"an operation": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return list{copied, last} }, "Y[0]"},
		"an element": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return list{copied, sum} },
			"leaves elements of it"},
		"nothing of it": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list { return list{nil} },
			"a <nil> is none"},
		"another formula": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Results[0] = operation.Result{Function: two, View: sum.Results[0].View}
			return list{copied, last, sum}
		}, "Y[0]"},
		"a number that is passed": {func(a []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Results[0].Scalars = []operation.Scalar{operation.ConstScalar(a[4].Float)}
			return list{copied, last, sum}
		}, "depends on a float"},
		"another argument": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Results[0].Scalars = []operation.Scalar{operation.ArgScalar(3)}
			return list{copied, last, sum}
		}, "Y[0]"},
		"memory as a number": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Results[0].Scalars = []operation.Scalar{operation.ArgScalar(0)}
			return list{copied, last, sum}
		}, "argument 0 is no number"},
		"a number as memory": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands[0].Arg = 4
			return list{copied, last, sum}
		}, "argument 4 is no memory"},
		"too few scalars": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Results[0].Scalars = nil
			return list{copied, last, sum}
		}, "takes 1 scalars, not 0"},
		"too few operands": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands = sum.Operands[:1]
			return list{copied, last, sum}
		}, "takes 2 operands, not 1"},
		"the stride": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands[0].Strides = []int{0}
			return list{copied, last, sum}
		}, "Y[1]"},
		"no stride": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands[0].Strides = nil
			return list{copied, last, sum}
		}, "0 strides for 1 dimensions"},
		"beyond the end": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			copied.Operands[0].Offset = 1
			return list{copied, last, sum}
		}, "argument 1, which has 5"},
		"before the start": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			copied.Operands[0].Offset = -1
			return list{copied, last, sum}
		}, "element -1"},
		"the type": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands[0].Type = kernels.Int32
			return list{copied, last, sum}
		}, "elements of type float32, not int32"},
		"writes what is read": {func(a []kernels.Arg, copied, last, sum *operation.Map) list {
			back := *copied
			back.Operands, back.Results = []kernels.View{kernels.ViewOf(a, 0, 0, 1)},
				[]operation.Result{{Function: fn.Identity, View: kernels.ViewOf(a, 0, 0, 1)}}
			return list{copied, last, sum, &back}
		}, "it writes X"},
		"reads what is written": {func(a []kernels.Arg, copied, last, sum *operation.Map) list {
			sum.Operands = append(sum.Operands, kernels.ViewOf(a, 2, 0, 1))
			third := &kernels.Function{Name: "third", Value: plus.Value.Add(expr.Input(2).Sub(expr.Input(2))), Scalars: plus.Scalars}
			sum.Results[0].Function = third
			return list{sum, copied, last}
		}, "it reads OUT"},
		"one element twice": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			copied.Results[0].View.Strides = []int{0}
			return list{copied, last, sum}
		}, "written twice"},
		"over itself": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			copied.Dims, copied.Operands, copied.Results[0].View.Offset = []int{4}, []kernels.View{copied.Results[0].View}, 1
			return list{copied, last, sum}
		}, "read after another index wrote it"},
		"an empty temporary": {func(_ []kernels.Arg, copied, last, sum *operation.Map) list {
			copied.Operands[0].Arg = operation.Temp(0)
			return list{copied, last, sum}
		}, "temporary 0, which nothing has written"},
	} {
		k := axpy
		k.Semantics = func(a []kernels.Arg) []kernels.Op {
			copied, last, sum := truth(a)
			return c.semantics(a, copied, last, sum)
		}
		o := kernels.NewOperands(kernels.Float32, 1, 2).In(5, 1, 2).In(5, 1, 2).Out(6).Int(5).Float(2)
		before := o.Args[1].At(0)
		_, err := refexec.Check(&k, kernels.Float32, limits[0], o.Args)
		if c.say == "" && err != nil || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%s: err = %v, want %q", name, err, c.say)
		}
		if o.Args[1].At(0) != before {
			t.Errorf("%s: the operands were changed", name)
		}
	}
}

// TestModes: a parameter of which no launch says what its mode says is named.
func TestModes(t *testing.T) {
	read, written := refexec.Use{Read: true}, refexec.Use{Written: true}
	for i, c := range []struct {
		uses []refexec.Use
		say  string
	}{
		{[]refexec.Use{read, written, written, {}, {}}, ""},
		{refexec.Join([]refexec.Use{{}, written, {}, {}, {}}, []refexec.Use{read, {}, written, {}, {}}), ""},
		{nil, "with X"},
		{[]refexec.Use{written, written, written, {}, {}}, "reads X"},
		{[]refexec.Use{read, read, written, {}, {}}, "writes Y"},
		{[]refexec.Use{read, written, read, {}, {}}, "writes OUT"},
	} {
		if err := refexec.Modes(&axpy, c.uses); c.say == "" && err != nil || c.say != "" && (err == nil || !strings.HasSuffix(err.Error(), c.say)) {
			t.Errorf("%d: err = %v, want %q", i, err, c.say)
		}
	}
}
