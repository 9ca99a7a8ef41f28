package tensor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// ends returns the least and the greatest number of a type.
func ends[T integer]() (least, most T) {
	most = ^T(0)
	if most < 0 {
		for most = 1; most*2+1 > most; most = most*2 + 1 {
		}
		least = -most - 1
	}
	return least, most
}

// is holds the elements of t, of one type, to what they are.
func is[T tensor.Element](t *testing.T, what string, x *tensor.Tensor, want ...T) {
	t.Helper()
	var got []T
	err := tensor.Try(func() { got, _ = tensor.Read[T](x) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v %v, want %v (err %v)", what, x, got, want, err)
	}
}

// TestEveryInteger: operations on integers of every type are those of Go, at the ends of the range too,
// where a float64 would round.
func TestEveryInteger(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		everyInteger[int64](t, d)
		everyInteger[uint8](t, d)
		everyInteger[int32](t, d)
		if d.Name()[:3] == "cpu" || devtest.More() {
			everyInteger[int8](t, d)
			everyInteger[int16](t, d)
			everyInteger[uint16](t, d)
			everyInteger[uint32](t, d)
			everyInteger[uint64](t, d)
		}
	})
}

func everyInteger[T integer](t *testing.T, d tensor.Device) {
	t.Helper()
	name := tensor.TypeOf[T]().String() + ": "
	least, most := ends[T]()
	r := rand.New(rand.NewPCG(5, 6))
	data := []T{least, most, most - 1, least + 1, 0, 1, 2, most / 2, 7, 7, most, least}
	for len(data) < 60 {
		data = append(data, T(r.Uint64()))
	}
	x := tensor.New(d, data, 12, 5)
	is(t, name+"New", x, data...)
	is(t, name+"transposed", x.T().Copy().T(), data...)

	// Sums and products of columns are Int64, or Uint64, and wrap around.
	sums, products, counts, most5, least5 := make([]int64, 5), []int64{1, 1, 1, 1, 1}, make([]int64, 5), slices.Clone(data[:5]), slices.Clone(data[:5])
	at, running := make([]int64, 5), make([]int64, 60)
	for i, v := range data {
		c := i % 5
		sums[c] += int64(v)
		products[c] *= int64(v)
		if v != 0 {
			counts[c]++
		}
		if v > most5[c] {
			most5[c], at[c] = v, int64(i/5)
		}
		least5[c] = min(least5[c], v)
		running[i] = sums[c]
	}
	if tensor.TypeOf[T]() == tensor.Uint64 {
		is(t, name+"Sum", x.Sum(0), asUint64(sums)...)
		is(t, name+"Prod", x.Prod(0), asUint64(products)...)
		is(t, name+"CumSum", x.CumSum(0), asUint64(running)...)
	} else {
		is(t, name+"Sum", x.Sum(0), sums...)
		is(t, name+"Prod", x.Prod(0), products...)
		is(t, name+"CumSum", x.CumSum(0), running...)
	}
	is(t, name+"CountNonzero", x.CountNonzero(0), counts...)
	is(t, name+"Max", x.Max(0), most5...)
	is(t, name+"Min", x.Min(0), least5...)
	is(t, name+"ArgMax", x.ArgMax(0), at...)
	values, indices := x.MaxWithIndex(0)
	is(t, name+"MaxWithIndex", values, most5...)
	is(t, name+"its index", indices, at...)
	is(t, name+"Max of all", x.Max(), most)

	// Orders.
	line := x.Reshape(60)
	sorted := slices.Clone(data)
	slices.Sort(sorted)
	values, indices = line.Sort(0)
	is(t, name+"Sort", values, sorted...)
	is(t, name+"by its indices", line.IndexSelect(0, indices), sorted...)
	values, _ = line.TopK(3, 0)
	is(t, name+"TopK", values, most, most, max(sorted[57], sorted[56]))
	values, _ = line.Median(0)
	is(t, name+"Median", values, sorted[29])
	values, _ = line.CumMax(0)
	is(t, name+"CumMax", values.Slice(0, 0, 3), least, most, most)

	// What moves elements.
	is(t, name+"Gather", line.Gather(0, tensor.New(d, []int{0, 1, 59})), data[0], data[1], data[59])
	is(t, name+"GatherRows", x.GatherRows(tensor.New(d, []int32{11, 0})), append(slices.Clone(data[55:]), data[:5]...)...)
	is(t, name+"Pad", line.Slice(0, 0, 2).Pad([][2]int{{1, 1}}, tensor.PadOptions{Value: 7}), 7, least, most, 7)
	is(t, name+"Flip", line.Slice(0, 0, 3).Flip(0), data[2], data[1], data[0])
	is(t, name+"Scatter", line.Slice(0, 0, 3).Scatter(0, tensor.New(d, []int{2, 0}), tensor.New(d, []T{5, most})), most, data[1], 5)
	is(t, name+"ScatterAdd", line.Slice(0, 0, 3).ScatterAdd(0, tensor.New(d, []int{2, 0, 2}), tensor.New(d, []T{1, 1, 1})), least+1, data[1], data[2]+2)
	if tensor.TypeOf[T]() != tensor.Uint64 {
		reduced := line.Slice(0, 0, 3).ScatterReduce(0, tensor.New(d, []int{1, 0}), tensor.New(d, []T{least, most}), tensor.ScatterMax)
		is(t, name+"ScatterReduce", reduced, most, most, data[2])
	}
	is(t, name+"Where", line.Where(line.EqScalar(7), line.Mul(line)).Slice(0, 7, 10), data[7]*data[7], 7, 7)
	is(t, name+"OneHot", tensor.New(d, []T{2, 0}).OneHot(3), []int64{0, 0, 1, 1, 0, 0}...)

	// Arithmetic wraps around, and comparisons are exact.
	var sum, product, difference, quotient, rest, shifted []T
	var equal, less []bool
	other := append(slices.Clone(data[1:]), data[0])
	for i, v := range data {
		w := other[i]
		sum, product, difference = append(sum, v+w), append(product, v*w), append(difference, v-w)
		var q, m T
		if w != 0 {
			q, m = v/w, v%w
			if m != 0 && (m < 0) != (w < 0) {
				q, m = q-1, m+w
			}
		}
		quotient, rest, shifted = append(quotient, q), append(rest, m), append(shifted, v>>1)
		equal, less = append(equal, v == w), append(less, v < w)
	}
	y := tensor.New(d, other, 12, 5)
	is(t, name+"Add", x.Add(y), sum...)
	is(t, name+"Mul", x.Mul(y), product...)
	is(t, name+"Sub", x.Sub(y), difference...)
	is(t, name+"FloorDivide", x.FloorDivide(y), quotient...)
	some := tensor.ZerosLike(x).Where(y.EqScalar(0), x) // of nothing there is no rest
	is(t, name+"Remainder", some.Remainder(y), rest...)
	is(t, name+"BitwiseRightShift", x.BitwiseRightShift(tensor.New(d, []T{1})), shifted...)
	is(t, name+"Eq", x.Eq(y), equal...)
	is(t, name+"Lt", x.Lt(y), less...)
	is(t, name+"AddScalar", line.Slice(0, 0, 2).AddScalar(1), least+1, least)
}

