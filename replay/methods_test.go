package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// methodShapes are those of its tensors: many of one list have as many elements.
var methodShapes = [][][]int{
	{{3, 4}, {12}, {4, 3}, {2, 6}, {1, 12}, {3, 1}, {4}, {}, {2, 3, 2}, {6, 2}},
	{{8, 16}, {128}, {16, 8}, {16}, {8, 1}, {2, 64}, {4, 2, 16}, {}, {1, 16}, {32, 4}},
	{{5, 9}, {9, 5}, {45}, {3, 15}, {9}, {5, 1}, {5, 5}, {9, 9}, {3, 3, 5}},
	{{2, 3, 4}, {24}, {6, 4}, {4, 6}, {3, 4}, {2, 1, 4}, {4}, {1}, {2, 12}},
	{{0, 3}, {3}, {3, 3}, {1, 3}, {0}, {3, 0}, {9}, {}},
	{{300, 7}, {7}, {300, 1}, {2100}, {7, 300}, {30, 70}, {1}},
	{{2, 2, 4, 4}, {64}, {8, 8}, {4, 16}, {2, 1, 1, 4}, {4, 4}, {2, 2, 2, 8}, {1}},
}

// methodsWorld is what is older than random programs, two of which share it. Two of one seed are
// alike.
type methodsWorld struct {
	d       tensor.Device
	older   []*tensor.Tensor
	index   []*tensor.Tensor
	rng     *tensor.RNG
	scalars *kernels.StepScalars
	phase   int
	shapes  [][]int
	did     map[string]int
}

// newMethodsWorld counts in did what is done.
func newMethodsWorld(d tensor.Device, seed uint64, did map[string]int) *methodsWorld {
	w := &methodsWorld{d: d, rng: tensor.NewRNG(seed), did: did}
	r := rand.New(rand.NewPCG(seed, 1))
	w.shapes = methodShapes[r.IntN(len(methodShapes))]
	for range 3 + r.IntN(5) {
		typ := d.DefaultType()
		if r.IntN(5) == 0 {
			typ = []tensor.Type{tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16}[r.IntN(4)]
		}
		w.older = append(w.older, tensor.ZerosOf(d, typ, w.shapes[r.IntN(len(w.shapes))]...))
	}
	for _, n := range []int{1, 3, 4, 5} {
		w.index = append(w.index, devtest.New(d, []int32{2, 0, 1, 0, 0}[:n]))
	}
	w.scalars = kernels.NewStepScalars(2, func(numbers []kernels.Arg) error {
		w.phase++
		numbers[0], numbers[1] = kernels.FloatArg(1/float64(w.phase)), kernels.IntArg(w.phase%5)
		return nil
	})
	for i, t := range w.older {
		w.fill(t, seed*31+uint64(i))
	}
	return w
}

// fill sets a tensor of any type.
func (w *methodsWorld) fill(t *tensor.Tensor, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 77))
	data := make([]float64, t.Len())
	for j := range data {
		data[j] = r.NormFloat64()
		if r.IntN(40) == 0 {
			data[j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e-40}[r.IntN(6)]
		}
	}
	switch t.Type() {
	case tensor.Int32:
		v := make([]int32, len(data))
		for i, x := range data {
			v[i] = int32(max(-5, min(5, x*3)))
			if x != x {
				v[i] = 0
			}
		}
		tensor.Upload(t, v)
	case tensor.Uint8:
		v := make([]uint8, len(data))
		for i := range data {
			v[i] = uint8(r.IntN(3))
		}
		tensor.Upload(t, v)
	case tensor.Float16, tensor.BFloat16:
		x := devtest.New(w.d, data, t.Shape()...)
		t.SetInPlace(x.To(t.Type()))
	default:
		tensor.Upload(t, data)
	}
}

