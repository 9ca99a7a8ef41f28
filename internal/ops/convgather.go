package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// edged is an image with what its positions read beyond its edges: zeros. They stay from image to
// image. Of each row the elements of one remainder by the stride are neighbours, as positions read
// them: first those of remainder 0.
type edged[T kernels.Float] struct {
	all   []T
	image int // that all holds, or none
}

const none = -1

// tapSpan is the elements of an axis that positions read, from one on, of which there may be some
// outside of the axis.
type tapSpan struct{ from, n int }

func tapSpanOf(a convAxis) tapSpan {
	last, step := (a.count-1)*a.stride+a.shift, (a.taps-1)*a.step
	from := a.shift + min(0, step)
	return tapSpan{from, last + max(0, step) - from + 1}
}

// inside reports whether they are all elements of an axis of so many.
func (s tapSpan) inside(size int) bool { return s.from >= 0 && s.from+s.n <= size }

// gather sets the panel to what each weight, in the order of the sum, meets at count positions from
// first on, in an image of so many planes to read.
func (b *buffers[T]) gather(loops *vec.Loops[T], in []T, image, read int, size [3]int, z, y, x convAxis, first, count int) {
	axes, taps := [3]convAxis{z, y, x}, z.taps*y.taps*x.taps
	var spans [3]tapSpan
	whole, cells := true, 1
	for i, a := range axes {
		spans[i] = tapSpanOf(a)
		whole = whole && spans[i].inside(size[i])
		cells *= max(1, min(spans[i].n, 1<<20))
	}
	if count == 0 {
		return
	}
	// Where little of what is read is elements, they are picked.
	sparse := whole && y.taps*x.taps < y.stride*x.stride || !whole && cells > 4*volume(size)+1024
	if loops == nil || taps == 0 || sparse {
		gather(b.panel, in, read, size, z, y, x, first, count)
		return
	}
	from := in
	if whole && x.stride == 1 {
		spans = [3]tapSpan{{0, size[0]}, {0, size[1]}, {0, size[2]}}
	} else {
		b.edged.fill(loops, in, image, read, size, spans, x.stride)
		from = b.edged.all
	}
	sizeY, part := spans[1].n, intmath.CeilDiv(spans[2].n, x.stride)
	sizeX := part * x.stride
	plane := spans[0].n * sizeY * sizeX
	// Positions are a part of a row, whole rows of a plane, and so on.
	for done := 0; done < count; {
		p := first + done
		qz, qy, qx := p/(y.count*x.count), p/x.count%y.count, p%x.count
		c := vec.Copy{Planes: read, Rows: 1, N: min(count-done, x.count-qx), ToPlane: taps * count, ToRow: x.count, FromPlane: plane, FromRow: y.stride * sizeX}
		if qx == 0 && c.N == x.count {
			c.Rows = min((count-done)/x.count, y.count-qy)
		}
		tap := done
		for jz := range z.taps {
			fz := qz*z.stride + z.shift + jz*z.step - spans[0].from
			for jy := range y.taps {
				fy := qy*y.stride + y.shift + jy*y.step - spans[1].from
				for jx := range x.taps {
					fx := x.shift + jx*x.step - spans[2].from
					loops.Copy(b.panel[tap:], from[(fz*sizeY+fy)*sizeX+fx%x.stride*part+fx/x.stride+qx:], c)
					tap += count
				}
			}
		}
		done += c.Rows * c.N
	}
}

// fill makes all an image, unless it is, whose positions along a row are a stride apart.
func (e *edged[T]) fill(loops *vec.Loops[T], in []T, image, read int, size [3]int, spans [3]tapSpan, stride int) {
	if e.image == image {
		return
	}
	part := intmath.CeilDiv(spans[2].n, stride)
	row := part * stride
	plane := spans[0].n * spans[1].n * row
	if e.image == none {
		e.all = grown(e.all, read*plane)
		clear(e.all)
	}
	e.image = image
	var lo, n [3]int // of what is there
	for i, s := range spans {
		lo[i] = max(0, s.from)
		n[i] = min(size[i], s.from+s.n) - lo[i]
	}
	if min(n[1], n[2]) <= 0 {
		return
	}
	before := lo[2] - spans[2].from
	for z := range n[0] {
		to := e.all[((lo[0]+z-spans[0].from)*spans[1].n+lo[1]-spans[1].from)*row:]
		from := in[((lo[0]+z)*size[1]+lo[1])*size[2]+lo[2]:]
		for i := range min(stride, n[2]) {
			at := before + i
			loops.CopyStep(to[at%stride*part+at/stride:], from[i:], vec.Copy{Planes: read, Rows: n[1], N: intmath.CeilDiv(n[2]-i, stride),
				ToPlane: plane, ToRow: row, FromPlane: volume(size), FromRow: size[2]}, stride)
		}
	}
}

// gather writes, for each weight in the order of the sum, what it meets at count positions from
// first on.
func gather[T kernels.Float](to, in []T, read int, size [3]int, z, y, x convAxis, first, count int) {
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
func gatherRun[T kernels.Float](run, row []T, at, stride int) {
	from, end := there(len(run), len(row), at, stride)
	clear(run[:from])
	clear(run[end:])
	if from < end {
		(*vec.Loops[T])(nil).Step(run[from:end], row[at+from*stride:], stride)
	}
}

// there returns which of n elements at, at + stride … of so many there are: from the one on, to
// below the other.
func there(n, size, at, stride int) (from, end int) {
	from = min(intmath.CeilDiv(max(0, -at), stride), n)
	return from, min(max(from, intmath.CeilDiv(max(0, size-at), stride)), n)
}
