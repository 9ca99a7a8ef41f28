package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const kernel = "coefficients kernel_params kernel_type post_transform rho support_vectors "
	Register(
		Operator{Domain: ml, Name: "SVMRegressor", Attributes: kernel + "n_supports one_class n_targets",
			Run:   regressVectors,
			Shape: func(c *ShapeCall) []Known { return []Known{{Type: "float", Dims: []Dim{c.rowsOf(), NewDim(1)}}} }},
		Operator{Domain: ml, Name: "SVMClassifier", Attributes: kernel +
			"classlabels_ints classlabels_strings prob_a prob_b vectors_per_class", Run: classifyVectors, Shape: classificationShape},
	)
}

// machine is a support vector machine.
type machine struct {
	kernel              string
	gamma, coef, degree float64
	vectors             [][]float64
	weights, rho        []float64
	a, b                []float64 // of probabilities, for each pair of classes
	classes             int
	begin               []int // of each class among the vectors, and the end
}

// newMachine reads a machine of n support vectors.
func newMachine(c *Call, n int) *machine {
	m := &machine{kernel: c.String("kernel_type", "LINEAR"), weights: c.FloatList("coefficients"),
		rho: c.FloatList("rho"), a: c.FloatList("prob_a"), b: c.FloatList("prob_b")}
	if p := c.FloatList("kernel_params"); len(p) == 3 {
		m.gamma, m.coef, m.degree = p[0], p[1], p[2]
	} else if len(p) != 0 {
		c.Fail("kernel_params has %d numbers, and should have 3", len(p))
	}
	switch m.kernel {
	case "LINEAR", "POLY", "RBF", "SIGMOID":
	default:
		c.Fail("kernel_type is %q", m.kernel)
	}
	x := c.FloatList("support_vectors")
	if n < 0 || n > 0 && (len(x) == 0 || len(x)%n != 0) || len(m.rho) == 0 {
		c.Fail("%d numbers of %d support vectors, and %d numbers of rho", len(x), n, len(m.rho))
	}
	for k := range n {
		m.vectors = append(m.vectors, x[k*len(x)/n:(k+1)*len(x)/n])
	}
	return m
}

// products returns the kernel of a row and each support vector.
func (m *machine) products(c *Call, x []float64) []float64 {
	out := make([]float64, len(m.vectors))
	for i, v := range m.vectors {
		if len(v) != len(x) {
			c.Fail("%d features, and support vectors have %d", len(x), len(v))
		}
		if m.kernel == "RBF" {
			var s float64
			for k := range x {
				s += (x[k] - v[k]) * (x[k] - v[k])
			}
			out[i] = math.Exp(-m.gamma * s)
			continue
		}
		switch out[i] = dot(x, v); m.kernel {
		case "POLY":
			out[i] = math.Pow(m.gamma*out[i]+m.coef, m.degree)
		case "SIGMOID":
			out[i] = math.Tanh(m.gamma*out[i] + m.coef)
		}
	}
	return out
}

