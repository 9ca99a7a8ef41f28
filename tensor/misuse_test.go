package tensor_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestMisuse: every operation names itself, the kind and the shapes, and panics with nothing else.
func TestMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	x, v := tensor.Zeros(d, 2, 3), tensor.Zeros(d, 4)
	freed := tensor.Zeros(d, 2, 3)
	freed.Free()
	freed.Free() // does nothing
	foreign := tensor.Zeros(other, 2, 3)
	rng := tensor.NewRNG(1)
	three := devtest.New(d, []int32{0, 3})
	var nobody tensor.Device
	var unmade tensor.Tensor
	var none *tensor.Tensor
	flat := &kernels.Function{Name: "flat", Value: expr.Input(0), Gradients: []*expr.Expr{expr.Const(2)}}
	noGrid := &kernels.Kernel{Name: "k_own", Text: "kernel void k_own() {}"}
	for _, c := range []struct {
		name string
		kind error
		f    func()
		say  string
	}{
		{"New", tensor.ErrShape, func() { devtest.New(d, []float64{1, 2}, 3) }, "[3]: data has 2 elements"},
		{"New", tensor.ErrShape, func() { devtest.New(d, []float64{}, -1) }, "[-1]"},
		{"Zeros", tensor.ErrShape, func() { tensor.Zeros(d, 1<<20, 1<<20) }, "[1048576 1048576]"},
		{"New", tensor.ErrValue, func() { devtest.New(nobody, []float32{1}) }, "the device is nil: look at the error that Open returned"},
		{"Uniform", tensor.ErrValue, func() { rng.Uniform(nobody, 0, 1, 2) }, "the device is nil"},
		{"Scope", tensor.ErrValue, func() { tensor.Scope(nobody, func() {}) }, "the device is nil"},
		{"Launch", tensor.ErrValue, func() { tensor.Launch(nobody, ops.Zero) }, "the device is nil"},
		{"Launch", tensor.ErrArgument, func() { tensor.Launch(d, nil) }, "the kernel is nil"},
		{"Launch", tensor.ErrArgument, func() { tensor.Launch(d, noGrid) }, "k_own: the kernel has no Grid"},
		{"Normal", tensor.ErrValue, func() { (*tensor.RNG)(nil).Normal(d, 0, 1, 2) }, "the RNG is nil"},
		{"FromMat", tensor.ErrValue, func() { tensor.FromMat(d, nil) }, "the matrix is nil"},
		{"Add", tensor.ErrValue, func() { unmade.Add(x) }, "Tensor{}"},
		{"Add", tensor.ErrValue, func() { none.Add(x) }, "a tensor is nil"},
		{"Free", tensor.ErrValue, func() { none.Free() }, "a tensor is nil"},
		{"Free", tensor.ErrValue, func() { unmade.Free() }, "Tensor{}"},
		{"ToMat", tensor.ErrValue, func() { none.ToMat() }, "a tensor is nil"},
		{"Empty", tensor.ErrType, func() { tensor.EmptyOf(d, 99, 2) }, "type 99 is no type"},
		{"Full", tensor.ErrType, func() { tensor.FullOf(d, 99, 1, 2) }, "type 99 is no type"},
		{"To", tensor.ErrType, func() { x.To(99) }, "type 99 is no type"},
		{"Map", tensor.ErrValue, func() { tensor.Map(nil, nil, x) }, "the function is nil"},
		{"MapInPlace", tensor.ErrValue, func() { x.MapInPlace(nil, nil) }, "the function is nil"},
		{"Map", tensor.ErrValue, func() { tensor.Map(&kernels.Function{Name: "own"}, nil, x) }, "function \"own\" has no formula"},
		{"Map", tensor.ErrValue, func() { tensor.Map(&kernels.Function{Name: "masks", Value: expr.Input(0), Masks: 2}, nil, x) }, "1 operands and 2 masks"},
		{"sine", tensor.ErrValue, func() { tensor.Map(fn.Sine, nil, x) }, "it takes 1 operands and 1 scalars, not 1 and 0"},
		{"add", tensor.ErrValue, func() { tensor.Map(fn.Add, nil, x) }, "it takes 2 operands and 0 scalars, not 1 and 0"},
		{"add", tensor.ErrValue, func() { tensor.Map(fn.Add, nil, x, nil) }, "a tensor is nil"},
		{"sine_grad", tensor.ErrShape, func() { tensor.Map(fn.Sine.Gradient(0), []float64{1}, x, nil, tensor.Zeros(d, 50000)) }, "[2 3] [50000]"},
		{"sign_grad", tensor.ErrValue, func() { tensor.Map(fn.Sign.Gradient(0), nil, nil, nil, nil) }, "the function uses no operand"},
		{"Linear gradient", tensor.ErrShape, func() { tensorapi.Impl.LinearGrad(fn.Tanh.Gradient(0), nil, nil, v, v) }, "[4] [4]"},
		{"Linear gradient", tensor.ErrShape, func() { tensorapi.Impl.LinearGrad(fn.Tanh.Gradient(0), nil, nil, tensor.Zeros(d, 50, 3), x) }, "[2 3] [50 3]"},
		{"Linear gradient", tensor.ErrValue, func() { tensorapi.Impl.LinearGrad(fn.Softplus.Gradient(0), nil, nil, nil, x) }, "a tensor is nil"},
		{"Linear gradient", tensor.ErrValue, func() { tensorapi.Impl.LinearGrad(flat.Gradient(0), nil, x, x, x) }, `"flat_grad" uses no operand`},
		{"Linear", tensor.ErrValue, func() { tensor.Linear(x, x.T(), nil, fn.Add) }, `"add" takes 2 operands and 0 scalars: a layer has 1 operand for it, and 0 scalars were given`},
		{"Linear", tensor.ErrValue, func() { tensor.Linear(x, x.T(), nil, fn.LeakyReLU) }, `"leaky_relu" takes 1 operands and 1 scalars: a layer has 1 operand for it, and 0`},
		{"Linear", tensor.ErrValue, func() { tensor.Linear(x, x.T(), nil, nil, 1) }, `"copy" takes 1 operands and 0 scalars`},
		{"Linear", tensor.ErrValue, func() { tensor.Linear(x, x.T(), nil, &kernels.Function{Name: "own"}) }, "function \"own\" has no formula"},
		{"Max gradient", tensor.ErrShape, func() { tensorapi.Impl.MaxGrad(x, v, v, 0) }, "there are 3 maxima"},
		{"Max gradient", tensor.ErrShape, func() { tensorapi.Impl.MaxGrad(x, x, v) }, "there are 1 maxima"},
		{"Max gradient", tensor.ErrShape, func() { tensorapi.Impl.MaxGrad(tensor.Zeros(d, 0, 3), v, v, 0) }, "no maximum"},
		{"MatMulTiled", tensor.ErrShape, func() {
			tensorapi.Impl.MatMulTiled(tensor.Zeros(d, 2, 2), tensor.Zeros(d, 30, 4), tensor.Zeros(d, 4, 50), ops.GemmTiles(d.DefaultType(), d.Target())[0])
		}, "[2 2] [30 4] [4 50]"},
		{"MatMulTiled", tensor.ErrValue, func() {
			tensorapi.Impl.MatMulTiled(tensor.Zeros(d, 2, 2), tensor.Zeros(d, 2, 3), tensor.Zeros(d, 3, 2), ops.GemmTile{M: 5, N: 3})
		}, "no tile of the device is 5x3"},
		{"Zeros", tensor.ErrShape, func() { tensor.Zeros(d, slices.Repeat([]int{1}, 17)...) }, "17 axes: a tensor has 16 at most"},
		{"Reshape", tensor.ErrShape, func() { x.Reshape(4) }, "[2 3] [4]"},
		{"Reshape", tensor.ErrShape, func() { x.Reshape(-1, 4) }, "[2 3] [-1 4]"},
		{"Transpose", tensor.ErrAxis, func() { x.Transpose(0, 0) }, "permutation"},
		{"Transpose", tensor.ErrAxis, func() { x.Transpose(0) }, "permutation"},
		{"Transpose", tensor.ErrAxis, func() { x.Transpose(0, 2) }, "axis 2"},
		{"T", tensor.ErrShape, func() { v.T() }, "[4]"},
		{"Slice", tensor.ErrIndex, func() { x.Slice(1, 2, 4) }, "[2, 4) of axis 1"},
		{"Slice", tensor.ErrIndex, func() { x.Slice(1, 2, 1) }, "[2, 1)"},
		{"Slice", tensor.ErrAxis, func() { x.Slice(-3, 0, 1) }, "axis -3"},
		{"Slice", tensor.ErrIndex, func() { x.Slice(1, -4, tensor.End) }, "[-4, End) of axis 1"},
		{"Slice", tensor.ErrIndex, func() { x.Slice(0, tensor.End, 1) }, "[End, 1) of axis 0"},
		{"Slice", tensor.ErrAxis, func() { tensor.Scalar(d, 1).Slice(0, 0, 1) }, "rank 0"},
		{"Step", tensor.ErrValue, func() { x.Step(1, 0) }, "a step of 0"},
		{"Step", tensor.ErrAxis, func() { x.Step(2, 1) }, "axis 2"},
		{"Select", tensor.ErrIndex, func() { x.Select(0, 2) }, "index 2 of axis 0"},
		{"Select", tensor.ErrIndex, func() { tensor.Zeros(d, 0, 3).Select(0, 0) }, "[0 3]"},
		{"Select", tensor.ErrAxis, func() { tensor.Scalar(d, 1).Select(-1, 0) }, "axis -1"},
		{"SetInPlace", tensor.ErrValue, func() { tensor.Scalar(d, 1).Expand(2, 3).SetInPlace(x) }, "repeats elements"},
		{"Min", tensor.ErrShape, func() { tensor.Zeros(d, 0, 3).Min(0, tensor.Keepdims) }, "[0 3]"},
		{"Min", tensor.ErrAxis, func() { x.Min(1, 1) }, "named twice"},
		{"Sum", tensor.ErrAxis, func() { x.Sum(tensor.Keepdims, -3) }, "axis -3"},
		{"Transpose", tensor.ErrAxis, func() { x.Transpose(0, tensor.Keepdims) }, "Keepdims is a word for reductions"},
		{"Step", tensor.ErrFreed, func() { freed.Step(0, 1) }, "freed"},
		{"Select", tensor.ErrFreed, func() { freed.Select(0, 0) }, "freed"},
		{"SetInPlace", tensor.ErrFreed, func() { x.T().SetInPlace(freed) }, "freed"},
		{"SetInPlace", tensor.ErrDevice, func() { x.Slice(1, 0, 3).SetInPlace(foreign) }, "cpu"},
		{"Add", tensor.ErrDevice, func() { x.Add(foreign) }, "cpu"},
		{"Add", tensor.ErrShape, func() { x.Add(v) }, "[2 3] [4]"},
		{"Tanh", tensor.ErrFreed, func() { freed.Tanh() }, "freed"},
		{"Expand", tensor.ErrShape, func() { x.Expand(3, 3) }, "[2 3] [3 3]"},
		{"Expand", tensor.ErrShape, func() { x.Expand(3) }, "[2 3] [3]"},
		{"add", tensor.ErrShape, func() { tensor.Map(fn.Add, nil, x, v) }, "[2 3] [4]"},
		{"addInPlace", tensor.ErrShape, func() { v.MapInPlace(fn.Add, nil, x) }, "[4] [2 3]"},
		{"addInPlace", tensor.ErrShape, func() { tensor.Zeros(d, 3).MapInPlace(fn.Add, nil, x) }, "[3] [2 3]"},
		{"tanhInPlace", tensor.ErrValue, func() { x.Slice(0, 0, 1).Expand(2, 3).MapInPlace(fn.Tanh, nil) }, "repeats elements"},
		{"addInPlace", tensor.ErrValue, func() { x.Slice(1, 0, 1).Expand(2, 3).MapInPlace(fn.Add, nil, x) }, "repeats elements"},
		{"addInPlace", tensor.ErrShape, func() { x.T().MapInPlace(fn.Add, nil, x) }, "[3 2] [2 3]"},
		{"addInPlace", tensor.ErrDevice, func() { x.T().MapInPlace(fn.Add, nil, foreign.T()) }, "cpu"},
		{"FillInPlace", tensor.ErrValue, func() { x.Slice(1, 0, 1).Expand(2, 3).FillInPlace(1) }, "repeats elements"},
		{"ZeroInPlace", tensor.ErrValue, func() { tensor.Scalar(d, 1).Expand(2).ZeroInPlace() }, "repeats elements"},
		{"Upload", tensor.ErrValue, func() { tensor.Upload(tensor.Scalar(d, 1).Expand(2), []float64{1, 2}) }, "repeats elements"},
		{"FillInPlace", tensor.ErrFreed, func() { freed.FillInPlace(1) }, "freed"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(tensor.Zeros(d, 2, 4).Step(1, 2), x, x.T(), false) }, "not contiguous"},
		{"SetInPlace", tensor.ErrShape, func() { x.SetInPlace(v) }, "[2 3] [4]"},
		{"Upload", tensor.ErrShape, func() { tensor.Upload(x, []float64{1}) }, "[2 3]"},
		{"MatMul", tensor.ErrShape, func() { x.MatMul(x) }, "[2 3] [2 3]"},
		{"MatMul", tensor.ErrShape, func() { x.MatMul(v) }, "[2 3] [4]"},
		{"MatMul", tensor.ErrShape, func() { x.MatMul(tensor.Scalar(d, 1)) }, "[]: a scalar is no matrix"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(v, x, nil, nil) }, "[4] [2 3]: the input has 4 features (its last axis), and the weights are for 2"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(x, x, x.T(), false) }, "[2 3] [2 3] [3 2]"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(tensor.Zeros(d, 3, 2), x, x.T(), false) }, "[3 2] [2 3] [3 2]"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(tensor.Zeros(d, 2, 2, 1), x, x.T(), false) }, "[2 2 1] [2 3] [3 2]"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(tensor.Zeros(d, 4), x, x.T(), false) }, "[4] [2 3] [3 2]"},
		{"MatMulInto", tensor.ErrShape, func() { tensorapi.Impl.MatMulInto(tensor.Scalar(d, 0), x, x.T(), false) }, "[] [2 3] [3 2]"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(x, x.T(), tensor.Zeros(d, 3), nil) }, "[2 3] [3 2] [3]"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(x, x.T(), tensor.Zeros(d, 2, 1), nil) }, "[2 3] [3 2] [2 1]"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(x, x.T(), tensor.Scalar(d, 0), nil) }, "[2 3] [3 2] []"},
		{"OuterAccInPlace", tensor.ErrShape, func() { x.OuterAccInPlace(x, x) }, "[2 3] [2 3] [2 3]"},
		{"Sum", tensor.ErrAxis, func() { x.Sum(2) }, "axis 2"},
		{"Sum", tensor.ErrAxis, func() { x.Sum(0, -2) }, "twice"},
		{"SumTo", tensor.ErrShape, func() { x.SumTo(2) }, "[2 3] [2]"},
		{"SumTo", tensor.ErrShape, func() { x.SumTo(4, 2, 3) }, "[2 3] [4 2 3]"},
		{"SumTo", tensor.ErrShape, func() { tensor.Zeros(d, 1, 3).SumTo(2, 3) }, "[1 3] [2 3]"},
		{"SumRowsInto", tensor.ErrShape, func() { tensorapi.Impl.SumRowsInto(v, x, false) }, "[4] [2 3]"},
		{"Mean", tensor.ErrAxis, func() { x.Mean(-3) }, "axis -3"},
		{"Max", tensor.ErrShape, func() { tensor.Zeros(d, 0, 3).Max(0) }, "[0 3]"},
		{"Item", tensor.ErrShape, func() { x.Item() }, "[2 3]"},
		{"GatherRows", tensor.ErrIndex, func() { x.GatherRows(three) }, "from 0 to 3, and axis 0 has 2"},
		{"GatherRows", tensor.ErrShape, func() { v.GatherRows(three) }, "[4]"},
		{"GatherRows", tensor.ErrDevice, func() { foreign.GatherRows(three) }, "cpu"},
		{"ScatterAddRowsInPlace", tensor.ErrShape, func() { x.ScatterAddRowsInPlace(three, x.T()) }, "[2 3] [3 2]"},
		{"GatherRows", tensor.ErrIndex, func() { x.GatherRows(devtest.New(d, []int32{1, -1})) }, "from -1 to 1"},
		{"GatherRows", tensor.ErrType, func() { x.GatherRows(tensor.Zeros(d, 2)) }, "type int64 or int32, not float64: convert them with To(tensor.Int64)"},
		{"GatherRows", tensor.ErrShape, func() { x.GatherRows(three.Reshape(2, 1)) }, "one axis"},
		{"Ints", tensor.ErrValue, func() { rng.Ints(d, 0, 3) }, "[0, 0)"},
		{"ToMat", tensor.ErrShape, func() { v.ToMat() }, "[4]"},
		{"Arg", tensor.ErrShape, func() { x.T().Arg() }, "Contiguous"},
		{"BufferArg", tensor.ErrIndex, func() { v.BufferArg(2, 3) }, "[2, 5)"},
		{"add", tensor.ErrDevice, func() { tensor.Map(fn.Add, nil, x, foreign) }, "[2 3] [2 3]"},
		{"MatMul", tensor.ErrDevice, func() { foreign.MatMul(x) }, "cpu"},
		{"tanh", tensor.ErrFreed, func() { tensor.Map(fn.Tanh, nil, freed) }, "[2 3]"},
		{"add", tensor.ErrFreed, func() { tensor.Map(fn.Add, nil, x, freed) }, "freed"},
		{"MatMul", tensor.ErrFreed, func() { freed.MatMul(x.T()) }, "freed"},
		{"Sum", tensor.ErrFreed, func() { freed.Sum() }, "freed"},
		{"Max", tensor.ErrFreed, func() { freed.Max() }, "freed"},
		{"Reshape", tensor.ErrFreed, func() { freed.Reshape(6) }, "freed"},
		{"Reshape", tensor.ErrShape, func() { x.Reshape(-1, -1) }, "one dimension may be -1"},
		{"Reshape", tensor.ErrShape, func() { x.Reshape(-1, 5) }, "6 elements cannot take that shape"},
		{"MatMul", tensor.ErrShape, func() { x.MatMul(x) }, "the rows of the first have 3 elements, and the columns of the second 2"},
		{"Add", tensor.ErrShape, func() { x.Add(tensor.Zeros(d, 3, 3)) }, "axis -2 is 2 and 3 long"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(x, x, nil, nil) }, "the input has 3 features (its last axis), and the weights are for 2"},
		{"Linear", tensor.ErrShape, func() { tensor.Linear(x, v, nil, nil) }, "the weights are a matrix"},
		{"Float64s", tensor.ErrFreed, func() { freed.Float64s() }, "freed"},
		{"FillInPlace", tensor.ErrFreed, func() { freed.FillInPlace(1) }, "freed"},
		{"SetInPlace", tensor.ErrFreed, func() { x.SetInPlace(freed) }, "freed"},
	} {
		err := tensor.Try(c.f)
		var e *tensor.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Op != c.name {
			t.Errorf("%s: err = %v, want %v", c.name, err, c.kind)
			continue
		}
		if !strings.HasPrefix(err.Error(), "tensor: "+c.name+": ") || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: no %q in: %v", c.name, c.say, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Try swallowed a panic that is not an *Error")
		}
	}()
	tensor.Try(func() { panic("another") })
}

