package autograd_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestCrossEntropyOfViews: non-contiguous scores, and of halves, have the loss of their copies, on
// every device.
func TestCrossEntropyOfViews(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.NewRNG(1).Uniform(d, -2, 2, 6, 5, 4).Step(0, 2).Transpose(0, 2, 1) // [3, 4, 5]
		labels := tensor.NewRNG(2).Ints(d, 4, 3, 10).Step(1, 2)
		for name, same := range map[string][2]*tensor.Tensor{"gaps": {x, x.Copy()}, "halves": {x.To(tensor.Float16), x.To(tensor.Float16).To(d.DefaultType())}} {
			var got [2][]float64
			for i, v := range same {
				loss := autograd.CrossEntropy(autograd.Const(v), labels, autograd.LabelOptions{Smoothing: 0.1, Reduction: autograd.EveryLoss})
				var err error
				if got[i], err = loss.Value().Float64s(); err != nil {
					t.Fatal(err)
				}
			}
			for i := range got[0] {
				if eps, _ := same[0].Type().Epsilon(); math.Abs(got[0][i]-got[1][i]) > max(1e-5, eps*got[1][i]) {
					t.Errorf("%s: loss %d is %v, want %v", name, i, got[0][i], got[1][i])
				}
			}
		}
	})
}

// TestCrossEntropyMisuse: what has no loss is named, and a label outside is, whoever made it.
func TestCrossEntropyMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(tensor.Zeros(d, 2, 3), "x")
	labels := func(v ...int32) *tensor.Tensor { return devtest.New(d, v) }
	how := func(l autograd.LabelOptions) func() {
		return func() { autograd.CrossEntropy(x, labels(0, 1), l) }
	}
	for _, c := range []struct {
		f    func()
		kind error
		says []string
	}{
		{func() { autograd.CrossEntropy(x, labels(0, 3)) }, tensor.ErrIndex,
			[]string{"CrossEntropy", "labels are 0 to 2, or -100, which is ignored; these reach from 0 to 3"}},
		{func() { autograd.NLL(x, labels(-1, 1)) }, tensor.ErrIndex, []string{"NLL", "from -1 to 1"}},
		{func() { autograd.CrossEntropy(x, labels(1, 7).MulScalar(2).To(tensor.Int32)) }, tensor.ErrIndex, []string{"from 2 to 14"}},
		{func() { autograd.CrossEntropy(x, labels(0)) }, tensor.ErrShape, []string{"[2 3] [1]"}},
		{func() { autograd.CrossEntropy(x, labels(0, 1).To(d.DefaultType())) }, tensor.ErrType,
			[]string{"labels are of type int64 or int32"}},
		{func() { autograd.CrossEntropy(x.Sum(), labels(0)) }, tensor.ErrShape, []string{"[]"}},
		{how(autograd.LabelOptions{Smoothing: 1.5}), tensor.ErrValue, []string{"1.5"}},
		{how(autograd.LabelOptions{Smoothing: math.NaN()}), tensor.ErrValue, []string{"NaN"}},
		{how(autograd.LabelOptions{Weights: tensor.Zeros(d, 2)}), tensor.ErrShape, []string{"a weight for each class"}},
		{func() {
			single := autograd.Const(tensor.ZerosOf(d, tensor.Float32, x.Shape()...))
			autograd.CrossEntropy(single, labels(0, 1), autograd.LabelOptions{Weights: tensor.ZerosOf(d, tensor.Float64, x.Shape()[1])})
		}, tensor.ErrType, []string{"it computes in float32, and an operand is of float64"}},
		{how(autograd.LabelOptions{Reduction: 9}), tensor.ErrValue, []string{"9 is no reduction"}},
		{func() { autograd.CrossEntropy(x, labels(0, 1), autograd.LabelOptions{}, autograd.LabelOptions{}) }, tensor.ErrValue, []string{"one set of options"}},
		{func() { autograd.CrossEntropy(autograd.Const(tensor.Zeros(d, 2, 0)), labels(-100, -100)) }, tensor.ErrShape, []string{"no classes"}},
		{func() { autograd.MSE(x, x.T()) }, tensor.ErrShape, []string{"MSE", "[2 3] [3 2]"}},
		{func() { autograd.Huber(x, x, 0) }, tensor.ErrValue, []string{"delta is 0"}},
		{func() { autograd.SmoothL1(x, x, -1) }, tensor.ErrValue, []string{"beta is -1"}},
		{func() { autograd.TripletMargin(x, x, x, autograd.MarginOptions{Margin: -1}) }, tensor.ErrValue, []string{"margin is -1"}},
		{func() { autograd.SmoothL1(x, x.T(), 0) }, tensor.ErrShape, []string{"SmoothL1", "[2 3] [3 2]"}},
		{func() { autograd.SmoothL1(x, x, math.NaN()) }, tensor.ErrValue, []string{"SmoothL1", "beta is NaN: it is 0 or above"}},
		{func() { autograd.TripletMargin(nil, x, x) }, tensor.ErrValue, []string{"TripletMargin"}},
		{func() { autograd.TripletMargin(x, x, nil) }, tensor.ErrValue, []string{"TripletMargin"}},
		{func() { autograd.TripletMargin(x, x.T(), x) }, tensor.ErrShape, []string{"TripletMargin", "[2 3] [3 2]"}},
		{func() { autograd.TripletMargin(x.Sum(), x.Sum(), x.Sum()) }, tensor.ErrAxis, []string{"TripletMargin", "last axis"}},
		{func() { autograd.CosineSimilarity(x, x.T(), 0, 1e-8) }, tensor.ErrShape, []string{"do not broadcast"}},
		{func() {
			autograd.BCEWithLogits(x, x, autograd.BinaryOptions{Weights: autograd.Const(tensor.Zeros(d, 4, 2, 3))})
		}, tensor.ErrShape, []string{"weights broadcast"}},
	} {
		fails(t, tensor.Try(c.f), c.kind, c.says...)
	}
	if large := math.MaxInt; large > math.MaxInt32 { // an int has 64 bits
		fails(t, tensor.Try(how(autograd.LabelOptions{Ignore: new(large)})), tensor.ErrValue, "int32")
	}
	ignored := autograd.CrossEntropy(x, labels(2, 7), autograd.LabelOptions{Ignore: new(7)})
	if v, err := ignored.Item(); err != nil || math.Abs(v-math.Log(3)) > 1e-12 {
		t.Errorf("with a label that is ignored: %v (err %v)", v, err)
	}
}

