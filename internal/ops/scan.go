package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
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

// Scan returns the kernel of a scan along the middle axis of X [outer, len, inner], of reals or int32, in a fixed order. Sums,
// products and logarithms of sums run along each share of it, of chunk elements, the last fewer, and may begin behind C [outer,
// shares, inner]: X, C, Y, outer, len, inner, chunk, shares, tall, flags. Of ints there are sums and products. Extremes have
// the arguments X, Y, I, outer, len, inner, tall.
func Scan(kind ScanKind, t kernels.DType) *kernels.Kernel {
	if t == kernels.Int32 {
		return intScans[kind]
	}
	return scans[kind]
}

// ScanLinear is Y[o, k, i] = X[o, k, i]·Y[o, k−1, i] + Z[o, k, i], 0 being before the first; with ScanReverse, k + 1 and the
// last: X, Z, Y, outer, len, inner, tall, flags. With ScanShifted the factor is the X of where that Y is.
var ScanLinear = newScan(scanLinear, kernels.Float32)

var scans = [...]*kernels.Kernel{newScan(ScanSum, kernels.Float32), newScan(ScanProd, kernels.Float32), newScan(ScanLSE, kernels.Float32),
	newScan(ScanMax, kernels.Float32), newScan(ScanMin, kernels.Float32)}

var intScans = [...]*kernels.Kernel{ScanSum: newScan(ScanSum, kernels.Int32), ScanProd: newScan(ScanProd, kernels.Int32), ScanLSE: nil,
	ScanMax: newScan(ScanMax, kernels.Int32), ScanMin: newScan(ScanMin, kernels.Int32)}

func newScan(kind ScanKind, t kernels.DType) *kernels.Kernel {
	k := &kernels.Kernel{File: "scan_cpu.cl", GPU: "scan_gpu.cl", Defines: fmt.Sprintf("-DSCAN=%d", kind)}
	box := []kernels.Param{intArg("outer"), intArg("len"), intArg("inner")}
	switch {
	case kind == scanLinear:
		k.Name, k.Params = "k_scan_linear", append([]kernels.Param{in("X"), in("Z"), out("Y")}, append(box, intArg("tall"), intArg("flags"))...)
		k.Twin = kernels.Twin{F32: scanLinearTwin[float32], F64: scanLinearTwin[float64]}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: scanLinearBound}
	case kind >= ScanMax:
		k.Name, k.Params = "k_scan_arg", append([]kernels.Param{in("X"), out("Y"), outInts("I")}, append(box, intArg("tall"))...)
		k.Twin = kernels.Twin{F32: scanArgTwin[float32](kind), F64: scanArgTwin[float64](kind)}
	default:
		k.Name = "k_scan"
		k.Params = append([]kernels.Param{in("X"), in("C"), out("Y")}, append(box, intArg("chunk"), intArg("shares"), intArg("tall"), intArg("flags"))...)
		k.Twin = kernels.Twin{F32: scanTwin[float32](kind), F64: scanTwin[float64](kind)}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: scanBound(kind)}
	}
	parts, tall := -1, 6
	if k.Name == "k_scan" {
		parts, tall = 7, 8
	}
	k.Grid = func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
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
		return gpuLines(rows, 1, 1, int(a[tall].Int))
	}
	if t == kernels.Int32 {
		k.Defines += " -DOF_INTS -DELEM=int"
		k.Tol = kernels.Tolerance{}
		for i, p := range k.Params {
			switch p.Mode {
			case kernels.In:
				k.Params[i] = inInts(p.Name)
			case kernels.Out:
				k.Params[i] = outInts(p.Name)
			}
		}
		k.Twin = kernels.ElementTwin(scanIntTwin(kind))
		if kind >= ScanMax {
			k.Twin = kernels.ElementTwin(scanArgTwin[int32](kind))
		}
	}
	return k
}

// ScanTall returns how many work-items of a GPU share a row of n elements.
func ScanTall(n int) int {
	const per = 16 // 4·FOURS of scan_gpu.cl
	tall := 1
	for tall < foldGroup && tall*per < n {
		tall *= 2
	}
	return tall
}

