package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
)

// What a norm does: the bits of `form`.
const (
	NormCentred  = 1 << iota // the mean is taken off
	NormWeights              // the result is multiplied by weights
	NormBiases               // and biases are added
	NormPartials             // the gradients of both are wanted
)

var (
	// NormGrad is the gradient D of a norm where the rows are of one set and each element is a
	// channel, and in shares, for runs of rows, those of W and B: X, G, W, MEAN, RSTD, D, DW [runs,
	// len], DB [runs, len], rows, len, run, form.
	NormGrad = &RowKernel{forms: lanesForTwo, cases: normGradCases, build: func() *kernels.Kernel { return normGrad }}
	normGrad = &kernels.Kernel{Name: "k_norm_grad", File: "norm_cpu.cl", GPU: "norm_gpu.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			items := 1
			if !l.CPU {
				items = rowsGroup
			}
			return kernels.Grid{Dims: 1, Global: [3]int{intmath.CeilDiv(int(a[8].Int), int(a[10].Int)) * items}, Local: [3]int{items}}
		},
		Params: []kernels.Param{in("X"), in("G"), in("W"), in("MEAN"), in("RSTD"), out("D"), out("DW"), out("DB"), intArg("rows"), intArg("len"),
			intArg("run"), intArg("form")},
		Twin: kernels.Twin{F32: normGradTwin[float32], F64: normGradTwin[float64]}, Describe: describeNormGrad,
		Rows: byRows("norm_grad", []kernels.Local{{Type: "REAL2", N: 2 * rowsGroup}}, func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
			x, one, shares := kernels.CutOf(int(a[9].Int)), kernels.CutOf(1), readIf(a[11].Int&NormPartials != 0)
			return int(a[8].Int), int(a[10].Int), []kernels.Cut{x, x, readIf(a[11].Int&NormWeights != 0), one, one, x, shares, shares}
		}),
		Tol: kernels.Tolerance{ULP: 4, Bound: normGradBound}}
	// ChannelMoments is the mean of each channel c of X [outer, channels, inner], and the sum of
	// the squares of its elements' differences from it, in parts of `run` of the outer axis: X,
	// MEAN [parts, channels], SQ [parts, channels], outer, channels, inner, run.
	ChannelMoments = &kernels.Kernel{Name: "k_channel_moments", File: "norm_cpu.cl", GPU: "norm_gpu.cl", Grid: channelGrid(3),
		Params: []kernels.Param{in("X"), out("MEAN"), out("SQ"), intArg("outer"), intArg("channels"), intArg("inner"), intArg("run")},
		Twin:   kernels.Twin{F32: channelMomentsTwin[float32], F64: channelMomentsTwin[float64]}, Describe: describeChannelMoments,
		Tol: kernels.Tolerance{ULP: 4, Bound: channelMomentsBound}}
	// ChannelJoin joins the parts of ChannelMoments: M is the mean, R = 1/√(variance + eps), and
	// running statistics move to those by momentum, if there are any: MEAN, SQ, M, R, RM, RV,
	// channels, outer, inner, run, running, eps, momentum.
	ChannelJoin = tried(&kernels.Kernel{Name: "k_channel_join", File: "norm.cl", Grid: kernels.GridFromArg(6),
		Params: []kernels.Param{in("MEAN"), in("SQ"), out("M"), out("R"), inOut("RM"), inOut("RV"), intArg("channels"), intArg("outer"),
			intArg("inner"), intArg("run"), intArg("running"), realArg("eps"), realArg("momentum")},
		Twin: kernels.Twin{F32: channelJoinTwin[float32], F64: channelJoinTwin[float64]}, Describe: describeChannelJoin,
		Tol: kernels.Tolerance{ULP: 4, Bound: channelJoinBound}}, func(ops []kernels.Operand) bool {
		ops[1].Lo = 0.5 // squares
		return true
	})
	// ChannelSums is Σ G and Σ G·(X − MEAN)·RSTD of each channel c of [outer, channels, inner], in
	// parts of `run` of the outer axis; `share` neighbouring channels have a mean and a deviation
	// in common: X, G, MEAN, RSTD, SG [parts, channels], SH [parts, channels], outer, channels,
	// inner, run, share.
	ChannelSums = &kernels.Kernel{Name: "k_channel_sums", File: "norm_cpu.cl", GPU: "norm_gpu.cl", Grid: channelGrid(6),
		Params: []kernels.Param{in("X"), in("G"), in("MEAN"), in("RSTD"), out("SG"), out("SH"), intArg("outer"), intArg("channels"),
			intArg("inner"), intArg("run"), intArg("share")},
		Twin: kernels.Twin{F32: channelSumsTwin[float32], F64: channelSumsTwin[float64]}, Describe: describeChannelSums,
		Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
			n := float64(a[6].Int) * float64(a[8].Int)
			return n * kernels.MaxAbs(a, 1) * (1 + (kernels.MaxAbs(a, 0)+kernels.MaxAbs(a, 2))*kernels.MaxAbs(a, 3))
		}}}
)

