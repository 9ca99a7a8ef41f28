package catalog

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/operations"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// types are those of the page, in the order of promotion.
var types = []tensor.Type{tensor.Bool, tensor.Uint8, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64}

// TestPromotion: two types give what PyTorch's result_type does, as testdata/promotion.txt has it.
func TestPromotion(t *testing.T) {
	text, err := os.ReadFile("../../testdata/promotion.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	byName := map[string]tensor.Type{}
	for typ := tensor.Type(0); !typ.Storage(); typ++ {
		byName[typ.String()] = typ
	}
	pairs := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		pairs++
		x := tensor.ZerosOf(d, byName[f[0]], 2)
		for i, shape := range [][]int{{2}, {}} {
			y := tensor.ZerosOf(d, byName[f[1]], shape...)
			if f[2+i] == "-" { // PyTorch refuses them
				continue
			}
			if got := tensor.Map(fn.Max, nil, x, y).Type(); got != byName[f[2+i]] {
				t.Errorf("%s with %s of shape %v gives %v, PyTorch %s", f[0], f[1], shape, got, f[2+i])
			}
		}
	}
	if n := len(byName); pairs != n*n {
		t.Errorf("%d pairs, want %d", pairs, n*n)
	}
}

const typesPage = "../../docs/types.md"

// Where the page has what is made.
const (
	madeFrom = "<!-- Made by \"make generate\", from here … -->\n"
	madeTo   = "<!-- … to here. -->\n"
)

// TestTypesPage: the tables of docs/types.md are what the operations of today do. -update writes them.
func TestTypesPage(t *testing.T) {
	text, err := os.ReadFile(typesPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), madeFrom)
	_, after, ok2 := strings.Cut(rest, madeTo)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for its tables: the lines %q and %q", typesPage, madeFrom, madeTo)
	}
	want := before + madeFrom + typeTables(t) + madeTo + after
	if *update {
		if err := os.WriteFile(typesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not what the operations of today do: make generate", typesPage)
	}
}

// typeTables returns what operations give of each type, those that give the same together, and what
// Autocast does with them.
func typeTables(t *testing.T) string {
	d := devtest.Open(t, "cpu", tensor.Options{})
	listed, err := operations.Families()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	operationsOf, casts := map[string][]string{}, map[string][]string{}
	for _, f := range listed {
		at := slices.IndexFunc(families, func(c family) bool { return c.name == f.Name })
		if at < 0 {
			continue
		}
		refs := references(t, families[at])
		for _, o := range f.Operations {
			if o.Autocast != "" {
				casts[o.Autocast] = append(casts[o.Autocast], "`"+o.Name+"`")
			}
			c := slices.IndexFunc(families[at].operations, func(c operation) bool { return c.name == o.Name })
			if c < 0 {
				continue
			}
			row, ok := families[at].operations[c].given(t, d, refs)
			if !ok {
				continue
			}
			if operationsOf[row] == nil {
				rows = append(rows, row)
			}
			operationsOf[row] = append(operationsOf[row], "`"+o.Name+"`")
		}
	}
	slices.SortStableFunc(rows, func(a, b string) int { return len(operationsOf[b]) - len(operationsOf[a]) })
	var b strings.Builder
	b.WriteString("| of")
	for _, typ := range types {
		fmt.Fprintf(&b, " | %v", typ)
	}
	b.WriteString(" | operations |\n|" + strings.Repeat("---|", len(types)+2) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| gives | %s | %s |\n", row, strings.Join(operationsOf[row], " "))
	}
	fmt.Fprintf(&b, "\n| under Autocast operands become of | operations |\n|---|---|\n| its type | %s |\n| float32 | %s |\n",
		strings.Join(casts["low"], " "), strings.Join(casts["float32"], " "))
	return b.String()
}

// given returns what an operation gives of each type: in the first case with floats, converted to it,
// that it does not refuse. It is false if there is no such case.
func (o operation) given(t *testing.T, d tensor.Device, refs map[string]npz.Array) (row string, ok bool) {
	if o.name == "To" { // whatever is asked for
		return "", false
	}
	cells := slices.Repeat([]string{"-"}, len(types))
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		var in []*npz.Array
		floats := false
		for i := 0; ; i++ {
			a, there := refs[fmt.Sprint(o.name, ".", name, ".in", i)]
			if !there {
				break
			}
			in = append(in, &a)
			floats = floats || ofFloats(&a)
		}
		if !floats || name == "special" || name == "empty" || name == "none" {
			continue
		}
		ok = true
		for i, typ := range types {
			if cells[i] != "-" {
				continue
			}
			tensor.Scope(d, func() {
				var operands []*node
				for _, a := range in {
					x := upload(t, d, tensor.Float32, a)
					if _, isFloat := a.Data.([]float64); isFloat {
						x = x.To(typ)
					}
					operands = append(operands, autograd.Const(x))
				}
				var list []string
				if tensor.Try(func() {
					for _, y := range o.cases[name](operands) {
						list = append(list, y.Type().String())
					}
				}) == nil {
					cells[i] = strings.Join(slices.Compact(list), ", ")
				}
			})
		}
	}
	return strings.Join(cells, " | "), ok
}
