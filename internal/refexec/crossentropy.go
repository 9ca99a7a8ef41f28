package refexec

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// sum adds terms up with what each addition rounds off, so that many terms make it no less exact than one: the bound of
// a kernel counts the additions of the kernel. Source: Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
// endlicher Summen", ZAMM 54 (1974).
type sum struct{ total, rest float64 }

func (s *sum) add(v float64) {
	total := s.total + v
	if math.Abs(s.total) >= math.Abs(v) {
		s.rest += s.total - total + v
	} else {
		s.rest += v - total + s.total
	}
	s.total = total
}

// value returns the sum. That of an infinity or a NaN has no rest.
func (s *sum) value() float64 {
	if s.total-s.total != 0 {
		return s.total
	}
	return s.total + s.rest
}

// lines calls f for each line with its label, or −1 for one that does not count, and with the
// smoothing.
func (m *machine[T]) lines(l *operation.CrossEntropySpec, f func(o, i, label int, smoothing float64)) {
	smoothing := l.Smoothing.In(m.args, kernels.Float32)
	each([]int{l.Outer, l.Inner}, func(at []int) {
		label := int(m.load(l.Labels, at...))
		if label == l.Ignore || label < 0 || label >= l.Len {
			label = -1
		}
		f(at[0], at[1], label, smoothing)
	})
}

// weight is that of a class.
func (m *machine[T]) weight(l *operation.CrossEntropySpec, k int) float64 {
	if !l.Weighted {
		return 1
	}
	return m.load(l.Weights, k)
}

func (m *machine[T]) crossEntropy(op *operation.CrossEntropy) {
	l := &op.CrossEntropySpec
	m.lines(l, func(o, i, label int, smoothing float64) {
		most, logSum := 0.0, 0.0
		if l.Logits {
			most = math.Inf(-1)
			for k := range l.Len {
				if v := m.load(l.X, o, k, i); v > most {
					most = v
				}
			}
			var sum sum
			for k := range l.Len {
				sum.add(math.Exp(m.load(l.X, o, k, i) - most))
			}
			logSum = math.Log(sum.value())
		}
		loss, counted, slope := 0.0, 0.0, 0.0
		less := func(k int) float64 { return logSum - (m.load(l.X, o, k, i) - most) }
		if label >= 0 {
			counted = m.weight(l, label)
			loss, slope = (1-smoothing)*counted*less(label), (1-smoothing)*counted
			if smoothing != 0 {
				even := smoothing / float64(l.Len)
				var losses, weights sum
				for k := range l.Len {
					losses.add(m.weight(l, k) * less(k))
					weights.add(m.weight(l, k))
				}
				loss, slope = loss+even*losses.value(), slope+even*weights.value()
			}
		}
		for k, v := range []kernels.View{op.Loss, op.Counted, op.Most, op.LogSum, op.Slope} {
			m.store(v, float64(T([]float64{loss, counted, most, logSum, slope}[k])), o, i)
		}
	})
}

func (m *machine[T]) crossEntropyGrad(op *operation.CrossEntropyGrad) {
	l := &op.CrossEntropySpec
	m.lines(l, func(o, i, label int, smoothing float64) {
		g := m.load(op.G, o, i)
		for k := range l.Len {
			d := 0.0
			if l.Logits {
				d = m.load(op.Slope, o, i) * math.Exp(m.load(l.X, o, k, i)-m.load(op.Most, o, i)-m.load(op.LogSum, o, i))
			}
			if smoothing != 0 {
				d -= smoothing / float64(l.Len) * m.weight(l, k)
			}
			if k == label {
				d -= (1 - smoothing) * m.weight(l, label)
			}
			if d *= g; label < 0 {
				d = 0
			}
			m.store(op.D, float64(T(d)), o, k, i)
		}
	})
}
