package ops

import (
	"fmt"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// PoolShape is the numbers of pooling over 1, 2 or 3 axes, of X [Outer, Size…] to Y [Outer,
// OutSize…]. Along each axis, output q has the inputs q·Stride − Pad + j·Dilation for j below
// Kernel, as far as there are any; if the pooling is Adaptive, those from ⌊q·Size/OutSize⌋ to below
// ⌈(q + 1)·Size/OutSize⌉. With fewer axes, the first have size 1.
type PoolShape struct {
	Outer                                        int
	Size, OutSize, Kernel, Stride, Dilation, Pad [3]int
	Adaptive                                     bool
}

var poolNames = []string{"outer", "iz", "iy", "ix", "oz", "oy", "ox", "kz", "ky", "kx", "sz", "sy", "sx", "dz", "dy", "dx", "pz", "py", "px", "adaptive"}

const poolCount = 20

// Args appends the numbers of the shape to the arguments of a launch.
func (s *PoolShape) Args(args []kernels.Arg) []kernels.Arg {
	args = append(args, kernels.IntArg(s.Outer))
	for _, v := range [...]*[3]int{&s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad} {
		args = append(args, kernels.IntArg(v[0]), kernels.IntArg(v[1]), kernels.IntArg(v[2]))
	}
	return append(args, kernels.FlagArg(s.Adaptive))
}

func poolShapeOf(args []kernels.Arg, from int) *PoolShape {
	at := func(i int) int { return int(args[from+i].Int) }
	s := &PoolShape{Outer: at(0), Adaptive: at(19) != 0}
	for k, v := range [...]*[3]int{&s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad} {
		for a := range v {
			v[a] = at(1 + 3*k + a)
		}
	}
	return s
}

// PoolKernel is one of the kernels of pooling.
type PoolKernel int

// The kernels, and their arguments before and behind the numbers of the shape.
const (
	MaxPool     PoolKernel = iota // X, Y, the places I of the maxima in the input; whether to write these (0 or 1)
	MaxPoolGrad                   // G, I, D
	AvgPool                       // X, Y; whether a mean counts the padding (0 or 1), and the divisor, or 0
	AvgPoolGrad                   // G, D; the same
	poolKernels = iota
)

// poolWindow is what a kernel of pooling is built for; the zero value is any window.
type poolWindow struct {
	kernel                      PoolKernel
	size, stride, dilation, pad [3]int
}

// pools are the kernels, by window: at most poolMost, beyond which those for any window serve.
var pools struct {
	sync.RWMutex
	of map[poolWindow]*kernels.Kernel
}

const poolMost = 64

// PoolKernel returns a kernel for a shape: for its window, if that is small.
func (s *PoolShape) PoolKernel(k PoolKernel) *kernels.Kernel {
	w := poolWindow{k, s.Kernel, s.Stride, s.Dilation, s.Pad}
	far := 0
	for a := range s.Kernel {
		far = max(far, s.Dilation[a]*(s.Kernel[a]-1))
	}
	if s.Adaptive || volume(s.Kernel) > 16 || far > 64 {
		w = poolWindow{kernel: k}
	}
	pools.RLock()
	found, full := pools.of[w], len(pools.of) >= poolMost
	pools.RUnlock()
	if found != nil {
		return found
	}
	pools.Lock()
	defer pools.Unlock()
	if full {
		w = poolWindow{kernel: k}
	}
	if pools.of == nil {
		pools.of = map[poolWindow]*kernels.Kernel{}
	}
	if pools.of[w] == nil {
		pools.of[w] = newPool(w)
	}
	return pools.of[w]
}

// tiles reports whether windows lie side by side in planes: TILES of pool_gpu.cl.
func (w poolWindow) tiles() bool {
	return w.size[0] == 1 && w.stride == w.size && w.pad == [3]int{} && w.dilation[1] == 1 && w.dilation[2] == 1
}

// newPool makes the kernel for a window.
func newPool(w poolWindow) *kernels.Kernel {
	k := &kernels.Kernel{File: "pool_cpu.cl", GPU: "pool_gpu.cl", Semantics: poolSemantics(w.kernel)}
	gradient := w.kernel == MaxPoolGrad || w.kernel == AvgPoolGrad
	var behind []string
	switch w.kernel {
	case MaxPool:
		k.Name, k.Params, behind = "k_max_pool", []kernels.Param{in("X"), out("Y"), outInts("I")}, []string{"indices"}
		k.Host = kernels.HostKernel{F32: maxPoolHost[float32], F64: maxPoolHost[float64]}
	case MaxPoolGrad:
		k.Name, k.Params = "k_max_pool_grad", []kernels.Param{in("G"), inInts("I"), out("D")}
		k.Host = kernels.HostKernel{F32: maxPoolGradHost[float32], F64: maxPoolGradHost[float64]}
	case AvgPool:
		k.Name, k.Params, behind = "k_avg_pool", []kernels.Param{in("X"), out("Y")}, []string{"padding", "divisor"}
		k.Host = kernels.HostKernel{F32: avgPoolHost[float32], F64: avgPoolHost[float64]}
	case AvgPoolGrad:
		k.Name, k.Params, behind = "k_avg_pool_grad", []kernels.Param{in("G"), out("D")}, []string{"padding", "divisor"}
		k.Host = kernels.HostKernel{F32: avgPoolGradHost[float32], F64: avgPoolGradHost[float64]}
	}
	from := len(k.Params)
	for _, name := range append(poolNames[:poolCount:poolCount], behind...) {
		k.Params = append(k.Params, intArg(name))
	}
	if w.kernel != MaxPool { // whose results are elements of the operand
		k.Tol = kernels.Tolerance{ULP: 4, Rel: 4, Scale: func(a []kernels.Arg) float64 {
			s := poolShapeOf(a, from)
			terms := 1
			for i := range s.Size {
				out, in := max(1, s.OutSize[i]), max(1, s.Size[i]) // a case may be without elements
				terms *= max(s.Kernel[i], intmath.CeilDiv(in, out)+1, intmath.CeilDiv(out, in)+1)
			}
			return float64(terms) * kernels.MaxAbs(a, 0)
		}}
	}
	if w.size != [3]int{} {
		for i, axis := range "ZYX" {
			k.Defines += fmt.Sprintf(" -DK%c=%d -DS%c=%d -DD%c=%d -DP%c=%d", axis, w.size[i], axis, w.stride[i], axis, w.dilation[i], axis, w.pad[i])
		}
		k.Defines = k.Defines[1:]
	}
	result := 1
	if w.kernel == MaxPoolGrad {
		result = 2
	}
	k.Fusions = fused.Fusions{Epilogue: storesPool(result, from, gradient)}
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		s := poolShapeOf(a, from)
		size := s.OutSize
		if gradient {
			size = s.Size
		}
		if l.CPU {
			const chunk = 4096 // elements, and a work-group has no fewer
			rows := s.Outer * size[0] * size[1]
			return kernels.Groups(min(rows, intmath.CeilDiv(rows*size[2], chunk)), 1)
		}
		if w.tiles() { // two windows for a work-item
			wide, tall := intmath.CeilDiv(size[2], 2), size[1]
			if gradient {
				wide, tall = intmath.CeilDiv(wide, w.stride[2]), intmath.CeilDiv(tall, w.stride[1])
			}
			return kernels.Grid1D(s.Outer*size[0]*tall*wide, l)
		}
		return kernels.Grid2D(size[2], s.Outer*size[0]*size[1], l)
	}
	operands := func(s *PoolShape, index func(i int) int) []kernels.Operand {
		x, y := s.Outer*volume(s.Size), s.Outer*volume(s.OutSize)
		i := selftest.Computed(y, func(_ []kernels.Arg, i int) float64 { return float64(index(i)) })
		switch w.kernel {
		case MaxPool:
			return []kernels.Operand{selftest.Uniform(x, -1, 1), selftest.Output(y), selftest.Output(y)}
		case MaxPoolGrad:
			return []kernels.Operand{selftest.Uniform(y, -1, 1), i, selftest.Output(x)}
		case AvgPool:
			return []kernels.Operand{selftest.Uniform(x, -1, 1), selftest.Output(y)}
		}
		return []kernels.Operand{selftest.Uniform(y, -1, 1), selftest.Output(x)}
	}
	k.Cases = func(few bool) []kernels.Case { return poolCases(w, few, behind) }
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		s := poolShapeOf(like, from)
		s.Outer = min(s.Outer, selftest.Elements/2/max(volume(s.Size)+2*volume(s.OutSize), 1))
		if s.Outer == 0 {
			return nil
		}
		ops := operands(s, func(i int) int { return s.some(i) })
		for _, a := range like[from:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		ops[from].Number = float64(s.Outer)
		if w.kernel == MaxPool && like[2].N == 0 {
			ops[2] = selftest.Output(0)
		}
		return ops
	}
	return k
}

