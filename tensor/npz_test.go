package tensor_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// TestNPZTypes: tensors of every type and shape, views among them, come back as they were.
func TestNPZTypes(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		want := tensor.Dict{}
		for _, typ := range types {
			if typ == tensor.BFloat16 { // see TestNumPyHasNoBFloat16
				continue
			}
			x := devtest.New(d, []uint8{0, 1, 2, 3, 250, 255}, 2, 3).To(typ)
			want["whole of "+typ.String()] = x
			want["transpose of "+typ.String()] = x.T()
			want["scalar of "+typ.String()] = x.Slice(0, 1, 2).Slice(1, 1, 2).Reshape()
			want["nothing of "+typ.String()] = x.Slice(0, 1, 1)
			want["no row of "+typ.String()] = tensor.ZerosOf(d, typ, 2, 0, 3)
		}
		want["ends of Int32"] = devtest.New(d, []int32{math.MinInt32, math.MaxInt32})
		want["ends of Float16"] = devtest.New(d, []float64{math.Inf(1), 65504, 0x1p-24, math.NaN()}).To(tensor.Float16)
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := tensor.SaveNPZ(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := tensor.LoadNPZ(d, path)
		if err != nil || len(got) != len(want) {
			t.Fatal(err)
		}
		for name, w := range want {
			if g := got[name]; g.Type() != w.Type() || !slices.Equal(g.Shape(), w.Shape()) || !sameNumbers(devtest.Float64s(t, g), devtest.Float64s(t, w)) {
				t.Errorf("%s: %v %v, want %v %v", name, g, devtest.Float64s(t, g), w, devtest.Float64s(t, w))
			}
		}
	})
}

