package tensor_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

var truths = []bool{true, false, false, true, true, false}

func bools(t *testing.T, x *tensor.Tensor) []bool {
	t.Helper()
	v, err := x.Bools()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBools: bools come to the device and back, as themselves, in files and in views.
func TestBools(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.New(d, truths, 2, 3)
		if got := bools(t, x); x.Type() != tensor.Bool || !slices.Equal(got, truths) {
			t.Errorf("%v %v", x, got)
		}
		if got := bools(t, x.T()); !slices.Equal(got, []bool{true, true, false, true, false, false}) {
			t.Errorf("transposed: %v", got)
		}
		tensor.Upload(x.T().Slice(0, 0, 1), []bool{false, true})
		if got := devtest.Float64s(t, x); !slices.Equal(got, []float64{0, 0, 0, 1, 1, 0}) {
			t.Errorf("written: %v", got)
		}
		for name, y := range map[string]*tensor.Tensor{
			"concat": tensor.Concat(0, x, x).Slice(0, 2, 4), "stack": tensor.Stack(0, x, x).Select(0, 1), "flip": x.Flip(0).Flip(0),
			"gather": x.GatherRows(tensor.New(d, []int32{0, 1})), "pad": x.Pad([][2]int{{1, 0}}).Slice(1, 1, 4), "copy": x.Expand(2, 2, 3).Select(0, 1).Copy(),
			"select": x.IndexSelect(1, tensor.New(d, []int32{0, 1, 2})), "triangle": x.Triu(-1).Where(x.Triu(-1), x), "set": func() *tensor.Tensor {
				y := tensor.ZerosLike(x)
				y.SetInPlace(x)
				return y
			}(),
		} {
			if got := bools(t, y); !slices.Equal(y.Shape(), []int{2, 3}) || !slices.Equal(got, []bool{false, false, false, true, true, false}) {
				t.Errorf("%s: %v %v", name, y, got)
			}
		}
		var npz, safe bytes.Buffer
		if err := errors.Join(tensor.WriteNPZ(&npz, tensor.Dict{"x": x.T()}), tensor.WriteSafetensors(&safe, tensor.Dict{"x": x.T()})); err != nil {
			t.Fatal(err)
		}
		read, err := tensor.ReadNPZ(d, bytes.NewReader(npz.Bytes()), int64(npz.Len()))
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := tensor.ReadSafetensors(d, bytes.NewReader(safe.Bytes()), int64(safe.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range []*tensor.Tensor{read["x"], again["x"]} {
			if !slices.Equal(bools(t, y), bools(t, x.T())) {
				t.Errorf("from a file: %v", y)
			}
		}
		fails(t, func() { x.Uint8s() }, tensor.ErrType)
		fails(t, func() { x.To(tensor.Uint8).Bools() }, tensor.ErrType)
		fails(t, func() { tensor.FullOf(d, tensor.Bool, 2, 3) }, tensor.ErrType)
		fails(t, func() { x.FillInPlace(0.5) }, tensor.ErrType)
	})
}

// TestToBool: what is not 0 is true, NaN too, of every type; as another type a Bool is 0 or 1.
func TestToBool(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		data := []float64{0, 1, 2, 200, math.Copysign(0, -1), 0.25, -3, math.NaN(), math.Inf(1), 5e-324}
		x := tensor.New(d, data, 2, 5)
		for _, typ := range types {
			of := x.To(typ).T()
			was, got := devtest.Float64s(t, of), bools(t, of.To(tensor.Bool))
			for i, v := range was {
				if got[i] != (v != 0) {
					t.Errorf("%v of %v is %v", v, typ, got[i])
				}
			}
			if back := of.To(tensor.Bool).To(typ); back.Type() != typ || !slices.EqualFunc(devtest.Float64s(t, back), got, func(v float64, b bool) bool { return v == map[bool]float64{true: 1}[b] }) {
				t.Errorf("back as %v: %v", typ, devtest.Float64s(t, back))
			}
		}
	})
}