// TestOuterShapes: outer products take matrices of one batch whose columns are the rows and columns
// of the sum.
func TestOuterShapes(t *testing.T) {
	d := devtest.CPU(t)
	of := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	for i, c := range []struct {
		t, u, v *tensor.Tensor
		ok      bool
	}{
		{of(2, 3), of(4, 2), of(4, 3), true},
		{of(6), of(4, 2), of(4, 3), false}, {of(2, 3, 1), of(4, 2), of(4, 3), false}, {of(2, 3), of(8), of(4, 3), false}, {of(2, 3), of(4, 2), of(12), false},
		{of(2, 3), of(4, 2, 1), of(4, 3), false}, {of(2, 3), of(4, 2), of(4, 3, 1), false},
		{of(2, 3), of(5, 2), of(4, 3), false}, {of(3, 3), of(4, 2), of(4, 3), false}, {of(2, 2), of(4, 2), of(4, 3), false}, {of(3, 2), of(4, 2), of(4, 3), false},
	} {
		if err := tensor.Try(func() { c.t.OuterAccInPlace(c.u, c.v) }); c.ok && err != nil || !c.ok && !errors.Is(err, tensor.ErrShape) {
			t.Errorf("case %d: err = %v, want one: %v", i, err, !c.ok)
		}
	}
}

