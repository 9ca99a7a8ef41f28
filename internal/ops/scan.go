package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// ScanKind says what runs along a line. The numbers are those of scan.cl.
type ScanKind int

// The kinds.
const (
	ScanSum    ScanKind = iota // Σ x
	ScanProd                   // Π x
	ScanLSE                    // log Σ eˣ
	ScanMax                    // the greatest x and its last index; a NaN is greater than all others
	ScanMin                    // the least x and its last index; a NaN is less than all others
	scanLinear                 // y = a·y + b
)

// Flags of a scan.
const (
	ScanReverse   = 1 << iota // from the end to the start
	ScanExclusive             // without the element itself
	ScanCarry                 // behind what C holds
	ScanShifted               // each with the factor of the element before
)

// Scan returns the kernel of a scan along the middle axis of X [outer, len, inner], of floats,
// int32 or int64, in a fixed order. Sums, products and logarithms of sums run along each share of it, of
// chunk elements, the last fewer, and may begin behind C [outer, shares, inner]: X, C, Y, outer,
// len, inner, chunk, shares, tall, flags. Of ints there are sums and products. Extremes have the
// arguments X, Y, I, outer, len, inner, tall.
func Scan(kind ScanKind, t kernels.DType) *kernels.Kernel {
	return scans[lineType(t)][kind]
}

// ScanLinear is Y[o, k, i] = X[o, k, i]·Y[o, k−1, i] + Z[o, k, i], 0 being before the first; with
// ScanReverse, k + 1 and the last: X, Z, Y, outer, len, inner, tall, flags. With ScanShifted the
// factor is the X of where that Y is.
var ScanLinear = newScan(scanLinear, kernels.Float32)

var scans = func() map[kernels.DType][]*kernels.Kernel {
	all := map[kernels.DType][]*kernels.Kernel{}
	for _, t := range lineTypes {
		for kind := ScanSum; kind <= ScanMin; kind++ {
			var k *kernels.Kernel
			if kind != ScanLSE || t == kernels.Float32 {
				k = newScan(kind, t)
			}
			all[t] = append(all[t], k)
		}
	}
	return all
}()

func newScan(kind ScanKind, t kernels.DType) *kernels.Kernel {
	k := &kernels.Kernel{File: "scan_cpu.cl", GPU: "scan_gpu.cl", Defines: fmt.Sprintf("-DSCAN=%d", kind),
		Semantics: scanSemantics(kind)}
	box := []kernels.Param{intArg("outer"), intArg("len"), intArg("inner")}
	switch {
	case kind == scanLinear:
		k.Name, k.Params = "k_scan_linear", append([]kernels.Param{in("X"), in("Z"), out("Y")}, append(box, intArg("tall"), intArg("flags"))...)
		k.Host = kernels.HostKernel{F32: scanLinearHost[float32], F64: scanLinearHost[float64]}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: scanLinearBound}
	case kind >= ScanMax:
		k.Name, k.Params = "k_scan_arg", append([]kernels.Param{in("X"), out("Y"), outInts("I")}, append(box, intArg("tall"))...)
		k.Host = kernels.HostKernel{F32: scanArgHost[float32](kind), F64: scanArgHost[float64](kind)}
	default:
		k.Name = "k_scan"
		k.Params = append([]kernels.Param{in("X"), in("C"), out("Y")}, append(box, intArg("chunk"), intArg("shares"), intArg("tall"), intArg("flags"))...)
		k.Host = kernels.HostKernel{F32: scanHost[float32](kind), F64: scanHost[float64](kind)}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: scanBound(kind)}
	}
	parts, tall := -1, 6
	if k.Name == "k_scan" {
		parts, tall = 7, 8
	}
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		rows, n, inner := int(a[3].Int), int(a[4].Int), int(a[5].Int)
		if parts > 0 {
			rows, n = rows*int(a[parts].Int), min(n, int(a[parts-1].Int))
		}
		switch {
		case l.CPU:
			return cpuLines(rows, n, inner, l)
		case inner > 1:
			return kernels.Grid{Dims: 1, Global: [3]int{intmath.RoundUp(rows*inner, foldGroup)}, Local: [3]int{foldGroup}}
		}
		groups := intmath.CeilDiv(rows, foldGroup/int(a[tall].Int))
		return kernels.Grid{Dims: 1, Global: [3]int{groups * foldGroup}, Local: [3]int{foldGroup}}
	}
	if t != kernels.Float32 {
		k.Defines += " " + lineDefines(t)
		k.Tol = kernels.Tolerance{}
		for i, p := range k.Params {
			if p.Mode == kernels.In || p.Mode == kernels.Out {
				k.Params[i].Mode = p.Mode.Of(t)
			}
		}
		k.Host = kernels.ElementHostKernel(scanIntsHost[int32](kind))
		if t == kernels.Int64 {
			k.Host = kernels.ElementHostKernel(scanIntsHost[int64](kind))
		}
	}
	return k
}

