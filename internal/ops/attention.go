package ops

import (
	"fmt"
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// AttentionShape is what the kernels of attention are built for.
type AttentionShape struct {
	Features int // of queries and keys
	Values   int // features of values
}

// attentionExample is the shape whose kernels are in the list of all.
var attentionExample = AttentionShape{Features: 11, Values: 9}

// AttentionKernels compute attention without the matrix of all queries and keys.
type AttentionKernels struct {
	// Forward is Y = softmax(scale·Q·Kᵀ + BIAS)·V and the logarithm of the sums of the softmax: Q,
	// K, V, BIAS, Y, LSE [batch, l], l, s, bias_step, biased, causal, scale, heads, and the
	// [AttentionPlace] of Q, K, V and Y. Item b of the batch has the elements of BIAS from
	// b·bias_step on. In 16 bits are Q, K, V, BIAS and G, or none, and Y where no gradient reads it.
	Forward *kernels.Kernel
	// Queries is the gradient by Q, for the gradient G of Y: Q, K, V, BIAS, Y, LSE, G, DQ, DELTA
	// [batch, l], the numbers of Forward, and the place of G. DELTA is Σ G·Y of each query. DQ is
	// contiguous.
	Queries *kernels.Kernel
	// Keys is those by K and V: Q, K, V, BIAS, LSE, DELTA, G, DK, DV, the numbers of Forward up to
	// heads, and the places of Q, K, V and G. DK and DV are contiguous.
	Keys *kernels.Kernel
}

// AttentionPlace is where the rows of an operand lie: row i of item b of the batch begins
// b/heads·Outer + b%heads·Head + i·Row elements after the first. Features are neighbours.
type AttentionPlace struct{ Outer, Head, Row int }

// Args returns the arguments that pass it.
func (p AttentionPlace) Args() [3]kernels.Arg {
	return [3]kernels.Arg{kernels.IntArg(p.Outer), kernels.IntArg(p.Head), kernels.IntArg(p.Row)}
}

// The operands that have a place.
const (
	placeQ = iota
	placeK
	placeV
	placeY
	placeG
	attentionPlaces
)

// The numbers of a launch, from the first.
const (
	attentionL = iota
	attentionS
	attentionStep
	attentionBiased
	attentionCausal
	attentionScale
	attentionHeads
	attentionNumbers
)

// attentionWidest is the most features that the kernels keep in the cache next to a core, or in
// local memory.
const attentionWidest = 128

// attentionLanes is LANES of attention_cpu.cl.
const attentionLanes = 32

// attentionTile is the blocking of attention_gpu.cl.
type attentionTile struct {
	rows, cols         int // of a tile of products of queries and keys
	itemRows, rowItems int // rows of a work-item, and work-items that share them
}

func (t attentionTile) items() int { return t.rows / t.itemRows * t.rowItems }

func (t attentionTile) defines() string {
	return fmt.Sprintf(" -DTILE_ROWS=%d -DTILE_COLS=%d -DITEM_ROWS=%d -DROW_ITEMS=%d", t.rows, t.cols, t.itemRows, t.rowItems)
}

// local is how many floats of local memory a launch takes that stages, of its rows and of its
// columns, those features.
func (t attentionTile) local(rows, cols []int) int {
	pitch := func(features int) int { return intmath.RoundUp(features, 4*t.rowItems) + 4 }
	n := t.rows*(t.cols+t.rowItems) + 2*t.cols
	for _, f := range rows {
		n += t.rows * pitch(f)
	}
	for _, f := range cols {
		n += t.cols * pitch(f)
	}
	return n
}

// The tiles of the kernels, the fastest first: where a device has more than enough of them to do,
// and where each of its units has a few. Measured on an H200.
var (
	attentionMany = []attentionTile{{64, 32, 4, 8}, {32, 32, 4, 8}, {32, 16, 4, 8}, {16, 16, 2, 8}, {8, 8, 1, 8}}
	attentionFew  = []attentionTile{{32, 32, 2, 8}, {32, 16, 2, 8}, {16, 16, 2, 8}, {8, 8, 1, 8}}
)

// attentionBuild is what kernels are built for.
type attentionBuild struct {
	AttentionShape
	forward, gradient attentionTile
}

// AttentionByProducts reports whether products that read the softmax whole are faster than kernels
// that go over blocks of it, for l queries and s keys of each item of a batch: on a CPU where it
// stays in a cache, on a GPU where there are so few queries, or keys, and so many of the others,
// that a few of its units would be long at work.
func AttentionByProducts(items, l, s int, limits kernels.Target) bool {
	if limits.CPU {
		return l*s <= 1<<14
	}
	const tile, long = 32, 256
	return max(l, s) > long && items*intmath.CeilDiv(min(l, s), tile) < limits.Units/2
}

// AttentionKeeps reports whether a forward pass whose gradients are wanted does better to keep the
// softmax. On a GPU the kernels compute it twice more for them, and their blocks are small where
// there are many features: products that read it are faster then, if it is not too large to keep.
// On an H200, µs, 32 items of 1024 queries and keys, forward and gradients by kernels and by
// products: 64 features 1363 and 902, causal 751 and 1075; 128 features, causal, 2347 and 1494.
// 2048 of 32, causal: 1360 and 3020.
func AttentionKeeps(shape AttentionShape, items, l, s int, causal bool, limits kernels.Target) bool {
	const few, most = 1 << 12, 1 << 26 // of an item, and of all
	widest := max(shape.Features, shape.Values)
	return !limits.CPU && l*s > few && int64(items)*int64(l)*int64(s) <= most && (widest > 64 || widest > 32 && !causal)
}

var attentions struct {
	sync.Mutex
	made map[attentionBuild]*AttentionKernels
}

// Attention returns the kernels for a shape and for as many rows of queries, or of keys if those
// are fewer, in all items of the batch; nil where there are none for the shape, or for a device
// with floats of type t and the limits l.
func Attention(s AttentionShape, rows int, t kernels.DType, l kernels.Target) *AttentionKernels {
	if s.Features < 1 || s.Features > attentionWidest || s.Values < 1 || s.Values > attentionWidest {
		return nil
	}
	build, tiles := attentionBuild{AttentionShape: s}, attentionFew
	if !l.CPU && rows >= 128*l.Units {
		tiles = attentionMany
	}
	fit := func(rows, cols []int) attentionTile {
		for _, tile := range tiles {
			if tile.items() <= l.MaxGroup && tile.local(rows, cols)*t.Size() <= l.LocalMem {
				return tile
			}
		}
		return attentionTile{}
	}
	both := []int{s.Features, s.Values}
	build.forward, build.gradient = fit([]int{s.Features}, both), fit(both, both)
	if !l.CPU && build.gradient == (attentionTile{}) {
		return nil
	}
	attentions.Lock()
	defer attentions.Unlock()
	k := attentions.made[build]
	if k == nil {
		if attentions.made == nil {
			attentions.made = map[attentionBuild]*AttentionKernels{}
		}
		k = newAttention(build)
		attentions.made[build] = k
	}
	return k
}

func newAttention(b attentionBuild) *AttentionKernels {
	s := b.AttentionShape
	kernel := func(part int, name string, tile attentionTile, params []kernels.Param, places []int, rows, result, features int, host kernels.HostKernel, build func(o *kernels.Operands, c attentionCase),
		bound func(c attentionCall, param, i int) float64) *kernels.Kernel {
		at := len(params)
		params = append(params, intArg("l"), intArg("s"), intArg("bias_step"), intArg("biased"), intArg("causal"), floatArg("scale"), intArg("heads"))
		for _, p := range places {
			for _, axis := range []string{"outer", "head", "row"} {
				params = append(params, intArg("qkvyg"[p:p+1]+"_"+axis))
			}
		}
		k := &kernels.Kernel{Name: name, File: "attention_cpu.cl", GPU: "attention_gpu.cl",
			Defines: fmt.Sprintf("-DPART=%d -DD=%d -DE=%d", part, s.Features, s.Values) + tile.defines(),
			Params:  params, Host: host, SelfTest: smallOnly, Semantics: s.operation(part, at, places, rows, result, features),
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				n, batch := int(a[at+rows].Int), 0
				if n > 0 {
					batch = a[result].N / (n * features)
				}
				if l.CPU {
					return kernels.Groups(intmath.CeilDiv(n, attentionLanes), batch)
				}
				items, groups := tile.items(), intmath.CeilDiv(n, tile.rows)
				if half := (groups + 1) / 2; a[at+attentionCausal].Int != 0 && 2*half*batch >= 3*l.Units {
					groups = half // of two tiles each
				}
				return kernels.Grid{Dims: 2, Local: [3]int{items, 1}, Global: [3]int{batch * items, groups}}
			},
			Cases: func(few bool) []kernels.Case { return s.cases(few, build) }}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: func(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
			c := attentionCall{AttentionShape: s, l: int(args[at+attentionL].Int), s: int(args[at+attentionS].Int), scale: args[at+attentionScale].Float}
			eps, _ := float.Epsilon()
			c.eps = eps
			c.measure(args)
			return func(param, i int) float64 { return bound(c, param, i) }
		}}
		return k
	}
	return &AttentionKernels{
		Forward: kernel(0, "k_attention", b.forward, []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), out("Y"), out("LSE")},
			[]int{placeQ, placeK, placeV, placeY}, attentionL, 5, 1,
			kernels.HostKernel{F32: attentionHost[float32](s), F64: attentionHost[float64](s)}, s.forward,
			func(c attentionCall, param, i int) float64 {
				if param == 4 {
					return c.most[2] * (2*c.score + (float64(c.s)+16)*c.eps)
				}
				return c.score + (float64(c.s)+16)*c.eps + 4*c.eps*c.size
			}),
		Queries: kernel(1, "k_attention_grad_q", b.gradient, []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), in("Y"), in("LSE"), in("G"), out("DQ"), out("DELTA")},
			[]int{placeQ, placeK, placeV, placeY, placeG}, attentionL, 5, 1,
			kernels.HostKernel{F32: attentionQueriesHost[float32](s), F64: attentionQueriesHost[float64](s)}, s.queries,
			func(c attentionCall, param, i int) float64 {
				e := float64(s.Values)
				if param == 8 {
					return (e + 4) * c.eps * e * c.most[6] * c.most[4]
				}
				return c.scale * c.most[1] * 2 * e * c.most[6] * c.most[2] * (2*c.score + (float64(c.s)+e+16)*c.eps)
			}),
		Keys: kernel(2, "k_attention_grad_kv", b.gradient, []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), in("LSE"), in("DELTA"), in("G"), out("DK"), out("DV")},
			[]int{placeQ, placeK, placeV, placeG}, attentionS, 7, s.Features,
			kernels.HostKernel{F32: attentionKeysHost[float32](s), F64: attentionKeysHost[float64](s)}, s.keys,
			func(c attentionCall, param, i int) float64 {
				e, l := float64(s.Values), float64(c.l)
				off := l * (2*c.score + (l+e+16)*c.eps)
				if param == 8 {
					return c.most[6] * off
				}
				return c.scale * c.most[0] * 2 * e * c.most[6] * c.most[2] * off
			}),
	}
}

