package onnx

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators of matrices.
func init() {
	Register(
		Operator{Name: "MatMul", Shape: matMulShape(0, 1), Run: func(c *Call) []*Value { return Out(product(c, c.Node(0), c.Node(1))) }},
		Operator{Name: "Gemm", Attributes: "alpha beta transA transB broadcast", Run: gemm, Shape: gemmShape(0, 1)},
		Operator{Name: "Einsum", Attributes: "equation", Shape: einsumShape, Run: func(c *Call) []*Value {
			list := make([]*autograd.Node, c.Len())
			for i := range list {
				list[i] = c.Node(i)
			}
			return Out(autograd.Einsum(c.String("equation", ""), list...))
		}},
		Operator{Name: "Det", Run: determinant, Shape: detShape},
	)
}

// product is the matrix product, of integers too, which wrap around.
func product(c *Call, a, b *autograd.Node) *autograd.Node {
	if !a.Type().Integer() || !b.Type().Integer() {
		return a.MatMul(b)
	}
	if a.Rank() == 0 || b.Rank() == 0 {
		c.Fail("a product of shapes %v and %v", a.Shape(), b.Shape())
	}
	letters := "...ik,...kj->...ij"
	switch {
	case a.Rank() == 1 && b.Rank() == 1:
		letters = "k,k->"
	case a.Rank() == 1:
		letters = "k,...kj->...j"
	case b.Rank() == 1:
		letters = "...ik,k->...i"
	}
	return integerSum(a, b, letters)
}

// mostProducts is how many products of integers are in memory at once, unless the result has more elements.
const mostProducts = 1 << 20

// integerSum is the sum of products of integers, of as many k at once as memory is for.
func integerSum(a, b *autograd.Node, letters string) *autograd.Node {
	axisA, axisB := a.Rank()-1, max(b.Rank()-2, 0)
	k := a.Shape()[axisA]
	lead, ok := tensor.Broadcast(a.Shape()[:max(axisA-1, 0)], b.Shape()[:axisB])
	if !ok || k != b.Shape()[axisB] {
		return autograd.Einsum(letters, a, b) // which says what is wrong
	}
	results := 1
	for _, n := range slices.Concat(lead, a.Shape()[max(axisA-1, 0):axisA], b.Shape()[axisB+1:]) {
		results *= n
	}
	block := max(1, mostProducts/max(1, results))
	y := autograd.Einsum(letters, a.Slice(axisA, 0, min(k, block)), b.Slice(axisB, 0, min(k, block)))
	for from := block; from < k; from += block {
		to := min(k, from+block)
		y = y.Add(autograd.Einsum(letters, a.Slice(axisA, from, to), b.Slice(axisB, from, to)))
	}
	return y
}

// gemm is alpha·a·b + beta·c.
func gemm(c *Call) []*Value {
	a, b := c.Node(0), c.Node(1)
	if a.Rank() != 2 || b.Rank() != 2 {
		c.Fail("a product of shapes %v and %v", a.Shape(), b.Shape())
	}
	if c.Bool("transA", false) {
		a = a.T()
	}
	if c.Bool("transB", false) {
		b = b.T()
	}
	y := scaled(product(c, a, b), c.Float("alpha", 1))
	if z, beta := c.NodeOr(2), c.Float("beta", 1); z != nil && beta != 0 {
		if shape, ok := tensor.Broadcast(z.Shape(), y.Shape()); !ok || !slices.Equal(shape, y.Shape()) {
			c.Fail("shape %v does not broadcast to %v", z.Shape(), y.Shape())
		}
		y = y.Add(scaled(z, beta))
	}
	return Out(y)
}

// scaled is x·a, of integers rounded towards 0.
func scaled(x *autograd.Node, a float64) *autograd.Node {
	switch {
	case a == 1:
		return x
	case x.Type().Integer() && a == math.Trunc(a):
		return like(x.Mul(autograd.Const(tensor.FullOf(x.Device(), x.Type(), a, []int{}...))), x.Type())
	}
	return like(inFloats(x).MulScalar(a), x.Type())
}

// determinant computes on the host: the row that is eliminated next depends on the numbers.
func determinant(c *Call) []*Value {
	shape := c.dims(0)
	if len(shape) < 2 || shape[len(shape)-1] != shape[len(shape)-2] {
		c.Fail("input 0 is %v, and should be of square matrices", c.Value(0))
	}
	n, batch := shape[len(shape)-1], shape[:len(shape)-2]
	numbers := slices.Clone(c.Floats(0))
	dets := make([]float64, c.count(batch))
	for i := range dets {
		dets[i] = determinantOf(numbers[i*n*n:(i+1)*n*n], n)
	}
	return Out(autograd.Const(tensor.NewOf(c.dev, c.Type(0), dets, append([]int{}, batch...)...)))
}

