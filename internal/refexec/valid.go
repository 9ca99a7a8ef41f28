package refexec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

const floats, ints = kernels.Float32, kernels.Int32

// valid returns what is wrong with an operation of a launch before any element is looked at, or
// nil.
func valid(op kernels.Op, args []kernels.Arg) error {
	c := checker{args: args}
	switch op := op.(type) {
	case *operation.Map:
		c.positive(op.Dims...)
		for k, r := range op.Results {
			c.result(k, r, len(op.Operands), len(op.Dims))
		}
		for i, v := range op.Operands {
			switch {
			case len(c.errs) > 0 || !op.Uses(i):
			case !op.Gathers(i):
				c.view(fmt.Sprintf("operand %d", i), v, len(op.Dims))
			case i >= len(op.Elements) || op.Elements[i] < 0:
				c.fail("operand %d is read by index, and has no number of elements", i)
			default:
				c.view(fmt.Sprintf("operand %d", i), v, 1)
			}
		}
	case *operation.MatMul:
		c.positive(op.M, op.N, op.K, op.Slice-1)
		c.positive(op.Batch...)
		c.product([]kernels.View{op.A, op.B}, len(op.Batch)+2, op.C, len(op.Batch)+3)
	case *operation.Reduction:
		c.positive(op.Outer, op.Len, op.Inner, op.Shares, op.Chunk)
		c.view("X", op.X, 3)
		c.view("Y", op.Y, 3)
		extreme := op.Function == fn.Max || op.Function == fn.Min
		if !extreme && op.Function != fn.Add && op.Function != fn.Mul {
			c.fail("its function is not Add, Mul, Max or Min")
		}
		c.optional("Given", op.Given, 3)
		c.optional("Index", op.Index, 3)
		indexed := op.Index.Strides != nil
		if indexed && !(extreme && op.Index.Type.Integer()) || !indexed && op.Given.Strides != nil {
			c.fail("an Index is of integers, and of a maximum or minimum; Given is of an Index")
		}
	case *operation.Gather:
		c.rows(op.Outer, op.N, op.Cols, op.Rows, op.X, op.Index, op.Y)
		c.view("Y", op.Y, 3, op.X.Type)
	case *operation.Scatter:
		c.rows(op.Outer, op.N, op.Cols, op.Rows, op.X, op.Index, op.Y)
		if op.Y.Type != op.X.Type && !(op.Y.Type == floats && op.X.Type.Half()) {
			c.fail("Y is of type %v, X of %v", op.Y.Type, op.X.Type)
		}
		if !slices.Contains([]*kernels.Function{fn.Identity, fn.Add, fn.Mul, fn.Min, fn.Max}, op.Function) {
			c.fail("its function is not Identity, Add, Mul, Min or Max")
		}
	case *operation.Random:
		c.positive(op.N)
		typ := floats
		if op.Distribution == operation.UniformInts {
			typ = ints
		} else {
			c.scalar("B", op.B)
		}
		c.view("Y", op.Y, 1, typ)
		for _, s := range []operation.Scalar{op.Seed[0], op.Seed[1], op.Call, op.A} {
			c.scalar("a number", s)
		}
		if op.Distribution > operation.UniformInts {
			c.fail("there is no such distribution")
		}
	case *operation.CrossEntropy:
		c.labelled(&op.CrossEntropySpec, true)
		for _, v := range []kernels.View{op.Loss, op.Counted, op.Most, op.LogSum, op.Slope} {
			c.floats("a result", v, 2)
		}
	case *operation.CrossEntropyGrad:
		c.labelled(&op.CrossEntropySpec, op.Logits)
		c.floats("G", op.G, 2)
		if op.Logits {
			for _, v := range []kernels.View{op.Most, op.LogSum, op.Slope} {
				c.floats("an operand", v, 2)
			}
		}
		c.floats("D", op.D, 3)
	case *operation.Attention:
		c.attention(&op.AttentionSpec, []kernels.View{op.LSE}, []kernels.View{op.Y})
	case *operation.AttentionGradQuery:
		c.attention(&op.AttentionSpec, []kernels.View{op.LSE, op.Delta}, []kernels.View{op.Y, op.G, op.DQ})
	case *operation.AttentionGradKeyValue:
		c.attention(&op.AttentionSpec, []kernels.View{op.LSE, op.Delta}, []kernels.View{op.G, op.DK, op.DV})
	case *operation.Convolution:
		c.convolution(op)
	case *operation.ConvolutionWeightGrad:
		c.convolutionWeightGrad(op)
	case *operation.Interpolate:
		c.interpolated(&op.InterpolateSpec, op.X, op.Y)
	case *operation.InterpolateGrad:
		c.interpolated(&op.InterpolateSpec, op.G, op.D)
	case *operation.Pad:
		c.paddings(op.Axes, op.X, op.Y)
		c.scalar("Value", op.Value)
	case *operation.PadGrad:
		c.paddings(op.Axes, op.D, op.G)
		c.floats("D", op.D, len(op.Axes))
	case *operation.Sort:
		c.sort(op)
	case *operation.Scan:
		c.scan(op)
	case *operation.Pool:
		c.pooled(&op.PoolSpec, op.Index, op.X, op.Y)
	case *operation.PoolGrad:
		c.pooled(&op.PoolSpec, op.Index, op.G, op.D)
	default:
		c.fail("a %T is none", op)
	}
	return errors.Join(c.errs...)
}

