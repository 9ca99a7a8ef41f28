package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestEmptyViews runs every operation on views without elements, whose offsets would lie past the
// storage: each works, or says what is wrong with an *Error.
func TestEmptyViews(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 1, 4, 4)
		views := map[string]*tensor.Tensor{
			"[0 3] sliced":   tensor.Zeros(d, 0, 3).Slice(1, 1, 3),
			"its transpose":  tensor.Zeros(d, 0, 3).Slice(1, 1, 3).T(),
			"its end":        tensor.Zeros(d, 0, 3).Slice(1, 3, 3),
			"end of an end":  x.Slice(0, 4, 4).Slice(1, 4, 4),
			"columns at end": x.Slice(0, 4, 4).Slice(1, 2, 4),
			"transposed end": x.T().Slice(1, 4, 4).Slice(0, 3, 4),
			"[3 0] expanded": tensor.Zeros(d, 1, 0).Expand(3, 0),
		}
		for name, v := range views {
			for op, f := range map[string]func() *tensor.Tensor{
				"read":       func() *tensor.Tensor { return v },
				"Copy":       v.Copy,
				"Sum":        func() *tensor.Tensor { return v.Sum() },
				"Sum(0)":     func() *tensor.Tensor { return v.Sum(0) },
				"Sum(1)":     func() *tensor.Tensor { return v.Sum(-1) },
				"Mean":       func() *tensor.Tensor { return v.Mean() },
				"Mean(0)":    func() *tensor.Tensor { return v.Mean(0) },
				"Max":        func() *tensor.Tensor { return v.Max() },
				"Min":        func() *tensor.Tensor { return v.Min() },
				"Max(0)":     func() *tensor.Tensor { return v.Max(0) },
				"Max(1)":     func() *tensor.Tensor { return v.Max(1) },
				"SumTo":      func() *tensor.Tensor { return v.SumTo(1, 1) },
				"tanh":       func() *tensor.Tensor { return tensor.Map(fn.Tanh, nil, v) },
				"add":        func() *tensor.Tensor { return tensor.Map(fn.Add, nil, v, v) },
				"add one":    func() *tensor.Tensor { return tensor.Map(fn.Add, nil, tensorapi.Impl.One(d, 1, 1), v) },
				"MatMul":     func() *tensor.Tensor { return v.MatMul(v.T()) },
				"MatMul tn":  func() *tensor.Tensor { return v.T().MatMul(v) },
				"Linear":     func() *tensor.Tensor { return tensor.Linear(v, v.T(), nil, fn.Tanh) },
				"Reshape":    func() *tensor.Tensor { return v.Reshape(0, 5) },
				"Reshape -1": func() *tensor.Tensor { return v.Reshape(-1, 5) },
				"Slice":      func() *tensor.Tensor { return v.Slice(0, 0, 0).Slice(1, 0, 0) },
				"Expand":     func() *tensor.Tensor { return v.Expand(append([]int{2}, v.Shape()...)...) },
				"FillInPlace": func() *tensor.Tensor {
					v.FillInPlace(3)
					return v
				},
				"SetInPlace": func() *tensor.Tensor {
					v.SetInPlace(v.Copy())
					return v
				},
				"SquaredError": func() *tensor.Tensor {
					sum, grad := tensorapi.Impl.SquaredError(v, v)
					grad.Free()
					return sum
				},
				"GatherRows": func() *tensor.Tensor { return v.GatherRows(devtest.New(d, []int32{})) },
				"Concat":     func() *tensor.Tensor { return tensor.Concat(-1, v, v.Copy(), v) },
				"Stack":      func() *tensor.Tensor { return tensor.Stack(1, v, v) },
				"Chunk":      func() *tensor.Tensor { return v.Chunk(1, 3)[0] },
				"Unsqueeze":  func() *tensor.Tensor { return v.Unsqueeze(-1).Squeeze() },
				"Flatten":    func() *tensor.Tensor { return v.Flatten(0, -1) },
				"Diagonal":   func() *tensor.Tensor { return v.Diagonal(1, 0, 1) },
				"Unfold":     func() *tensor.Tensor { return v.Unfold(0, 0, 1) },
				"Flip":       func() *tensor.Tensor { return v.Flip(0, 1) },
				"Roll":       func() *tensor.Tensor { return v.Roll(3, 0).Roll(-1, 1) },
				"Tile":       func() *tensor.Tensor { return v.Tile(2, 3) },
				"Repeat":     func() *tensor.Tensor { return v.RepeatInterleave(2, 0) },
				"Pad":        func() *tensor.Tensor { return v.Pad([][2]int{{1, 0}, {0, 1}}, tensor.PadOptions{Value: 3}) },
				"Tril":       func() *tensor.Tensor { return v.Tril(0) },
				"Gather":     func() *tensor.Tensor { return v.Gather(0, tensor.ZerosOf(d, tensor.Int32, 0, 0)) },
				"Scatter":    func() *tensor.Tensor { return v.ScatterAdd(1, tensor.ZerosOf(d, tensor.Int32, 0, 0), v) },
				"ScatterReduce": func() *tensor.Tensor {
					return v.ScatterReduce(1, tensor.ZerosOf(d, tensor.Int32, v.Shape()[0], 0), v, tensor.ScatterMean, tensor.ScatterOptions{ExcludeSelf: true})
				},
				"IndexSelect": func() *tensor.Tensor { return v.IndexSelect(1, devtest.New(d, []int32{})) },
				"IndexAdd":    func() *tensor.Tensor { return v.IndexAdd(0, devtest.New(d, []int32{}), v.Slice(0, 0, 0)) },
				"IndexFill":   func() *tensor.Tensor { return v.IndexFill(1, devtest.New(d, []int32{}), 2) },
				"Index":       func() *tensor.Tensor { return v.Index(nil, devtest.New(d, []int32{})) },
				"IndexPut": func() *tensor.Tensor {
					return v.IndexPut([]*tensor.Tensor{devtest.New(d, []int32{})}, tensor.Scalar(d, 1))
				},
				"Embedding": func() *tensor.Tensor { return v.Embedding(tensor.ZerosOf(d, tensor.Uint8, 2, 0)) },
			} {
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("%s of %s %v: panic: %v", op, name, v.Shape(), r)
						}
					}()
					var e *tensor.Error
					err := tensor.Try(func() {
						if _, err := f().Float64s(); err != nil {
							t.Errorf("%s of %s: %v", op, name, err)
						}
					})
					if err != nil && (!errors.As(err, &e) || op != "Max" && op != "Min" && op != "Max(0)" && op != "Max(1)") {
						t.Errorf("%s of %s %v: %v", op, name, v.Shape(), err)
					}
				}()
			}
		}
	})
}

