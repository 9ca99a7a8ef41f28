package kernels

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/x448/float16"
)

// TestHostBufferOfEveryType: sizes, names and elements of each type, and copies that move no more
// than they are to.
func TestHostBufferOfEveryType(t *testing.T) {
	v := []float64{-7.5, math.Inf(1), 300, 65520, math.NaN(), 3}
	for _, c := range []struct {
		elem DType
		size int
		name string
		want string // after Set
	}{
		{Float32, 4, "float32", "[-7.5 +Inf 300 65520 NaN 3]"}, {Float64, 8, "float64", "[-7.5 +Inf 300 65520 NaN 3]"},
		{Int32, 4, "int32", "[-7 2.147483647e+09 300 65520 0 3]"}, {Uint8, 1, "uint8", "[0 255 255 255 0 3]"}, {Float16, 2, "float16", "[-7.5 +Inf 300 +Inf NaN 3]"},
	} {
		m, other := NewHostBuffer(c.elem, len(v)), NewHostBuffer(c.elem, len(v))
		for i, v := range v {
			m.Set(i, v)
		}
		all := func(m *HostBuffer) string {
			var s []float64
			for i := range m.Len() {
				s = append(s, m.At(i))
			}
			return fmt.Sprint(s)
		}
		if got := all(m); got != c.want || m.DType() != c.elem || c.elem.Size() != c.size || c.elem.String() != c.name {
			t.Errorf("%v of %d bytes: %s, want %s", c.elem, c.elem.Size(), got, c.want)
		}
		CopyHostBuffer(other, 1, m, 5, 1)
		if got := all(other); got != "[0 3 0 0 0 0]" {
			t.Errorf("%v: one element copied makes %s", c.elem, got)
		}
		words := make([]float64, 1)
		if n := 8 / c.size; ViewAs(c.elem, words, n).Len() != n {
			t.Errorf("%v: %d do not fit a word", c.elem, n)
		}
	}
	if DTypeOf[float16.Float16]() != Float16 || DTypeOf[uint8]() != Uint8 || DTypeOf[int32]() != Int32 || DTypeOf[float64]() != Float64 || DTypeOf[float32]() != Float32 {
		t.Error("a Go type stands for another element type")
	}
	defer func() {
		if recover() == nil {
			t.Error("memory of uint8 was read as float16")
		}
	}()
	Slice[float16.Float16](NewHostBuffer(Uint8, 4), 0, 2)
}

// TestModes: what a mode says of its parameter, for every element type.
func TestModes(t *testing.T) {
	for base, elem := range map[Mode]DType{In: Float64, InInts: Int32, InBytes: Uint8, In.Of(Float16): Float16} {
		for use := range Mode(3) {
			m := base + use
			if m.Elements(Float64) != elem || m.Written() != (use > 0) || m.Read() != (use != Out) || !m.Buffer() || m.Kind() != ArgBuffer || use.Of(elem) != m {
				t.Errorf("mode %d: elements %v, written %v", m, m.Elements(Float64), m.Written())
			}
		}
	}
	for _, m := range []Mode{IntParam, FloatParam} {
		if m.Buffer() || m.Written() || m.Read() || m.Kind() == ArgBuffer {
			t.Errorf("mode %d is a buffer", m)
		}
	}
}

// TestBoundsOfHostBuffer: elements are those of the memory, and no more can be appended to them in
// place.
func TestBoundsOfHostBuffer(t *testing.T) {
	refused := func(f func()) (said bool) {
		defer func() {
			if p := recover(); p != nil {
				text, _ := p.(string) // not a runtime error
				said = strings.HasPrefix(text, "kernels: ")
			}
		}()
		f()
		return false
	}
	m, words := HostBufferOf([]float32{1, 2, 3, 4}), make([]float64, 3)
	for _, c := range []struct {
		off, n int
		ok     bool
	}{{0, 4, true}, {4, 0, true}, {0, 0, true}, {1, 2, true}, {0, 5, false}, {1, 4, false}, {5, 0, false}, {-1, 2, false}, {2, -1, false}} {
		if refused(func() {
			if s := Slice[float32](m, c.off, c.n); len(s) != c.n || cap(s) != c.n || c.n > 0 && s[0] != float32(c.off+1) {
				t.Errorf("%d elements from %d: %v, room for %d", c.n, c.off, s, cap(s))
			}
		}) == c.ok {
			t.Errorf("%d elements from %d: refused %v", c.n, c.off, c.ok)
		}
	}
	for elem, most := range map[DType]int{Float32: 6, Float64: 3, Int32: 6, Uint8: 24, Float16: 12} {
		for n, ok := range map[int]bool{0: true, 1: true, most: true, most + 1: false, -1: false} {
			if refused(func() {
				if m := ViewAs(elem, words, n); m.Len() != n || m.DType() != elem {
					t.Errorf("%d %v: %d %v", n, elem, m.Len(), m.DType())
				}
			}) == ok {
				t.Errorf("%d %v in 3 words: refused %v", n, elem, ok)
			}
		}
	}
}

// TestModeOfNumbers: the kind of argument that a parameter takes, and how errors name it.
func TestModeOfNumbers(t *testing.T) {
	for m, want := range map[Mode]string{In: "memory", InOut.Of(Float16): "memory", IntParam: "an int", FloatParam: "a float"} {
		if got := m.Kind().String(); got != want {
			t.Errorf("mode %d takes %s, want %s", m, got, want)
		}
	}
	for _, elem := range []DType{Float32, Float64, Int32, Uint8, Float16} {
		if elem.Integer() != (elem == Int32 || elem == Uint8) {
			t.Errorf("%v: integer %v", elem, elem.Integer())
		}
	}
}
