package autograd_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// composedCases are those of operations that are made of others, whose gradients are these'.
func composedCases(d tensor.Device) []gradCase {
	ints := func(data []int64, shape ...int) *tensor.Tensor { return devtest.New(d, data, shape...) }
	grid := func(o autograd.GridOptions) func(in []*node) *node {
		return func(in []*node) *node { return autograd.GridSample(in[0], in[1], o) }
	}
	return []gradCase{
		{"PixelShuffle", [][]int{{2, 4, 1, 3}}, -2, 2, func(in []*node) *node { return in[0].Square().PixelShuffle(2) }},
		{"PixelUnshuffle", [][]int{{3, 2, 4}}, -2, 2, func(in []*node) *node { return in[0].Exp().PixelUnshuffle(2) }},
		{"Diff", [][]int{{2, 5}}, -2, 2, func(in []*node) *node { return in[0].Square().Diff(2, -1) }},
		{"GLU", [][]int{{4, 3}}, -2, 2, func(in []*node) *node { return in[0].GLU(0) }},
		{"Normalize", [][]int{{3, 4}}, 0.5, 2, func(in []*node) *node { return in[0].Normalize(3, 1, 1e-12) }},
		{"Diag", [][]int{{4}}, -2, 2, func(in []*node) *node { return in[0].Square().Diag(-2) }},
		{"Trace", [][]int{{4, 3}}, -2, 2, func(in []*node) *node { return in[0].Square().Trace() }},
		{"Kron", [][]int{{2, 3}, {2}}, -2, 2, func(in []*node) *node { return in[0].Kron(in[1]) }},
		{"Cdist", [][]int{{3, 4}, {2, 4}}, -2, 2, func(in []*node) *node { return in[0].Cdist(in[1], 2) }},
		{"Quantile", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { return in[0].Square().Quantile(0.3, 1) }},
		{"Kthvalue", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { y, _ := in[0].Square().Kthvalue(2, -1); return y }},
		{"Mode", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { y, _ := in[0].Square().Mode(1); return y }},
		{"Step", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { return in[0].Square().Step(1, -2) }},
		{"Interpolate", [][]int{{2, 4, 3}}, -2, 2, func(in []*node) *node {
			return in[0].Square().Interpolate([]int{5, 2}, tensor.InterpolateOptions{Cubic: true})
		}},
		{"Bilinear", [][]int{{2, 3}, {2, 4}, {2, 3, 4}, {2}}, -2, 2, func(in []*node) *node { return autograd.Bilinear(in[0], in[1], in[2], in[3]) }},
		{"Fold", [][]int{{1, 8, 6}}, -2, 2, func(in []*node) *node { return autograd.Fold(in[0].Square(), []int{3, 4}, []int{2, 2}) }},
		{"MaxUnpool", [][]int{{1, 2, 2}}, -2, 2, func(in []*node) *node {
			return autograd.MaxUnpool(in[0].Square(), ints([]int64{0, 3, 1, 2}, 1, 2, 2), []int{4})
		}},
		{"GridSample", [][]int{{1, 2, 3, 4}, {1, 2, 2, 2}}, -0.9, 0.9, grid(autograd.GridOptions{Mode: autograd.GridCubic, Padding: autograd.GridReflection})},
		{"GridSample", [][]int{{1, 2, 3, 4}, {1, 2, 2, 2}}, -0.9, 0.9, grid(autograd.GridOptions{AlignCorners: true})},
		{"AffineGrid", [][]int{{2, 2, 3}}, -2, 2, func(in []*node) *node { return autograd.AffineGrid(in[0].Square(), []int{2, 3}, false) }},
		{"EmbeddingBag", [][]int{{4, 3}, {5}}, -2, 2, func(in []*node) *node {
			return autograd.EmbeddingBag(in[0], ints([]int64{3, 0, 0, 1, 3}, 5), autograd.BagOptions{Mode: autograd.BagSum, Offsets: ints([]int64{0, 2, 2}, 3), Weights: in[1]})
		}},
		{"CrossEntropyOf", [][]int{{3, 4}, {3, 4}}, -1, 1, func(in []*node) *node {
			return autograd.CrossEntropyOf(in[0], in[1], autograd.LabelOptions{Smoothing: 0.1})
		}},
		{"MultiMargin", [][]int{{3, 4}}, -1, 1, func(in []*node) *node {
			return autograd.MultiMargin(in[0], ints([]int64{0, 3, 1}, 3), autograd.MultiMarginOptions{Squared: true, Margin: 3})
		}},
		{"CosineEmbedding", [][]int{{3, 4}, {3, 4}}, 0.5, 2, func(in []*node) *node {
			return autograd.CosineEmbedding(in[0], in[1], autograd.Const(devtest.New(d, []float64{1, -1, 1})), 0.1)
		}},
		{"GaussianNLL", [][]int{{3, 4}, {3, 4}, {3, 1}}, 0.5, 2, func(in []*node) *node { return autograd.GaussianNLL(in[0], in[1], in[2]) }},
		{"CTC", [][]int{{5, 2, 3}}, -2, 2, func(in []*node) *node {
			return autograd.CTC(in[0].LogSoftmax(2), ints([]int64{1, 1, 2, 0}, 2, 2), []int{5, 3}, []int{2, 1})
		}},
	}
}

