package tensor_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
)

// printCase is an array and what NumPy prints of it: scripts/printing.py.
type printCase struct {
	Type        string
	Shape       []int
	Values      []string
	First, Step float64
	Text        string
}

// numbers returns the elements as floats, and as integers of 64 bits where they are.
func (c printCase) numbers(t *testing.T) (floats []float64, signed []int64, unsigned []uint64) {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	for i := range n {
		if c.Values == nil {
			floats = append(floats, float64(i)*c.Step+c.First)
			continue
		}
		f, err := strconv.ParseFloat(c.Values[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		floats = append(floats, f)
		s, _ := strconv.ParseInt(c.Values[i], 10, 64)
		u, _ := strconv.ParseUint(c.Values[i], 10, 64)
		signed, unsigned = append(signed, s), append(unsigned, u)
	}
	return floats, signed, unsigned
}

// TestPrintAsNumPy: the lines below the first are NumPy's, but for Go's words of conditions.
func TestPrintAsNumPy(t *testing.T) {
	text, err := os.ReadFile("../testdata/printing.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []printCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range file.Cases {
			var typ tensor.Type
			for typ.Valid() && typ.String() != c.Type {
				typ++
			}
			if !d.Supports(typ) {
				continue
			}
			floats, signed, unsigned := c.numbers(t)
			x := tensor.NewOf(d, typ, floats, c.Shape...)
			switch {
			case typ == tensor.Int64 && c.Values != nil:
				x = tensor.New(d, signed, c.Shape...)
			case typ == tensor.Uint64 && c.Values != nil:
				x = tensor.New(d, unsigned, c.Shape...)
			}
			want := strings.NewReplacer("True", "true", "False", "false").Replace(c.Text)
			want = fmt.Sprintf("tensor %v of %s on %s:\n%s", c.Shape, c.Type, d.Name(), want)
			for name, y := range otherLayouts(x) {
				if got := fmt.Sprint(y); got != want {
					t.Errorf("%s of %s %v:\n%s\nwant\n%s", name, c.Type, c.Shape, got, want)
				}
				y.Free()
			}
			x.Free()
		}
	})
}

// otherLayouts returns x, and views of its elements that lie otherwise in memory.
func otherLayouts(x *tensor.Tensor) map[string]*tensor.Tensor {
	wide := tensor.ZerosOf(x.Device(), x.Type(), append([]int{3}, x.Shape()...)...)
	part := wide.Select(0, 1)
	part.SetInPlace(x)
	transposed := x.Transpose()
	lying := transposed.Contiguous()
	return map[string]*tensor.Tensor{"it": x.View(), "a part": part, "a transpose": lying.Transpose()}
}

// TestPrintTypes: types that NumPy does not have.
func TestPrintTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		numbers := tensor.NewOf(d, tensor.Float32, []float64{0.1, 1, -6})
		for typ, want := range map[tensor.Type]string{
			tensor.BFloat16:     "[ 0.1  1.  -6. ]",
			tensor.Float8E4M3FN: "[ 0.1015625  1.        -6.       ]",
			tensor.Float8E8M0:   "[0.125 1.      nan]",
			tensor.Float4E2M1:   "[ 0.  1. -6.]",
			tensor.Int4:         "[ 0  1 -6]",
			tensor.Uint2:        "[0 1 0]",
		} {
			x := numbers.To(typ)
			if got := body(x); got != want {
				t.Errorf("%v: %q, want %q", typ, got, want)
			}
		}
		if got := body(tensor.New(d, []lowbit.Float8E5M2{0x7c, 0x7f, 0x3c}, 3)); got != "[inf nan  1.]" {
			t.Errorf("float8_e5m2: %q", got)
		}
	})
}

// body returns the lines below the first.
func body(x *tensor.Tensor) string {
	_, text, _ := strings.Cut(x.String(), ":\n")
	return text
}

// TestPrintViews: views that repeat elements, or skip some.
func TestPrintViews(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Arange(d, 0, 2002, 1).To(tensor.Int32)
		for want, y := range map[string]*tensor.Tensor{
			"[[5 5 5]\n [6 6 6]]":                     x.Slice(0, 5, 7).Reshape(2, 1).Expand(2, 3),
			"[   0  700 1400]":                        x.Step(0, 700),
			"[   0    2    4 ... 1996 1998 2000]":     x.Step(0, 2),
			"[2001 2000 1999 ...    2    1    0]":     x.Step(0, -1),
			"[[7 7 7 ... 7 7 7]\n [7 7 7 ... 7 7 7]]": x.Slice(0, 7, 8).Expand(2, 1000),
		} {
			if got := body(y); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// TestPrintReadsEdges: of 10⁸ elements a few are copied from the device, and no kernel is launched.
func TestPrintReadsEdges(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, shape := range [][]int{{100_000_000}, {10_000, 10_000}, {1000, 1000, 100}} {
		x := tensor.EmptyOf(d, tensor.Uint8, shape...)
		for name, y := range map[string]*tensor.Tensor{"it": x, "a transpose": x.Transpose()} {
			before := d.Stats()
			if lines := strings.Count(y.String(), "\n"); lines > 60 {
				t.Errorf("%s of %v: %d lines", name, shape, lines)
			}
			after := d.Stats()
			if n := after.DownloadBytes - before.DownloadBytes; n > 1000 || after.Launches != before.Launches {
				t.Errorf("%s of %v: %d bytes, %d launches", name, shape, n, after.Launches-before.Launches)
			}
		}
		x.Free()
	}
}

// TestPrintWithoutNumbers: what cannot be read says why.
func TestPrintWithoutNumbers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.New(d, []float32{1, 2})
		want := "tensor [2] of float32 on " + d.Name()
		busy := ""
		inScope := make(chan string)
		tensor.Scope(d, func() {
			go func() { inScope <- x.String() }()
			busy = <-inScope
		})
		if !strings.HasPrefix(busy, want+" (") || !strings.Contains(busy, tensor.ErrGoroutine.Error()) || strings.Contains(busy, "\n") {
			t.Errorf("another goroutine's: %q", busy)
		}
		x.Free()
		if got := x.String(); got != "tensor [2] of float32 (freed)" {
			t.Errorf("freed: %q", got)
		}
	})
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(d, []float32{1, 2})
	d.Close()
	if got := x.String(); got != "tensor [2] of float32 on "+d.Name()+" (the device has failed: tensor: device is closed)" {
		t.Errorf("on a closed device: %q", got)
	}
}

// TestPrintRoundTrip: the digits of a scalar give its number again.
func TestPrintRoundTrip(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, bits := range []uint32{1, 0x007fffff, 0x3dcccccd, 0x7f7fffff, 0x4b7fffff, 0x80000001} {
		v := math.Float32frombits(bits)
		got, err := strconv.ParseFloat(body(tensor.New(d, []float32{v}, []int{}...)), 32)
		if err != nil || float32(got) != v {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
	for bits := range 1 << 16 { // a bfloat16 each
		v := math.Float32frombits(uint32(bits) << 16)
		if v != v || math.IsInf(float64(v), 0) || bits%97 != 0 {
			continue
		}
		text := body(tensor.NewOf(d, tensor.BFloat16, []float32{v}, []int{}...))
		got, err := strconv.ParseFloat(text, 64)
		if back := tensor.NewOf(d, tensor.BFloat16, []float64{got}); err != nil || devtest.Float64s(t, back)[0] != float64(v) {
			t.Errorf("%v: %s, %v", v, text, err)
		}
	}
}
