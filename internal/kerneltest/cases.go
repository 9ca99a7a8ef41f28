package kerneltest

import (
	"fmt"
	"math"
	"strings"

	"github.com/clgrad/clgrad/kernels"
)

// Case is a launch that tests a kernel.
type Case struct {
	Name  string
	Build func(o *Operands)
}

// lengths are around the sizes of work-groups and vectors, and odd.
func lengths(few bool) []int {
	if few {
		return []int{1, 7, 257}
	}
	return []int{0, 1, 7, 16, 255, 256, 257, 1009, 1023, 1025, 5000}
}

// Cases returns the launches that test k: few and small ones if asked for, none for a kernel that is not known
// here.
func Cases(k *kernels.Kernel, few bool) []Case {
	var cases []Case
	add := func(build func(o *Operands), format string, a ...any) {
		cases = append(cases, Case{fmt.Sprintf(format, a...), build})
	}
	perLength := func(build func(o *Operands, n int)) {
		for _, n := range lengths(few) {
			add(func(o *Operands) { build(o, n) }, "n=%d", n)
		}
	}
	matrices := [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}}
	perMatrix := func(build func(o *Operands, r, c int)) {
		for _, s := range matrices {
			add(func(o *Operands) { build(o, s[0], s[1]) }, "%dx%d", s[0], s[1])
		}
	}
	boxes := [][3]int{{1, 1, 1}, {1, 300, 1}, {7, 33, 1}, {1, 100, 64}, {3, 17, 5}, {2, 65, 35}, {1, 513, 3}, {4, 0, 3}}

	for _, u := range kernels.Unaries {
		switch k {
		case u.Forward():
			perLength(func(o *Operands, n int) {
				o.in(n, u.Domain[0], u.Domain[1]).special().out(n).num(n).real64(u.A, u.B)
			})
		case u.Gradient():
			perLength(func(o *Operands, n int) {
				o.in(n, u.Domain[0], u.Domain[1]).kinks().reals(n, func(i int) float64 {
					return u.Fwd(o.Args[0].Buf.(*kernels.Mem).At(guard+i), u.A, u.B)
				}).in(n, -2, 2).out(n).num(n).real64(u.A, u.B)
			})
			perLength(func(o *Operands, n int) { // an infinite gradient, at kinks as well
				o.reals(n, func(int) float64 { return u.Domain[0] + (u.Domain[1]-u.Domain[0])*o.r.Float64() })
				if len(u.Kinks) > 0 {
					o.start(u.Kinks[0], u.Kinks[0], u.Kinks[0])
				}
				o.reals(n, func(i int) float64 {
					return u.Fwd(o.Args[0].Buf.(*kernels.Mem).At(guard+i), u.A, u.B)
				}).in(n, -2, 2).kinks().out(n).num(n).real64(u.A, u.B)
			})
		}
	}
	for _, b := range kernels.Binaries {
		switch k {
		case b.Forward():
			perLength(func(o *Operands, n int) { o.in(n, -3, 3).special().in(n, 0.5, 3).out(n).num(n) })
		case b.Row():
			perMatrix(func(o *Operands, r, c int) { o.in(r*c, -3, 3).in(c, 0.5, 3).special().out(r*c).num(r, c) })
		case b.First():
			perLength(func(o *Operands, n int) { o.in(n, -3, 3).in(1, 0.5, 3).out(n).num(n) })
		case b.GradX(), b.GradY():
			perLength(func(o *Operands, n int) {
				// Whole numbers: ties are frequent.
				o.reals(n, func(int) float64 { return float64(o.r.IntN(5) - 2) })
				o.reals(n, func(int) float64 { return float64(o.r.IntN(3) + 1) }).in(n, -2, 2).out(n).num(n)
			})
			perLength(func(o *Operands, n int) {
				o.in(n, -3, 3).kinks().in(n, 0.5, 3).in(n, -2, 2).out(n).num(n)
			})
			perLength(func(o *Operands, n int) {
				o.in(n, -3, 3).in(n, 0.5, 3).kinks().in(n, -2, 2).out(n).num(n)
			})
		}
	}
	if k.Name == "k_mlp_loss" {
		for _, c := range [][2]int{{1, 1}, {17, 1}, {33, 2}, {130, 3}, {200, 2}} {
			if few && c[0] > 33 {
				continue
			}
			add(func(o *Operands) {
				MLPOperands(o, kernels.ExampleMLP, c[0], c[1], strings.Contains(k.Defines, "INPUT_GRAD"))
			}, "%d samples in %d groups", c[0], c[1])
		}
	}
	if strings.HasPrefix(k.Name, "k_gemm_") {
		cases = gemmCases(kernels.GemmForm(strings.TrimPrefix(k.Name, "k_gemm_")), few)
	}
	switch k {
	case kernels.ReduceShares:
		perLength(func(o *Operands, n int) { o.in(3*n, -1, 1).in(1, 0.5, 2).out(n).num(n, 3) })
	case kernels.AdamWShares:
		perLength(func(o *Operands, n int) {
			o.in(n, -1, 1).in(11*n, -1, 1).in(1, 0.5, 2).in(n, -1, 1).in(n, 0, 1).num(n, 11).real64(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
	case kernels.Fill:
		perLength(func(o *Operands, n int) { o.out(n).num(n).real64(1.25) })
	case kernels.Zero:
		perLength(func(o *Operands, n int) { o.out(n).num(n) })
	case kernels.Copy:
		perLength(func(o *Operands, n int) { o.in(n, -1, 1).special().out(n).num(n) })
	case kernels.BroadcastRows:
		perMatrix(func(o *Operands, r, c int) { o.in(c, -1, 1).out(r*c).num(r, c) })
	case kernels.Transpose:
		perMatrix(func(o *Operands, r, c int) { o.in(r*c, -1, 1).out(r*c).num(r, c) })
	case kernels.StridedCopy:
		add(func(o *Operands) { // [2, 3, 2, 5, 1, 4] with gaps and a repeated axis
			o.in(2000, -1, 1).out(240).num(240, 3, 2, 5, 1, 4, 900, 300, 0, 4, 7, 1)
		}, "rank 6")
		add(func(o *Operands) { o.in(35, -1, 1).out(35).num(35, 1, 1, 1, 5, 7, 0, 0, 0, 0, 1, 5) }, "column-major")
	case kernels.StridedStore:
		add(func(o *Operands) { // [2, 3, 2, 5, 1, 4] with gaps
			o.in(240, -1, 1).special().in(2000, -1, 1).num(240, 3, 2, 5, 1, 4, 900, 300, 150, 30, 7, 3)
		}, "rank 6")
		add(func(o *Operands) { o.in(35, -1, 1).in(35, -1, 1).num(35, 1, 1, 1, 5, 7, 0, 0, 0, 0, 1, 5) }, "column-major")
	case kernels.GatherRows:
		perMatrix(func(o *Operands, r, c int) {
			o.in(r*c, -1, 1).ints(9, func(int) int { return o.r.IntN(r) }).out(9*c).num(9, c)
		})
	case kernels.ScatterAddRows:
		perMatrix(func(o *Operands, r, c int) {
			o.in(9*c, -1, 1).ints(9, func(int) int { return o.r.IntN(r) }).in(r*c, -1, 1).num(9, c)
		})
	case kernels.Sum:
		perLength(func(o *Operands, n int) { o.in(n, -1, 1).out(1).num(n, max(n, 1)).real64(0.5) })
		add(func(o *Operands) { o.in(1000, -1, 1).out(4).num(1000, 257).real64(1) }, "4 chunks")
	case kernels.SquaredError:
		perLength(func(o *Operands, n int) { o.in(n, -1, 1).in(n, -1, 1).out(n).out(1).num(n, max(n, 1)) })
		add(func(o *Operands) { o.in(1000, -1, 1).in(1000, -1, 1).out(1000).out(4).num(1000, 256) }, "4 chunks")
	case kernels.LinearGrad:
		for i, s := range append(matrices, [][2]int{{65, 16}, {70, 40}}...) {
			r, c, run := s[0], s[1], 1+3*i
			runs := (r + run - 1) / run
			add(func(o *Operands) {
				o.in(r*c, -1, 1).in(r*c, -1, 1).out(r*c).out(runs*c).num(r, c, run, i%5).real64(0.2)
			}, "%dx%d in runs of %d", r, c, run)
		}
	case kernels.SumAtomic:
		perLength(func(o *Operands, n int) { o.in(n, 0, 1).in(1, 0, 1).num(n).real64(0.5) })
	case kernels.SumAxis:
		for i, b := range boxes {
			add(func(o *Operands) {
				o.in(b[0]*b[1]*b[2], -1, 1).in(b[0]*b[2], -1, 1).num(b[0], b[1], b[2]).real64(0.5).num(i % 2)
			}, "%v", b)
		}
	case kernels.MaxAxis, kernels.MinAxis:
		for _, b := range boxes[:len(boxes)-1] {
			add(func(o *Operands) { o.in(b[0]*b[1]*b[2], -1, 1).special().out(b[0]*b[2]).num(b[0], b[1], b[2]) }, "%v", b)
		}
	case kernels.MaxAxisGrad:
		for _, b := range boxes[:len(boxes)-1] {
			add(func(o *Operands) {
				o.reals(b[0]*b[1]*b[2], func(int) float64 { return float64(o.r.IntN(4)) })
				o.reals(b[0]*b[2], func(int) float64 { return 3 }).in(b[0]*b[2], -1, 1).out(b[0]*b[1]*b[2]).num(b[0], b[1], b[2])
			}, "%v", b)
			add(func(o *Operands) {
				o.in(b[0]*b[1]*b[2], -1, 1).kinks().reals(b[0]*b[2], func(int) float64 { return math.NaN() }).start(math.Inf(1))
				o.in(b[0]*b[2], -1, 1).out(b[0]*b[1]*b[2]).num(b[0], b[1], b[2])
			}, "%v with NaN", b)
		}
	case kernels.OuterAcc:
		perMatrix(func(o *Operands, r, c int) { o.in(9*r, -1, 1).in(9*c, -1, 1).in(r*c, -1, 1).num(9, r, c) })
	case kernels.OuterAccAtomic:
		perMatrix(func(o *Operands, r, c int) { o.in(9*r, -1, 1).in(9*c, -1, 1).in(r*c, -1, 1).num(9, r, c, 4) })
	case kernels.Uniform:
		perLength(func(o *Operands, n int) { o.out(n).num(n, 12345, -7, 3).real64(-2, 5) })
	case kernels.Normal:
		perLength(func(o *Operands, n int) { o.out(n).num(n, 12345, -7, 3).real64(1, 2) })
	case kernels.RandomInts:
		perLength(func(o *Operands, n int) { o.ints(n, func(int) int { return -1 }).num(n, 12345, -7, 3, 1000003) })
	case kernels.SGD:
		for _, nesterov := range []int{0, 1} {
			perLength(func(o *Operands, n int) {
				o.in(n, -1, 1).in(n, -1, 1).in(n, -1, 1).num(n).real64(0.01, 0.9, 0.1).num(nesterov)
			})
		}
	case kernels.AdamW:
		perLength(func(o *Operands, n int) {
			o.in(n, -1, 1).in(n, -1, 1).in(n, -1, 1).in(n, 0, 1).num(n).real64(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
	case kernels.PixelCentres:
		perLength(func(o *Operands, n int) { o.out(2*n).num(n, 11, 5, 37, 64, 1000) })
	case kernels.SamplePixels:
		perLength(func(o *Operands, n int) { o.in(8*16*4, 0, 1).out(2*n).out(4*n).num(n, 8, 16, 4, 12345, -7, 3) })
	case kernels.FourierEncode:
		perMatrix(func(o *Operands, r, c int) { o.in(2*r, 0, 1).in(2*c, -20, 20).out(2*r*c).num(r, c) })
	case kernels.HashEncode(2):
		perLength(func(o *Operands, n int) { hashOperands(o.in(2*n, 0, 1).in(2*hashEntries, -1, 1)).out(6*n).num(n, 3) })
	case kernels.HashGrad(2):
		perLength(func(o *Operands, n int) {
			hashOperands(o.in(2*n, 0, 1).in(6*n, -1, 1)).out(2*hashEntries).num(n, 3, hashEntries)
		})
	case kernels.HashScatter(2):
		perLength(func(o *Operands, n int) {
			hashOperands(o.in(2*n, 0, 1).in(6*n, -1, 1)).ints(4*hashEntries, func(int) int { return 0 }).num(n, 3)
		})
	case kernels.HashCollect:
		perLength(func(o *Operands, n int) {
			o.ints(2*n, func(i int) int { return (o.r.IntN(1<<30) - 1<<29) >> (i % 2 * 8) }).out(n).num(n)
		})
	case kernels.SampleEncode:
		for i, n := range lengths(few) {
			octaves := []int{16, 1, 20}[i%3]
			add(func(o *Operands) {
				// Sides are powers of two: a GPU's division is not exact, and octaves magnify what it is off by.
				o.in(8*16*3, 0, 1).out(n*4*octaves).out(3*n).num(n, 8, 16, 3, octaves, 12345, -7, 3)
			}, "n=%d, %d octaves", n, octaves)
		}
	case kernels.FMAChains:
		perLength(func(o *Operands, n int) { o.out(n).num(n, 20).real64(0.999, 0.5) })
	case kernels.FrequencyEncode:
		perLength(func(o *Operands, n int) { o.in(2*n, 0, 1).out(n*4*16).num(n, 16) })
	}
	return cases
}

// gemmCases covers tiles that are whole and cut off, rows that are aligned and not, shares of the sum, and the
// epilogues.
func gemmCases(form kernels.GemmForm, few bool) []Case {
	var cases []Case
	for i, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {13, 17, 31}, {64, 64, 64}, {65, 67, 63}, {7, 130, 5}, {130, 3, 40}, {30, 16, 300}, {26, 80, 520}, {132, 260, 36}, {20, 48, 96}} {
		m, n, k, pad := s[0], s[1], s[2], i%3
		if few && m*n*k > 70000 {
			continue
		}
		act := kernels.Activation(i % 5)
		lda, ldb, ldc := k+pad, n+pad, n
		rowsA, rowsB := m, k
		switch form {
		case kernels.TN:
			lda, rowsA = m+pad, k
		case kernels.NT:
			ldb, rowsB = k+pad, n
		}
		slice, accumulate, biased := k, i%2, i/2%2
		if i%3 == 1 { // in shares
			slice, accumulate, biased, act = (k+2)/3, 0, 0, kernels.ActNone
		}
		shares := (k + slice - 1) / slice
		rows := 12 * (1 + i%3)
		cases = append(cases, Case{fmt.Sprint(s), func(o *Operands) {
			o.in(rowsA*lda, -1, 1).in(rowsB*ldb, -1, 1).in(n, -1, 1).in(shares*m*ldc, -1, 1).num(m, n, k, lda, ldb, ldc,
				accumulate, biased, int(act)).real64(0.1).num(rows, slice)
		}})
	}
	return cases
}

// MLPOperands makes a pass over n samples in a number of groups, with room for the gradient of the inputs if it
// is computed.
func MLPOperands(o *Operands, s kernels.MLPShape, n, groups int, inputGrad bool) {
	o.in(n*s.Inputs, -1, 1).in(n*s.Outputs, 0, 1).in(s.Size(), -0.2, 0.2).in(groups*s.Size(), 0, 0).out(groups)
	if inputGrad {
		o.out(n * s.Inputs)
	} else {
		o.out(0)
	}
	o.num(n)
}

// hashEntries is those of the levels that hashOperands adds: two grids with an entry for each vertex, and one
// that is hashed.
const hashEntries = 6*5 + 10*8 + 64

func hashOperands(o *Operands) *Operands {
	levels := []int{0, 4, 3, 0, 30, 8, 6, 0, 110, 37, 29, 63}
	return o.ints(len(levels), func(i int) int { return levels[i] })
}
