package onnx

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "Cast", Attributes: "to saturate round_mode", Shape: castShape, Run: func(c *Call) []*Value {
			a := c.attribute("to", onnxpb.AttrInt)
			if a == nil {
				c.Fail("attribute to is missing")
			}
			return cast(c, onnxpb.DataType(a.Int))
		}},
		Operator{Name: "CastLike", Attributes: "saturate round_mode", Shape: castLikeShape, Run: func(c *Call) []*Value {
			if c.Value(1).kind == stringsValue {
				return cast(c, onnxpb.String)
			}
			return cast(c, dataTypeOf(c.Type(1)))
		}},
		Operator{Name: "BitCast", Attributes: "to", Run: bitCast,
			Shape: func(c *ShapeCall) []Known { return []Known{c.In(0).as(c.typeAttribute("to", ""))} }},
	)
}

// cast converts to a type.
func cast(c *Call, to onnxpb.DataType) []*Value {
	v := c.Value(0)
	if to == onnxpb.String {
		if v.kind == stringsValue {
			return []*Value{v}
		}
		return []*Value{{kind: stringsValue, strings: c.formatted(), shape: c.dims(0)}}
	}
	typ, err := typeOf(to)
	if err != nil {
		c.Unsupported("from %v to %v", v, to)
	}
	if v.kind == stringsValue {
		return Out(c.parsed(v, typ))
	}
	return Out(c.converted(c.Node(0), c.r.s.wide(typ)))
}

// roundings are what the attribute round_mode says of conversions to floats of an exponent alone.
var roundings = map[string]lowbit.Rounding{"up": lowbit.RoundUp, "down": lowbit.RoundDown, "nearest": lowbit.RoundNearest}

// fewBits are the integers of less than a byte.
var fewBits = []tensor.Type{tensor.Int4, tensor.Uint4, tensor.Int2, tensor.Uint2}

// converted returns x in another type, as the attributes saturate and round_mode say.
func (c *Call) converted(x *autograd.Node, typ tensor.Type) *autograd.Node {
	if !typ.Storage() {
		return x.To(typ)
	}
	switch {
	case typ == tensor.Float4E2M1 && !x.Type().Storage() && x.Type().Float(): // which has no NaN: it is −0
		x = x.NanToNum(math.Copysign(0, -1), math.Inf(1), math.Inf(-1))
	case slices.Contains(fewBits, typ) && !x.Type().Storage() && x.Type().Float(): // the low bits of the integer
		x = x.To(tensor.Int32)
	}
	mode, ok := roundings[c.String("round_mode", "up")]
	if !ok {
		c.Unsupported("round_mode %q", c.String("round_mode", ""))
	}
	return autograd.Const(tensor.Cast(x.Value(), typ, tensor.CastOptions{NoSaturation: !c.Bool("saturate", true), E8M0: mode}))
}

// formatted returns the numbers of input 0 as strings. Those of floats are the shortest that give the same number.
func (c *Call) formatted() []string {
	typ := c.Type(0)
	list := make([]string, c.count(c.dims(0)))
	switch {
	case typ.Integer() && typ != tensor.Uint64:
		for i, n := range c.Int64s(0) {
			list[i] = strconv.FormatInt(n, 10)
		}
	case typ == tensor.Uint64:
		for i, n := range c.Int64s(0) {
			list[i] = strconv.FormatUint(uint64(n), 10)
		}
	default:
		bits := 64
		if typ != tensor.Float64 {
			bits = 32
		}
		for i, x := range c.Floats(0) {
			list[i] = formatFloat(x, bits)
		}
	}
	return list
}

// formatFloat writes a float without an exponent, unless it has many digits then.
func formatFloat(x float64, bits int) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "INF"
	case math.IsInf(x, -1):
		return "-INF"
	case size != 0 && (size < 1e-5 || size >= 1e17):
		return strconv.FormatFloat(x, 'e', -1, bits)
	}
	return strconv.FormatFloat(x, 'f', -1, bits)
}

// parsed returns strings as numbers. A float as an integer is cut off.
func (c *Call) parsed(v *Value, typ tensor.Type) *autograd.Node {
	shape := v.shape
	if typ.Float() {
		list := make([]float64, len(v.strings))
		for i, s := range v.strings {
			list[i] = c.parseFloat(s)
		}
		return autograd.Const(tensor.NewOf(c.dev, typ, list, append([]int{}, shape...)...))
	}
	list := make([]int64, len(v.strings))
	for i, s := range v.strings {
		s = strings.TrimSpace(s)
		n, err := strconv.ParseInt(s, 10, 64)
		if u, e := strconv.ParseUint(s, 10, 64); err != nil && e == nil {
			n, err = int64(u), nil
		}
		if b, e := strconv.ParseBool(s); err != nil && e == nil && typ == tensor.Bool {
			if err = nil; b {
				n = 1
			}
		}
		if err != nil {
			n = int64(c.parseFloat(s))
		}
		list[i] = n
	}
	return autograd.Const(tensor.NewOf(c.dev, typ, list, append([]int{}, shape...)...))
}

// parseFloat reads a decimal number, an infinity or NaN.
func (c *Call) parseFloat(s string) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil && !math.IsInf(x, 0) {
		c.Fail("%q is no number", s)
	}
	return x
}

// bitCast gives bits another type of their size.
func bitCast(c *Call) []*Value {
	a := c.attribute("to", onnxpb.AttrInt)
	if a == nil {
		c.Fail("attribute to is missing")
	}
	to, err := typeOf(onnxpb.DataType(a.Int))
	if err != nil {
		c.Unsupported("to %v", onnxpb.DataType(a.Int))
	}
	from := c.Type(0)
	if from.Size() != to.Size() {
		c.Fail("from %v to %v", from, to)
	}
	return Out(autograd.Const(tensor.Bitcast(c.Node(0).Value(), to)))
}

func castShape(c *ShapeCall) []Known { return []Known{c.In(0).cast(c.typeAttribute("to", ""))} }

func castLikeShape(c *ShapeCall) []Known { return []Known{c.In(0).cast(c.Type(1))} }

// followed are the types of elements that are followed.
var followed = []string{"int64", "int32", "bool", "float", "double"}

// cast returns k in another type. Floats are cut off towards 0.
func (k Known) cast(typ string) Known {
	out := k.as(typ)
	if k.elements == nil || !slices.Contains(followed, typ) || !slices.Contains(followed, k.Type) {
		return out
	}
	out.elements = make([]element, len(k.elements))
	for i, e := range k.elements {
		n, ok := e.number()
		switch {
		case typ == "bool":
			holds, known := isZero(e.dim)
			out.elements[i] = truth(!holds, known)
		case ok && (typ == "float" || typ == "double"):
			out.elements[i] = elementOf(n, typ)
		case ok && e.isFloat:
			out.elements[i] = elementOf(math.Trunc(n), typ)
		default:
			out.elements[i] = e
		}
	}
	return out
}