// TestCrossEntropyIgnores: what is ignored has no gradient of any order, where its scores are NaN
// and where no label counts, too.
func TestCrossEntropyIgnores(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		nan := math.NaN()
		for name, loss := range map[string]func(x *node, labels *tensor.Tensor) *node{
			"CrossEntropy": func(x *node, labels *tensor.Tensor) *node { return autograd.CrossEntropy(x, labels) },
			"NLL":          func(x *node, labels *tensor.Tensor) *node { return autograd.NLL(x, labels) },
			"every loss": func(x *node, labels *tensor.Tensor) *node {
				return autograd.CrossEntropy(x, labels, autograd.LabelOptions{Reduction: autograd.EveryLoss}).Mul(autograd.Const(devtest.New(d, []float64{1, math.Inf(1)})))
			},
		} {
			for _, labels := range [][]int32{{-100, -100}, {1, -100}} {
				x := autograd.Param(devtest.New(d, []float64{1, 2, nan, 4}, 2, 2), "x")
				seed := autograd.GradOptions{}
				y := loss(x, devtest.New(d, labels))
				seed.Seed = autograd.Const(tensor.Full(d, 1, y.Shape()...))
				plain := grad(t, y, []*node{x}, seed)[0]
				seed.CreateGraph = true
				y = loss(x, devtest.New(d, labels))
				first := grad(t, y, []*node{x}, seed)[0]
				gradients := [][]float64{values(t, plain.Value()), values(t, first.Value())}
				if name != "NLL" { // which is linear
					gradients = append(gradients, values(t, grad(t, first.Square().Sum(), []*node{x})[0].Value()))
				}
				for order, g := range gradients {
					for i, v := range g {
						if counts := i < 2 && labels[0] >= 0; math.IsNaN(v) || !counts && v != 0 {
							t.Errorf("%s, labels %v: gradient %d of score %d is %v", name, labels, order, i, v)
						}
					}
				}
			}
		}
	})
}

