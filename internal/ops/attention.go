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

// AttentionKernels compute attention without the matrix of all queries and keys, on CPUs.
type AttentionKernels struct {
	// Forward is Y = softmax(scale·Q·Kᵀ + BIAS)·V and the logarithm of the sums of the softmax: Q, K, V, BIAS, Y, LSE [batch, l],
	// l, s, bias_step, biased, causal, scale. Item b of the batch has the elements of BIAS from b·bias_step on.
	Forward *kernels.Kernel
	// Queries is the gradient by Q, for the gradient G of Y: Q, K, V, BIAS, Y, LSE, G, DQ, DELTA [batch, l], and the numbers of
	// Forward. DELTA is Σ G·Y of each query.
	Queries *kernels.Kernel
	// Keys is those by K and V: Q, K, V, BIAS, LSE, DELTA, G, DK, DV, and the numbers of Forward.
	Keys *kernels.Kernel
}

// attentionWidest is the most features that the kernels keep in the cache next to a core.
const attentionWidest = 128

// attentionLanes is LANES of attention_cpu.cl.
const attentionLanes = 32

var attentions struct {
	sync.Mutex
	made map[AttentionShape]*AttentionKernels
}

// Attention returns the kernels for a shape, nil where there are none for it, or for a device with the limits l.
func Attention(s AttentionShape, l kernels.Limits) *AttentionKernels {
	if !l.CPU || s.Features < 1 || s.Features > attentionWidest || s.Values < 1 || s.Values > attentionWidest {
		return nil
	}
	attentions.Lock()
	defer attentions.Unlock()
	k := attentions.made[s]
	if k == nil {
		if attentions.made == nil {
			attentions.made = map[AttentionShape]*AttentionKernels{}
		}
		k = newAttention(s)
		attentions.made[s] = k
	}
	return k
}

func newAttention(s AttentionShape) *AttentionKernels {
	numbers := []kernels.Param{intArg("l"), intArg("s"), intArg("bias_step"), intArg("biased"), intArg("causal"), realArg("scale")}
	kernel := func(name string, params []kernels.Param, rows int, twin kernels.Twin, build func(o *kernels.Operands, c attentionCase),
		bound func(c attentionCall, param, i int) float64) *kernels.Kernel {
		at := len(params)
		k := &kernels.Kernel{Name: name, File: "attention_cpu.cl", Defines: fmt.Sprintf("-DD=%d -DE=%d", s.Features, s.Values),
			Params: append(params, numbers...), Twin: twin, Trial: smallOnly,
			Grid: func(a []kernels.Arg, _ kernels.Limits) kernels.Grid {
				n := int(a[at+rows].Int) // of queries, or of keys
				if n == 0 {
					return kernels.Groups(0, 0)
				}
				return kernels.Groups(intmath.CeilDiv(n, attentionLanes), a[rows].N/(n*s.Features))
			},
			Cases: func(few bool) []kernels.Case { return s.cases(few, build) }}
		k.Tol = kernels.Tolerance{ULP: 4, Bound: func(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
			c := s.call(args, at)
			eps, _ := real.Epsilon()
			c.eps = eps
			c.measure(args)
			return func(param, i int) float64 { return bound(c, param, i) }
		}}
		return k
	}
	return &AttentionKernels{
		Forward: kernel("k_attention", []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), out("Y"), out("LSE")}, 0,
			kernels.Twin{F32: attentionTwin[float32](s), F64: attentionTwin[float64](s)}, s.forward,
			func(c attentionCall, param, i int) float64 {
				if param == 4 {
					return c.most[2] * (2*c.score + (float64(c.s)+16)*c.eps)
				}
				return c.score + (float64(c.s)+16)*c.eps + 4*c.eps*c.size
			}),
		Queries: kernel("k_attention_grad_q", []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), in("Y"), in("LSE"), in("G"), out("DQ"), out("DELTA")}, 0,
			kernels.Twin{F32: attentionQueriesTwin[float32](s), F64: attentionQueriesTwin[float64](s)}, s.queries,
			func(c attentionCall, param, i int) float64 {
				e := float64(s.Values)
				if param == 8 {
					return (e + 4) * c.eps * e * c.most[6] * c.most[4]
				}
				return c.scale * c.most[1] * 2 * e * c.most[6] * c.most[2] * (2*c.score + (float64(c.s)+e+16)*c.eps)
			}),
		Keys: kernel("k_attention_grad_kv", []kernels.Param{in("Q"), in("K"), in("V"), in("BIAS"), in("LSE"), in("DELTA"), in("G"), out("DK"), out("DV")}, 1,
			kernels.Twin{F32: attentionKeysTwin[float32](s), F64: attentionKeysTwin[float64](s)}, s.keys,
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
	eps               float64
	most              [9]float64 // of each operand
	score, size       float64    // how far a product of a query and a key may be off, and how large it is
}