// checker collects what is wrong.
type checker struct {
	args []kernels.Arg
	errs []error
}

func (c *checker) fail(format string, a ...any) { c.errs = append(c.errs, fmt.Errorf(format, a...)) }

func (c *checker) positive(sizes ...int) {
	for _, n := range sizes {
		if n < 0 {
			c.fail("its sizes are %v", sizes)
			return
		}
	}
}

// view is of memory, with so many strides, and of one of the types, if any is named.
func (c *checker) view(name string, v kernels.View, rank int, types ...kernels.DType) {
	if len(v.Strides) != rank {
		c.fail("%s has %d strides for %d dimensions", name, len(v.Strides), rank)
	}
	if v.Arg >= 0 {
		if v.Arg >= len(c.args) || c.args[v.Arg].Kind != kernels.ArgBuffer {
			c.fail("%s: argument %d is no memory", name, v.Arg)
			return
		}
		if has := kernels.ViewOf(c.args, v.Arg, 0).Type; has != v.Type {
			c.fail("%s: argument %d has elements of type %v, not %v", name, v.Arg, has, v.Type)
		}
	}
	for _, t := range types {
		if v.Type != t {
			c.fail("%s is of type %v, not %v", name, v.Type, t)
		}
	}
}

// floats is view of floats, which may be of 16 bits.
func (c *checker) floats(name string, v kernels.View, rank int) {
	if c.view(name, v, rank); !v.Type.Float() {
		c.fail("%s is of type %v: it is of floats", name, v.Type)
	}
}

// product checks factors and what is the sum of their products: floats, or integers of up to 16 bits and Int32.
func (c *checker) product(factors []kernels.View, rank int, y kernels.View, rankY int) {
	c.view("the result", y, rankY)
	for i, v := range factors {
		c.view(fmt.Sprintf("factor %d", i), v, rank)
		if v.Type.Float() != y.Type.Float() || v.Type.Integer() && (v.Type.Size() > 2 || y.Type != ints) {
			c.fail("factor %d is of type %v, the result of %v", i, v.Type, y.Type)
		}
	}
}

func (c *checker) scalar(name string, s operation.Scalar) {
	if s.Arg >= len(c.args) || s.Arg >= 0 && c.args[s.Arg].Kind != kernels.ArgInt && c.args[s.Arg].Kind != kernels.ArgFloat {
		c.fail("%s: argument %d is no number", name, s.Arg)
	}
}

func (c *checker) result(k int, r operation.Result, operands, rank int) {
	name := fmt.Sprintf("result %d", k)
	c.view(name, r.View, rank)
	switch {
	case r.Function == nil:
		c.fail("%s has no function", name)
	case r.Function.Err() != nil:
		c.fail("%s: %v", name, r.Function.Err())
	case r.Function.Operands() > operands:
		c.fail("%s: %s takes %d operands, not %d", name, r.Function.Name, r.Function.Operands(), operands)
	case len(r.Function.Scalars) != len(r.Scalars):
		c.fail("%s: %s takes %d scalars, not %d", name, r.Function.Name, len(r.Function.Scalars), len(r.Scalars))
	case r.Function.Alone().Rank() > rank:
		c.fail("%s: %s reads the index along axis %d of %d", name, r.Function.Name, r.Function.Alone().Rank()-1, rank)
	case r.View.Type.Integer() && !r.Function.Integers && !r.Function.Is(0) && !r.Function.Condition():
		c.fail("%s: %s is no function of integers", name, r.Function.Name)
	default:
		for i, s := range r.Scalars {
			if r.Function.UsesScalar(i) {
				c.scalar(name, s)
			}
		}
	}
}

func (c *checker) labelled(l *operation.CrossEntropySpec, scores bool) {
	c.positive(l.Outer, l.Len, l.Inner)
	if scores {
		c.floats("X", l.X, 3)
	}
	c.view("Labels", l.Labels, 2, ints)
	if l.Weighted {
		c.floats("Weights", l.Weights, 1)
	}
	c.scalar("Smoothing", l.Smoothing)
}

func (c *checker) rows(outer, n, cols, rows int, x, index, y kernels.View) {
	c.positive(outer, n, cols, rows)
	c.view("X", x, 3)
	if c.view("Index", index, 3); !index.Type.Integer() {
		c.fail("Index is of type %v", index.Type)
	}
	c.view("Y", y, 3)
}
