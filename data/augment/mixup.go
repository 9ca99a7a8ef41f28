package augment

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/mathext"
)

// MixUp makes of every picture of a batch, and its label, a mixture with another. Source: Zhang,
// Cisse, Dauphin, Lopez-Paz, "mixup: Beyond Empirical Risk Minimization", ICLR 2018.
type MixUp struct {
	quantiles []float64 // of the weight, at u = (1 − cos(π·i/(n − 1)))/2
}

// quantileCount is how many quantiles are known: between two, they are interpolated. They are close
// to each other near 0 and 1, where the distribution may be steep.
const quantileCount = 1025

// NewMixUp returns a MixUp with weights of the distribution Beta(alpha, alpha): mostly near 0 and 1
// for alpha below 1, uniform for 1, near ½ above. It panics with tensor.ErrValue unless alpha is in
// [0.01, 1000].
func NewMixUp(alpha float64) *MixUp {
	if !(alpha >= 0.01 && alpha <= 1000) {
		panic(misuse("NewMixUp", tensor.ErrValue, fmt.Sprintf("alpha is %v: it is in [0.01, 1000]", alpha)))
	}
	m := &MixUp{quantiles: make([]float64, quantileCount)}
	for i := range m.quantiles {
		u := (1 - math.Cos(math.Pi*float64(i)/(quantileCount-1))) / 2
		m.quantiles[i] = mathext.InvRegIncBeta(alpha, alpha, u)
	}
	return m
}

// Apply returns λ·x + (1 − λ)·x′ and λ·y + (1 − λ)·y′, where x′ is the picture before x in the batch,
// of the first the last, and y′ its label. The batch has one weight λ, which is random. Pictures are
// floats, and labels y [n, classes] are probabilities, such as labels.OneHot(classes): the loss that
// takes them is autograd.CrossEntropyOf. The results are of x's type.
//
// It panics with tensor.ErrShape unless y has a line for each picture.
func (m *MixUp) Apply(x, y *tensor.Tensor, rng *tensor.RNG) (pictures, labels *tensor.Tensor) {
	const op = "MixUp.Apply"
	if m == nil || m.quantiles == nil {
		panic(misuse(op, tensor.ErrValue, "the MixUp is its zero value: make one with NewMixUp"))
	}
	b := mustBeBatch(op, x)
	mustBeFloats(op, x)
	if y == nil || y.Rank() != 2 || y.Shape()[0] != b.n {
		var shape []int
		if y != nil {
			shape = y.Shape()
		}
		panic(misuse(op, tensor.ErrShape, "labels are [n, classes] for n pictures: see OneHot", x.Shape(), shape))
	}
	weight := m.weight(x, rng)
	defer weight.Free()
	mixed := func(t *tensor.Tensor) *tensor.Tensor {
		return freeing(x.Device(), func() *tensor.Tensor {
			t = t.To(x.Type())
			other := t.Roll(1, 0)
			return other.Add(t.Sub(other).Mul(weight))
		})
	}
	return mixed(x), mixed(y)
}

// weight draws λ, of shape [1].
func (m *MixUp) weight(x *tensor.Tensor, rng *tensor.RNG) *tensor.Tensor {
	d := x.Device()
	return freeing(d, func() *tensor.Tensor {
		at := rng.Uniform(d, 0, 1, 1).MulScalar(-2).AddScalar(1).Acos().MulScalar((quantileCount - 1) / math.Pi)
		below := at.Floor().To(tensor.Int64).Clamp(0, quantileCount-2)
		table := tensor.New(d, m.quantiles).To(d.DefaultType())
		low, high := table.IndexSelect(0, below), table.IndexSelect(0, below.AddScalar(1))
		return low.Add(high.Sub(low).Mul(at.Sub(below.To(at.Type())))).To(x.Type())
	})
}
