package tensor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// bytesOf returns n random integers of a type of 8 bits on a device, many of them at its ends.
func bytesOf(d tensor.Device, rng *rand.Rand, typ tensor.Type, shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	data := make([]uint8, n)
	for i := range data {
		data[i] = uint8([]int{0, 127, 128, 255, rng.IntN(256), rng.IntN(256)}[rng.IntN(6)])
	}
	if typ == tensor.Uint8 {
		return tensor.New(d, data, shape...)
	}
	signed := make([]int8, n)
	for i, v := range data {
		signed[i] = int8(v)
	}
	return tensor.New(d, signed, shape...)
}

// ints returns the elements of x as ints.
func ints(t *testing.T, x *tensor.Tensor) []int {
	t.Helper()
	var out []int
	for _, v := range devtest.Float64s(t, x) {
		out = append(out, int(v))
	}
	return out
}

// productOfInts is MatMulInteger of batches of as many matrices, in plain loops.
func productOfInts(a, b, zeroA, zeroB []int, batch, m, n, k int) []int32 {
	zero := func(z []int, i int) int {
		switch len(z) {
		case 0:
			return 0
		case 1:
			return z[0]
		}
		return z[i]
	}
	c := make([]int32, batch*m*n)
	for z := range batch {
		for i := range m {
			for j := range n {
				for q := range k {
					c[(z*m+i)*n+j] += int32((a[(z*m+i)*k+q] - zero(zeroA, i)) * (b[(z*k+q)*n+j] - zero(zeroB, j)))
				}
			}
		}
	}
	return c
}

// TestMatMulInteger: products of all types, of whole matrices, views and batches, with all kinds of zero points, are
// those of plain loops, bit by bit, on every device.
func TestMatMulInteger(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := rand.New(rand.NewPCG(1, 2))
		byteTypes := []tensor.Type{tensor.Int8, tensor.Uint8}
		for i, c := range []struct {
			a, b   []int
			lead   []int
			va, vb func(x *tensor.Tensor) *tensor.Tensor // views of a and b
		}{
			{a: []int{1, 1}, b: []int{1, 1}},
			{a: []int{5, 67}, b: []int{67, 33}},
			{a: []int{65, 130}, b: []int{130, 67}},
			{a: []int{1, 257}, b: []int{257, 70}},
			{a: []int{3, 0}, b: []int{0, 4}},
			{a: []int{0, 3}, b: []int{3, 4}},
			{a: []int{3, 2}, b: []int{2, 0}},
			{a: []int{9, 31}, b: []int{17, 31}, vb: (*tensor.Tensor).T},
			{a: []int{31, 9}, b: []int{31, 17}, va: (*tensor.Tensor).T},
			{a: []int{9, 40}, b: []int{40, 50}, va: func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 3, 34) },
				vb: func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 5, 36).Slice(1, 1, 20) }},
			{a: []int{9, 40}, b: []int{20, 21}, va: func(x *tensor.Tensor) *tensor.Tensor { return x.Step(1, 2) },
				vb: func(x *tensor.Tensor) *tensor.Tensor { return x.Step(1, 3) }},
			{a: []int{2, 3, 5, 7}, b: []int{7, 9}, lead: []int{2, 3}},
			{a: []int{2, 3, 5, 7}, b: []int{1, 1, 1, 7, 9}, lead: []int{1, 2, 3}},
			{a: []int{3, 5, 7}, b: []int{3, 7, 9}, lead: []int{3}},
			{a: []int{5, 7}, b: []int{3, 7, 9}, lead: []int{3}},
			{a: []int{2, 1, 5, 7}, b: []int{3, 7, 9}, lead: []int{2, 3}},
			{a: []int{3, 5, 7}, b: []int{3, 9, 7}, lead: []int{3},
				vb: func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(0, 2, 1) }},
		} {
			for j, typA := range byteTypes {
				for l, typB := range byteTypes {
					a, b := bytesOf(d, rng, typA, c.a...), bytesOf(d, rng, typB, c.b...)
					if c.va != nil {
						a = c.va(a)
					}
					if c.vb != nil {
						b = c.vb(b)
					}
					m, k, n := a.Shape()[a.Rank()-2], a.Shape()[a.Rank()-1], b.Shape()[b.Rank()-1]
					for kind := range 3 {
						var o []tensor.MatMulIntegerOptions
						var za, zb []int
						if kind > 0 {
							sizes := [][2]int{{1, n}, {m, 1}}[kind-1]
							o = append(o, tensor.MatMulIntegerOptions{ZeroA: bytesOf(d, rng, typA, sizes[0]),
								ZeroB: bytesOf(d, rng, typB, sizes[1])})
							za, zb = ints(t, o[0].ZeroA), ints(t, o[0].ZeroB)
						}
						got := tensor.MatMulInteger(a, b, o...)
						batch := 1
						for _, s := range c.lead {
							batch *= s
						}
						wide := func(x *tensor.Tensor) []int {
							s := x.Shape()[x.Rank()-2:]
							return ints(t, x.Expand(append(slices.Clone(c.lead), s...)...))
						}
						if c.lead != nil && b.Rank() > 2+len(c.lead) {
							t.Fatal("the case has no such axes")
						}
						want := productOfInts(wide(a), wide(b), za, zb, batch, m, n, k)
						v, err := got.Int32s()
						shape := append(slices.Clone(c.lead), m, n)
						if err != nil || !slices.Equal(v, want) || !slices.Equal(got.Shape(), shape) {
							t.Errorf("case %d, types %d %d, zero points %d: %v, want %v: %v", i, j, l, kind,
								got.Shape(), shape, err)
							if len(v) == len(want) && len(v) < 100 {
								t.Errorf("%v, want %v", v, want)
							}
						}
					}
				}
			}
		}
		// One zero point that is a scalar, and sums that wrap around.
		const k = 40000
		a := tensor.New(d, slices.Repeat([]uint8{255}, k), 1, k)
		b := tensor.New(d, slices.Repeat([]int8{-128}, k), k, 1)
		zero := tensor.New(d, []int8{127}, []int{}...)
		v, err := tensor.MatMulInteger(a, b, tensor.MatMulIntegerOptions{ZeroB: zero}).Int32s()
		wide := int64(k) * 255 * -255
		if want := int32(wide); err != nil || v[0] != want {
			t.Errorf("%v, want %d: %v", v, want, err)
		}
	})
}