func TestScopeAndViews(t *testing.T) {
	d := devtest.CPU(t)
	before := d.Stats().LiveBytes
	var kept, inner *tensor.Tensor
	tensor.Scope(d, func() {
		a := tensor.Zeros(d, 1000)
		kept = a.Slice(0, 0, 10).Retain() // keeps the storage alive
		tensor.Scope(d, func() { inner = tensor.Zeros(d, 1000).Retain() })
		tensor.Zeros(d, 1000)
	})
	if kept.Freed() || inner.Freed() {
		t.Error("a scope freed what was kept")
	}
	kept.Free()
	inner.Free()
	if live := d.Stats().LiveBytes; live != before {
		t.Errorf("%d bytes live before, %d after", before, live)
	}
}

// TestPanicInScope: what a scope made is freed when it is left by a panic too.
func TestPanicInScope(t *testing.T) {
	d := devtest.CPU(t)
	before := d.Stats().LiveBytes
	_ = tensor.Try(func() {
		tensor.Scope(d, func() { tensor.Zeros(d, 1000).Reshape(7) })
	})
	if live := d.Stats().LiveBytes; live != before {
		t.Errorf("%d bytes live before, %d after", before, live)
	}
}

// TestCollectedTensors: the garbage collector is the net under forgotten tensors.
func TestCollectedTensors(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		before := d.Stats().LiveBytes
		for range 10 {
			tensor.Zeros(d, 1000)
		}
		for range 50 {
			runtime.GC()
			if d.Stats().LiveBytes == before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d bytes live before, %d after collection", before, d.Stats().LiveBytes)
	})
}