// TestComposedGradients: first and second gradients of operations made of others are central differences.
func TestComposedGradients(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
	for _, c := range composedCases(d) {
		t.Run(fmt.Sprint(c.op, c.shapes), func(t *testing.T) {
			c.op = ""
			checkGradients(t, d, c)
			checkSecond(t, d, c)
		})
	}
}

// TestGridSampleAtElements: at coordinates of elements, too, a constant has no gradients, and a line its slope.
func TestGridSampleAtElements(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
	gradients := func(mode autograd.GridMode, slope float64) (first, second float64) {
		x := make([]float64, 9)
		for i := range x {
			x[i] = 5 + slope*float64(i)
		}
		grid := autograd.Param(devtest.New(d, []float64{0}, 1, 1, 1), "grid")
		y := autograd.GridSample(autograd.Const(devtest.New(d, x, 1, 1, 9)), grid, autograd.GridOptions{Mode: mode})
		for _, to := range []*float64{&first, &second} {
			g, err := autograd.Grad(y, []*node{grid}, autograd.GradOptions{CreateGraph: true, AllowUnused: true})
			if err != nil {
				t.Fatal(err)
			}
			if y = g[0]; y == nil {
				break
			}
			*to = devtest.Float64s(t, y.Value())[0]
			if !y.NeedsGrad() {
				break
			}
		}
		return first, second
	}
	for _, c := range []struct {
		mode  autograd.GridMode
		slope float64
	}{{autograd.GridLinear, 0}, {autograd.GridLinear, 2}, {autograd.GridCubic, 0}} {
		if first, second := gradients(c.mode, c.slope); first != c.slope*9/2 || second != 0 {
			t.Errorf("mode %d: slope %v has gradients %v and %v", c.mode, c.slope, first, second)
		}
	}
}

