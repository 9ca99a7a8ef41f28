package train_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
)

// Labels and predictions: class 3 is nowhere, class 5 only predicted.
var (
	labels      = []int64{0, 1, 2, 2, 1, 0, 2, 4, 4, 0, 1}
	predictions = []int64{0, 2, 2, 1, 1, 0, 2, 4, 0, 5, 1}
)

// scoresOf returns scores whose greatest are those of predictions.
func scoresOf(d tensor.Device, predictions []int64, classes int) *tensor.Tensor {
	return tensor.New(d, predictions, len(predictions)).OneHot(classes).To(tensor.Float32).MulScalar(3).SubScalar(1)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// panics checks that f panics with a *tensor.Error of a kind, whose text has certain words.
func panics(t *testing.T, kind error, words string, f func()) {
	t.Helper()
	if err := tensor.Try(f); !errors.Is(err, kind) || !strings.Contains(fmt.Sprint(err), words) {
		t.Errorf("got %v, want a %v with %q", err, kind, words)
	}
}

// TestConfusion: counts and averages are those of scikit-learn 1.9, in batches of unequal size, an empty one
// among them, from scores and from predictions.
func TestConfusion(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, form := range []string{"scores", "predictions"} {
			c := train.NewConfusion(d, 6)
			for _, cut := range [][2]int{{0, 4}, {4, 4}, {4, 11}} {
				n := cut[1] - cut[0]
				predicted := tensor.New(d, predictions[cut[0]:cut[1]], n)
				if form == "scores" {
					predicted = scoresOf(d, predictions[cut[0]:cut[1]], 6)
				}
				c.Update(predicted, tensor.New(d, labels[cut[0]:cut[1]], n))
			}
			m, err := c.Matrix()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint([][]int64(m)), "[[2 0 0 0 0 1] [0 2 1 0 0 0] [0 1 2 0 0 0] [0 0 0 0 0 0] [1 0 0 0 1 0] [0 0 0 0 0 0]]"; got != want {
				t.Errorf("%s: %s, want %s", form, got, want)
			}
			near(t, "accuracy", m.Accuracy(), 7.0/11)
			for how, want := range map[train.Average][3]float64{
				train.Macro: {0.6, 0.5, 8.0 / 15}, train.Micro: {7.0 / 11, 7.0 / 11, 7.0 / 11}, train.Weighted: {8.0 / 11, 7.0 / 11, 2.0 / 3},
			} {
				near(t, fmt.Sprint("precision ", how), m.Precision(how), want[0])
				near(t, fmt.Sprint("recall ", how), m.Recall(how), want[1])
				near(t, fmt.Sprint("F1 ", how), m.F1(how), want[2])
			}
			third := 2.0 / 3
			if got, want := m.PerClass(), []train.ClassScores{{third, third, third, 3}, {third, third, third, 3}, {third, third, third, 3}, {}, {1, 0.5, third, 2}, {}}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("classes %v, want %v", got, want)
			}
			c.Reset()
			if _, err := c.Matrix(); !errors.Is(err, train.ErrEmpty) {
				t.Errorf("after Reset: %v", err)
			}
			c.Free()
		}
	})
}

// TestConfusionOfTwo: class 1 of two is scikit-learn's average="binary"; predictions are bools.
func TestConfusionOfTwo(t *testing.T) {
	d := devtest.CPU(t)
	c := train.NewConfusion(d, 2)
	scores := tensor.New(d, []float32{-1, 2, -3, -0.5, 1, 4, 2}, 7)
	c.Update(scores.GtScalar(0), tensor.New(d, []uint8{0, 1, 1, 0, 1, 1, 0}, 7))
	m, err := c.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.PerClass()[1]; got != (train.ClassScores{Precision: 0.75, Recall: 0.75, F1: 0.75, Support: 4}) {
		t.Errorf("%v", got)
	}
}

// TestAverageOfNothingRight: quotients by 0 are 0, as with zero_division=0.
func TestAverageOfNothingRight(t *testing.T) {
	m := train.ConfusionMatrix{{0, 2}, {0, 0}}
	for _, how := range []train.Average{train.Macro, train.Micro, train.Weighted} {
		for _, got := range []float64{m.Precision(how), m.Recall(how), m.F1(how), m.Accuracy()} {
			near(t, "score", got, 0)
		}
	}
	none := train.ConfusionMatrix{{0, 0}, {0, 0}}
	near(t, "F1 of nothing", none.F1(train.Macro)+none.F1(train.Micro)+none.F1(train.Weighted), 0)
}