// TestCollectedOperands: a device holds nothing that the last launch read or wrote.
func TestCollectedOperands(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		before := d.Stats().LiveBytes
		func() {
			x, y := tensor.Zeros(d, 300, 5), tensor.Zeros(d, 5)
			x.Add(y)                        // broadcast: a map with its shape in a list
			tensor.Map(fn.Tanh, nil, x.T()) // and one of a view
		}()
		for range 50 {
			runtime.GC()
			if d.Stats().LiveBytes == before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d bytes live before, %d after collection", before, d.Stats().LiveBytes)
	})
}

// TestTransfers: operations move nothing between host and device.
func TestTransfers(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, make([]float64, 100), 10, 10)
		start := d.Stats()
		y := tensor.Map(fn.Tanh, nil, x.MatMul(x)).Sum()
		if s := d.Stats(); s.Uploads != start.Uploads || s.Downloads != start.Downloads {
			t.Errorf("transfers: %+v", s)
		}
		if _, err := y.Item(); err != nil {
			t.Fatal(err)
		}
		s := d.Stats()
		if size := int64(d.DefaultType().Size()); s.Downloads != 1 || s.DownloadBytes != size || s.Uploads != 1 || s.UploadBytes != 100*size {
			t.Errorf("counters: %+v", s)
		}
	})
}