// some returns the place of an input in the window of output i of Y.
func (s *PoolShape) some(i int) int {
	q, at := i%volume(s.OutSize), 0
	for a, p := range [3]int{q / (s.OutSize[1] * s.OutSize[2]), q / s.OutSize[2] % s.OutSize[1], q % s.OutSize[2]} {
		first, taps, step := s.window(a, p)
		for j := i % taps; ; j = (j + 1) % taps {
			if f := first + j*step; f >= 0 && f < s.Size[a] {
				at = at*s.Size[a] + f
				break
			}
		}
	}
	return at
}

// window returns the inputs first + j·step, j < taps, of output q along an axis.
func (s *PoolShape) window(axis, q int) (first, taps, step int) {
	if s.Adaptive {
		first = q * s.Size[axis] / s.OutSize[axis]
		return first, intmath.CeilDiv((q+1)*s.Size[axis], s.OutSize[axis]) - first, 1
	}
	return q*s.Stride[axis] - s.Pad[axis], s.Kernel[axis], s.Dilation[axis]
}

// divisor returns what the sum of the window of output q is divided by.
func (s *PoolShape) divisor(q [3]int, padding bool, divisor int) float64 {
	if divisor > 0 {
		return float64(divisor)
	}
	n := 1.0 // a window that is nearly all padding may have more positions than an int holds
	for a := range q {
		first, taps, _ := s.window(a, q[a])
		if padding {
			n *= float64(min(first+taps, s.Size[a]+s.Pad[a]) - first)
		} else {
			n *= float64(min(first+taps, s.Size[a]) - max(first, 0))
		}
	}
	return n
}