// TestBoolAlgebra: functions of bools are those of PyTorch: a sum is an or, a product an and; functions
// that leave 0 and 1 count in Int32; there is no difference.
func TestBoolAlgebra(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, y := tensor.New(d, []bool{false, false, true, true}), tensor.New(d, []bool{false, true, false, true})
		for name, c := range map[string]struct {
			got  *tensor.Tensor
			typ  tensor.Type
			want []float64
		}{
			"or": {x.Add(y), tensor.Bool, []float64{0, 1, 1, 1}}, "and": {x.Mul(y), tensor.Bool, []float64{0, 0, 0, 1}},
			"maximum": {x.Maximum(y), tensor.Bool, []float64{0, 1, 1, 1}}, "minimum": {x.Minimum(y), tensor.Bool, []float64{0, 0, 0, 1}},
			"xor": {x.BitwiseXor(y), tensor.Bool, []float64{0, 1, 1, 0}}, "not": {x.BitwiseNot(), tensor.Bool, []float64{1, 1, 0, 0}},
			"equal": {x.Eq(y), tensor.Bool, []float64{1, 0, 0, 1}}, "less": {x.Lt(y), tensor.Bool, []float64{0, 1, 0, 0}},
			"logical": {x.LogicalAnd(y), tensor.Bool, []float64{0, 0, 0, 1}}, "chosen": {x.Where(y, y), tensor.Bool, []float64{0, 0, 0, 1}},
			"added": {x.AddScalar(1), tensor.Int32, []float64{1, 1, 2, 2}}, "bytes": {x.Add(y.To(tensor.Uint8)), tensor.Uint8, []float64{0, 1, 1, 2}},
			"ints":   {x.Mul(tensor.FullOf(d, tensor.Int32, -7, 4)), tensor.Int32, []float64{0, 0, -7, -7}},
			"floats": {x.Mul(tensor.FullOf(d, tensor.Float64, 0.5, 4)), tensor.Float64, []float64{0, 0, 0.5, 0.5}},
			"half":   {x.DivScalar(2), d.DefaultType(), []float64{0, 0, 0.5, 0.5}}, "product": {x.Reshape(2, 2).To(tensor.Float32).MatMul(y.Reshape(2, 2)), tensor.Float32, []float64{0, 0, 0, 2}},
			"sum": {x.Sum(), tensor.Int64, []float64{2}}, "mean": {x.Mean(), d.DefaultType(), []float64{0.5}}, "most": {x.Reshape(2, 2).Max(0), tensor.Bool, []float64{1, 1}},
			"product of all": {x.Prod(), tensor.Int64, []float64{0}}, "any": {x.Any(), tensor.Bool, []float64{1}}, "all": {x.All(), tensor.Bool, []float64{0}},
			"count": {x.CountNonzero(), tensor.Int64, []float64{2}}, "scan": {x.CumSum(0), tensor.Int64, []float64{0, 0, 1, 2}}, "at": {x.ArgMax(0), tensor.Int64, []float64{2}},
			"sorted": {func() *tensor.Tensor { v, _ := y.Sort(0); return v }(), tensor.Bool, []float64{0, 0, 1, 1}},
			"placed": {x.Scatter(0, tensor.New(d, []int32{3, 0}), tensor.New(d, []bool{false, true})), tensor.Bool, []float64{1, 0, 1, 0}},
		} {
			if got := devtest.Float64s(t, c.got); c.got.Type() != c.typ || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v of %v, want %v of %v", name, got, c.got.Type(), c.want, c.typ)
			}
		}
		z := x.Copy()
		z.MapInPlace(fn.Add, nil, y)
		if got := bools(t, z); !slices.Equal(got, []bool{false, true, true, true}) {
			t.Errorf("in place: %v", got)
		}
		fails(t, func() { x.Sub(y) }, tensor.ErrType)
		fails(t, func() { x.Neg() }, tensor.ErrType)
		fails(t, func() { z.MapInPlace(fn.AddScalar, []float64{1}) }, tensor.ErrType)
		fails(t, func() { z.MapInPlace(fn.Add, nil, tensor.FullOf(d, tensor.Uint8, 2, 4)) }, tensor.ErrType)
		fails(t, func() { x.ScatterAdd(0, tensor.New(d, []int32{3, 3}), tensor.New(d, []bool{true, true})) }, tensor.ErrType)
		fails(t, func() { tensor.FullOf(d, tensor.Float32, 1, 4, 2).Embedding(x) }, tensor.ErrType)
	})
}