func TestOpen(t *testing.T) {
	if d, err := tensor.Open("CPU"); err != nil || !strings.HasPrefix(d.Name(), "cpu") {
		t.Errorf("cpu: %v", err)
	}
	t.Setenv(tensor.DeviceEnv, "cpu")
	if d, err := tensor.Open(""); err != nil || !strings.HasPrefix(d.Name(), "cpu") {
		t.Errorf("%s=cpu: %v", tensor.DeviceEnv, err)
	}
	if d, err := tensor.Open("auto"); err != nil {
		t.Errorf("auto: %v", err)
	} else {
		d.Close()
	}
	if _, err := tensor.Open("no such device"); err == nil {
		t.Error("a device that is not there was opened")
	} else if !errors.Is(err, clrt.ErrNoDevice) && !errors.Is(err, clrt.ErrNotBuilt) && !errors.Is(err, clrt.ErrNoRuntime) && !errors.Is(err, clrt.ErrNoPlatform) {
		t.Errorf("err = %v", err)
	}
	if _, err := tensor.Open("cpu", tensor.Options{Check: true}); err == nil {
		t.Error("cpu was opened in check mode")
	}
	fails(t, func() { _, _ = tensor.Open("cpu", tensor.Options{}, tensor.Options{}) }, tensor.ErrValue)
	if d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64}); err != nil || d.DefaultType() != kernels.Float64 {
		t.Errorf("Float64 was not heard (err %v)", err)
	}
}

