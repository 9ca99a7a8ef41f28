package data_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

const flowers = "\uFEFFlength, width ,\"kind\",n\r\n5.1,3.5,setosa,1\r\n\r\n 4.9 ,-3e0,\"iris, blue\"\"\nor so\",-2\r\n7,.5,setosa,2147483647\r\n"

// TestCSV: columns by name become floats, whole numbers and labels, whatever spaces, quotes and ends
// of lines there are.
func TestCSV(t *testing.T) {
	d := devtest.CPU(t)
	table, err := data.ReadCSV(strings.NewReader(flowers))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Columns(), []string{"length", "width", "kind", "n"}) || table.Len() != 3 {
		t.Errorf("%q, %d rows", table.Columns(), table.Len())
	}
	x, err := table.Floats("width", "length")
	if err != nil {
		t.Fatal(err)
	}
	if x := x.Tensor(d); !slices.Equal(x.Shape(), []int{3, 2}) || fmt.Sprint(devtest.Float64s(t, x)) != "[3.5 5.1 -3 4.9 0.5 7]" {
		t.Errorf("%v %v", x, devtest.Float64s(t, x))
	}
	n, err := table.Ints("n")
	if err != nil {
		t.Fatal(err)
	}
	if n := n.Tensor(d); n.Type() != tensor.Int32 || fmt.Sprint(devtest.Float64s(t, n)) != "[1 -2 2.147483647e+09]" {
		t.Errorf("%v %v", n, devtest.Float64s(t, n))
	}
	y, classes, err := table.Labels("kind")
	if err != nil || !slices.Equal(classes, []string{"iris, blue\"\nor so", "setosa"}) || fmt.Sprint(devtest.Float64s(t, y.Tensor(d))) != "[1 0 1]" {
		t.Errorf("%q, err = %v", classes, err)
	}
	y, _, err = table.Labels("kind", "setosa", "none", classes[0])
	if err != nil || fmt.Sprint(devtest.Float64s(t, y.Tensor(d))) != "[0 2 0]" {
		t.Errorf("given classes: err = %v", err)
	}
	tabs, err := data.ReadCSV(strings.NewReader("1\t\ta\n2\t3\tb"), data.CSVOptions{Comma: '\t', NoHeader: true})
	if err != nil || !slices.Equal(tabs.Columns(), []string{"0", "1", "2"}) {
		t.Fatalf("%v, err = %v", tabs, err)
	}
	if _, err := tabs.Ints("1"); err == nil || !strings.Contains(err.Error(), `line 1, column "1": a value is missing`) {
		t.Errorf("err = %v", err)
	}
	if one, err := tabs.Ints("0"); err != nil || one.Len() != 2 {
		t.Errorf("err = %v", err)
	}
	none, err := data.ReadCSV(strings.NewReader("a,b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if x, err := none.Floats("b"); err != nil || !slices.Equal(x.Shape(), []int{0, 1}) {
		t.Errorf("no rows: %v, err = %v", x.Shape(), err)
	}
}