// call returns the numbers that args have from at on.
func (s AttentionShape) call(args []kernels.Arg, at int) attentionCall {
	c := attentionCall{AttentionShape: s, l: int(args[at].Int), s: int(args[at+1].Int), step: int(args[at+2].Int), biased: args[at+3].Int != 0,
		causal: args[at+4].Int != 0, scale: args[at+5].Real}
	if c.l > 0 {
		c.batch = args[0].N / (c.l * s.Features)
	}
	return c
}

func (c *attentionCall) measure(args []kernels.Arg) {
	for i := range c.most {
		if args[i].Kind == kernels.ArgVec {
			c.most[i] = kernels.MaxAbs(args, i)
		}
	}
	c.scale = math.Abs(c.scale)
	n := float64(c.Features)
	c.size = n*c.scale*c.most[0]*c.most[1] + c.most[3]
	c.score = c.eps * ((n+4)*n*c.scale*c.most[0]*c.most[1] + 4*c.size)
}

// attends is scale·q·k + bias of query i and key j of item b, −∞ where the one does not attend to the other.
func attends[T kernels.Real](c attentionCall, q, k, bias []T, b, i, j int) float64 {
	if c.causal && j > i {
		return math.Inf(-1)
	}
	sum := 0.0
	x, y := q[(b*c.l+i)*c.Features:][:c.Features], k[(b*c.s+j)*c.Features:][:c.Features]
	for f, v := range x {
		sum += float64(v) * float64(y[f])
	}
	sum *= float64(T(c.scale))
	if c.biased {
		sum += float64(bias[b*c.step+i*c.s+j])
	}
	return sum
}

// attentionOf is the call that a twin sees, whose numbers begin at `at`.
func attentionOf[T kernels.Real](s AttentionShape, c kernels.Call[T], at int) attentionCall {
	a := attentionCall{AttentionShape: s, l: c.Int(at), s: c.Int(at + 1), step: c.Int(at + 2), biased: c.Int(at+3) != 0, causal: c.Int(at+4) != 0,
		scale: float64(c.Real(at + 5))}
	if a.l > 0 {
		a.batch = len(c.Reals(0)) / (a.l * s.Features)
	}
	return a
}

func attentionTwin[T kernels.Real](shape AttentionShape) func(kernels.Call[T]) {
	return func(call kernels.Call[T]) {
		c := attentionOf(shape, call, 6)
		q, k, v, bias, y, lse := call.Reals(0), call.Reals(1), call.Reals(2), call.Reals(3), call.Reals(4), call.Reals(5)
		call.Parallel(c.batch*c.l, c.s*(c.Features+c.Values+20), func(lo, hi int) {
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
					for f, w := range v[(b*c.s+j)*c.Values:][:c.Values] {
						sums[f] += e * float64(w)
					}
				}
				lse[n] = T(most + math.Log(sum))
				for f, w := range sums {
					if sum != 0 {
						w /= sum
					}
					y[n*c.Values+f] = T(w)
				}
			}
		})
	}
}

// slopes returns, for query i and key j of item b, the probability and the gradient of the score.
func slopes[T kernels.Real](c attentionCall, q, k, v, bias, g []T, lse, delta float64, b, i, j int) (p, d float64) {
	s := attends(c, q, k, bias, b, i, j)
	if math.IsInf(s, -1) || math.IsInf(lse, -1) {
		return 0, 0
	}
	p = math.Exp(s - lse)
	up := g[(b*c.l+i)*c.Values:][:c.Values]
	for f, w := range v[(b*c.s+j)*c.Values:][:c.Values] {
		d += float64(up[f]) * float64(w)
	}
	return p, p * (d - delta)
}

func attentionQueriesTwin[T kernels.Real](shape AttentionShape) func(kernels.Call[T]) {
	return func(call kernels.Call[T]) {
		c := attentionOf(shape, call, 9)
		q, k, v, bias, y, lse, g, dq, deltas := call.Reals(0), call.Reals(1), call.Reals(2), call.Reals(3), call.Reals(4), call.Reals(5), call.Reals(6), call.Reals(7), call.Reals(8)
		call.Parallel(c.batch*c.l, c.s*(2*c.Features+c.Values+20), func(lo, hi int) {
			sums := make([]float64, c.Features)
			for n := lo; n < hi; n++ {
				b, i := n/c.l, n%c.l
				delta := 0.0
				for f, w := range y[n*c.Values:][:c.Values] {
					delta += float64(w) * float64(g[n*c.Values+f])
				}
				deltas[n] = T(delta)
				clear(sums)
				for j := range c.s {
					_, d := slopes(c, q, k, v, bias, g, float64(lse[n]), delta, b, i, j)
					for f, w := range k[(b*c.s+j)*c.Features:][:c.Features] {
						sums[f] += d * float64(w)
					}
				}
				for f, w := range sums {
					dq[n*c.Features+f] = T(c.scale * w)
				}
			}
		})
	}
}

