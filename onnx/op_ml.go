package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Domain: ml, Name: "ArrayFeatureExtractor", Run: extractFeatures, Shape: extractFeaturesShape},
		Operator{Domain: ml, Name: "Binarizer", Attributes: "threshold", Shape: sameAs(0), Run: func(c *Call) []*Value {
			x := c.Node(0)
			return Out(floats(x).GtScalar(c.Float("threshold", 0)).To(x.Type()))
		}},
		Operator{Domain: ml, Name: "FeatureVectorizer", Attributes: "inputdimensions", Run: joinFeatures,
			Shape: joinFeaturesShape},
		Operator{Domain: ml, Name: "Imputer",
			Attributes: "imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64", Run: impute, Shape: sameAs(0)},
		Operator{Domain: ml, Name: "Normalizer", Attributes: "norm", Run: normalizeRows, Shape: sameOf("float")},
		Operator{Domain: ml, Name: "OneHotEncoder", Attributes: "cats_int64s cats_strings zeros", Run: oneHotCategories,
			Shape: oneHotCategoriesShape},
		Operator{Domain: ml, Name: "Scaler", Attributes: "offset scale", Shape: sameOf("float"), Run: func(c *Call) []*Value {
			x := floats(c.Node(0))
			return Out(x.Sub(c.floatsOf("offset", x, 0)).Mul(c.floatsOf("scale", x, 1)).To(tensor.Float32))
		}},
		Operator{Domain: ml, Name: "LinearRegressor", Attributes: "coefficients intercepts post_transform targets", Shape: regressionShape("targets"),
			Run: func(c *Call) []*Value {
				return Out(c.transformed(c.linear(c.Int("targets", 1)), c.String("post_transform", "NONE")))
			}},
		Operator{Domain: ml, Name: "LinearClassifier",
			Attributes: "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform",
			Run:        classifyLinear, Shape: classificationShape},
	)
}

// floats returns x as floats that hold it: float64 of integers of 64 bits.
func floats(x *autograd.Node) *autograd.Node {
	switch {
	case x.Type().Float():
		return x
	case x.Type() == tensor.Int64 && x.Device().Supports(tensor.Float64):
		return x.To(tensor.Float64)
	}
	return x.To(tensor.Float32)
}

// floatsOf returns an attribute as a tensor of the type of x, which has one number, or one for each feature: the last
// axis of x. Without the attribute it is a number.
func (c *Call) floatsOf(name string, x *autograd.Node, or float64) *autograd.Node {
	list := c.FloatList(name)
	if len(list) == 0 {
		list = []float64{or}
	}
	if len(list) > 1 && (x.Rank() == 0 || x.Shape()[x.Rank()-1] != len(list)) {
		c.Fail("attribute %s has %d numbers, and the input is of shape %v", name, len(list), x.Shape())
	}
	return newFloats(c, list, x.Type())
}

// newFloats returns numbers as a tensor of floats: by way of float64 only if they are to be that, which not every
// device has.
func newFloats(c *Call, list []float64, typ tensor.Type, shape ...int) *autograd.Node {
	if typ == tensor.Float64 {
		return New(c, list, shape...)
	}
	short := make([]float32, len(list))
	for i, x := range list {
		short[i] = float32(x)
	}
	return New(c, short, shape...).To(typ)
}

// rows returns a matrix: of one row for a list.
func (c *Call) rows(x *autograd.Node) *autograd.Node {
	switch x.Rank() {
	case 1:
		return x.Reshape(1, x.Len())
	case 2:
		return x
	}
	c.Fail("an input of shape %v, and should be of [N C] or [C]", x.Shape())
	return nil
}

