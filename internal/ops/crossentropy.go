package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// The cross-entropy of lines with labels, and its gradient: see kernels/cl/crossentropy_gpu.cl for
// the formulas.
var (
	// CrossEntropy: X [outer, len, inner], T [outer, inner], W [len], R [5, outer, inner], outer,
	// len, inner, weighted, logits, ignore, smoothing. R gets the losses, the weights of the
	// labels, and what the gradient needs. Without weighted, W is any buffer.
	CrossEntropy = &kernels.Kernel{Name: "k_cross_entropy", File: "crossentropy_cpu.cl", GPU: "crossentropy_gpu.cl", Grid: lines(4),
		Params: []kernels.Param{in("X"), inInts("T"), in("W"), out("R"), intArg("outer"), intArg("len"), intArg("inner"), intArg("weighted"),
			intArg("logits"), intArg("ignore"), realArg("smoothing")},
		Twin: kernels.Twin{F32: crossEntropyTwin[float32], F64: crossEntropyTwin[float64]}, Trial: smallOnly, Describe: describeCrossEntropy,
		Rows: byRows("cross_entropy", []kernels.Local{{Type: "REAL", N: 2 * rowsGroup}, {Type: "REAL2", N: 2 * rowsGroup}},
			func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
				if a[6].Int == 1 {
					x, one := kernels.CutOf(int(a[5].Int)), kernels.CutOf(1)
					of = []kernels.Cut{x, one, readIf(a[7].Int != 0), {Step: 1, Width: 1, Times: 5, Apart: int(a[4].Int)}}
				}
				return int(a[4].Int), 0, of
			}),
		Tol: kernels.Tolerance{ULP: 4, Bound: crossEntropyBound}}
	// CrossEntropyGrad: X, T, W, R, G [outer, inner], or [1], D [outer, len, inner], the numbers of
	// CrossEntropy, and whether each line has its own of G.
	CrossEntropyGrad = &kernels.Kernel{Name: "k_cross_entropy_grad", File: "crossentropy_cpu.cl", GPU: "crossentropy_gpu.cl", Trial: smallOnly, Describe: describeCrossEntropyGrad,
		Params: []kernels.Param{in("X"), inInts("T"), in("W"), in("R"), in("G"), out("D"), intArg("outer"), intArg("len"), intArg("inner"),
			intArg("weighted"), intArg("logits"), intArg("ignore"), realArg("smoothing"), intArg("each")},
		Grid: lines(6),
		Rows: byRows("cross_entropy_grad", nil, func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
			if lines := int(a[6].Int); a[8].Int == 1 {
				x, one, up := kernels.CutOf(int(a[7].Int)), kernels.CutOf(1), kernels.Shared
				if a[13].Int != 0 {
					up = one
				}
				of = []kernels.Cut{x, one, readIf(a[9].Int != 0), {Off: 2 * lines, Step: 1, Width: 1, Times: 3, Apart: lines}, up, x}
			}
			return int(a[6].Int), 0, of
		}),
		Twin: kernels.Twin{F32: crossEntropyGradTwin[float32], F64: crossEntropyGradTwin[float64]},
		Tol: kernels.Tolerance{ULP: 4, Rel: 1, Scale: func(a []kernels.Arg) float64 {
			return (24 + min(4*kernels.MaxAbs(a, 0)+4*kernels.MaxAbs(a, 3), 300)) * kernels.MaxAbs(a, 4) * (kernels.MaxAbs(a, 3) + 2*largestWeight(a))
		}}}
)

// describeCrossEntropy: X, T, W, R, outer, len, inner, weighted, logits, ignore, smoothing.
func describeCrossEntropy(in args) operations {
	l := crossEntropySpec(in, 4)
	part := func(i int) kernels.View { return view(in, 3, i*l.Outer*l.Inner, l.Inner, 1) }
	return operations{&kernels.CrossEntropy{CrossEntropySpec: l, Loss: part(0), Counted: part(1), Most: part(2), LogSum: part(3), Slope: part(4)}}
}

