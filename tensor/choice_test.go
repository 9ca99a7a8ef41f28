package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestConditionMethods: every condition is what its formula says in float64, as 1 and 0 of Uint8,
// of operands of all types, in views and broadcast. Integers are compared as such: these differ by
// less than float32 can tell.
func TestConditionMethods(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		floats := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 2, 0.5, -2, 3, 1}
		large := []int32{math.MaxInt32, math.MaxInt32 - 1, math.MinInt32, math.MinInt32 + 1, 0, 1, -1, 1 << 24, 1<<24 + 1, 2, 255, 3}
		operands := map[string][2]*tensor.Tensor{
			"reals":      {devtest.New(d, floats, 12, 1), devtest.New(d, floats)},
			"ints":       {devtest.New(d, large, 12, 1), devtest.New(d, large)},
			"bytes":      {devtest.New(d, []uint8{0, 1, 2, 255, 128, 7}, 2, 3).T(), devtest.New(d, []uint8{1, 255, 0, 7, 2, 128}, 3, 2)},
			"halves":     {devtest.New(d, floats, 4, 3).To(tensor.Float16).T(), devtest.New(d, floats[:3], 3, 1)},
			"int, real":  {devtest.New(d, []int32{1, 2, 0, 3}), devtest.New(d, []float64{1, 1.5, math.NaN(), math.Inf(1)})},
			"byte, int":  {devtest.New(d, []uint8{255, 1, 0}), devtest.New(d, []int32{255, 257, -1})},
			"empty":      {devtest.New(d, floats[:0], 0, 3), devtest.New(d, floats[:3])},
			"no axes":    {tensor.Scalar(d, 1), tensor.Scalar(d, 1)},
			"with steps": {devtest.New(d, floats, 3, 4).Step(1, 2), devtest.New(d, floats[:6], 2, 3).T()},
		}
		for _, f := range fn.Conditions {
			method := methodOf(t, f)
			for name, pair := range operands {
				if !isGo(d) && f != fn.Lt && f != fn.IsFinite && name != "reals" {
					continue
				}
				x, y := pair[0], pair[1]
				in := []*tensor.Tensor{x, y}[:f.Operands()]
				scalars := slices.Clone(f.Scalars)
				if name == "bytes" {
					scalars = slices.Repeat([]float64{7}, len(scalars))
				}
				shape := x.Shape()
				if f.Operands() == 2 {
					shape, _ = tensor.Broadcast(x.Shape(), y.Shape())
				}
				got := method(in, scalars)
				if got.Type() != tensor.Bool || !slices.Equal(got.Shape(), shape) {
					t.Fatalf("%s of %s is %v %v", f.Name, name, got.Type(), got.Shape())
				}
				bits, err := got.To(tensor.Uint8).Uint8s()
				if err != nil {
					t.Fatal(err)
				}
				vx, vy := devtest.Float64s(t, x.Expand(shape...)), []float64(nil)
				if f.Operands() == 2 {
					vy = devtest.Float64s(t, y.Expand(shape...))
				}
				for i, b := range bits {
					at := []float64{vx[i]}
					if vy != nil {
						at = append(at, vy[i])
					}
					if want := f.At(scalars, at...); float64(b) != want {
						t.Errorf("%s of %s: of %v it is %v, want %v", f.Name, name, at, b, want)
					}
				}
			}
		}
	})
}