// TestIndexByMask: a mask stands for the indices of what is true, of one axis or several, alone or beside
// others.
func TestIndexByMask(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Arange(d, 0, 24, 1).Reshape(2, 3, 4)
		rows, plane := tensor.New(d, []bool{true, false, true}), tensor.New(d, truths, 2, 3)
		for name, c := range map[string]struct {
			got   *tensor.Tensor
			shape []int
			want  []float64
		}{
			"two axes":    {x.Index(plane), []int{3, 4}, []float64{0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19}},
			"middle":      {x.Index(nil, rows), []int{2, 2, 4}, []float64{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23}},
			"with others": {x.Index(tensor.New(d, []int32{1, 0}), rows), []int{2, 4}, []float64{12, 13, 14, 15, 8, 9, 10, 11}},
			"all":         {x.Index(x.GtScalar(21)), []int{2}, []float64{22, 23}},
			"none":        {x.Index(x.LtScalar(0)), []int{0}, nil},
			"put":         {x.IndexPut([]*tensor.Tensor{x.GtScalar(1)}, tensor.Zeros(d, 1)).Reshape(-1).Slice(0, 0, 3), []int{3}, []float64{0, 1, 0}},
			"added":       {x.IndexPut([]*tensor.Tensor{nil, rows}, tensor.Full(d, 5, 1), tensor.IndexPutOptions{Accumulate: true}).Select(2, 0), []int{2, 3}, []float64{5, 4, 13, 17, 16, 25}},
		} {
			if got := devtest.Float64s(t, c.got); !slices.Equal(c.got.Shape(), c.shape) || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v %v, want %v %v", name, c.got.Shape(), got, c.shape, c.want)
			}
		}
		for _, mask := range []*tensor.Tensor{tensor.New(d, truths), tensor.New(d, truths[:1], []int{}...), tensor.New(d, truths, 3, 2)} {
			if err := tensor.Try(func() { x.Index(mask) }); !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), "a mask has the shape of the axes") {
				t.Errorf("%v: %v", mask.Shape(), err)
			}
		}
	})
}