// TestOpenTiny: auto computes in Go what is too small for OpenCL to be worth its launches, and
// nothing else does: not a device that was named, not check mode, which Go alone cannot do, and not
// a model whose size nobody gave.
func TestOpenTiny(t *testing.T) {
	t.Setenv(tensor.DeviceEnv, "")
	open := func(sel string, opt tensor.Options) string {
		d, err := tensor.Open(sel, opt)
		if err != nil {
			t.Fatalf("Open(%q, %+v): %v", sel, opt, err)
		}
		defer d.Close()
		return d.Name()
	}
	goName := open("cpu", tensor.Options{})
	for _, sel := range []string{"", "auto", "AUTO"} {
		for _, n := range []int{1, 512, 1023} {
			if got := open(sel, tensor.Options{LargestTensorHint: n, Profile: true}); got != goName {
				t.Errorf("Open(%q) for %d elements opens %s", sel, n, got)
			}
		}
	}
	for _, sel := range []string{"auto", "cpu", "opencl"} {
		if _, err := tensor.Open(sel, tensor.Options{Precision: 7}); err == nil || err.Error() != "tensor: open: Options.Precision is Precision(7): float32, tf32, float16 are the precisions" {
			t.Errorf("%s: a precision that is none: err = %v", sel, err)
		}
	}
	for _, typ := range []tensor.Type{tensor.Int32, tensor.Bool, tensor.Float16, 99} {
		if _, err := tensor.Open("auto", tensor.Options{DefaultType: typ}); err == nil || !strings.Contains(err.Error(), "Options.DefaultType is "+typ.String()+": it must be float32 or float64") {
			t.Errorf("%v: err = %v", typ, err)
		}
	}
	if _, err := tensor.Open("auto", tensor.Options{LargestTensorHint: -3}); err == nil || !strings.Contains(err.Error(), "Options.LargestTensorHint is -3") {
		t.Errorf("Elements: -3: err = %v", err)
	}
	if sels := devtest.Selected(); len(sels) == 1 && sels[0] == "cpu" {
		return
	}
	for _, opt := range []tensor.Options{{}, {LargestTensorHint: 1024}, {LargestTensorHint: math.MaxInt}, {LargestTensorHint: 16, Check: true}, devtest.GPUKernels(tensor.Options{LargestTensorHint: 16})} {
		if got := open("auto", opt); got == goName {
			t.Errorf("Open(auto, %+v) opens %s although there is OpenCL", opt, got)
		}
	}
	if got := open("opencl", tensor.Options{LargestTensorHint: 16}); got == goName {
		t.Errorf("Open(opencl) for 16 elements opens %s", got)
	}
	t.Setenv(tensor.DeviceEnv, "opencl")
	if got := open("", tensor.Options{LargestTensorHint: 16}); got == goName {
		t.Errorf("%s=opencl: %s was opened", tensor.DeviceEnv, got)
	}
}