// TestConditions: what the formulas themselves are checked against, beside PyTorch's numbers in
// package catalog.
func TestConditions(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		f    *kernels.Function
		x, y float64
		want float64
	}{
		{fn.Eq, nan, nan, 0}, {fn.Ne, nan, nan, 1}, {fn.Le, nan, 1, 0}, {fn.Ge, nan, 1, 0}, {fn.Eq, 0, math.Copysign(0, -1), 1}, {fn.Lt, -inf, inf, 1},
		{fn.IsNaN, nan, 0, 1}, {fn.IsNaN, inf, 0, 0}, {fn.IsInf, inf, 0, 1}, {fn.IsInf, -inf, 0, 1}, {fn.IsInf, nan, 0, 0}, {fn.IsInf, 3, 0, 0},
		{fn.IsFinite, 3, 0, 1}, {fn.IsFinite, nan, 0, 0}, {fn.IsFinite, -inf, 0, 0},
		{fn.IsClose, inf, inf, 1}, {fn.IsClose, inf, -inf, 0}, {fn.IsClose, 1, inf, 0}, {fn.IsClose, nan, nan, 0}, {fn.IsClose, 4, 2, 0}, {fn.IsClose, 3, 2, 1}, {fn.IsClose, 1, -2, 0},
		{fn.LogicalNot, nan, 0, 0}, {fn.LogicalNot, 0, 0, 1}, {fn.LogicalXor, 2, 3, 0}, {fn.LogicalXor, 0, 3, 1}, {fn.LogicalAnd, 2, nan, 1}, {fn.LogicalOr, 0, 0, 0},
	} {
		if got := c.f.At(c.f.Scalars, []float64{c.x, c.y}[:c.f.Operands()]...); got != c.want {
			t.Errorf("%s of %v and %v is %v", c.f.Name, c.x, c.y, got)
		}
	}
}

// TestWhere: of every type, broadcast, with views, and with what is not chosen infinite or NaN.
func TestWhere(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		nan := math.NaN()
		x := devtest.New(d, []float64{1, nan, 3, 4, math.Inf(1), 6}, 2, 3)
		cond := x.IsFinite()
		expect(t, "Where", x.Where(cond, tensor.Scalar(d, 0)), array{[]int{2, 3}, []float64{1, 0, 3, 4, 0, 6}}, 0)
		expect(t, "of views", x.T().Where(cond.T(), devtest.New(d, []float64{-1, -2})), array{[]int{3, 2}, []float64{1, 4, -1, -2, 3, 6}}, 0)
		expect(t, "broadcast", tensor.Scalar(d, 5).Where(devtest.New(d, []uint8{0, 7}, 2, 1).To(tensor.Bool), devtest.New(d, []float64{1, 2, 3})), array{[]int{2, 3}, []float64{1, 2, 3, 5, 5, 5}}, 0)
		expect(t, "empty", x.Slice(0, 0, 0).Where(cond.Slice(0, 0, 0), x.Slice(0, 0, 0)), array{[]int{0, 3}, nil}, 0)
		expect(t, "MaskedFill", x.MaskedFill(cond.LogicalNot(), -1), array{[]int{2, 3}, []float64{1, -1, 3, 4, -1, 6}}, 0)
		expect(t, "MaskedFill, broadcast", tensor.Scalar(d, 5).MaskedFill(devtest.New(d, []uint8{0, 7}).To(tensor.Bool), nan).IsNaN(), array{[]int{2}, []float64{0, 1}}, 0)

		mask := devtest.New(d, []uint8{1, 0, 255}).To(tensor.Bool)
		for _, c := range []struct{ x, y, want tensor.Type }{
			{tensor.Int32, tensor.Int32, tensor.Int32}, {tensor.Uint8, tensor.Uint8, tensor.Uint8}, {tensor.Uint8, tensor.Int32, tensor.Int32},
			{tensor.Int32, d.DefaultType(), d.DefaultType()}, {tensor.Float16, tensor.Float16, tensor.Float16},
		} {
			x, y := devtest.New(d, []int32{1, 2, 3}).To(c.x), devtest.New(d, []int32{4, 5, 6}).To(c.y)
			z := x.Where(mask, y)
			if got := devtest.Float64s(t, z); z.Type() != c.want || !slices.Equal(got, []float64{1, 5, 3}) {
				t.Errorf("Where of %v and %v: %v %v", c.x, c.y, z.Type(), got)
			}
			if z := x.MaskedFill(mask, 9); !slices.Equal(devtest.Float64s(t, z), []float64{9, 2, 9}) {
				t.Errorf("MaskedFill of %v: %v", c.x, devtest.Float64s(t, z))
			}
		}
		big := devtest.New(d, []int32{math.MaxInt32, 1<<24 + 1})
		if v, err := big.Where(devtest.New(d, []uint8{1, 1}).To(tensor.Bool), big).Int32s(); err != nil || !slices.Equal(v, []int32{math.MaxInt32, 1<<24 + 1}) {
			t.Errorf("Where of large integers: %v (err %v)", v, err)
		}
		y := x.Copy()
		y.MapInPlace(fn.Where, nil, tensor.Scalar(d, 0), cond)
		expect(t, "in place", y, array{[]int{2, 3}, []float64{1, 0, 3, 4, 0, 6}}, 0)
		m := devtest.New(d, []uint8{3, 0, 1}).To(tensor.Bool)
		m.MapInPlace(fn.LogicalNot, nil)
		expect(t, "a mask in place", m, array{[]int{3}, []float64{0, 1, 0}}, 0)
	})
}

