package autograd

import (
	"fmt"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Autocast runs f with the operations on nodes of d in mixed precision, as torch.autocast does:
//
//	autograd.Autocast(d, tensor.BFloat16, func() {
//		loss = autograd.CrossEntropy(model.Forward(x), labels)
//	})
//	err := loss.Backward()
//
// Products, convolutions and attention convert operands of Float32 to typ, Float16 or BFloat16, and
// give it; what needs the range or the precision of Float32, such as exponentials, norms, sums and
// losses, converts operands of 16 bits to it. All others take what comes, and promote.
// docs/types.md lists them. Parameters stay what they are: the copy of one in 16 bits is made once,
// and used again until the parameter changes; in a step that is recorded it is made where it is
// used. With Float16 losses need an optim.LossScaler, with BFloat16 they do not. With Float32
// nothing is cast: f may turn a part of itself off.
//
// Autocast claims d for f as [NoGrad] does, and ends when f returns or panics. It panics with
// tensor.ErrType for another type.
//
// Gradients have the type of what they are of. Backward is not cast, be it in f or after it.
func Autocast(d tensor.Device, typ tensor.Type, f func()) {
	const op = "Autocast"
	if !typ.Half() && typ != tensor.Float32 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrType,
			Detail: fmt.Sprintf("it casts to float16 or bfloat16, or to none with float32: not to %v", typ)})
	}
	defer tensorapi.Impl.Unclaim(d, claim(d, op))
	m := *modeOf(d, op)
	m.cast = nil
	if typ.Half() {
		m.cast = &casts{typ: typ, params: map[*Node]castParam{}}
		defer m.cast.free()
		autocasts.Add(1)
		defer autocasts.Add(-1)
	}
	defer leave(d, m.enter(d))
	f()
}

// autocasts counts the Autocasts under way on all devices.
var autocasts atomic.Int32

// casts is what an Autocast casts to, with the parameters that it cast.
type casts struct {
	typ    tensor.Type
	params map[*Node]castParam
}

// castParam is a parameter in 16 bits, of one version of its value.
type castParam struct {
	node    *Node
	version uint64
}

// castsOf returns what is cast among operations on x, or nil.
func castsOf(x *Node) *casts {
	if autocasts.Load() == 0 || x == nil || x.value == nil {
		return nil
	}
	return modeOf(x.value.Device(), "Autocast").cast
}

// castLow returns x as an operand of what an Autocast computes in 16 bits.
func castLow(x *Node) *Node {
	c := castsOf(x)
	if c == nil {
		return x
	}
	switch typ := x.value.Type(); {
	case typ == c.typ, typ != tensor.Float32 && !typ.Half(), x.value.Freed(): // the operation says that it was freed
		return x
	case !x.param, capture.Recordings.Load() > 0: // a recorded step casts what it finds each time it runs
		return x.To(c.typ)
	}
	now, graph := tensorapi.Impl.Version(x.use("Autocast")), x.needs && !noGrad(x.value.Device(), "Autocast")
	if had, ok := c.params[x]; ok {
		if had.version == now && !had.node.freed && !had.node.value.Freed() && had.node.needs == graph {
			return had.node
		}
		c.drop(had.node)
	}
	y := x.To(c.typ)
	y.ext().cast = true
	c.params[x] = castParam{y, now}
	return y
}

// castFloat32 returns x as an operand of what an Autocast computes in float32.
func castFloat32(x *Node) *Node {
	if c := castsOf(x); c == nil || !x.value.Type().Half() {
		return x
	}
	return x.To(tensor.Float32)
}

// each returns a list with f of its nodes.
func each(list []*Node, f func(x *Node) *Node) []*Node {
	out := make([]*Node, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// free frees the parameters in 16 bits that no graph holds.
func (c *casts) free() {
	for _, p := range c.params {
		c.drop(p.node)
	}
}

// drop frees a parameter in 16 bits, unless a graph has it.
func (c *casts) drop(n *Node) {
	if !n.needs && n.extra.readers == 0 && !n.value.Freed() {
		n.Free()
	}
}
