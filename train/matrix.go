package train

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ConfusionMatrix has a row for each label and in it a count for each prediction, as scikit-learn's
// confusion_matrix has. Its numbers are those of scikit-learn's functions of their names, with
// zero_division=0: a quotient by 0 is 0.
type ConfusionMatrix [][]int64

// Average says how the numbers of classes become one.
type Average uint8

// The averages, as scikit-learn and torchmetrics name them.
const (
	Macro    Average = iota // the mean over the classes that are a label or a prediction somewhere
	Micro                   // of the counts of all classes together: the accuracy
	Weighted                // the mean by how often each class is a label
)

// ClassScores are the numbers of one class.
type ClassScores struct {
	Precision float64 // of what was taken for the class, the share that is of it
	Recall    float64 // of what is of the class, the share that was taken for it
	F1        float64 // the harmonic mean of both
	Support   int64   // labels that are of the class
}

// tally is what the scores of a class are made of.
type tally struct{ right, labels, predictions int64 }

func (m ConfusionMatrix) tallies() []tally {
	list := make([]tally, len(m))
	for label, row := range m {
		for predicted, n := range row {
			list[label].labels += n
			list[predicted].predictions += n
		}
		list[label].right = row[label]
	}
	return list
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (t tally) precision() float64 { return ratio(t.right, t.predictions) }

func (t tally) recall() float64 { return ratio(t.right, t.labels) }

func (t tally) f1() float64 { return ratio(2*t.right, t.labels+t.predictions) }

// average returns the average of a score over the classes, 0 if nothing was counted.
func (m ConfusionMatrix) average(how Average, score func(tally) float64) float64 {
	var all tally
	sum, weights := 0.0, 0.0
	for _, t := range m.tallies() {
		all.right, all.labels, all.predictions = all.right+t.right, all.labels+t.labels, all.predictions+t.predictions
		weight := float64(t.labels)
		if how == Macro {
			weight = min(1, float64(t.labels+t.predictions)) // a class that is nowhere does not count
		}
		sum, weights = sum+weight*score(t), weights+weight
	}
	if how == Micro {
		return score(all)
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// Accuracy returns the share of labels whose prediction is right.
func (m ConfusionMatrix) Accuracy() float64 { return m.average(Micro, tally.recall) }

// Precision returns the average precision.
func (m ConfusionMatrix) Precision(how Average) float64 { return m.average(how, tally.precision) }

// Recall returns the average recall.
func (m ConfusionMatrix) Recall(how Average) float64 { return m.average(how, tally.recall) }

// F1 returns the average of the classes' F1: not that of the averages of precision and recall.
func (m ConfusionMatrix) F1(how Average) float64 { return m.average(how, tally.f1) }

// PerClass returns the scores of each class. Those of class 1 of two are scikit-learn's average="binary".
func (m ConfusionMatrix) PerClass() []ClassScores {
	list := make([]ClassScores, len(m))
	for i, t := range m.tallies() {
		list[i] = ClassScores{t.precision(), t.recall(), t.f1(), t.labels}
	}
	return list
}

// String returns the table of the classes by their numbers.
func (m ConfusionMatrix) String() string { return m.Table() }

// Table returns a line for each label and in it a column for each prediction, under a line with the names of
// the classes; those without a name have their number:
//
//	      cat  dog
//	cat    41    3
//	dog     5   51
func (m ConfusionMatrix) Table(names ...string) string {
	width := 0
	name := func(class int) string {
		if class < len(names) {
			return names[class]
		}
		return strconv.Itoa(class)
	}
	for label, row := range m {
		width = max(width, utf8.RuneCountInString(name(label)))
		for _, n := range row {
			width = max(width, len(strconv.FormatInt(n, 10)))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", width, "")
	for class := range m {
		fmt.Fprintf(&b, "  %*s", width, name(class))
	}
	for label, row := range m {
		fmt.Fprintf(&b, "\n%*s", width, name(label))
		for _, n := range row {
			fmt.Fprintf(&b, "  %*d", width, n)
		}
	}
	return b.String() + "\n"
}
