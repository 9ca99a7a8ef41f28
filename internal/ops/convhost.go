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

// convPanel is about how many elements of the inputs of neighbouring positions the host kernels gather for
// one product.
const convPanel = 1 << 17

// convNear is how many positions may lie beside each other in a row of a product's first operand
// that loops do not copy before they use it.
const convNear = 128

// wide is a number of positions that products of all vectors have no rest of.
const wide = 32

// wholeRows returns about how many positions are to be gathered for one product, up to most: whole
// rows, if some of them leave products no rest, or hardly any.
func wholeRows(most, row int) int {
	for unit := wide; unit >= wide/4; unit /= 2 {
		rows := row
		for rows%unit != 0 {
			rows += row
		}
		if rows <= most {
			return most / rows * rows
		}
	}
	if most > wide {
		return most / wide * wide
	}
	return most
}

// blasOf returns gonum's matrix product.
func blasOf[T kernels.Float]() blasGemm[T] {
	if f, ok := any(blas32.Implementation().Sgemm).(func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)); ok {
		return f
	}
	return any(blas64.Implementation().Dgemm).(func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int))
}

// buffers are what a goroutine of a host kernel needs, kept from launch to launch.
type buffers[T kernels.Float] struct {
	weights, panel, result []T
	turned                 []T // a panel, transposed
	edged                  edged[T]
	depth                  depthwise[T]
}

func grown[T kernels.Float](s []T, n int) []T {
	if cap(s) < n {
		return scratch[T](n)
	}
	return s[:n]
}

// convHost computes blocks of positions, each a matrix product of the weights and of what the
// positions read.
func convHost[T kernels.Float]() func(kernels.HostArgs[T]) {
	pool := sync.Pool{New: func() any { return new(buffers[T]) }}
	gemm := blasOf[T]()
	return func(c kernels.HostArgs[T]) {
		var numbers [convCount]kernels.Arg
		for i := range numbers {
			numbers[i] = kernels.IntArg(c.Int(convNumbers + i))
		}
		s, transposed, biased := convShapeOf(numbers[:], 0), c.Int(convTransposed) != 0, c.Int(convBiased) != 0
		read, written, from, to := s.In, s.Out, s.Size, s.OutSize
		volumeW := volume(s.Kernel)
		wRead, wWritten := volumeW, s.weights()
		if transposed {
			read, written, from, to = s.Out, s.In, s.OutSize, s.Size
			wRead, wWritten = wWritten, wRead
		}
		x, w, bias, y := c.Floats(convX), c.Floats(convW), c.Floats(convBias), c.Floats(convY)
		if !biased {
			bias = nil
		}
		if depthwiseHost(c, &pool, s, transposed, x, w, bias, y) || pointwiseConv(c, s, transposed, x, w, bias, y) {
			return
		}
		phases := s.phases(transposed)
		loops := loopsOf(c)
		// A unit is a block of positions of one phase of an image and group.
		z0, y0, x0 := s.axes(transposed, 0) // which has the most positions
		block := wholeRows(max(1, min(1024, convPanel/max(read*volumeW, 1))), x0.count)
		blocks := intmath.CeilDiv(z0.count*y0.count*x0.count, block)
		units := s.Batch * s.Groups * phases * blocks
		c.Parallel(units, block*read*volumeW*written/max(phases, 1)/4+block, func(lo, hi int) {
			b := pool.Get().(*buffers[T])
			defer pool.Put(b)
			packed := -1 // the group and phase of b.weights and b.edged
			b.edged.image = none
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
					b.edged.image = none // edges are those of a phase
				}
				// The weights of an output are in the order of the sum, but for those of a transposed
				// convolution. Packed outputs are neighbours for loops, which copy rows that are far
				// apart before they use them.
				row, step, weights := sum, 1, w[g*s.Out*s.weights():]
				if transposed {
					if loops != nil {
						row, step = 1, written
					}
					if packed != gp {
						b.weights = grown(b.weights, written*sum)
						packWeights(b.weights, row, step, weights, written, read, wWritten, wRead, s.Kernel, az, ay, ax)
					}
					weights = b.weights
				}
				packed = gp
				b.panel, b.result = grown(b.panel, count*sum), grown(b.result, written*count)
				in := x[(n*s.Groups+g)*read*volume(from):][:read*volume(from)]
				b.gather(loops, in, n*s.Groups+g, read, from, az, ay, ax, first, count)
				// The sums are a row for each output, of Y itself where positions are neighbours
				// there.
				result, apart := b.result, count
				all := y[(n*s.Groups+g)*written*volume(to):][:written*volume(to)]
				if phases == 1 {
					result, apart = all[first:], volume(to)
				}
				switch {
				case loops != nil:
					loops.Product(vec.Product[T]{M: written, N: count, K: sum, A: weights, RowA: row, StepA: step,
						B: b.panel, StepB: count, ColumnB: 1, C: result, RowC: apart}, nil)
				case sum > 0 && !finite(b.panel, sum, count, count): // gonum's loop over rows adds no multiple by 0
					b.turned = grown(b.turned, count*sum)
					transpose(b.turned, b.panel, sum, count, count)
					gemm(blas.NoTrans, blas.Trans, written, count, sum, 1, weights, sum, b.turned, sum, 0, result, apart)
				case sum > 0:
					gemm(blas.NoTrans, blas.NoTrans, written, count, sum, 1, weights, sum, b.panel, count, 0, result, apart)
				default:
					for o := range written {
						clear(result[o*apart:][:count])
					}
				}
				for o := range written {
					sums := result[o*apart:][:count]
					if biased {
						addTo(loops, sums, bias[g*written+o])
					}
					if phases == 1 {
						continue
					}
					out := all[o*volume(to):][:volume(to)]
					for i := 0; i < count; {
						p := first + i
						qz, qy, qx := p/(ay.count*ax.count), p/ax.count%ay.count, p%ax.count
						run := sums[i:min(count, i+ax.count-qx)] // of one row
						at := ((qz*az.spread+az.first)*to[1]+qy*ay.spread+ay.first)*to[2] + qx*ax.spread + ax.first
						for _, v := range run {
							out[at] = v
							at += ax.spread
						}
						i += len(run)
					}
				}
				if phases == 1 {
					c.Stored((n*s.Groups+g)*written*volume(to)+first, written, count, volume(to))
				}
			}
		})
	}
}

