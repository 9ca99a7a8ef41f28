package refexec

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// score returns that of query i and key j of a head.
func (m *machine[T]) score(a *operation.AttentionSpec, o, h, i, j int) float64 {
	if a.Causal && j > i {
		return math.Inf(-1)
	}
	var dot sum
	for f := range a.Features {
		dot.add(m.load(a.Q, o, h, i, f) * m.load(a.K, o, h, j, f))
	}
	s := dot.value() * float64(T(a.Scale.In(m.args, kernels.Float32)))
	if a.Biased {
		s += m.load(a.Bias, o, h, i, j)
	}
	return s
}

func (m *machine[T]) attention(op *operation.Attention) {
	scores := make([]float64, op.S)
	each([]int{op.Outer, op.Heads, op.L}, func(at []int) {
		o, h, i := at[0], at[1], at[2]
		most := math.Inf(-1)
		for j := range scores {
			if scores[j] = m.score(&op.AttentionSpec, o, h, i, j); scores[j] > most {
				most = scores[j]
			}
		}
		from := most
		if math.IsInf(most, -1) {
			from = 0
		}
		var all sum
		for j := range scores {
			scores[j] = math.Exp(scores[j] - from)
			all.add(scores[j])
		}
		m.store(op.LSE, float64(T(most+math.Log(all.value()))), at...)
		for e := range op.Values {
			var y sum
			for j, p := range scores {
				if v := m.load(op.V, o, h, j, e); p != 0 {
					y.add(p * v)
				}
			}
			v := y.value()
			if all.value() != 0 {
				v /= all.value()
			}
			m.store(op.Y, float64(T(v)), o, h, i, e)
		}
	})
}

// scoreGrad returns, of query i and key j, the probability P, and P·(Σ G·V − delta), which is the gradient of the score.
func (m *machine[T]) scoreGrad(a *operation.AttentionSpec, g kernels.View, lse, delta float64, o, h, i, j int) (p,
	d float64) {
	s := m.score(a, o, h, i, j)
	if math.IsInf(s, -1) || math.IsInf(lse, -1) {
		return 0, 0
	}
	p = math.Exp(s - lse)
	var dot sum
	for e := range a.Values {
		dot.add(m.load(g, o, h, i, e) * m.load(a.V, o, h, j, e))
	}
	return p, p * (dot.value() - delta)
}

// put stores sums times a factor in a row of a view.
func (m *machine[T]) put(v kernels.View, sums []sum, factor float64, o, h, i int) {
	for f := range sums {
		m.store(v, float64(T(factor*sums[f].value())), o, h, i, f)
	}
}

func (m *machine[T]) attentionGradQuery(op *operation.AttentionGradQuery) {
	scale := op.Scale.In(m.args, kernels.Float32)
	each([]int{op.Outer, op.Heads, op.L}, func(at []int) {
		o, h, i := at[0], at[1], at[2]
		var dot sum
		for e := range op.Values {
			dot.add(m.load(op.G, o, h, i, e) * m.load(op.Y, o, h, i, e))
		}
		delta, sums := dot.value(), make([]sum, op.Features)
		m.store(op.Delta, float64(T(delta)), at...)
		for j := range op.S {
			_, d := m.scoreGrad(&op.AttentionSpec, op.G, m.load(op.LSE, at...), delta, o, h, i, j)
			for f := range sums {
				sums[f].add(d * m.load(op.K, o, h, j, f))
			}
		}
		m.put(op.DQ, sums, scale, o, h, i)
	})
}

func (m *machine[T]) attentionGradKeyValue(op *operation.AttentionGradKeyValue) {
	scale := op.Scale.In(m.args, kernels.Float32)
	each([]int{op.Outer, op.Heads, op.S}, func(at []int) {
		o, h, j := at[0], at[1], at[2]
		byKey, byValue := make([]sum, op.Features), make([]sum, op.Values)
		for i := range op.L {
			p, d := m.scoreGrad(&op.AttentionSpec, op.G, m.load(op.LSE, o, h, i), m.load(op.Delta, o, h, i), o, h, i, j)
			for f := range byKey {
				byKey[f].add(d * m.load(op.Q, o, h, i, f))
			}
			for e := range byValue {
				byValue[e].add(p * m.load(op.G, o, h, i, e))
			}
		}
		m.put(op.DK, byKey, scale, o, h, j)
		m.put(op.DV, byValue, 1, o, h, j)
	})
}

// attention notes what is wrong with a specification, and with views of results: by (o, h, i) or (o, h, i, e).
func (c *checker) attention(a *operation.AttentionSpec, rows, features []kernels.View) {
	c.positive(a.Outer, a.Heads, a.L, a.S, a.Features, a.Values)
	c.scalar("Scale", a.Scale)
	for _, v := range rows {
		c.floats("a view of rows", v, 3)
	}
	for _, v := range append(features, a.Q, a.K, a.V) {
		c.floats("a view of features", v, 4)
	}
	if a.Biased {
		c.floats("Bias", a.Bias, 4)
	}
}
