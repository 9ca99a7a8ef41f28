package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/x448/float16"
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
		"wide":   {[]int{3, 0, 2}, []float64{}},
		"bools":  {[]int{3}, []bool{true, false, true}},
		"int16":  {[]int{2}, []int16{math.MinInt16, math.MaxInt16}},
		"int32":  {[]int{1, 2}, []int32{math.MinInt32, math.MaxInt32}},
		"int64":  {[]int{2, 1}, []int64{math.MinInt64, math.MaxInt64}},
		"uint32": {[]int{2}, []uint32{0, math.MaxUint32}},
		"uint64": {[]int{}, []uint64{math.MaxUint64}},
		"half":   {[]int{3}, []float16.Float16{0x3c00, 0x8001, 0x7c00}},
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
	for _, a := range []Array{{[]int{2}, []float32{1}}, {[]int{0, 3}, []float32{1}}, {[]int{1}, []string{"a"}}, {[]int{1}, []complex64{1}}, {[]int{}, nil}} {
		if err := Write(&bytes.Buffer{}, map[string]Array{"a": a}); err == nil {
			t.Errorf("Write(%v) succeeded", a)
		}
	}
}

// TestDamage flips and cuts every byte of a file: each is an error or leaves the contents intact.
func TestDamage(t *testing.T) {
	raw, want := encode(t, sample()), sample()
	for i := range raw {
		if _, err := Read(bytes.NewReader(raw[:i]), int64(i)); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: err = %v", i, err)
		}
		bad := bytes.Clone(raw)
		bad[i] ^= 0x55
		arrays, err := Read(bytes.NewReader(bad), int64(len(bad)))
		if err != nil && (!errors.Is(err, ErrFormat) || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("flip at %d: err = %v", i, err)
		}
		for name, a := range arrays { // whose name may be what is damaged
			if w, ok := want[name]; ok && !reflect.DeepEqual(a.Data, w.Data) {
				t.Fatalf("flip at %d: %s: got %v, want %v", i, name, a, w)
			}
		}
	}
}

// npyOf returns a .npy file with a header of this type and shape before the data.
func npyOf(kind, shape string, data []byte) []byte { return npyIn("False", kind, shape, data) }

// npyIn is npyOf with a word for whether it is in Fortran order.
func npyIn(fortran, kind, shape string, data []byte) []byte {
	text := "{'descr': '" + kind + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n"
	return append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(text)), byte(len(text) >> 8)})+text), data...)
}

