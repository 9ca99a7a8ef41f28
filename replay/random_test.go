package replay_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// world is a random program: what is older than its steps, and a step that does the same operations
// each time it is called, on inputs that change. Two of one seed do the same.
type world struct {
	seed    uint64
	d       tensor.Device
	older   []*tensor.Tensor // inputs, and what steps change in place
	index   *tensor.Tensor
	rng     *tensor.RNG
	scalars *kernels.StepScalars
	phase   int // of the owner of step scalars
	ops     map[string]int
	shapes  [][]int
	table   []randomOp // that steps are made of
	most    bool       // steps return half of the values that they have at the end
}

// shapesOf are those of a world's older tensors: some broadcast to others, some are empty.
var shapesOf = [][][]int{
	{{3, 4}, {4}, {3, 1}, {1}, {}, {4, 3}},
	{{2, 3, 4}, {3, 4}, {1, 4}, {2, 1, 1}, {4, 4}},
	{{5, 7}, {7, 5}, {7, 7}, {5, 1}, {7}},
	{{0, 3}, {3}, {3, 3}, {1, 3}, {0}},
	{{1000, 3}, {3, 20}, {20}, {1000, 1}, {20, 20}},
	{{33}, {1}, {2, 33}, {33, 2}, {}},
}

func newWorld(d tensor.Device, seed uint64) *world {
	w := &world{seed: seed, d: d, rng: tensor.NewRNG(seed), ops: map[string]int{}, table: randomOps}
	r := rand.New(rand.NewPCG(seed, 1))
	w.shapes = shapesOf[r.IntN(len(shapesOf))]
	for range 3 + r.IntN(4) {
		t := tensor.Empty(d, w.shapes[r.IntN(len(w.shapes))]...)
		w.older = append(w.older, t)
	}
	w.index = devtest.New(d, make([]int32, 1+r.IntN(5)))
	w.scalars = kernels.NewStepScalars(2, func(numbers []kernels.Arg) error {
		w.phase++
		numbers[0], numbers[1] = kernels.FloatArg(1/float64(w.phase)), kernels.IntArg(w.phase%5)
		return nil
	})
	w.set(0)
	return w
}

// set gives inputs and indices other values.
func (w *world) set(time int) {
	r := rand.New(rand.NewPCG(w.seed, uint64(100+time)))
	for i, t := range w.older {
		if i%2 == 1 && time > 0 {
			continue // the others live on
		}
		data := make([]float64, t.Len())
		for j := range data {
			data[j] = r.NormFloat64()
			if r.IntN(50) == 0 {
				data[j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(5)]
			}
		}
		tensor.Upload(t, data)
	}
	index := make([]int32, w.index.Len())
	for i := range index {
		index[i] = int32(r.IntN(3))
	}
	index[0] = 2 // whether they fit must not depend on the values
	tensor.Upload(w.index, index)
}

// step does the operations of the world's seed.
func (w *world) step() ([]*tensor.Tensor, error) {
	r := rand.New(rand.NewPCG(w.seed, 2))
	values := append([]*tensor.Tensor{}, w.older...)
	if err := w.scalars.Next(); err != nil {
		return nil, err
	}
	pick := func() *tensor.Tensor { return values[r.IntN(len(values))] }
	for range 4 + r.IntN(20) {
		x, y := pick(), pick()
		op := w.table[r.IntN(len(w.table))]
		if x.Len()*y.Len() > 1<<24 {
			continue // broadcast to each other, again and again, they would fill the memory
		}
		// What does not fit is an error, and the same one in each step.
		if tensor.Try(func() {
			if z := op.do(w, r, x, y); z != nil {
				values = append(values, z)
			}
		}) == nil {
			w.ops[op.name]++
		}
		if r.IntN(8) == 0 && len(values) > len(w.older) {
			i := len(w.older) + r.IntN(len(values)-len(w.older))
			values[i].Free() // its views stay
			values = append(values[:i], values[i+1:]...)
		}
	}
	var out []*tensor.Tensor
	if w.most {
		for i, v := range values {
			if i == len(values)-1 || r.IntN(2) == 0 {
				out = append(out, v)
			}
		}
		return out, nil
	}
	for range 1 + r.IntN(4) {
		out = append(out, pick())
	}
	return out, nil
}