func asUint64(x []int64) (y []uint64) {
	for _, v := range x {
		y = append(y, uint64(v))
	}
	return y
}

// TestSixtyFourBits: numbers beyond 2⁵³, which a float64 rounds, stay what they are.
func TestSixtyFourBits(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const big = 1<<53 + 1
		x := tensor.New(d, []int64{big, -big, big - 1})
		is(t, "the next", x.AddScalar(1), int64(big+1), -big+1, big)
		is(t, "equal", x.Eq(tensor.New(d, []int64{big - 1, -big, big})), false, true, false)
		is(t, "as uint64", x.To(tensor.Uint64), uint64(big), 1<<64-big, big-1)
		is(t, "as int32", x.To(tensor.Int32), int32(1), -1, 0)
		is(t, "as float16 and back", tensor.New(d, []int{2049, 2051, -2049}).To(tensor.Float16).To(tensor.Int64), int64(2048), 2052, -2048)
		// Halfway between two bfloat16, and beside it by one: of a float32 they are one number.
		const middle = 1<<31 + 1<<23
		is(t, "as bfloat16 and back", tensor.New(d, []int64{middle, middle + 1, middle - 1}).To(tensor.BFloat16).To(tensor.Int64), int64(1<<31), 1<<31+1<<24, 1<<31)
		is(t, "filled", tensor.FullOf(d, tensor.Int64, -1<<40, 2), int64(-1<<40), -1<<40)
		is(t, "filled", tensor.FullOf(d, tensor.Uint64, 1<<63, 1), uint64(1<<63))
		is(t, "counted", tensor.ArangeOf(d, tensor.Int64, 1<<40, 1<<40+9, 4), int64(1<<40), 1<<40+4, 1<<40+8)
	})
}