// extractFeatures picks elements of the last axis.
func extractFeatures(c *Call) []*Value {
	shape, at := c.dims(0), c.Ints(1)
	if len(shape) == 0 {
		c.Fail("the input is a scalar")
	}
	last := len(shape) - 1
	for _, i := range at {
		if i < 0 || i >= shape[last] {
			c.Fail("index %d of %d features", i, shape[last])
		}
	}
	if shape[last] = len(at); last == 0 {
		shape = []int{1, len(at)}
	}
	m := moving(c, 0)
	x := m.node(0)
	return m.out(x.IndexSelect(last, tensor.New(x.Device(), at)).Reshape(shape...))
}

// joinFeatures puts matrices beside each other. Each has as many columns as the attribute says: others are left out, or
// are zeros.
func joinFeatures(c *Call) []*Value {
	sizes := c.IntList("inputdimensions")
	if sizes != nil && len(sizes) != c.Len() {
		c.Fail("there are %d inputs, and inputdimensions has %d numbers", c.Len(), len(sizes))
	}
	var list []*autograd.Node
	for i := range c.Len() {
		x := c.rows(c.Node(i)).To(tensor.Float32)
		n := x.Shape()[1]
		if sizes != nil && (sizes[i] < 0 || sizes[i] > math.MaxInt32) {
			c.Fail("inputdimensions is %v", sizes)
		}
		if sizes != nil && sizes[i] < n {
			x = x.Slice(1, 0, sizes[i])
		}
		list = append(list, x)
		if sizes != nil && sizes[i] > n {
			list = append(list, autograd.Const(tensor.ZerosOf(x.Device(), x.Type(), x.Shape()[0], sizes[i]-n)))
		}
	}
	if len(list) == 0 {
		c.Fail("there are no inputs")
	}
	return Out(autograd.Concat(1, list...))
}

// impute puts other numbers in the place of one, or of NaN.
func impute(c *Call) []*Value {
	x := c.Node(0)
	if x.Type().Float() {
		if !c.HasAttribute("imputed_value_floats") {
			c.Fail("attribute imputed_value_floats is missing")
		}
		by := c.floatsOf("imputed_value_floats", x, 0)
		old := c.Float("replaced_value_float", 0)
		where := x.IsNaN()
		if !math.IsNaN(old) {
			where = x.EqScalar(old)
		}
		return Out(by.Where(where, x))
	}
	list := c.IntList("imputed_value_int64s")
	if len(list) != 1 && (len(list) == 0 || x.Rank() == 0 || x.Shape()[x.Rank()-1] != len(list)) {
		c.Fail("imputed_value_int64s has %d numbers, and the input is of shape %v", len(list), x.Shape())
	}
	old := New(c, []int{c.Int("replaced_value_int64", 0)})
	return Out(New(c, list).To(x.Type()).Where(x.Eq(old), x))
}

// normalizeRows divides rows by their maximum, or by their norm of order 1 or 2, but for one that is 0.
func normalizeRows(c *Call) []*Value {
	x := floats(c.Node(0))
	if x.Rank() == 0 || x.Rank() > 2 {
		c.Fail("an input of shape %v, and should be of [N C] or [C]", x.Shape())
	}
	if x.Len() == 0 {
		return Out(x.To(tensor.Float32))
	}
	var by *autograd.Node
	switch norm := c.String("norm", "MAX"); norm {
	case "MAX":
		by = x.Max(-1)
	case "L1":
		by = x.Norm(1, -1)
	case "L2":
		by = x.Norm(2, -1)
	default:
		c.Fail("norm is %q", norm)
	}
	by = by.Unsqueeze(-1)
	return Out(x.Div(by.MaskedFill(by.EqScalar(0), 1)).To(tensor.Float32))
}

