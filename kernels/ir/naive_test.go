package ir_test

import (
	"math"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// naive computes a row program one number at a time, in double precision and in the order of the
// definition: what a reader takes it to mean.
type naive struct {
	p               *ir.Program
	outer, n, inner int
	sets, span      int                  // of channels
	reals           map[string][]float64 // of inputs
	ints            map[string][]int32
	numbers         map[string]float64
	known           map[[4]int]float64 // of reductions
	compiled        map[*expr.Expr]*expr.Program
}

// at returns a formula at an index of the space.
func (v *naive) at(x *expr.Expr, o, k, i int) float64 {
	f := v.compiled[x]
	if f == nil {
		f = expr.Compile(expr.Substitute(func(e *expr.Expr) *expr.Expr { // one number has no index
			if l, axis := e.Leaf(); l == expr.OfIndex {
				return expr.IntParam(len(v.p.Values) + axis)
			}
			return nil
		}, x)[0])
		v.compiled[x] = f
	}
	value := func(index int) float64 {
		if axis := index - len(v.p.Values); axis >= 0 {
			return float64([]int{o, k, i}[axis])
		}
		return v.value(index, o, k, i)
	}
	return f.At(value, value)
}

// value returns a value of the program at an index of the space.
func (v *naive) value(index, o, k, i int) float64 {
	of := v.p.Values[index]
	at := 0
	switch of.Along {
	case ir.Element:
		at = (o*v.n+k)*v.inner + i
	case ir.Line:
		at = o*v.inner + i
	case ir.Column:
		at = k
	}
	switch {
	case of.Kind == ir.Number:
		return v.numbers[of.Name]
	case of.Kind == ir.Length:
		return float64(v.n)
	case of.Channel:
		return v.reals[of.Name][o%v.sets*(v.n/v.span)+k/v.span]
	case of.Kind == ir.Input && of.Int:
		return float64(v.ints[of.Name][at])
	case of.Kind == ir.Input:
		return v.reals[of.Name][at]
	}
	key := [4]int{index, o, k, i}
	if r, ok := v.known[key]; ok {
		return r
	}
	r := 0.0
	switch of.Kind {
	case ir.Max:
		r = math.Inf(-1)
		for k := range v.n {
			if x := v.at(of.Of, o, k, i); x > r {
				r = x
			}
		}
	case ir.Sum:
		for k := range v.n {
			r += v.at(of.Of, o, k, i)
		}
	case ir.OneHot:
		if at := v.at(of.At, o, k, i); int(at) == k {
			r = v.at(of.Of, o, k, i)
		}
	case ir.Pick:
		if at := v.at(of.At, o, k, i); at >= 0 && int(at) < v.n {
			r = v.at(of.Of, o, int(at), i)
		}
	}
	v.known[key] = r
	return r
}

// run returns the results.
func (v *naive) run() [][]float64 {
	v.known, v.compiled = map[[4]int]float64{}, map[*expr.Expr]*expr.Program{}
	var all [][]float64
	for _, r := range v.p.Results {
		dims := [3]int{1, 1, 1}
		for a, n := range []int{v.outer, v.n, v.inner} {
			if r.Along.Has(a) {
				dims[a] = n
			}
		}
		var list []float64
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
