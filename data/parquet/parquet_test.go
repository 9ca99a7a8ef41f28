package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/data/parquet"
	"github.com/clgrad/clgrad/tensor"
)

func open(t testing.TB, name string) *parquet.File {
	t.Helper()
	f, err := parquet.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// column is the elements of a column of a type, or what is wrong with it.
func column[T data.Number](t *testing.T, f *parquet.File, name string) string {
	t.Helper()
	a, err := parquet.Columns[T](f, name)
	if err != nil {
		if !errors.Is(err, tensor.ErrFormat) {
			t.Errorf("err = %v", err)
		}
		return err.Error()
	}
	if !slices.Equal(a.Shape(), []int{f.Len(), 1}) || a.Type() != tensor.TypeOf[T]() {
		t.Errorf("%s: %v of %v", name, a.Shape(), a.Type())
	}
	return fmt.Sprint(data.Elements[T](a))
}

// TestTypes: what pyarrow wrote of every type; testdata/make.py has it. What a type does not hold is
// named with its row.
func TestTypes(t *testing.T) {
	f := open(t, "types.parquet")
	full := func(column string, with any) *parquet.File {
		t.Helper()
		filled, err := f.FillMissing(column, with)
		if err != nil {
			t.Fatal(err)
		}
		return filled
	}
	for _, c := range []struct{ got, want string }{
		{column[bool](t, full("bool", true), "bool"), "[true false true true false]"}, {column[float32](t, full("bool", 0.5), "bool"), "[1 0 1 0.5 0]"},
		{column[int8](t, f, "i8"), "[-128 127 0 1 2]"}, {column[int16](t, f, "i16"), "[-32768 32767 0 1 2]"}, {column[int32](t, f, "i32"), "[-2147483648 2147483647 0 1 2]"},
		{column[int64](t, f, "i64"), "[-9223372036854775808 9223372036854775807 0 1 2]"}, {column[int](t, f, "i8"), "[-128 127 0 1 2]"},
		{column[uint8](t, f, "u8"), "[0 255 1 2 3]"}, {column[uint16](t, f, "u16"), "[0 65535 1 2 3]"}, {column[uint32](t, f, "u32"), "[0 4294967295 1 2 3]"},
		{column[uint64](t, f, "u64"), "[0 18446744073709551615 1 2 3]"}, {column[float32](t, f, "f16"), "[0.5 -2 65504 0 1]"},
		{column[float32](t, full("f32", -1), "f32"), "[0.1 -2 3e+38 -1 1]"}, {column[float64](t, full("small", 7), "small"), "[1.25 -0.01 0 7 9.99999999e+06]"},
		{column[float64](t, full("large", 7), "large"), "[1.25 -0.001 0 7 1.2345678901234568e+18]"}, {column[int32](t, full("date", 0), "date"), "[1 -1 10957 0 0]"},
		{column[int64](t, full("time", 5), "time"), "[1000000 946684800000000 5 5 0]"}, {column[uint8](t, full("group.a", 3), "group.a"), "[1 2 3 4 5]"},
		{column[int32](t, full("nothing", 9), "nothing"), "[9 9 9 9 9]"}, {column[int16](t, f, "f16"), `types.parquet: column "f16": row 0: 0.5 is no int16`},
		{column[int8](t, f, "i16"), `column "i16": row 0: -32768 is no int8`}, {column[uint64](t, f, "i64"), "row 0: -9223372036854775808 is no uint64"},
		{column[int64](t, f, "u64"), "row 1: 18446744073709551615 is no int64"}, {column[bool](t, f, "u8"), "row 1: 255 is no bool"}, {column[uint8](t, f, "u16"), "row 1: 65535 is no uint8"},
		{column[float32](t, full("f64", 0), "f64"), "row 2: 1e+308 is no float32"}, {column[float64](t, full("f64", 0), "f64"), "row 4: +Inf is no float64"},
		{column[float64](t, f, "f64"), `row 1: a value is missing: see DropMissing and FillMissing`}, {column[int32](t, f, "text"), `row 0: "b" is text: see Labels and Strings`},
		{column[int32](t, f, "list.list.element"), `column "list.list.element" is of lists, which are not read`}, {column[int32](t, f, "x"), `there is no column "x": there are ["bool" "i8"`},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	for name, want := range map[string]string{"text": "[b a  b ä]", "group.b": "[x   y z]", "f32": "[0.1 -2 3e+38  1]", "small": "[1.25 -0.01 0.00  9999999.99]", "u64": "[0 18446744073709551615 1 2 3]", "bool": "[true false true  false]"} {
		if texts, err := f.Strings(name); fmt.Sprint(texts) != want || err != nil {
			t.Errorf("%s: %v, want %s (err %v)", name, texts, want, err)
		}
	}
	var types []string
	for _, c := range f.Columns() {
		types = append(types, c.Type)
		if !c.Nullable {
			t.Errorf("%s is not nullable", c.Name)
		}
	}
	if got := strings.Join(types, " "); !strings.HasPrefix(got, "BOOLEAN INT(8,true)") || !strings.Contains(got, "FLOAT16 FLOAT DOUBLE STRING DATE TIMESTAMP") {
		t.Error(got)
	}
	if old := column[int64](t, must(t)(open(t, "int96.parquet").FillMissing("time", 5)), "time"); old != "[1000000000 946684800000000000 5 5 0]" {
		t.Errorf("times of 96 bits: %s", old)
	}
	two, err := parquet.Columns[float32](f, "u8", "i8")
	if err != nil || !slices.Equal(two.Shape(), []int{5, 2}) || !slices.Equal(data.Elements[float32](two)[:4], []float32{0, -128, 255, 127}) {
		t.Errorf("%v, err = %v", two.Shape(), err)
	}
}

func must(t *testing.T) func(*parquet.File, error) *parquet.File {
	return func(f *parquet.File, err error) *parquet.File {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

// TestCodecs: numbers and text in every compression and version of pages, whole and by row group.
func TestCodecs(t *testing.T) {
	paths, err := filepath.Glob("testdata/*-v*.parquet")
	if err != nil || len(paths) != 12 {
		t.Fatalf("%v, err = %v", paths, err)
	}
	for _, path := range append(paths, "testdata/delta.parquet") {
		if strings.HasPrefix(filepath.Base(path), "lz4") {
			if _, err := parquet.Open(path); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), "LZ4") {
				t.Errorf("%s: err = %v", path, err)
			}
			continue
		}
		f := open(t, filepath.Base(path))
		rows := f.Len()
		n, err := parquet.Columns[int32](f, "n")
		if err != nil || rows != 600 && rows != 9 {
			t.Fatal(path, rows, err)
		}
		kinds, classes, err := f.Labels("kind")
		if err != nil || len(classes) != min(2, rows) || classes[0] != "blue" {
			t.Fatal(path, classes, err)
		}
		for i, v := range data.Elements[int32](n) {
			if label := data.Elements[int32](kinds)[i]; int(v) != i || (label == 0) != (i%7 == 0) {
				t.Fatalf("%s: row %d is %d, %d", path, i, v, label)
			}
		}
		at := 0
		for g := range f.Groups() {
			part, err := parquet.Columns[int32](f.Group(g), "n")
			if err != nil || part.Len() != f.Group(g).Len() || int(data.Elements[int32](part)[0]) != at {
				t.Fatalf("%s: group %d: %v", path, g, err)
			}
			at += part.Len()
		}
		if at != rows {
			t.Errorf("%s: %d rows in groups", path, at)
		}
	}
	f := open(t, "empty.parquet")
	n, err := parquet.Columns[int32](f, "n")
	labels, classes, err2 := f.Labels("kind")
	if err != nil || err2 != nil || n.Len() != 0 || labels.Len() != 0 || len(classes) != 0 || f.Len() != 0 {
		t.Errorf("no rows: %v %v, %v %v", n.Shape(), classes, err, err2)
	}
	if none, err := f.DropMissing(); err != nil || none.Len() != 0 {
		t.Errorf("no rows: %d, err = %v", none.Len(), err)
	}
}

// TestMissing: values that are missing are found, left out or filled, in any order, and the file stays
// as it is.
func TestMissing(t *testing.T) {
	f := open(t, "types.parquet")
	missing, err := f.Missing("f64")
	if err != nil || !slices.Equal(data.Elements[bool](missing), []bool{false, true, false, true, false}) {
		t.Errorf("%v, err = %v", missing, err)
	}
	for want, columns := range map[string][]string{"[-128 2]": {"text", "f64"}, "[-128 127 1 2]": {"text"}, "[]": {"nothing"}, "[-128 127 0 1 2]": {"i8"}} {
		kept := must(t)(f.DropMissing(columns...))
		if got := column[int32](t, kept, "i8"); got != want {
			t.Errorf("without those of %v: %s, want %s", columns, got, want)
		}
		again := f
		for _, c := range columns {
			again = must(t)(again.DropMissing(c))
		}
		if got := column[int32](t, again, "i8"); got != want || again.Len() != kept.Len() {
			t.Errorf("one by one of %v: %s, want %s", columns, got, want)
		}
	}
	if all := must(t)(f.DropMissing()); all.Len() != 0 {
		t.Errorf("%d rows are whole", all.Len())
	}
	both := must(t)(must(t)(must(t)(f.DropMissing("text")).FillMissing("f32", 0)).FillMissing("f32", 8))
	if got := column[float64](t, both, "f32"); got != "[0.10000000149011612 -2 8 1]" {
		t.Error(got)
	}
	if got := column[float32](t, both.Group(1), "f32"); got != "[8]" {
		t.Error(got)
	}
	if got := must(t)(both.DropMissing("f32")).Len(); got != 4 {
		t.Errorf("%d rows after a fill", got)
	}
	if y, classes, err := must(t)(f.FillMissing("text", "none")).Labels("text", "b", "a", "none", "ä"); err != nil || fmt.Sprint(data.Elements[int32](y)) != "[0 1 2 0 3]" || len(classes) != 4 {
		t.Errorf("%v, err = %v", classes, err)
	}
	for says, get := range map[string]func() error{
		`column "text": row 2: a value is missing`:               func() error { _, _, err := f.Labels("text"); return err },
		`column "text": row 1: "a" is none of the classes ["b"]`: func() error { _, _, err := f.Labels("text", "b"); return err },
		`column "f64": row 4: +Inf`:                              func() error { _, err := parquet.Columns[float64](must(t)(f.DropMissing("f64")), "f64"); return err },
		"there is no column \"x\"":                               func() error { _, err := f.Missing("x"); return err },
		"there is no column \"y\"":                               func() error { _, err := f.FillMissing("y", 1); return err },
		"there is no column \"z\"":                               func() error { _, err := f.DropMissing("z"); return err },
	} {
		if err := get(); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
	for says, c := range map[string]struct {
		kind error
		f    func()
	}{
		"name a column":            {tensor.ErrValue, func() { _, _ = parquet.Columns[int](f) }},
		"row group 3 of 3":         {tensor.ErrIndex, func() { f.Group(3) }},
		`class "a" is there twice`: {tensor.ErrValue, func() { _, _, _ = f.Labels("text", "a", "a") }},
		"1 of type uint8":          {tensor.ErrType, func() { _, _ = f.FillMissing("i8", uint8(1)) }},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
}

// readAll reads all columns in several types.
func readAll(f *parquet.File) error {
	for _, c := range f.Columns() {
		if _, err := f.Strings(c.Name); err != nil {
			return err
		}
		if _, err := parquet.Columns[float64](f, c.Name); err != nil && !errors.Is(err, tensor.ErrFormat) {
			return err
		}
	}
	_, err := f.DropMissing()
	return err
}

// TestDamaged: a file that is cut, or has a byte changed, is read or refused by tensor.ErrFormat.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"snappy-v1", "none-v2", "zstd-v1", "delta"} {
		good, err := os.ReadFile(filepath.Join("testdata", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, raw []byte) bool {
			t.Helper()
			f, err := parquet.New(bytes.NewReader(raw), int64(len(raw)))
			if err == nil {
				if f.Len() > 1e6 { // many nulls are few bytes
					return false
				}
				err = readAll(f)
			}
			if err != nil && !errors.Is(err, tensor.ErrFormat) {
				t.Errorf("%s, %s: err = %v", name, what, err)
			}
			return err != nil
		}
		for n := 0; n < len(good); n += 1 + len(good)/60 {
			if !try(fmt.Sprintf("cut to %d bytes", n), good[:n]) {
				t.Errorf("%s: cut to %d bytes, it is read", name, n)
			}
		}
		found := 0
		for i := 0; i < len(good); i += 1 + len(good)/300 {
			bad := bytes.Clone(good)
			bad[i] ^= 0x55
			if try(fmt.Sprintf("byte %d changed", i), bad) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: no changed byte is found", name)
		}
	}
	for says, raw := range map[string]string{
		"it is too short": "PAR1", "it does not end with PAR1": "PAR1 and something else", "it is encrypted": "PAR1\x00\x00\x00\x00PARE",
		"its footer has 4294967295 bytes": "PAR1\xff\xff\xff\xffPAR1",
	} {
		if _, err := parquet.New(strings.NewReader(raw), int64(len(raw))); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err = %v", says, err)
		}
	}
	path := filepath.Join(t.TempDir(), "bad.parquet")
	if err := os.WriteFile(path, []byte("no Parquet file at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := parquet.Open(path); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
	if _, err := parquet.Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	if _, err := parquet.Open(t.TempDir()); err == nil || errors.Is(err, tensor.ErrFormat) {
		t.Errorf("a folder: err = %v", err)
	}
}

// failing is a disk that fails from a place on, once it is broken.
type failing struct {
	io.ReaderAt
	broken *bool
}

var errDisk = errors.New("disk error")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if *f.broken {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestDiskFails: an error of reading is that, and not one of the file.
func TestDiskFails(t *testing.T) {
	good, err := os.ReadFile("testdata/snappy-v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	broken := true
	disk := failing{bytes.NewReader(good), &broken}
	if _, err := parquet.New(disk, int64(len(good))); !errors.Is(err, errDisk) || errors.Is(err, tensor.ErrFormat) {
		t.Errorf("err = %v", err)
	}
	broken = false
	f, err := parquet.New(disk, int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	if _, err := parquet.Columns[int32](f, "n"); !errors.Is(err, errDisk) || errors.Is(err, tensor.ErrFormat) {
		t.Errorf("err = %v", err)
	}
}
