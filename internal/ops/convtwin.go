package ops

import (
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// convPanel is about how many elements of the inputs of neighbouring positions the twins gather for one product.
const convPanel = 1 << 17

// wide is a number of positions that products of all vectors have no rest of.
const wide = 32

// blasOf returns gonum's matrix product.
func blasOf[T kernels.Real]() blasGemm[T] {
	if f, ok := any(blas32.Implementation().Sgemm).(func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)); ok {
		return f
	}
	return any(blas64.Implementation().Dgemm).(func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int))
}

// buffers are what a goroutine of a twin needs, kept from launch to launch.
type buffers[T kernels.Real] struct{ weights, panel, result []T }

func grown[T kernels.Real](s []T, n int) []T {
	if cap(s) < n {
		return scratch[T](n)
	}
	return s[:n]
}

// convTwin computes blocks of positions, each a matrix product of the weights and of what the positions read.
func convTwin[T kernels.Real]() func(kernels.Call[T]) {
	pool := sync.Pool{New: func() any { return new(buffers[T]) }}
	gemm := blasOf[T]()
	return func(c kernels.Call[T]) {
		var numbers [convCount]kernels.Arg
		for i := range numbers {
			numbers[i] = kernels.I(c.Int(convNumbers + i))
		}
		s, transposed, biased := convShapeOf(numbers[:], 0), c.Int(convTransposed) != 0, c.Int(convBiased) != 0
		read, written, from, to := s.In, s.Out, s.Size, s.OutSize
		volumeW := volume(s.Kernel)
		wRead, wWritten := volumeW, s.weights()
		if transposed {
			read, written, from, to = s.Out, s.In, s.OutSize, s.Size
			wRead, wWritten = wWritten, wRead
		}
		x, w, bias, y := c.Reals(convX), c.Reals(convW), c.Reals(convBias), c.Reals(convY)
		phases := s.phases(transposed)
		loops := loopsOf(c)
		// A unit is a block of positions of one phase of an image and group.
		block := max(1, min(1024, convPanel/max(read*volumeW, 1)))
		if block > wide {
			block -= block % wide
		}
		z0, y0, x0 := s.axes(transposed, 0) // which has the most positions
		blocks := intmath.CeilDiv(z0.count*y0.count*x0.count, block)
		units := s.Batch * s.Groups * phases * blocks
		c.Parallel(units, block*read*volumeW*written/max(phases, 1)/4+block, func(lo, hi int) {
			b := pool.Get().(*buffers[T])
			defer pool.Put(b)
			packed := -1 // the group and phase of b.weights
			for u := lo; u < hi; u++ {
				first, n, gp := u%blocks*block, u/blocks%s.Batch, u/blocks/s.Batch
				phase, g := gp%phases, gp/phases
				az, ay, ax := s.axes(transposed, phase)
				count := min(block, az.count*ay.count*ax.count-first)
				if count <= 0 {
					continue
				}
				taps := az.taps * ay.taps * ax.taps
				sum := read * taps
				if packed != gp {
					packed = gp
					b.weights = grown(b.weights, written*sum)
					packWeights(b.weights, w[g*s.Out*s.weights():], written, read, wWritten, wRead, s.Kernel, az, ay, ax)
				}
				b.panel, b.result = grown(b.panel, count*sum), grown(b.result, written*count)
				in := x[(n*s.Groups+g)*read*volume(from):][:read*volume(from)]
				gather(b.panel, in, read, from, az, ay, ax, first, count)
				// The sums are a row for each output, of Y itself where positions are neighbours there.
				result, row := b.result, count
				all := y[(n*s.Groups+g)*written*volume(to):][:written*volume(to)]
				if phases == 1 {
					result, row = all[first:], volume(to)
				}
				switch {
				case loops != nil:
					loops.Product(vec.Product[T]{M: written, N: count, K: sum, A: b.weights, RowA: sum, StepA: 1,
						B: b.panel, StepB: count, ColumnB: 1, C: result, RowC: row}, nil)
				case sum > 0:
					gemm(blas.NoTrans, blas.NoTrans, written, count, sum, 1, b.weights, sum, b.panel, count, 0, result, row)
				default:
					for o := range written {
						clear(result[o*row:][:count])
					}
				}
				for o := range written {
					sums := result[o*row:][:count]
					if biased {
						add := bias[g*written+o]
						for i := range sums {
							sums[i] += add
						}
					}
					if phases == 1 {
						continue
					}
					out := all[o*volume(to):][:volume(to)]
					for i, v := range sums {
						p := first + i
						qz, qy, qx := p/(ay.count*ax.count), p/ax.count%ay.count, p%ax.count
						out[((qz*az.spread+az.first)*to[1]+qy*ay.spread+ay.first)*to[2]+qx*ax.spread+ax.first] = v
					}
				}
			}
		})
	}
}