// TestLongIntegers: sums and extremes of many elements are those of few, whatever parts they are cut into.
func TestLongIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{200_001}, {3, 70_001}, {70_001, 3}, {2, 9001, 5}} {
			x := tensor.NewRNG(3).Ints(d, 1_000_000, shape...)
			data, err := x.Int32s()
			if err != nil {
				t.Fatal(err)
			}
			sum, at := int64(0), 0
			for i, v := range data {
				if sum += int64(v); v > data[at] {
					at = i
				}
			}
			what := fmt.Sprint(shape)
			is(t, "sum of "+what, x.Sum(), sum)
			is(t, "sum of "+what+" twice", x.Sum(-1).Sum(), sum)
			is(t, "sum of "+what+" of bytes", x.BitwiseAnd(tensor.FullOf(d, tensor.Int32, 255)).To(tensor.Uint8).Sum(0).Sum(), masked(data))
			is(t, "place of the greatest of "+what, x.ArgMax(), int64(at))
		}
	})
}

func masked(data []int32) (sum int64) {
	for _, v := range data {
		sum += int64(v & 255)
	}
	return sum
}

// TestIndexTypes: indices of Int64 and of Int32 are the same, and out of range they are errors, also where
// their low bits are in it.
func TestIndexTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
		long := tensor.New(d, []int{2, 0})
		for _, at := range []*tensor.Tensor{long, long.To(tensor.Int32)} {
			is(t, "rows", x.GatherRows(at), float32(5), 6, 1, 2)
			is(t, "embedding", x.Embedding(at.To(tensor.Uint16)), float32(5), 6, 1, 2)
			is(t, "index", x.Index(at), float32(5), 6, 1, 2)
			is(t, "put", x.IndexPut([]*tensor.Tensor{at}, tensor.Zeros(d, 2, 2)), float32(0), 0, 3, 4, 0, 0)
		}
		if err := tensor.Try(func() { x.GatherRows(tensor.New(d, []int64{1 << 32, 0})) }); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("an index whose low bits are 0: %v", err)
		}
		if err := tensor.Try(func() { x.GatherRows(tensor.New(d, []uint64{0})) }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("indices of uint64: %v", err)
		}
		if err := tensor.Try(func() { tensor.Map(fn.Add, nil, tensor.New(d, []uint64{1}), tensor.New(d, []int{1})) }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("uint64 and int64: %v", err)
		}
	})
}

