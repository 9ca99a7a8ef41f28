package data_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// TestFromTensor: elements of every type come to the host and back, in both kinds of floats.
func TestFromTensor(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Uint8, tensor.Float16} {
			x := devtest.New(d, count[uint8](6), 2, 3).To(typ).T()
			a, err := data.FromTensor(x)
			if err != nil {
				t.Fatal(err)
			}
			y := a.Slice(1, 3).Tensor(d)
			want := typ
			if typ == tensor.Float16 {
				want = tensor.Float32
			}
			if a.Len() != 3 || y.Type() != want || !slices.Equal(y.Shape(), []int{2, 2}) || fmt.Sprint(devtest.Float64s(t, y)) != "[1 4 2 5]" {
				t.Errorf("%v: %v %v", typ, y, devtest.Float64s(t, y))
			}
		}
	})
}

// TestSlice: a slice shares its rows with the whole, and may be empty.
func TestSlice(t *testing.T) {
	d := devtest.CPU(t)
	numbers := count[float32](12)
	a := data.New(numbers, 4, 3)
	part := a.Slice(1, 3).Slice(1, 2)
	numbers[6] = 60
	if x := part.Tensor(d); !slices.Equal(x.Shape(), []int{1, 3}) || fmt.Sprint(devtest.Float64s(t, x)) != "[60 7 8]" {
		t.Errorf("%v %v", x, devtest.Float64s(t, x))
	}
	if x := a.Slice(4, 4).Tensor(d); !slices.Equal(x.Shape(), []int{0, 3}) {
		t.Errorf("%v", x)
	}
}

// TestDigits: the archive of digits is what its README says.
func TestDigits(t *testing.T) {
	arrays, err := data.LoadNPZ(filepath.Join("..", "testdata", "digits.npz"))
	if err != nil {
		t.Fatal(err)
	}
	images, labels := arrays["images"], arrays["labels"]
	if !slices.Equal(images.Shape(), []int{1797, 8, 8}) || !slices.Equal(labels.Shape(), []int{1797}) || len(arrays) != 2 {
		t.Fatalf("%v, %v", images.Shape(), labels.Shape())
	}
	d := devtest.CPU(t)
	x, y := images.Tensor(d), labels.Tensor(d)
	if x.Type() != tensor.Uint8 || y.Type() != tensor.Uint8 || slices.Max(devtest.Float64s(t, x)) != 16 || slices.Max(devtest.Float64s(t, y)) != 9 {
		t.Errorf("%v, %v", x, y)
	}
}

// TestNPZ: arrays of NumPy's types become those of tensors; what does not fit is named.
func TestNPZ(t *testing.T) {
	d := devtest.CPU(t)
	read := func(arrays map[string]npz.Array) (map[string]data.Array, error) {
		t.Helper()
		var b bytes.Buffer
		if err := npz.Write(&b, arrays); err != nil {
			t.Fatal(err)
		}
		return data.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	}
	for _, c := range []struct {
		from any
		typ  tensor.Type
	}{{[]bool{false, true}, tensor.Bool}, {[]uint8{0, 1}, tensor.Uint8}, {[]int64{0, 1}, tensor.Int64}, {[]uint16{0, 1}, tensor.Uint16}, {[]int32{0, 1}, tensor.Int32},
		{[]float16.Float16{0, 0x3c00}, tensor.Float16}, {[]float32{0, 1}, tensor.Float32}, {[]float64{0, 1}, tensor.Float64}} {
		got, err := read(map[string]npz.Array{"a": {Shape: []int{2, 1}, Data: c.from}})
		if err != nil {
			t.Fatal(err)
		}
		if x := got["a"].Tensor(d); x.Type() != c.typ || !slices.Equal(x.Shape(), []int{2, 1}) || fmt.Sprint(devtest.Float64s(t, x)) != "[0 1]" {
			t.Errorf("%T: %v %v", c.from, x, devtest.Float64s(t, x))
		}
	}
	if got, err := read(map[string]npz.Array{"a": {Shape: []int{}, Data: []float32{7}}}); err != nil || got["a"].Len() != 1 {
		t.Errorf("a number: err = %v", err)
	}
	if _, err := data.LoadNPZ(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	path := filepath.Join(t.TempDir(), "bad.npz")
	if err := os.WriteFile(path, []byte("PK"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := data.LoadNPZ(path); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
}

// TestBools: bools come to a device and back.
func TestBools(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	want := []bool{true, false, false, true, true, false}
	x := data.New(want, 3, 2).Slice(0, 3).Tensor(d)
	a, err := data.FromTensor(x)
	if err != nil || x.Type() != tensor.Bool || !slices.Equal(data.Elements[bool](a), want) {
		t.Errorf("%v, %v", x, err)
	}
	for b := range data.NewLoader(d, []data.Array{a}, data.LoaderConfig{Batch: 3}).Epoch() {
		if got, err := b[0].Bools(); err != nil || len(got) != 6 {
			t.Errorf("%v, %v", got, err)
		}
	}
}