func attentionKeysTwin[T kernels.Real](shape AttentionShape) func(kernels.Call[T]) {
	return func(call kernels.Call[T]) {
		c := attentionOf(shape, call, 9)
		q, k, v, bias, lse, deltas, g, dk, dv := call.Reals(0), call.Reals(1), call.Reals(2), call.Reals(3), call.Reals(4), call.Reals(5), call.Reals(6), call.Reals(7), call.Reals(8)
		call.Parallel(c.batch*c.s, c.l*(2*c.Features+2*c.Values+20), func(lo, hi int) {
			byKey, byValue := make([]float64, c.Features), make([]float64, c.Values)
			for n := lo; n < hi; n++ {
				b, j := n/c.s, n%c.s
				clear(byKey)
				clear(byValue)
				for i := range c.l {
					at := b*c.l + i
					p, d := slopes(c, q, k, v, bias, g, float64(lse[at]), float64(deltas[at]), b, i, j)
					for f, w := range q[at*c.Features:][:c.Features] {
						byKey[f] += d * float64(w)
					}
					for f, w := range g[at*c.Values:][:c.Values] {
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
		})
	}
}

// attentionCase is the numbers of a launch that tests the kernels.
type attentionCase struct {
	batch, l, s    int
	biased, causal bool
	each           bool // item of the batch has a bias of its own
}

// cases are launches around the sizes of blocks. A query attends to nothing where there is a bias.
func (s AttentionShape) cases(few bool, build func(o *kernels.Operands, c attentionCase)) []kernels.Case {
	var cases []kernels.Case
	for i, c := range []attentionCase{{2, 5, 7, true, false, true}, {1, 20, 37, false, true, false}, {1, 33, 65, false, true, false}, {1, 1, 1, false, false, false}, {3, 70, 40, false, true, false},
		{2, 32, 64, false, false, false}, {2, 40, 33, true, true, false}} {
		if few && i > 1 {
			break
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", c), Build: func(o *kernels.Operands) { build(o, c) }})
	}
	return cases
}

// operands adds queries, keys, values and biases, and returns the numbers of the case.
func (s AttentionShape) operands(o *kernels.Operands, c attentionCase) attentionCall {
	call := attentionCall{AttentionShape: s, batch: c.batch, l: c.l, s: c.s, biased: c.biased, causal: c.causal, scale: 0.4}
	o.In(c.batch*c.l*s.Features, -1, 1).In(c.batch*c.s*s.Features, -1, 1).In(c.batch*c.s*s.Values, -1, 1)
	biases := 0
	if c.biased {
		if biases = c.l * c.s; c.each {
			call.step = biases
			biases *= c.batch
		}
	}
	return call.with(o.Reals(biases, func(i int) float64 {
		if i/c.s%c.l == 1 || o.Rand.IntN(4) == 0 {
			return math.Inf(-1)
		}
		return o.Rand.Float64()
	}))
}

// with returns the call; it is the end of a chain of operands.
func (c attentionCall) with(*kernels.Operands) attentionCall { return c }

// numbers adds those of a call.
func (c attentionCall) numbers(o *kernels.Operands) {
	flag := map[bool]int{true: 1}
	o.Int(c.l, c.s, c.step, flag[c.biased], flag[c.causal]).Real(c.scale)
}

func (s AttentionShape) forward(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	o.Out(c.batch * c.l * s.Values).Out(c.batch * c.l)
	call.numbers(o)
}

// results adds what Forward makes of the operands so far: Y if it is asked for, and LSE.
func (s AttentionShape) results(o *kernels.Operands, c attentionCall, y bool) {
	args := append([]kernels.Arg{}, o.Args...)
	for _, n := range []int{c.batch * c.l * s.Values, c.batch * c.l} {
		args = append(args, kernels.Vec(kernels.NewMem(args[0].Buf.DType(), n), 0, n))
	}
	args = append(args, kernels.I(c.l), kernels.I(c.s), kernels.I(c.step), kernels.Flag(c.biased), kernels.Flag(c.causal), kernels.R(c.scale))
	(&kernels.Kernel{Twin: kernels.Twin{F32: attentionTwin[float32](s), F64: attentionTwin[float64](s)}}).Run(args[0].Buf.DType(), args)
	if y {
		o.Reals(args[4].N, args[4].At)
	}
	o.Reals(args[5].N, args[5].At)
}

func (s AttentionShape) queries(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	s.results(o, call, true)
	o.In(c.batch*c.l*s.Values, -1, 1).Out(c.batch * c.l * s.Features).Out(c.batch * c.l)
	call.numbers(o)
}

func (s AttentionShape) keys(o *kernels.Operands, c attentionCase) {
	call := s.operands(o, c)
	s.results(o, call, false)
	o.In(c.batch*c.l, -1, 1).In(c.batch*c.l*s.Values, -1, 1).Out(c.batch * c.s * s.Features).Out(c.batch * c.s * s.Values)
	call.numbers(o)
}