// TestFilesOfEveryType: tensors of every type come back from npz and safetensors as they were, but for
// types that the format has not, which are refused by name.
func TestFilesOfEveryType(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	dict := tensor.Dict{}
	for typ := tensor.Type(0); typ < tensor.Int4; typ++ {
		dict[typ.String()] = tensor.NewOf(d, typ, []int{0, 1, 1, 100}, 2, 2)
	}
	dict["int64"] = tensor.New(d, []int64{1<<63 - 1, -1 << 63, 1<<53 + 1, 0}, 2, 2)
	dict["uint64"] = tensor.New(d, []uint64{1<<64 - 1, 1 << 63, 1<<53 + 1, 0}, 2, 2)
	same := func(what string, got tensor.Dict, err error) {
		t.Helper()
		if err != nil || len(got) != len(dict) {
			t.Fatalf("%s: %v, err = %v", what, got, err)
		}
		for name, x := range dict {
			if y := got[name]; y.Type() != x.Type() || !slices.Equal(y.Shape(), x.Shape()) || !slices.Equal(devtest.Float64s(t, y), devtest.Float64s(t, x)) {
				t.Errorf("%s: %s is %v %v", what, name, y, devtest.Float64s(t, y))
			}
		}
		is(t, what, got["int64"], int64(1<<63-1), -1<<63, 1<<53+1, 0)
		is(t, what, got["uint64"], uint64(1<<64-1), 1<<63, 1<<53+1, 0)
	}
	path := t.TempDir() + "/x"
	if err := tensor.SaveSafetensors(path, dict); err != nil {
		t.Fatal(err)
	}
	got, _, err := tensor.LoadSafetensors(d, path)
	same("safetensors", got, err)
	for typ := tensor.Type(0); typ.Valid(); typ++ {
		x := tensor.Dict{"x": tensor.NewOf(d, typ, []int{1, 0}, 2)}
		err := tensor.SaveSafetensors(path, x)
		if (err == nil) == (typ >= tensor.Int4) || err != nil && !strings.Contains(err.Error(), "lowbit.") {
			t.Errorf("%v to safetensors: %v", typ, err)
		}
		if typ == tensor.BFloat16 || typ.Storage() {
			delete(dict, typ.String())
			name := strings.ReplaceAll(typ.String(), "_", "")
			if err := tensor.SaveNPZ(path, x); err == nil || !strings.Contains(err.Error(), "NumPy has no "+name[:4]) {
				t.Errorf("%v to npz: %v", typ, err)
			}
		}
	}
	if err := tensor.SaveNPZ(path, dict); err != nil {
		t.Fatal(err)
	}
	got, err = tensor.LoadNPZ(d, path)
	same("npz", got, err)
}

// TestUint64Edges: what the sign of 64 bits could spoil.
func TestUint64Edges(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.New(d, []uint64{1, 2, 3, 1 << 63}, 2, 2)
		is(t, "Tril", x.Tril(0), uint64(1), 0, 3, 1<<63)
		is(t, "Triu", x.Triu(0), uint64(1), 2, 0, 1<<63)
		for _, signed := range []*tensor.Tensor{tensor.New(d, []int8{-3}), tensor.New(d, []int64{-3})} {
			for name, f := range map[string]func(){
				"Concat": func() { tensor.Concat(0, x.Reshape(4), signed) }, "Stack": func() { tensor.Stack(0, x.Reshape(4).Slice(0, 0, 1), signed) },
			} {
				if err := tensor.Try(f); !errors.Is(err, tensor.ErrType) {
					t.Errorf("%s of uint64 and %v: %v", name, signed.Type(), err)
				}
			}
		}
	})
}

// TestWholeIntegers: what rounds leaves integers of 64 bits as they are.
func TestWholeIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		data := []int64{1<<53 + 1, 1<<63 - 1, -1 << 63}
		x := tensor.New(d, data)
		for name, y := range map[string]*tensor.Tensor{"Floor": x.Floor(), "Ceil": x.Ceil(), "Trunc": x.Trunc(), "Round": x.Round()} {
			is(t, name, y, data...)
		}
		u := tensor.New(d, []uint64{1<<64 - 1, 1<<53 + 1})
		is(t, "Floor", u.Floor(), uint64(1<<64-1), 1<<53+1)
		m := tensor.New(d, []int8{-128, -127, 7, 126}, 2, 2)
		is(t, "Einsum", tensor.Einsum("ij->i", m), int8(1), -123)
		is(t, "TensorDot", m.TensorDot(m, []int{1}, []int{0}).Slice(0, 0, 1), int8(-121), -2)
	})
}
