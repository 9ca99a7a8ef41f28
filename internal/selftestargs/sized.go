// Package selftestargs makes the operands with which a device tries a kernel before its first launch.
package selftestargs

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Small returns the operands of small launches of k, none if it says nothing about them. The error
// says why those that it supplies are not those of a launch.
func Small(k *kernels.Kernel, float kernels.DType) ([]*kernels.Operands, error) {
	cases := k.Cases
	if cases == nil {
		if k.SelfTest != nil {
			if ops := k.SelfTest(nil); ops != nil {
				o, err := draw(k, ops, float, 0)
				return []*kernels.Operands{o}, err
			}
		}
		return nil, nil
	}
	var all []*kernels.Operands
	for i, c := range cases(true) {
		o := kernels.NewOperands(float, 1, uint64(i))
		c.Build(o)
		if err := fits(k, o, float); err != nil {
			return nil, fmt.Errorf("its case %q: %w", c.Name, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// Like returns the operands of a launch of k as that with the arguments args is, as its SelfTest has
// them, or nil for one that is not to be tried. The error is that of [Small].
func Like(k *kernels.Kernel, args []kernels.Arg, float kernels.DType) (*kernels.Operands, error) {
	var ops []kernels.Operand
	switch {
	case k.SelfTest != nil:
		ops = k.SelfTest(args)
	case k.Text == "":
		ops = selftest.OperandsLike(k.Params, args)
	}
	if ops == nil {
		return nil, nil
	}
	return draw(k, ops, float, 1)
}

// draw draws operands: what is drawn depends on the seed.
func draw(k *kernels.Kernel, ops []kernels.Operand, float kernels.DType, seed uint64) (*kernels.Operands, error) {
	if len(ops) != len(k.Params) {
		return nil, fmt.Errorf("its SelfTest makes %d operands for %d parameters", len(ops), len(k.Params))
	}
	o := kernels.NewOperands(float, 2, seed)
	for i, op := range ops {
		p := k.Params[i]
		switch t := p.Mode.Elements(float); {
		case p.Mode == kernels.IntParam:
			if op.Number != float64(int32(op.Number)) {
				return nil, fmt.Errorf("its SelfTest has %v for %s, an int", op.Number, p.Name)
			}
			o.Int(int(op.Number))
		case p.Mode == kernels.FloatParam:
			o.Float(op.Number)
		case op.N < 0:
			return nil, fmt.Errorf("its SelfTest has %d elements for %s", op.N, p.Name)
		case op.From != nil:
			before := o.Args
			o.Elements(t, op.N, func(i int) float64 { return op.From(before, i) })
		case op.Blank && t.Integer():
			o.Elements(t, op.N, func(int) float64 { return 77 })
		case op.Blank:
			o.Elements(t, op.N, func(int) float64 { return math.NaN() })
		default:
			o.Elements(t, op.N, func(int) float64 { return op.Lo + (op.Hi-op.Lo)*o.Rand.Float64() })
		}
	}
	return o, nil
}

// fits reports whether operands are arguments of k.
func fits(k *kernels.Kernel, o *kernels.Operands, float kernels.DType) error {
	if len(o.Args) != len(k.Params) {
		return fmt.Errorf("%d operands for %d parameters", len(o.Args), len(k.Params))
	}
	for i, p := range k.Params {
		a := o.Args[i]
		if a.Kind != p.Mode.Kind() {
			return fmt.Errorf("%s is %v, not %v", p.Name, a.Kind, p.Mode.Kind())
		}
		if a.Kind == kernels.ArgBuffer && a.Buf.DType() != p.Mode.Elements(float) {
			return fmt.Errorf("%s has elements of type %v, not %v", p.Name, a.Buf.DType(), p.Mode.Elements(float))
		}
	}
	return nil
}
