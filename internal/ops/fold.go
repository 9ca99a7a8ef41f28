package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// FoldKind says what a line of elements is folded to. The numbers are those of fold.cl.
type FoldKind int

// The kinds.
const (
	FoldProd   FoldKind = iota // Π x
	FoldAbs                    // Σ |x|
	FoldSquare                 // Σ x², its root if asked for
	FoldPow                    // Σ |x|ᵖ, its root of that degree if asked for
	FoldCount                  // how many x are not 0
	FoldMax                    // the greatest x; a NaN wins
	FoldMin                    // the least x; a NaN wins
	FoldMaxAbs                 // the greatest |x|
	FoldMinAbs                 // the least |x|
	FoldLSE                    // log Σ eˣ, without overflow
	FoldSum                    // Σ x
	foldKinds  = iota
)

// Fold returns the kernel that folds parts of the middle axis of X [outer, len, inner], of reals or
// of int32, in a fixed order: Y [outer, shares, inner] has the fold of each share, which is chunk
// elements, the last fewer. Counts, and folds of ints, are ints; of ints there are products,
// counts, sums, maxima and minima. Its arguments are X, Y, outer, len, inner, chunk, shares, wide,
// tall, root, p, of which wide and tall are those of FoldShape.
func Fold(kind FoldKind, t kernels.DType) *kernels.Kernel {
	if t == kernels.Int32 {
		return intFolds[kind]
	}
	return folds[kind]
}

var folds, intFolds = func() (reals, ints [foldKinds]*kernels.Kernel) {
	for kind := range FoldKind(foldKinds) {
		reals[kind] = newFold(kind, kernels.Float32)
	}
	for _, kind := range []FoldKind{FoldProd, FoldCount, FoldMax, FoldMin, FoldSum} {
		ints[kind] = newFold(kind, kernels.Int32)
	}
	return reals, ints
}()

// alongLines returns the kernels that work along the lines of [outer, n, inner].
func alongLines() []*kernels.Kernel {
	all := append(folds[:], intFolds[FoldProd], intFolds[FoldCount], intFolds[FoldMax], intFolds[FoldMin], intFolds[FoldSum], Moments, MomentsJoin, TakeAlong, PlaceAlong, AddAlong)
	for _, of := range argKernels {
		all = append(all, of[:]...)
	}
	for _, k := range append(append(scans[:], intScans[:]...), ScanLinear) {
		if k != nil {
			all = append(all, k)
		}
	}
	for _, s := range []*Sorts{&realSorts, &intSorts} {
		all = append(all, s.Blocks, s.Digit, s.Merge, s.Median, s.SelectMedian, s.Count, s.Move)
	}
	return append(all, realSorts.Scan)
}

func newFold(kind FoldKind, t kernels.DType) *kernels.Kernel {
	k := &kernels.Kernel{Name: "k_fold", File: "fold_cpu.cl", GPU: "fold_gpu.cl", Defines: fmt.Sprintf("-DFOLD=%d", kind), Grid: foldGrid,
		Params: []kernels.Param{in("X"), out("Y"), intArg("outer"), intArg("len"), intArg("inner"), intArg("chunk"), intArg("shares"),
			intArg("wide"), intArg("tall"), intArg("root"), realArg("p")}, Describe: describeFold(kind)}
	if t == kernels.Int32 {
		k.Defines += " -DOF_INTS -DELEM=int"
		k.Params[0] = inInts("X")
	}
	if t == kernels.Int32 || kind == FoldCount {
		k.Name, k.Params[1] = "k_fold_int", outInts("Y")
	}
	switch {
	case t == kernels.Int32:
		k.Twin = kernels.ElementTwin(foldIntTwin(kind))
	case kind == FoldCount:
		k.Twin = kernels.Twin{F32: countTwin[float32], F64: countTwin[float64]}
	default:
		k.Twin = kernels.Twin{F32: foldTwin[float32](kind), F64: foldTwin[float64](kind)}
	}
	if kind != FoldMax && kind != FoldMin && kind != FoldMaxAbs && kind != FoldMinAbs && kind != FoldCount && t != kernels.Int32 {
		k.Tol = kernels.Tolerance{ULP: 4, Bound: foldBound(kind)}
	}
	if k.Name == "k_fold" {
		k.Rows = &kernels.Rows{Function: "fold_row", Local: []kernels.Local{{Type: "REAL", N: 2 * foldGroup}}, Of: foldRows}
	}
	return k
}

// foldRows says what a fold does by rows: see kernels.Rows. Those are lines in one share.
func foldRows(a []kernels.Arg, l kernels.Target) *kernels.RowsOf {
	n := int(a[3].Int)
	if n == 0 || a[4].Int != 1 || a[6].Int != 1 {
		return nil
	}
	of := &kernels.RowsOf{Rows: int(a[2].Int), Cuts: []kernels.Cut{kernels.CutOf(n), kernels.CutOf(1)}}
	if !l.CPU {
		of.Run = foldGroup / int(a[7].Int*a[8].Int)
	}
	return of
}

