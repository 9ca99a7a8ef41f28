package ops

import (
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// PadAxes is the number of axes of [Pad].
const PadAxes = 4

// PadMode says what stands for an index of an axis that is none.
type PadMode int

// The modes. Of an axis of PadMirrored the elements change their order, and there is nothing
// outside.
const (
	PadValue PadMode = iota
	PadReflect
	PadNearest
	PadCircular
	PadMirrored
)

// PadAxis is one axis of [Pad]: from N elements it makes M, of which the first comes Before those.
type PadAxis struct {
	M, N, Before int
	Mode         PadMode
}

// Pad makes Y [m0, m1, m2, m3] of X [n0, n1, n2, n3], of elements of any type: index i of an axis
// comes from i − before, as its mode says: X, Y, value, and m, n, before, mode of each axis. Of
// other elements than floats, the value is an int: of float16, its bits.
var Pad = padForms(kernels.Typed(&kernels.Kernel{Name: "k_pad", File: "pad_cpu.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		axes := padAxesOf(a, 3)
		return padGrid(axes[0].M*axes[1].M*axes[2].M, axes[3].M, l)
	},
	Params: append([]kernels.Param{in("X"), out("Y"), floatArg("value")}, padParams()...),
	Host:   kernels.HostKernel{F32: padHost[float32](padFloat), F64: padHost[float64](padFloat)}, Semantics: padSemantics}, "pad_cpu.cl",
	"k_pad_int",
	kernels.ElementHostKernel(padHost(padInt[int32])), kernels.ElementHostKernel(padHost(padInt[uint8])),
	kernels.ElementHostKernel(padHost(padInt[uint16])), kernels.ElementHostKernel(padHost(padInt[int64]))))

// PadGrad is the gradient of X from that of Y, for all modes but PadMirrored: G, D, and m, n,
// before, mode of each axis.
var PadGrad = &kernels.Kernel{Name: "k_pad_grad", File: "pad_grad_cpu.cl", GPU: "pad_grad_gpu.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		axes := padAxesOf(a, 2)
		return padGrid(axes[0].N*axes[1].N*axes[2].N, axes[3].N, l)
	},
	Params: append([]kernels.Param{in("G"), out("D")}, padParams()...),
	Host:   kernels.HostKernel{F32: padGradHost[float32], F64: padGradHost[float64]}, Semantics: padGradSemantics,
	Tol: kernels.Tolerance{ULP: 4, Rel: 4, Scale: func(a []kernels.Arg) float64 {
		terms := 1
		for _, axis := range padAxesOf(a, 2) {
			terms *= max(axis.M-axis.N, 0) + 1
		}
		return float64(terms) * kernels.MaxAbs(a, 0)
	}}}

// padForms gives a kernel and its forms for other elements those for GPUs.
func padForms(k *kernels.Kernel) *kernels.Kernel {
	for _, t := range caseTypes {
		k.Of(t).GPU = "pad_gpu.cl"
	}
	return k
}

func padGrid(rows, columns int, l kernels.Target) kernels.Grid {
	if l.CPU {
		return cpuLines(rows, 2, columns, l)
	}
	return kernels.Grid2D(columns, rows, l)
}

// padAxesOf returns the axes that arguments from one on name.
func padAxesOf(a []kernels.Arg, from int) (axes [PadAxes]PadAxis) {
	for i := range axes {
		n := func(k int) int { return int(a[from+4*i+k].Int) }
		axes[i] = PadAxis{n(0), n(1), n(2), PadMode(n(3))}
	}
	return axes
}

func padParams() (list []kernels.Param) {
	for _, axis := range []string{"0", "1", "2", "3"} {
		for _, name := range []string{"m", "n", "before", "mode"} {
			list = append(list, intArg(name+axis))
		}
	}
	return list
}

func padFloat[T kernels.Float](c kernels.HostArgs[T]) T { return c.Float(2) }

func padInt[T int32 | uint8 | uint16 | int64](c kernels.HostArgs[T]) T {
	return T(c.Long(2))
}

// padCall returns the axes that arguments of a call from one on name.
func padCall[T kernels.Element](c kernels.HostArgs[T], from int) (axes [PadAxes]PadAxis) {
	for i := range axes {
		n := func(k int) int { return c.Int(from + 4*i + k) }
		axes[i] = PadAxis{n(0), n(1), n(2), PadMode(n(3))}
	}
	return axes
}

func padHost[T kernels.Element](value func(kernels.HostArgs[T]) T) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		p := padder[T]{axes: padCall(c, 3), x: c.Floats(0), y: c.Floats(1), value: value(c), set: setOf(c)}
		p.lo, p.hi = p.axes[3].inside()
		for i := range p.axes[3].M {
			if i < p.lo || i >= p.hi {
				p.ends = append(p.ends, p.axes[3].source(i))
			}
		}
		rows := p.axes[2].M
		c.Parallel(p.axes[0].M*p.axes[1].M*rows, p.axes[3].M, func(first, past int) {
			for row := first; row < past; {
				plane, k := row/rows, row%rows
				n := min(rows-k, past-row)
				p.plane(row, p.axes[0].source(plane/p.axes[1].M), p.axes[1].source(plane%p.axes[1].M), k, n)
				row += n
			}
		})
	}
}

// padder pads rows.
type padder[T kernels.Element] struct {
	axes   [PadAxes]PadAxis
	x, y   []T
	value  T
	set    *vec.Set
	lo, hi int   // between are the elements of a row of X
	ends   []int // where the others come from: those before, and those behind
}

