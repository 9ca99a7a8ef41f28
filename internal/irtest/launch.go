package irtest

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Launch is a launch of a row program, which Run computes one number at a time, in double precision
// and in the order of the definition: what a reader takes it to mean. Its sums are over any axes.
type Launch struct {
	Program         *ir.Program
	Outer, N, Inner int
	Sets, Span      int                  // of inputs by channel
	Chunk           int                  // elements of a part, of programs in parts
	Lines           int                  // of a run, of programs with sums over lines
	Floats          map[string][]float64 // inputs, by name
	Ints            map[string][]int32   // the same of ints
	Numbers         map[string]float64   // by name

	known    map[[4]int]float64 // of reductions
	compiled map[*expr.Expr]*expr.Program
}

// at returns a formula at an index of the space.
func (v *Launch) at(x *expr.Expr, o, k, i int) float64 {
	f := v.compiled[x]
	if f == nil {
		f = expr.Compile(expr.Substitute(func(e *expr.Expr) *expr.Expr { // one number has no index
			if l, axis := e.Leaf(); l == expr.OfIndex {
				return expr.IntParam(len(v.Program.Values) + axis)
			}
			return nil
		}, x)[0])
		v.compiled[x] = f
	}
	value := func(index int) float64 {
		if axis := index - len(v.Program.Values); axis >= 0 {
			return float64([]int{o, k, i}[axis])
		}
		return v.value(index, o, k, i)
	}
	return f.At(value, value)
}

// value returns a value of the program at an index of the space.
func (v *Launch) value(index, o, k, i int) float64 {
	of := v.Program.Values[index]
	at, dims := 0, [3]int{v.Outer, v.N, v.Inner}
	for a, place := range [3]int{o, k, i} {
		if of.Along.Has(a) {
			at = at*dims[a] + place
		}
	}
	switch {
	case of.Kind == ir.Number:
		return v.Numbers[of.Name]
	case of.Kind == ir.Length:
		return float64(dims[bits.TrailingZeros32(uint32(of.Over))])
	case of.Channel:
		return v.Floats[of.Name][o%v.Sets*(v.N/v.Span)+k/v.Span]
	case of.Set:
		return v.Floats[of.Name][o/v.Span%v.Sets]
	case of.Kind == ir.Input && of.Int:
		return float64(v.Ints[of.Name][at])
	case of.Kind == ir.Input:
		return v.Floats[of.Name][at]
	}
	key := [4]int{index}
	for a, place := range [3]int{o, k, i} {
		if of.Along.Has(a) {
			key[1+a] = place
		}
	}
	if r, ok := v.known[key]; ok {
		return r
	}
	r := 0.0
	switch of.Kind {
	case ir.MaxNumber, ir.Max, ir.Min, ir.Prod:
		r = map[ir.Kind]float64{ir.Prod: 1, ir.Min: math.Inf(1)}[of.Kind]
		if of.Kind == ir.Max || of.Kind == ir.MaxNumber {
			r = math.Inf(-1)
		}
		if of.Int && of.Kind != ir.Prod {
			r = math.Copysign(1<<31-0.5, r) - 0.5 // the ends of int32
		}
		for k := range v.N {
			switch x := v.at(of.Of, o, k, i); of.Kind {
			case ir.Prod:
				r *= x
			case ir.Max:
				r = max(r, x)
			case ir.Min:
				r = min(r, x)
			default:
				if x > r {
					r = x
				}
			}
		}
	case ir.Sum:
		lo, hi := [3]int{o, k, i}, [3]int{o + 1, k + 1, i + 1}
		for a, n := range dims {
			if of.Over.Has(a) {
				lo[a], hi[a] = 0, n
			}
		}
		for o := lo[0]; o < hi[0]; o++ {
			for k := lo[1]; k < hi[1]; k++ {
				for i := lo[2]; i < hi[2]; i++ {
					r += v.at(of.Of, o, k, i)
				}
			}
		}
	case ir.OneHot:
		if at := v.at(of.At, o, k, i); int(at) == k {
			r = v.at(of.Of, o, k, i)
		}
	case ir.First:
		if v.N > 0 {
			r = v.at(of.Of, o, 0, i)
		}
	case ir.Pick:
		if at := v.at(of.At, o, k, i); at >= 0 && int(at) < v.N {
			r = v.at(of.Of, o, int(at), i)
		}
	}
	v.known[key] = r
	return r
}

