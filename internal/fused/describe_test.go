package fused

import (
	"reflect"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestMapDescription: of a map with an operand that does not occur, axes that are repeated, and
// several scalars.
func TestMapDescription(t *testing.T) {
	f := &kernels.Function{Name: "f", Value: expr.Input(2).Mul(expr.Param(1)).Add(expr.Input(0)), Scalars: []float64{1, 2}}
	k := Map(f.Alone(), kernels.Float32, AccessPattern{Rank: 3, Steps: [MapTensors]Access{Broadcast, Strided, Contiguous}})
	o := kernels.NewOperands(kernels.Float64, 1, 1).In(6, 0, 1).In(12, 0, 1).Out(24).Int(4, 6, 3) // [2, 3, 4]
	o.Int(3, 1).Int(0, 1, 3).Int(12, 4).Float(5)
	want := []kernels.Op{&operation.Map{Codegen: true, Dims: []int{2, 3, 4},
		Operands: []kernels.View{{Arg: 0, Type: kernels.Float32, Offset: 0, Strides: []int{3, 1, 0}}, {},
			{Arg: 1, Type: kernels.Float32, Offset: 0, Strides: []int{0, 1, 3}}},
		Results: []operation.Result{{Function: f, Scalars: []operation.Scalar{{}, operation.ArgScalar(13)},
			View: kernels.View{Arg: 2, Type: kernels.Float32, Offset: 0, Strides: []int{12, 4, 1}}}}}}
	if got := k.Semantics(o.Args); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got[0], want[0])
	}
}