// addTo adds a number to all elements.
func addTo[T kernels.Float](loops *vec.Loops[T], to []T, v T) {
	if loops != nil {
		loops.MapBy(vec.Add, to, to, v)
		return
	}
	for i := range to {
		to[i] += v
	}
}

// packWeights writes those of one group [written, read, taps] in the order of the sum, those of an
// output step elements apart, and outputs row elements.
func packWeights[T kernels.Float](to []T, row, step int, w []T, written, read, wWritten, wRead int, size [3]int, z, y, x convAxis) {
	const block = 16 // outputs whose weights are read, and written, side by side
	for first := 0; first < written; first += block {
		count := min(block, written-first)
		k := first * row
		for c := range read {
			for jz := range z.taps {
				for jy := range y.taps {
					at := first*wWritten + c*wRead + ((z.r+jz*z.rstep)*size[1]+y.r+jy*y.rstep)*size[2] + x.r
					for range x.taps {
						from, i := at, k
						for range count {
							to[i] = w[from]
							i += row
							from += wWritten
						}
						k += step
						at += x.rstep
					}
				}
			}
		}
	}
}

// convWeightHost sums up over blocks of rows, each a matrix product of what its positions read, a
// row for each weight, and of the gradient.
func convWeightHost[T kernels.Float]() func(kernels.HostArgs[T]) {
	pool := sync.Pool{New: func() any { return new(buffers[T]) }}
	gemm := blasOf[T]()
	return func(c kernels.HostArgs[T]) {
		var numbers [convCount]kernels.Arg
		for i := range numbers {
			numbers[i] = kernels.IntArg(c.Int(convWeightNumbers + i))
		}
		s, slice, biased := convShapeOf(numbers[:], 0), c.Int(convWeightSlice), c.Int(convWeightBiased)
		x, g, d := c.Floats(convWeightX), c.Floats(convWeightG), c.Floats(convWeightD)
		if depthwiseWeightHost(c, s, slice, x, g, d, biased) {
			return
		}
		weights, size := s.weights(), volume(s.OutSize)
		slices := intmath.CeilDiv(s.Rows(), max(slice, 1))
		ox, loops := s.OutSize[2], loopsOf(c)
		block := min(1024, convPanel/max(weights, 1))
		if loops != nil {
			block = min(block, convNear)
		}
		block = max(1, block/max(ox, 1)) // rows
		c.Parallel(slices*s.Groups, slice*ox*weights*s.Out/4, func(lo, hi int) {
			b := pool.Get().(*buffers[T])
			defer pool.Put(b)
			b.edged.image = none
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
					image := n*s.Groups + group
					b.gather(loops, x[image*s.In*volume(s.Size):][:s.In*volume(s.Size)], image, s.In, s.Size, s.forward(0), s.forward(1), s.forward(2), q*ox, count)
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
