package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// quantizations are the kinds of quantized matrices that tests take.
var quantizations = []tensor.QuantizeOptions{
	{}, {Bits: 8, ZeroPoints: true}, {Group: 32}, {Group: 64, ZeroPoints: true},
	{Bits: 4}, {Bits: 4, ZeroPoints: true}, {Bits: 4, Group: 32}, {Bits: 4, Group: 96, ZeroPoints: true},
	{Type: tensor.Float16}, {Type: tensor.BFloat16},
}

// quantized is what Quantize is documented to make of w [k, n], as floats.
func quantized(w []float32, k, n int, o tensor.QuantizeOptions) []float64 {
	levels, rows := 255.0, k
	if o.Bits == 4 {
		levels = 15
	}
	if o.Group > 0 {
		rows = o.Group
	}
	out := make([]float64, k*n)
	for j := range n {
		for first := 0; first < k; first += rows {
			low, high := 0.0, 0.0
			end := min(k, first+rows)
			for i := first; i < end; i++ {
				low, high = min(low, float64(w[i*n+j])), max(high, float64(w[i*n+j]))
			}
			half := math.Floor(levels / 2)
			scale, zero, least, most := float32(max(high, -low)/half), 0.0, -half, half
			if o.ZeroPoints {
				scale, least, most = float32((high-low)/levels), 0, levels
				zero = math.RoundToEven(-low / float64(scale))
			}
			if scale < 0x1p-126 {
				continue
			}
			infinite := func(q float64) bool { return math.IsInf(float64(float32(q-zero)*scale), 0) }
			if largest := max(high, -low); infinite(zero + math.Floor(largest/float64(scale)+1e-4)) {
				scale = math.Nextafter32(scale, 0)
			}
			for i := first; i < end; i++ {
				q := min(max(math.RoundToEven(float64(w[i*n+j])/float64(scale))+zero, least), most)
				for infinite(q) {
					q -= math.Copysign(1, q-zero)
				}
				out[i*n+j] = float64(float32(q-zero) * scale)
			}
		}
	}
	return out
}

// TestQuantize: matrices are rounded by the formulas of the documentation, bit by bit, be they large, small, of one
// sign, 0 or views, and half a scale is the most that they are off.
func TestQuantize(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, size := range [][2]int{{1, 1}, {3, 5}, {32, 64}, {33, 65}, {100, 67}, {129, 130}, {0, 3}, {3, 0}} {
			k, n := size[0], size[1]
			w := make([]float32, k*n)
			for i := range w {
				v := float32(rng.NormFloat64())
				switch i % n {
				case 1:
					v = 0
				case 2:
					v *= 1e-39 // less than there are scales for
				case 3:
					v = float32(math.Abs(float64(v))) * 1e38
				case 4:
					v = -float32(math.Abs(float64(v)))
				case 5:
					v = []float32{math.MaxFloat32, -math.MaxFloat32, 1}[i/n%3]
				case 6:
					v = float32(i/n%256) - 128 + 0.5 // ties
				case 7:
					v = float32(math.Copysign(math.MaxFloat32, rng.Float64()-0.9))
				case 8:
					v = -math.MaxFloat32 * rng.Float32()
				}
				w[i] = v
			}
			x := tensor.New(d, w, k, n)
			for _, o := range quantizations {
				x, want := x, []float64(nil)
				if o.Type == 0 {
					want = quantized(w, k, n, o)
				} else { // what it holds of the numbers
					x = x.MaxScalar(-60000).MinScalar(60000)
					want = devtest.Float64s(t, x.To(o.Type))
				}
				q, err := tensor.Quantize(x, o)
				if err != nil {
					t.Fatal(err)
				}
				y := q.Dequantize()
				got := devtest.Float64s(t, y)
				if slices.ContainsFunc(got, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }) {
					t.Errorf("%v, %+v: %v", size, o, got)
				}
				if !sameNumbers(abs0(got), abs0(want)) || !slices.Equal(y.Shape(), size[:]) ||
					y.Type() != tensor.Float32 {
					t.Errorf("%v, %+v: %v, want %v", size, o, first(got), first(want))
				}
				// A view of the transpose is the same matrix.
				again, err := tensor.Quantize(x.T().Contiguous().T(), o)
				if err != nil || !sameNumbers(devtest.Float64s(t, again.Dequantize()), got) {
					t.Errorf("%v, %+v: of a view others: %v", size, o, err)
				}
				if !slices.Equal(q.Shape(), size[:]) || q.Bits()%8 != o.Bits%8 || (q.Bits() == 16) != (o.Type != 0) || q.Group() != o.Group ||
					q.Device() != d {
					t.Errorf("%v, %+v: %v, %d bits, groups of %d", size, o, q.Shape(), q.Bits(), q.Group())
				}
			}
		}
		// Half a scale, and the memory.
		w := tensor.NewRNG(1).Normal(d, 0, 1, 256, 128)
		numbers := devtest.Float64s(t, w)
		for _, c := range []struct {
			o     tensor.QuantizeOptions
			bytes int
		}{{tensor.QuantizeOptions{}, 256*128 + 4*128}, {tensor.QuantizeOptions{Bits: 4, Group: 64}, 256*64 + 4*4*128},
			{tensor.QuantizeOptions{Bits: 4, Group: 32, ZeroPoints: true}, 256*64 + 2*4*8*128},
			{tensor.QuantizeOptions{Type: tensor.BFloat16}, 256*2*128 + 4*128}} {
			q, err := tensor.Quantize(w, c.o)
			if err != nil || q.Bytes() != c.bytes {
				t.Fatalf("%v: %d bytes, want %d: %v", q, q.Bytes(), c.bytes, err)
			}
			worst := 0.0
			for i, v := range devtest.Float64s(t, q.Dequantize()) {
				worst = max(worst, math.Abs(v-numbers[i]))
			}
			limit := (slices.Max(numbers) - slices.Min(numbers)) / float64(int(1)<<q.Bits()-2)
			if c.o.Type != 0 {
				limit = 0x1p-8 * slices.Max(numbers)
			}
			if worst > limit || worst < limit/20 {
				t.Errorf("%v: off by %v, of at most %v", q, worst, limit)
			}
		}
	})
}