// TestTable: columns stand below each other, whatever the names and counts.
func TestTable(t *testing.T) {
	m := train.ConfusionMatrix{{41, 3}, {12345, 0}}
	for got, want := range map[string]string{
		m.String():              "           0      1\n    0     41      3\n    1  12345      0\n",
		m.Table("Öl"):           "          Öl      1\n   Öl     41      3\n    1  12345      0\n",
		m.Table("cat", "otter"): "         cat  otter\n  cat     41      3\notter  12345      0\n",
	} {
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// TestPixels: scores [N, C, H, W] that are not contiguous, labels of Int32, and one label that does not count.
func TestPixels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.NewRNG(1).Normal(d, 0, 1, 2, 3, 4, 5).Transpose(0, 3, 1, 2) // [2, 5, 3, 4]
		want := x.Contiguous().ArgMax(1)
		labels := want.To(tensor.Int32).MaskedFill(x.Select(1, 0).GtScalar(0), 7) // 7 does not count
		ignore := 7
		a := train.NewAccuracy(d, train.AccuracyOptions{Ignore: &ignore})
		c := train.NewConfusion(d, 5, train.ConfusionOptions{Ignore: &ignore})
		a.Update(x, labels)
		c.Update(x, labels)
		share, err := a.Item()
		if err != nil || share != 1 {
			t.Errorf("accuracy %v, %v", share, err)
		}
		m, err := c.Matrix()
		if err != nil {
			t.Fatal(err)
		}
		counted, total := devtest.Float64s(t, labels.NeScalar(7).Sum())[0], int64(0)
		for _, s := range m.PerClass() {
			total += s.Support
		}
		if float64(total) != counted || counted == 24 || m.Accuracy() != 1 {
			t.Errorf("%d counted of %v, accuracy %v", total, counted, m.Accuracy())
		}
	})
}

// TestAccuracy: the numbers are those of scikit-learn's top_k_accuracy_score.
func TestAccuracy(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		scores := tensor.New(d, []float32{0.1, 0.5, 0.4, 0.3, 0.3, 0.4, 0.2, 0.2, 0.6, 0.7, 0.2, 0.1, 0.35, 0.45, 0.2}, 5, 3)
		labels := tensor.New(d, []int64{1, 0, 2, 2, 0}, 5)
		for k, want := range []float64{0.4, 0.4, 0.8, 1} {
			a := train.NewAccuracy(d, train.AccuracyOptions{TopK: k})
			if _, err := a.Item(); !errors.Is(err, train.ErrEmpty) {
				t.Errorf("of nothing: %v", err)
			}
			a.Update(scores.Slice(0, 0, 2), labels.Slice(0, 0, 2))
			a.Update(scores.Slice(0, 2, 2), labels.Slice(0, 2, 2))
			a.Update(scores.Slice(0, 2, 5), labels.Slice(0, 2, 5))
			got, err := a.Item()
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint("top ", k), got, want)
			a.Free()
		}
	})
}

// TestTies: of equal scores the first class is the greatest; a NaN is greater than all.
func TestTies(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		nan := float32(math.NaN())
		scores := tensor.New(d, []float32{1, 1, 1, 0, nan, 5, 0, 2, 2}, 3, 3)
		a := train.NewAccuracy(d, train.AccuracyOptions{TopK: 2})
		a.Update(scores, tensor.New(d, []int64{2, 1, 2}, 3))
		if got, err := a.Item(); err != nil || got != 2.0/3 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestWrongLabels: labels and predictions of no class are an error when the metric is read, and no memory
// beside the counts is written.
func TestWrongLabels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, bad := range []int64{-1, 3, math.MaxInt32, math.MinInt64, math.MaxInt64} {
			labels := tensor.New(d, []int64{0, bad, 1, -100}, 4)
			c, a := train.NewConfusion(d, 3), train.NewAccuracy(d)
			c.Update(scoresOf(d, []int64{0, 1, 1, 2}, 3), labels)
			a.Update(scoresOf(d, []int64{0, 1, 1, 2}, 3), labels)
			if _, err := c.Matrix(); !errors.Is(err, tensor.ErrIndex) || !strings.Contains(err.Error(), "1 times") {
				t.Errorf("label %d: %v", bad, err)
			}
			if _, err := a.Item(); !errors.Is(err, tensor.ErrIndex) || !strings.Contains(err.Error(), "1 labels") {
				t.Errorf("label %d: %v", bad, err)
			}
			c.Reset()
			c.Update(labels, scoresOf(d, []int64{0, 1, 1, 2}, 3).ArgMax(1))
			if _, err := c.Matrix(); !errors.Is(err, tensor.ErrIndex) {
				t.Errorf("prediction %d: %v", bad, err)
			}
		}
	})
}

