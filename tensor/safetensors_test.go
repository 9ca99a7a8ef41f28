package tensor_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSafetensorsTypes: tensors of every type and shape, views among them, come back as they were,
// with the metadata.
func TestSafetensorsTypes(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		want := tensor.Dict{"ends of Int32": devtest.New(d, []int32{math.MinInt32, math.MaxInt32}),
			"ends of Float16": devtest.New(d, []float64{math.Inf(1), 65504, 0x1p-24, math.NaN()}).To(tensor.Float16)}
		for _, typ := range types {
			x := devtest.New(d, []uint8{0, 1, 2, 3, 250, 255}, 2, 3).To(typ)
			want["whole of "+typ.String()] = x
			want["transpose of "+typ.String()] = x.T()
			want["repeated "+typ.String()] = x.Slice(0, 1, 2).Expand(4, 3)
			want["scalar of "+typ.String()] = x.Slice(0, 1, 2).Slice(1, 1, 2).Reshape()
			want["nothing of "+typ.String()] = x.Slice(0, 1, 1)
			want["no row of "+typ.String()] = tensor.ZerosOf(d, typ, 2, 0, 3)
		}
		metadata := map[string]string{"format": "pt", "ü": "\n"}
		path := filepath.Join(t.TempDir(), "x.safetensors")
		for _, checksum := range []bool{false, true} {
			if err := tensor.SaveSafetensors(path, want, tensor.SafetensorsOptions{Metadata: metadata, Checksum: checksum}); err != nil {
				t.Fatal(err)
			}
			got, said, err := tensor.LoadSafetensors(d, path)
			if err != nil || len(got) != len(want) {
				t.Fatal(err)
			}
			if (said["clgrad.sha256"] != "") != checksum {
				t.Errorf("metadata %q", said)
			}
			if delete(said, "clgrad.sha256"); !maps.Equal(said, metadata) {
				t.Errorf("metadata %q", said)
			}
			for name, w := range want {
				if g := got[name]; g.Type() != w.Type() || !slices.Equal(g.Shape(), w.Shape()) || !sameNumbers(devtest.Float64s(t, g), devtest.Float64s(t, w)) {
					t.Errorf("%s: %v %v, want %v %v", name, g, devtest.Float64s(t, g), w, devtest.Float64s(t, w))
				}
			}
		}
	})
}

func safetensorsFile(name string) string {
	return filepath.Join("..", "testdata", "safetensors", name+".safetensors")
}