// channelGrid is that of kernels of the channels of [outer, channels, inner], in parts of `run` of
// the outer axis: int arguments from at on.
func channelGrid(at int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		outer, channels, inner, run := int(a[at].Int), int(a[at+1].Int), int(a[at+2].Int), int(a[at+3].Int)
		parts, n := intmath.CeilDiv(outer, run), min(run, outer)*inner
		g := lineGrid(channels, n, 1, l)
		if inner == 1 {
			g = lineGrid(1, n, max(channels, 2), l) // one is a column, too
		}
		g.Dims, g.Global[1], g.Local[1] = 2, parts, 1
		return g
	}
}

// NormRun returns of how many rows of n elements NormGrad sums the gradients of the weights at a
// time.
func NormRun(rows, n int, l kernels.Target) int {
	if l.CPU {
		return min(sumRun, max(1, rowsChunk/max(n, 1), intmath.CeilDiv(rows, 4*l.Units)))
	}
	groups, beside := 4*l.Units, rowsGroup/lanesOf(n)
	if n > rowsGroup*rowsPer/2 { // a unit has no registers for more
		groups = l.Units
	}
	return intmath.RoundUp(max(1, min(sumRun*beside, intmath.CeilDiv(rows, groups))), beside)
}

// ChannelRun returns how many of the outer axis of [outer, channels, inner] are a part: all, unless
// the channels would fill only a piece of a GPU.
func ChannelRun(outer, channels, inner int, l kernels.Target) int {
	const short = 4096 // elements: fewer are not worth a work-group
	groups := channels
	if inner == 1 {
		groups = intmath.CeilDiv(channels, 8)
	}
	if l.CPU || groups >= 2*l.Units {
		return max(outer, 1)
	}
	parts := intmath.CeilDiv(4*l.Units, max(groups, 1))
	return max(1, intmath.CeilDiv(outer, parts), min(outer, short/max(inner, 1)))
}

func normGradTwin[T kernels.Real](c kernels.Call[T]) {
	x, g, w, means, rstds, d, dw, db := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Reals(4), c.Reals(5), c.Reals(6), c.Reals(7)
	rows, n, run, form := c.Int(8), c.Int(9), c.Int(10), c.Int(11)
	if loops := loopsOf(c); loops != nil {
		c.Parallel(intmath.CeilDiv(rows, run), 5*n*run, func(lo, hi int) {
			room := loops.Scratch(4 * n)
			defer loops.Return(room)
			hs, gs := room.V[2*n:3*n], room.V[3*n:]
			for part := lo; part < hi; part++ {
				clear(room.V[2*n:])
				for r := part * run; r < min(rows, (part+1)*run); r++ {
					normGradRow(loops, x[r*n:][:n], g[r*n:][:n], w, d[r*n:][:n], room.V, means[r], rstds[r], form)
				}
				if form&NormPartials != 0 {
					copy(dw[part*n:], hs)
					copy(db[part*n:], gs)
				}
			}
		})
		return
	}
	c.Parallel(intmath.CeilDiv(rows, run), 5*n*run, func(lo, hi int) {
		up := make([]float64, n)
		hs, gs := make([]float64, n), make([]float64, n)
		for part := lo; part < hi; part++ {
			clear(hs)
			clear(gs)
			for r := part * run; r < min(rows, (part+1)*run); r++ {
				row, above, to := x[r*n:][:n], g[r*n:][:n], d[r*n:][:n]
				mean, rstd := float64(means[r]), float64(rstds[r])
				byG, byH := 0.0, 0.0
				for k, v := range row {
					h := (float64(v) - mean) * rstd
					up[k] = float64(above[k])
					gs[k] += up[k]
					hs[k] += up[k] * h
					if form&NormWeights != 0 {
						up[k] *= float64(w[k])
					}
					byG += up[k]
					byH += up[k] * h
				}
				if byG /= float64(n); form&NormCentred == 0 {
					byG = 0
				}
				byH /= float64(n)
				for k, v := range row {
					to[k] = T(rstd * (up[k] - byG - (float64(v)-mean)*rstd*byH))
				}
			}
			if form&NormPartials != 0 {
				for k := range n {
					dw[part*n+k], db[part*n+k] = T(hs[k]), T(gs[k])
				}
			}
		}
	})
}