// packWeights writes those of one group [written, read, taps] in the order of the sum.
func packWeights[T kernels.Real](to, w []T, written, read, wWritten, wRead int, size [3]int, z, y, x convAxis) {
	i := 0
	for o := range written {
		for c := range read {
			for jz := range z.taps {
				for jy := range y.taps {
					row := w[o*wWritten+c*wRead+((z.r+jz*z.rstep)*size[1]+y.r+jy*y.rstep)*size[2]:]
					for jx := range x.taps {
						to[i] = row[x.r+jx*x.rstep]
						i++
					}
				}
			}
		}
	}
}

// gather writes, for each weight in the order of the sum, what it meets at count positions from first on.
func gather[T kernels.Real](to, in []T, read int, size [3]int, z, y, x convAxis, first, count int) {
	for c := range read {
		for jz := range z.taps {
			for jy := range y.taps {
				rows := to[:x.taps*count] // one for each tap of the last axis
				to = to[len(rows):]
				qz, qy, qx := first/(y.count*x.count), first/x.count%y.count, first%x.count
				for done := 0; done < count; {
					n := min(count-done, x.count-qx)
					fz, fy := qz*z.stride+z.shift+jz*z.step, qy*y.stride+y.shift+jy*y.step
					var row []T
					if fz >= 0 && fz < size[0] && fy >= 0 && fy < size[1] {
						row = in[((c*size[0]+fz)*size[1]+fy)*size[2]:][:size[2]]
					}
					for jx := range x.taps {
						gatherRun(rows[jx*count+done:][:n], row, qx*x.stride+x.shift+jx*x.step, x.stride)
					}
					done, qx, qy = done+n, 0, qy+1
					if qy == y.count {
						qy, qz = 0, qz+1
					}
				}
			}
		}
	}
}

// gatherRun writes elements at, at + stride … of a row, and 0 for those that it does not have.
func gatherRun[T kernels.Real](run, row []T, at, stride int) {
	if stride == 1 {
		from, end := min(max(0, -at), len(run)), min(len(run), len(row)-at)
		if from < end {
			copy(run[from:end], row[at+from:])
		}
		for i := range from {
			run[i] = 0
		}
		for i := max(from, end); i < len(run); i++ {
			run[i] = 0
		}
		return
	}
	for i := range run {
		run[i] = 0
		if uint(at) < uint(len(row)) {
			run[i] = row[at]
		}
		at += stride
	}
}

// convWeightTwin sums up over blocks of rows, each a matrix product of what its positions read, a row for each weight,
// and of the gradient.
func convWeightTwin[T kernels.Real]() func(kernels.Call[T]) {
	pool := sync.Pool{New: func() any { return new(buffers[T]) }}
	gemm := blasOf[T]()
	return func(c kernels.Call[T]) {
		var numbers [convCount]kernels.Arg
		for i := range numbers {
			numbers[i] = kernels.I(c.Int(convWeightNumbers + i))
		}
		s, slice, biased := convShapeOf(numbers[:], 0), c.Int(convWeightSlice), c.Int(convWeightBiased)
		x, g, d := c.Reals(convWeightX), c.Reals(convWeightG), c.Reals(convWeightD)
		weights, size := s.weights(), volume(s.OutSize)
		slices := intmath.CeilDiv(s.Rows(), max(slice, 1))
		ox, loops := s.OutSize[2], loopsOf(c)
		block := max(1, min(1024, convPanel/max(weights, 1))/max(ox, 1)) // rows
		c.Parallel(slices*s.Groups, slice*ox*weights*s.Out/4, func(lo, hi int) {
			b := pool.Get().(*buffers[T])
			defer pool.Put(b)
			for u := lo; u < hi; u++ {
				group, part := u%s.Groups, d[u*(weights+biased)*s.Out:(u+1)*(weights+biased)*s.Out]
				clear(part)
				sums := part[weights*s.Out:] // none without a bias
				end := min(s.Rows(), (u/s.Groups+1)*slice)
				for row := u / s.Groups * slice; row < end; {
					n, q := row/(s.OutSize[0]*s.OutSize[1]), row%(s.OutSize[0]*s.OutSize[1])
					rows := min(block, end-row, s.OutSize[0]*s.OutSize[1]-q)
					row += rows
					count := rows * ox
					b.panel = grown(b.panel, weights*count)
					gather(b.panel, x[(n*s.Groups+group)*s.In*volume(s.Size):], s.In, s.Size, s.forward(0), s.forward(1), s.forward(2), q*ox, count)
					from := g[(n*s.Groups+group)*s.Out*size+q*ox:]
					for o := range sums {
						sums[o] += pairwise(from[o*size:][:count])
					}
					if loops != nil {
						loops.Product(vec.Product[T]{M: weights, N: s.Out, K: count, A: b.panel, RowA: count, StepA: 1,
							B: from, StepB: 1, ColumnB: size, C: part, RowC: s.Out, Add: true}, nil)
						continue
					}
					gemm(blas.NoTrans, blas.Trans, weights, s.Out, count, 1, b.panel, count, from, size, 1, part, s.Out)
				}
			}
		})
	}
}