// TestScalarsOfIntegers: beside bools a scalar of integers counts; beside bytes it wraps around. The
// numbers are PyTorch's.
func TestScalarsOfIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := func(v int32) *tensor.Tensor { return tensor.New(d, []int32{v}, []int{}...) }
		m, u := tensor.New(d, []bool{true, false}), tensor.New(d, []uint8{1, 255})
		for name, c := range map[string]struct {
			got  *tensor.Tensor
			typ  tensor.Type
			want []float64
		}{
			"m·5": {m.Mul(k(5)), tensor.Int32, []float64{5, 0}}, "m+300": {m.Add(k(300)), tensor.Int32, []float64{301, 300}},
			"m = −4": {m.Eq(k(-4)), tensor.Bool, []float64{0, 0}}, "m < 300": {m.Lt(k(300)), tensor.Bool, []float64{1, 1}},
			"m or 5": {m.Where(m, k(5)), tensor.Int32, []float64{1, 5}}, "m·byte": {m.Mul(u.Select(0, 1)), tensor.Uint8, []float64{255, 0}},
			"u−4": {u.Add(k(-4)), tensor.Uint8, []float64{253, 251}}, "u+4": {u.Sub(k(-4)), tensor.Uint8, []float64{5, 3}},
			"u+300": {u.Add(k(300)), tensor.Uint8, []float64{45, 43}}, "300·u": {k(300).Mul(u), tensor.Uint8, []float64{44, 212}},
			"u = 257": {u.Eq(k(257)), tensor.Bool, []float64{1, 0}}, "u < 300": {u.Lt(k(300)), tensor.Bool, []float64{1, 0}},
			"u max −4": {u.Maximum(k(-4)), tensor.Uint8, []float64{252, 255}}, "u and −4": {u.LogicalAnd(k(-4)), tensor.Bool, []float64{1, 1}},
			"a scalar's": {u.Select(0, 1).Add(k(300)), tensor.Int32, []float64{555}}, "a line's": {u.Add(k(300).Reshape(1)), tensor.Int32, []float64{301, 555}},
		} {
			if got := devtest.Float64s(t, c.got); c.got.Type() != c.typ || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v %v, want %v of %v", name, c.got, got, c.want, c.typ)
			}
		}
		u.MapInPlace(fn.Add, nil, k(300))
		if got := devtest.Float64s(t, u); !slices.Equal(got, []float64{45, 43}) {
			t.Errorf("in place: %v", got)
		}
	})
}

// TestMasksLeaveNothing: what masks become is freed, and so is what a scalar that does not fit stops.
func TestMasksLeaveNothing(t *testing.T) {
	devtest.Uncollected(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.ZerosOf(d, tensor.Int32, 50, 40)
		mask, at := x.EqScalar(0), tensor.New(d, []int32{1})
		value := x.Select(0, 0).Select(0, 0)
		before := d.Stats().LiveBytes
		x.Index(mask).Free()
		x.IndexPut([]*tensor.Tensor{mask}, value).Free()
		fails(t, func() { x.IndexPut([]*tensor.Tensor{mask}, x) }, tensor.ErrShape)
		fails(t, func() { x.Index(mask.Select(1, 0), tensor.New(d, []int32{0, 1}, 2)) }, tensor.ErrShape)
		fails(t, func() { x.MulScalar(0.5) }, tensor.ErrType)
		fails(t, func() { x.Index(at.To(tensor.Uint8)) }, tensor.ErrType)
		if live := d.Stats().LiveBytes; live > before+1024 {
			t.Errorf("%d bytes are live, %d were before", live, before)
		}
	})
}

// TestIsCloseOfTypes: numbers of two types are compared in that which both promote to, also where they are of one value
// in the narrower one.
func TestIsCloseOfTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		data := []float64{0, 1, 2.0001, 0.1, math.NaN(), math.Inf(1), 3}
		wide := tensor.NewOf(d, tensor.Float32, data)
		for typ, want := range map[tensor.Type][]bool{
			tensor.Float16:  {true, true, false, false, false, true, true},
			tensor.BFloat16: {true, true, false, false, false, true, true},
			tensor.Float64:  {true, true, true, true, false, true, true},
			tensor.Int64:    {true, true, false, false, false, false, true},
			tensor.Uint8:    {true, true, false, false, false, false, true},
			tensor.Bool:     {true, true, false, false, false, false, false},
		} {
			if !d.Supports(typ) {
				continue
			}
			y := tensor.NewOf(d, tensor.Float32, data).To(typ)
			if typ == tensor.Float64 {
				y = tensor.NewOf(d, typ, data)
			}
			is(t, "IsClose of float32 and "+typ.String(), wide.IsClose(y, 0, 1e-5), want...)
			is(t, "IsClose of "+typ.String()+" and float32", y.IsClose(wide, 0, 1e-5), want...)
		}
		is(t, "IsClose of uint8 and int8", tensor.New(d, []uint8{1, 255}).IsClose(tensor.New(d, []int8{1, -1}), 0, 0.5), true, false)
	})
}
