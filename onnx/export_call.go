package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// exports has how an operation is written, by the name that it is recorded under: a function returns the names of its
// results. It fails for arguments that the specification does not express.
var exports map[string]func(c *exportCall) []string

func init() { // for the functions call what reads it
	exports = map[string]func(c *exportCall) []string{}
	for _, table := range []map[string]func(c *exportCall) []string{
		exportShapes, exportReductions, exportIndices, exportProducts, exportConvolutions, exportNorms, exportLosses,
		exportRecurrent, exportScans, exportTransforms, {"elementwise": exportElementwise},
	} {
		for op, f := range table {
			exports[op] = f
		}
	}
}

// arg returns argument i of a type, which is the same in all runs.
func arg[T comparable](c *exportCall, i int) T {
	v := c.runs[0].Args[i].(T)
	for _, run := range c.runs[1:] {
		if run.Args[i].(T) != v {
			fail("%v follows from the inputs", v)
		}
	}
	return v
}

// argInts returns argument i, a list that is the same in all runs.
func argInts(c *exportCall, i int) []int {
	list := c.runs[0].Args[i].([]int)
	for _, run := range c.runs[1:] {
		if !slices.Equal(run.Args[i].([]int), list) {
			fail("%v follows from the inputs", list)
		}
	}
	return list
}

// argOptions returns the options of a call, none or one, in argument i.
func argOptions[T any](c *exportCall, i int) (o T) {
	if list := c.runs[0].Args[i].([]T); len(list) > 0 {
		o = list[0]
	}
	return o
}

// value returns argument i, a node or a tensor.
func (c *exportCall) value(i int) value {
	return c.each(func(run int) any { return c.runs[run].Args[i] })
}

// result returns result i.
func (c *exportCall) result(i int) value {
	return c.each(func(run int) any { return c.runs[run].Results[i] })
}

func (c *exportCall) each(f func(run int) any) value {
	v := make(value, len(c.runs))
	for r := range v {
		v[r] = f(r)
	}
	return v
}

// listOf returns argument i, a list of nodes or tensors.
func listOf[T any](c *exportCall, i int) []value {
	n := len(c.runs[0].Args[i].([]T))
	for _, run := range c.runs {
		if len(run.Args[i].([]T)) != n {
			fail("it takes %d operands, and another number for other inputs", n)
		}
	}
	list := make([]value, n)
	for k := range list {
		list[k] = c.each(func(run int) any { return c.runs[run].Args[i].([]T)[k] })
	}
	return list
}

// in returns the name of argument i.
func (c *exportCall) in(i int) string { return c.e.name(c.value(i)) }

// as returns the name of argument i converted to a type.
func (c *exportCall) as(i int, typ tensor.Type) string { return c.e.as(c.value(i), typ) }

// as returns the name of a value converted to a type, "" for nil.
func (e *exporter) as(v value, typ tensor.Type) string {
	if v.absent() {
		return ""
	}
	return e.cast(e.name(v), typeIn(v), typ)
}

// typ returns the type of result 0.
func (c *exportCall) typ() tensor.Type { return typeIn(c.result(0)) }

// rank returns the rank of argument i.
func (c *exportCall) rank(i int) int { return tensorIn(c.runs[0].Args[i]).Rank() }

// shape returns the shape of argument i.
func (c *exportCall) shape(i int) []size { return shapeOf(c.value(i)) }

// axis returns argument i, an axis of a rank, counted from the front.
func (c *exportCall) axis(i, rank int) int { return fromFront(arg[int](c, i), rank) }

func fromFront(axis, rank int) int {
	if axis < 0 {
		return axis + max(rank, 1)
	}
	return axis
}

// op adds a node with one result and returns the name of that.
func (e *exporter) op(op string, in []string, a ...*onnxpb.Attribute) string {
	return e.ops(op, 1, in, a...)[0]
}