// ScanTall returns how many work-items of a GPU share a row of n elements.
func ScanTall(n int) int {
	const per = 16 // 4·ITEM_VECTORS of scan_gpu.cl
	tall := 1
	for tall < foldGroup && tall*per < n {
		tall *= 2
	}
	return tall
}

// scanLines calls f for every line of [outer, len, inner], or share of one, whose sizes are the
// arguments from 3 on: with the element where it begins, the distance to the next, and their
// number. In a scan from the end it begins there.
func scanLines[T kernels.Element](c kernels.HostArgs[T], chunk, shares, flags int, f func(line, at, step, n int)) {
	outer, n, inner := c.Int(3), c.Int(4), c.Int(5)
	c.Parallel(outer*shares*inner, 4*min(n, chunk), func(lo, hi int) {
		for line := lo; line < hi; line++ {
			row := line / inner
			begin := row % shares * chunk
			m := max(0, min(n-begin, chunk))
			at, step := (row/shares*n+begin)*inner+line%inner, inner
			if flags&ScanReverse != 0 {
				at, step = at+(m-1)*inner, -inner
			}
			f(line, at, step, m)
		}
	})
}

// joined returns what two that follow each other come to.
func (kind ScanKind) joined(a, b float64) float64 {
	switch {
	case kind == ScanSum:
		return a + b
	case kind == ScanProd:
		return a * b
	case a == b:
		return a + math.Ln2
	case a != a || b != b:
		return math.NaN()
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// neutral returns what changes nothing.
func (kind ScanKind) neutral() float64 { return [...]float64{0, 1, math.Inf(-1)}[kind] }

func scanHost[T kernels.Float](kind ScanKind) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, carry, y, flags := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(9)
		_, double := any(x).([]float64)
		if inner := c.Int(5); !double && kind != ScanLSE && inner >= foldNarrow { // float32 is added in float64
			scanColumns(c, kind)
			return
		}
		scanLines(c, c.Int(6), c.Int(7), flags, func(line, at, step, n int) {
			s := kind.neutral()
			if flags&ScanCarry != 0 {
				s = float64(carry[line])
			}
			if kind == ScanLSE {
				scanExponentials(x, y, at, step, n, s, flags)
				return
			}
			if double && kind != ScanProd {
				scanBlocks(kind, x, y, at, step, n, s, flags)
				return
			}
			if !double { // products of four float32 are finite in float64
				k := n / 4 * 4
				s = scanFours(kind, x, y, at, step, k, s, flags)
				at, n = at+k*step, n-k
			}
			for range n {
				next := kind.joined(s, float64(x[at]))
				if y[at] = T(next); flags&ScanExclusive != 0 {
					y[at] = T(s)
				}
				s = next
				at += step
			}
		})
	}
}

// scanFours scans n elements that are `step` apart behind s, by sums or products of four, which do
// not wait for those before, and returns what follows them. n is a multiple of four.
func scanFours[T kernels.Float](kind ScanKind, x, y []T, at, step, n int, s float64, flags int) float64 {
	for range n / 4 {
		i, j, k := at+step, at+2*step, at+3*step
		a, b, c, d := float64(x[at]), float64(x[i]), float64(x[j]), float64(x[k])
		if kind == ScanSum {
			b += a
			c += b
			d += c
			a, b, c, d = s+a, s+b, s+c, s+d
		} else {
			b *= a
			c *= b
			d *= c
			a, b, c, d = s*a, s*b, s*c, s*d
		}
		if flags&ScanExclusive != 0 {
			y[at], y[i], y[j], y[k] = T(s), T(a), T(b), T(c)
		} else {
			y[at], y[i], y[j], y[k] = T(a), T(b), T(c), T(d)
		}
		s = d
		at = k + step
	}
	return s
}

// scanColumns scans sums or products of neighbouring columns row by row: the inner loop runs along
// memory.
func scanColumns[T kernels.Float](c kernels.HostArgs[T], kind ScanKind) {
	const wide = 256 // columns
	x, carry, y := c.Floats(0), c.Floats(1), c.Floats(2)
	outer, n, inner, chunk, shares, flags := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(9)
	blocks := intmath.CeilDiv(inner, wide)
	c.Parallel(outer*shares*blocks, 4*min(n, chunk)*min(inner, wide), func(lo, hi int) {
		var room [wide]float64
		for u := lo; u < hi; u++ {
			row, i := u/blocks, u%blocks*wide
			begin := row % shares * chunk
			m, sums := max(0, min(n-begin, chunk)), room[:min(wide, inner-i)]
			for j := range sums {
				if sums[j] = kind.neutral(); flags&ScanCarry != 0 {
					sums[j] = float64(carry[row*inner+i+j])
				}
			}
			at, step := (row/shares*n+begin)*inner+i, inner
			if flags&ScanReverse != 0 {
				at, step = at+(m-1)*inner, -inner
			}
			for range m {
				scanRow(kind, y[at:][:len(sums)], x[at:][:len(sums)], sums, flags)
				at += step
			}
		}
	})
}

