package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// The operands and scalars of joined: x and y, a table that is read by index; a number, and the
// call and the key of a stream.
var (
	jx, jy = expr.Input(0), expr.Input(1)
	js     = expr.Param(0)
)

// everything is functions of everything that there is, over rank axes.
func everything(rank int) *kernels.FusedElementwise {
	number := expr.IntParam(1) // of an element
	for a := range rank {
		if a == 0 {
			number = expr.Index(0)
		} else {
			number = expr.Index(a).Add(number.Mul(expr.Const(3)))
		}
	}
	word := expr.Random(number, expr.IntParam(1), expr.IntParam(2), expr.IntParam(3))
	function := func(name string, f *expr.Expr) *kernels.Function {
		return &kernels.Function{Name: name, Value: f, Integers: true, Scalars: []float64{2, 7, 11, -13}}
	}
	return &kernels.FusedElementwise{Name: fmt.Sprintf("joined_%d", rank), Functions: []*kernels.Function{
		function("difference", jx.Sub(jy).Add(js.Mul(number.Rem(expr.Const(50)).Float()))),
		function("looked_up", expr.Load(2, word.MulHigh(expr.Const(40)).Sub(expr.Const(5))).Max(jy)),
		function("sum", jx.Add(jy)),
	}}
}

// joinedAt is joined on the host, of one element.
func joinedAt(x, y, s float64, table []float64, index []int) [3]float64 {
	number := 0
	for _, i := range index {
		number = i + 3*number
	}
	if len(index) == 0 {
		number = 7
	}
	w := expr.Philox([4]uint32{uint32(number / 4), 7}, [2]uint32{11, uint32(1<<32 - 13)})[number%4]
	k := int(uint64(w)*40>>32) - 5
	at := 0.0
	if k >= 0 && k < len(table) {
		at = table[k]
	}
	return [3]float64{x - y + s*float64(number%50), math.Max(at, y), x + y}
}

// TestMapInto: joined functions that read indices, random words and a table, over random shapes of
// every rank, in views of all kinds and broadcast, give what loops on the host give, for every
// type; results may be views, and operands.
func TestMapInto(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		count, most := 300, fused.MapRank
		if !isGo(d) { // every layout is a kernel to build
			count, most = 24, 4
		}
		if testing.Short() {
			count /= 4
		}
		var functions []*kernels.FusedElementwise
		for rank := range most {
			functions = append(functions, everything(rank))
		}
		r := rand.New(rand.NewPCG(8, 8))
		for k := range count {
			rank := r.IntN(most)
			shape := make([]int, rank)
			for i := range shape {
				shape[i] = 1 + r.IntN(4)
				if rank < 4 && r.IntN(3) == 0 {
					shape[i] = 1 + r.IntN(90)
				}
			}
			if rank > 0 && r.IntN(20) == 0 {
				shape[r.IntN(rank)] = 0
			}
			narrow := append([]int{}, shape...)
			for i := range narrow {
				if r.IntN(3) == 0 && narrow[i] > 0 {
					narrow[i] = 1
				}
			}
			narrow = narrow[r.IntN(len(narrow)+1):]
			typ := []tensor.Type{d.DefaultType(), d.DefaultType(), tensor.Int32, tensor.Uint8}[r.IntN(4)]
			base, x, hx := viewOf(r, d, typ, shape, false)
			_, y, hy := viewOf(r, d, typ, narrow, true)
			by := hy.broadcast(shape)
			tableBase := make([]float64, 64)
			for i := range tableBase {
				tableBase[i] = float64(i * 3)
			}
			table := devtest.New(d, tableBase, 32, 2).Slice(1, 0, 1).To(typ) // with gaps if it is float
			var elements []float64
			for i := range 32 {
				elements = append(elements, float64(i*6))
			}
			results := make([]*tensor.Tensor, 3)
			pair := tensor.Full(d, 99, append(append([]int{}, shape...), 2)...).To(typ)
			results[0], results[1] = pair.Select(rank, 0), pair.Select(rank, 1)
			results[2] = x
			if k%2 == 0 {
				results[2] = tensor.Zeros(d, shape...).To(typ)
			}
			s := kernels.FloatArg(2)
			if typ != d.DefaultType() {
				s = kernels.IntArg(2)
			}
			label := fmt.Sprintf("%d: %v %v %v and %v", k, typ, x.Shape(), hx.strides, y.Shape())
			var want [3][]float64
			each(shape, func(index []int) {
				for i, v := range joinedAt(*hx.at(index), *by.at(index), 2, elements, index) {
					if typ == tensor.Uint8 {
						v = float64(uint8(int(v)))
					}
					want[i] = append(want[i], v)
				}
			})
			tensor.MapInto(functions[rank], []kernels.Arg{s, kernels.IntArg(7), kernels.IntArg(11), kernels.IntArg(-13)}, results, x, y, table)
			for i, r := range results {
				for at, v := range devtest.Float64s(t, r) {
					if v != want[i][at] {
						t.Fatalf("%s: element %d of result %d is %v, want %v", label, at, i, v, want[i][at])
					}
				}
			}
			i := 0
			each(shape, func(index []int) { *hx.at(index) = want[2][i]; i++ })
			if k%2 == 1 {
				for at, v := range devtest.Float64s(t, base) {
					if v != hx.data[at] {
						t.Fatalf("%s in place: element %d of the memory is %v, want %v", label, at, v, hx.data[at])
					}
				}
			}
		}
	})
}