// TestIgnoredAlone: an evaluation in which no label counts is empty.
func TestIgnoredAlone(t *testing.T) {
	d := devtest.CPU(t)
	a, c := train.NewAccuracy(d), train.NewConfusion(d, 2)
	for _, update := range []func(x, l *tensor.Tensor){a.Update, c.Update} {
		update(tensor.Zeros(d, 2, 2), tensor.New(d, []int64{-100, -100}, 2))
	}
	if _, err := a.Item(); !errors.Is(err, train.ErrEmpty) {
		t.Error(err)
	}
	if _, err := c.Matrix(); !errors.Is(err, train.ErrEmpty) {
		t.Error(err)
	}
}

// TestAUROC: the area is scikit-learn's roc_auc_score, ties included.
func TestAUROC(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		p := tensor.New(d, []float32{0.1, 0.4, 0.35, 0.8, 0.35, 0.9, 0, 1, 0.5}, 3, 3)
		labels := tensor.New(d, []uint8{0, 0, 1, 1, 0, 1, 0, 1, 1}, 3, 3)
		a := train.NewAUROC(d)
		for _, row := range [][2]int{{0, 1}, {1, 1}, {1, 3}} {
			a.Update(p.Slice(0, row[0], row[1]), labels.Slice(0, row[0], row[1]))
		}
		got, err := a.Item()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "area", got, 0.925)
		a.Reset()
		if _, err := a.Item(); !errors.Is(err, train.ErrEmpty) {
			t.Error(err)
		}
		a.Update(p, tensor.FullLike(labels, 1))
		if got, err = a.Item(); err != nil {
			t.Fatal(err)
		}
		near(t, "area of one class", got, math.NaN())
	})
}

// TestRecorded: metrics that a recorded step updates have the numbers of the eager evaluation, and the step
// reads nothing.
func TestRecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n, classes = 6, 5
		rng := tensor.NewRNG(3)
		w := rng.Normal(d, 0, 1, 4, classes)
		x, y := tensor.Zeros(d, n, 4), tensor.ZerosOf(d, tensor.Int64, n)
		type metrics struct {
			c       *train.Confusion
			a, top  *train.Accuracy
			r       *train.AUROC
			m, late *train.Mean
		}
		newMetrics := func() metrics {
			return metrics{train.NewConfusion(d, classes), train.NewAccuracy(d), train.NewAccuracy(d, train.AccuracyOptions{TopK: 2}),
				train.NewAUROC(d), train.NewMean(d), train.NewMean(d, train.MeanOptions{Decay: 0.5})}
		}
		update := func(m metrics) {
			scores := x.MatMul(w)
			m.c.Update(scores, y)
			m.a.Update(scores, y)
			m.top.Update(scores, y)
			m.r.Update(scores.Select(1, 0).Sigmoid(), y.LtScalar(2))
			m.m.Update(scores.Square(), n)
			m.late.Update(scores, 1)
		}
		read := func(m metrics) string {
			matrix, err := m.c.Matrix()
			if err != nil {
				t.Fatal(err)
			}
			text := matrix.String()
			for _, s := range []train.Scalar{m.a, m.top, m.r, m.m, m.late} {
				v, err := s.Item()
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintf("%.6f ", v)
			}
			return text
		}
		eager, recorded := newMetrics(), newMetrics()
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { update(recorded); return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		recorded.c.Reset()
		recorded.a.Reset()
		recorded.top.Reset()
		recorded.r.Reset()
		recorded.m.Reset()
		recorded.late.Reset()
		for i := range 4 {
			x.SetInPlace(rng.Normal(d, float64(i), 1, n, 4))
			y.SetInPlace(rng.Ints(d, classes, n).To(tensor.Int64))
			update(eager)
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := read(recorded), read(eager); got != want {
			t.Errorf("recorded:\n%s\neager:\n%s", got, want)
		}
		y.FillInPlace(classes) // of no class: found when it is read
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := recorded.c.Matrix(); !errors.Is(err, tensor.ErrIndex) {
			t.Error(err)
		}
	})
}

