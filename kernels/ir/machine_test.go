package ir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// compute runs a program on a machine.
func compute[T, E vec.Float](t *testing.T, v *irtest.Launch, l *vec.Loops[T]) [][]E {
	return computeIn[T, E](t, v, l, 3)
}

// computeIn runs a program on a machine, pieces of some size at a time.
func computeIn[T, E vec.Float](t *testing.T, v *irtest.Launch, l *vec.Loops[T], piece int) [][]E {
	rows, err := v.Program.Rows()
	if err != nil {
		t.Fatal(err)
	}
	m := ir.NewMachine[T, E](rows, l)
	m.Sets, m.Span = v.Sets, v.Span
	for i, of := range v.Program.Values {
		switch {
		case of.Kind == ir.Number:
			m.Numbers[i] = v.Numbers[of.Name]
		case of.Kind == ir.Input && of.Int:
			m.Ints[i] = v.Ints[of.Name]
		case of.Kind == ir.Input:
			for _, x := range v.Floats[of.Name] {
				m.Inputs[i] = append(m.Inputs[i], E(x))
			}
		}
	}
	for k, r := range v.Program.Results {
		size := 1
		for a, d := range []int{v.Outer, v.N, v.Inner} {
			if r.Along.Has(a) {
				size *= d
			}
		}
		if r.Summed {
			size *= (v.Outer + v.Lines - 1) / v.Lines
		}
		m.Results[k] = make([]E, size)
	}
	if v.Program.Runs() {
		runs(m, v)
		return m.Results
	}
	units, _ := m.Units(v.Outer, v.N, v.Inner)
	if numbers := slices.Clone(m.Numbers); units > 0 { // a launch before it, with others
		clear(m.Numbers)
		m.Run(v.N, v.Inner, 0, 1)
		copy(m.Numbers, numbers)
	}
	for at := 0; at < units; at += piece {
		m.Run(v.N, v.Inner, at, min(at+piece, units))
	}
	return m.Results
}

// runs runs the lines of each run.
func runs[T, E vec.Float](m *ir.Machine[T, E], v *irtest.Launch) {
	results := slices.Clone(m.Results)
	for from := 0; from < v.Outer; from += v.Lines {
		for k, r := range v.Program.Results {
			if r.Summed {
				m.Results[k] = results[k][from/v.Lines*v.N:]
			}
		}
		m.Run(v.N, 1, from, min(from+v.Lines, v.Outer))
	}
	copy(m.Results, results)
}

// The last has more columns than a block.
var sizes = [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 300, 1}, {3, 1, 2}, {2, 7, 3}, {2, 19, 17}, {1, 4, 40}, {2, 100, 16}, {0, 3, 1}, {2, 3, 0}, {2, 0, 1}, {2, 0, 20}, {1, 2, 1030}, {2, 5000, 1}}

// check compares the machines with what a program means.
func check(t *testing.T, p *ir.Program, rng *rand.Rand, size [3]int) {
	checkLaunch(t, irtest.Draw(p, rng, size[0], size[1], size[2]))
}

func checkLaunch(t *testing.T, v *irtest.Launch) {
	want := v.Run()
	for k, r := range v.Program.Results {
		name := fmt.Sprintf("%s[%d %d %d] %s", v.Program.Name, v.Outer, v.N, v.Inner, r.Name)
		irtest.Near(t, name+" in double precision", compute[float64, float64](t, v, nil)[k], want[k], 1e-12)
		irtest.Near(t, name+" of single in double precision", compute[float64, float32](t, v, nil)[k], want[k], 1e-6)
		for _, set := range vec.Sets() {
			irtest.Near(t, name+" "+set.String(), compute[float32, float32](t, v, vec.On[float32](set))[k], want[k], 3e-5)
			irtest.Near(t, name+" "+set.String(), compute[float64, float64](t, v, vec.On[float64](set))[k], want[k], 1e-12)
		}
	}
}