// TestMatMulIntegerMisuse: what is no product of integers of 8 bits names what is wrong.
func TestMatMulIntegerMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, u := tensor.ZerosOf(d, tensor.Int8, 2, 3), tensor.ZerosOf(d, tensor.Uint8, 3, 4)
	vector := tensor.ZerosOf(d, tensor.Int8, 3)
	with := func(o ...tensor.MatMulIntegerOptions) func() { return func() { tensor.MatMulInteger(x, u, o...) } }
	of := func(a, b *tensor.Tensor) func() { return func() { tensor.MatMulInteger(a, b) } }
	freed := x.Copy()
	freed.Free()
	for name, c := range map[string]struct {
		f    func()
		kind error
	}{
		"floats":                 {of(x, u.To(tensor.Float32)), tensor.ErrType},
		"int32":                  {of(x.To(tensor.Int32), u), tensor.ErrType},
		"bools":                  {of(x.Eq(x), u), tensor.ErrType},
		"a vector":               {of(vector, u), tensor.ErrShape},
		"other lengths":          {of(x, x), tensor.ErrShape},
		"other batches":          {of(x.Expand(2, 2, 3), u.Expand(3, 3, 4)), tensor.ErrShape},
		"nil":                    {of(x, nil), tensor.ErrValue},
		"freed":                  {of(freed, u), tensor.ErrFreed},
		"two devices":            {of(x, tensor.ZerosOf(devtest.CPU(t), tensor.Int8, 3, 4)), tensor.ErrDevice},
		"two options":            {with(tensor.MatMulIntegerOptions{}, tensor.MatMulIntegerOptions{}), tensor.ErrValue},
		"a zero of another type": {with(tensor.MatMulIntegerOptions{ZeroB: vector}), tensor.ErrType},
		"three zeros":            {with(tensor.MatMulIntegerOptions{ZeroA: vector}), tensor.ErrShape},
		"a matrix of zeros":      {with(tensor.MatMulIntegerOptions{ZeroA: x}), tensor.ErrShape},
	} {
		var e *tensor.Error
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Op != "MatMulInteger" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleMatMulInteger() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	a := tensor.New(d, []uint8{200, 100, 0, 255}, 2, 2)
	b := tensor.New(d, []int8{1, -1, 2, -2}, 2, 2)
	zero := tensor.New(d, []uint8{100})
	fmt.Println(tensor.MatMulInteger(a, b, tensor.MatMulIntegerOptions{ZeroA: zero}).Int32s())
	// Output: [100 -100 210 -210] <nil>
}