// float64Of returns x in float64, if the device has it.
func float64Of(d tensor.Device, x *tensor.Tensor) *tensor.Tensor {
	if d.Supports(tensor.Float64) {
		return x.To(tensor.Float64)
	}
	return x
}

// abs0 makes 0 of −0.
func abs0(x []float64) []float64 {
	x = slices.Clone(x)
	for i := range x {
		x[i] += 0
	}
	return x
}

func first(x []float64) []float64 { return x[:min(len(x), 10)] }

// TestMatMulQuantized: products are those with the matrix as floats, of one row and many, of views and of floats of
// 16 bits, within the rounding of sums.
func TestMatMulQuantized(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(5)
		for i, size := range [][2]int{{1, 1}, {7, 5}, {64, 64}, {97, 130}, {1100, 33}, {0, 3}, {3, 0}} {
			k, n := size[0], size[1]
			for j, o := range quantizations {
				q, err := tensor.Quantize(rng.Normal(d, 0.3, 1, k, n), o)
				if err != nil {
					t.Fatal(err)
				}
				w := q.Dequantize()
				for l, x := range []*tensor.Tensor{
					rng.Normal(d, 0, 1, k), rng.Normal(d, 0, 1, 1, k), rng.Normal(d, 0, 1, 2, 3, k),
					rng.Normal(d, 0, 1, 70, k), rng.Normal(d, 0, 1, 0, k),
					rng.Normal(d, 0, 1, k, 9).T(), rng.Normal(d, 0, 1, 5, k+3).Slice(1, 2, k+2).Slice(0, 1, 4),
					rng.Normal(d, 0, 1, 3, k).To(tensor.Float16), rng.Normal(d, 0, 1, 9, k).To(tensor.BFloat16),
					float64Of(d, rng.Normal(d, 0, 1, 4, k)),
				} {
					y := tensor.MatMulQuantized(x, q)
					wide := x
					if x.Type().Half() {
						wide = x.To(tensor.Float32)
					}
					want := wide.MatMul(w)
					eps := map[tensor.Type]float64{tensor.Float32: 0, tensor.Float16: 0x1p-11,
						tensor.BFloat16: 0x1p-8}[x.Type()]
					got, should := devtest.Float64s(t, y), devtest.Float64s(t, want)
					if y.Type() != x.Type() || !slices.Equal(y.Shape(), want.Shape()) {
						t.Fatalf("%v of %v, want %v of %v", y.Shape(), y.Type(), want.Shape(), x.Type())
					}
					for at := range should {
						limit := eps*math.Abs(should[at])*1.01 + 0x1p-16*(1+math.Sqrt(float64(k)))
						if !(math.Abs(got[at]-should[at]) <= limit) {
							t.Fatalf("size %d, options %d, x %d: element %d is %v, want %v", i, j, l, at, got[at],
								should[at])
						}
					}
				}
			}
		}
	})
}