// TestMaskedSelect: in the order of indices, of views and broadcast, of all types, and of nothing.
func TestMaskedSelect(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range types {
			x := devtest.New(d, []int32{1, 2, 3, 4, 5, 6}, 2, 3).To(typ)
			for _, c := range []struct {
				x    *tensor.Tensor
				mask []uint8
				m    []int
				want []float64
			}{
				{x, []uint8{1, 0, 0, 255, 1, 0}, []int{2, 3}, []float64{1, 4, 5}},
				{x.T(), []uint8{1, 0, 0, 2, 1, 0}, []int{3, 2}, []float64{1, 5, 3}},
				{x, []uint8{0, 1}, []int{2, 1}, []float64{4, 5, 6}},
				{x.Select(0, 0), []uint8{1, 1, 0, 0, 0, 1}, []int{2, 3}, []float64{1, 2, 3}},
				{x, []uint8{0}, []int{1}, []float64{}},
				{x, []uint8{1}, []int{}, []float64{1, 2, 3, 4, 5, 6}},
				{x.Slice(0, 0, 0), []uint8{1, 1, 1}, []int{3}, []float64{}},
			} {
				y := c.x.MaskedSelect(devtest.New(d, c.mask, c.m...).To(tensor.Bool))
				if got := devtest.Float64s(t, y); y.Type() != typ || y.Rank() != 1 || !slices.Equal(got, c.want) {
					t.Errorf("of %v by %v: %v %v, want %v", typ, c.mask, y, got, c.want)
				}
			}
		}
	})
}

// TestBitwise: bits of both integer types are those of Go, where the type is known; counts of
// shifts beyond the bits are those of the documentation.
func TestBitwise(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		ints := []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 31, 32, 0x55AA33CC, -7, 5}
		x, y := devtest.New(d, ints, 10, 1), devtest.New(d, ints)
		shift := func(a, n int32, left bool) int32 {
			switch {
			case left && (n < 0 || n > 31):
				return 0
			case left:
				return int32(uint32(a) << n)
			case n < 0 || n > 31:
				n = 31
			}
			return a >> n
		}
		for f, want := range map[*kernels.Function]func(a, b int32) int32{
			fn.BitwiseAnd: func(a, b int32) int32 { return a & b }, fn.BitwiseOr: func(a, b int32) int32 { return a | b },
			fn.BitwiseXor: func(a, b int32) int32 { return a ^ b }, fn.BitwiseLeftShift: func(a, b int32) int32 { return shift(a, b, true) },
			fn.BitwiseRightShift: func(a, b int32) int32 { return shift(a, b, false) },
		} {
			got, err := methodOf(t, f)([]*tensor.Tensor{x, y}, nil).Int32s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if a, b := ints[i/10], ints[i%10]; v != want(a, b) {
					t.Errorf("%s of %v and %v is %v, want %v", f.Name, a, b, v, want(a, b))
				}
			}
			bytes := devtest.New(d, []uint8{0, 1, 200, 255})
			z := tensor.Map(f, nil, bytes.Reshape(4, 1), bytes)
			if z.Type() != tensor.Uint8 {
				t.Errorf("%s of bytes is %v", f.Name, z.Type())
			}
			for i, v := range devtest.Float64s(t, z) {
				a, b := devtest.Float64s(t, bytes)[i/4], devtest.Float64s(t, bytes)[i%4]
				if w := uint8(want(int32(a), int32(b))); v != float64(w) {
					t.Errorf("%s of bytes %v and %v is %v, want %v", f.Name, a, b, v, w)
				}
			}
		}
		if v := devtest.Float64s(t, devtest.New(d, []uint8{0, 1, 255}).BitwiseNot()); !slices.Equal(v, []float64{255, 254, 0}) {
			t.Errorf("BitwiseNot of bytes: %v", v)
		}
		if v := devtest.Float64s(t, devtest.New(d, []int32{0, -1, 5}).BitwiseNot()); !slices.Equal(v, []float64{-1, 0, -6}) {
			t.Errorf("BitwiseNot: %v", v)
		}
	})
}

