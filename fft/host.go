package fft

import (
	"math/bits"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// width is how many lines are transformed beside each other: the inner loops are over those.
const width = 32

// block is lines that are transformed beside each other: real and imaginary parts apart, a row for
// each number of a line and a column for each line.
type block[T kernels.Float] struct {
	n, w    int
	sign    T
	roots   []T
	from    []T           // [2, n, w]
	to      []T           // what a stage writes
	in, out []int         // where lines begin in x and y, in pairs
	line    []int         // which of m each is
	loops   *vec.Loops[T] // nil: plain loops
	four    vec.Butterfly[T]
}

// row returns the real and the imaginary parts of number i of all lines.
func (b *block[T]) row(of []T, i int) (re, im []T) {
	return of[i*b.w:][:b.w], of[(b.n+i)*b.w:][:b.w]
}

func runLines[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, roots, turns := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3)
	n, m, inner, count, fine, sign, scale := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Float(10)
	var loops *vec.Loops[T]
	if set, _ := vec.Chosen(); set != nil && c.Vectors() && vec.On[T](set).HasButterfly() {
		loops = vec.On[T](set)
	}
	c.Parallel((count+width-1)/width, 20*n*width, func(lo, hi int) {
		memory := make([]T, 4*n*width)
		places := make([]int, 3*width)
		b := &block[T]{n: n, sign: T(sign), roots: roots, loops: loops}
		for at := lo; at < hi; at++ {
			b.w = min(width, count-at*width)
			size := 2 * n * b.w
			b.from, b.to = memory[:size], memory[size:][:size]
			b.in, b.out, b.line = places[:b.w], places[width:][:b.w], places[2*width:][:b.w]
			for l := range b.w {
				line := at*width + l
				i, j, outer := line%inner, line/inner%m, line/inner/m
				b.in[l], b.out[l], b.line[l] = (outer*n*m+j)*inner+i, (outer*m+j)*n*inner+i, j
			}
			b.load(x, m*inner)
			b.transform()
			if m > 1 {
				b.turn(turns, fine)
			}
			b.store(y, inner, scale)
		}
	})
}

// load reads the lines, whose numbers are apart from each other.
func (b *block[T]) load(x []T, apart int) {
	w, first := b.w, b.in[0]
	if b.in[w-1]-first == w-1 { // beside each other
		for t := range b.n {
			row := x[2*(first+t*apart):][:2*w]
			re, im := b.row(b.from, t)
			for l := range re {
				re[l], im[l] = row[2*l], row[2*l+1]
			}
		}
		return
	}
	re, im := b.from[:b.n*w], b.from[b.n*w:]
	for l, at := range b.in {
		for t := range b.n {
			pair := x[2*(at+t*apart):][:2]
			re[t*w+l], im[t*w+l] = pair[0], pair[1]
		}
	}
}

// store writes the lines, whose numbers are apart from each other, with a scale.
func (b *block[T]) store(y []T, apart int, scale T) {
	w, first := b.w, b.out[0]
	if b.out[w-1]-first == w-1 {
		for k := range b.n {
			row := y[2*(first+k*apart):][:2*w]
			re, im := b.row(b.from, k)
			for l := range re {
				row[2*l], row[2*l+1] = re[l]*scale, im[l]*scale
			}
		}
		return
	}
	re, im := b.from[:b.n*w], b.from[b.n*w:]
	for l, at := range b.out {
		for k := range b.n {
			pair := y[2*(at+k*apart):][:2]
			pair[0], pair[1] = re[k*w+l]*scale, im[k*w+l]*scale
		}
	}
}

// turn multiplies number k of line j of m by a root of unity: see k_fft.
func (b *block[T]) turn(turns []T, fine int) {
	mask, shift := fine-1, bits.TrailingZeros(uint(fine))
	for k := range b.n {
		re, im := b.row(b.from, k)
		for l, j := range b.line {
			f, c := turns[2*(k*j&mask):][:2], turns[2*(fine+k*j>>shift):][:2]
			wr, wi := f[0]*c[0]-f[1]*c[1], f[0]*c[1]+f[1]*c[0]
			re[l], im[l] = re[l]*wr-im[l]*wi, re[l]*wi+im[l]*wr
		}
	}
}

// transform transforms the lines by the way of Stockham.
func (b *block[T]) transform() {
	for ns := 1; ns < b.n; {
		r := radixOf(b.n / ns)
		switch r {
		case 4:
			b.stage4(ns)
		case 2:
			b.stage2(ns)
		default:
			b.stageOdd(ns, r)
		}
		b.from, b.to = b.to, b.from
		ns *= r
	}
}

// stage2 does the butterflies of a stage of radix 2, after stages whose radices multiply to ns.
func (b *block[T]) stage2(ns int) {
	apart := b.n / 2
	step := apart / ns
	for i := range apart {
		k := i % ns
		f := b.roots[2*k*step:][:2]
		wr, wi := f[0], f[1]
		xr, xi := b.row(b.from, i)
		vr, vi := b.row(b.from, i+apart)
		yr, yi := b.row(b.to, 2*(i-k)+k)
		zr, zi := b.row(b.to, 2*(i-k)+k+ns)
		for l, v := range vr {
			re, im := v*wr-vi[l]*wi, v*wi+vi[l]*wr
			yr[l], yi[l], zr[l], zi[l] = xr[l]+re, xi[l]+im, xr[l]-re, xi[l]-im
		}
	}
}