// TestNumPyHasNoBFloat16: it is refused before a file is there.
func TestNumPyHasNoBFloat16(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.ZerosOf(d, tensor.BFloat16, 2)
	path := filepath.Join(t.TempDir(), "x.npz")
	for _, err := range []error{tensor.SaveNPZ(path, tensor.Dict{"ok": tensor.Zeros(d, 1), "x": x}), tensor.WriteNPY(io.Discard, x)} {
		if err == nil || !strings.Contains(err.Error(), "NumPy has no bfloat16: convert the tensor with To(tensor.Float32), or write safetensors") {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

// load reads one array as an archive named "a".
func load(t *testing.T, d tensor.Device, a npz.Array) (*tensor.Tensor, error) {
	t.Helper()
	var b strings.Builder
	if err := npz.Write(&b, map[string]npz.Array{"a": a}); err != nil {
		t.Fatal(err)
	}
	dict, err := tensor.ReadNPZ(d, strings.NewReader(b.String()), int64(b.Len()))
	return dict["a"], err
}

// TestNPZFits: what NumPy writes keeps its type.
func TestNPZFits(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f64 := devtest.CPU(t)
	for _, c := range []struct {
		data any
		typ  tensor.Type
		want []float64
	}{
		{[]bool{true, false}, tensor.Bool, []float64{1, 0}}, {[]uint8{0, 255}, tensor.Uint8, []float64{0, 255}}, {[]int8{-128, 127}, tensor.Int8, []float64{-128, 127}},
		{[]int16{-32768, 32767}, tensor.Int16, []float64{-32768, 32767}}, {[]uint16{0, 65535}, tensor.Uint16, []float64{0, 65535}},
		{[]int32{math.MinInt32, math.MaxInt32}, tensor.Int32, []float64{math.MinInt32, math.MaxInt32}},
		{[]int64{-1 << 53, 1<<53 - 1}, tensor.Int64, []float64{-1 << 53, 1<<53 - 1}},
		{[]uint32{0, math.MaxUint32}, tensor.Uint32, []float64{0, math.MaxUint32}}, {[]uint64{0, 1 << 63}, tensor.Uint64, []float64{0, 1 << 63}},
		{[]float16.Float16{0x3c00, 0xfc00}, tensor.Float16, []float64{1, math.Inf(-1)}}, {[]float32{0.5, -3e38}, tensor.Float32, []float64{0.5, -float64(float32(3e38))}},
		{[]float64{0.1, math.Inf(1)}, tensor.Float64, []float64{0.1, math.Inf(1)}},
	} {
		x, err := load(t, d, npz.Array{Shape: []int{2}, Data: c.data})
		if err != nil || x.Type() != c.typ || !sameNumbers(devtest.Float64s(t, x), c.want) {
			t.Errorf("%T: %v, want %v of %v (err %v)", c.data, x, c.want, c.typ, err)
		}
	}
	if x, err := load(t, f64, npz.Array{Shape: []int{1}, Data: []float64{-1e39}}); err != nil || devtest.Float64s(t, x)[0] != -1e39 {
		t.Errorf("%v on a float64 device: err = %v", x, err)
	}
	deep := slices.Repeat([]int{1}, 17)
	if _, err := load(t, d, npz.Array{Shape: deep, Data: []uint8{1}}); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), "axes") {
		t.Errorf("an array of 17 axes: err = %v", err)
	}
}

// FuzzReadNPZ: whatever a file holds, it is read or refused by ErrFormat, and no memory is left
// behind.
func FuzzReadNPZ(f *testing.F) {
	d := devtest.Open(f, "cpu", tensor.Options{})
	for _, a := range []npz.Array{{Shape: []int{2}, Data: []int64{1, 1 << 40}}, {Shape: []int{1, 2}, Data: []float64{1, 1e300}}, {Shape: []int{}, Data: []bool{true}},
		{Shape: []int{0, 3}, Data: []float16.Float16{}}, {Shape: slices.Repeat([]int{1}, 17), Data: []uint8{1}}, {Shape: []int{3}, Data: []uint64{1, 2, 1 << 63}}} {
		var b strings.Builder
		if err := npz.Write(&b, map[string]npz.Array{"a": a}); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(b.String()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := d.Stats().LiveBytes
		dict, err := tensor.ReadNPZ(d, bytes.NewReader(raw), int64(len(raw)))
		if err != nil && !errors.Is(err, tensor.ErrFormat) {
			t.Fatalf("err = %v", err)
		}
		for name, x := range dict {
			if v := devtest.Float64s(t, x); len(v) != x.Len() {
				t.Errorf("%s: %v with %d numbers", name, x, len(v))
			}
			x.Free()
		}
		if live := d.Stats().LiveBytes; live != before {
			t.Errorf("%d bytes live before, %d after", before, live)
		}
	})
}

// TestNumPy: NumPy reads what is written here, and what it writes, in every type and order, is read
// here. Without NumPy it is skipped, unless CLGRAD_REQUIRE_NUMPY is set.
func TestNumPy(t *testing.T) {
	python := "/usr/bin/python3" // the distribution's, which its package of NumPy belongs to
	if out, err := devtest.Command(t, python, "-c", "import numpy").CombinedOutput(); err != nil {
		if os.Getenv("CLGRAD_REQUIRE_NUMPY") != "" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skip("no NumPy here")
	}
	const program = `
import sys
import numpy as np
ours = np.load(sys.argv[1])
for name in ours:
    kind, _, shape = name.partition(" ")
    want = np.arange(6).reshape(2, 3).astype(kind)
    want = {"whole": want, "transposed": want.T, "scalar": want[1, 2], "nothing": want[:, 3:]}[shape]
    assert ours[name].dtype == kind and ours[name].shape == want.shape and (ours[name] == want).all(), name
theirs = {}
for kind in "?", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8":
    a = np.arange(24).reshape(2, 3, 4).astype(kind)
    theirs[kind.replace("?", "bool") + " C"] = a
    theirs[kind.replace("?", "bool") + " F"] = np.asfortranarray(a)
    theirs[kind.replace("?", "bool") + " scalar"] = a[0, 0, 1]
    theirs[kind.replace("?", "bool") + " nothing"] = np.asfortranarray(a[:, :0])
np.savez(sys.argv[2], **theirs)
np.savez_compressed(sys.argv[3], z=np.zeros(2, "c8"))
np.savez(sys.argv[4], r=np.zeros(2, [("x", "f4"), ("y", "i4")]))
np.savez(sys.argv[5], s=np.array(["a", "bc"]))
`
	d := devtest.CPU(t)
	dir := t.TempDir()
	files := make([]string, 5)
	for i, name := range []string{"ours", "theirs", "complex", "records", "text"} {
		files[i] = filepath.Join(dir, name+".npz")
	}
	ours := tensor.Dict{}
	for kind, typ := range map[string]tensor.Type{"float64": d.DefaultType(), "int32": tensor.Int32, "uint8": tensor.Uint8, "float16": tensor.Float16} {
		x := devtest.New(d, []uint8{0, 1, 2, 3, 4, 5}, 2, 3).To(typ)
		ours[kind+" whole"], ours[kind+" transposed"], ours[kind+" nothing"] = x, x.T(), x.Slice(1, 3, 3)
		ours[kind+" scalar"] = x.Reshape(6).Slice(0, 5, 6).Reshape()
	}
	if err := tensor.SaveNPZ(files[0], ours); err != nil {
		t.Fatal(err)
	}
	if out, err := devtest.Command(t, python, append([]string{"-c", program}, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs, err := tensor.LoadNPZ(d, files[1])
	if err != nil || len(theirs) != 21*4 {
		t.Fatalf("%d arrays, err = %v", len(theirs), err)
	}
	want := make([]float64, 24)
	for i := range want {
		want[i] = float64(i)
	}
	for name, x := range theirs {
		kind, form, _ := strings.Cut(name, " ")
		w, shape := want, []int{2, 3, 4}
		switch form {
		case "scalar":
			w, shape = want[1:2], []int{}
		case "nothing":
			w, shape = nil, []int{2, 0, 4}
		}
		if kind == "bool" {
			w = slices.Clone(w)
			for i, v := range w {
				w[i] = min(v, 1)
			}
		}
		if !slices.Equal(x.Shape(), shape) || !sameNumbers(devtest.Float64s(t, x), w) {
			t.Errorf("%s: %v %v", name, x, devtest.Float64s(t, x))
		}
	}
	for i, say := range []string{`array "z": complex64 does not fit`, `array "r": `, `array "s": text does not fit`} {
		if _, err := tensor.LoadNPZ(d, files[2+i]); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "does not fit: bool, int8") {
			t.Errorf("%s: err = %v", files[2+i], err)
		}
	}
}

// TestDictSub: the names that begin with a prefix, without it, and the same tensors.
func TestDictSub(t *testing.T) {
	d := devtest.CPU(t)
	dict := tensor.Dict{"a.b.w": tensor.Zeros(d, 1), "a.bias": tensor.Zeros(d, 2), "ab.w": tensor.Zeros(d), "a.": tensor.Zeros(d)}
	for prefix, want := range map[string]map[string]string{
		"a.":   {"b.w": "a.b.w", "bias": "a.bias", "": "a."},
		"a.b.": {"w": "a.b.w"},
		"x":    {},
		"":     {"a.b.w": "a.b.w", "a.bias": "a.bias", "ab.w": "ab.w", "a.": "a."},
	} {
		got := dict.Sub(prefix)
		for name, from := range want {
			if got[name] == nil || got[name] != dict[from] {
				t.Errorf("Sub(%q) has another %q than %q", prefix, name, from)
			}
		}
		if len(got) != len(want) {
			t.Errorf("Sub(%q) has %d tensors, want %d", prefix, len(got), len(want))
		}
	}
	if got := tensor.Dict(nil).Sub("a"); got == nil || len(got) != 0 {
		t.Errorf("of no dictionary: %v", got)
	}
}
