package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Bilinear returns y[…, o] = Σ x[…, i]·weight[o, i, j]·w[…, j] + bias[o], of x […, in], w […, other] with the
// same leading axes, and weights [out, in, other]; bias [out] may be nil. It panics with tensor.ErrShape.
// Gradients are those of the products and sums that it is made of.
func Bilinear(x, w, weight, bias *Node) *Node {
	const op = "Bilinear"
	defer tensorapi.Rename("autograd", op)
	a, b, k := x.use(op).Shape(), w.use(op).Shape(), weight.use(op).Shape()
	n := len(a) - 1
	if n < 0 || len(b) != n+1 || !slices.Equal(a[:n], b[:n]) || len(k) != 3 || k[1] != a[n] || k[2] != b[n] {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{a, b, k}, Detail: "they are […, in], […, other] and [out, in, other]"})
	}
	rows := intmath.Product(a[:n])
	y := Einsum("ni,oij,nj->no", x.Reshape(rows, a[n]), weight, w.Reshape(rows, b[n]))
	if bias != nil {
		y = y.Add(bias)
	}
	return y.Reshape(append(slices.Clone(a[:n]), k[0])...)
}

// Fold returns the sums [N, C, …] of windows x [N, C·window, windows] in their places in an image of a size:
// what undoes the windows of a convolution. The options are those of that convolution; there are as many
// windows as it has outputs, and each has the elements of a channel one after the other. It panics with
// tensor.ErrShape and with tensor.ErrValue. Gradient: the windows of g.
func Fold(x *Node, spatial, window []int, options ...tensor.ConvOptions) *Node {
	const op = "Fold"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	shape, axes := x.use(op).Shape(), len(spatial)
	taps := intmath.Product(window)
	if axes < 1 || axes > 3 || len(window) != axes || len(shape) != 3 || taps < 1 || shape[1]%taps != 0 || shape[1] == 0 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape, spatial, window},
			Detail: "x is [N, C·window, windows], and the size and the window have a number for each of 1, 2 or 3 axes"})
	}
	if how.Groups != 0 || how.PaddingEnd != nil {
		badOption(op, "Groups and PaddingEnd have no meaning here")
	}
	of := func(list []int, a, other int) int {
		if len(list) == 0 {
			return other
		}
		return list[min(a, len(list)-1)]
	}
	channels, windows := shape[1]/taps, []int{}
	rest := make([]int, axes) // of the image, behind the last window
	for a, n := range spatial {
		stride := max(of(how.Stride, a, 1), 1)
		reach := n + 2*of(how.Padding, a, 0) - of(how.Dilation, a, 1)*(window[a]-1) - 1
		if reach < 0 {
			panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{spatial, window}, Detail: "no window fits into the image"})
		}
		windows, rest[a] = append(windows, reach/stride+1), reach%stride
	}
	if intmath.Product(windows) != shape[2] {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: fmt.Sprintf("there are %d windows, %v", intmath.Product(windows), windows)})
	}
	// A transposed convolution whose weights are 1 at their own place of the window.
	kind := x
	x = computed(x)
	typ := tensorapi.Impl.Floats(x.value)
	var ones *tensor.Tensor
	tensor.Scope(x.Device(), func() {
		ones = tensor.Eye(x.Device(), taps, taps).To(typ).Tile(channels, 1).Reshape(append([]int{channels * taps, 1}, window...)...).Retain()
	})
	in := x.Reshape(append([]int{shape[0], shape[1]}, windows...)...)
	return lowered(in.ConvTranspose(Const(ones), nil, tensor.ConvTransposeOptions{
		Stride: how.Stride, Padding: how.Padding, Dilation: how.Dilation, OutputPadding: rest, Groups: channels,
	}).keeping(ones), kind)
}