// TestHugeEmpty: the dimensions beside a 0 may be more than a kernel counts. Operations on such
// tensors give such tensors, or none where the 0 is gone.
func TestHugeEmpty(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no int is that large")
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		huge := 1 << 20 // its square is no int32, its fourth power no int64
		none := devtest.New(d, []int32{})
		for _, typ := range types {
			x := tensor.ZerosOf(d, typ, 0, huge, huge)
			flat := tensor.ZerosOf(d, typ, 0, huge*huge)
			for name, f := range map[string]func() *tensor.Tensor{
				"Sum":         func() *tensor.Tensor { return x.Sum(1, 2) },
				"Sum apart":   func() *tensor.Tensor { return x.Sum(1).Sum(1) },
				"Mean":        func() *tensor.Tensor { return x.Mean(1, 2) },
				"Max":         func() *tensor.Tensor { return x.Max(1, 2) },
				"Min":         func() *tensor.Tensor { return x.Min(-1) },
				"SumTo":       func() *tensor.Tensor { return x.SumTo(0, 1, huge) },
				"MaxGrad":     func() *tensor.Tensor { return tensorapi.Impl.MaxGrad(x, x.Max(1, 2), x.Max(1, 2), 1, 2) },
				"GatherRows":  func() *tensor.Tensor { return flat.GatherRows(none) },
				"Concat":      func() *tensor.Tensor { return tensor.Concat(0, x, x) },
				"Flip":        func() *tensor.Tensor { return x.Flip(0, 2) },
				"Roll":        func() *tensor.Tensor { return x.Roll(5, 1) },
				"Tile":        func() *tensor.Tensor { return x.Tile(2, 1, 2).Flatten(0, 0) },
				"Repeat":      func() *tensor.Tensor { return x.RepeatInterleave(2, 1) },
				"Pad":         func() *tensor.Tensor { return x.Pad([][2]int{{0, 0}, {1, 1}, {0, -1}}) },
				"Tril":        func() *tensor.Tensor { return x.Tril(1) },
				"Diagonal":    func() *tensor.Tensor { return x.Diagonal(3, 1, 2) },
				"Unfold":      func() *tensor.Tensor { return x.Unfold(1, huge, 1) },
				"Gather":      func() *tensor.Tensor { return x.Gather(1, tensor.ZerosOf(d, tensor.Int32, 0, 5, huge)) },
				"Scatter":     func() *tensor.Tensor { return x.Scatter(1, tensor.ZerosOf(d, tensor.Int32, 0, 5, huge), x) },
				"IndexSelect": func() *tensor.Tensor { return x.IndexSelect(1, devtest.New(d, []int32{7})) },
				"IndexAdd":    func() *tensor.Tensor { return x.IndexAdd(2, devtest.New(d, []int32{7}), x.Slice(2, 0, 1)) },
				"IndexFill":   func() *tensor.Tensor { return x.IndexFill(2, devtest.New(d, []int32{7}), 1) },
				"Index":       func() *tensor.Tensor { return x.Index(nil, devtest.New(d, []int32{7}), devtest.New(d, []int32{-1})) },
				"IndexPut": func() *tensor.Tensor {
					return x.IndexPut([]*tensor.Tensor{none, nil, none}, tensor.ZerosOf(d, tensor.Uint8, 1))
				},
				"LinearGrad": func() *tensor.Tensor {
					_, shares := tensorapi.Impl.LinearGrad(fn.Tanh.Gradient(0), nil, nil, flat.T(), flat.T())
					return shares
				},
				"add":    func() *tensor.Tensor { return tensor.Map(fn.Add, nil, x, tensorapi.Impl.One(d)) },
				"copied": func() *tensor.Tensor { return x.Transpose().Copy() },
				"scattered": func() *tensor.Tensor {
					y := tensor.Zeros(d, 0, huge*huge)
					y.ScatterAddRowsInPlace(none, flat)
					return y
				},
				"outer": func() *tensor.Tensor {
					y := tensor.Zeros(d, 0, huge*huge)
					y.OuterAccInPlace(tensor.Zeros(d, 0, 0), flat)
					return y
				},
			} {
				if err := tensor.Try(func() {
					if v, err := f().Float64s(); err != nil || len(v) != 0 {
						t.Errorf("%s of %v: %d elements (err %v)", name, typ, len(v), err)
					}
				}); err != nil {
					t.Errorf("%s of %v: %v", name, typ, err)
				}
			}
			for _, shape := range [][]int{{0, huge, huge}, {0, huge, huge, huge, huge}} {
				for name, reduced := range devtest.Reductions[*tensor.Tensor](t) {
					x := tensor.ZerosOf(d, typ, shape...)
					fails(t, func() { reduced(x, 0) }, tensor.ErrShape)
					fails(t, func() { reduced(x.Transpose(), -1) }, tensor.ErrShape)
					if y := reduced(x, sequence(len(shape))[1:]...).(*tensor.Tensor); y.Len() != 0 {
						t.Errorf("%s of %v: %v", name, typ, y)
					}
				}
			}
		}
	})
}

