package operation

import "github.com/clgrad/clgrad/kernels"

// CrossEntropySpec is lines of scores of classes, and the label of each: what a [CrossEntropy] and
// its gradient read. Line (o, i) is X[o, k, i] for k below Len; o is below Outer, i below Inner.
// Scores are Logits, or logarithms of probabilities. A label counts if it is not Ignore, and in [0,
// Len). Smoothing is the part of it that goes to all classes alike.
//
// Views: X by (o, k, i), which the gradient of logarithms does not have, Labels, of Int32, by (o, i),
// and Weights, which are there if it is Weighted, by (k). A weight that is not there is 1. Floats may be of 16
// bits: they are rounded where they are stored.
type CrossEntropySpec struct {
	Outer, Len, Inner  int
	Logits, Weighted   bool
	Ignore             int
	Smoothing          Scalar
	X, Labels, Weights kernels.View
}

// CrossEntropy is the loss of lines with labels, and what its gradient needs. Of a line x with the
// label t, of n = Len classes with the weights w, and s = Smoothing,
//
//	Most = the largest of x, −∞ if none is a number     LogSum = log Σ exp(x[k] − Most)     both 0 unless they are Logits
//	Loss = (1 − s)·w[t]·(LogSum − (x[t] − Most)) + s/n·Σ w[k]·(LogSum − (x[k] − Most)), the sum only if s is not 0
//	Counted = w[t]     Slope = (1 − s)·w[t] + s/n·Σ w[k]
//
// Loss, Counted and Slope are 0 if the label does not count.
//
// Views: those of [CrossEntropySpec], and Loss, Counted, Most, LogSum and Slope by (o, i).
//
// It is no list of the others, since none picks an element of each line by a number.
type CrossEntropy struct {
	CrossEntropySpec
	Loss, Counted, Most, LogSum, Slope kernels.View
}

// CrossEntropyGrad is the gradient of a [CrossEntropy]: with what that left and the gradient G of
// the loss, for k below n,
//
//	D[k] = G·(Slope·exp(x[k] − Most − LogSum) − s/n·w[k] − (1 − s)·w[t] if k = t)
//
// without the first term unless they are Logits, and 0 if the label does not count.
//
// Views: those of [CrossEntropySpec], Most, LogSum, Slope and G by (o, i), and D by (o, k, i).
type CrossEntropyGrad struct {
	CrossEntropySpec
	Most, LogSum, Slope, G, D kernels.View
}

func (l *CrossEntropySpec) views() []kernels.View {
	list := []kernels.View{l.Labels}
	if l.X.Strides != nil {
		list = append(list, l.X)
	}
	if l.Weighted {
		list = append(list, l.Weights)
	}
	return list
}

// Inputs returns the views that both read, to be changed.
func (l *CrossEntropySpec) Inputs() []*kernels.View {
	list := []*kernels.View{&l.Labels}
	if l.X.Strides != nil {
		list = append(list, &l.X)
	}
	if l.Weighted {
		list = append(list, &l.Weights)
	}
	return list
}

// Views returns what CrossEntropySpec names, and the five results.
func (c *CrossEntropy) Views() (reads, writes []kernels.View) {
	return c.views(), []kernels.View{c.Loss, c.Counted, c.Most, c.LogSum, c.Slope}
}

// Views returns what CrossEntropySpec names, what the loss left and G, and D. What the loss left is read of
// Logits alone.
func (c *CrossEntropyGrad) Views() (reads, writes []kernels.View) {
	reads = append(c.views(), c.G)
	if c.Logits {
		reads = append(reads, c.Most, c.LogSum, c.Slope)
	}
	return reads, []kernels.View{c.D}
}