// poolOf reads the shape that begins with argument from of a call.
func poolOf[T kernels.Float](c kernels.HostArgs[T], from int) *PoolShape {
	var numbers [poolCount]kernels.Arg
	for i := range numbers {
		numbers[i] = kernels.IntArg(c.Int(from + i))
	}
	return poolShapeOf(numbers[:], 0)
}

// join makes one long row of rows of windows that meet nothing of their neighbours, if planes are rows.
func (s *PoolShape) join() {
	if !s.Adaptive && s.Size[0]*s.Size[1] == 1 && s.Pad == [3]int{} && s.Kernel[0]*s.Kernel[1] == 1 &&
		s.OutSize[2]*s.Stride[2] == s.Size[2] && s.Dilation[2]*(s.Kernel[2]-1) < s.Stride[2] {
		s.Outer, s.Size[2], s.OutSize[2] = 1, s.Outer*s.Size[2], s.Outer*s.OutSize[2]
	}
}

// inside returns the inputs of the window of output q along an axis that there are: from, from +
// step … below end.
func (s *PoolShape) inside(axis, q int) (from, end, step int) {
	from, taps, step := s.window(axis, q)
	end = min(from+taps*step, s.Size[axis])
	if from < 0 {
		from += intmath.CeilDiv(-from, step) * step
	}
	return from, end, step
}

// rows calls f for every piece of a row of Y in [lo, hi): n outputs from o on, whose plane is
// number outer and which begin at place q of it.
func (s *PoolShape) rows(lo, hi int, f func(outer, o, n int, q [3]int)) {
	for o := lo; o < hi; {
		p := o % volume(s.OutSize)
		q := [3]int{p / (s.OutSize[1] * s.OutSize[2]), p / s.OutSize[2] % s.OutSize[1], p % s.OutSize[2]}
		n := min(s.OutSize[2]-q[2], hi-o)
		f(o/volume(s.OutSize), o, n, q)
		o += n
	}
}

func maxPoolHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, places, s, indices := c.Floats(0), c.Floats(1), c.Ints(2), poolOf(c, 3), c.Int(3+poolCount) != 0
	set, loops := setOf(c), loopsOf(c)
	if !indices { // which are places in a plane
		s.join()
	}
	c.Parallel(len(y), 2*volume(s.Kernel), func(lo, hi int) {
		s.rows(lo, hi, func(outer, o, n int, q [3]int) {
			plane := x[outer*volume(s.Size):][:volume(s.Size)]
			z0, z1, dz := s.inside(0, q[0])
			y0, y1, dy := s.inside(1, q[1])
			if loops != nil && loops.HasMaxPool(n) && s.pairs(q, n) {
				var to []int32
				if indices {
					to = places[o : o+n]
				}
				from := (z0*s.Size[1]+y0)*s.Size[2] + 2*q[2]
				loops.MaxPool(y[o:o+n], to, plane[from:], s.Size[2], from)
				return
			}
			if _, _, step := s.inside(2, q[2]); loops != nil && step == 1 {
				var to []int32
				if indices {
					to = places[o : o+n]
				}
				maxima(set, loops, s, y[o:o+n], to, plane, q)
				return
			}
			for i := range n {
				from, end, step := s.inside(2, q[2]+i)
				best, at := T(0), -1
				for fz := z0; fz < z1; fz += dz {
					for fy := y0; fy < y1; fy += dy {
						base := (fz*s.Size[1] + fy) * s.Size[2]
						for p := base + from; p < base+end; p += step {
							if v := plane[p]; at < 0 || v > best || v != v {
								best, at = v, p
							}
						}
					}
				}
				if at >= 0 {
					y[o+i] = best
				}
				if indices {
					places[o+i] = int32(at)
				}
			}
		})
	})
}

// pairs reports whether the windows of n outputs of a row are pairs of elements, in one plane and
// two rows, side by side and all there.
func (s *PoolShape) pairs(q [3]int, n int) bool {
	two := func(a int) bool { return s.Kernel[a] == 2 && s.Stride[a] == 2 && s.Dilation[a] == 1 && s.Pad[a] == 0 }
	return !s.Adaptive && s.Kernel[0] == 1 && s.Pad[0] == 0 && s.Stride[0] == 1 && two(1) && two(2) &&
		2*q[1]+2 <= s.Size[1] && 2*(q[2]+n) <= s.Size[2]
}

// whole returns the outputs [lo, hi) of n from output q of a row on whose windows lie within the
// input, if windows are not adaptive: they are all of one size.
func (s *PoolShape) whole(q, n int) (lo, hi int) {
	k, step, p := s.Kernel[2], s.Stride[2], s.Pad[2]
	if s.Adaptive || s.Dilation[2] != 1 || s.Size[2] < k {
		return q, q
	}
	lo = max(q, (p+step-1)/step)
	return lo, max(lo, min(q+n, (s.Size[2]-k+p)/step+1))
}

// columns returns the columns [lo, hi) of the input that the windows of n outputs of a row meet,
// from output q on.
func (s *PoolShape) columns(q, n int) (lo, hi int) {
	lo, _, _ = s.inside(2, q)
	_, hi, _ = s.inside(2, q+n-1)
	lo = min(lo, s.Size[2]) // a last window may have nothing but padding
	return lo, max(lo, hi)
}

