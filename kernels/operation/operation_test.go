package operation

import (
	"math"
	"reflect"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// TestScalar: a number is that of its argument, of which the bits count for Float16, or none's.
func TestScalar(t *testing.T) {
	args := []kernels.Arg{kernels.FloatArg(0.1), kernels.IntArg(-7), kernels.BitsArg(0xFFFFFFFF), kernels.IntArg(0x3555),
		kernels.IntArg(0x13555)}
	for _, c := range []struct {
		s    Scalar
		t    kernels.DType
		want float64
	}{
		{ArgScalar(0), kernels.Float32, 0.1}, {ArgScalar(0), kernels.Float64, 0.1}, {ArgScalar(0), kernels.Float16, 0.1},
		{ArgScalar(1), kernels.Int32, -7}, {ArgScalar(1), kernels.Uint8, -7},
		{ArgScalar(1), kernels.Float32, -7}, {ArgScalar(2), kernels.Int32, -1}, {ArgScalar(3), kernels.Float16, 0x1.554p-2},
		{ArgScalar(4), kernels.Float16, 0x1.554p-2},
		{ArgScalar(2), kernels.Float16, math.NaN()}, {ConstScalar(2.5), kernels.Float16, 2.5}, {ConstScalar(2.5),
			kernels.Int32, 2.5},
	} {
		if got := c.s.In(args, c.t); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v for %v is %v, want %v", c.s, c.t, got, c.want)
		}
	}
}

// TestViewOf: both types of floats are Float32 in a view, and a temporary is no argument.
func TestViewOf(t *testing.T) {
	args := []kernels.Arg{kernels.BufferArg(kernels.NewHostBuffer(kernels.Float64, 1), 0, 1),
		kernels.BufferArg(kernels.NewHostBuffer(kernels.Float32, 1), 0, 1),
		kernels.BufferArg(kernels.NewHostBuffer(kernels.Int32, 1), 0, 1),
		kernels.BufferArg(kernels.NewHostBuffer(kernels.Uint8, 1), 0, 1),
		kernels.BufferArg(kernels.NewHostBuffer(kernels.Float16, 1), 0, 1)}
	for i, want := range []kernels.DType{kernels.Float32, kernels.Float32, kernels.Int32, kernels.Uint8, kernels.Float16} {
		if got := kernels.ViewOf(args, i, 5, 2, 1); !reflect.DeepEqual(got, kernels.View{Arg: i, Type: want, Offset: 5,
			Strides: []int{2, 1}}) {
			t.Errorf("of argument %d: %+v", i, got)
		}
	}
	if Temp(0) != -1 || Temp(Temp(5)) != 5 {
		t.Error("temporaries are not −1, −2 …")
	}
}

// TestViews: an operation lists what it reads and what it writes, and of operands only those that a
// function uses.
func TestViews(t *testing.T) {
	at := func(arg int) kernels.View { return kernels.View{Arg: arg} }
	some := func(arg int) kernels.View { return kernels.View{Arg: arg, Strides: []int{1, 1, 1}} }
	first := &kernels.Function{Name: "first", Value: expr.Input(0)}
	third := &kernels.Function{Name: "third", Value: expr.Input(2).Mul(expr.Input(2))}
	for _, c := range []struct {
		op            kernels.Op
		reads, writes []kernels.View
	}{
		{&Map{Operands: []kernels.View{at(0), at(1), at(2)},
			Results: []Result{{Function: first, View: at(3)}, {Function: third, View: at(0)}}},
			[]kernels.View{at(0), at(2)}, []kernels.View{at(3), at(0)}},
		{&Map{Operands: []kernels.View{at(0), at(1)},
			Results: []Result{{Function: &kernels.Function{Name: "none", Value: expr.Const(1)}, View: at(2)}}}, nil,
			[]kernels.View{at(2)}},
		{&MatMul{A: at(1), B: at(2), C: at(3)}, []kernels.View{at(1), at(2)}, []kernels.View{at(3)}},
		{&Reduction{X: some(1), Y: some(2)}, []kernels.View{some(1)}, []kernels.View{some(2)}},
		{&Reduction{X: some(1), Given: some(2), Y: some(3), Index: some(4)}, []kernels.View{some(1), some(2)},
			[]kernels.View{some(3), some(4)}},
		{&Gather{X: at(1), Index: at(2), Y: at(3)}, []kernels.View{at(1), at(2)}, []kernels.View{at(3)}},
		{&Scatter{X: at(1), Index: at(2), Y: at(3)}, []kernels.View{at(1), at(2), at(3)}, []kernels.View{at(3)}},
		{&Random{Y: at(1)}, nil, []kernels.View{at(1)}},
		{&Attention{AttentionSpec: AttentionSpec{Q: at(1), K: at(2), V: at(3), Bias: at(9)}, Y: at(4), LSE: at(5)},
			[]kernels.View{at(1), at(2), at(3)}, []kernels.View{at(4), at(5)}},
		{&AttentionGradQuery{AttentionSpec: AttentionSpec{Q: at(1), K: at(2), V: at(3), Bias: at(4), Biased: true},
			Y: at(5), LSE: at(6), G: at(7), DQ: at(8), Delta: at(9)},
			[]kernels.View{at(1), at(2), at(3), at(5), at(6), at(7), at(4)}, []kernels.View{at(8), at(9)}},
		{&AttentionGradKeyValue{AttentionSpec: AttentionSpec{Q: at(1), K: at(2), V: at(3)}, LSE: at(4), Delta: at(5),
			G: at(6), DK: at(7), DV: at(8)},
			[]kernels.View{at(1), at(2), at(3), at(4), at(5), at(6)}, []kernels.View{at(7), at(8)}},
	} {
		if reads, writes := c.op.Views(); !reflect.DeepEqual(reads, c.reads) || !reflect.DeepEqual(writes, c.writes) {
			t.Errorf("%T: %v, %v", c.op, reads, writes)
		}
	}
}