// scanRow joins the elements of a row of columns to their sums or products, and puts these to y.
func scanRow[T kernels.Float](kind ScanKind, y, x []T, sums []float64, flags int) {
	x, y = x[:len(sums)], y[:len(sums)]
	switch exclusive := flags&ScanExclusive != 0; {
	case kind == ScanSum && exclusive:
		for j, s := range sums {
			sums[j], y[j] = s+float64(x[j]), T(s)
		}
	case kind == ScanSum:
		for j, s := range sums {
			s += float64(x[j])
			sums[j], y[j] = s, T(s)
		}
	case exclusive:
		for j, s := range sums {
			sums[j], y[j] = s*float64(x[j]), T(s)
		}
	default:
		for j, s := range sums {
			s *= float64(x[j])
			sums[j], y[j] = s, T(s)
		}
	}
}

// scanExponentials scans logarithms of sums of exponentials behind start: of the greatest number so
// far and of the sum of the exponentials of what the others differ from it.
func scanExponentials[T kernels.Float](x, y []T, at, step, n int, start float64, flags int) {
	most, sum, value := start, 1.0, start
	for range n {
		v := float64(x[at])
		switch d := v - most; {
		case d <= 0:
			sum += math.Exp(d)
		case d <= math.MaxFloat64:
			most, sum = v, sum*math.Exp(-d)+1
		case v > most:
			most, sum = v, 1
		case v != most: // one is NaN
			most = math.NaN()
		}
		next := most + math.Log(sum)
		if y[at] = T(next); flags&ScanExclusive != 0 {
			y[at] = T(value)
		}
		value = next
		at += step
	}
}

// scanBlocks scans n elements that are `step` apart behind start, of which what came before a block
// is a balanced tree.
func scanBlocks[T kernels.Float](kind ScanKind, x, y []T, at, step, n int, start float64, flags int) {
	var levels [32]float64 // of 2^l blocks at l, for each bit l of how many there are
	before, s := start, kind.neutral()
	for k := range n {
		next := kind.joined(s, float64(x[at]))
		if flags&ScanExclusive == 0 {
			s = next
		}
		y[at] = T(kind.joined(before, s))
		s = next
		at += step
		if (k+1)%pairTerms != 0 {
			continue
		}
		blocks, l := (k+1)/pairTerms, 0
		for b := blocks - 1; b&1 != 0; b >>= 1 {
			s = kind.joined(levels[l], s)
			l++
		}
		levels[l], s, before = s, kind.neutral(), kind.neutral()
		for l := range levels {
			if blocks>>l&1 != 0 {
				before = kind.joined(levels[l], before)
			}
		}
		before = kind.joined(start, before)
	}
}

func scanIntsHost[T int32 | int64](kind ScanKind) func(kernels.HostArgs[T]) {
	if kind >= ScanMax {
		return scanArgHost[T](kind)
	}
	return func(c kernels.HostArgs[T]) {
		x, carry, y, flags := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(9)
		scanLines(c, c.Int(6), c.Int(7), flags, func(line, at, step, n int) {
			s := T(kind.neutral())
			if flags&ScanCarry != 0 {
				s = carry[line]
			}
			for range n {
				next := s + x[at]
				if kind == ScanProd {
					next = s * x[at]
				}
				if y[at] = next; flags&ScanExclusive != 0 {
					y[at] = s
				}
				s = next
				at += step
			}
		})
	}
}

func scanArgHost[T sortable](kind ScanKind) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, y, where, n, least := c.Floats(0), c.Floats(1), c.Ints(2), c.Int(4), kind == ScanMin
		scanLines(c, n, 1, 0, func(_, at, step, n int) {
			if n == 0 {
				return
			}
			if step == 1 {
				if x, y, where := x[at:at+n], y[at:at+n], where[at:at+n]; least {
					scanLeast(x, y, where)
				} else {
					scanMost(x, y, where)
				}
				return
			}
			best, place := x[at], int32(0)
			for k := range int32(n) {
				v := x[at]
				if least && v <= best || !least && v >= best || v != v {
					best, place = v, k
				}
				y[at], where[at] = best, place
				at += step
			}
		})
	}
}

// scanMost sets y to the greatest of the elements of x so far, and where to its last index.
func scanMost[T sortable](x, y []T, where []int32) {
	y, where = y[:len(x)], where[:len(x)]
	best, place := x[0], int32(0)
	for k, v := range x {
		if v >= best || v != v {
			best, place = v, int32(k)
		}
		y[k], where[k] = best, place
	}
}