// maxima sets y to the outputs of a row from place q on, whose windows have neighbours of a row: to
// the maxima of rows [y, x] of the windows first, and then to those of neighbours in these. Unless
// places is nil, it becomes where these are.
func maxima[T kernels.Float](set *vec.Set, l *vec.Loops[T], s *PoolShape, y []T, places []int32, plane []T, q [3]int) {
	const short = 8 // neighbours of which a call takes longer
	n := len(y)
	lo, hi := s.columns(q[2], n)
	room := l.Scratch(hi - lo)
	defer l.Return(room)
	most := room.V
	var few [16]int
	rows := few[:0] // where they begin in the plane
	z0, z1, dz := s.inside(0, q[0])
	y0, y1, dy := s.inside(1, q[1])
	for z := z0; z < z1; z += dz {
		for y := y0; y < y1; y += dy {
			at := (z*s.Size[1] + y) * s.Size[2]
			if row := plane[at+lo : at+hi]; len(rows) == 0 {
				most = row
			} else {
				l.Map(vec.Max, room.V, most, row, most, most)
				most = room.V
			}
			rows = append(rows, at)
		}
	}
	left, right := s.whole(q[2], n)
	if left < right && len(rows) > 0 {
		maxNeighbours(set, l, y[left-q[2]:right-q[2]], most[left*s.Stride[2]-s.Pad[2]-lo:], s.Kernel[2], s.Stride[2])
	}
	for i := 0; i < n; i++ {
		whole := q[2]+i >= left && q[2]+i < right
		if whole && places == nil {
			i = right - q[2] - 1
			continue
		}
		from, end, _ := s.inside(2, q[2]+i)
		if from >= end || len(rows) == 0 { // nothing but padding
			if places != nil {
				places[i] = none
			}
			continue
		}
		switch window := most[from-lo : end-lo]; {
		case whole:
		case len(window) < short:
			y[i] = slices.Max(window)
		default:
			y[i] = l.Reduce(vec.Max, window)
		}
		if places != nil {
			at := placeOf(plane, rows, from, end, y[i])
			y[i], places[i] = plane[at], int32(at)
		}
	}
}

// placeOf returns where the first v lies in columns [from, end) of rows of a plane, or the last NaN
// if v is.
func placeOf[T vec.Float](plane []T, rows []int, from, end int, v T) int {
	nan := none
	for _, row := range rows {
		if v != v {
			for i, x := range plane[row+from : row+end] {
				if x != x {
					nan = row + from + i
				}
			}
		} else if i := slices.Index(plane[row+from:row+end], v); i >= 0 {
			return row + from + i
		}
	}
	return nan
}

// maxNeighbours sets y to the maxima of k neighbours each, which begin so many elements apart in x.
func maxNeighbours[T vec.Float](set *vec.Set, l *vec.Loops[T], y, x []T, k, step int) {
	const taps = 4 // that a transposition gives at once
	if step == 1 {
		copy(y, x)
		for j := 1; j < k; j++ {
			l.Map(vec.Max, y, y, x[j:], y, y)
		}
		return
	}
	done := 0
	if k <= taps && len(x) >= taps { // neighbours are the columns of a matrix
		done = min(len(y), (len(x)-taps)/step+1)
		room := l.Scratch(taps * done)
		vec.Transpose(set, room.V, done, x, step, taps, done)
		tap := func(j int) []T { return room.V[j*done:][:done] }
		l.Map(vec.Max, y[:done], tap(0), tap(min(1, k-1)), tap(0), tap(0))
		for j := 2; j < k; j++ {
			l.Map(vec.Max, y[:done], y, tap(j), y, y)
		}
		l.Return(room)
	}
	for i := done; i < len(y); i++ {
		y[i] = slices.Max(x[i*step:][:k])
	}
}

// maxPoolGradHost goes over the outputs of whole planes: those of which an input is the maximum
// come in their order.
func maxPoolGradHost[T kernels.Float](c kernels.HostArgs[T]) {
	g, places, d, s := c.Floats(0), c.Ints(1), c.Floats(2), poolOf(c, 3)
	size, out := volume(s.Size), volume(s.OutSize)
	c.Parallel(s.Outer, size+4*out, func(lo, hi int) {
		clear(d[lo*size : hi*size])
		for outer := lo; outer < hi; outer++ {
			plane, from := d[outer*size:][:size], g[outer*out:][:out]
			for o, p := range places[outer*out:][:out] {
				if p >= 0 { // a window of padding has none
					plane[p] += from[o]
				}
			}
		}
	})
}

// PoolExample is a window that kernels of the list are built for.
var PoolExample = PoolShape{Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 2, 2}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, 1, 1}}

// poolPairs are windows that are tiles, for which the gradient of maxima has a way of its own on
// CPUs.
var poolPairs = PoolShape{Kernel: [3]int{1, 2, 2}, Stride: [3]int{1, 2, 2}, Dilation: [3]int{1, 1, 1}}

// poolings returns the kernels of pooling: those for any window, and for one.
func poolings() []*kernels.Kernel {
	var all []*kernels.Kernel
	for k := range PoolKernel(poolKernels) {
		all = append(all, (&PoolShape{Adaptive: true}).PoolKernel(k), PoolExample.PoolKernel(k), poolPairs.PoolKernel(k))
	}
	return all
}