// TestCrossEntropyChanged: labels and weights that change between a gradient and that of it, which reads them again.
func TestCrossEntropyChanged(t *testing.T) {
	d := devtest.CPU(t)
	losses := []func(*node, *tensor.Tensor, ...autograd.LabelOptions) *node{autograd.CrossEntropy, autograd.NLL}
	for i, loss := range losses {
		for change := range 3 {
			x, s := param(d, 1, 2, 4), param(d, 3)
			labels, weights := devtest.New(d, []int32{1}), devtest.New(d, []float64{1, 2, 3})
			y := loss(x.Reshape(1, 3), labels, autograd.LabelOptions{Weights: weights, Reduction: autograd.SumLoss})
			slope := grad(t, y.Mul(s.Sum()), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
			switch change {
			case 1:
				labels.SetInPlace(devtest.New(d, []int32{2}))
			case 2:
				weights.FillInPlace(5)
			}
			_, err := autograd.Grad(slope.Square().Sum(), []*node{s})
			if errors.Is(err, autograd.ErrChanged) != (change > 0) {
				t.Errorf("loss %d, change %d: %v", i, change, err)
			}
		}
	}
}

// TestCrossEntropyMemory: a step of training leaves nothing behind.
func TestCrossEntropyMemory(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	x, labels := autograd.Param(tensor.Zeros(d, 4, 3), "x"), devtest.New(d, []int32{0, 1, 2, -100})
	var live int64
	for step := range 6 {
		for _, r := range []autograd.Reduction{autograd.MeanLoss, autograd.SumLoss, autograd.EveryLoss} {
			loss := autograd.CrossEntropy(x, labels, autograd.LabelOptions{Smoothing: 0.1, Reduction: r}).Sum()
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			x.ZeroGrad()
			loss.Value().Free() // Backward leaves it to the caller
		}
		if now := int64(d.Stats().LiveBytes); step == 2 {
			live = now
		} else if step > 2 && now != live {
			t.Errorf("step %d: %d bytes live, %d before", step, now, live)
		}
	}
}

// TestLabelTypes: labels of Int64 give the bits that those of Int32 do, and one whose low bits are those of
// a class is no class.
func TestLabelTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.NewRNG(1).Normal(d, 0, 1, 4, 3)
		long := tensor.New(d, []int{2, 0, -100, 1})
		var want []float64
		for _, labels := range []*tensor.Tensor{long.To(tensor.Int32), long} {
			n := autograd.Param(x.Copy(), "x")
			loss := autograd.CrossEntropy(n, labels)
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			got := append(devtest.Float64s(t, loss.Value()), devtest.Float64s(t, n.Grad())...)
			if want != nil && !slices.Equal(got, want) {
				t.Errorf("labels of int64: %v, of int32 %v", got, want)
			}
			want = got
		}
		beyond := tensor.New(d, []int64{0, 1, 1 << 32, 2})
		if err := tensor.Try(func() { autograd.CrossEntropy(autograd.Const(x), beyond) }); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("a label of 2³²: %v", err)
		}
	})
}

// TestOneHotLabels: labels of the shape of the scores are told which function takes them.
func TestOneHotLabels(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Const(tensor.Zeros(d, 2, 3))
	err := tensor.Try(func() { autograd.CrossEntropy(x, tensor.Zeros(d, 2, 3)) })
	fails(t, err, tensor.ErrShape, "CrossEntropyOf takes a probability of each class")
	fails(t, tensor.Try(func() { autograd.CrossEntropy(x, tensor.New(d, []int{1})) }), tensor.ErrShape, "the labels have the shape of the scores without axis 1")
}