// attentionCall is the numbers of a launch, and for bounds the sizes of its operands.
type attentionCall struct {
	AttentionShape
	batch, l, s, step int
	biased, causal    bool
	scale             float64
	heads             int
	places            [attentionPlaces]AttentionPlace
	eps               float64
	most              [9]float64 // of each operand
	score, size       float64    // how far a product of a query and a key may be off, and how large it is
	sizeY, sizeG      int        // elements of Y and of its gradient
}

// at returns where row i of item b of the batch begins in an operand.
func (c *attentionCall) at(operand, b, i int) int {
	p := c.places[operand]
	return b/c.heads*p.Outer + b%c.heads*p.Head + i*p.Row
}

func (c *attentionCall) measure(args []kernels.Arg) {
	for i := range c.most {
		if args[i].Kind == kernels.ArgBuffer {
			c.most[i] = kernels.MaxAbs(args, i)
		}
	}
	c.scale = math.Abs(c.scale)
	n := float64(c.Features)
	c.size = n*c.scale*c.most[0]*c.most[1] + c.most[3]
	c.score = c.eps * ((n+4)*n*c.scale*c.most[0]*c.most[1] + 4*c.size)
}

// attends is scale·q·k + bias of query i and key j of item b, −∞ where the one does not attend to
// the other.
func attends[T kernels.Float](c *attentionCall, q, k, bias []T, b, i, j int) float64 {
	if c.causal && j > i {
		return math.Inf(-1)
	}
	sum := 0.0
	x, y := q[c.at(placeQ, b, i):][:c.Features], k[c.at(placeK, b, j):][:c.Features]
	for f, v := range x {
		sum += float64(v) * float64(y[f])
	}
	sum *= float64(T(c.scale))
	if c.biased {
		sum += float64(bias[b*c.step+i*c.s+j])
	}
	return sum
}