// normGradRow is one row of the gradient. room has four rows: two for what it computes, and the
// sums of the gradients of weights and biases, to which it adds those of the row.
func normGradRow[T kernels.Real](l *vec.Loops[T], row, above, w, to, room []T, mean, rstd T, form int) {
	n := len(row)
	h, up, hs, gs := room[:n], room[n:2*n], room[2*n:3*n], room[3*n:]
	l.MapBy(vec.Sub, h, row, mean)
	l.MapBy(vec.Mul, h, h, rstd)
	l.Map(vec.Add, gs, gs, above, gs, gs)
	l.Map(vec.FMA, hs, above, h, hs, hs)
	if form&NormWeights != 0 {
		l.Map(vec.Mul, up, above, w, up, up)
	} else {
		copy(up, above)
	}
	byG, byH := T(0), l.Dot(up, h)/T(n)
	if form&NormCentred != 0 {
		byG = l.Sum(up) / T(n)
	}
	l.MapBy(vec.Mul, h, h, byH)
	l.MapBy(vec.Sub, up, up, byG)
	l.Map(vec.Sub, up, up, h, up, up)
	l.MapBy(vec.Mul, to, up, rstd)
}

// eachChannel calls f for the channels of [outer, channels, inner] in parts of `run`, on several
// cores: each calls `each` with the runs of elements that the channel has in the part.
func eachChannel[T kernels.Real](c kernels.Call[T], outer, channels, inner, run int, f func(part, channel int, each func(func(at int)))) {
	c.Parallel(intmath.CeilDiv(outer, run)*channels, 4*run*inner, func(lo, hi int) {
		for l := lo; l < hi; l++ {
			part, channel := l/channels, l%channels
			f(part, channel, func(body func(at int)) {
				for n := part * run; n < min(outer, (part+1)*run); n++ {
					body((n*channels + channel) * inner)
				}
			})
		}
	})
}

func channelMomentsTwin[T kernels.Real](c kernels.Call[T]) {
	x, means, squares, outer, channels, inner, run := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	if loops := loopsOf(c); loops != nil && inner >= channelRuns {
		eachChannel(c, outer, channels, inner, run, func(part, channel int, each func(func(at int))) {
			at := part*channels + channel
			means[at], squares[at] = channelMoments(loops, x, inner, (min(outer, (part+1)*run)-part*run)*inner, each)
		})
		return
	}
	if loops := vectorFold(c, min(outer, run), channels); loops != nil && inner == 1 {
		parts := intmath.CeilDiv(outer, run)
		eachPartial(c, x, 1, outer, channels, run, parts, cachedColumns[T](min(outer, run)), 8, func(at int, x []T, rows, w int) {
			columnMoments(loops, means[at:at+w], squares[at:at+w], x, rows, channels)
		})
		return
	}
	eachChannel(c, outer, channels, inner, run, func(part, channel int, each func(func(at int))) {
		sum, square := 0.0, 0.0
		each(func(at int) {
			for _, v := range x[at:][:inner] {
				sum += float64(v)
			}
		})
		mean := sum / float64((min(outer, (part+1)*run)-part*run)*inner)
		each(func(at int) {
			for _, v := range x[at:][:inner] {
				square += (float64(v) - mean) * (float64(v) - mean)
			}
		})
		means[part*channels+channel], squares[part*channels+channel] = T(mean), T(square)
	})
}

