package operation

import "github.com/clgrad/clgrad/kernels"

// AttentionSpec is queries, keys and values: what an [Attention] and its gradients read. There are Outer groups of
// Heads each, L queries and S keys of Features features in each head, and values of Values features. The score of query
// i and key j is
//
//	score[i, j] = Scale·Σ Q[i, f]·K[j, f] + Bias[i, j]     −∞ where it is Causal and j > i
//
// Views: Q by (o, h, i, f), K by (o, h, j, f), V by (o, h, j, e), and Bias, which is there if it is Biased, by (o, h, i,
// j). A stride of 0 along h is of grouped queries, which share keys and values. A mask is a Bias of 0 and −∞. Floats may
// be of 16 bits: they are rounded where they are stored.
type AttentionSpec struct {
	Outer, Heads, L, S, Features, Values int
	Causal, Biased                       bool
	Scale                                Scalar
	Q, K, V, Bias                        kernels.View
}

// Attention is softmax(score)·V, and what its gradients need. For each query i of a head,
//
//	LSE[i] = log Σ exp(score[i, j])     P[i, j] = exp(score[i, j] − LSE[i])     Y[i, e] = Σ P[i, j]·V[j, e]
//
// over the keys j. A query whose scores are all −∞ has the LSE −∞ and the Y 0. A V[j] that has no part in Y, because its
// P is 0, may be infinite.
//
// Views: those of [AttentionSpec], Y by (o, h, i, e), LSE by (o, h, i).
//
// Order of the sums: that of the kernel, in blocks of keys.
type Attention struct {
	AttentionSpec
	Y, LSE kernels.View
}

// AttentionGradQuery is the gradient of an [Attention] by Q. With what that left, and the gradient G of Y,
//
//	Delta[i] = Σ G[i, e]·Y[i, e]     DQ[i, f] = Scale·Σ P[i, j]·(Σ G[i, e]·V[j, e] − Delta[i])·K[j, f]
//
// over e, and over the keys j. P is 0 where LSE is −∞.
//
// Views: those of [AttentionSpec], Y, G by (o, h, i, e), LSE, Delta by (o, h, i), DQ by (o, h, i, f).
type AttentionGradQuery struct {
	AttentionSpec
	Y, LSE, G, DQ, Delta kernels.View
}

// AttentionGradKeyValue is the gradients of an [Attention] by K and V, those of each head of grouped queries:
//
//	DK[j, f] = Scale·Σ P[i, j]·(Σ G[i, e]·V[j, e] − Delta[i])·Q[i, f]     DV[j, e] = Σ P[i, j]·G[i, e]
//
// over e, and over the queries i. P is 0 where LSE is −∞.
//
// Views: those of [AttentionSpec], LSE, Delta by (o, h, i), G by (o, h, i, e), DK by (o, h, j, f), DV by (o, h, j, e).
type AttentionGradKeyValue struct {
	AttentionSpec
	LSE, Delta, G, DK, DV kernels.View
}

// inputs returns the views that all three read, to be changed.
func (a *AttentionSpec) inputs(more ...*kernels.View) []*kernels.View {
	list := append([]*kernels.View{&a.Q, &a.K, &a.V}, more...)
	if a.Biased {
		list = append(list, &a.Bias)
	}
	return list
}

// AllViews returns the views of the operation, to be changed.
func (a *Attention) AllViews() []*kernels.View { return a.inputs(&a.Y, &a.LSE) }

// AllViews returns the views of the operation, to be changed.
func (a *AttentionGradQuery) AllViews() []*kernels.View {
	return a.inputs(&a.Y, &a.LSE, &a.G, &a.DQ, &a.Delta)
}

// AllViews returns the views of the operation, to be changed.
func (a *AttentionGradKeyValue) AllViews() []*kernels.View {
	return a.inputs(&a.LSE, &a.Delta, &a.G, &a.DK, &a.DV)
}

// Views returns what AttentionSpec names, and Y and LSE.
func (a *Attention) Views() (reads, writes []kernels.View) {
	return valuesOf(a.inputs()), []kernels.View{a.Y, a.LSE}
}

// Views returns what AttentionSpec names, what the attention left and G, and DQ and Delta.
func (a *AttentionGradQuery) Views() (reads, writes []kernels.View) {
	return valuesOf(a.inputs(&a.Y, &a.LSE, &a.G)), []kernels.View{a.DQ, a.Delta}
}

// Views returns what AttentionSpec names, what the attention and the gradient by Q left and G, and DK and DV.
func (a *AttentionGradKeyValue) Views() (reads, writes []kernels.View) {
	return valuesOf(a.inputs(&a.LSE, &a.Delta, &a.G)), []kernels.View{a.DK, a.DV}
}

func valuesOf(views []*kernels.View) []kernels.View {
	list := make([]kernels.View, len(views))
	for i, v := range views {
		list[i] = *v
	}
	return list
}