// attentionOf is the call that a host kernel sees, whose numbers begin at `at`, of operands in some
// places.
func attentionOf[T kernels.Float](s AttentionShape, c kernels.HostArgs[T], at int, places ...int) *attentionCall {
	a := &attentionCall{AttentionShape: s, l: c.Int(at + attentionL), s: c.Int(at + attentionS), step: c.Int(at + attentionStep),
		biased: c.Int(at+attentionBiased) != 0, causal: c.Int(at+attentionCausal) != 0, scale: float64(c.Float(at + attentionScale)), heads: c.Int(at + attentionHeads)}
	for i, p := range places {
		n := at + attentionNumbers + 3*i
		a.places[p] = AttentionPlace{c.Int(n), c.Int(n + 1), c.Int(n + 2)}
	}
	return a
}

func attentionHost[T kernels.Float](shape AttentionShape) func(kernels.HostArgs[T]) {
	return func(call kernels.HostArgs[T]) {
		q, k, v, bias, y, lse := call.Floats(0), call.Floats(1), call.Floats(2), call.Floats(3), call.Floats(4),
			call.Floats(5)
		c := attentionOf(shape, call, 6, placeQ, placeK, placeV, placeY)
		plain := func(lo, hi int) {
			p, sums := make([]float64, c.s), make([]float64, c.Values)
			for n := lo; n < hi; n++ {
				b, i := n/c.l, n%c.l
				most, sum := math.Inf(-1), 0.0
				for j := range p {
					if p[j] = attends(c, q, k, bias, b, i, j); p[j] > most {
						most = p[j]
					}
				}
				from := most
				if math.IsInf(most, -1) {
					from = 0
				}
				clear(sums)
				for j := range p {
					e := math.Exp(p[j] - from)
					sum += e
					if e == 0 {
						continue // as where a query does not attend
					}
					for f, w := range v[c.at(placeV, b, j):][:c.Values] {
						sums[f] += e * float64(w)
					}
				}
				lse[n] = T(most + math.Log(sum))
				for f, w := range sums {
					if sum != 0 {
						w /= sum
					}
					y[c.at(placeY, b, i)+f] = T(w)
				}
			}
		}
		loops := loopsOf(call)
		if loops == nil || c.l == 0 || c.s == 0 {
			call.Parallel(len(lse), c.s*(c.Features+c.Values+20), plain)
			return
		}
		all := &attentionBlocks[T]{attentionCall: c, loops: loops, q: q, k: k, v: v, bias: bias, y: y, lse: lse}
		all.each(call, len(lse)/c.l, c.l, c.s*(c.Features+c.Values+20)/8, func(a *attentionBlocks[T], b, first, end int) {
			if !a.forward(b, first, end) {
				plain(b*c.l+first, b*c.l+end)
			}
		})
	}
}

