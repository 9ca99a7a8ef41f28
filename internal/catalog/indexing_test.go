package catalog

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// indexing is what reads and writes elements by index, and what indices and masks are made with.
var indexing = family{"indexing", []operation{
	{"Gather", cases{
		"odd":     one(func(in []*node) *node { return in[0].Gather(1, in[1].Value()) }),
		"smaller": one(func(in []*node) *node { return in[0].Gather(-1, in[1].Value()) }),
		"none":    one(func(in []*node) *node { return in[0].Gather(0, in[1].Value()) }),
		"special": one(func(in []*node) *node { return in[0].Gather(0, in[1].Value()) }),
	}},
	{"Scatter", cases{
		"odd":     one(func(in []*node) *node { return in[0].Scatter(1, in[1].Value(), in[2]) }),
		"smaller": one(func(in []*node) *node { return in[0].Scatter(0, in[1].Value(), in[2]) }),
		"special": one(func(in []*node) *node { return in[0].Scatter(0, in[1].Value(), in[2]) }),
	}},
	{"ScatterAdd", cases{
		"odd":     one(func(in []*node) *node { return in[0].ScatterAdd(1, in[1].Value(), in[2]) }),
		"smaller": one(func(in []*node) *node { return in[0].ScatterAdd(0, in[1].Value(), in[2]) }),
		"long":    one(func(in []*node) *node { return in[0].ScatterAdd(0, in[1].Value(), in[2]) }),
		"special": one(func(in []*node) *node { return in[0].ScatterAdd(0, in[1].Value(), in[2]) }),
	}},
	{"ScatterReduce", cases{
		"sum": reduced(tensor.ScatterSum, false), "prod": reduced(tensor.ScatterProd, false), "mean": reduced(tensor.ScatterMean, false),
		"min": reduced(tensor.ScatterMin, false), "max": reduced(tensor.ScatterMax, false),
		"new sum": reduced(tensor.ScatterSum, true), "new prod": reduced(tensor.ScatterProd, true), "new mean": reduced(tensor.ScatterMean, true),
		"new min": reduced(tensor.ScatterMin, true), "new max": reduced(tensor.ScatterMax, true),
		"ties": reduced(tensor.ScatterMax, false), "zeros": reduced(tensor.ScatterProd, false), "special": reduced(tensor.ScatterMin, false),
	}},
	{"IndexSelect", cases{
		"odd":     one(func(in []*node) *node { return in[0].IndexSelect(1, in[1].Value()) }),
		"last":    one(func(in []*node) *node { return in[0].IndexSelect(-1, in[1].Value()) }),
		"none":    one(func(in []*node) *node { return in[0].IndexSelect(0, in[1].Value()) }),
		"special": one(func(in []*node) *node { return in[0].IndexSelect(0, in[1].Value()) }),
	}},
	{"IndexAdd", along(func(x *node, axis int, i *tensor.Tensor, src *node) *node { return x.IndexAdd(axis, i, src) })},
	{"IndexCopy", along(func(x *node, axis int, i *tensor.Tensor, src *node) *node { return x.IndexCopy(axis, i, src) })},
	{"IndexFill", cases{
		"odd":     one(func(in []*node) *node { return in[0].IndexFill(1, in[1].Value(), 2.5) }),
		"special": one(func(in []*node) *node { return in[0].IndexFill(0, in[1].Value(), -1) }),
	}},
	{"Index", cases{
		"one":     one(func(in []*node) *node { return in[0].Index(in[1].Value()) }),
		"two":     one(func(in []*node) *node { return in[0].Index(in[1].Value(), in[2].Value()) }),
		"inner":   one(func(in []*node) *node { return in[0].Index(nil, in[1].Value(), in[2].Value()) }),
		"apart":   one(func(in []*node) *node { return in[0].Index(in[1].Value(), nil, in[2].Value()) }),
		"special": one(func(in []*node) *node { return in[0].Index(in[1].Value(), in[2].Value()) }),
	}},
	{"IndexPut", cases{
		"odd": one(func(in []*node) *node {
			return in[0].IndexPut([]*tensor.Tensor{in[1].Value(), in[2].Value()}, in[3])
		}),
		"apart": one(func(in []*node) *node {
			return in[0].IndexPut([]*tensor.Tensor{in[1].Value(), nil, in[2].Value()}, in[3])
		}),
		"sum": one(func(in []*node) *node {
			return in[0].IndexPut([]*tensor.Tensor{nil, in[1].Value()}, in[2], tensor.IndexPutOptions{Accumulate: true})
		}),
		"special": one(func(in []*node) *node { return in[0].IndexPut([]*tensor.Tensor{in[1].Value()}, in[2]) }),
	}},
	{"Embedding", cases{
		"odd":  binary(func(x, i *node) *node { return x.Embedding(i.Value()) }),
		"none": binary(func(x, i *node) *node { return x.Embedding(i.Value()) }),
		"padded": binary(func(x, i *node) *node {
			return x.Embedding(i.Value(), tensor.EmbeddingOptions{Padded: true, Padding: -2})
		}),
		"special": binary(func(x, i *node) *node { return x.Embedding(i.Value()) }),
	}},
	{"Tril", cases{
		"odd": unary(func(x *node) *node { return x.Tril(1) }), "below": unary(func(x *node) *node { return x.Tril(-2) }),
		"special": unary(func(x *node) *node { return x.Tril(0) }),
	}},
	{"Triu", cases{
		"odd": unary(func(x *node) *node { return x.Triu(1) }), "below": unary(func(x *node) *node { return x.Triu(-2) }),
		"special": unary(func(x *node) *node { return x.Triu(0) }),
	}},
	{"OneHot", under(values(func(in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{in[0].OneHot(5)}
	}), "odd", "scalar", "none")},
	{"tensor.Arange", cases{
		"odd":     made(func(d tensor.Device) *tensor.Tensor { return tensor.Arange(d, -1.5, 4, 0.75) }),
		"special": made(func(d tensor.Device) *tensor.Tensor { return tensor.Arange(d, 3, -2, -1) }),
	}},
	{"tensor.ArangeOf", cases{
		"odd":     made(func(d tensor.Device) *tensor.Tensor { return tensor.ArangeOf(d, tensor.Int32, -7, 30, 4) }),
		"special": made(func(d tensor.Device) *tensor.Tensor { return tensor.ArangeOf(d, tensor.Uint8, 255, -1, -51) }),
	}},
	{"tensor.Linspace", cases{
		"odd":     made(func(d tensor.Device) *tensor.Tensor { return tensor.Linspace(d, -1, 3, 7) }),
		"special": made(func(d tensor.Device) *tensor.Tensor { return tensor.Linspace(d, 5, 5, 1) }),
	}},
	{"tensor.LinspaceOf", cases{
		"ints":   made(func(d tensor.Device) *tensor.Tensor { return tensor.LinspaceOf(d, tensor.Int64, -7, 12, 9) }),
		"one":    made(func(d tensor.Device) *tensor.Tensor { return tensor.LinspaceOf(d, tensor.Int64, 3, 12, 1) }),
		"floats": made(func(d tensor.Device) *tensor.Tensor { return tensor.LinspaceOf(d, d.DefaultType(), -7, 12, 9) }),
	}},
	{"tensor.Eye", cases{
		"odd":     made(func(d tensor.Device) *tensor.Tensor { return tensor.Eye(d, 3, 5) }),
		"special": made(func(d tensor.Device) *tensor.Tensor { return tensor.Eye(d, 2, 0) }),
	}},
	{"autograd.Meshgrid", under(func(in []*node) []*node { return autograd.Meshgrid(in...) }, "odd", "scalar", "special")},
	{"NonZero", under(value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].NonZero() }), "odd", "special", "ints", "scalar", "empty")},
	{"SearchSorted", cases{
		"list left": searchSorted(false), "rows left": searchSorted(false), "ints left": searchSorted(false),
		"list right": searchSorted(true), "rows right": searchSorted(true), "ints right": searchSorted(true),
		"empty": searchSorted(false), "scalar": searchSorted(false),
	}},
	{"Multinomial", cases{ // PyTorch's stream is another: one class is certain
		"replace": value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Multinomial(4, true, tensor.NewRNG(1)) }),
		"list":    value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Multinomial(1, false, tensor.NewRNG(1)) }),
	}},
	{"Bernoulli", cases{
		"certain": value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Bernoulli(tensor.NewRNG(1)) }),
	}},
	{"autograd.EmbeddingBag", cases{
		"mean bags": bag(autograd.BagMean), "sum bags": bag(autograd.BagSum), "max bags": bag(autograd.BagMax),
		"mean offsets": bag(autograd.BagMean), "sum offsets": bag(autograd.BagSum), "max offsets": bag(autograd.BagMax), "weights": bag(autograd.BagSum),
	}},
}}