// channelRuns is the least run of a channel's elements that is worth the loops of package vec, and
// channelBlock how many of them have their sum taken in T.
const channelRuns, channelBlock = 16, 4096

// eachBlock calls f with the parts of [at, at+n) that have channelBlock elements, the last fewer.
func eachBlock(at, n int, f func(lo, hi int)) {
	for lo := at; lo < at+n; lo += channelBlock {
		f(lo, min(lo+channelBlock, at+n))
	}
}

// channelMoments returns the mean of a channel's elements, of which there are count, in runs of
// inner, and the sum of the squares of their differences from it: from the mean of the first pass,
// whose error the second finds: the corrected two-pass algorithm of defs.Norm.
func channelMoments[T kernels.Real](l *vec.Loops[T], x []T, inner, count int, each func(func(at int))) (mean, square T) {
	room := l.Scratch(min(inner, channelBlock))
	defer l.Return(room)
	sum, squares, rest := 0.0, 0.0, 0.0
	each(func(at int) {
		eachBlock(at, inner, func(lo, hi int) { sum += float64(l.Sum(x[lo:hi])) })
	})
	about := T(sum / float64(count))
	each(func(at int) {
		eachBlock(at, inner, func(lo, hi int) {
			d := room.V[:hi-lo]
			l.MapBy(vec.Sub, d, x[lo:hi], about)
			rest += float64(l.Sum(d))
			squares += float64(l.Dot(d, d))
		})
	})
	if rest /= float64(count); rest-rest != 0 { // of an infinite mean: what differs from it is infinite or NaN
		return about, T(squares)
	}
	return T(float64(about) + rest), T(max(0, squares-rest*rest*float64(count)))
}

func channelJoinTwin[T kernels.Real](c kernels.Call[T]) {
	means, squares, m, r, rm, rv := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Reals(4), c.Reals(5)
	channels, outer, inner, run, running, eps, momentum := c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10) != 0, float64(c.Real(11)), float64(c.Real(12))
	for ch := range channels {
		mean, square, count := float64(means[ch]), float64(squares[ch]), float64(min(run, outer)*inner)
		for p := 1; p*run < outer; p++ {
			more := float64(min(run, outer-p*run) * inner)
			d := float64(means[p*channels+ch]) - mean
			mean += d * more / (count + more)
			square += float64(squares[p*channels+ch]) + d*d*count*more/(count+more)
			count += more
		}
		m[ch], r[ch] = T(mean), T(inverseDeviation[T](square, count, eps))
		if running {
			rm[ch] = T((1-momentum)*float64(rm[ch]) + momentum*mean)
			rv[ch] = T((1-momentum)*float64(rv[ch]) + momentum*square/(count-1))
		}
	}
}

func channelSumsTwin[T kernels.Real](c kernels.Call[T]) {
	x, g, means, rstds, sg, sh := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Reals(4), c.Reals(5)
	outer, channels, inner, run, share := c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10)
	if loops := loopsOf(c); loops != nil && inner >= channelRuns {
		eachChannel(c, outer, channels, inner, run, func(part, channel int, each func(func(at int))) {
			room := loops.Scratch(min(inner, channelBlock))
			defer loops.Return(room)
			a, b := 0.0, 0.0
			each(func(at int) {
				eachBlock(at, inner, func(lo, hi int) {
					d := room.V[:hi-lo]
					loops.MapBy(vec.Sub, d, x[lo:hi], means[channel/share])
					a += float64(loops.Sum(g[lo:hi]))
					b += float64(loops.Dot(d, g[lo:hi]))
				})
			})
			sg[part*channels+channel], sh[part*channels+channel] = T(a), T(b*float64(rstds[channel/share]))
		})
		return
	}
	if loops := vectorFold(c, min(outer, run), channels); loops != nil && inner == 1 {
		parts := intmath.CeilDiv(outer, run)
		eachPartial(c, g, 1, outer, channels, run, parts, cachedColumns[T](2*min(outer, run)), 4, func(at int, g []T, rows, w int) {
			room := loops.Scratch(2 * w)
			defer loops.Return(room)
			mean, rstd, row := room.V[:w], room.V[w:], at/channels*run*channels+at%channels
			for j := range w {
				mean[j], rstd[j] = means[(at%channels+j)/share], rstds[(at%channels+j)/share]
			}
			foldDown(loops, vec.Add, sg[at:at+w], g, rows, channels, itself[T])
			foldDown(loops, vec.Add, sh[at:at+w], g, rows, channels, func(room, g []T) []T { // one row after the other
				loops.Map(vec.Sub, room, x[row:], mean, room, room)
				loops.Map(vec.Mul, room, room, g, room, room)
				row += channels
				return room
			})
			loops.Map(vec.Mul, sh[at:at+w], sh[at:], rstd, rstd, rstd)
		})
		return
	}
	eachChannel(c, outer, channels, inner, run, func(part, channel int, each func(func(at int))) {
		mean, a, b := float64(means[channel/share]), 0.0, 0.0
		each(func(at int) {
			row := x[at:][:inner]
			for k, v := range g[at:][:inner] {
				a += float64(v)
				b += float64(v) * (float64(row[k]) - mean)
			}
		})
		sg[part*channels+channel], sh[part*channels+channel] = T(a), T(b*float64(rstds[channel/share]))
	})
}