// TestQuantizedMisuse: what is no matrix of numbers, and what is not multiplied by one, says why.
func TestQuantizedMisuse(t *testing.T) {
	d := devtest.CPU(t)
	w := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	q, err := tensor.Quantize(w, tensor.QuantizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gone, _ := tensor.Quantize(w, tensor.QuantizeOptions{ZeroPoints: true})
	gone.Free()
	gone.Free() // does nothing
	var none *tensor.QuantizedTensor
	quantize := func(w *tensor.Tensor, o tensor.QuantizeOptions) func() {
		return func() { _, _ = tensor.Quantize(w, o) }
	}
	product := func(x *tensor.Tensor, q *tensor.QuantizedTensor) func() {
		return func() { tensor.MatMulQuantized(x, q) }
	}
	for name, c := range map[string]struct {
		f    func()
		kind error
		say  string
	}{
		"a vector":         {quantize(w.Flatten(0, 1), tensor.QuantizeOptions{}), tensor.ErrShape, "Quantize"},
		"integers":         {quantize(w.To(tensor.Int8), tensor.QuantizeOptions{}), tensor.ErrType, "Quantize"},
		"5 bits":           {quantize(w, tensor.QuantizeOptions{Bits: 5}), tensor.ErrValue, "Bits is 5"},
		"groups of 31":     {quantize(w, tensor.QuantizeOptions{Group: 31}), tensor.ErrValue, "Group is 31"},
		"groups of -32":    {quantize(w, tensor.QuantizeOptions{Group: -32}), tensor.ErrValue, "Group is -32"},
		"of float64":       {quantize(w, tensor.QuantizeOptions{Type: tensor.Float64}), tensor.ErrType, "Type is float64"},
		"bits of bfloat16": {quantize(w, tensor.QuantizeOptions{Type: tensor.BFloat16, Bits: 16}), tensor.ErrValue, "Bits"},
		"nothing":          {quantize(nil, tensor.QuantizeOptions{}), tensor.ErrValue, "Quantize"},
		"by nothing":       {product(w.T(), none), tensor.ErrValue, "the weights are nil"},
		"by a zero value":  {product(w.T(), new(tensor.QuantizedTensor)), tensor.ErrValue, "the weights are nil"},
		"freed":            {product(w.T(), gone), tensor.ErrFreed, "MatMulQuantized: tensor was freed [2 3]: Free"},
		"freed, as floats": {func() { gone.Dequantize() }, tensor.ErrFreed, "Dequantize: tensor was freed [2 3]: Free"},
		"other lengths":    {product(w, q), tensor.ErrShape, "[2 3] [2 3]"},
		"a scalar":         {product(w.Sum(), q), tensor.ErrShape, "MatMulQuantized"},
		"of integers":      {product(w.T().To(tensor.Int32), q), tensor.ErrType, "it takes floats"},
		"two devices":      {product(tensor.Zeros(devtest.CPU(t), 1, 2), q), tensor.ErrDevice, "two devices [1 2] [2 3]"},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for _, o := range quantizations {
			v := tensor.New(d, []float32{1, 2, 3, bad, 5, 6}, 2, 3)
			if _, err := tensor.Quantize(v, o); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(),
				fmt.Sprintf("element [1 0] is %v", bad)) {
				t.Errorf("%v, %+v: %v", bad, o, err)
			}
		}
	}
	for typ, bad := range map[tensor.Type]float32{tensor.Float16: -65520, tensor.BFloat16: math.MaxFloat32} {
		o, v := tensor.QuantizeOptions{Type: typ}, tensor.New(d, []float32{1, 2, 3, 65519, bad, 6}, 2, 3)
		if _, err := tensor.Quantize(v, o); !errors.Is(err, tensor.ErrValue) ||
			!strings.Contains(err.Error(), fmt.Sprintf("element [1 1] is %v", bad)) {
			t.Errorf("%v of %v: %v", bad, typ, err)
		}
	}
	half, _ := tensor.Quantize(w, tensor.QuantizeOptions{Type: tensor.BFloat16})
	if s := half.String(); s != "weights [2 3] of bfloat16 on "+d.Name() {
		t.Error(s)
	}
	// It outlives the scope that it was made in.
	var kept *tensor.QuantizedTensor
	tensor.Scope(d, func() { kept, _ = tensor.Quantize(w, tensor.QuantizeOptions{ZeroPoints: true}) })
	if err := tensor.Try(func() { kept.Dequantize() }); err != nil {
		t.Error(err)
	}
	if s := kept.String(); s != "weights [2 3] of 8 bits on "+d.Name() {
		t.Error(s)
	}
}