// TestClosedDevice: what is used after Close is an error, not a crash.
func TestClosedDevice(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d, err := tensor.Open(sel)
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.Full(d, 1, 3)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		y := tensor.Map(fn.Add, nil, x, x)
		if _, err := y.Float64s(); err == nil {
			t.Errorf("%s: a result from a closed device", sel)
		}
		x.Free()
	}
}

// TestStickyFailure: a failure of the machine skips what follows and comes back from every function
// that returns results.
func TestStickyFailure(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		dir := t.TempDir()
		t.Setenv(cl.PathEnv, dir)
		if err := os.WriteFile(filepath.Join(dir, "move.cl"), []byte("kernel void k_fill(int broken {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := tensor.Open(sel)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x := tensor.Full(d, 1, 3)
		y := tensor.Map(fn.Add, nil, x, x)
		_, err = y.Float64s()
		if !errors.Is(err, clrt.BuildProgramFailure) || !strings.Contains(err.Error(), "move.cl") || !errors.Is(d.Sync(), clrt.BuildProgramFailure) {
			t.Errorf("err = %v, want the build failure of move.cl", err)
		}
	}
}

// TestCheckMode breaks kernels in an editable folder and expects check mode to find them, and to
// find nothing in those that are right.
func TestCheckMode(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		good := devtest.Open(t, sel, tensor.Options{Check: true})
		r := tensor.NewRNG(3)
		x := r.Normal(good, 0, 1, 33, 17)
		tensor.Map(fn.Tanh, nil, x.MatMul(x.T())).Sum(0).MapInPlace(fn.Square, nil)
		x.MapInPlace(fn.Mul, nil, x)
		x.Slice(0, 3, 5).Max(1)
		if err := good.Sync(); err != nil {
			t.Errorf("check mode found %v in kernels that are right", err)
		}

		dir := t.TempDir()
		t.Setenv(cl.PathEnv, dir)
		for _, aligned := range []bool{false, true} {
			k := fused.Map(fn.Square.Alone(), kernels.Float32, fused.AccessPattern{Rank: 1, Aligned: aligned})
			for file, text := range map[string]string{k.File: k.Text, k.GPU: k.GPUText} { // the square of 7 is off
				wrong := strings.ReplaceAll(text, "    return v1;", "    return x0 == 7 ? v1 * 1.0001f : v1;")
				if err := os.WriteFile(filepath.Join(dir, file), []byte(wrong), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		bad, err := tensor.Open(sel, tensor.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer bad.Close()
		x = tensor.Full(bad, 3, 20)
		x.Slice(0, 5, 6).FillInPlace(7)
		y := x.Square()
		_, err = y.Float64s()
		var e *tensor.CheckError
		if !errors.As(err, &e) {
			t.Fatalf("err = %v, want a CheckError", err)
		}
		if e.Kernel != "k_square" || e.Param != "Y" || e.Index != 5 || e.Want != 49 || e.Got == 49 || e.ULP < 100 || !reflect.DeepEqual(e.Sizes, []int{20, 20}) {
			t.Errorf("CheckError %+v", e)
		}
		for _, w := range []string{"k_square", "Y[5]", "host kernel has 49", "ULP"} {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("no %q in: %v", w, err)
			}
		}
	}
}

func TestNPZ(t *testing.T) {
	devtest.Uncollected(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		path := filepath.Join(t.TempDir(), "x.npz")
		want := tensor.Dict{
			"scalar": tensor.Scalar(d, 3.5), "vector": devtest.New(d, []float64{1, 2}), "cube": tensor.NewRNG(1).Normal(d, 0, 1, 2, 3, 4),
			"view": devtest.New(d, []float64{1, 2, 3, 4}, 2, 2).T(),
		}
		if err := tensor.SaveNPZ(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := tensor.LoadNPZ(d, path)
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			a, _ := w.Float64s()
			b, err := got[name].Float64s()
			if err != nil || !reflect.DeepEqual(a, b) || len(got[name].Shape()) != len(w.Shape()) {
				t.Errorf("%s: %v %v, want %v %v (err %v)", name, got[name].Shape(), b, w.Shape(), a, err)
			}
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		live := d.Stats().LiveBytes
		for _, n := range []int{0, 10, len(raw) / 2, len(raw) - 1} {
			if err := os.WriteFile(path, raw[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := tensor.LoadNPZ(d, path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("cut to %d bytes: err = %v", n, err)
			}
		}
		if _, err := tensor.LoadNPZ(d, path+".none"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("missing file: err = %v", err)
		}
		if d.Stats().LiveBytes != live {
			t.Error("a failed load left memory behind")
		}
		if err := tensor.SaveNPZ(filepath.Join(t.TempDir(), "no", "x.npz"), want); err == nil {
			t.Error("saved into a folder that does not exist")
		}
		var b strings.Builder
		if err := tensor.WriteNPY(&b, want["cube"]); err != nil {
			t.Fatal(err)
		}
		one, err := tensor.ReadNPY(d, strings.NewReader(b.String()))
		if err != nil || !reflect.DeepEqual(one.Shape(), []int{2, 3, 4}) {
			t.Errorf("npy: %v, %v", one, err)
		}
		if _, err := tensor.ReadNPY(d, strings.NewReader(b.String()[:40])); err == nil {
			t.Error("a cut npy was read")
		}
	})
}

// TestFloat64: a float64 device keeps what float32 rounds away.
func TestFloat64(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{DefaultType: tensor.Float64})
		v, err := tensor.Map(fn.Sub, nil, devtest.New(d, []float64{1 + 0x1p-40}), tensor.Scalar(d, 1)).Float64s()
		if err != nil || v[0] != 0x1p-40 || math.IsNaN(v[0]) {
			t.Errorf("%s: %v, %v", sel, v, err)
		}
	}
}

// TestNoTensorPrints: what no function made can be printed, as by a message of a failed test.
func TestNoTensorPrints(t *testing.T) {
	var none *tensor.Tensor
	if got := none.String() + ", " + new(tensor.Tensor).String() + ", " + tensor.Type(99).String(); got != "no tensor, no tensor, type 99" {
		t.Error(got)
	}
}

// TestTooManyAxes: what would have more axes than a tensor says how many it has at most.
func TestTooManyAxes(t *testing.T) {
	d := devtest.CPU(t)
	many := append(slices.Repeat([]int{1}, 16), 2)
	x, line := tensor.Zeros(d, many[1:]...), tensor.Zeros(d, 1)
	for op, f := range map[string]func(){
		"Reshape":   func() { x.Reshape(many...) },
		"Expand":    func() { x.Expand(many...) },
		"Unsqueeze": func() { x.Unsqueeze(0) },
		"Stack":     func() { tensor.Stack(0, x, x) },
		"Tile":      func() { x.Tile(many...) },
		"Unfold":    func() { x.Unfold(-1, 1, 1) },
		"OneHot":    func() { x.To(tensor.Int32).OneHot(3) },
		"Embedding": func() { tensor.Zeros(d, 2, 3).Embedding(x.To(tensor.Int32)) },
		"Index":     func() { tensor.Zeros(d, 2, 3).Index(x.To(tensor.Int32)) },
		"Zeros":     func() { tensor.Zeros(d, many...) },
		"New":       func() { devtest.New(d, []float64{1, 2}, many...) },
		"TensorDot": func() { x.TensorDot(line, nil, nil) },
		"Einsum":    func() { tensor.Einsum("abcdefghijklmnop,q->abcdefghijklmnopq", x, line) },
		"Meshgrid":  func() { tensor.Meshgrid(slices.Repeat([]*tensor.Tensor{line}, 17)...) },
		"Uniform":   func() { tensor.NewRNG(1).Uniform(d, 0, 1, many...) },
	} {
		err := tensor.Try(f)
		if !errors.Is(err, tensor.ErrShape) || !strings.HasPrefix(err.Error(), "tensor: "+op+": ") || !strings.Contains(err.Error(), "16 at most") {
			t.Errorf("%s: err = %v", op, err)
		}
	}
}