// plane makes n rows of Y from a row on, those from k on of a plane, which comes from plane (a, b)
// of X.
func (p *padder[T]) plane(row, a, b, k, n int) {
	rows, last := p.axes[2], p.axes[3]
	for n > 0 {
		y, d := p.y[row*last.M:], rows.source(k)
		if min(a, b, d) < 0 {
			for i := range y[:last.M] {
				y[i] = p.value
			}
			row, k, n = row+1, k+1, n-1
			continue
		}
		run := 1 // rows that lie one behind the other in X
		if first, past := rows.inside(); rows.Mode != PadMirrored && k >= first && k < past {
			run = min(past-k, n)
		}
		x := p.x[((a*p.axes[1].N+b)*rows.N+d)*last.N:][:run*last.N]
		p.rows(y[:run*last.M], x, run)
		row, k, n = row+run, k+run, n-run
	}
}

// rows makes n rows of those of x.
func (p *padder[T]) rows(y, x []T, n int) {
	last := p.axes[3]
	if p.lo < p.hi {
		if last.Mode == PadMirrored {
			for r := range n {
				vec.Reverse(p.set, y[r*last.M+p.lo:][:p.hi-p.lo], x[r*last.N+last.N-(p.hi-last.Before):][:p.hi-p.lo])
			}
		} else {
			vec.CopyPlanes(p.set, y[p.lo:], x[p.lo-last.Before:], vec.Copy{Planes: 1, Rows: n, N: p.hi - p.lo, ToRow: last.M, FromRow: last.N})
		}
	}
	for r := range n {
		to, from := y[r*last.M:][:last.M], x[r*last.N:][:last.N]
		before, behind := to[:p.lo], to[p.hi:]
		if last.Mode == PadValue {
			for i := range before {
				before[i] = p.value
			}
			for i := range behind {
				behind[i] = p.value
			}
			continue
		}
		for i := range before {
			before[i] = from[p.ends[i]]
		}
		for i := range behind {
			behind[i] = from[p.ends[p.lo+i]]
		}
	}
}

// padGradHost adds rows of G in their order, and of each the elements that lie where D's do before
// those outside.
func padGradHost[T kernels.Float](c kernels.HostArgs[T]) {
	g, d, axes := c.Floats(0), c.Floats(1), padCall(c, 2)
	last := axes[3]
	lo, hi := last.inside()
	c.Parallel(axes[0].N*axes[1].N*axes[2].N, 2*last.M, func(first, past int) {
		var places [3][]int
		of := [3]int{-1, -1, -1} // whose places these are
		for row := first; row < past; row++ {
			for a, j := range [...]int{row / axes[2].N / axes[1].N, row / axes[2].N % axes[1].N, row % axes[2].N} {
				if of[a] != j {
					of[a], places[a] = j, axes[a].places(places[a][:0], j)
				}
			}
			to := d[row*last.N:][:last.N]
			single := len(places[0])*len(places[1])*len(places[2]) == 1
			if !single || hi-lo < last.N {
				clear(to)
			}
			for _, i := range places[0] {
				for _, j := range places[1] {
					for _, k := range places[2] {
						addToPadded(last, to, g[((i*axes[1].M+j)*axes[2].M+k)*last.M:][:last.M], lo, hi, single)
					}
				}
			}
		}
	})
}

// addToPadded adds the elements of a row to those that they come from, of which there is none yet
// where first is true.
func addToPadded[T kernels.Float](p PadAxis, to, from []T, lo, hi int, first bool) {
	if lo < hi {
		own, of := to[lo-p.Before:hi-p.Before], from[lo:hi]
		if first {
			copy(own, of)
		} else {
			for i, v := range of {
				own[i] += v
			}
		}
	}
	if p.Mode == PadValue {
		return
	}
	for i := range lo {
		to[p.source(i)] += from[i]
	}
	for i := hi; i < len(from); i++ {
		to[p.source(i)] += from[i]
	}
}

// inside returns from where to below where the elements of the result are those of the axis.
func (p PadAxis) inside() (lo, hi int) {
	lo = min(max(p.Before, 0), p.M)
	return lo, max(lo, min(p.M, p.Before+p.N))
}

// places appends the indices of the result that come from index j, of an axis that is not mirrored.
func (p PadAxis) places(list []int, j int) []int {
	lo, hi := p.inside()
	own := j + p.Before
	isOwn := own >= 0 && own < p.M
	switch left, right := own-p.N, own+p.N; p.Mode {
	case PadNearest:
		if j == 0 {
			for i := range lo {
				list = append(list, i)
			}
		}
		if isOwn {
			list = append(list, own)
		}
		if j == p.N-1 {
			for i := max(p.Before+p.N, 0); i < p.M; i++ {
				list = append(list, i)
			}
		}
		return list
	case PadReflect, PadCircular:
		if p.Mode == PadReflect {
			left, right = p.Before-j, p.Before+2*(p.N-1)-j
		}
		if left >= 0 && left < lo {
			list = append(list, left)
		}
		if isOwn {
			list = append(list, own)
		}
		if right >= hi && right >= p.Before+p.N && right < p.M {
			list = append(list, right)
		}
		return list
	}
	if isOwn {
		list = append(list, own)
	}
	return list
}

// source returns which index i of the result comes from, −1 if from none.
func (p PadAxis) source(i int) int {
	i -= p.Before
	switch inside := i >= 0 && i < p.N; {
	case inside && p.Mode == PadMirrored:
		return p.N - 1 - i
	case inside:
		return i
	case p.Mode == PadReflect && i < 0:
		return -i
	case p.Mode == PadReflect:
		return 2*(p.N-1) - i
	case p.Mode == PadNearest:
		return min(max(i, 0), p.N-1)
	case p.Mode == PadCircular && i < 0:
		return i + p.N
	case p.Mode == PadCircular:
		return i - p.N
	}
	return -1
}