// describeCrossEntropyGrad: X, T, W, R, G, D, outer, len, inner, weighted, logits, ignore,
// smoothing, each.
func describeCrossEntropyGrad(in args) operations {
	l, each := crossEntropySpec(in, 6), int(in[13].Int)
	part := func(i int) kernels.View { return view(in, 3, i*l.Outer*l.Inner, l.Inner, 1) }
	return operations{&kernels.CrossEntropyGrad{CrossEntropySpec: l, Most: part(2), LogSum: part(3), Slope: part(4),
		G: view(in, 4, 0, l.Inner*each, each), D: view(in, 5, 0, l.Len*l.Inner, l.Inner, 1)}}
}

// crossEntropySpec is of a launch whose numbers begin at an argument.
func crossEntropySpec(in args, at int) kernels.CrossEntropySpec {
	p := crossEntropyArgsOf(func(i int) int { return int(in[i].Int) }, at)
	return kernels.CrossEntropySpec{Outer: p.outer, Len: p.len, Inner: p.inner, Logits: p.logits, Weighted: p.weighted, Ignore: int(p.ignore),
		Smoothing: passed(at + 6), X: view(in, 0, 0, p.len*p.inner, p.inner, 1), Labels: view(in, 1, 0, p.inner, 1), Weights: view(in, 2, 0, 1)}
}

// crossEntropyArgs is what both kernels take, of which the numbers begin at an argument.
type crossEntropyArgs struct {
	outer, len, inner int
	weighted, logits  bool
	ignore            int32
}

func crossEntropyArgsOf(a func(i int) int, at int) crossEntropyArgs {
	return crossEntropyArgs{a(at), a(at + 1), a(at + 2), a(at+3) != 0, a(at+4) != 0, int32(a(at + 5))}
}

func (l crossEntropyArgs) counts(t int32) bool { return t != l.ignore && t >= 0 && int(t) < l.len }

func crossEntropyTwin[T kernels.Real](c kernels.Call[T]) {
	x, labels, w, r, p := c.Reals(0), c.Ints(1), c.Reals(2), c.Reals(3), crossEntropyArgsOf(c.Int, 4)
	smoothing, lines, loops := float64(c.Real(10)), p.outer*p.inner, crossEntropyLoops(c, p)
	c.Parallel(lines, 20*p.len, func(lo, hi int) {
		for line := lo; line < hi; line++ {
			at := line/p.inner*p.len*p.inner + line%p.inner
			var most, sum, logSum, weights, weighed float64
			if loops != nil {
				most, sum, weighed = exponentials(loops, x[at:at+p.len], smoothing != 0)
				weights = float64(p.len)
			} else {
				if p.logits {
					most = math.Inf(-1)
				}
				for k := 0; k < p.len && p.logits; k++ {
					if v := float64(x[at+k*p.inner]); v > most {
						most = v
					}
				}
				for k := 0; k < p.len && (p.logits || smoothing != 0); k++ {
					d := float64(T(float64(x[at+k*p.inner]) - most))
					weight := 1.0
					if p.weighted {
						weight = float64(w[k])
					}
					sum += math.Exp(d)
					weights += weight
					weighed += weight * d
				}
			}
			if p.logits {
				logSum = math.Log(sum)
			}
			loss, weight, slope := 0.0, 0.0, 0.0
			if t := labels[line]; p.counts(t) {
				weight = 1
				if p.weighted {
					weight = float64(w[t])
				}
				loss = (1 - smoothing) * weight * (logSum - float64(T(float64(x[at+int(t)*p.inner])-most)))
				slope = (1 - smoothing) * weight
				if smoothing != 0 {
					loss += smoothing / float64(p.len) * (logSum*weights - weighed)
					slope += smoothing / float64(p.len) * weights
				}
			}
			for i, v := range [...]float64{loss, weight, most, logSum, slope} {
				r[i*lines+line] = T(v)
			}
		}
	})
}