// parts returns the results of a program in parts: those of a launch for each part.
func (v *Launch) parts() [][]float64 {
	whole := *v.Program
	whole.Parts = false
	all := make([][]float64, len(whole.Results))
	for o := range v.Outer {
		for begin := 0; begin == 0 || begin < v.N; begin += v.Chunk {
			part := *v
			part.Program, part.Outer, part.N = &whole, 1, min(v.Chunk, v.N-begin)
			part.Floats, part.Ints = map[string][]float64{}, map[string][]int32{}
			for _, in := range whole.Values {
				from, n := 0, 1
				switch in.Along {
				case ir.Element:
					from, n = (o*v.N+begin)*v.Inner, part.N*v.Inner
				case ir.Line:
					from, n = o*v.Inner, v.Inner
				case ir.Column:
					from, n = begin, part.N
				}
				switch {
				case in.Kind != ir.Input:
				case in.Int:
					part.Ints[in.Name] = v.Ints[in.Name][from:][:n]
				default:
					part.Floats[in.Name] = v.Floats[in.Name][from:][:n]
				}
			}
			for k, r := range part.Run() {
				all[k] = append(all[k], r...)
			}
		}
	}
	return all
}

// Run returns the results.
func (v *Launch) Run() [][]float64 {
	if v.Program.Parts {
		return v.parts()
	}
	v.known, v.compiled = map[[4]int]float64{}, map[*expr.Expr]*expr.Program{}
	var all [][]float64
	for _, r := range v.Program.Results {
		dims := [3]int{1, 1, 1}
		for a, n := range []int{v.Outer, v.N, v.Inner} {
			if r.Along.Has(a) {
				dims[a] = n
			}
		}
		var list []float64
		if r.Summed {
			for o := range v.Outer {
				if o%v.Lines == 0 {
					list = append(list, make([]float64, v.N)...)
				}
				for k := range v.N {
					list[o/v.Lines*v.N+k] += v.at(r.Value, o, k, 0)
				}
			}
			all = append(all, list)
			continue
		}
		for o := range dims[0] {
			for k := range dims[1] {
				for i := range dims[2] {
					list = append(list, v.at(r.Value, o, k, i))
				}
			}
		}
		all = append(all, list)
	}
	return all
}

// anything is what Expected has of a result that rounding may change at will.
var anything = math.Float64frombits(math.Float64bits(math.NaN()) | 0xA5)

// Expected returns what single precision may store: the results of Run, but anything where inputs that
// are a millionth off give others, as a choice does between numbers that are equal but for rounding.
func (v *Launch) Expected() [][]float64 {
	want, near := v.Run(), *v
	near.Floats = map[string][]float64{}
	rng := rand.New(rand.NewPCG(7, 8))
	for name, x := range v.Floats {
		off := make([]float64, len(x))
		for i, f := range x {
			off[i] = f * (1 + 1e-6*(2*rng.Float64()-1))
		}
		near.Floats[name] = off
	}
	for k, list := range near.Run() {
		for i, w := range list {
			if math.Abs(w-want[k][i]) > 1e-4*max(1, math.Abs(w)) {
				want[k][i] = anything
			}
		}
	}
	return want
}

// Draw returns a launch with random inputs. Of a program with inputs by channel or set, or with sums
// over lines, inner is 1. Lines are of some sets, and runs of some lines.
func Draw(p *ir.Program, rng *rand.Rand, outer, n, inner int) *Launch {
	v := &Launch{Program: p, Outer: outer, N: n, Inner: inner, Sets: 1, Span: 1, Floats: map[string][]float64{}, Ints: map[string][]int32{}, Numbers: map[string]float64{}, Chunk: max(1, n)}
	if slices.ContainsFunc(p.Values, func(in ir.Value) bool { return in.Channel }) {
		v.Inner, inner = 1, 1
		v.Sets = 1 + rng.IntN(3)
		for v.Span = 1 + rng.IntN(max(n, 1)); n%v.Span != 0; v.Span-- {
		}
		if rng.IntN(3) == 0 {
			v.Sets, v.Span = 1, 1
		}
	}
	if slices.ContainsFunc(p.Values, func(in ir.Value) bool { return in.Set }) {
		v.Inner, inner = 1, 1
		v.Sets, v.Span = 1+rng.IntN(3), 1+rng.IntN(3)
	}
	if p.Runs() {
		v.Inner, inner = 1, 1
		v.Lines = 1 + rng.IntN(outer+1)
	}
	for _, in := range p.Values {
		size := 1
		for a, d := range []int{outer, n, inner} {
			if in.Channel {
				size = v.Sets * n / v.Span
			} else if in.Set {
				size = v.Sets
			} else if in.Along.Has(a) {
				size *= d
			}
		}
		switch {
		case in.Kind == ir.Number:
			v.Numbers[in.Name] = float64(float32(rng.Float64() + 0.5))
			if in.Int {
				v.Numbers[in.Name] = float64(rng.IntN(5) - 1)
			}
		case in.Kind == ir.Input && in.Int:
			for range size {
				v.Ints[in.Name] = append(v.Ints[in.Name], int32(rng.IntN(n+2)-1))
			}
		case in.Kind == ir.Input:
			for range size {
				v.Floats[in.Name] = append(v.Floats[in.Name], float64(float32(rng.Float64()*4-2)))
			}
		}
	}
	return v
}