// scoreGrads returns, for query i and key j of item b, the probability and the gradient of the
// score.
func scoreGrads[T kernels.Float](c *attentionCall, q, k, v, bias, g []T, lse, delta float64, b, i, j int) (p, d float64) {
	s := attends(c, q, k, bias, b, i, j)
	if math.IsInf(s, -1) || math.IsInf(lse, -1) {
		return 0, 0
	}
	p = math.Exp(s - lse)
	up := g[c.at(placeG, b, i):][:c.Values]
	for f, w := range v[c.at(placeV, b, j):][:c.Values] {
		d += float64(up[f]) * float64(w)
	}
	return p, p * (d - delta)
}

func attentionQueriesHost[T kernels.Float](shape AttentionShape) func(kernels.HostArgs[T]) {
	return func(call kernels.HostArgs[T]) {
		c := attentionOf(shape, call, 9, placeQ, placeK, placeV, placeY, placeG)
		q, k, v, bias, y, lse, g, dq, deltas := call.Floats(0), call.Floats(1), call.Floats(2), call.Floats(3), call.Floats(4), call.Floats(5), call.Floats(6), call.Floats(7), call.Floats(8)
		plain := func(lo, hi int) {
			sums := make([]float64, c.Features)
			for n := lo; n < hi; n++ {
				b, i := n/c.l, n%c.l
				delta := 0.0
				up := g[c.at(placeG, b, i):][:c.Values]
				for f, w := range y[c.at(placeY, b, i):][:c.Values] {
					delta += float64(w) * float64(up[f])
				}
				deltas[n] = T(delta)
				clear(sums)
				for j := range c.s {
					_, d := scoreGrads(c, q, k, v, bias, g, float64(lse[n]), delta, b, i, j)
					for f, w := range k[c.at(placeK, b, j):][:c.Features] {
						sums[f] += d * float64(w)
					}
				}
				for f, w := range sums {
					dq[n*c.Features+f] = T(c.scale * w)
				}
			}
		}
		loops := loopsOf(call)
		if loops == nil || c.l == 0 || c.s == 0 {
			call.Parallel(len(lse), c.s*(2*c.Features+c.Values+20), plain)
			return
		}
		all := &attentionBlocks[T]{attentionCall: c, loops: loops, q: q, k: k, v: v, bias: bias, y: y, lse: lse, g: g, deltas: deltas}
		all.each(call, len(lse)/c.l, c.l, c.s*(2*c.Features+c.Values+20)/8, func(a *attentionBlocks[T], b, first, end int) {
			if !a.queries(dq, b, first, end) {
				plain(b*c.l+first, b*c.l+end)
			}
		})
	}
}