// scanLines calls f for every line of [outer, len, inner], or share of one, whose sizes are the arguments from 3 on: with the
// element where it begins, the distance to the next, and their number. In a scan from the end it begins there.
func scanLines[T kernels.Element](c kernels.Call[T], chunk, shares, flags int, f func(line, at, step, n int)) {
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

func scanTwin[T kernels.Real](kind ScanKind) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		x, carry, y, flags := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(9)
		scanLines(c, c.Int(6), c.Int(7), flags, func(line, at, step, n int) {
			s := kind.neutral()
			if flags&ScanCarry != 0 {
				s = float64(carry[line])
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

func scanIntTwin(kind ScanKind) func(kernels.Call[int32]) {
	return func(c kernels.Call[int32]) {
		x, carry, y, flags := c.Ints(0), c.Ints(1), c.Ints(2), c.Int(9)
		scanLines(c, c.Int(6), c.Int(7), flags, func(line, at, step, n int) {
			s := int32(kind.neutral())
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

func scanArgTwin[T float32 | float64 | int32](kind ScanKind) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		x, y, where, n := c.Reals(0), c.Reals(1), c.Ints(2), c.Int(4)
		scanLines(c, n, 1, 0, func(_, at, step, n int) {
			var best T
			place := int32(-1)
			for k := range n {
				v := x[at]
				if place < 0 || v != v || best == best && (v == best || (v > best) == (kind == ScanMax)) {
					best, place = v, int32(k)
				}
				y[at], where[at] = best, place
				at += step
			}
		})
	}
}

func scanLinearTwin[T kernels.Real](c kernels.Call[T]) {
	x, z, y, shift := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(7)&ScanShifted/ScanShifted
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

// scanBound bounds the error of an element by that of so many steps, each of which rounds what has come so far: the sum of
// magnitudes, the product, or the largest number beside the logarithm.
func scanBound(kind ScanKind) func(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	return func(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
		eps, least := real.Epsilon()
		n, inner, chunk, shares, flags := int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int), a[9].Int
		return func(_, i int) float64 {
			row, k := i/(n*inner), i/inner%n
			s := k / chunk
			from, to := s*chunk, k
			if flags&ScanReverse != 0 {
				from, to = k, min(n, (s+1)*chunk)-1
			}
			carried, size := kind.neutral(), 0.0
			if flags&ScanCarry != 0 {
				carried = a[1].At((row*shares+s)*inner + i%inner)
			}
			value, most := carried, 1.0
			if size = math.Abs(carried); !math.IsInf(carried, 0) {
				most += size
			}
			for l := from; l <= to; l++ {
				x := a[0].At((row*n+l)*inner + i%inner)
				if l != k || flags&ScanExclusive == 0 {
					value = kind.joined(value, x)
				}
				size += math.Abs(x)
				if !math.IsInf(x, 0) {
					most = max(most, math.Abs(x))
				}
			}
			steps := float64(to-from+1) + 4
			return steps * ([...]float64{size, math.Abs(value), 4 * most}[kind]*eps + least)
		}
	}
}

// scanLinearBound bounds the error of an element by that of the steps up to it, on the magnitudes.
func scanLinearBound(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	eps, least := real.Epsilon()
	n, inner, reverse, shift := int(a[4].Int), int(a[5].Int), a[7].Int&ScanReverse != 0, int(a[7].Int)&ScanShifted/ScanShifted
	return func(_, i int) float64 {
		k := i / inner % n
		from, step := i-k*inner, inner
		steps := k + 1
		if reverse {
			steps = n - k
			from, step = from+(n-1)*inner, -inner
		}
		s := 0.0
		for m := range steps {
			s *= math.Abs(a[0].At(from + max(m-shift, 0)*step))
			s += math.Abs(a[1].At(from + m*step))
		}
		return float64(2*steps+4) * (s*eps + least)
	}
}
