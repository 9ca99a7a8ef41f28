package defs

import (
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// EntropyForm says what a cross-entropy is of.
type EntropyForm struct {
	Weights   bool // classes have weights w; else those are 1
	Logits    bool // scores are logits; else they are logarithms of probabilities
	Smoothing bool // (1 − s) of the label's weight stays, s/n goes to every class
	Each      bool // of a gradient: G has an element for each line; else one for all
}

// entropy is what the loss and its gradient have in common: of lines x with the label t,
//
//	LOSS = (1 − s)·w[t]·n[t] + s/len·Σ w[k]·n[k],   n[k] = log Σ exp(x − max x) − (x[k] − max x)
//
// 0 if the label is `ignore` or no class. COUNTED is w[t], 0 for a label that does not count. MOST is
// max x and LOGSUM log Σ exp(x − MOST), both 0 unless x is of logits. SLOPE is the factor of
// softmax(x) in the gradient.
type entropy struct {
	t, w, length *expr.Expr
	counts       *expr.Expr // 1 or 0
	weight       *expr.Expr // w[t]
	own, even    *expr.Expr // (1 − s)·w[t], s/len
}

func newEntropy(b *ir.Builder, f EntropyForm) *entropy {
	e := &entropy{t: b.IntInput("T", ir.Outer, ir.Inner), w: one, weight: one, length: b.Length(ir.N), even: zero}
	if f.Weights {
		e.w = b.Input("W", ir.N)
		e.weight = b.Pick(e.w, e.t, ir.N)
	}
	e.own = e.weight
	below, other := e.t.Sub(b.IntLength(ir.N)).Float(), e.t.Sub(b.Int("ignore")).Float() // differences of ints are exact
	e.counts = expr.Where(e.t.Float().Ge(zero).And(below.Lt(zero)).And(other.Ne(zero)), one, zero)
	if f.Smoothing {
		s := b.Number("smoothing")
		e.own, e.even = one.Sub(s).Mul(e.own), s.Div(e.length)
	}
	return e
}

// counted is x of a label that counts, else 0.
func (e *entropy) counted(x *expr.Expr) *expr.Expr { return expr.Where(e.counts.Eq(one), x, zero) }

// CrossEntropy is the loss of lines of scores with labels, and what its gradient needs.
func CrossEntropy(f EntropyForm) *ir.Program {
	b := ir.NewRows("cross_entropy" + f.suffix())
	x, e := b.Input("X", ir.Outer, ir.N, ir.Inner), newEntropy(b, f)
	most, logSum := zero, zero
	if f.Logits {
		most = b.MaxNumber(x, ir.N)
		logSum = b.Sum(x.Sub(most).ExpOfNegative(), ir.N).Log()
	}
	own := logSum.Sub(b.Pick(x, e.t, ir.N).Sub(most))
	loss, slope := e.own.Mul(own), e.own
	if f.Smoothing {
		weights, weighed := e.length, x.Sub(most)
		if f.Weights {
			weights, weighed = b.Sum(e.w, ir.N), e.w.Mul(weighed)
		}
		loss = loss.Add(e.even.Mul(logSum.Mul(weights).Sub(b.Sum(weighed, ir.N))))
		slope = slope.Add(e.even.Mul(weights))
	}
	b.Result("LOSS", e.counted(loss))
	b.Result("COUNTED", e.counted(e.weight))
	b.Result("MOST", most, ir.Outer, ir.Inner)
	b.Result("LOGSUM", logSum, ir.Outer, ir.Inner)
	b.Result("SLOPE", e.counted(slope))
	return b.Program()
}

// CrossEntropyGrad is the gradient of the loss for that of each line, g:
//
//	g·(SLOPE·exp(x − MOST − LOGSUM) − s/len·w − (1 − s)·w[t]·[k = t])
//
// without the first term, and without X, unless that is of logits.
func CrossEntropyGrad(f EntropyForm) *ir.Program {
	b := ir.NewRows("cross_entropy_grad" + f.suffix())
	var x *expr.Expr
	if f.Logits {
		x = b.Input("X", ir.Outer, ir.N, ir.Inner)
	}
	e := newEntropy(b, f)
	var g *expr.Expr
	d := zero
	if f.Logits {
		most, logSum, slope := b.Input("MOST", ir.Outer, ir.Inner), b.Input("LOGSUM", ir.Outer, ir.Inner), b.Input("SLOPE", ir.Outer, ir.Inner)
		d = x.Sub(most).Sub(logSum).ExpOfNegative().Mul(slope)
	}
	if f.Each {
		g = b.Input("G", ir.Outer, ir.Inner)
	} else {
		g = b.Input("G")
	}
	if f.Smoothing {
		d = d.Sub(e.even.Mul(e.w))
	}
	b.Result("D", e.counted(d.Mul(g).Sub(b.OneHot(e.own.Mul(g), e.t, ir.N))), ir.Outer, ir.N, ir.Inner)
	return b.Program()
}

// suffix is the end of the name of a form.
func (f EntropyForm) suffix() string {
	name := ""
	for _, is := range []struct {
		on   bool
		name string
	}{{f.Weights, "_w"}, {f.Logits, "_logits"}, {f.Smoothing, "_smoothed"}, {f.Each, "_each"}} {
		if is.on {
			name += is.name
		}
	}
	return name
}