func attentionKeysHost[T kernels.Float](shape AttentionShape) func(kernels.HostArgs[T]) {
	return func(call kernels.HostArgs[T]) {
		c := attentionOf(shape, call, 9, placeQ, placeK, placeV, placeG)
		q, k, v, bias, lse, deltas, g, dk, dv := call.Floats(0), call.Floats(1), call.Floats(2), call.Floats(3), call.Floats(4), call.Floats(5), call.Floats(6), call.Floats(7), call.Floats(8)
		plain := func(lo, hi int) {
			byKey, byValue := make([]float64, c.Features), make([]float64, c.Values)
			for n := lo; n < hi; n++ {
				b, j := n/c.s, n%c.s
				clear(byKey)
				clear(byValue)
				for i := range c.l {
					at := b*c.l + i
					p, d := scoreGrads(c, q, k, v, bias, g, float64(lse[at]), float64(deltas[at]), b, i, j)
					for f, w := range q[c.at(placeQ, b, i):][:c.Features] {
						byKey[f] += d * float64(w)
					}
					for f, w := range g[c.at(placeG, b, i):][:c.Values] {
						byValue[f] += p * float64(w)
					}
				}
				for f, w := range byKey {
					dk[n*c.Features+f] = T(c.scale * w)
				}
				for f, w := range byValue {
					dv[n*c.Values+f] = T(w)
				}
			}
		}
		items, loops := len(dv)/c.Values, loopsOf(call)
		if loops == nil || c.l == 0 || c.s == 0 {
			call.Parallel(items, c.l*(2*c.Features+2*c.Values+20), plain)
			return
		}
		all := &attentionBlocks[T]{attentionCall: c, loops: loops, q: q, k: k, v: v, bias: bias, lse: lse, g: g, deltas: deltas}
		all.each(call, items/c.s, c.s, c.l*(2*c.Features+2*c.Values+20)/8, func(a *attentionBlocks[T], b, first, end int) {
			if !a.keys(dk, dv, b, first, end) {
				plain(b*c.s+first, b*c.s+end)
			}
		})
	}
}

// attentionCase is the numbers of a launch that tests the kernels.
type attentionCase struct {
	batch, l, s    int
	biased, causal bool
	each           bool // item of the batch has a bias of its own
	heads          int  // of the batch, whose features lie one after the other for each query and key; 0: they do not
}