// TestCSVRefused: what is wrong is named by line and column, in plain words.
func TestCSVRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, say string }{
		"empty":         {"", "it is empty"},
		"blank":         {"\n\n", "it is empty"},
		"short":         {"a,b\n1,2\n\n3\n", "line 4: it has 1 fields, the first row 2"},
		"long":          {"a,b\n1,2,3\n", "line 2: it has 3 fields, the first row 2"},
		"quote":         {"a,b\n1,2\"\n", "line 2: a quote stands inside of a field that does not begin with one"},
		"open quote":    {"a,b\n1,\"2\n3,4\n", "line 2: a field that begins with a quote does not end with one"},
		"twice":         {"a,b, a\n", `two columns are named "a"`},
		"text":          {"x,n,l\n1,1,a\nabc,1,a\n", `line 3, column "x": "abc" is no number`},
		"missing":       {"x,n,l\n1,1,a\n ,1,a\n", `line 3, column "x": a value is missing`},
		"after lines":   {"x,n,l\n1,1,\"a\n\nb\"\n,1,a\n", `line 5, column "x": a value is missing`},
		"NaN":           {"x,n,l\nNaN,1,a\n", `line 2, column "x": "NaN" is no finite number`},
		"infinite":      {"x,n,l\n-inf,1,a\n", `"-inf" is no finite number`},
		"beyond":        {"x,n,l\n1e400,1,a\n", `"1e400" is beyond the numbers of a float64`},
		"comma":         {"x,n,l\n\"1,5\",1,a\n", `"1,5" is no number`},
		"fraction":      {"x,n,l\n1,1.0,a\n", `line 2, column "n": "1.0" is no whole number`},
		"large":         {"x,n,l\n1,2147483648,a\n", `"2147483648" is beyond int32`},
		"no label":      {"x,n,l\n1,1,\n", `line 2, column "l": a value is missing`},
		"no column":     {"x,n,y\n1,1,a\n", `there is no column "l": there are ["x" "n" "y"]`},
		"another class": {"x,n,l\n1,1,c\n", `line 2, column "l": "c" is none of the classes ["a" "b"]`},
	} {
		table, err := data.ReadCSV(strings.NewReader(c.text))
		if err == nil {
			_, err1 := table.Floats("x")
			_, err2 := table.Ints("n")
			_, _, err3 := table.Labels("l")
			if name == "another class" {
				_, _, err3 = table.Labels("l", "a", "b")
			}
			err = errors.Join(err1, err2, err3)
		}
		if !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "parse") {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
	broken := errors.New("disk error")
	if _, err := data.ReadCSV(io.MultiReader(strings.NewReader("a,b\n1"), iotest.ErrReader(broken))); !errors.Is(err, broken) || errors.Is(err, tensor.ErrFormat) {
		t.Errorf("err = %v", err)
	}
	if _, err := data.ReadCSV(endless{}); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), "a row has over 64 MiB") {
		t.Errorf("of a line without an end: %v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	if _, err := data.LoadCSV(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	if err := os.WriteFile(path, []byte("a\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := data.LoadCSV(path); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), path+": line 2") {
		t.Errorf("err = %v", err)
	}
	if err := os.WriteFile(path, []byte("a\n?\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := data.LoadCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Ints("a"); err == nil || !strings.Contains(err.Error(), path+`: line 2, column "a": "?" is no whole number`) {
		t.Errorf("err = %v", err)
	}
	table, err = data.ReadCSV(strings.NewReader(flowers))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"options":   func() { _, _ = data.ReadCSV(strings.NewReader(""), data.CSVOptions{}, data.CSVOptions{}) },
		"comma":     func() { _, _ = data.ReadCSV(strings.NewReader(""), data.CSVOptions{Comma: '"'}) },
		"no rune":   func() { _, _ = data.ReadCSV(strings.NewReader(""), data.CSVOptions{Comma: -1}) },
		"no column": func() { _, _ = table.Floats() },
		"classes":   func() { _, _, _ = table.Labels("kind", "a", "a") },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// FuzzReadCSV: whatever a file holds, it is read or refused by tensor.ErrFormat.
func FuzzReadCSV(f *testing.F) {
	f.Add(flowers, ',', false)
	f.Add("1\t\ta\n2\t3\tb", '\t', true)
	f.Fuzz(func(t *testing.T, text string, comma rune, bare bool) {
		var table *data.Table
		var err error
		if tensor.Try(func() {
			table, err = data.ReadCSV(strings.NewReader(text), data.CSVOptions{Comma: comma, NoHeader: bare})
		}) != nil {
			return
		}
		if err == nil {
			_, err = table.Floats(table.Columns()...)
			if _, _, err := table.Labels(table.Columns()[0]); err != nil && !errors.Is(err, tensor.ErrFormat) {
				t.Fatalf("err = %v", err)
			}
		}
		if err != nil && !errors.Is(err, tensor.ErrFormat) {
			t.Fatalf("err = %v", err)
		}
	})
}

// endless is a line that has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