type randomOp struct {
	name string
	do   func(w *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor
}

// function draws one of so many operands.
func function(r *rand.Rand, operands int) *kernels.Function {
	for {
		if f := fn.Functions[r.IntN(len(fn.Functions))]; f.Operands() == operands {
			return f
		}
	}
}

// axis draws one of x's, which has some.
func axis(r *rand.Rand, x *tensor.Tensor) int {
	if x.Rank() == 0 {
		return 0
	}
	return r.IntN(x.Rank())
}

var randomOps = []randomOp{
	{"unary", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		f := function(r, 1)
		return tensor.Map(f, f.Scalars, x)
	}},
	{"binary", func(_ *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
		f := function(r, 2)
		return tensor.Map(f, f.Scalars, x, y)
	}},
	{"where", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.Where(x.Lt(y), y) }},
	{"itself", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Mul(x) }},
	{"slice", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		a, n := axis(r, x), 0
		if x.Rank() > 0 {
			n = x.Shape()[a]
		}
		from := r.IntN(n + 1)
		return x.Slice(a, from, from+r.IntN(n-from+1))
	}},
	{"step", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Step(axis(r, x), 1+r.IntN(3))
	}},
	{"select", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Select(axis(r, x), r.IntN(3))
	}},
	{"transpose", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Transpose() }},
	{"expand", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Expand(w.shapes[r.IntN(len(w.shapes))]...)
	}},
	{"reshape", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Reshape(-1) }},
	{"copy", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Copy() }},
	{"sum", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum(axis(r, x)) }},
	{"mean", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Mean() }},
	{"max", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Max(axis(r, x)) }},
	{"matmul", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.MatMul(y) }},
	{"gram", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.T().MatMul(x) }},
	{"linear", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
		return tensor.Linear(x, y, nil, fn.Tanh)
	}},
	{"gather", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.GatherRows(w.index) }},
	{"gather drawn", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		if x.Rank() == 0 || x.Shape()[0] < 3 {
			return nil // indices past the rows, that may be there, would be looked for on the host
		}
		return x.GatherRows(w.rng.Ints(w.d, 3, 4))
	}},
	{"scatter", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		w.older[0].ScatterAddRowsInPlace(w.index, x.GatherRows(w.index))
		return nil
	}},
	{"uniform", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return w.rng.Uniform(w.d, -1, 1, x.Shape()...)
	}},
	{"dropout", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Mul(w.rng.Uniform(w.d, 0, 1, x.Shape()...).SubScalar(0.5).Sign().ReLU())
	}},
	{"number", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Mul(tensor.ScalarFromArg(w.d, w.scalars.Arg(0)))
	}},
	{"int number", func(w *world, _ *rand.Rand, _, _ *tensor.Tensor) *tensor.Tensor {
		return tensor.ScalarFromArg(w.d, w.scalars.Arg(1)).To(w.d.DefaultType())
	}},
	{"next", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		_ = w.scalars.Next()
		return x.Add(tensor.ScalarFromArg(w.d, w.scalars.Arg(0)))
	}},
	{"constant", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Add(tensor.Scalar(w.d, r.Float64()))
	}},
	{"changed constant", func(w *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
		c := devtest.New(w.d, make([]float64, x.Len()), x.Shape()...)
		c.MapInPlace(fn.Add, nil, y)
		return c
	}},
	{"constant part", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		c := x.Copy()
		tensor.Upload(c.Reshape(-1).Slice(0, 1, 3), []float64{7, 8})
		return c
	}},
	{"uploaded", func(w *world, _ *rand.Rand, _, _ *tensor.Tensor) *tensor.Tensor {
		return devtest.New(w.d, []float64{1, 2, 3})
	}},
	{"to int", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Clamp(-9, 9).To(tensor.Int32)
	}},
	{"to byte", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.Clamp(0, 9).To(tensor.Uint8)
	}},
	{"to half", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.To(tensor.Float16) }},
	{"to bfloat16", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.To(tensor.BFloat16) }},
	{"to real", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return x.To(x.Device().DefaultType())
	}},
	{"zeros", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		return tensor.Zeros(w.d, x.Shape()...)
	}},
	{"in place", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
		x.MapInPlace(fn.Sub, nil, y)
		return nil
	}},
	{"update", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		p := w.older[r.IntN(len(w.older))]
		p.MapInPlace(fn.Sub, nil, x.MulScalar(0.125))
		return p.View()
	}},
	{"set", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		p := w.older[r.IntN(len(w.older))]
		p.SetInPlace(x.SumTo(p.Shape()...))
		return nil
	}},
	{"set view", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		p := w.older[r.IntN(len(w.older))]
		p.Step(axis(r, p), 2).FillInPlace(0.5)
		return p.View()
	}},
	{"tanh in place", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
		x.MapInPlace(fn.Tanh, nil)
		return nil
	}},
}

