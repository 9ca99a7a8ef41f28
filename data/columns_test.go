package data_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
)

func table(t *testing.T, text string, options ...data.CSVOptions) *data.Table {
	t.Helper()
	read, err := data.ReadCSV(strings.NewReader(text), options...)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// column is the elements of a column of a type, or what is wrong with it.
func column[T data.Number](t *testing.T, text string) string {
	t.Helper()
	a, err := data.Columns[T](table(t, "x\n"+text+"\n"), "x")
	if err != nil {
		if !errors.Is(err, tensor.ErrFormat) {
			t.Errorf("err = %v", err)
		}
		return err.Error()
	}
	if a.Type() != tensor.TypeOf[T]() || !slices.Equal(a.Shape(), []int{a.Len(), 1}) {
		t.Errorf("%v of %v", a.Shape(), a.Type())
	}
	return fmt.Sprint(data.Elements[T](a))
}

// TestColumns: every type holds its least and its greatest number, and names what is beyond.
func TestColumns(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{column[bool](t, "true\nF\n1\n0"), "[true false true false]"}, {column[bool](t, "yes"), `"yes" is no bool: it is true or false`},
		{column[int8](t, "-128\n127"), "[-128 127]"}, {column[int8](t, "128"), `"128" is beyond int8, which holds -128 to 127`},
		{column[int16](t, "-32768\n+7"), "[-32768 7]"}, {column[int16](t, "-32769"), "beyond int16"},
		{column[int32](t, "2147483647"), "[2147483647]"}, {column[int32](t, "1.0"), `line 2, column "x": "1.0" is no whole number`},
		{column[int64](t, "-9223372036854775808\n9223372036854775807"), "[-9223372036854775808 9223372036854775807]"},
		{column[int64](t, "9223372036854775808"), "int64, which holds -9223372036854775808 to 9223372036854775807"},
		{column[int](t, "-5"), "[-5]"}, {column[uint8](t, "0\n255"), "[0 255]"}, {column[uint8](t, "-1"), `"-1" is no whole number`}, {column[uint8](t, "256"), "beyond uint8, which holds 0 to 255"},
		{column[uint16](t, "65535"), "[65535]"}, {column[uint32](t, "4294967295"), "[4294967295]"}, {column[uint32](t, "4294967296"), "beyond uint32"},
		{column[uint64](t, "18446744073709551615"), "[18446744073709551615]"}, {column[uint64](t, "18446744073709551616"), "uint64, which holds 0 to 18446744073709551615"},
		{column[float32](t, "0.1\n-3e38"), "[0.1 -3e+38]"}, {column[float32](t, "4e38"), `"4e38" is beyond the numbers of a float32`},
		{column[float64](t, "4e38"), "[4e+38]"}, {column[float64](t, "NaN"), `"NaN" is no finite number`}, {column[float64](t, "x"), `"x" is no number`},
		{column[float64](t, `""`), "a value is missing: see DropMissing and FillMissing"}, {column[float64](t, ""), "[]"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	two, err := data.Columns[float32](table(t, "a,b,c\n1,2,3\n4,5,6\n"), "c", "a")
	if err != nil || !slices.Equal(two.Shape(), []int{2, 2}) || !slices.Equal(data.Elements[float32](two), []float32{3, 1, 6, 4}) {
		t.Errorf("%v, err = %v", two, err)
	}
	if err := tensor.Try(func() { _, _ = data.Columns[int](table(t, "a\n1\n")) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("no column: err = %v", err)
	}
}

// TestMissing: values that are missing are found, left out or filled, and the table stays as it is.
func TestMissing(t *testing.T) {
	all := table(t, "a,b\n1,x\nNA,y\n3, \n?,NA\n", data.CSVOptions{Missing: []string{"NA", "?"}})
	missing, err := all.Missing("a")
	if err != nil || !slices.Equal(data.Elements[bool](missing), []bool{false, true, false, true}) {
		t.Errorf("%v, err = %v", missing, err)
	}
	for want, columns := range map[string][]string{`["1"] ["x"]`: nil, `["1" "3"] ["x" ""]`: {"a"}, `["1" ""] ["x" "y"]`: {"b"}} {
		kept, err := all.DropMissing(columns...)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := kept.Strings("a")
		b, _ := kept.Strings("b")
		if got := fmt.Sprintf("%q %q", a, b); got != want || kept.Len() != len(a) {
			t.Errorf("without those of %v: %s, want %s", columns, got, want)
		}
	}
	kept, err := all.DropMissing("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Ints("b"); err == nil || !strings.Contains(err.Error(), `line 2, column "b": "x"`) {
		t.Errorf("err = %v", err)
	}
	if _, _, err := kept.Labels("b"); err == nil || !strings.Contains(err.Error(), `line 4, column "b": a value is missing`) {
		t.Errorf("a line after one that was left out: err = %v", err)
	}
	filled, err := all.FillMissing("a", "-1")
	if err != nil {
		t.Fatal(err)
	}
	n, err := filled.Ints("a")
	if err != nil || !slices.Equal(data.Elements[int32](n), []int32{1, -1, 3, -1}) {
		t.Errorf("%v, err = %v", n, err)
	}
	if texts, _ := all.Strings("a"); !slices.Equal(texts, []string{"1", "", "3", ""}) {
		t.Errorf("the table is changed: %q", texts)
	}
	for name, f := range map[string]func() error{
		"Strings": func() error { _, err := all.Strings("c"); return err }, "Missing": func() error { _, err := all.Missing("c"); return err },
		"DropMissing": func() error { _, err := all.DropMissing("a", "c"); return err }, "FillMissing": func() error { _, err := all.FillMissing("c", ""); return err },
	} {
		if err := f(); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), `there is no column "c": there are ["a" "b"]`) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}