func dot(x, y []float64) float64 {
	var s float64
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// regressVectors is SVMRegressor. Without support vectors it is linear.
func regressVectors(c *Call) []*Value {
	m := c.once(func() any { return newMachine(c, c.Int("n_supports", 0)) }).(*machine)
	rows, _ := c.matrix()
	out := make([]float64, len(rows))
	for i, x := range rows {
		if len(m.vectors) > 0 {
			x = m.products(c, x)
		}
		if len(x) != len(m.weights) {
			c.Fail("%d coefficients of %d vectors or features", len(m.weights), len(x))
		}
		out[i] = dot(x, m.weights) + m.rho[0]
		if c.Bool("one_class", false) {
			if out[i] > 0 {
				out[i] = 1
			} else {
				out[i] = -1
			}
		}
	}
	return Out(c.transformed(newFloats(c, out, tensor.Float32, len(out), 1), c.String("post_transform", "NONE")))
}

// newClassifier reads the machine of a classifier.
func newClassifier(c *Call) *machine {
	begin := []int{0}
	for _, n := range c.IntList("vectors_per_class") {
		if n < 0 || n > math.MaxInt32 {
			c.Fail("a class of %d vectors", n)
		}
		begin = append(begin, begin[len(begin)-1]+n)
	}
	vectors := begin[len(begin)-1]
	m := newMachine(c, vectors)
	m.classes = max(c.labels("classlabels_ints", "classlabels_strings").len(), 1)
	if vectors == 0 {
		return m
	}
	m.begin = begin
	pairs := m.classes * (m.classes - 1) / 2
	if len(begin) != m.classes+1 || m.classes < 2 || len(m.weights) != vectors*(m.classes-1) || len(m.rho) < pairs {
		c.Fail("%d classes, %d of them with vectors, %d coefficients and %d numbers of rho", m.classes, len(begin)-1,
			len(m.weights), len(m.rho))
	}
	if len(m.a) != len(m.b) || len(m.a) != 0 && len(m.a) != pairs {
		c.Fail("%d and %d coefficients of probabilities for %d pairs of classes", len(m.a), len(m.b), pairs)
	}
	return m
}

// classifyVectors is SVMClassifier. With support vectors each pair of classes has a score, and votes for one of both.
func classifyVectors(c *Call) []*Value {
	m := c.once(func() any { return newClassifier(c) }).(*machine)
	labels, transform := c.labels("classlabels_ints", "classlabels_strings"), c.String("post_transform", "NONE")
	rows, features := c.matrix()
	if m.begin == nil {
		return m.classifyLinear(c, rows, features, labels, transform)
	}
	which, scores, columns := make([]int64, len(rows)), []float64{}, m.classes*(m.classes-1)/2
	if len(m.a) > 0 {
		columns = m.classes
	}
	for r, x := range rows {
		votes, pairs := m.pairs(m.products(c, x))
		for k, v := range votes {
			if v > votes[which[r]] {
				which[r] = int64(k)
			}
		}
		if len(m.a) > 0 {
			pairs = m.probabilities(pairs)
		}
		scores = append(scores, pairs...)
	}
	y := newFloats(c, scores, tensor.Float32, len(rows), columns)
	if columns == 1 {
		first := y.Neg()
		if transform == "PROBIT" {
			first = y.RSubScalar(1)
		}
		y = autograd.Concat(1, first, y)
	}
	return append(labels.of(c, New(c, which)), Out(c.transformed(y, transform))...)
}

// classifyLinear classifies by a row of coefficients for each class.
func (m *machine) classifyLinear(c *Call, rows [][]float64, features int, labels classes, transform string) []*Value {
	if len(m.weights) != m.classes*features {
		c.Fail("%d coefficients of %d classes and %d features", len(m.weights), m.classes, features)
	}
	var scores []float64
	for _, x := range rows {
		for k := range m.classes {
			scores = append(scores, dot(x, m.weights[k*features:])+m.rho[0])
		}
	}
	y := newFloats(c, scores, tensor.Float32, len(rows), m.classes)
	which := autograd.Const(y.ArgMax(1))
	if m.classes == 1 {
		which = chosen(y, 0)
		if labels.len() == 1 {
			labels = labels.behindNone()
		}
	}
	return append(labels.of(c, which), Out(c.transformed(y, transform))...)
}

// pairs returns how many votes each class gets, and the score of each pair of classes, which is for the first of both
// if it is positive. k are the kernels of the support vectors.
func (m *machine) pairs(k []float64) (votes []int, scores []float64) {
	votes = make([]int, m.classes)
	for i := range m.classes {
		for j := i + 1; j < m.classes; j++ {
			s := m.rho[len(scores)]
			for v := m.begin[i]; v < m.begin[i+1]; v++ {
				s += m.weights[(j-1)*len(k)+v] * k[v]
			}
			for v := m.begin[j]; v < m.begin[j+1]; v++ {
				s += m.weights[i*len(k)+v] * k[v]
			}
			if scores = append(scores, s); s > 0 {
				votes[i]++
			} else {
				votes[j]++
			}
		}
	}
	return votes, scores
}

// probabilities returns the probability of each class from the scores of pairs: each pair says with which probability
// it is the first of both, and these are coupled by the second method of Wu, Lin and Weng, "Probability estimates for
// multi-class classification by pairwise coupling", 2004.
func (m *machine) probabilities(scores []float64) []float64 {
	const least = 1e-7
	n, pair := m.classes, 0
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, n)
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := 1 / (1 + math.Exp(m.a[pair]*scores[pair]+m.b[pair]))
			r[i][j] = min(max(p, least), 1-least)
			r[j][i] = 1 - r[i][j]
			pair++
		}
	}
	q, p, qp := make([][]float64, n), make([]float64, n), make([]float64, n)
	for t := range n {
		q[t], p[t] = make([]float64, n), 1/float64(n)
		for j := range n {
			if j != t {
				q[t][t] += r[j][t] * r[j][t]
				q[t][j] = -r[j][t] * r[t][j]
			}
		}
	}
	for range max(100, n) {
		var pqp, worst float64
		for t := range n {
			qp[t] = dot(q[t], p)
			pqp += p[t] * qp[t]
		}
		for t := range n {
			worst = max(worst, math.Abs(qp[t]-pqp))
		}
		if worst < 0.005/float64(n) {
			break
		}
		for t := range n {
			d := (pqp - qp[t]) / q[t][t]
			p[t] += d
			pqp = (pqp + d*(d*q[t][t]+2*qp[t])) / ((1 + d) * (1 + d))
			for j := range n {
				qp[j] = (qp[j] + d*q[t][j]) / (1 + d)
				p[j] /= 1 + d
			}
		}
	}
	return p
}