// foldGroup is FOLD_GROUP of fold_gpu.cl.
const foldGroup = 256

func foldGrid(a []kernels.Arg, l kernels.Target) kernels.Grid {
	outer, n, inner, chunk, shares := int(a[2].Int), int(a[3].Int), int(a[4].Int), int(a[5].Int), int(a[6].Int)
	if l.CPU {
		return cpuLines(outer*shares, min(n, chunk), inner, l)
	}
	return gpuLines(outer*shares, inner, int(a[7].Int), int(a[8].Int))
}

// cpuLines launches work-groups of one work-item that share rows×columns lines of n elements out,
// in blocks of sixteen columns: as many as are worth their start, and keep the cores busy.
func cpuLines(rows, n, columns int, l kernels.Target) kernels.Grid {
	const least = 8192 // elements
	blocks := rows * intmath.CeilDiv(columns, 16)
	work := rows * columns / least * max(n, 1)
	if rows*columns < least {
		work = rows * columns * max(n, 1) / least
	}
	return kernels.Grid{Dims: 1, Global: [3]int{min(blocks, max(work, 1), 16*l.Units)}, Local: [3]int{1}}
}

// gpuLines launches work-groups of wide columns by tall slices by the lines that this leaves.
func gpuLines(rows, columns, wide, tall int) kernels.Grid {
	groups := intmath.CeilDiv(columns, wide) * intmath.CeilDiv(rows, foldGroup/(wide*tall))
	return kernels.Grid{Dims: 1, Global: [3]int{groups * foldGroup}, Local: [3]int{foldGroup}}
}

// FoldShape returns in how many shares, of what length, the lines of [outer, n, inner] are folded
// so that a device is busy, and the shape of a GPU's work-group: neighbouring columns, and slices
// of a line. There is one share where the lines alone are enough.
func FoldShape(outer, n, inner int, l kernels.Target) (chunk, shares, wide, tall int) {
	const least = 4096 // elements of a share
	wide, tall = 1, 1
	for wide < inner && wide < 32 {
		wide *= 2
	}
	blocks, enough := outer*intmath.CeilDiv(inner, 16), 2*l.Units
	if !l.CPU {
		blocks = outer * intmath.CeilDiv(inner, wide)
	}
	shares = 1
	if blocks > 0 && blocks < enough {
		shares = max(1, min(2*enough/blocks, n/least))
	}
	chunk = max(1, intmath.RoundUp(intmath.CeilDiv(n, shares), 32))
	shares = max(1, intmath.CeilDiv(n, chunk))
	for wide*tall < foldGroup && 8*tall <= min(n, chunk) {
		tall *= 2
	}
	return chunk, shares, wide, tall
}

// eachPart calls f with every line of x [outer, n, inner], cut into shares of chunk elements, and
// with the place that its result has in [outer, shares, inner]. Lines are lent for the call; f is
// called from several goroutines.
func eachPart[T, E kernels.Element](c kernels.Call[T], x []E, outer, n, inner, chunk, shares, cost int, f func(at int, line []E)) {
	const block, apart = 16, 16 // columns that are gathered together, along memory, and elements that keep them off one set of a cache
	blocks := intmath.CeilDiv(inner, block)
	c.Parallel(outer*shares*blocks, cost*min(n, chunk)*min(inner, block), func(lo, hi int) {
		var columns [block][]E
		for u := lo; u < hi; u++ {
			row, i := u/blocks, u%blocks*block
			begin := row % shares * chunk
			m := max(0, min(n-begin, chunk))
			from := x[min(len(x), (row/shares*n+begin)*inner+i):]
			if inner == 1 {
				f(row, from[:m])
				continue
			}
			w := min(block, inner-i)
			if cap(columns[0]) < m {
				room := make([]E, block*(m+apart))
				for j := range columns {
					columns[j] = room[j*(m+apart):][:m:m]
				}
			}
			for j := range w {
				columns[j] = columns[j][:m]
			}
			for k := range m {
				for j, v := range from[k*inner:][:w] {
					columns[j][k] = v
				}
			}
			for j := range w {
				f(row*inner+i+j, columns[j][:m])
			}
		}
	})
}

func count[T kernels.Element](line []T) (n int) {
	var zero T
	for _, x := range line {
		if x != zero {
			n++
		}
	}
	return n
}

func countTwin[T kernels.Real](c kernels.Call[T]) {
	const exact = 1 << 24 // counts up to this one are exact in any type
	y, n, inner := c.Ints(1), min(c.Int(3), c.Int(5)), c.Int(4)
	if loops := vectorFold(c, n, inner); loops != nil && n <= exact {
		foldVectors(c, loops, FoldCount, func(at int, counts []T) {
			for j, v := range counts {
				y[at+j] = int32(v)
			}
		})
		return
	}
	eachPart(c, c.Reals(0), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6), 1, func(at int, line []T) { y[at] = int32(count(line)) })
}