// cases are launches around the sizes of blocks. A query attends to nothing where there is a bias.
func (s AttentionShape) cases(few bool, build func(o *kernels.Operands, c attentionCase)) []kernels.Case {
	var cases []kernels.Case
	for i, c := range []attentionCase{{2, 5, 7, true, false, true, 0}, {1, 20, 37, false, true, false, 0}, {4, 9, 6, true, true, true, 2}, {1, 33, 65, false, true, false, 0}, {1, 1, 1, false, false, false, 0},
		{3, 70, 40, false, true, false, 3}, {2, 32, 64, false, false, false, 0}, {2, 40, 33, true, true, false, 1}} {
		if few && i > 2 {
			break
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", c), Build: func(o *kernels.Operands) { build(o, c) }})
	}
	return cases
}

// place returns where the rows of an operand lie, and how many elements it has: `gap` between rows,
// if they have several heads.
func (c attentionCase) place(rows, features, gap int) (p AttentionPlace, n int) {
	if c.heads == 0 {
		return AttentionPlace{Outer: rows * features, Row: features}, c.batch * rows * features
	}
	row := c.heads*features + gap
	return AttentionPlace{Outer: rows * row, Head: features, Row: row}, c.batch / c.heads * rows * row
}

// operands adds queries, keys, values and biases, and returns the numbers of the case.
func (s AttentionShape) operands(o *kernels.Operands, c attentionCase) *attentionCall {
	call := &attentionCall{AttentionShape: s, batch: c.batch, l: c.l, s: c.s, biased: c.biased, causal: c.causal, scale: 0.4, heads: max(1, c.heads)}
	for i, size := range [][3]int{{c.l, s.Features, 1}, {c.s, s.Features, 4}, {c.s, s.Values, 0}} {
		place, n := c.place(size[0], size[1], size[2])
		o.In(n, -1, 1)
		call.places[placeQ+i] = place
	}
	call.places[placeY], call.sizeY = c.place(c.l, s.Values, 0)
	call.places[placeG], call.sizeG = c.place(c.l, s.Values, 5)
	biases := 0
	if c.biased {
		if biases = c.l * c.s; c.each {
			call.step = biases
			biases *= c.batch
		}
	}
	o.Floats(biases, func(i int) float64 {
		if i/c.s%c.l == 1 || o.Rand.IntN(4) == 0 {
			return math.Inf(-1)
		}
		return o.Rand.Float64()
	})
	return call
}

// numbers adds those of a call, and some places.
func (c *attentionCall) numbers(o *kernels.Operands, places ...int) {
	o.Args = append(o.Args, c.args(places...)...)
}

func (c *attentionCall) args(places ...int) []kernels.Arg {
	args := []kernels.Arg{kernels.IntArg(c.l), kernels.IntArg(c.s), kernels.IntArg(c.step), kernels.FlagArg(c.biased), kernels.FlagArg(c.causal), kernels.FloatArg(c.scale), kernels.IntArg(c.heads)}
	for _, p := range places {
		place := c.places[p].Args()
		args = append(args, place[:]...)
	}
	return args
}

func (s AttentionShape) forward(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	o.Out(call.sizeY).Out(c.batch * c.l)
	call.numbers(o, placeQ, placeK, placeV, placeY)
}

// results adds what Forward makes of the operands so far: Y if it is asked for, and LSE.
func (s AttentionShape) results(o *kernels.Operands, c *attentionCall, y bool) {
	args := append([]kernels.Arg{}, o.Args...)
	for _, n := range []int{c.sizeY, c.batch * c.l} {
		args = append(args, kernels.BufferArg(kernels.NewHostBuffer(args[0].Buf.DType(), n), 0, n))
	}
	args = append(args, c.args(placeQ, placeK, placeV, placeY)...)
	(&kernels.Kernel{Host: kernels.HostKernel{F32: attentionHost[float32](s),
		F64: attentionHost[float64](s)}}).Run(args[0].Buf.DType(), args)
	if y {
		o.Floats(args[4].N, args[4].At)
	}
	o.Floats(args[5].N, args[5].At)
}

func (s AttentionShape) queries(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	s.results(o, call, true)
	o.In(call.sizeG, -1, 1).Out(c.batch * c.l * s.Features).Out(c.batch * c.l)
	call.numbers(o, placeQ, placeK, placeV, placeY, placeG)
}

func (s AttentionShape) keys(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	s.results(o, call, false)
	o.In(c.batch*c.l, -1, 1).In(call.sizeG, -1, 1).Out(c.batch * c.s * s.Features).Out(c.batch * c.s * s.Values)
	call.numbers(o, placeQ, placeK, placeV, placeG)
}