// poolCases are the launches that test a kernel: windows that overlap and that leave inputs out,
// with padding and without, and ends beyond the input; adaptive ones of more outputs than inputs,
// too.
func poolCases(w poolWindow, few bool, behind []string) []kernels.Case {
	one := [3]int{1, 1, 1}
	var shapes []*PoolShape
	if w.size != [3]int{} {
		for _, size := range [][3]int{{2, 6, 7}, {1, 9, 40}, {1, 1, 2}} {
			shapes = append(shapes, &PoolShape{Outer: 2, Size: size, Kernel: w.size, Stride: w.stride, Dilation: w.dilation, Pad: w.pad})
		}
	} else {
		shapes = []*PoolShape{
			{Outer: 3, Size: [3]int{1, 5, 7}, Kernel: [3]int{1, 2, 3}, Stride: [3]int{1, 2, 1}, Dilation: one, Pad: [3]int{0, 1, 1}},
			{Outer: 2, Size: [3]int{3, 4, 9}, Kernel: [3]int{2, 2, 3}, Stride: [3]int{1, 3, 2}, Dilation: [3]int{2, 1, 3}, Pad: [3]int{1, 0, 1}},
			{Outer: 2, Size: [3]int{1, 5, 7}, OutSize: [3]int{1, 3, 9}, Kernel: one, Stride: one, Dilation: one, Adaptive: true},
		}
		if !few {
			shapes = append(shapes, &PoolShape{Outer: 70, Size: [3]int{1, 1, 130}, Kernel: [3]int{1, 1, 5}, Stride: one, Dilation: one, Pad: [3]int{0, 0, 2}},
				&PoolShape{Outer: 3, Size: [3]int{1, 1, 131}, Kernel: [3]int{1, 1, 3}, Stride: [3]int{1, 1, 3}, Dilation: one, Pad: [3]int{0, 0, 1}},
				&PoolShape{Outer: 3, Size: [3]int{1, 4, 67}, Kernel: [3]int{1, 2, 9}, Stride: [3]int{1, 1, 2}, Dilation: one, Pad: [3]int{0, 1, 4}},
				&PoolShape{Outer: 3, Size: [3]int{2, 7, 6}, OutSize: [3]int{3, 2, 1}, Kernel: one, Stride: one, Dilation: one, Adaptive: true},
				&PoolShape{Outer: 2, Size: [3]int{1, 9, 40}, OutSize: [3]int{1, 2, 3}, Kernel: one, Stride: one, Dilation: one, Adaptive: true})
		}
	}
	if few {
		shapes = shapes[:min(len(shapes), 3)]
	}
	var cases []kernels.Case
	for i, s := range shapes {
		for a := range s.OutSize {
			if w.kernel >= AvgPool { // no mean has them
				s.Dilation[a] = 1
			}
			s.Size[a] = max(s.Size[a], s.Dilation[a]*(s.Kernel[a]-1)+1) // one window
			if !s.Adaptive {                                            // the last window may reach beyond the padding, if it begins before
				over := s.Size[a] + 2*s.Pad[a] - s.Dilation[a]*(s.Kernel[a]-1) - 1
				s.OutSize[a] = over/s.Stride[a] + 1
				if i%2 == 0 && over%s.Stride[a] > 0 && s.OutSize[a]*s.Stride[a] < s.Size[a]+s.Pad[a] {
					s.OutSize[a]++
				}
			}
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", *s), Build: func(o *kernels.Operands) {
			x, y := s.Outer*volume(s.Size), s.Outer*volume(s.OutSize)
			switch w.kernel {
			case MaxPool:
				o.In(x, -1, 1)
				if i == 0 {
					o.Special()
				}
				o.Out(y).Ints(y, func(int) int { return 77 })
			case MaxPoolGrad:
				o.In(y, -1, 1).Ints(y, s.some).Out(x)
			case AvgPool:
				o.In(x, -1, 1).Out(y)
			case AvgPoolGrad:
				o.In(y, -1, 1).Out(x)
			}
			o.Args = s.Args(o.Args)
			switch len(behind) {
			case 1:
				o.Int(1)
			case 2:
				o.Int(i%2, i%3/2*5)
			}
		}})
	}
	return cases
}