// stageOdd is stage2 of an odd radix r. Operands t and r − t have conjugate roots of unity: their sum is
// multiplied by the real part, their difference by the imaginary one.
func (b *block[T]) stageOdd(ns, r int) {
	w, apart, half := b.w, b.n/r, r/2
	step := apart / ns
	memory := make([]T, 4*half*w)
	part := func(kind, t int) []T { return memory[(kind*half+t-1)*w:][:w] }
	rooted := func(i, t, e int, re, im []T) {
		f := b.roots[2*e:][:2]
		wr, wi := f[0], f[1]
		xr, xi := b.row(b.from, i+t*apart)
		for l, v := range xr {
			re[l], im[l] = v*wr-xi[l]*wi, v*wi+xi[l]*wr
		}
	}
	for i := range apart {
		k := i % ns
		at := (i-k)*r + k
		xr, xi := b.row(b.from, i)
		firstR, firstI := b.row(b.to, at)
		copy(firstR, xr)
		copy(firstI, xi)
		for t := 1; t <= half; t++ {
			sr, si, dr, di := part(0, t), part(1, t), part(2, t), part(3, t)
			rooted(i, t, t*k*step, sr, si)
			rooted(i, r-t, (r-t)*k*step, dr, di)
			for l, v := range sr {
				u, vi, ui := dr[l], si[l], di[l]
				sr[l], si[l], dr[l], di[l] = v+u, vi+ui, v-u, vi-ui
				firstR[l] += v + u
				firstI[l] += vi + ui
			}
		}
		for q := 1; q <= half; q++ {
			yr, yi := b.row(b.to, at+q*ns)
			zr, zi := b.row(b.to, at+(r-q)*ns)
			copy(yr, xr)
			copy(yi, xi)
			clear(zr)
			clear(zi)
			for t := 1; t <= half; t++ {
				f := b.roots[2*(t*q%r*apart):][:2]
				wr, wi := f[0], f[1]
				sr, si, dr, di := part(0, t), part(1, t), part(2, t), part(3, t)
				for l, v := range sr {
					yr[l] += wr * v
					yi[l] += wr * si[l]
					zr[l] += wi * di[l]
					zi[l] += wi * dr[l]
				}
			}
			for l, v := range yr {
				u, vi, ui := zr[l], yi[l], zi[l]
				yr[l], yi[l], zr[l], zi[l] = v-u, vi+ui, v+u, vi-ui
			}
		}
	}
}

// stage4 is stage2 of radix 4.
func (b *block[T]) stage4(ns int) {
	w, apart, sign := b.w, b.n/4, b.sign
	step := apart / ns
	four := &b.four
	four.N, four.Plane, four.ToApart, four.FromApart = w, b.n*w, ns*w, apart*w
	for i := range apart {
		k := i % ns
		at := (i-k)*4 + k
		f1, f2, f3 := b.roots[2*k*step:][:2], b.roots[4*k*step:][:2], b.roots[6*k*step:][:2]
		w1r, w1i, w2r, w2i, w3r, w3i := f1[0], f1[1], f2[0], f2[1], f3[0], f3[1]
		if b.loops != nil {
			four.To, four.From = b.to[at*w:], b.from[i*w:]
			four.By = [7]T{w1r, w1i, w2r, w2i, w3r, w3i, sign}
			b.loops.Butterfly(four)
			continue
		}
		x0r, x0i := b.row(b.from, i)
		x1r, x1i := b.row(b.from, i+apart)
		x2r, x2i := b.row(b.from, i+2*apart)
		x3r, x3i := b.row(b.from, i+3*apart)
		y0r, y0i := b.row(b.to, at)
		y1r, y1i := b.row(b.to, at+ns)
		y2r, y2i := b.row(b.to, at+2*ns)
		y3r, y3i := b.row(b.to, at+3*ns)
		for l := range x0r {
			a1r, a1i := x1r[l]*w1r-x1i[l]*w1i, x1r[l]*w1i+x1i[l]*w1r
			a2r, a2i := x2r[l]*w2r-x2i[l]*w2i, x2r[l]*w2i+x2i[l]*w2r
			a3r, a3i := x3r[l]*w3r-x3i[l]*w3i, x3r[l]*w3i+x3i[l]*w3r
			s02r, s02i, d02r, d02i := x0r[l]+a2r, x0i[l]+a2i, x0r[l]-a2r, x0i[l]-a2i
			s13r, s13i, tr, ti := a1r+a3r, a1i+a3i, sign*(a3i-a1i), sign*(a1r-a3r)
			y0r[l], y0i[l], y1r[l], y1i[l] = s02r+s13r, s02i+s13i, d02r+tr, d02i+ti
			y2r[l], y2i[l], y3r[l], y3i[l] = s02r-s13r, s02i-s13i, d02r-tr, d02i-ti
		}
	}
}

func runWeigh[T kernels.Float](c kernels.HostArgs[T]) {
	x, w, y, n, size, inner, scale := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4), c.Int(5), c.Float(7)
	c.Parallel(c.Int(6)/inner, 6*inner, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			outer, j, to := row/size, row%size, y[2*row*inner:][:2*inner]
			if j >= n {
				clear(to)
				continue
			}
			from, wr, wi := x[2*(outer*n+j)*inner:][:2*inner], w[2*j], w[2*j+1]
			for i := 0; i < len(to); i += 2 {
				to[i], to[i+1] = (from[i]*wr-from[i+1]*wi)*scale, (from[i]*wi+from[i+1]*wr)*scale
			}
		}
	})
}