// scanLeast is scanMost of the least.
func scanLeast[T sortable](x, y []T, where []int32) {
	y, where = y[:len(x)], where[:len(x)]
	best, place := x[0], int32(0)
	for k, v := range x {
		if v <= best || v != v {
			best, place = v, int32(k)
		}
		y[k], where[k] = best, place
	}
}

func scanLinearHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, z, y, shift := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(7)&ScanShifted/ScanShifted
	if outer, n, inner := c.Int(3), c.Int(4), c.Int(5); inner >= foldNarrow {
		const wide = 256 // columns
		blocks := intmath.CeilDiv(inner, wide)
		c.Parallel(outer*blocks, 4*n*min(inner, wide), func(lo, hi int) {
			var sums [wide]float64
			for u := lo; u < hi; u++ {
				i := u % blocks * wide
				at, step := u/blocks*n*inner+i, inner
				if c.Int(7)&ScanReverse != 0 {
					at, step = at+(n-1)*inner, -inner
				}
				scanLinearColumns(x, z, y, at, n, step, shift, sums[:min(wide, inner-i)])
			}
		})
		return
	}
	scanLines(c, c.Int(4), 1, c.Int(7), func(_, at, step, n int) {
		s := 0.0
		for k := range n {
			if k > 0 {
				s *= float64(x[at-shift*step])
			}
			s += float64(z[at])
			y[at] = T(s)
			at += step
		}
	})
}

// scanLinearColumns scans neighbouring columns of n rows from element at on, step elements apart,
// with the factors of the row before if shift is 1. The inner loop runs along memory.
func scanLinearColumns[T vec.Float](x, z, y []T, at, n, step, shift int, sums []float64) {
	clear(sums)
	for k := range n {
		if k > 0 {
			for j, v := range x[at-shift*step:][:len(sums)] {
				sums[j] *= float64(v)
			}
		}
		to := y[at:][:len(sums)]
		for j, v := range z[at:][:len(sums)] {
			sums[j] += float64(v)
			to[j] = T(sums[j])
		}
		at += step
	}
}

// scanBound bounds the error of an element by that of the additions that its terms see, each of
// which rounds the sum of magnitudes, or of the multiplications; of the logarithm of a sum, by that
// of its joins.
func scanBound(kind ScanKind) func(float kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	return func(float kernels.DType, a []kernels.Arg) func(param, i int) float64 {
		eps, least := float.Epsilon()
		outer, n, inner, chunk, shares, flags := int(a[3].Int), int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int), a[9].Int
		bounds := make([]float64, outer*n*inner)
		for line := range outer * shares * inner {
			row, step := line/inner, inner
			begin := row % shares * chunk
			m := max(0, min(n-begin, chunk))
			at := (row/shares*n+begin)*inner + line%inner
			if flags&ScanReverse != 0 {
				at, step = at+(m-1)*inner, -inner
			}
			value, size, most := kind.neutral(), 0.0, 1.0
			if flags&ScanCarry != 0 {
				value = a[1].At(line)
				if size = math.Abs(value); !math.IsInf(value, 0) {
					most += size
				}
			}
			for k := range m {
				x := a[0].At(at)
				before := value
				value = kind.joined(value, x)
				size += math.Abs(x)
				if !math.IsInf(x, 0) {
					most = max(most, math.Abs(x))
				}
				result := value
				if flags&ScanExclusive != 0 {
					result = before
				}
				steps := additions(k+1) + 4
				if kind == ScanProd {
					steps = float64(k + 5)
				}
				bounds[at] = steps * ([...]float64{size, math.Abs(result), 4 * most}[kind]*eps + least)
				at += step
			}
		}
		return func(_, i int) float64 { return bounds[i] }
	}
}

// scanLinearBound bounds the error of an element by that of the steps up to it, on the magnitudes.
func scanLinearBound(float kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	eps, least := float.Epsilon()
	outer, n, inner, reverse, shift := int(a[3].Int), int(a[4].Int), int(a[5].Int), a[7].Int&ScanReverse != 0, int(a[7].Int)&ScanShifted/ScanShifted
	bounds := make([]float64, outer*n*inner)
	for line := range outer * inner {
		at, step := line/inner*n*inner+line%inner, inner
		if reverse {
			at, step = at+(n-1)*inner, -inner
		}
		s := 0.0
		for m := range n {
			if m > 0 {
				s *= math.Abs(a[0].At(at - shift*step))
			}
			s += math.Abs(a[1].At(at))
			bounds[at] = float64(2*m+6) * (s*eps + least)
			at += step
		}
	}
	return func(_, i int) float64 { return bounds[i] }
}