// TestIntegerQuotients: of integers, those by 0 are 0, and that of the least by −1 wraps around.
func TestIntegerQuotients(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []int32{7, -7, 7, -7, 6, -6, 5, math.MinInt32, math.MinInt32, math.MaxInt32, 0, 1<<24 + 3})
		y := devtest.New(d, []int32{2, 2, -2, -2, -3, 3, 0, -1, 2, math.MinInt32, 5, 2})
		for f, want := range map[*kernels.Function][]int32{
			fn.FloorDivide: {3, -4, -4, 3, -2, -2, 0, math.MinInt32, -1 << 30, -1, 0, 1<<23 + 1},
			fn.Remainder:   {1, 1, -1, -1, 0, 0, 0, 0, 0, -1, 0, 1},
			fn.Fmod:        {1, -1, 1, -1, 0, 0, 0, 0, 0, math.MaxInt32, 0, 1},
		} {
			v, err := tensor.Map(f, nil, x, y).Int32s()
			if err != nil || !slices.Equal(v, want) {
				t.Errorf("%s: %v, want %v (err %v)", f.Name, v, want, err)
			}
		}
		a, b := devtest.New(d, []uint8{200, 7, 255, 3}), devtest.New(d, []uint8{7, 200, 0, 3})
		for f, want := range map[*kernels.Function][]float64{fn.FloorDivide: {28, 0, 0, 1}, fn.Remainder: {4, 7, 0, 0}, fn.Fmod: {4, 7, 0, 0}, fn.Heaviside: {1, 1, 1, 1}} {
			if z := tensor.Map(f, nil, a, b); z.Type() != tensor.Uint8 || !slices.Equal(devtest.Float64s(t, z), want) {
				t.Errorf("%s of bytes: %v, want %v", f.Name, devtest.Float64s(t, z), want)
			}
		}
	})
}

// TestNanToNum: infinities stand for the greatest and the least number of the device.
func TestNanToNum(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		most := math.MaxFloat64
		if d.DefaultType() == kernels.Float32 {
			most = math.MaxFloat32
		}
		inf := math.Inf(1)
		x := devtest.New(d, []float64{math.NaN(), inf, -inf, 1.5, math.Copysign(0, -1)})
		got := devtest.Float64s(t, x.NanToNum(0.5, inf, -inf))
		if want := []float64{0.5, most, -most, 1.5, 0}; fmt.Sprint(got[:4]) != fmt.Sprint(want[:4]) || got[4] != 0 || !math.Signbit(got[4]) {
			t.Errorf("%v, want %v", got, want)
		}
		if got := devtest.Float64s(t, x.NanToNum(math.NaN(), 3, 4)); !math.IsNaN(got[0]) || got[1] != 3 || got[2] != 4 {
			t.Error(got)
		}
		if f := devtest.New(d, []int32{3}).NanToNum(0, inf, -inf); f.Type() != d.DefaultType() {
			t.Error(f.Type())
		}
	})
}