// TestMean: means by weight, moving ones, and those of nothing.
func TestMean(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		list := func(v ...float32) *tensor.Tensor { return tensor.New(d, v, len(v)) }
		mean, moving := train.NewMean(d), train.NewMean(d, train.MeanOptions{Decay: 0.5})
		if _, err := mean.Item(); !errors.Is(err, train.ErrEmpty) {
			t.Error(err)
		}
		for _, x := range [][]float32{{1, 3}, {}, {5}} {
			mean.Update(list(x...), float64(len(x)))
			moving.Update(list(x...), 1)
		}
		for what, c := range map[string]struct {
			m    *train.Mean
			want float64
		}{"mean": {mean, 3}, "moving": {moving, 6.0 / 1.5}} {
			got, err := c.m.Item()
			if err != nil {
				t.Fatal(err)
			}
			near(t, what, got, c.want)
		}
		mean.Update(tensor.Scalar(d, math.NaN()), 1)
		got, err := mean.Item()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "with a NaN", got, math.NaN())
		mean.Reset()
		mean.Update(tensor.New(d, []int32{7}), 0.5)
		if got, err := mean.Item(); err != nil || got != 7 {
			t.Errorf("after Reset %v, %v", got, err)
		}
	})
}

// TestMeanOfMany: a million losses are not added in float32.
func TestMeanOfMany(t *testing.T) {
	d := devtest.CPU(t)
	mean, x := train.NewMean(d), tensor.Scalar(d, 1)
	mean.Update(x, 1<<25)
	for range 100 {
		mean.Update(x.MulScalar(0), 1)
	}
	got, err := mean.Item()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", got, (1<<25)/(1<<25+100.0))
}

// TestMisuse: what cannot be counted is named, with what can.
func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, l := tensor.Zeros(d, 4, 3), tensor.ZerosOf(d, tensor.Int64, 4)
	panics(t, tensor.ErrShape, "[4 3] [3]", func() { train.NewAccuracy(d).Update(x, l.Slice(0, 0, 3)) })
	panics(t, tensor.ErrShape, "[4]", func() { train.NewAccuracy(d).Update(tensor.Zeros(d, 4), l) })
	panics(t, tensor.ErrType, "integers", func() { train.NewAccuracy(d).Update(x, tensor.Zeros(d, 4)) })
	panics(t, tensor.ErrValue, "TopK", func() { train.NewAccuracy(d, train.AccuracyOptions{TopK: 4}).Update(x, l) })
	panics(t, tensor.ErrValue, "TopK", func() { train.NewAccuracy(d, train.AccuracyOptions{TopK: -1}) })
	panics(t, tensor.ErrShape, "3 classes, the matrix of 4", func() { train.NewConfusion(d, 4).Update(x, l) })
	panics(t, tensor.ErrValue, "0 classes", func() { train.NewConfusion(d, 0) })
	panics(t, tensor.ErrShape, "label for each", func() { train.NewAUROC(d).Update(x, l) })
	panics(t, tensor.ErrType, "floats", func() { train.NewAUROC(d).Update(l, l) })
	panics(t, tensor.ErrValue, "Bins", func() { train.NewAUROC(d, train.AUROCOptions{Bins: 1}) })
	panics(t, tensor.ErrValue, "Decay", func() { train.NewMean(d, train.MeanOptions{Decay: 1}) })
	panics(t, tensor.ErrValue, "weight", func() { train.NewMean(d).Update(x, math.NaN()) })
	for _, p := range []float32{-0.1, 1.1, float32(math.NaN()), float32(math.Inf(1))} {
		a := train.NewAUROC(d)
		a.Update(tensor.New(d, []float32{0.5, p}, 2), l.Slice(0, 0, 2))
		if _, err := a.Item(); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("probability %v: %v", p, err)
		}
	}
}