// zipOf returns an archive of entries, of which names may be the same.
func zipOf(t testing.TB, entries ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i].(string))
		if err == nil {
			_, err = w.Write(entries[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lying returns an archive whose only entry claims a size and a checksum that are not its own.
func lying(t testing.TB, data []byte, claimed uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "a.npy", Method: zip.Store, CRC32: crc32.ChecksumIEEE(data),
		CompressedSize64: uint64(len(data)), UncompressedSize64: claimed})
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sharing returns an archive of two entries that are the same bytes.
func sharing(t testing.TB, data []byte) []byte {
	t.Helper()
	raw := zipOf(t, "a.npy", data)
	directory, end := bytes.Index(raw, []byte("PK\x01\x02")), bytes.LastIndex(raw, []byte("PK\x05\x06"))
	entry, tail := raw[directory:end], bytes.Clone(raw[end:])
	tail[8], tail[10] = 2, 2 // entries
	binary.LittleEndian.PutUint32(tail[12:], uint32(2*len(entry)))
	return slices.Concat(raw[:end], bytes.Replace(entry, []byte("a.npy"), []byte("b.npy"), 1), tail)
}

// TestRefused: sizes are compared to the byte, and before anything of that size is asked for.
func TestRefused(t *testing.T) {
	bomb := zipOf(t, "a.npy", npyOf("|u1", "(3,)", make([]byte, 1<<28)))
	spare := npyOf("<f4", "(2,)", make([]byte, 9))
	noise := make([]byte, 5000) // that deflate makes no smaller
	rand.NewChaCha8([32]byte{}).Read(noise)
	huge := npyOf("<f4", "(1000000000,)", make([]byte, 16))
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"too little data": {zipOf(t, "a.npy", npyOf("<f4", "(16,)", make([]byte, 10))), "shape [16] of float32 is 64 bytes, and there are 10"},
		"too much data":   {zipOf(t, "a.npy", npyOf("<f4", "(2,)", make([]byte, 9))), "8 bytes, and there are 9"},
		"a bomb":          {bomb, "3 bytes, and there are 268435456"},
		"twice":           {zipOf(t, "a.npy", npyOf("|u1", "(1,)", []byte{1}), "a.npy", npyOf("|u1", "(1,)", []byte{2})), `"a" is there twice`},
		"twice, one bare": {zipOf(t, "a.npy", npyOf("|u1", "(1,)", []byte{1}), "a", npyOf("|u1", "(1,)", []byte{2})), `"a" is there twice`},
		"a false size":    {lying(t, huge, uint64(len(huge))-16+4e9), "cannot hold"},
		"a size too low":  {lying(t, spare, uint64(len(spare))-1), "it extends past its end"},
		"shared bytes":    {sharing(t, npyOf("|u1", "(5000,)", noise)), "its entries claim more than the"},
		"an odd type":     {zipOf(t, "a.npy", npyOf("<c8", "(1,)", make([]byte, 8))), `array "a": complex64 does not fit: bool, int8 to int64`},
		"negative":        {zipOf(t, "a.npy", npyOf("<f4", "(-1,)", nil)), "impossible shape [-1]"},
		"negative twice":  {zipOf(t, "a.npy", npyOf("<f4", "(-1, -1)", make([]byte, 4))), "impossible shape [-1 -1]"},
		"overflowing":     {zipOf(t, "a.npy", npyOf("<f4", "(4294967296, 4294967296)", nil)), "impossible shape"},
		"a long header":   {zipOf(t, "a.npy", []byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f")), "a header of 2147483647 bytes"},
		"no array":        {zipOf(t, "readme.txt", []byte("hello")), "does not begin"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(c.raw), int64(len(c.raw)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<22 {
			t.Errorf("%s: %d bytes were asked for", name, took)
		}
	}
}

// TestFolders: entries for folders, as zip -r writes them, are no arrays. NumPy passes over them,
// too.
func TestFolders(t *testing.T) {
	raw := zipOf(t, "layers/", []byte{}, "layers/a.npy", npyOf("|u1", "(2,)", []byte{1, 2}))
	arrays, err := Read(bytes.NewReader(raw), int64(len(raw)))
	if want := (Array{[]int{2}, []uint8{1, 2}}); err != nil || len(arrays) != 1 || !reflect.DeepEqual(arrays["layers/a"], want) {
		t.Errorf("%v, %v", arrays, err)
	}
}

// TestNoDictionary: a header that is none is an error in words, whatever it is instead.
func TestNoDictionary(t *testing.T) {
	for _, text := range []string{"", "[1, 2]", "{}", "{'descr': 1}", "None", "{'descr': '<f4', 'shape': 3}", "('descr', )", "\xff\xfe{}", "{'descr': '<f4', 'fortran_order': False, 'shape': [}"} {
		raw := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), 0)
		_, err := ReadOne(append(raw, text...))
		if !errors.Is(err, ErrFormat) || strings.Contains(err.Error(), "runtime") || strings.Contains(err.Error(), "strconv") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestReadStream: of a stream that never ends no more is read than its header says.
func TestReadStream(t *testing.T) {
	zeros := zeroes{}
	for _, c := range []struct {
		head []byte
		say  string
	}{
		{nil, "does not begin"},
		{npyOf("|u1", "(3,)", nil), "3 bytes, and there are "},
		{npyOf("|u1", "(300000,)", nil), "300000 bytes, and there are 300001"},
	} {
		if _, err := ReadStream(io.MultiReader(bytes.NewReader(c.head), zeros)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%q: %v", c.say, err)
		}
	}
	for _, n := range []int{0, 3, 300000} {
		raw := npyOf("|u1", fmt.Sprintf("(%d,)", n), make([]byte, n))
		if a, err := ReadStream(bytes.NewReader(raw)); err != nil || len(a.Data.([]uint8)) != n {
			t.Errorf("%d: %v", n, err)
		}
		if _, err := ReadStream(iotest.TimeoutReader(iotest.HalfReader(bytes.NewReader(raw)))); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("a reader that fails: %v", err)
		}
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestArchive: what is there is known before it is read.
func TestArchive(t *testing.T) {
	raw := encode(t, sample())
	a, err := Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := a.Header("cube"); !ok || h.Type != "<f4" || !reflect.DeepEqual(h.Shape, []int{2, 1, 3}) || h.Bytes() != 24 {
		t.Errorf("cube: %+v", h)
	}
	if _, ok := a.Header("none of these"); ok || len(a.Names()) != len(sample()) || a.Bytes() != 8+12+48+24+4+4+4+3+4+8+16+8+8+6 {
		t.Errorf("%v, %d bytes", a.Names(), a.Bytes())
	}
	if _, err := a.Read("none of these"); !errors.Is(err, ErrFormat) {
		t.Errorf("err = %v", err)
	}
}

// TestForeign: types that are not read are named in one voice.
func TestForeign(t *testing.T) {
	for kind, name := range map[string]string{"<c16": "complex128", ">c8": "complex64", "<c32": "complex numbers", "|S5": "bytes", "<U3": "text",
		"|O": "Python objects", "<M8[ns]": "dates", "<m8": "time spans", "|V12": "records", "<f16": "long floats", "|f4": `the type "|f4"`, "=f4": `the type "=f4"`,
		"<i3": `the type "<i3"`, "": `the type ""`, "<": `the type "<"`} {
		_, err := ReadOne(npyOf(kind, "(1,)", make([]byte, 8)))
		if want := name + " does not fit: bool, int8 to int64, uint8 to uint64, float16, float32 and float64 are read"; !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: err = %v, want %q", kind, err, want)
		}
	}
	records := "\x93NUMPY\x01\x00\x76\x00" + fmt.Sprintf("%-117s\n", "{'descr': [('x', '<f4'), ('y', '<i4')], 'fortran_order': False, 'shape': (2,), }") + strings.Repeat("\x00", 16)
	if _, err := ReadOne([]byte(records)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("records: err = %v", err)
	}
}

// TestOrders: big-endian numbers and arrays in Fortran order are those of their little-endian ones
// in C order.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		kind, data string
		want       any
	}{
		{">i2", "\x01\x02\xff\xfe", []int16{0x102, -2}}, {">u4", "\x01\x02\x03\x04\xff\xff\xff\xff", []uint32{0x1020304, math.MaxUint32}},
		{">f2", "\x3c\x00\xc0\x00", []float16.Float16{0x3c00, 0xc000}}, {">f4", "\x3f\x80\x00\x00\xc0\x00\x00\x00", []float32{1, -2}},
		{">f8", "\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00", []float64{1, -2}},
		{"<u8", "\x01\x00\x00\x00\x00\x00\x00\x80\x02\x00\x00\x00\x00\x00\x00\x00", []uint64{1<<63 + 1, 2}},
		{">b1", "\x00\x01", []bool{false, true}}, {"<u1", "\x00\xff", []uint8{0, 255}},
	} {
		if a, err := ReadOne(npyOf(c.kind, "(2,)", []byte(c.data))); err != nil || !reflect.DeepEqual(a.Data, c.want) {
			t.Errorf("%s: %v, want %v (err %v)", c.kind, a.Data, c.want, err)
		}
	}
	fortran := func(shape, data string) []byte { return npyIn("True", "|u1", shape, []byte(data)) }
	for shape, want := range map[string]string{"(2, 3)": "acebdf", "(3, 2)": "adbecf", "(1, 2, 3)": "acebdf", "(2, 1, 3)": "acebdf", "(6,)": "abcdef"} {
		if a, err := ReadOne(fortran(shape, "abcdef")); err != nil || string(a.Data.([]uint8)) != want {
			t.Errorf("%s in Fortran order: %s, want %s (err %v)", shape, a.Data, want, err)
		}
	}
	for shape, data := range map[string]string{"()": "a", "(0, 3)": "", "(3, 0)": ""} {
		if a, err := ReadOne(fortran(shape, data)); err != nil || string(a.Data.([]uint8)) != data {
			t.Errorf("%s in Fortran order: %v (err %v)", shape, a, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Add(lying(f, npyOf("<f4", "(4,)", make([]byte, 16)), 1<<20))
	f.Add(zipOf(f, "a.npy", npyOf("|i1", "(3,)", []byte{1, 2, 3}), "a", npyOf("|u1", "()", []byte{1})))
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
	f.Add(npyOf(">i8", "(1,)", make([]byte, 8)))
	f.Add(npyIn("True", "<f2", "(2, 3)", make([]byte, 12)))
	f.Fuzz(func(t *testing.T, raw []byte) { _, _ = decode(raw) })
}

// TestFirstDamaged: of several entries that are damaged, the error names the first, every time.
func TestFirstDamaged(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"d", "b", "a", "c"} {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write([]byte("no array"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len())); err == nil || !strings.Contains(err.Error(), `array "d"`) {
			t.Fatalf("Open: %v, want an error of array d", err)
		}
	}
}
