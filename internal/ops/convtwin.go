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
const convPanel = 1 << 16

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
				for i := range count {
					gather(b.panel[i*sum:(i+1)*sum], in, read, from, az, ay, ax, first+i)
				}
				// Where result has the sums of position i and output o.
				position, output := 1, count
				switch {
				case loops != nil:
					position, output = written, 1
					loops.Product(vec.Product[T]{M: count, N: written, K: sum, A: b.panel, RowA: sum, StepA: 1,
						B: b.weights, StepB: 1, ColumnB: sum, C: b.result, RowC: written}, nil)
				case sum > 0:
					gemm(blas.NoTrans, blas.Trans, written, count, sum, 1, b.weights, sum, b.panel, sum, 0, b.result, count)
				default:
					clear(b.result)
				}
				for o := range written {
					var add T
					if biased {
						add = bias[g*written+o]
					}
					out := y[((n*s.Groups+g)*written+o)*volume(to):][:volume(to)]
					for i := range count {
						v, p := b.result[i*position+o*output], first+i
						qz, qy, qx := p/(ay.count*ax.count), p/ax.count%ay.count, p%ax.count
						out[((qz*az.spread+az.first)*to[1]+qy*ay.spread+ay.first)*to[2]+qx*ax.spread+ax.first] = v + add
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

// gather writes what position p reads, in the order of the sum.
func gather[T kernels.Real](to, in []T, read int, size [3]int, z, y, x convAxis, p int) {
	bz, by, bx := p/(y.count*x.count)*z.stride+z.shift, p/x.count%y.count*y.stride+y.shift, p%x.count*x.stride+x.shift
	for c := range read {
		for jz := range z.taps {
			fz := bz + jz*z.step
			for jy := range y.taps {
				fy := by + jy*y.step
				run := to[:x.taps]
				to = to[x.taps:]
				if fz < 0 || fz >= size[0] || fy < 0 || fy >= size[1] {
					clear(run)
					continue
				}
				row := in[((c*size[0]+fz)*size[1]+fy)*size[2]:][:size[2]]
				for jx := range run {
					run[jx] = 0
					if fx := bx + jx*x.step; fx >= 0 && fx < len(row) {
						run[jx] = row[fx]
					}
				}
			}
		}
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
					gatherRows(b.panel, x[(n*s.Groups+group)*s.In*volume(s.Size):], s, q, rows)
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

// gatherRows writes, for each weight, what it meets at rows [q, q+rows) of an image.
func gatherRows[T kernels.Real](to, in []T, s *ConvShape, q, rows int) {
	ox, width := s.OutSize[2], s.Size[2]
	for k := range s.weights() {
		c, jz, jy, jx := k/volume(s.Kernel), k/(s.Kernel[1]*s.Kernel[2])%s.Kernel[0], k/s.Kernel[2]%s.Kernel[1], k%s.Kernel[2]
		for r := q; r < q+rows; r++ {
			run := to[:ox]
			to = to[ox:]
			fz := r/s.OutSize[1]*s.Stride[0] - s.Pad[0] + jz*s.Dilation[0]
			fy := r%s.OutSize[1]*s.Stride[1] - s.Pad[1] + jy*s.Dilation[1]
			if fz < 0 || fz >= s.Size[0] || fy < 0 || fy >= s.Size[1] {
				clear(run)
				continue
			}
			row := in[((c*s.Size[0]+fz)*s.Size[1]+fy)*width:][:width]
			at := jx*s.Dilation[2] - s.Pad[2]
			if s.Stride[2] == 1 {
				from, end := min(max(0, -at), ox), max(0, min(ox, width-at))
				clear(run[:from])
				if from < end {
					copy(run[from:end], row[at+from:])
				}
				clear(run[max(from, end):])
				continue
			}
			for i := range run {
				run[i] = 0
				if fx := at + i*s.Stride[2]; fx >= 0 && fx < width {
					run[i] = row[fx]
				}
			}
		}
	}
}