// TestFunctionTypes: what rounds keeps integers, what leaves them gives floats, and a mask is a
// mask.
func TestFunctionTypes(t *testing.T) {
	d := devtest.CPU(t)
	x, i, b := devtest.New(d, []float64{1, 2}), devtest.New(d, []int32{1, 2}), devtest.New(d, []uint8{1, 0})
	m := b.To(tensor.Bool)
	for want, list := range map[tensor.Type][]*tensor.Tensor{
		tensor.Int32:    {i.Round(), i.Floor(), i.Pow(2), i.PowTensor(b), i.TruncDivide(b), i.ReLU6(), i.Hardtanh(-1, 1), i.ClampTensor(i, b), b.Remainder(i), i.Where(m, b), i.MaskedFill(m, 7), m.AddScalar(1), m.BitwiseLeftShift(m)},
		tensor.Int64:    {m.Sum(), m.CumSum(0), b.Prod(), i.ArgMax(), i.CountNonzero(), i.ArgSort(0)},
		tensor.Uint8:    {b.Trunc(), b.Where(m, b), b.BitwiseNot(), b.Mul(m), m.To(tensor.Uint8)},
		tensor.Bool:     {x.GtScalar(1), i.Eq(x), b.LogicalXor(i), x.To(tensor.Float16).IsNaN(), m.Add(m), m.Mul(m), m.BitwiseNot(), m.Where(m, m), m.MaskedFill(m, 0), m.Max(), b.Any(), m.Reshape(2, 1).T().Copy()},
		d.DefaultType(): {i.Sin(), b.GELU(), i.Frac(), i.Pow(0.5), i.Pow(-1), i.PowTensor(x), i.Where(m, x), i.Lerp(b, 0.5), m.Mean(), m.Div(m)},
	} {
		for k, y := range list {
			if y.Type() != want {
				t.Errorf("%d: %v, not %v", k, y.Type(), want)
			}
		}
	}
	for want, f := range map[string]func(){
		"Where: bad element type [2]: a mask is of type bool, not float64: compare it with a number, as with NeScalar(0)": func() { x.Where(x, x) },
		"a mask is of type bool, not int32":                              func() { x.MaskedFill(i, 1) },
		"MaskedSelect: bad element type [2] [2]: a mask is of type bool": func() { x.MaskedSelect(i) },
		"BitwiseAnd: bad element type [2] [2]: it is of integers":        func() { x.BitwiseAnd(i) },
		"1.5 is no number of a tensor of type int32":                     func() { i.MaskedFill(m, 1.5) },
		"0.5 is no number of a tensor of type uint8":                     func() { b.GtScalar(0.5) },
		"2 is no number of a tensor of type bool":                        func() { m.MaskedFill(m, 2) },
		"Sub: bad element type [2] [2]: bools have no difference":        func() { m.Sub(m) },
		"Neg: bad element type [2]: bools have no difference":            func() { m.Neg() },
	} {
		fails(t, f, tensor.ErrType)
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	fails(t, func() { x.MaskedSelect(devtest.New(d, []uint8{1, 1, 1}).To(tensor.Bool)) }, tensor.ErrShape)
	fails(t, func() { x.Where(devtest.New(d, []uint8{1, 1, 1}).To(tensor.Bool), x) }, tensor.ErrShape)
	fails(t, func() { x.MapInPlace(fn.Eq, nil, x) }, tensor.ErrType)
	fails(t, func() { tensor.Linear(x.Reshape(1, 2), x.Reshape(2, 1), nil, fn.IsNaN) }, tensor.ErrValue)
	fails(t, func() { tensor.Linear(x.Reshape(1, 2), x.Reshape(2, 1), nil, fn.BitwiseNot) }, tensor.ErrValue)
}