// Norms are the kernels of package defs' norms, by the bits of their form but for NormPartials: X, W
// and B if there are such, Y, MEAN, RSTD, outer, len, inner, then sets and span, and eps.
var Norms = func() (all [NormPartials]*RowKernel) {
	for form := range all {
		f := defs.NormForm{Centred: form&NormCentred != 0, Weights: form&NormWeights != 0, Biases: form&NormBiases != 0}
		all[form] = rowKernel(func() *ir.Program { return defs.Norm(f) }, lanesForOne,
			func(s rowSizes) []kernels.Case { return normCases(s, form) }).with(func(k *kernels.Kernel) { overrideNorm(k, f) })
	}
	return all
}()

// normGradBound is reckoned as that of a sum of n terms, or of run, at least sixteen of n beside
// each other.
func normGradBound(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	eps, _ := real.Epsilon()
	n, run, w := float64(args[9].Int), float64(args[10].Int), 1.0
	if args[11].Int&NormWeights != 0 {
		w = kernels.MaxAbs(args, 2)
	}
	g, rstd := kernels.MaxAbs(args, 1), kernels.MaxAbs(args, 4)
	h := (kernels.MaxAbs(args, 0) + kernels.MaxAbs(args, 3)) * rstd
	return func(param, i int) float64 {
		if param == 5 {
			return (n/16 + 8) * eps * rstd * g * w * (2 + h*h)
		}
		return (run + 4) * eps * run * g * (1 + h)
	}
}

// channelMomentsBound: as of a norm.
func channelMomentsBound(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	exact := exactly(kernels.Twin{F64: channelMomentsTwin[float64]}, args)
	eps, _ := real.Epsilon()
	x, count := kernels.MaxAbs(args, 0), float64(args[5].Int)*float64(args[6].Int)
	return func(param, i int) float64 {
		if param == 1 {
			return 8 * eps * x
		}
		square := exact()[2].At(i)
		return eps*((count/16+8)*square+8*x*math.Sqrt(count*square)) + 64*count*eps*eps*x*x
	}
}

// channelJoinBound: each part adds some roundings of the means and squares.
func channelJoinBound(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	exact := inDouble(kernels.Twin{F64: channelJoinTwin[float64]}, args) // running statistics are overwritten
	eps, _ := real.Epsilon()
	most, squares, parts := kernels.MaxAbs(args, 0), kernels.MaxAbs(args, 1), float64(args[0].N)/float64(max(args[6].Int, 1))
	count := float64(args[7].Int) * float64(args[8].Int)
	off := eps * (8 + 4*parts)
	variance := off * (parts*squares/count + 4*most*most) // of the variance
	return func(param, i int) float64 {
		switch v := math.Abs(exact[param].At(i)); param {
		case 2:
			return off * most
		case 3:
			return v*v*v*variance/2 + 8*eps*v
		case 4:
			return off*most + 8*eps*v
		default:
			return variance*count/math.Max(count-1, 1) + 8*eps*(v+kernels.MaxAbs(args, 5))
		}
	}
}