// determinantOf eliminates the rows of a matrix, each with the greatest element of its column.
func determinantOf(a []float64, n int) float64 {
	det := 1.0
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[pivot*n+k]) {
				pivot = i
			}
		}
		if pivot != k {
			det = -det
			for j := k; j < n; j++ {
				a[pivot*n+j], a[k*n+j] = a[k*n+j], a[pivot*n+j]
			}
		}
		d := a[k*n+k]
		if det *= d; d == 0 {
			return det
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / d
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	return det
}

// matMulShape returns the rule of the product of inputs a and b, of the type of the first.
func matMulShape(a, b int) shapeRule {
	return func(c *ShapeCall) []Known { return []Known{{Type: c.Type(a), Dims: c.matMul(c.Dims(a), c.Dims(b))}} }
}

// matMul returns the shape of a product, nil if a rank is not known.
func (c *ShapeCall) matMul(x, y []Dim) []Dim {
	if x == nil || y == nil {
		return nil
	}
	if len(x) == 0 || len(y) == 0 {
		c.Fail("a product of %v", c.shapes())
	}
	row, column := len(x) == 1, len(y) == 1
	if row {
		x = []Dim{NewDim(1), x[0]}
	}
	if column {
		y = []Dim{y[0], NewDim(1)}
	}
	m, n := len(x)-2, len(y)-2
	c.sameSize(x[m+1], y[n])
	out := c.broadcast(x[:m], y[:n])
	if !row {
		out = append(out, x[m])
	}
	if !column {
		out = append(out, y[n+1])
	}
	return out
}

func gemmShape(a, b int) shapeRule {
	return func(c *ShapeCall) []Known {
		x, y := c.Dims(a), c.Dims(b)
		out := ofRank(c.Type(a), 2)
		if x != nil && len(x) != 2 || y != nil && len(y) != 2 {
			c.Fail("a product of %v", c.shapes())
		}
		if c.Bool("transA", false) {
			slices.Reverse(x)
		}
		if c.Bool("transB", false) {
			slices.Reverse(y)
		}
		if x != nil {
			out.Dims[0] = x[0]
		}
		if y != nil {
			out.Dims[1] = y[1]
		}
		if x != nil && y != nil {
			c.sameSize(x[1], y[0])
		}
		return []Known{out}
	}
}

func einsumShape(c *ShapeCall) []Known {
	out := Known{Type: c.Type(0)}
	terms, result, explicit := strings.Cut(strings.ReplaceAll(c.String("equation", ""), " ", ""), "->")
	sizes, rest, seen := map[rune]Dim{}, []Dim{}, map[rune]int{}
	for i, term := range strings.Split(terms, ",") {
		dims := c.Dims(i)
		left, right, dots := strings.Cut(term, "...")
		if dims == nil || len(dims) < len(left)+len(right) || !dots && len(dims) != len(left) {
			return []Known{out}
		}
		behind := len(dims) - len(right)
		for k, letter := range left + right {
			d := dims[min(k, len(dims)-1)]
			if k >= len(left) {
				d = dims[behind+k-len(left)]
			}
			if seen[letter]++; seen[letter] > 1 {
				d = c.broadcastSize(sizes[letter], d)
			}
			sizes[letter] = d
		}
		if dots {
			rest = c.broadcast(rest, dims[len(left):behind])
		}
	}
	if !explicit { // "..." and what is there once, in the order of the alphabet
		letters := slices.Sorted(maps.Keys(seen))
		result = "..."
		for _, l := range letters {
			if seen[l] == 1 {
				result += string(l)
			}
		}
	}
	out.Dims = []Dim{}
	left, right, dots := strings.Cut(result, "...")
	for _, l := range left {
		out.Dims = append(out.Dims, sizes[l])
	}
	if dots {
		out.Dims = append(out.Dims, rest...)
		for _, l := range right {
			out.Dims = append(out.Dims, sizes[l])
		}
	}
	return []Known{out}
}

func detShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) < 2 {
		return []Known{{Type: c.Type(0)}}
	}
	return []Known{{Type: c.Type(0), Dims: dims[:len(dims)-2]}}
}