// MaxUnpool returns zeros [N, C, …] of a size with the elements of x [N, C, …] in the places that indices, of
// its shape, name: those of MaxPoolWithIndex. Of several for one place, any stays. It panics with
// tensor.ErrShape, and with tensor.ErrIndex for a place that there is not. Gradient: g at those places.
func MaxUnpool(x *Node, indices *tensor.Tensor, spatial []int) *Node {
	const op = "MaxUnpool"
	defer tensorapi.Rename("autograd", op)
	shape, axes := x.use(op).Shape(), len(spatial)
	lead := len(shape) - axes
	if axes < 1 || lead < 0 || indices == nil || !slices.Equal(indices.Shape(), shape) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape, spatial}, Detail: "there is an index for each element"})
	}
	rows, each := intmath.Product(shape[:lead]), intmath.Product(shape[lead:])
	whole := tensor.ZerosOf(x.Device(), x.value.Type(), slices.Concat([]int{rows}, spatial)...)
	zeros := whole.Reshape(rows, intmath.Product(spatial))
	whole.Free()
	flat := indices.Reshape(rows, each)
	y := Const(zeros).Scatter(1, flat, x.Reshape(rows, each)).keeping(flat)
	return y.Reshape(slices.Concat(shape[:lead], spatial)...)
}

// BagMode says what EmbeddingBag makes of the rows of a bag.
type BagMode uint8

// The modes of EmbeddingBag.
const (
	BagMean BagMode = iota
	BagSum
	BagMax
	bagModes
)

// BagOptions are those of EmbeddingBag.
type BagOptions struct {
	Mode    BagMode        // what it makes of the rows of a bag
	Offsets *tensor.Tensor // [bags], where each bag begins in a list of indices
	Weights *Node          // of the shape of the indices, by which rows of a sum are multiplied; nil: by 1
}

// EmbeddingBag returns the means, sums or maxima [bags, D] of the rows of x [R, D] that bags of indices name:
// indices [bags, each], or a list with Offsets, which begin with 0 and do not fall. A bag without indices is 0.
// It panics with tensor.ErrShape, with tensor.ErrType and tensor.ErrIndex as Embedding does, and with
// tensor.ErrValue for another mode, and for Weights beside a mode that is no sum. Gradients are those of the
// operations that it is made of. The indices must outlive Backward, unchanged.
func EmbeddingBag(x *Node, index *tensor.Tensor, options ...BagOptions) *Node {
	const op = "EmbeddingBag"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	if how.Mode >= bagModes || how.Weights != nil && how.Mode != BagSum {
		badOption(op, fmt.Sprintf("there is no mode %d, or it takes no weights", how.Mode))
	}
	shape := x.use(op).Shape()
	of := []*Node{x}
	if index == nil || index.Rank() == 2 == (how.Offsets != nil) || index.Rank() < 1 || index.Rank() > 2 ||
		how.Offsets != nil && (how.Offsets.Rank() != 1 || how.Offsets.Len() == 0) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: "indices are [bags, each], or a list with offsets [bags]"})
	}
	rows := computed(x).Embedding(index)
	if how.Weights != nil {
		if !slices.Equal(how.Weights.use(op).Shape(), index.Shape()) {
			panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{index.Shape(), how.Weights.Shape()}, Detail: "there is a weight for each index"})
		}
		rows = rows.Mul(computed(how.Weights).Unsqueeze(-1))
	}
	if how.Offsets == nil {
		switch {
		case how.Mode == BagSum, index.Shape()[1] == 0:
			return lowered(rows.Sum(1), of...)
		case how.Mode == BagMax:
			return lowered(rows.Max(1), of...)
		}
		return lowered(rows.Mean(1), of...)
	}
	bags, width := how.Offsets.Len(), rows.Shape()[1]
	var bag, count *tensor.Tensor
	tensor.Scope(index.Device(), func() {
		places := tensor.ArangeOf(index.Device(), tensor.Int64, 0, float64(index.Len()), 1)
		bag = how.Offsets.SearchSorted(places, true).SubScalar(1).Retain()
		count = bag.Bincount(nil, bags).MaxScalar(1).Unsqueeze(1).To(rows.value.Type()).Retain()
	})
	zeros := Const(tensor.ZerosOf(x.Device(), rows.value.Type(), bags, width))
	switch how.Mode {
	case BagMax:
		column := bag.Unsqueeze(1)
		wide := column.Expand(index.Len(), width)
		for _, t := range []*tensor.Tensor{bag, column, count} {
			t.Free()
		}
		y := zeros.ScatterReduce(0, wide, rows, tensor.ScatterMax, tensor.ScatterOptions{ExcludeSelf: true})
		return lowered(y.keeping(wide), of...)
	case BagSum:
		count.Free()
		return lowered(zeros.IndexAdd(0, bag, rows).keeping(bag), of...)
	}
	return lowered(zeros.IndexAdd(0, bag, rows).keeping(bag).Div(Const(count)).keeping(count), of...)
}
