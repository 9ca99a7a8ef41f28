package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Dropout is [autograd.Node.Dropout] as a layer: in training, until [Eval], each element is 0 with
// probability P.
type Dropout struct {
	P   float64     // in [0, 1]
	RNG *tensor.RNG // required in training, unless P is 0

	eval bool
}

// Forward returns x with elements dropped, or x in evaluation and where P is 0.
func (l *Dropout) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node {
		if l.off() {
			return x
		}
		return x.Dropout(l.P, l.RNG, true)
	})
}

// off reports whether no element is dropped.
func (l *Dropout) off() bool {
	if l.P == 0 {
		return true
	}
	tensorapi.ReadsFlag(&l.eval, "a Dropout", "in evaluation", "in training")
	return l.eval
}

// SetTraining says whether elements are dropped.
func (l *Dropout) SetTraining(on bool) {
	tensorapi.SetsFlags(&l.eval)
	l.eval = !on
}