// crossEntropyLoops returns the loops that lines are computed with, which are rows of logits, all
// of the same weight. Others are left to plain loops.
func crossEntropyLoops[T kernels.Real](c kernels.Call[T], l crossEntropyArgs) *vec.Loops[T] {
	if l.inner != 1 || l.len == 0 || !l.logits || l.weighted {
		return nil
	}
	return loopsOf(c)
}

// exponentials returns the largest element of a row, the sum of the exponentials of what the others
// are beside it, and, if it is asked for, that of these differences.
func exponentials[T kernels.Real](l *vec.Loops[T], row []T, differences bool) (most, sum, total float64) {
	room := l.Scratch(len(row))
	defer l.Return(room)
	d, largest := room.V, l.Max(row)
	l.MapBy(vec.Sub, d, row, largest)
	if differences {
		total = float64(l.Sum(d))
	}
	l.Map(vec.Exp, d, d, d, d, d)
	return float64(largest), float64(l.Sum(d)), total
}

func crossEntropyGradTwin[T kernels.Real](c kernels.Call[T]) {
	x, labels, w, r, g, d, p := c.Reals(0), c.Ints(1), c.Reals(2), c.Reals(3), c.Reals(4), c.Reals(5), crossEntropyArgsOf(c.Int, 6)
	smoothing, lines, each, loops := c.Real(12), p.outer*p.inner, c.Int(13), crossEntropyLoops(c, p)
	c.Parallel(lines, 20*p.len, func(lo, hi int) {
		for line := lo; line < hi; line++ {
			at := line/p.inner*p.len*p.inner + line%p.inner
			t := labels[line]
			most, logSum, slope := float64(r[2*lines+line]), float64(r[3*lines+line]), r[4*lines+line]
			if g := g[line*each]; p.inner == 1 && !(p.logits || smoothing != 0) && p.counts(t) { // of one element
				weight, row := T(1), d[at:at+p.len]
				if p.weighted {
					weight = w[t]
				}
				clear(row)
				if none := 0 * g; none != 0 {
					for k := range row {
						row[k] = none
					}
				}
				row[t] = -weight * g
				continue
			}
			if loops != nil && p.counts(t) {
				row := d[at : at+p.len]
				loops.MapBy(vec.Sub, row, x[at:], T(most))
				loops.MapBy(vec.Sub, row, row, T(logSum))
				loops.Map(vec.Exp, row, row, row, row, row)
				loops.MapBy(vec.Mul, row, row, slope)
				if smoothing != 0 {
					loops.MapBy(vec.Sub, row, row, smoothing/T(p.len))
				}
				row[t] -= 1 - smoothing
				loops.MapBy(vec.Mul, row, row, g[line*each])
				continue
			}
			for k := range p.len {
				i := at + k*p.inner
				if !p.counts(t) {
					d[i] = 0
					continue
				}
				weight, v := T(1), T(0)
				if p.weighted {
					weight = w[k]
				}
				if p.logits {
					v = T(math.Exp(float64(x[i])-most-logSum)) * slope
				}
				if smoothing != 0 {
					v -= smoothing / T(p.len) * weight
				}
				if k == int(t) {
					v -= (1 - smoothing) * weight
				}
				d[i] = v * g[line*each]
			}
		}
	})
}

func largestWeight(a []kernels.Arg) float64 { return max(1, kernels.MaxAbs(a, 2)) }

// crossEntropyBound is that of a logarithm of a softmax, times the weights: what is off is the sum,
// by what softmaxBound says, and the difference from it. With smoothing, n differences are summed
// at least sixteen beside each other.
func crossEntropyBound(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	eps, least := real.Epsilon()
	n, large := float64(args[5].Int), kernels.MaxAbs(args, 0)
	difference := 2*large + math.Log(max(n, 1)) + 1
	bound := n/16 + 12 + min(2*large, 88) + 8*difference
	if args[10].Real != 0 {
		bound += 2 * (n + 8) * difference
	}
	bound = bound*eps*largestWeight(args) + least
	return func(int, int) float64 { return bound }
}
