package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

// TestIndicesChanged: indices that changed between the operation and Backward are found, wherever a
// gradient reads them.
func TestIndicesChanged(t *testing.T) {
	d := devtest.CPU(t)
	src := autograd.Const(tensor.Full(d, 2, 2, 3))
	for name, f := range map[string]func(x *node, i, line *tensor.Tensor) *node{
		"Gather":        func(x *node, i, _ *tensor.Tensor) *node { return x.Gather(0, i) },
		"Scatter":       func(x *node, i, _ *tensor.Tensor) *node { return x.Scatter(0, i, src) },
		"ScatterAdd":    func(x *node, i, _ *tensor.Tensor) *node { return x.ScatterAdd(0, i, src) },
		"ScatterReduce": func(x *node, i, _ *tensor.Tensor) *node { return x.ScatterReduce(0, i, src, tensor.ScatterMean) },
		"IndexSelect":   func(x *node, _, line *tensor.Tensor) *node { return x.IndexSelect(0, line) },
		"IndexAdd":      func(x *node, _, line *tensor.Tensor) *node { return x.IndexAdd(0, line, src) },
		"IndexCopy":     func(x *node, _, line *tensor.Tensor) *node { return x.IndexCopy(0, line, src) },
		"IndexFill":     func(x *node, _, line *tensor.Tensor) *node { return x.IndexFill(0, line, 1) },
		"Index":         func(x *node, _, line *tensor.Tensor) *node { return x.Index(nil, line) },
		"IndexPut":      func(x *node, _, line *tensor.Tensor) *node { return x.IndexPut([]*tensor.Tensor{line}, src) },
		"Embedding":     func(x *node, i, _ *tensor.Tensor) *node { return x.Embedding(i) },
	} {
		for _, change := range []bool{false, true} {
			x := autograd.Param(tensor.Full(d, 1, 4, 3), "x")
			i, line := devtest.New(d, []int32{0, 1, 2, 3, 1, 0}, 2, 3), devtest.New(d, []int32{0, 2})
			y := f(x, i, line).Sum()
			if change {
				tensor.Upload(i, []int32{0, 0, 0, 0, 0, 0})
				tensor.Upload(line, []int32{1, 1})
			}
			if err := y.Backward(); !change && err != nil {
				t.Errorf("%s: %v", name, err)
			} else if change {
				fails(t, err, autograd.ErrChanged, name)
			}
		}
	}
}

// TestManyParts: parts of one value add to one gradient, whichever of them are used and however
// they overlap, with a parameter's gradient from before.
func TestManyParts(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, flat := range []bool{false, true} {
			p := autograd.Param(devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "p")
			if flat {
				flatparams.New([]*node{p})
			}
			for k := range 2 {
				columns := p.Unbind(1)
				loss := columns[2].Sum().Add(columns[0].MulScalar(2).Sum()).Add(p.Diagonal(0, 0, 1).Sum())
				for _, part := range p.Split(1, 2) {
					loss = loss.Add(part.Square().Sum())
				}
				if err := loss.Backward(); err != nil {
					t.Fatal(err)
				}
				v := []float64{2 + 2 + 1, 4, 6 + 1, 8 + 2, 10 + 1, 12 + 1}
				for i := range v {
					v[i] *= float64(k + 1)
				}
				want(t, "gradient", p.Grad(), v...)
			}
		}
	})
}