// bits returns the elements of tensors as text that distinguishes all bits but those of a NaN.
func bits(t *testing.T, tensors []*tensor.Tensor) string {
	t.Helper()
	var all []byte
	var word [8]byte
	for _, x := range tensors {
		v, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		all = slices.Grow(fmt.Appendf(all, "%v%v", x.Shape(), x.Type()), 17*len(v))
		for _, f := range v {
			if f != f {
				all = append(all, " NaN"...)
				continue
			}
			all = hex.AppendEncode(append(all, ' '), binary.BigEndian.AppendUint64(word[:0], math.Float64bits(f)))
		}
	}
	return string(all)
}

// state is what a program looks at after a step.
func (w *world) state(t *testing.T, outputs []*tensor.Tensor) string {
	t.Helper()
	return bits(t, append(append([]*tensor.Tensor{}, outputs...), w.older...)) + fmt.Sprint(w.rng.Calls, w.phase)
}

// TestRandomSteps: steps of random operations leave the same bits replayed as done eagerly, before
// and after eager ones.
func TestRandomSteps(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 1000, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 50, append(options, devtest.GPUKernels()) // whose maps move whole vectors
		}
		if !devtest.Sweep() {
			n = min(n/5, 100)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				ops := map[string]int{}
				for seed := range n {
					randomSteps(t, d, devtest.Seed(seed), ops, func(*world) {})
				}
				for _, op := range randomOps {
					if ops[op.name] == 0 && n >= 100 {
						t.Errorf("no step did %q", op.name)
					}
				}
			})
		}
	}
}

func randomSteps(t *testing.T, d tensor.Device, seed uint64, ops map[string]int, set func(*world), opts ...replay.Options) {
	t.Helper()
	tensor.Scope(d, func() {
		eager, recorded := newWorld(d, seed), newWorld(d, seed)
		set(eager)
		set(recorded)
		var want []*tensor.Tensor
		for range 2 {
			want, _ = eager.step()
		}
		rec, err := replay.Record(d, recorded.step, opts...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		defer rec.Free()
		same := func(when string, got []*tensor.Tensor) {
			t.Helper()
			if g, w := recorded.state(t, got), eager.state(t, want); g != w {
				at := 0
				for at < min(len(g), len(w)) && g[at] == w[at] {
					at++
				}
				cut := func(s string) string { return s[max(0, at-200):min(len(s), at+60)] }
				t.Fatalf("seed %d, %s:\n…%s\nwant\n…%s", seed, when, cut(g), cut(w))
			}
		}
		same("recorded", rec.Outputs())
		for time := 1; time <= 4; time++ {
			eager.set(time)
			recorded.set(time)
			want, _ = eager.step()
			got := rec.Outputs()
			if time == 3 {
				got, _ = recorded.step() // an eager step among replays
			} else if err := rec.Run(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			same(fmt.Sprint("step ", time), got)
		}
		for name, n := range recorded.ops {
			ops[name] += n
		}
	})
}