func foldTwin[T kernels.Real](kind FoldKind) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		y, root, p := c.Reals(1), c.Int(9) != 0, float64(c.Real(10))
		if loops := vectorFold(c, min(c.Int(3), c.Int(5)), c.Int(4)); loops != nil && kind != FoldPow {
			foldVectors(c, loops, kind, func(at int, results []T) {
				switch {
				case root && kind == FoldSquare && len(results) == 1:
					y[at] = T(math.Sqrt(float64(results[0])))
					return
				case root && kind == FoldSquare:
					loops.Map(vec.Sqrt, y[at:at+len(results)], results, results, results, results)
					return
				}
				copy(y[at:], results)
			})
			return
		}
		cost := 1
		if kind == FoldPow || kind == FoldLSE {
			cost = 16
		}
		eachPart(c, c.Reals(0), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6), cost, func(at int, line []T) { y[at] = T(foldLine(kind, line, root, p)) })
	}
}

// foldLine folds a line in double precision, sums pairwise.
func foldLine[T kernels.Real](kind FoldKind, line []T, root bool, p float64) float64 {
	switch kind {
	case FoldSum, FoldAbs, FoldSquare, FoldPow:
		sum := foldSum(kind, line, p)
		switch {
		case root && kind == FoldSquare:
			return math.Sqrt(float64(T(sum)))
		case root && kind == FoldPow:
			return math.Pow(sum, 1/p)
		}
		return sum
	case FoldProd:
		a := 1.0
		for _, x := range line {
			a *= float64(x)
		}
		return a
	case FoldLSE:
		return logSumExp(line)
	}
	sign, abs := 1.0, kind == FoldMaxAbs || kind == FoldMinAbs
	if kind == FoldMin || kind == FoldMinAbs {
		sign = -1
	}
	m := math.Inf(int(-sign))
	if kind == FoldMaxAbs {
		m = 0
	}
	for _, v := range line {
		x := float64(v)
		if abs {
			x = math.Abs(x)
		}
		if m == m && !(sign*m > sign*x) {
			m = x
		}
	}
	return m
}

// foldSum is Σ of x, |x|, x² or |x|ᵖ over a line, pairwise.
func foldSum[T kernels.Real](kind FoldKind, line []T, p float64) (a float64) {
	if n := len(line); n > pairTerms {
		half := halfOf(n)
		return foldSum(kind, line[:half], p) + foldSum(kind, line[half:], p)
	}
	switch kind {
	case FoldSum:
		for _, x := range line {
			a += float64(x)
		}
	case FoldAbs:
		for _, x := range line {
			a += math.Abs(float64(x))
		}
	case FoldSquare:
		for _, x := range line {
			a += float64(x) * float64(x)
		}
	case FoldPow:
		for _, x := range line {
			a += math.Pow(math.Abs(float64(x)), p)
		}
	}
	return a
}

// logSumExp is log Σ eˣ in double precision.
func logSumExp[T kernels.Real](line []T) float64 {
	m := math.Inf(-1)
	for _, x := range line {
		m = max(m, float64(x)) // NaN if one is
	}
	if math.IsInf(m, 0) || m != m {
		return m
	}
	return m + math.Log(pairwiseOf(0, len(line), func(from, to int) (s float64) {
		for _, x := range line[from:to] {
			s += math.Exp(float64(x) - m)
		}
		return s
	}))
}

// foldBound bounds the error of a fold, from the elements of its line: of a product, half a unit
// for each factor; of a sum of numbers that are not negative, that for each addition that a term
// sees and the errors of a power; of a logarithm, what the numbers and their distances from the
// maximum are off by.
func foldBound(kind FoldKind) func(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	return func(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
		eps, least := real.Epsilon()
		n, inner, chunk, shares := int(a[3].Int), int(a[4].Int), int(a[5].Int), int(a[6].Int)
		root, p := a[9].Int != 0, a[10].Real
		return func(_, i int) float64 {
			row := i / inner
			begin := row % shares * chunk
			var line []float64
			for k := begin; k < min(n, begin+chunk); k++ {
				line = append(line, a[0].At((row/shares*n+k)*inner+i%inner))
			}
			v, terms := math.Abs(foldLine(kind, line, root, p)), additions(len(line))
			switch kind {
			case FoldSum:
				return foldLine(FoldAbs, line, false, 0) * eps * (terms + 2)
			case FoldPow: // pow is off by 16 units, and the root of a sum by 1/p times what that is off by
				return v*eps*(terms+16)*max(1, math.Abs(1/p)) + 16*eps*v + least
			case FoldLSE:
				most := 0.0
				for _, x := range line {
					if !math.IsInf(x, 0) {
						most = max(most, math.Abs(x))
					}
				}
				return eps * (terms + 8 + 4*most + v)
			}
			if kind == FoldProd {
				terms = float64(len(line))
			}
			return v*eps*(terms+2) + terms*least
		}
	}
}