func reduced(reduce tensor.ScatterReduction, exclude bool) func(in []*node) []*node {
	return one(func(in []*node) *node {
		return in[0].ScatterReduce(1, in[1].Value(), in[2], reduce, tensor.ScatterOptions{ExcludeSelf: exclude})
	})
}

// along are the cases of an operation that brings parts to indices along an axis.
func along(f func(x *node, axis int, index *tensor.Tensor, src *node) *node) cases {
	at := func(axis int) func(in []*node) []*node {
		return one(func(in []*node) *node { return f(in[0], axis, in[1].Value(), in[2]) })
	}
	return cases{"odd": at(1), "last": at(-1), "none": at(0), "special": at(0)}
}

// made makes a case of what has no operand but a device, that of a tensor that is not used.
func made(f func(d tensor.Device) *tensor.Tensor) func(in []*node) []*node {
	return func(in []*node) []*node { return []*node{autograd.Const(f(in[0].Device()))} }
}

func searchSorted(right bool) func(in []*node) []*node {
	return value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].SearchSorted(in[1], right) })
}

// bag has the offsets of the operands, and the weights, if there are some.
func bag(mode autograd.BagMode) func(in []*node) []*node {
	return one(func(in []*node) *node {
		o := autograd.BagOptions{Mode: mode}
		if len(in) > 2 {
			o.Offsets = in[2].Value()
		}
		if len(in) > 3 {
			o.Weights = in[3]
		}
		return autograd.EmbeddingBag(in[0], in[1].Value(), o)
	})
}