// oneHotCategories returns a row of zeros with a one for each element, where its category is.
func oneHotCategories(c *Call) []*Value {
	v := c.Value(0)
	var y *autograd.Node
	if v.kind == stringsValue {
		cats := c.StringList("cats_strings")
		if len(v.strings) > math.MaxInt32/max(len(cats), 1) {
			c.Fail("%d strings of %d categories", len(v.strings), len(cats))
		}
		out := make([]float32, len(v.strings)*len(cats))
		for i, s := range v.strings {
			if k := slices.Index(cats, s); k >= 0 {
				out[i*len(cats)+k] = 1
			}
		}
		y = New(c, out, append(v.Shape(), len(cats))...)
	} else {
		cats := c.IntList("cats_int64s")
		y = c.Node(0).To(tensor.Int64).Unsqueeze(-1).Eq(New(c, cats)).To(tensor.Float32)
	}
	if !c.Bool("zeros", true) && y.Len() > 0 {
		c.r.downloads = true
		most, err := y.Sum(-1).Min().Float64s()
		if err != nil {
			panic(deviceError{err})
		}
		if most[0] == 0 {
			c.Fail("an element is of no category, and zeros is 0")
		}
	}
	return Out(y)
}

// linear returns x·wᵀ + b of the coefficients, a row for each of n targets, and the intercepts.
func (c *Call) linear(n int) *autograd.Node {
	x := c.rows(floats(c.Node(0)))
	w, b := c.FloatList("coefficients"), c.FloatList("intercepts")
	if n < 1 || len(w) != n*x.Shape()[1] || b != nil && len(b) != n {
		c.Fail("%d coefficients and %d intercepts, for %d targets of %d features", len(w), len(b), n, x.Shape()[1])
	}
	y := x.MatMul(newFloats(c, w, x.Type(), n, x.Shape()[1]).T())
	if b != nil {
		y = y.Add(newFloats(c, b, y.Type()))
	}
	return y.To(tensor.Float32)
}

// classifyLinear returns the label of the largest score, and the scores. One score of two classes is that of the
// second.
func classifyLinear(c *Call) []*Value {
	features := c.rows(c.Node(0)).Shape()[1]
	w := c.FloatList("coefficients")
	if features == 0 || len(w)%features != 0 || len(w) == 0 {
		c.Fail("%d coefficients of %d features", len(w), features)
	}
	scores, transform := c.linear(len(w)/features), c.String("post_transform", "NONE")
	labels, n := c.labels("classlabels_ints", "classlabels_strings"), len(w)/features
	if n > 1 {
		labels.want(c, n)
		return append(labels.of(c, autograd.Const(scores.ArgMax(1))), Out(c.transformed(scores, transform))...)
	}
	which := scores.GtScalar(0).To(tensor.Int64).Reshape(scores.Len())
	switch labels.len() {
	case 0:
	case 1: // one label, and none for others
		labels = labels.behindNone()
	default:
		labels.want(c, 2)
		scores = both(scores, transform)
	}
	return append(labels.of(c, which), Out(c.transformed(scores, transform))...)
}

// both returns two scores of the one of the second class.
func both(scores *autograd.Node, transform string) *autograd.Node {
	first := scores.Neg()
	if transform == "NONE" || transform == "PROBIT" {
		first = scores.RSubScalar(1)
	}
	return autograd.Concat(1, first, scores)
}

// classes are the labels of a classifier: integers, strings, or 0, 1, … where it has neither.
type classes struct {
	ints    []int
	strings []string
}

func (c *Call) labels(ints, strings string) classes {
	l := classes{c.IntList(ints), c.StringList(strings)}
	if len(l.ints) > 0 && len(l.strings) > 0 {
		c.Fail("there are %s and %s", ints, strings)
	}
	return l
}

// want fails if there are labels, but not n.
func (l classes) want(c *Call, n int) {
	if l.len() != 0 && l.len() != n {
		c.Fail("%d labels of %d classes", l.len(), n)
	}
}

func (l classes) len() int { return len(l.ints) + len(l.strings) }

// behindNone returns the labels behind one of what is none of them: 0 or "".
func (l classes) behindNone() classes {
	if len(l.strings) > 0 {
		return classes{strings: append([]string{""}, l.strings...)}
	}
	return classes{ints: append([]int{0}, l.ints...)}
}

