package npz

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

func sample() map[string]Array {
	return map[string]Array{
		"scalar": {[]int{}, []float64{42}},
		"vector": {[]int{3}, []float32{1, 2, 3}},
		"matrix": {[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		"cube":   {[]int{2, 1, 3}, []float32{1, 2, 3, 4, 5, 6}},
		"bytes":  {[]int{4}, []uint8("json")},
		"small":  {[]int{2, 2}, []int8{-128, 0, 1, 127}},
		"words":  {[]int{2}, []uint16{0, 65535}},
		"none":   {[]int{0}, []float32{}},
	}
}

func encode(t testing.TB, arrays map[string]Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, arrays); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	raw := encode(t, sample())
	got, err := Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range sample() {
		g := got[name]
		if len(g.Shape) != len(want.Shape) || len(want.Shape) > 0 && !reflect.DeepEqual(g.Shape, want.Shape) || !reflect.DeepEqual(g.Data, want.Data) {
			t.Errorf("%s: got %v, want %v", name, g, want)
		}
	}
	if !bytes.Equal(raw, encode(t, sample())) {
		t.Error("equal contents made different bytes")
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, a := range []Array{{[]int{2}, []float32{1}}, {[]int{0, 3}, []float32{}}} {
		if err := Write(&bytes.Buffer{}, map[string]Array{"a": a}); err == nil {
			t.Errorf("Write(%v) succeeded", a)
		}
	}
}

// TestDamage flips and cuts every byte of a file: each is an error or leaves the contents intact.
func TestDamage(t *testing.T) {
	raw := encode(t, sample())
	for i := range raw {
		if _, err := Read(bytes.NewReader(raw[:i]), int64(i)); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: err = %v", i, err)
		}
		bad := bytes.Clone(raw)
		bad[i] ^= 0x55
		if _, err := Read(bytes.NewReader(bad), int64(len(bad))); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("flip at %d: err = %v", i, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Fuzz(func(t *testing.T, raw []byte) {
		arrays, err := Read(bytes.NewReader(raw), int64(len(raw)))
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("err = %v", err)
		}
		for name, a := range arrays {
			if reflect.ValueOf(a.Data).Len() != Len(a.Shape) {
				t.Fatalf("%s: shape %v with %d elements", name, a.Shape, reflect.ValueOf(a.Data).Len())
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00F\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }          \n0123456789abcdef"))
	f.Fuzz(func(t *testing.T, raw []byte) { _, _ = decode(raw) })
}