// TestSafetensorsFits: what other programs write keeps its type; of what is refused nothing is left
// behind.
func TestSafetensorsFits(t *testing.T) {
	devtest.Uncollected(t)
	d, f64 := devtest.Open(t, "cpu", tensor.Options{}), devtest.CPU(t)
	got, metadata, err := tensor.LoadSafetensors(d, safetensorsFile("types"))
	if err != nil || metadata["wörter"] != "„so“ \\ \n" || len(got) != 15 {
		t.Fatalf("%v, metadata %q, err = %v", got, metadata, err)
	}
	const low, high = math.MinInt32, math.MaxInt32
	floats := []float64{0.5, -2, math.Inf(1), math.Inf(-1), math.NaN(), 0x1p-14}
	for name, want := range map[string]struct {
		typ    tensor.Type
		values []float64
	}{
		"types.BOOL": {tensor.Bool, []float64{1, 0, 0, 1, 1, 0}}, "types.U8": {tensor.Uint8, []float64{0, 255, 0, 1, 2, 3}}, "types.I8": {tensor.Int8, []float64{-128, 127, 0, 1, 2, 3}},
		"types.I16": {tensor.Int16, []float64{-32768, 32767, 0, 1, 2, 3}}, "types.U16": {tensor.Uint16, []float64{0, 65535, 0, 1, 2, 3}}, "types.I32": {tensor.Int32, []float64{low, high, 0, 1, 2, 3}},
		"types.U32": {tensor.Uint32, []float64{0, high, 0, 1, 2, 3}}, "types.I64": {tensor.Int64, []float64{low, high, 0, 1, 2, 3}}, "types.U64": {tensor.Uint64, []float64{0, high, 0, 1, 2, 3}},
		"types.F16": {tensor.Float16, floats}, "types.BF16": {tensor.BFloat16, floats}, "types.F32": {tensor.Float32, floats}, "types.F64": {tensor.Float64, floats},
	} {
		if x := got[name]; x.Type() != want.typ || !slices.Equal(x.Shape(), []int{2, 3}) || !sameNumbers(devtest.Float64s(t, x), want.values) {
			t.Errorf("%s: %v %v, want %v of %v", name, x, devtest.Float64s(t, x), want.values, want.typ)
		}
	}
	if s, n := got["scalar"], got["nothing"]; s.Rank() != 0 || devtest.Float64s(t, s)[0] != 42 || n.Type() != tensor.Int32 || !slices.Equal(n.Shape(), []int{0, 3}) {
		t.Errorf("%v, %v", s, n)
	}
	if got, _, err := tensor.LoadSafetensors(f64, safetensorsFile("unordered")); err != nil || devtest.Float64s(t, got["größe"])[0] != 0.1 {
		t.Errorf("%v, err = %v", got, err)
	}
	deep := `{"x":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}`
	before := d.Stats().LiveBytes
	for _, c := range []struct {
		raw []byte
		say string
	}{
		{append(binary.LittleEndian.AppendUint64(nil, uint64(len(deep))), deep+"a"...), `tensor "x": shape [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1] does not fit: a tensor has at most 16 axes`},
		{nil, "it has 0 bytes"},
	} {
		if got, _, err := tensor.ReadSafetensors(d, bytes.NewReader(c.raw), int64(len(c.raw))); got != nil || !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v, err = %v, want %q", got, err, c.say)
		}
	}
	if now := d.Stats().LiveBytes; now != before {
		t.Errorf("%d bytes live before, %d after", before, now)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSafetensorsRefused: a checksum that is wrong, and what is no file, are errors; what cannot be
// written leaves the file that was there.
func TestSafetensorsRefused(t *testing.T) {
	d := devtest.CPU(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "x.safetensors")
	dict := tensor.Dict{"x": tensor.Scalar(d, 1)}
	if err := tensor.SaveSafetensors(path, dict, tensor.SafetensorsOptions{Checksum: true}); err != nil {
		t.Fatal(err)
	}
	raw := read(t, path)
	raw[len(raw)-1] ^= 1
	if _, _, err := tensor.ReadSafetensors(d, bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("err = %v", err)
	}
	for name, want := range map[string]error{dir: nil, filepath.Join(dir, "none"): os.ErrNotExist} {
		_, _, err := tensor.LoadSafetensors(d, name)
		if err == nil || errors.Is(err, tensor.ErrFormat) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	want := read(t, path)
	for name, bad := range map[string]tensor.Dict{"name": {"\xff": dict["x"]}, "reserved": {"__metadata__": dict["x"]}} {
		if err := tensor.SaveSafetensors(path, bad); err == nil || !bytes.Equal(read(t, path), want) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	freed := tensor.Scalar(d, 1)
	freed.Free()
	for name, c := range map[string]struct {
		f    func()
		kind error
	}{
		"freed": {func() { _ = tensor.SaveSafetensors(path, tensor.Dict{"x": freed}) }, tensor.ErrFreed},
		"nil":   {func() { _ = tensor.SaveSafetensors(path, tensor.Dict{"x": nil}) }, tensor.ErrValue},
		"options": {func() {
			_ = tensor.SaveSafetensors(path, dict, tensor.SafetensorsOptions{}, tensor.SafetensorsOptions{})
		}, tensor.ErrValue},
		"device": {func() { _, _, _ = tensor.LoadSafetensors(nil, path) }, tensor.ErrValue},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !bytes.Equal(read(t, path), want) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v are left behind", entries)
	}
}

// TestSafetensorsNumPy: a program of ten lines that follows the description of the format reads
// what is written here. Without NumPy it is skipped, unless CLGRAD_REQUIRE_NUMPY is set.
func TestSafetensorsNumPy(t *testing.T) {
	python := "/usr/bin/python3"
	if out, err := devtest.Command(t, python, "-c", "import numpy").CombinedOutput(); err != nil {
		if os.Getenv("CLGRAD_REQUIRE_NUMPY") != "" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skip("no NumPy here")
	}
	const program = `
import hashlib, json, struct, sys
import numpy as np
raw = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", raw[:8])
header, data = json.loads(raw[8:8 + n].decode()), raw[8 + n:]
assert n % 8 == 0
metadata = header.pop("__metadata__")
claimed = metadata.pop("clgrad.sha256")
bare = json.dumps({"__metadata__": metadata, **header}, separators=(",", ":"), ensure_ascii=False).encode()
assert claimed == hashlib.sha256(bare + data).hexdigest()
assert metadata == {"format": "pt", "text": "<&>\n\u00fc"}, metadata
end = 0
for name, e in header.items():
    kind, _, form = name.partition(" ")
    begin, end = (end, e["data_offsets"][1])
    assert e["data_offsets"][0] == begin
    dtype = np.dtype({"F64": "<f8", "F32": "<f4", "F16": "<f2", "I32": "<i4", "U8": "u1"}[e["dtype"]])
    assert begin % dtype.itemsize == 0, name
    got = np.frombuffer(data[begin:end], dtype).reshape(e["shape"])
    want = np.arange(6).reshape(2, 3).astype(kind)
    want = {"whole": want, "transposed": want.T, "scalar": want[1, 2], "nothing": want[:, 3:]}[form]
    assert got.dtype == kind and got.shape == want.shape and (got == want).all(), name
assert end == len(data) and len(header) == 16, header
`
	d := devtest.CPU(t)
	dict := tensor.Dict{}
	for kind, typ := range map[string]tensor.Type{"float64": d.DefaultType(), "int32": tensor.Int32, "uint8": tensor.Uint8, "float16": tensor.Float16} {
		x := devtest.New(d, []uint8{0, 1, 2, 3, 4, 5}, 2, 3).To(typ)
		dict[kind+" whole"], dict[kind+" transposed"], dict[kind+" nothing"] = x, x.T(), x.Slice(1, 3, 3)
		dict[kind+" scalar"] = x.Reshape(6).Slice(0, 5, 6).Reshape()
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := tensor.SaveSafetensors(path, dict, tensor.SafetensorsOptions{Metadata: map[string]string{"format": "pt", "text": "<&>\nü"}, Checksum: true}); err != nil {
		t.Fatal(err)
	}
	if out, err := devtest.Command(t, python, "-c", program, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// FuzzReadSafetensors: whatever a file holds, it is read or refused by ErrFormat, and no memory is
// left behind.
func FuzzReadSafetensors(f *testing.F) {
	d := devtest.Open(f, "cpu", tensor.Options{})
	for _, name := range []string{"types", "unordered", "beyond", "empty"} {
		raw, err := os.ReadFile(safetensorsFile(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := d.Stats().LiveBytes
		dict, _, err := tensor.ReadSafetensors(d, bytes.NewReader(raw), int64(len(raw)))
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