// of returns the labels of classes by number.
func (l classes) of(c *Call, which *autograd.Node) []*Value {
	if len(l.strings) == 0 {
		if l.ints == nil {
			return Out(which)
		}
		table := tensor.New(which.Device(), l.ints)
		return Out(autograd.Const(table).IndexSelect(0, which.Value()))
	}
	c.r.downloads = c.r.downloads || which.Device() != c.r.s.host
	index, err := which.Int64s()
	if err != nil {
		panic(deviceError{err})
	}
	out := make([]string, len(index))
	for i, k := range index {
		if int(k) >= len(l.strings) {
			c.Fail("class %d of %d labels", k, len(l.strings))
		}
		out[i] = l.strings[k]
	}
	return []*Value{ofStrings(out, which.Shape())}
}

// transformed returns scores after a post_transform, which is along rows.
func (c *Call) transformed(x *autograd.Node, name string) *autograd.Node {
	if x.Len() == 0 {
		return x
	}
	switch name {
	case "NONE":
		return x
	case "SOFTMAX":
		return x.Softmax(-1)
	case "LOGISTIC":
		return x.Sigmoid()
	case "SOFTMAX_ZERO":
		return softmaxZero(x)
	case "PROBIT":
		return x.MulScalar(2).SubScalar(1).ErfInv().MulScalar(math.Sqrt2)
	}
	c.Fail("post_transform is %q", name)
	return nil
}

// softmaxZero is the softmax of the elements that are not 0: those stay 0.
func softmaxZero(x *autograd.Node) *autograd.Node {
	e := x.Sub(x.Max(-1).Unsqueeze(-1)).Exp().Mul(x.NeScalar(0).To(x.Type()))
	sum := e.Sum(-1).Unsqueeze(-1)
	return e.Div(sum.MaskedFill(sum.EqScalar(0), 1))
}

// rowsOf returns how many rows input 0 has, as a matrix.
func (c *ShapeCall) rowsOf() Dim {
	switch dims := c.Dims(0); len(dims) {
	case 1:
		return NewDim(1)
	case 2:
		return dims[0]
	}
	return Dim{}
}

func extractFeaturesShape(c *ShapeCall) []Known {
	dims, at := c.Dims(0), c.Dims(1)
	if len(dims) == 0 || at == nil {
		return []Known{{Type: c.Type(0)}}
	}
	dims[len(dims)-1] = countOf(at)
	if len(dims) == 1 {
		dims = []Dim{NewDim(1), dims[0]}
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}

func joinFeaturesShape(c *ShapeCall) []Known {
	columns, sizes := NewDim(0), c.IntList("inputdimensions")
	for i := range c.Len() {
		dims, n := c.Dims(i), Dim{}
		switch {
		case i < len(sizes):
			n = NewDim(sizes[i])
		case len(dims) > 0:
			n = dims[len(dims)-1]
		}
		columns = columns.Add(n)
	}
	return []Known{{Type: "float", Dims: []Dim{c.rowsOf(), columns}}}
}

func oneHotCategoriesShape(c *ShapeCall) []Known {
	dims, n := c.Dims(0), len(c.IntList("cats_int64s"))
	if c.Type(0) == "string" {
		n = len(c.StringList("cats_strings"))
	}
	if dims == nil || c.Type(0) == "" {
		return []Known{{Type: "float"}}
	}
	return []Known{{Type: "float", Dims: append(dims, NewDim(n))}}
}

// regressionShape returns the rule of numbers for each row, of so many targets as an attribute says.
func regressionShape(targets string) shapeRule {
	return func(c *ShapeCall) []Known {
		return []Known{{Type: "float", Dims: []Dim{c.rowsOf(), NewDim(c.Int(targets, 1))}}}
	}
}

// classificationShape is a label, and scores, for each row.
func classificationShape(c *ShapeCall) []Known {
	labels := listOfType("int64", c.rowsOf())
	if len(c.StringList("classlabels_strings")) > 0 {
		labels.Type = "string"
	}
	scores := ofRank("float", 2)
	scores.Dims[0] = c.rowsOf()
	return []Known{labels, scores}
}