// ops adds a node and returns the names of its results.
func (e *exporter) ops(op string, results int, in []string, a ...*onnxpb.Attribute) []string {
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	name := e.fresh(op)
	out := []string{name}
	for i := 1; i < results; i++ {
		out = append(out, e.fresh(op))
	}
	present := slices.DeleteFunc(a, func(a *onnxpb.Attribute) bool { return a == nil })
	node := &onnxpb.Node{Name: name, Op: op, Inputs: slices.Clone(in), Outputs: slices.Clone(out), Attributes: present}
	e.nodes = append(e.nodes, node)
	return out
}

func integer(name string, v int) *onnxpb.Attribute {
	return &onnxpb.Attribute{Name: name, Type: onnxpb.AttrInt, Int: int64(v)}
}

func ints(name string, list ...int) *onnxpb.Attribute {
	a := &onnxpb.Attribute{Name: name, Type: onnxpb.AttrInts}
	for _, v := range list {
		a.Ints = append(a.Ints, int64(v))
	}
	return a
}

func float(name string, v float64) *onnxpb.Attribute {
	return &onnxpb.Attribute{Name: name, Type: onnxpb.AttrFloat, Float: float32(v)}
}

func word(name, v string) *onnxpb.Attribute {
	return &onnxpb.Attribute{Name: name, Type: onnxpb.AttrString, String: v}
}

func boolean(name string, v bool) *onnxpb.Attribute {
	if v {
		return integer(name, 1)
	}
	return integer(name, 0)
}

// list returns the name of a vector of Int64.
func (e *exporter) list(list ...int) string {
	wide := make([]int64, len(list))
	for i, v := range list {
		wide[i] = int64(v)
	}
	return e.literal(tensor.New(e.device(), wide, len(wide)))
}

// device returns the device of the model.
func (e *exporter) device() tensor.Device { return e.examples[0].Device() }

// scalar returns the name of a number of a type, of rank 0.
func (e *exporter) scalar(typ tensor.Type, v float64) string {
	if typ == tensor.Bool {
		return e.cast(e.scalar(tensor.Uint8, v), tensor.Uint8, typ)
	}
	if typ == tensor.Int64 && v >= math.MaxInt64 {
		return e.literal(tensor.New(e.device(), []int64{math.MaxInt64}).Reshape())
	}
	if !math.IsInf(v, 0) {
		v = typ.Limit(v)
	}
	return e.literal(tensor.NewOf(e.device(), typ, []float64{v}).Reshape())
}

// literal returns the name of a tensor that the exporter made: the one that it has already, if there is one.
func (e *exporter) literal(t *tensor.Tensor) string {
	raw, err := rawOf(t)
	if err != nil {
		fail("%v", err)
	}
	key := fmt.Sprint(t.Type(), t.Shape(), len(raw)) + string(raw)
	if name := e.small[key]; name != "" {
		return name
	}
	before := e.path
	e.path = ""
	name := e.fresh("constant")
	e.path = before
	e.small[key] = name
	e.tensors = append(e.tensors, weight{name, t})
	return name
}

// cast returns the name of a value converted to a type.
func (e *exporter) cast(name string, from, to tensor.Type) string {
	if from == to {
		return name
	}
	return e.op("Cast", []string{name}, integer("to", int(dataTypeOf(to))))
}

// axesGone returns a vector of one element as a scalar.
func (e *exporter) axesGone(name string) string { return e.op("Squeeze", []string{name, e.list(0)}) }

// transpose returns a value with its axes in another order.
func (e *exporter) transpose(name string, perm []int) string {
	if slices.IsSorted(perm) {
		return name
	}
	return e.op("Transpose", []string{name}, ints("perm", perm...))
}

func sequence(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// wideType returns the type that a call computes in: that of its result, or Float32 for 16 bits.
func wideType(typ tensor.Type) tensor.Type {
	if typ.Half() {
		return tensor.Float32
	}
	return typ
}

// promoted returns the type that holds the elements of all values.
func promoted(list ...value) tensor.Type {
	var tensors []*tensor.Tensor
	for _, v := range list {
		if t := tensorIn(v[0]); t != nil {
			tensors = append(tensors, t)
		}
	}
	return tensorapi.Impl.Promoted(tensors...)
}
