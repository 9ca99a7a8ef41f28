package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// bitPatterns has elements of each size: NaNs with payloads, infinities, zeros, denormals, ends.
var bitPatterns = map[int][]uint64{
	1: {0, 1, 0x7f, 0x80, 0xff, 0x55},
	2: {0, 0x8000, 1, 0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xff81, 0x3c00, 0x03ff, 0x7fff, 0xffff},
	4: {0, 1 << 31, 1, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc12345, 0x3f800000, 0x007fffff, 0x7fffffff, 0x80000001, 0x12345678},
	8: {0, 1 << 63, 1, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8<<48 | 1, 0x3ff0 << 48, 1<<52 - 1, math.MaxInt64, 1<<63 | 1, 0x123456789abcdef0, 0xbff0 << 48},
}

// withBits returns a tensor whose elements are of these bits.
func withBits(d tensor.Device, typ tensor.Type, bits []uint64) *tensor.Tensor {
	switch typ {
	case tensor.Float16:
		return elementsOf[float16.Float16](d, bits)
	case tensor.BFloat16:
		return elementsOf[bfloat16.BFloat16](d, bits)
	case tensor.Float32:
		return elementsOf[float32](d, bits)
	case tensor.Float64:
		return elementsOf[float64](d, bits)
	case tensor.Int8:
		return elementsOf[int8](d, bits)
	case tensor.Uint8:
		return elementsOf[uint8](d, bits)
	case tensor.Int16:
		return elementsOf[int16](d, bits)
	case tensor.Uint16:
		return elementsOf[uint16](d, bits)
	case tensor.Int32:
		return elementsOf[int32](d, bits)
	case tensor.Uint32:
		return elementsOf[uint32](d, bits)
	case tensor.Int64:
		return elementsOf[int64](d, bits)
	}
	return elementsOf[uint64](d, bits)
}

func elementsOf[T tensor.Element](d tensor.Device, bits []uint64) *tensor.Tensor {
	data := make([]T, len(bits))
	for i, b := range bits {
		data[i] = *(*T)(unsafe.Pointer(&b)) // little-endian
	}
	return tensor.New(d, data, len(bits))
}

func bitsOf(t *testing.T, x *tensor.Tensor) []uint64 {
	t.Helper()
	switch x.Type() {
	case tensor.Float16:
		return readBits[float16.Float16](t, x)
	case tensor.BFloat16:
		return readBits[bfloat16.BFloat16](t, x)
	case tensor.Float32:
		return readBits[float32](t, x)
	case tensor.Float64:
		return readBits[float64](t, x)
	}
	unsigned := map[int]tensor.Type{1: tensor.Uint8, 2: tensor.Uint16, 4: tensor.Uint32, 8: tensor.Uint64}[x.Type().Size()]
	switch x = x.To(unsigned); unsigned {
	case tensor.Uint8:
		return readBits[uint8](t, x)
	case tensor.Uint16:
		return readBits[uint16](t, x)
	case tensor.Uint32:
		return readBits[uint32](t, x)
	}
	return readBits[uint64](t, x)
}

func readBits[T tensor.Element](t *testing.T, x *tensor.Tensor) []uint64 {
	t.Helper()
	data, err := tensor.Read[T](x)
	if err != nil {
		t.Fatal(err)
	}
	bits := make([]uint64, len(data))
	for i, v := range data {
		*(*T)(unsafe.Pointer(&bits[i])) = v
	}
	return bits
}

// TestBitcast: between all types of one size, contiguous or not, empty and of rank 0, bits stay; of other
// sizes it says so.
func TestBitcast(t *testing.T) {
	types := []tensor.Type{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Float16, tensor.BFloat16,
		tensor.Int32, tensor.Uint32, tensor.Float32, tensor.Int64, tensor.Uint64, tensor.Float64}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, from := range types {
			if !d.Supports(from) {
				continue
			}
			bits := bitPatterns[from.Size()]
			x := withBits(d, from, bits)
			for _, to := range types {
				if !d.Supports(to) {
					continue
				}
				if from.Size() != to.Size() {
					if err := tensor.Try(func() { tensor.Bitcast(x, to) }); !errors.Is(err, tensor.ErrType) {
						t.Errorf("%v as %v: %v", from, to, err)
					}
					continue
				}
				y := tensor.Bitcast(x, to)
				if got := bitsOf(t, y); y.Type() != to || !slices.Equal(got, bits) {
					t.Errorf("%v as %v: %#x, want %#x", from, to, got, bits)
				}
				turned := tensor.Bitcast(x.Reshape(2, -1).T().Slice(0, 1, tensor.End), to) // of columns 1 on
				half := len(bits) / 2
				var want []uint64
				for i := 1; i < half; i++ {
					want = append(want, bits[i], bits[half+i])
				}
				if got := bitsOf(t, turned); !slices.Equal(turned.Shape(), []int{half - 1, 2}) || !slices.Equal(got, want) {
					t.Errorf("%v as %v of a view: %v %#x, want %#x", from, to, turned.Shape(), got, want)
				}
				if one := tensor.Bitcast(x.Select(0, -1), to); one.Rank() != 0 || bitsOf(t, one)[0] != bits[len(bits)-1] {
					t.Errorf("%v as %v of rank 0: %v", from, to, one)
				}
				if none := tensor.Bitcast(x.Slice(0, 2, 2).Reshape(0, 3), to); !slices.Equal(none.Shape(), []int{0, 3}) || none.Type() != to {
					t.Errorf("%v as %v of nothing: %v", from, to, none)
				}
			}
		}
		flags := tensor.New(d, []bool{true, false})
		if got := bitsOf(t, tensor.Bitcast(flags, tensor.Int8)); !slices.Equal(got, []uint64{1, 0}) {
			t.Errorf("bool as int8: %v", got)
		}
		if got, err := tensor.Read[bool](tensor.Bitcast(tensor.New(d, []uint8{2, 0}), tensor.Bool)); err != nil || !slices.Equal(got, []bool{true, false}) {
			t.Errorf("uint8 as bool: %v, err %v", got, err)
		}
		if err := tensor.Try(func() { tensor.Bitcast(flags, tensor.Float8E4M3FN) }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("bool as a type for storage: %v", err)
		}
	})
}