func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for form := range 8 {
		p := defs.Norm(defs.NormForm{Centred: form&1 != 0, Weights: form&2 != 0, Biases: form&4 != 0})
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 300, 1}} {
			check(t, p, rng, size)
		}
	}
	for form := range 16 {
		f := defs.EntropyForm{Weights: form&1 != 0, Logits: form&2 != 0, Smoothing: form&4 != 0, Each: form&8 != 0}
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 7, 3}, {2, 9, 17}} {
			if !f.Each {
				check(t, defs.CrossEntropy(f), rng, size)
			}
			check(t, defs.CrossEntropyGrad(f), rng, size)
		}
	}
	for _, p := range []*ir.Program{defs.Softmax(), defs.LogSoftmax(), defs.SoftmaxGrad(), defs.LogSoftmaxGrad(),
		defs.Softmax().Gradient("X"), defs.LogSoftmax().Gradient("X"), defs.CosineSimilarity()} {
		for _, size := range sizes {
			check(t, p, rng, size)
		}
	}
}

// TestRandomPrograms: random row programs are computed as they are written.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := irtest.Random(rng)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log(p)
				}
			}()
			for range 3 {
				check(t, p, rng, sizes[rng.IntN(len(sizes))])
			}
		})
	}
}

// TestReadLater: what a result is made of is not overwritten by it where a sum reads it later.
func TestReadLater(t *testing.T) {
	b := ir.NewRows("later")
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	e := x.Tanh().Add(x)
	sum := b.Sum(e, ir.N)
	b.Result("Y", e.Tanh())
	b.Result("Z", sum)
	b.Result("SAME", e.Tanh())
	b.Result("COPY", x)
	for _, size := range sizes {
		check(t, b.Program(), rand.New(rand.NewPCG(1, 2)), size)
	}
}

// TestMaxOfNaN: a maximum passes NaN over, and that of none is −∞.
func TestMaxOfNaN(t *testing.T) {
	b := ir.NewRows("max")
	b.Result("Y", b.MaxNumber(b.Input("X", ir.Outer, ir.N, ir.Inner), ir.N))
	p := b.Program()
	for _, size := range [][3]int{{4, 9, 1}, {2, 9, 20}, {2, 3, 3}} {
		v := irtest.Draw(p, rand.New(rand.NewPCG(1, 2)), size[0], size[1], size[2])
		x := v.Floats["X"]
		for i := range x {
			if i%3 == 1 || i/v.Inner < v.N { // of the first lines all
				x[i] = math.NaN()
			}
		}
		want := v.Run()[0]
		irtest.Near(t, "plain", compute[float64, float64](t, v, nil)[0], want, 0)
		for _, set := range vec.Sets() {
			irtest.Near(t, set.String(), compute[float32, float32](t, v, vec.On[float32](set))[0], want, 0)
		}
	}
}

// TestExtremeOfNoInts: the least and the greatest of no ints are the ends of their range.
func TestExtremeOfNoInts(t *testing.T) {
	b := ir.NewRows("ints")
	index := expr.Where(b.Input("X", ir.Outer, ir.N, ir.Inner).Lt(expr.Const(0)), expr.Index(ir.N), expr.Const(100))
	b.Result("LEAST", b.Min(index, ir.N))
	b.Result("GREATEST", b.Max(index, ir.N))
	b.Result("Y", b.Min(index, ir.N).Float().Mul(expr.Const(0.5)))
	rows, err := b.Program().Rows()
	if err != nil {
		t.Fatal(err)
	}
	m := ir.NewMachine[float32, float32](rows, nil)
	for _, inner := range []int{1, 20} {
		least, greatest, y := make([]int32, 2*inner), make([]int32, 2*inner), make([]float32, 2*inner)
		m.IntResults, m.Results[2] = [][]int32{least, greatest, nil}, y
		m.Run(0, inner, 0, 2*inner)
		for i := range y {
			if least[i] != math.MaxInt32 || greatest[i] != math.MinInt32 || y[i] != 1<<30 {
				t.Errorf("inner %d: the least is %d, the greatest %d, half of the least %v", inner, least[i], greatest[i], y[i])
			}
		}
	}
}

// TestGradients: the gradient programs of the definitions are those that are derived.
func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	whole := func(p *ir.Program) *ir.Program {
		q := *p
		q.Parts = false
		return &q
	}
	for _, c := range []struct{ forward, gradient *ir.Program }{
		{defs.Softmax(), defs.SoftmaxGrad()}, {defs.LogSoftmax(), defs.LogSoftmaxGrad()}, {defs.Softmin(), defs.SoftminGrad()},
		{whole(defs.Fold(defs.FoldMax)), defs.ExtremeGrad()}, {whole(defs.Fold(defs.FoldMin)), defs.ExtremeGrad()},
	} {
		derived := c.forward.Gradient("X")
		v := irtest.Draw(derived, rng, 3, 7, 2)
		if c.gradient.Name == "extreme_grad" { // with ties
			for i, x := range v.Floats["X"] {
				v.Floats["X"][i] = math.Round(x)
			}
		}
		want := v.Run()[0]
		y := *v
		y.Program = c.forward
		given := *v
		given.Program = c.gradient
		given.Floats = map[string][]float64{"X": v.Floats["X"], "Y": y.Run()[0], "G": v.Floats["GY"], "GY": v.Floats["GY"]}
		irtest.Near(t, c.gradient.Name, given.Run()[0], want, 1e-13)
	}
}