// TestScalarResults: the result of a function of a scalar, or of one element, is a tensor of its
// own: freeing one leaves the other.
func TestScalarResults(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{}, {1}, {1, 1}} {
			for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
				"Max":       func(x *tensor.Tensor) *tensor.Tensor { return x.Max() },
				"Sum":       func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() },
				"Mean":      func(x *tensor.Tensor) *tensor.Tensor { return x.Mean() },
				"SumTo":     func(x *tensor.Tensor) *tensor.Tensor { return x.SumTo(shape...) },
				"SumTo()":   func(x *tensor.Tensor) *tensor.Tensor { return x.SumTo() },
				"Copy":      (*tensor.Tensor).Copy,
				"View":      (*tensor.Tensor).View,
				"Tile":      func(x *tensor.Tensor) *tensor.Tensor { return x.Tile() },
				"Reshape":   func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(shape...) },
				"Transpose": func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose() },
				"Expand":    func(x *tensor.Tensor) *tensor.Tensor { return x.Expand(shape...) },
				"abs":       func(x *tensor.Tensor) *tensor.Tensor { return tensor.Map(fn.Abs, nil, x) },
				"max":       func(x *tensor.Tensor) *tensor.Tensor { return tensor.Map(fn.Max, nil, x, x) },
				"max itself": func(x *tensor.Tensor) *tensor.Tensor {
					return tensor.Map(fn.Max, nil, x, tensor.Scalar(x.Device(), -1))
				},
				"MaxGrad":    func(x *tensor.Tensor) *tensor.Tensor { return tensorapi.Impl.MaxGrad(x, x.Max(), x.Max()) },
				"Slice":      func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(1).Slice(0, 0, 1) },
				"GatherRows": func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(1, 1).GatherRows(devtest.New(d, []int32{0})) },
				"MatMul": func(x *tensor.Tensor) *tensor.Tensor {
					return x.Reshape(1, 1).MatMul(tensorapi.Impl.One(d, 1, 1))
				},
				"Max of axes": func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(1, 1).Max(1, 0) },
			} {
				x := tensor.Full(d, 7, shape...)
				y := f(x)
				if y == x {
					t.Errorf("%s of %v is its operand", name, shape)
				}
				if y.Shape() == nil { // New takes that for no shape
					t.Errorf("%s of %v has no shape", name, shape)
				}
				y.Free()
				if x.Freed() {
					t.Errorf("%s of %v: freeing the result freed the operand", name, shape)
					continue
				}
				y = f(x)
				x.Free()
				if v, err := y.Reshape(-1).Float64s(); err != nil || fmt.Sprint(v) != "[7]" {
					t.Errorf("%s of %v is %v after its operand was freed (err %v)", name, shape, v, err)
				}
			}
		}
	})
}