// TestNewQuantized: integers with scales and zero points are what they stand for, of all types and layouts.
func TestNewQuantized(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, size := range [][]int{{1, 1}, {33, 65}, {100, 67}, {0, 3}, {3, 0}, {5, 3, 3, 3}, {7, 64, 1}} {
			k, n := size[0], size[1]
			conv := len(size) > 2
			if conv {
				n, k = size[0], 1
				for _, s := range size[1:] {
					k *= s
				}
			}
			for _, typ := range []tensor.Type{tensor.Int8, tensor.Uint8, tensor.Int4, tensor.Uint4} {
				low, levels := 0, 256
				if typ == tensor.Int4 || typ == tensor.Uint4 {
					levels = 16
				}
				if typ == tensor.Int8 || typ == tensor.Int4 {
					low = -levels / 2
				}
				for _, group := range []int{0, 32, 96} {
					groups := 1
					if group > 0 {
						groups = (k + group - 1) / group
					}
					ints, scale, zero := make([]int, k*n), make([]float64, groups*n), make([]float64, groups*n)
					for i := range ints {
						ints[i] = low + i*i%levels
					}
					for i := range scale {
						scale[i], zero[i] = float64(i%7+1)/4, float64(low+i%levels)
					}
					q := tensor.NewOf(d, tensor.Int32, ints, size...).To(typ)
					at := func(i, j int) float64 { return float64(ints[i*n+j]) } // of the matrix [k, n]
					if conv {
						at = func(i, j int) float64 { return float64(ints[j*k+i]) }
					}
					for _, zeros := range []bool{false, true} {
						z, zeroOf := (*tensor.Tensor)(nil), func(int) float64 { return 0 }
						if zeros {
							z, zeroOf = tensor.NewOf(d, typ, zero, groups, n), func(i int) float64 { return zero[i] }
						}
						w, err := tensor.NewQuantized(q, tensor.NewOf(d, tensor.Float16, scale, groups, n), z, group)
						if err != nil {
							t.Fatal(err)
						}
						want := make([]float64, k*n)
						for i := range k {
							for j := range n {
								g := j
								if group > 0 {
									g += i / group * n
								}
								to := i*n + j
								if conv {
									to = j*k + i
								}
								want[to] = (at(i, j) - zeroOf(g)) * scale[g]
							}
						}
						if got := devtest.Float64s(t, w.Dequantize()); !sameNumbers(abs0(got), abs0(want)) {
							t.Errorf("%v of %v, group %d, %t: %v, want %v", size, typ, group, zeros, first(got), first(want))
						}
						if bits := w.Bits(); bits != 8 && levels == 256 || bits != 4 && levels == 16 || w.Group() != group {
							t.Errorf("%v: %v", typ, w)
						}
						w.Free()
					}
				}
			}
		}
		q := tensor.New(d, []int8{1, 2, 3, 4, 5, 6}, 2, 3)
		one := tensor.New(d, []float32{1, 2, 3})
		view, err := tensor.NewQuantized(q.T(), tensor.New(d, []float32{1, 10}), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := devtest.Float64s(t, view.Dequantize()); !slices.Equal(got, []float64{1, 40, 2, 50, 3, 60}) {
			t.Error("of a view:", got)
		}
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
			for _, two := range [][2]*tensor.Tensor{{tensor.New(d, []float32{1, bad, 3}), nil}, {one, tensor.New(d, []float32{0, bad, 0})}} {
				if _, err := tensor.NewQuantized(q, two[0], two[1], 0); !errors.Is(err, tensor.ErrValue) ||
					!strings.Contains(err.Error(), "element [1]") {
					t.Error(bad, err)
				}
			}
		}
		made := func(q, scale, zero *tensor.Tensor, group int) func() {
			return func() { _, _ = tensor.NewQuantized(q, scale, zero, group) }
		}
		for name, c := range map[string]struct {
			f    func()
			kind error
			say  string
		}{
			"a vector":    {made(q.Reshape(6), one, nil, 0), tensor.ErrShape, "NewQuantized"},
			"floats":      {made(q.To(tensor.Float32), one, nil, 0), tensor.ErrType, "int4"},
			"scales":      {made(q, one.Slice(0, 1, 3), nil, 0), tensor.ErrShape, "scale is [2], and should be [1 3]"},
			"zero points": {made(q, one, one.Reshape(3, 1), 0), tensor.ErrShape, "zero is [3 1]"},
			"group":       {made(q, one, nil, 16), tensor.ErrValue, "group is 16"},
			"nothing":     {made(nil, one, nil, 0), tensor.ErrValue, "NewQuantized"},
		} {
			if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.say) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