// TestJoinedKernels: the kernels of joined functions compute what their host kernels do, and say so, in
// layouts of all kinds.
func TestJoinedKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	const unit, fixed, strided, indexed = fused.Contiguous, fused.Broadcast, fused.Strided, fused.Indexed
	inexact := &kernels.FusedElementwise{Name: "inexact", Functions: []*kernels.Function{
		{Name: "sine", Value: jx.Ldexp(expr.Index(0).Rem(expr.Const(8))).SinPi().Mul(js), Scalars: []float64{2}},
		{Name: "cosine", Value: jx.Ldexp(expr.Index(0).Rem(expr.Const(8))).CosPi().Div(expr.Const(3)), Scalars: []float64{2}}}}
	check := func(t *testing.T, d tensor.Device) {
		var list []*kernels.Kernel
		add := func(j *kernels.FusedElementwise, typ kernels.DType, rank int, steps ...fused.Access) {
			l := fused.AccessPattern{Rank: rank, Gaps: steps[len(steps)-1] == strided}
			copy(l.Steps[:], steps)
			list = append(list, fused.Map(j, typ, l))
			if l.Aligned = !d.Target().CPU; l.Aligned && !strings.Contains(fmt.Sprint(steps), fmt.Sprint(strided)) {
				list = append(list, fused.Map(j, typ, l))
			}
		}
		for rank := 1; rank <= 3; rank++ {
			j := everything(rank)
			add(j, kernels.Float32, rank, unit, unit, indexed, unit, unit, unit)
			add(j, kernels.Float32, rank, unit, fixed, indexed, strided, strided, strided)
			if rank == 2 {
				add(j, kernels.Int32, rank, strided, unit, indexed, unit, strided, strided)
				add(j, kernels.Uint8, rank, fixed, unit, indexed, strided, unit, strided)
			}
		}
		for _, j := range ops.Indexed() {
			steps := slices.Repeat([]fused.Access{unit}, j.Operands()+len(j.Functions))
			add(j, kernels.Float32, max(j.Rank(), 1), steps...)
			steps[len(steps)-1] = strided
			add(j, kernels.Float32, max(j.Rank(), 2), steps...)
		}
		add(inexact, kernels.Float32, 1, unit, unit, unit)
		add(inexact, kernels.Float32, 2, unit, strided, strided)
		if err := kerneltest.All(d, testing.Short(), list...); err != nil {
			t.Error(err)
		}
	}
	devtest.Each(t, true, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestMapIntoMisuse: every wrong call is an error that says what is wrong, and changes nothing.
func TestMapIntoMisuse(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	j, one := everything(1), func(f *expr.Expr) *kernels.FusedElementwise {
		return &kernels.FusedElementwise{Name: "one",
			Functions: []*kernels.Function{{Name: "f", Value: f, Scalars: []float64{1}}}}
	}
	x, ints := tensor.Zeros(d, 4), tensor.Zeros(d, 4).To(tensor.Int32)
	results := func() []*tensor.Tensor {
		return []*tensor.Tensor{tensor.Zeros(d, 4), tensor.Zeros(d, 4), tensor.Zeros(d, 4)}
	}
	numbers := []kernels.Arg{kernels.FloatArg(1), kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(1)}
	pair := tensor.Zeros(d, 4, 2)
	column := func(k int) *tensor.Tensor { return pair.Select(1, k) }
	for want, f := range map[string]func(){
		"the functions are nil": func() { tensor.MapInto(nil, nil, nil) },
		"fuses 0 functions":     func() { tensor.MapInto(&kernels.FusedElementwise{Name: "none"}, nil, nil) },
		"fuses a function that is nil": func() {
			tensor.MapInto(&kernels.FusedElementwise{Name: "nil", Functions: []*kernels.Function{nil}}, nil, results()[:1])
		},
		"its formula is an int":                func() { tensor.MapInto(one(expr.Index(0)), numbers[:1], results()[:1]) },
		"both by index and element by element": func() { tensor.MapInto(one(jx.Add(expr.Load(0, expr.Index(0)))), numbers[:1], results()[:1], x) },
		"both as a float and as an int":        func() { tensor.MapInto(one(js.Add(expr.IntParam(0).Float())), numbers[:1], results()[:1]) },
		"it takes 3 results, 3 operands and 4": func() { tensor.MapInto(j, numbers, results()[:2], x, x, x) },
		"scalar 1 is a float, not an int": func() {
			tensor.MapInto(j, []kernels.Arg{kernels.FloatArg(1), kernels.FloatArg(1), kernels.IntArg(1), kernels.IntArg(1)}, results(), x, x, x)
		},
		"scalar 0 is an int, not a float": func() {
			tensor.MapInto(j, []kernels.Arg{kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(1)}, results(), x, x, x)
		},
		"the results have one shape":                func() { r := results(); r[1] = tensor.Zeros(d, 5); tensor.MapInto(j, numbers, r, x, x, x) },
		"the results are of one type":               func() { r := results(); r[1] = ints; tensor.MapInto(j, numbers, r, x, x, x) },
		"not int32":                                 func() { tensor.MapInto(one(jx), numbers[:1], []*tensor.Tensor{ints}, x) },
		"two results share elements":                func() { tensor.MapInto(j, numbers, []*tensor.Tensor{column(0), column(1), column(1)}, x, x, x) },
		"repeats elements":                          func() { r := results(); r[2] = tensor.Zeros(d, 1).Expand(4); tensor.MapInto(j, numbers, r, x, x, x) },
		"the functions read the index along axis 1": func() { tensor.MapInto(everything(2), numbers, results(), x, x, x) },
		"shape mismatch [5] [4]":                    func() { tensor.MapInto(j, numbers, results(), tensor.Zeros(d, 5), x, x) },
		"see MapInto":                               func() { tensor.Map(j.Functions[0], []float64{1, 1, 1, 1}, x, x) },
		"see MapInto (of a layer)": func() {
			tensor.Linear(pair, tensor.Zeros(d, 2, 3), nil, &kernels.Function{Name: "places", Value: jx.Add(expr.Index(0).Float())})
		},
		"see MapInto (in place)": func() { x.MapInPlace(j.Functions[0], []float64{1, 1, 1, 1}, x) },
		"tensor is nil":          func() { tensor.MapInto(j, numbers, results(), x, nil, x) },
		"which gives or takes masks": func() {
			tensor.MapInto(&kernels.FusedElementwise{Name: "two", Functions: []*kernels.Function{fn.Add, fn.Lt}}, nil,
				results()[:2], x, x)
		},
		"apply it alone, with Map": func() { tensor.MapInto(fn.Where.Alone(), nil, results()[:1], x, x, x) },
	} {
		err := tensor.Try(f)
		if want, _, _ := strings.Cut(want, " ("); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one that says %q", err, want)
		}
	}
	again := func() []*tensor.Tensor { return []*tensor.Tensor{column(0), column(1), tensor.Zeros(d, 4)} }
	if err := tensor.Try(func() { tensor.MapInto(j, numbers, again(), x, x, x) }); err != nil {
		t.Errorf("two columns of a matrix: %v", err)
	}
}
