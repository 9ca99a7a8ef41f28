package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (api) CrossEntropy(op string, x, labels, weights *Tensor, logits bool, ignore int32, smoothing float64, every bool) (losses, counted, kept *Tensor) {
	d, outer, n, inner := classShape(op, x, labels, weights)
	if !(smoothing >= 0 && smoothing <= 1) {
		misuse(op, ErrValue, fmt.Sprintf("the label smoothing is %v: it is from 0 to 1", smoothing), x)
	}
	checkLabels(op, n, ignore, labels)
	typ := floats(x)
	kept = alloc(op, d, typ, append([]int{5}, labels.shape...))
	losses = kept.Select(0, 0)
	if of := floatsOf(x); every && of.Half() {
		losses.Free()
		losses = alloc(op, d, of, labels.shape)
	}
	if labels.Len() > 0 {
		if n == 0 {
			misuse(op, ErrShape, "there are no classes", x, labels)
		}
		cx, ct := x.stored(typ), labels.indices()
		defer cx.release()
		defer ct.release()
		l := newEntropyLaunch(cx.Tensor, ct.arg(), weights, typ, logits, smoothing)
		l.args = append(l.args, losses.arg())
		for i := 1; i < 5; i++ {
			l.args = append(l.args, kept.BufferArg(i*labels.Len(), labels.Len()))
		}
		l.launch(ops.CrossEntropies[l.form], d, outer, n, inner, ignore, smoothing)
	}
	return losses, kept.Select(0, 1), kept
}

func (api) CrossEntropyGrad(op string, x, labels, weights, kept, g *Tensor, logits bool, ignore int32, smoothing float64) *Tensor {
	d, outer, n, inner := classShape(op, x, labels, weights)
	check(op, x, kept, g)
	out := alloc(op, d, x.rowType(kept.typ), x.shape)
	if out.Len() == 0 {
		return out
	}
	cx, ct := x.stored(kept.typ), labels.indices()
	defer cx.release()
	defer ct.release()
	cg := g.stored(kept.typ)
	defer cg.release()
	l := newEntropyLaunch(cx.Tensor, ct.arg(), weights, kept.typ, logits, smoothing)
	if !logits { // it does not read the scores
		l.args = append(l.args[:0], l.args[1:]...)
	}
	if lines := labels.Len(); logits {
		for i := range 3 {
			l.args = append(l.args, kept.BufferArg((2+i)*lines, lines))
		}
	}
	if g.Len() > 1 || labels.Len() == 1 {
		l.form |= ops.EntropyEach
	}
	l.args = append(l.args, cg.arg(), out.arg())
	l.launch(ops.CrossEntropyGrads[l.form], d, outer, n, inner, ignore, smoothing)
	return out
}

// entropyLaunch is a launch of a cross-entropy or its gradient while its arguments are put together.
type entropyLaunch struct {
	form    int
	list    *argList
	args    []kernels.Arg
	weights contiguousOperand
}

func newEntropyLaunch(x *Tensor, labels kernels.Arg, weights *Tensor, typ Type, logits bool, smoothing float64) (l entropyLaunch) {
	l.list = x.Device().core().list()
	l.args = append(l.list.args, x.arg(), labels)
	if logits {
		l.form |= ops.EntropyLogits
	}
	if smoothing != 0 {
		l.form |= ops.EntropySmoothing
	}
	if weights != nil {
		l.form |= ops.EntropyWeights
		l.weights = weights.stored(typ)
		l.args = append(l.args, l.weights.arg())
	}
	return l
}

func (l *entropyLaunch) launch(k *ops.RowKernel, d Device, outer, n, inner int, ignore int32, smoothing float64) {
	l.args = append(l.args, kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner), kernels.IntArg(int(ignore)))
	if smoothing != 0 {
		l.args = append(l.args, kernels.FloatArg(smoothing))
	}
	l.list.launch(d, k.Of(l.args...).For(n, inner, d.Target()), l.args)
	if l.weights.Tensor != nil {
		l.weights.release()
	}
}

// classShape returns the shape [outer, n, inner] of x around its classes, axis 1, or the only one.
func classShape(op string, x, labels, weights *Tensor) (d Device, outer, n, inner int) {
	d = check(op, x, labels)
	axis := min(1, x.Rank()-1)
	if axis < 0 || !slices.Equal(labels.shape, slices.Delete(slices.Clone(x.shape), axis, axis+1)) {
		detail := "the labels have the shape of the scores without axis 1, that of the classes"
		if axis >= 0 && slices.Equal(labels.shape, x.shape) {
			detail += ": CrossEntropyOf takes a probability of each class, as one-hot labels are"
		}
		misuse(op, ErrShape, detail, x, labels)
	}
	if labels.typ != Int32 && labels.typ != Int64 {
		misuse(op, ErrType, fmt.Sprintf("labels are of type int64 or int32, not %v: convert them with To(tensor.Int64)", labels.typ),
			x, labels)
	}
	if weights != nil {
		check(op, x, weights)
		if weights.Rank() != 1 || weights.shape[0] != x.shape[axis] {
			misuse(op, ErrShape, "there is a weight for each class", x, weights)
		}
		mustNotLower(op, weights, floats(x))
	}
	return d, intmath.Product(x.shape[:axis]), x.shape[axis], intmath.Product(x.shape[axis+1:])
}

// checkLabels panics with ErrIndex if a label is of no class, and not the one that is ignored.
func checkLabels(op string, n int, ignore int32, labels *Tensor) {
	if recordings.Load() > 0 && labels.Device().core().notifyLabels(op, n, ignore, labels) {
		return
	}
	labels.mustBeLabels(op, n, ignore)
}

func (t *Tensor) mustBeLabels(op string, n int, ignore int32) {
	if low, high := t.valueRange(op, 0, n); low >= 0 && high < int64(n) || t.Len() == 0 {
		return
	}
	var low, high int64
	if t.typ == Int32 {
		low, high = rangeWithout[int32](t, op, ignore)
	} else {
		low, high = rangeWithout[int64](t, op, ignore)
	}
	if low <= high && (low < 0 || high >= int64(n)) {
		panic(&Error{Op: op, Kind: ErrIndex, Shapes: [][]int{t.shape},
			Detail: fmt.Sprintf("labels are 0 to %d, or %d, which is ignored; these reach from %d to %d", n-1, ignore, low, high)})
	}
}

// rangeWithout returns the least and the greatest label that is not ignored, 0 and −1 if there is none.
func rangeWithout[T int32 | int64](t *Tensor, op string, ignore int32) (low, high int64) {
	v, err := downloadAs[T](t, op)
	if err != nil {
		return 0, -1 // the device failed, and launches are skipped
	}
	low, high = math.MaxInt64, math.MinInt64
	for _, l := range v {
		if l != T(ignore) {
			low, high = min(low, int64(l)), max(high, int64(l))
		}
	}
	return low, high
}

// notifyLabels is tellIndex of labels.
func (s *base) notifyLabels(op string, n int, ignore int32, labels *Tensor) bool {
	t := s.listener(labels.Device(), op)
	if t == nil {
		return false
	}
	if labels = s.inputOf(op, labels); labels == nil {
		return false
	}
	t.quiet = true
	defer func() { t.quiet = false }()
	labels.mustBeLabels(op, n, ignore)
	again := *labels
	t.Again(func() error { return Try(func() { again.mustBeLabels(op, n, ignore) }) })
	return true
}
