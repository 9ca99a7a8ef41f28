package fft

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
)

//go:embed fft.cl
var source string

// most is how many numbers one launch transforms at most: MOST of fft.cl.
const most = 1024

// mostPrime is the largest factor of a length that a stage transforms; one with a larger factor is
// transformed as a convolution.
const mostPrime = 31

// Kernels returns the kernels that the package launches, for tests and for a person who doubts a
// device.
func Kernels() []*kernels.Kernel { return []*kernels.Kernel{lines, weigh} }

// lines transforms: X [outer, n, m, inner, 2], Y [outer, m, n, inner, 2], ROOTS [n, 2], TURNS, n, m,
// inner, lines, fine, sign, scale.
var lines = &kernels.Kernel{Name: "k_fft", Text: source, File: "fft.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "ROOTS", Mode: kernels.In},
		{Name: "TURNS", Mode: kernels.In}, {Name: "n", Mode: kernels.IntParam}, {Name: "m", Mode: kernels.IntParam},
		{Name: "inner", Mode: kernels.IntParam}, {Name: "lines", Mode: kernels.IntParam}, {Name: "fine", Mode: kernels.IntParam},
		{Name: "sign", Mode: kernels.IntParam}, {Name: "scale", Mode: kernels.FloatParam}},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		lanes := 1
		if !l.CPU {
			lanes = min(64, l.MaxGroup)
		}
		return kernels.Grid{Dims: 1, Global: [3]int{int(a[7].Int) * lanes}, Local: [3]int{lanes}}
	},
	Host: kernels.HostKernel{F32: runLines[float32], F64: runLines[float64]},
	Tol: kernels.Tolerance{ULP: 4, Bound: func(typ kernels.DType, args []kernels.Arg) func(param, i int) float64 {
		eps, least := typ.Epsilon()
		n := float64(args[4].Int)
		bound := n*(16+4*math.Log2(n))*(eps*kernels.MaxAbs(args, 0)*math.Abs(args[10].Float)) + least
		return func(int, int) float64 { return bound }
	}},
	SelfTest: func([]kernels.Arg) []kernels.Operand { return nil }, // roots are of unity: see Cases
	Cases: func(few bool) (list []kernels.Case) {
		for _, c := range [][4]int{{1, 1, 1, 2}, {8, 1, 1, 3}, {6, 1, 5, 2}, {12, 10, 1, 2}, {45, 2, 3, 1}, {7, 31, 2, 1},
			{64, 1, 17, 1}, {1024, 1, 1, 2}, {500, 3, 1, 1}} {
			n, m, inner, outer := c[0], c[1], c[2], c[3]
			if few && n*m*inner > 200 {
				continue
			}
			for _, sign := range []int{1, -1} {
				list = append(list, kernels.Case{Name: fmt.Sprint(c, sign), Build: func(o *kernels.Operands) {
					turns, fine := turnsOf(n*m, sign)
					given := func(list []float64) { o.Floats(len(list), func(i int) float64 { return list[i] }) }
					o.In(2*outer*n*m*inner, -1, 1).Out(2 * outer * n * m * inner)
					given(rootsOf(n, sign))
					given(turns)
					o.Int(n, m, inner, outer*m*inner, fine, sign).Float(0.5)
				}})
			}
		}
		return list
	}}

// weigh multiplies: X [outer, n, inner, 2], W [size, 2], Y [outer, size, inner, 2], n, size, inner,
// count, scale.
var weigh = &kernels.Kernel{Name: "k_fft_weigh", Text: source, File: "fft.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "W", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}, {Name: "size", Mode: kernels.IntParam}, {Name: "inner", Mode: kernels.IntParam},
		{Name: "count", Mode: kernels.IntParam}, {Name: "scale", Mode: kernels.FloatParam}},
	Grid: kernels.GridFromArg(6),
	Host: kernels.HostKernel{F32: runWeigh[float32], F64: runWeigh[float64]},
	Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		return kernels.MaxAbs(a, 0) * kernels.MaxAbs(a, 1) * math.Abs(a[7].Float)
	}},
	Cases: func(bool) (list []kernels.Case) {
		for _, c := range [][4]int{{3, 5, 1, 2}, {5, 3, 2, 1}, {7, 7, 3, 2}} {
			n, size, inner, outer := c[0], c[1], c[2], c[3]
			list = append(list, kernels.Case{Name: fmt.Sprint(c), Build: func(o *kernels.Operands) {
				o.In(2*outer*n*inner, -1, 1).In(2*size, -1, 1).Out(2*outer*size*inner).Int(n, size, inner, outer*size*inner).Float(0.5)
			}})
		}
		return list
	}}

// radixOf is radix_of.
func radixOf(n int) int {
	odd := n / (n & -n)
	switch {
	case odd == 1 && n%4 == 0:
		return 4
	case odd == 1:
		return 2
	}
	r := 3
	for odd%r != 0 {
		r += 2
	}
	return r
}

// root returns e^(sign·2πi·k/n), exact at quarters of a circle.
func root(k, n, sign int) (re, im float64) {
	quarter := 4 * k / n // the angle is a quarter times this, and a rest
	sin, cos := math.Sincos(2 * math.Pi * (float64(4*k-quarter*n) / float64(4*n)))
	switch quarter % 4 {
	case 1:
		sin, cos = cos, -sin
	case 2:
		sin, cos = -sin, -cos
	case 3:
		sin, cos = -cos, sin
	}
	return cos, float64(sign) * sin
}

// rootsOf returns the n-th roots of unity as pairs.
func rootsOf(n, sign int) []float64 {
	list := make([]float64, 2*n)
	for k := range n {
		list[2*k], list[2*k+1] = root(k, n, sign)
	}
	return list
}

// turnsOf returns the first fine ones of the n-th roots of unity, and those at multiples of fine.
func turnsOf(n, sign int) (list []float64, fine int) {
	for fine = 1; fine*fine < n; fine *= 2 {
	}
	for k := range fine {
		re, im := root(k%n, n, sign)
		list = append(list, re, im)
	}
	for k := 0; k < n; k += fine {
		re, im := root(k, n, sign)
		list = append(list, re, im)
	}
	return list, fine
}