// between is what the caller does between runs.
func (w *methodsWorld) between(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	for i, t := range w.older {
		switch r.IntN(6) {
		case 0:
			w.fill(t, seed*13+uint64(i))
		case 1:
			if t.Type() == w.d.DefaultType() {
				src := tensor.Empty(w.d, t.Shape()...)
				w.fill(src, seed*17+uint64(i))
				t.SetInPlace(src)
			}
		case 2:
			if t.Type() == w.d.DefaultType() {
				t.MapInPlace(fn.Mul, nil, tensor.Scalar(w.d, 0.5))
			}
		}
	}
	for _, t := range w.index {
		v := make([]int32, t.Len())
		for i := range v {
			v[i] = int32(r.IntN(3))
		}
		v[0] = 2
		tensor.Upload(t, v)
	}
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// methods are those of Tensor that reflection calls.
var methods = func() (list []reflect.Method) {
	skip := " Free Retain Freed View BufferArg Arg MarkWritten Contiguous MaskedSelect String Item Device Len Rank Shape Type IsContiguous Float32s Float64s Int32s Uint8s ToMat "
	for i := range tensorType.NumMethod() {
		m := tensorType.Method(i)
		if strings.Contains(skip, " "+m.Name+" ") {
			continue
		}
		list = append(list, m)
	}
	return list
}()

// call calls a method with arguments that often fit.
func (w *methodsWorld) call(r *rand.Rand, m reflect.Method, x *tensor.Tensor, pick func() *tensor.Tensor) (out []*tensor.Tensor) {
	args := []reflect.Value{reflect.ValueOf(x)}
	like := func() *tensor.Tensor {
		for range 6 {
			if y := pick(); slices.Equal(y.Shape(), x.Shape()) {
				return y
			}
		}
		return pick()
	}
	for i := 1; i < m.Type.NumIn(); i++ {
		p := m.Type.In(i)
		if m.Type.IsVariadic() && i == m.Type.NumIn()-1 {
			switch p.Elem().Kind() {
			case reflect.Int:
				switch m.Name {
				case "Reshape", "Expand", "SumTo":
					for _, n := range w.shapes[r.IntN(len(w.shapes))] {
						args = append(args, reflect.ValueOf(n))
					}
				default:
					for range r.IntN(3) {
						args = append(args, reflect.ValueOf(r.IntN(x.Rank()+1)-1))
					}
				}
			case reflect.Pointer:
				if p.Elem() == tensorType {
					args = append(args, reflect.ValueOf(w.index[r.IntN(len(w.index))]))
				}
			}
			continue
		}
		switch p.Kind() {
		case reflect.Float64:
			args = append(args, reflect.ValueOf([]float64{0.5, 0.25, 1, 2, -1, 0, 0.1}[r.IntN(7)]))
		case reflect.Int:
			args = append(args, reflect.ValueOf(r.IntN(4)-r.IntN(2)))
		case reflect.Bool:
			args = append(args, reflect.ValueOf(r.IntN(2) == 0))
		case reflect.Pointer:
			switch p {
			case tensorType:
				y := like()
				if strings.Contains(" Gather GatherRows Embedding IndexSelect IndexAdd IndexCopy IndexFill Scatter ScatterAdd ScatterReduce ScatterAddRowsInPlace ", " "+m.Name+" ") && i < 3 && args[len(args)-1].Type() != tensorType || m.Name == "GatherRows" || m.Name == "Embedding" || m.Name == "ScatterAddRowsInPlace" && i == 1 {
					y = w.index[r.IntN(len(w.index))]
				}
				if r.IntN(12) == 0 {
					y = nil
				}
				args = append(args, reflect.ValueOf(y))
			case reflect.TypeFor[*tensor.RNG]():
				args = append(args, reflect.ValueOf(w.rng))
			case reflect.TypeFor[*kernels.Function]():
				args = append(args, reflect.ValueOf(function(r, 1)))
			default:
				return nil
			}
		case reflect.Slice:
			switch {
			case p.Elem().Kind() == reflect.Int:
				args = append(args, reflect.ValueOf([]int{1 + r.IntN(2), 1 + r.IntN(2)}[:1+r.IntN(2)]))
			case p.Elem() == reflect.TypeFor[[2]int]():
				var widths [][2]int
				for range x.Rank() {
					widths = append(widths, [2]int{r.IntN(3) - r.IntN(2), r.IntN(2)})
				}
				args = append(args, reflect.ValueOf(widths))
			case p.Elem() == tensorType:
				args = append(args, reflect.ValueOf([]*tensor.Tensor{w.index[1]}))
			case p.Elem().Kind() == reflect.Float64:
				args = append(args, reflect.Zero(p))
			default:
				return nil
			}
		default:
			if p == reflect.TypeFor[tensor.Type]() {
				args = append(args, reflect.ValueOf([]tensor.Type{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16, tensor.Bool}[r.IntN(7)]))
				continue
			}
			args = append(args, reflect.Zero(p))
		}
	}
	for _, v := range m.Func.Call(args) {
		if v.Type() == tensorType {
			out = append(out, v.Interface().(*tensor.Tensor))
		} else if v.Type() == reflect.TypeFor[[]*tensor.Tensor]() {
			out = append(out, v.Interface().([]*tensor.Tensor)...)
		}
	}
	return out
}

// view draws a view of x.
func (w *methodsWorld) view(r *rand.Rand, x *tensor.Tensor) *tensor.Tensor {
	for range 1 + r.IntN(2) {
		if x.Rank() == 0 {
			return x.Reshape(1)
		}
		a := r.IntN(x.Rank())
		n := x.Shape()[a]
		switch r.IntN(10) {
		case 0:
			from := r.IntN(n + 1)
			x = x.Slice(a, from, from+r.IntN(n-from+1))
		case 1:
			x = x.Step(a, 1+r.IntN(3))
		case 2:
			x = x.Select(a, r.IntN(max(n, 1)))
		case 3:
			x = x.Transpose()
		case 4:
			x = x.Expand(w.shapes[r.IntN(len(w.shapes))]...)
		case 5:
			x = x.Reshape(w.shapes[r.IntN(len(w.shapes))]...)
		case 6:
			s := 1 + r.IntN(3)
			x = x.Unfold(a, s, 1+r.IntN(2))
		case 7:
			x = x.Flip(a)
		case 8:
			if x.Rank() > 1 {
				x = x.Diagonal(0, 0, 1)
			}
		case 9: // windows that overlap, of as many elements as x
			x = x.Reshape(-1)
			x = x.Slice(0, 0, x.Len()/2+1).Unfold(0, 2, 1)
		}
	}
	return x
}

// step returns the program of a seed.
func (w *methodsWorld) step(seed uint64) func() ([]*tensor.Tensor, error) {
	return func() ([]*tensor.Tensor, error) {
		r := rand.New(rand.NewPCG(seed, 2))
		values := append([]*tensor.Tensor{}, w.older...)
		if err := w.scalars.Next(); err != nil {
			return nil, err
		}
		mode := r.IntN(4) // what is likely
		note := func(name string, f func() []*tensor.Tensor) {
			err := tensor.Try(func() {
				for _, z := range f() {
					if z != nil && z.Len() < 5000 {
						values = append(values, z)
					}
				}
			})
			if err == nil {
				w.did[name]++
			}
		}
		pick := func() *tensor.Tensor {
			if r.IntN(2) == 0 {
				return values[len(values)-1-r.IntN(min(len(values), 4))]
			}
			return values[r.IntN(len(values))]
		}
		one := func(t *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{t} }
		for range 4 + r.IntN(30) {
			x := pick()
			y := pick()
			for range 8 {
				if slices.Equal(x.Shape(), y.Shape()) && x.Type() == y.Type() {
					break
				}
				y = pick()
			}
			k := r.IntN(100)
			switch {
			case k < 12:
				f := function(r, 1)
				note("unary", func() []*tensor.Tensor { return one(tensor.Map(f, f.Scalars, x)) })
			case k < 20:
				f := []*kernels.Function{fn.Tanh, fn.Abs, fn.ReLU, fn.Square, fn.Neg}[r.IntN(5)]
				note("cheap unary", func() []*tensor.Tensor { return one(tensor.Map(f, f.Scalars, x)) })
			case k < 30:
				f := function(r, 2)
				note("binary", func() []*tensor.Tensor { return one(tensor.Map(f, f.Scalars, x, y)) })
			case k < 38:
				f := []*kernels.Function{fn.Add, fn.Mul, fn.Sub, fn.Max}[r.IntN(4)]
				note("cheap binary", func() []*tensor.Tensor { return one(tensor.Map(f, f.Scalars, x, y)) })
			case k < 52:
				note("view", func() []*tensor.Tensor { return one(w.view(r, x)) })
			case k < 62:
				note("in place", func() []*tensor.Tensor {
					t := x
					if mode == 1 {
						t = w.older[r.IntN(len(w.older))]
					}
					if r.IntN(2) == 0 {
						t = w.view(r, t)
					}
					switch r.IntN(6) {
					case 0:
						t.MapInPlace(fn.Sub, nil, y)
					case 1:
						t.MapInPlace(fn.Mul, nil, t)
					case 2:
						t.SetInPlace(y)
					case 3:
						t.FillInPlace(0.5)
					case 4:
						t.MapInPlace(fn.Tanh, nil)
					case 5:
						t.MapInPlace(fn.Add, nil, y.SumTo(t.Shape()...))
					}
					if r.IntN(3) == 0 {
						return one(t)
					}
					return nil
				})
			case k < 65:
				note("older", func() []*tensor.Tensor {
					w.older[r.IntN(len(w.older))].SetInPlace(x)
					return nil
				})
			case k < 69:
				note("zeros", func() []*tensor.Tensor {
					z := tensor.FullOf(w.d, x.Type(), float64(r.IntN(3)), x.Shape()...)
					if r.IntN(2) == 0 {
						w.view(r, z).SetInPlace(y)
					}
					return one(z)
				})
			case k < 71:
				note("number", func() []*tensor.Tensor { return one(x.Mul(tensor.ScalarFromArg(w.d, w.scalars.Arg(0)))) })
			case k < 72:
				note("next", func() []*tensor.Tensor {
					_ = w.scalars.Next()
					return one(x.Add(tensor.ScalarFromArg(w.d, w.scalars.Arg(0))))
				})
			case k < 73:
				note("int number", func() []*tensor.Tensor { return one(x.Add(tensor.ScalarFromArg(w.d, w.scalars.Arg(1)))) })
			case k < 75:
				note("constant", func() []*tensor.Tensor {
					data := make([]float64, x.Len())
					for i := range data {
						data[i] = float64(i) / 8
					}
					return one(devtest.New(w.d, data, x.Shape()...))
				})
			case k < 76:
				note("upload part", func() []*tensor.Tensor {
					c := x.Copy()
					tensor.Upload(c.Reshape(-1).Slice(0, 1, 3), []float64{7, 8})
					return one(c)
				})
			case k < 77:
				note("concat", func() []*tensor.Tensor { return one(tensor.Concat(axis(r, x), x, y, x)) })
			case k < 78:
				note("stack", func() []*tensor.Tensor { return one(tensor.Stack(0, y, x)) })
			case k < 79:
				note("uniform", func() []*tensor.Tensor { return one(w.rng.Uniform(w.d, -1, 1, x.Shape()...)) })
			case k < 80:
				note("linear", func() []*tensor.Tensor { return one(tensor.Linear(x, y, nil, fn.Tanh)) })
			case k < 82:
				note("free", func() []*tensor.Tensor {
					if len(values) > len(w.older) {
						i := len(w.older) + r.IntN(len(values)-len(w.older))
						if slices.Index(values, values[i]) == i {
							v := values[i]
							values = slices.DeleteFunc(values, func(t *tensor.Tensor) bool { return t == v })
							v.Free()
						}
					}
					return nil
				})
			case k < 86:
				note("where", func() []*tensor.Tensor { return one(x.Where(x.Lt(y), y)) })
			case k < 88:
				note("mask", func() []*tensor.Tensor { return one(x.Gt(y).To(tensor.Float32).Mul(x)) })
			default:
				m := methods[r.IntN(len(methods))]
				note(m.Name, func() []*tensor.Tensor { return w.call(r, m, x, pick) })
			}
		}
		if mode == 0 {
			return values, nil
		}
		var out []*tensor.Tensor
		for range 1 + r.IntN(4) {
			out = append(out, pick())
		}
		return out, nil
	}
}

// bitsOfEach returns the bits of each tensor.
func bitsOfEach(t *testing.T, tensors []*tensor.Tensor) []string {
	var list []string
	for _, x := range tensors {
		list = append(list, bits(t, []*tensor.Tensor{x}))
	}
	return list
}

// twoPrograms records two steps, does what a caller may do, and returns what differs from eager
// ones.
func twoPrograms(t *testing.T, d tensor.Device, seed uint64, did map[string]int) (failure string) {
	tensor.Scope(d, func() {
		r := rand.New(rand.NewPCG(seed, 8))
		a, b := newMethodsWorld(d, seed, did), newMethodsWorld(d, seed, did)
		type prog struct {
			eager, rec func() ([]*tensor.Tensor, error)
			want       []*tensor.Tensor
			r          *replay.Recording
			explained  bytes.Buffer
		}
		var progs []*prog
		var log []string
		check := func(when string) bool {
			log = append(log, when)
			for k, p := range progs {
				if p.r == nil {
					continue
				}
				for i, g := range bitsOfEach(t, p.r.Outputs()) {
					if w := bitsOfEach(t, p.want[i:i+1])[0]; g != w {
						failure = fmt.Sprintf("seed %d %v: program %d output %d\n%.300s\nwant\n%.300s\n%s", seed, log, k, i, g, w, p.explained.String())
						return false
					}
				}
			}
			for i := range a.older {
				if g, w := bits(t, b.older[i:i+1]), bits(t, a.older[i:i+1]); g != w {
					failure = fmt.Sprintf("seed %d %v: older %d\n%.300s\nwant\n%.300s", seed, log, i, g, w)
					for _, p := range progs {
						failure += p.explained.String()
					}
					return false
				}
			}
			if fmt.Sprint(a.rng.Calls, a.phase) != fmt.Sprint(b.rng.Calls, b.phase) {
				failure = fmt.Sprintf("seed %d %v calls", seed, log)
				return false
			}
			return true
		}
		for k := range 2 {
			p := &prog{}
			s := seed*2 + uint64(k)
			p.eager, p.rec = a.step(s), b.step(s)
			for range 2 {
				p.want, _ = p.eager()
			}
			rec, err := replay.Record(d, p.rec, replay.Options{Explain: &p.explained})
			if err != nil {
				if errors.Is(err, replay.ErrHostRead) || errors.Is(err, replay.ErrDiffers) { // indices that the step makes, say
					return
				}
				failure = fmt.Sprintf("seed %d: Record: %v", seed, err)
				return
			}
			defer rec.Free()
			p.r = rec
			progs = append(progs, p)
			for _, name := range []string{"inline", "join"} {
				did[name] += strings.Count(p.explained.String(), "replay: "+name)
			}
			if !check("recorded") {
				return
			}
		}
		for time := range 7 {
			a.between(seed*100 + uint64(time))
			b.between(seed*100 + uint64(time))
			p := progs[r.IntN(2)]
			if p.r == nil {
				continue
			}
			switch k := r.IntN(8); {
			case k == 0: // an eager step
				_, _ = p.eager()
				_, _ = p.rec()
				p.r.Free()
				p.r = nil
				if !check("eager") {
					return
				}
			default:
				p.want, _ = p.eager()
				if err := p.r.Run(); err != nil {
					failure = fmt.Sprintf("seed %d: Run: %v", seed, err)
					return
				}
				if !check(fmt.Sprint("run ", p == progs[1])) {
					return
				}
			}
		}
	})
	return failure
}

// TestRandomMethods: steps of any methods of Tensor, of every type, on views of every kind, in two
// recordings of the same older tensors, leave the bits of eager steps, whatever the caller does to
// those in between.
func TestRandomMethods(t *testing.T) {
	if !slices.Contains(devtest.Selected(), "cpu") {
		t.Skip("of so many operations a driver would build kernels for minutes")
	}
	n := 1000
	if !devtest.Sweep() {
		n = 200
	}
	for _, opt := range []tensor.Options{{}, {DefaultType: tensor.Float64}} {
		d := devtest.Open(t, "cpu", opt)
		did := map[string]int{}
		for seed := range n {
			if wrong := twoPrograms(t, d, devtest.Seed(seed), did); wrong != "" {
				t.Fatal(wrong)
			}
		}
		for _, name := range []string{"inline", "join", "in place", "view", "where", "concat"} {
			if did[name] == 0 {
				t.Errorf("%s was never done", name)
			}
		}
	}
}
