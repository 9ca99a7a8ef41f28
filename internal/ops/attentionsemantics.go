package ops

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// operation returns what describes a part of attention: 0 is Forward, 1 Queries and 2 Keys. The numbers of a launch are
// the arguments from `at` on, and the places of operands behind them. Argument result has so many features for each of
// the rows that the number `rows` counts.
func (s AttentionShape) operation(part, at int, places []int, rows, result, features int) func(args) operations {
	return func(in args) operations {
		num := func(i int) int { return int(in[at+i].Int) }
		l, keys, heads, step := num(attentionL), num(attentionS), num(attentionHeads), num(attentionStep)
		placed := func(arg, place int) kernels.View {
			n := attentionNumbers + 3*slices.Index(places, place)
			return view(in, arg, 0, num(n), num(n+1), num(n+2), 1)
		}
		row := func(arg int) kernels.View { return view(in, arg, 0, heads*l, l, 1) } // a number for each query
		contiguous := func(arg, rows, features int) kernels.View {
			return view(in, arg, 0, heads*rows*features, rows*features, features, 1)
		}
		spec := operation.AttentionSpec{Outer: in[result].N / max(1, heads*num(rows)*features), Heads: heads, L: l, S: keys,
			Features: s.Features, Values: s.Values, Causal: num(attentionCausal) != 0, Biased: num(attentionBiased) != 0,
			Scale: passed(at + attentionScale), Q: placed(0, placeQ), K: placed(1, placeK), V: placed(2, placeV)}
		if spec.Biased {
			spec.Bias = view(in, 3, 0, heads*step, step, keys, 1)
		}
		switch part {
		case 0:
			return operations{&operation.Attention{AttentionSpec: spec, Y: placed(4, placeY), LSE: row(5)}}
		case 1:
			return operations{&operation.AttentionGradQuery{AttentionSpec: spec, Y: placed(4, placeY), LSE: row(5),
				G: placed(6, placeG), DQ: contiguous(7, l, s.Features), Delta: row(8)}}
		}
		return operations{&operation.AttentionGradKeyValue{AttentionSpec: spec, LSE: row(4), Delta: row(5),
			G: placed(6, placeG), DK: contiguous(7, keys, s.Features), DV: contiguous(8, keys, s.Values)}}
	}
}
