package ops

import (
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// depthPlanes is about how many elements of a channel are copied at a time.
const depthPlanes = 1 << 15

// depthwise computes convolutions of groups of one channel to one channel on the Go device. It
// copies what a block of rows reads to planes with the zeros of the padding in place, one for each
// remainder of the positions by the stride. Then the inputs of a tap at all positions of the block
// are neighbours, as in conv_cpu.cl: positions count through the rows of a plane, and what lies
// between two rows is dropped.
type depthwise[T kernels.Float] struct {
	loops            *vec.Loops[T]
	z, y, x          convAxis
	size             [3]int // of what is read
	lowY, lowX       int    // the least position that is read, of position 0
	remY, remX       int    // planes of the stride
	rows, width      int    // rows of a block, and elements of a row of a plane
	planes, sums, by []T
	offsets          []int // of each tap in the planes
}

func newDepthwise[T kernels.Float](loops *vec.Loops[T], z, y, x convAxis, size [3]int) *depthwise[T] {
	low := func(a convAxis) int { return a.shift + min(0, (a.taps-1)*a.step) }
	d := &depthwise[T]{loops: loops, z: z, y: y, x: x, size: size, lowY: low(y), lowX: low(x)}
	d.remY, d.remX = min(y.stride, d.span(y)+1), min(x.stride, d.span(x)+1)
	d.width = x.count + d.span(x)/x.stride
	d.rows = min(y.count, max(1, depthPlanes/max(1, d.width*d.remX*d.remY)))
	return d
}

// span returns how many positions lie between the first and the last tap of an axis.
func (d *depthwise[T]) span(a convAxis) int { return max(a.step, -a.step) * max(a.taps-1, 0) }

// blocks returns how many blocks of rows the positions are.
func (d *depthwise[T]) blocks() int { return d.z.count * intmath.CeilDiv(d.y.count, max(1, d.rows)) }

// block returns the place of a block, and its rows.
func (d *depthwise[T]) block(i int) (qz, qy, rows int) {
	each := intmath.CeilDiv(d.y.count, d.rows)
	qz, qy = i/each, i%each*d.rows
	return qz, qy, min(d.rows, d.y.count-qy)
}

// fill sets the planes for rows of positions from (qz, qy) on, of a channel, and the offsets of the
// taps in them. again says that the planes are those of another channel at the same rows: offsets and
// zeros are there.
func (d *depthwise[T]) fill(channel []T, qz, qy, rows int, again bool) {
	height := rows + d.span(d.y)/d.y.stride
	plane := height * d.width
	d.planes = grown(d.planes, d.z.taps*d.remY*d.remX*plane)
	if !again {
		d.offsets = d.offsets[:0]
	}
	for jz := range d.z.taps {
		fz := qz*d.z.stride + d.z.shift + jz*d.z.step
		to := d.planes[jz*d.remY*d.remX*plane:]
		for ry := range d.remY {
			fy := qy*d.y.stride + d.lowY + ry
			top, bottom := there(height, d.size[1], fy, d.y.stride)
			if fz < 0 || fz >= d.size[0] {
				top, bottom = 0, 0
			}
			for rx := range d.remX {
				part, fx := to[(ry*d.remX+rx)*plane:][:plane], d.lowX+rx
				left, right := there(d.width, d.size[2], fx, d.x.stride)
				c := vec.Copy{Planes: 1, Rows: bottom - top, N: right - left, ToRow: d.width, FromRow: d.y.stride * d.size[2]}
				if c.Rows*c.N < plane && !again {
					clear(part)
				}
				if c.Rows*c.N > 0 {
					from := (fz*d.size[1]+fy+top*d.y.stride)*d.size[2] + fx + left*d.x.stride
					d.loops.CopyStep(part[top*d.width+left:], channel[from:], c, d.x.stride)
				}
			}
		}
		for jy := 0; jy < d.y.taps && !again; jy++ {
			for jx := range d.x.taps {
				y, x := d.y.shift-d.lowY+jy*d.y.step, d.x.shift-d.lowX+jx*d.x.step
				at := (jz*d.remY+y%d.y.stride)*d.remX + x%d.x.stride
				d.offsets = append(d.offsets, at*plane+y/d.y.stride*d.width+x/d.x.stride)
			}
		}
	}
}

// weigh sets the numbers that taps are multiplied by.
func (d *depthwise[T]) weigh(w []T, kernel [3]int) {
	d.by = d.by[:0]
	for jz := range d.z.taps {
		for jy := range d.y.taps {
			for jx := range d.x.taps {
				d.by = append(d.by, w[((d.z.r+jz*d.z.rstep)*kernel[1]+d.y.r+jy*d.y.rstep)*kernel[2]+d.x.r+jx*d.x.rstep])
			}
		}
	}
}

// outputs adds the taps of rows of positions from (qz, qy) on up, and writes them and a bias to a
// channel of some size.
func (d *depthwise[T]) outputs(to []T, size [3]int, bias T, qz, qy, rows int) {
	n := (rows-1)*d.width + d.x.count
	d.sums = grown(d.sums, n)
	d.loops.Taps(d.sums, d.planes, d.offsets, d.by)
	if bias != 0 {
		d.loops.MapBy(vec.Add, d.sums, d.sums, bias)
	}
	to = to[((qz*d.z.spread+d.z.first)*size[1]+qy*d.y.spread+d.y.first)*size[2]+d.x.first:]
	if d.x.spread == 1 {
		d.loops.Copy(to, d.sums, vec.Copy{Planes: 1, Rows: rows, N: d.x.count, ToRow: d.y.spread * size[2], FromRow: d.width})
		return
	}
	for a := range rows {
		for i, v := range d.sums[a*d.width:][:d.x.count] {
			to[a*d.y.spread*size[2]+i*d.x.spread] = v
		}
	}
}

// gradients adds, for each tap, the products of what it meets and of the gradients g of rows of
// positions to sums, and the sum of the gradients to the last of sums.
func (d *depthwise[T]) gradients(sums []float64, g []T, rows int) {
	n := (rows-1)*d.width + d.x.count
	d.sums = grown(d.sums, n)
	for a := range rows {
		row := d.sums[a*d.width:][:min(d.width, n-a*d.width)]
		copy(row, g[a*d.x.count:][:d.x.count])
		clear(row[d.x.count:])
	}
	for tap, offset := range d.offsets {
		dot := float64(d.loops.Dot(d.sums, d.planes[offset:]))
		if math.IsNaN(dot) || math.IsInf(dot, 0) { // which may come from between the rows
			dot = 0
			for a := range rows {
				dot += float64(d.loops.Dot(d.sums[a*d.width:][:d.x.count], d.planes[offset+a*d.width:]))
			}
		}
		sums[tap] += dot
	}
	sums[len(d.offsets)] += float64(d.loops.Sum(d.sums))
}

// depthwiseHost computes convHost's result where groups have one channel on both sides, and reports
// whether they have.
func depthwiseHost[T kernels.Float](c kernels.HostArgs[T], pool *sync.Pool, s *ConvShape, transposed bool, x, w, bias,
	y []T) bool {
	loops := loopsOf(c)
	if loops == nil || s.In != 1 || s.Out != 1 || volume(s.Kernel) == 1 || volume(s.Kernel) > 1<<10 {
		return false
	}
	size, to := s.Size, s.OutSize
	if transposed {
		size, to = to, size
	}
	phases := s.phases(transposed)
	forms := make([]*depthwise[T], phases)
	blocks := 0
	for i := range forms {
		z, y, x := s.axes(transposed, i)
		forms[i] = newDepthwise(loops, z, y, x, size)
		if min(z.taps, y.taps, x.taps) > 0 && forms[i].width > 4*(x.count+size[2]) {
			return false // a dilation so wide that planes are nothing but padding
		}
		blocks = max(blocks, forms[i].blocks())
	}
	cost := min(depthPlanes, volume(to)/phases) * (volume(s.Kernel)/phases + 8) / 4 // of copies, and of taps in vectors
	c.Parallel(s.Groups*phases*s.Batch*blocks, cost, func(lo, hi int) {
		b := pool.Get().(*buffers[T])
		defer pool.Put(b)
		own := &b.depth
		weighed := none // the group and phase of own
		filled := none  // the phase and block of own
		from, stored := 0, 0
		for u := lo; u < hi; u++ {
			i, n, gp := u%blocks, u/blocks%s.Batch, u/blocks/s.Batch
			g, d := gp/phases, forms[gp%phases]
			if i >= d.blocks() {
				continue
			}
			if weighed != gp {
				planes, sums, by, offsets := own.planes, own.sums, own.by, own.offsets
				*own, weighed = *d, gp
				own.planes, own.sums, own.by, own.offsets = planes, sums, by, offsets
				own.weigh(w[g*volume(s.Kernel):], s.Kernel)
			}
			qz, qy, rows := own.block(i)
			if own.x.count == 0 || rows == 0 {
				continue
			}
			var add T
			if len(bias) > 0 {
				add = bias[g]
			}
			block := gp%phases*blocks + i
			own.fill(x[(n*s.Groups+g)*volume(size):][:volume(size)], qz, qy, rows, block == filled)
			own.outputs(y[(n*s.Groups+g)*volume(to):][:volume(to)], to, add, qz, qy, rows)
			filled = block
			if phases > 1 {
				continue
			}
			// Rows of a channel, and of those behind it, are told together.
			at := (n*s.Groups+g)*volume(to) + (qz*to[1]+qy)*to[2]
			if stored > 0 && (at != from+stored || stored >= depthPlanes/8) {
				c.Stored(from, 1, stored, 0)
				stored = 0
			}
			if stored == 0 {
				from = at
			}
			stored += rows * to[2]
		}
		if stored > 0 {
			c.Stored(from, 1, stored, 0)
		}
	})
	return true
}

// depthwiseWeightHost computes convWeightHost's result where groups have one channel on both sides,
// and reports whether they have.
func depthwiseWeightHost[T kernels.Float](c kernels.HostArgs[T], s *ConvShape, slice int, x, g, to []T,
	biased int) bool {
	loops, weights, size := loopsOf(c), volume(s.Kernel), volume(s.OutSize)
	if loops == nil || s.In != 1 || s.Out != 1 || weights > 1<<10 || size == 0 {
		return false
	}
	form := newDepthwise(loops, s.forward(0), s.forward(1), s.forward(2), s.Size)
	if form.width > 4*(s.OutSize[2]+s.Size[2]) {
		return false
	}
	slices := intmath.CeilDiv(s.Rows(), max(slice, 1))
	c.Parallel(slices*s.Groups, slice*s.OutSize[2]*weights, func(lo, hi int) {
		own := *form
		sums := make([]float64, weights+1)
		for u := lo; u < hi; u++ {
			group, end := u%s.Groups, min(s.Rows(), (u/s.Groups+1)*slice)
			clear(sums)
			for row := u / s.Groups * slice; row < end; {
				n, qz, qy := row/(s.OutSize[0]*s.OutSize[1]), row/s.OutSize[1]%s.OutSize[0], row%s.OutSize[1]
				rows := min(own.rows, end-row, s.OutSize[1]-qy)
				channel := n*s.Groups + group
				own.fill(x[channel*volume(s.Size):][:volume(s.Size)], qz, qy, rows, false)
				own.gradients(sums, g[channel*size+(qz*s.OutSize[1]+qy)*s.OutSize[2]:], rows)
				row += rows
			}
			for i := range to[u*(weights+biased):][:weights+biased] {
				to[u*(weights+biased)+i] = T(sums[i])
			}
		}
	})
	return true
}
