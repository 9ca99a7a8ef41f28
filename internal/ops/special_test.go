package ops

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// lossFunctions are those of losses.go.
var lossFunctions = []*kernels.Function{AbsoluteError, SquaredDifference, Huber, SmoothL1, BinaryCrossEntropy, WeightedBinaryCrossEntropy,
	Divergence, LogDivergence, HingeEmbedding}

func TestLossesListed(t *testing.T) {
	source, err := os.ReadFile("losses.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), "kernels.Function{"); n != len(lossFunctions) {
		t.Errorf("losses.go declares %d functions, and lossFunctions has %d", n, len(lossFunctions))
	}
}

// specialRow is a row of testdata/references/special.csv: see scripts/specialvalues.py.
type specialRow struct {
	at      string
	x       []float64
	value   float64
	grads   []*float64 // by operand; nil: PyTorch has none
	second  *float64
	scalars []float64
}

// specialValues returns the rows of each function.
func specialValues(t *testing.T) map[*kernels.Function][]specialRow {
	t.Helper()
	file, err := os.Open("../../testdata/references/special.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*kernels.Function{}
	for _, f := range slices.Concat(fn.Functions, fn.Choices, fn.Conditions, lossFunctions) {
		functions[f.Name] = f
	}
	number := func(text string) *float64 {
		if text == "" {
			return nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	rows := map[*kernels.Function][]specialRow{}
	for _, r := range records[1:] {
		name, scalar, given := strings.Cut(r[0], " ")
		f := functions[name]
		if f == nil {
			t.Fatalf("special.csv has %s, which is no function: make generate", name)
		}
		row := specialRow{at: fmt.Sprint(r[0], " of ", strings.Join(r[1:1+f.Operands()], ", ")), value: *number(r[4]), second: number(r[8]), scalars: f.Scalars}
		if given {
			row.scalars = []float64{*number(scalar)}
		}
		for i := range f.Operands() {
			row.x, row.grads = append(row.x, *number(r[1+i])), append(row.grads, number(r[5+i]))
		}
		rows[f] = append(rows[f], row)
	}
	for name, f := range functions {
		if len(rows[f]) < 5 {
			t.Errorf("special.csv has %d rows of %s: add it to scripts/specialvalues.py, and make generate", len(rows[f]), name)
		}
	}
	return rows
}

// TestSpecialValues holds every function and loss, and their gradients, to PyTorch's at NaN,
// infinities, 0 and −0: in float32 and float64, in the plain loops of the Go device and in those
// for vectors. Other devices are compared with the plain loops at the same values: see
// together.cases.
func TestSpecialValues(t *testing.T) {
	rows := specialValues(t)
	for _, vectors := range []bool{false, true} {
		testSpecialValues[float32](t, rows, vectors, 1e-5)
		testSpecialValues[float64](t, rows, vectors, 2e-7) // PyTorch has some constants in single precision
	}
	for f, list := range rows {
		for _, r := range list {
			if r.second == nil {
				continue
			}
			d, y := f.Gradient(0), f.At(r.scalars, r.x...)
			dx := d.At(r.scalars, r.x[0], y, 1)
			at := []float64{r.x[0], y, 1, dx, 1}
			got := d.Gradient(0).At(r.scalars, at...)
			if d.Uses(1) {
				got += d.Gradient(1).At(r.scalars, at...) * dx
			}
			if !alike(got, *r.second, 2e-7) {
				t.Errorf("%s: its second derivative is %v, want %v", r.at, got, *r.second)
			}
		}
	}
}

func testSpecialValues[T float32 | float64](t *testing.T, rows map[*kernels.Function][]specialRow, vectors bool, off float64) {
	t.Helper()
	const copies = 9 // of each row, so that loops of vectors meet it in each lane
	for f, list := range rows {
		compute := func(formula *expr.Expr, r specialRow, more ...T) T {
			e := expr.NewEval[T](expr.Compile(formula))
			e.Scalars(func(i int) T { return T(r.scalars[i]) })
			e.Vectors(vectors)
			in := make([][]T, len(r.x)+len(more))
			for i := range in {
				v := append(floats[T](r.x), more...)[i]
				in[i] = slices.Repeat([]T{v}, copies)
			}
			out := make([]T, copies)
			e.Run(out, in)
			for _, v := range out {
				if v != out[0] && (v == v || out[0] == out[0]) {
					t.Errorf("%s is %v and %v, with vectors: %v", r.at, out[0], v, vectors)
				}
			}
			return out[0]
		}
		for _, r := range list {
			formula := f.Value
			if f.Condition() {
				formula = expr.Where(formula, one, zero)
			}
			y := compute(formula, r)
			if !alike(float64(y), r.value, off) || len(r.x) == 1 && r.value == 0 && math.Signbit(float64(y)) != math.Signbit(r.value) {
				t.Errorf("%s is %v, want %v, with vectors: %v", r.at, y, r.value, vectors)
			}
			for i, want := range r.grads {
				if want == nil || f.Condition() {
					continue
				}
				if got := compute(f.Gradient(i).Value, r, y, 1); !alike(float64(got), *want, off) {
					t.Errorf("%s has the gradient %v by operand %d, want %v, with vectors: %v", r.at, got, i, *want, vectors)
				}
			}
		}
	}
}

// alike reports whether two numbers are the same, but for rounding: NaN and infinities are only
// themselves.
func alike(a, b, off float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= off*math.Abs(b) && !math.IsInf(a, 0)
}

func floats[T float32 | float64](list []float64) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = T(v)
	}
	return out
}