// TestComposedMisuse: bad operands are told by the name of the operation.
func TestComposedMisuse(t *testing.T) {
	d := devtest.CPU(t)
	of := func(shape ...int) *node { return autograd.Const(tensor.Full(d, 0.5, shape...)) }
	ints := func(data ...int64) *tensor.Tensor { return tensor.New(d, data) }
	for i, c := range []struct {
		kind error
		op   string
		f    func()
	}{
		{tensor.ErrShape, "PixelShuffle", func() { of(2, 3).PixelShuffle(2) }}, {tensor.ErrAxis, "Normalize", func() { of(2, 3).Normalize(2, 2, 1) }},
		{tensor.ErrValue, "Quantile", func() { of(2, 3).Quantile(2, 0) }}, {tensor.ErrValue, "Kthvalue", func() { of(2, 3).Kthvalue(9, 0) }},
		{tensor.ErrValue, "Step", func() { of(2, 3).Step(0, math.MinInt) }}, {tensor.ErrShape, "Bilinear", func() { autograd.Bilinear(of(2, 3), of(2, 3), of(2, 3, 4), nil) }},
		{tensor.ErrValue, "Interpolate", func() { of(2, 3).Interpolate([]int{2}, tensor.InterpolateOptions{Cubic: true, Area: true}) }},
		{tensor.ErrShape, "Fold", func() { autograd.Fold(of(1, 8, 5), []int{3, 4}, []int{2, 2}) }}, {tensor.ErrShape, "Fold", func() { autograd.Fold(of(1, 9, 6), []int{3, 4}, []int{2, 2}) }},
		{tensor.ErrShape, "Fold", func() { autograd.Fold(of(1, 8, 6), []int{1, 1}, []int{2, 2}) }}, {tensor.ErrValue, "Fold", func() { autograd.Fold(of(1, 8, 6), []int{3, 4}, []int{2, 2}, tensor.ConvOptions{Groups: 2}) }},
		{tensor.ErrShape, "MaxUnpool", func() { autograd.MaxUnpool(of(1, 2), ints(1), []int{4}) }}, {tensor.ErrIndex, "MaxUnpool", func() { autograd.MaxUnpool(of(2), ints(0, 9), []int{4}) }},
		{tensor.ErrShape, "GridSample", func() { autograd.GridSample(of(1, 2, 3), of(1, 2, 2)) }}, {tensor.ErrValue, "GridSample", func() { autograd.GridSample(of(1, 2, 3), of(1, 2, 1), autograd.GridOptions{Mode: 3}) }},
		{tensor.ErrShape, "AffineGrid", func() { autograd.AffineGrid(of(1, 2, 2), []int{2, 3}, true) }}, {tensor.ErrShape, "EmbeddingBag", func() { autograd.EmbeddingBag(of(3, 2), ints(0, 1)) }},
		{tensor.ErrIndex, "EmbeddingBag", func() { autograd.EmbeddingBag(of(3, 2), ints(0, 3), autograd.BagOptions{Offsets: ints(0)}) }},
		{tensor.ErrValue, "EmbeddingBag", func() {
			autograd.EmbeddingBag(of(3, 2), ints(0, 1), autograd.BagOptions{Offsets: ints(0), Weights: of(2)})
		}},
		{tensor.ErrShape, "CrossEntropyOf", func() { autograd.CrossEntropyOf(of(2, 3), of(2, 1)) }},
		{tensor.ErrValue, "CrossEntropyOf", func() { autograd.CrossEntropyOf(of(2, 3), of(2, 3), autograd.LabelOptions{Smoothing: 2}) }},
		{tensor.ErrShape, "MultiMargin", func() { autograd.MultiMargin(of(2, 3), ints(0)) }}, {tensor.ErrIndex, "MultiMargin", func() { autograd.MultiMargin(of(1, 3), ints(3)) }},
		{tensor.ErrShape, "CosineEmbedding", func() { autograd.CosineEmbedding(of(2, 3), of(2, 3), of(3), 0) }}, {tensor.ErrShape, "GaussianNLL", func() { autograd.GaussianNLL(of(2, 3), of(2, 3), of(4, 2, 3)) }},
		{tensor.ErrShape, "CTC", func() { autograd.CTC(of(4, 2, 3), ints(1).Reshape(1, 1), []int{4, 4}, []int{1, 1}) }},
		{tensor.ErrValue, "CTC", func() { autograd.CTC(of(4, 1, 3), ints(1).Reshape(1, 1), []int{5}, []int{1}) }},
		{tensor.ErrIndex, "CTC", func() { autograd.CTC(of(4, 1, 3), ints(3).Reshape(1, 1), []int{4}, []int{1}) }},
	} {
		err := tensor.Try(c.f)
		var e *tensor.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Op != c.op {
			t.Errorf("%d: %v, want %v of %s", i, err, c.kind, c.op)
		}
	}
}