// TestPrinted: a program prints as the package's documentation has it.
func TestPrinted(t *testing.T) {
	const want = `softmax [outer n inner]
%0 = input X [outer n inner]
%1 = max number over n of %0 [outer inner]
%2 = sum over n of exp((%0 - %1)) [outer inner]
Y [outer n inner] = (exp((%0 - %1)) * (1 / %2))
`
	if got := defs.Softmax().String(); got != want {
		t.Errorf("it prints\n%swant\n%s", got, want)
	}
}

// TestLongChoices: a choice by a condition is right in rows and in columns of more elements than a
// block of formulas has, in plain loops too.
func TestLongChoices(t *testing.T) {
	b := ir.NewRows("choices")
	x, y := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("Y", ir.Outer, ir.Inner)
	of := ir.Attained(x, y, b.Sum(ir.Attained(x, y, expr.Const(1), expr.Const(0)), ir.N), expr.Const(-1))
	b.Result("D", of)
	p := b.Program()
	for _, size := range [][3]int{{2, 9000, 1}, {1, 3, 9000}, {1, 9000, 40}} {
		v := irtest.Draw(p, rand.New(rand.NewPCG(3, 4)), size[0], size[1], size[2])
		for i := range v.Floats["X"] {
			v.Floats["X"][i] = float64(i % 5)
		}
		for i := range v.Floats["Y"] {
			v.Floats["Y"][i] = 3
		}
		checkLaunch(t, v)
	}
}

// TestLinesFirst: what is made of lines alone is not overwritten by a sum that is written before it, nor the
// other way around.
func TestLinesFirst(t *testing.T) {
	b := ir.NewRows("lines")
	x, a := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("A", ir.Outer, ir.Inner)
	d := x.Sub(b.Sum(x, ir.N).Tanh())
	b.Result("Y", d.Mul(a.Tanh()))
	b.Result("Z", b.Max(d, ir.N).Add(a.Exp()), ir.Outer, ir.Inner)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{3, 5, 1}, {70, 600, 1}, {2, 19, 17}} {
		check(t, b.Program(), rng, size)
	}
}

// TestBatches: a line has the same bits whether it is computed alone or among others, in one block or in several.
func TestBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	programs := []*ir.Program{defs.Softmax(), defs.LogSoftmax(), defs.SoftmaxGrad(), defs.CosineSimilarity()}
	for form := range 16 {
		f := defs.EntropyForm{Weights: form&1 != 0, Logits: form&2 != 0, Smoothing: form&4 != 0, Each: form&8 != 0}
		if programs = append(programs, defs.CrossEntropyGrad(f)); !f.Each {
			programs = append(programs, defs.CrossEntropy(f))
		}
	}
	for range 20 {
		if p := irtest.Random(rng); !p.Runs() {
			programs = append(programs, p)
		}
	}
	for _, p := range programs {
		for _, size := range [][2]int{{70, 600}, {75, 100}} {
			v := irtest.Draw(p, rng, size[0], size[1], 1)
			sameBits[float64, float32](t, v, nil)
			for _, set := range vec.Sets() {
				sameBits[float32, float32](t, v, vec.On[float32](set))
			}
		}
	}
}

// sameBits compares all lines computed at once with each alone.
func sameBits[T, E vec.Float](t *testing.T, v *irtest.Launch, l *vec.Loops[T]) {
	whole, alone := computeIn[T, E](t, v, l, v.Outer), computeIn[T, E](t, v, l, 1)
	for k, r := range v.Program.Results {
		for i, x := range whole[k] {
			if y := alone[k][i]; x != y && (x == x || y == y) {
				t.Fatalf("%s[%d %d] %s: element %d is %v, alone %v\n%s", v.Program.Name, v.Outer, v.N, r.Name, i, x, y, v.Program)
			}
		}
	}
}
