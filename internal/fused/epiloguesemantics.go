package fused

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// identity copies its operand, in descriptions: package fn, which has the function of that name,
// imports this one.
var identity = &kernels.Function{Name: "copy", Value: expr.Input(0), Integers: true}

// semantics returns what says what a launch computes: nil where the kernel does not say it.
func (s *epilogueBuilder) semantics() func(args []kernels.Arg) []kernels.Op {
	if s.base.Semantics == nil {
		return nil
	}
	return func(args []kernels.Arg) []kernels.Op {
		base, result := s.baseArgs(args), Of(s.base).Epilogue.Result
		value := kernels.View{Arg: result}
		var before []kernels.Op
		if !s.Keep {
			const other = 100 // than the temporaries of any kernel
			value.Arg = operation.Temp(other)
			if Of(s.base).Epilogue.reads(base) { // what is there stays there
				before = append(before, &operation.Map{Dims: []int{s.elements(args)},
					Operands: []kernels.View{kernels.ViewOf(base, result, 0, 1)},
					Results: []operation.Result{{Function: identity, View: kernels.View{Arg: value.Arg,
						Type: kernels.ViewOf(base, result, 0).Type, Strides: []int{1}}}}})
			}
		}
		ops := s.base.Semantics(base)
		if len(ops) == 0 {
			return nil
		}
		for _, op := range ops {
			for _, v := range viewsOf(op) {
				if v.Arg == result {
					v.Arg = value.Arg
				}
			}
		}
		mapArgs := s.mapArgs(args, base[result])
		m := s.m.semantics(mapArgs)[0].(*operation.Map)
		first := s.m.stridesAt(s.at)
		to := func(i int) int { // of the map's arguments
			switch {
			case i == s.at:
				return value.Arg
			case i > first:
				i -= s.m.outer
			}
			if i > s.at {
				i--
			}
			return len(s.base.Params) + i
		}
		for i := range m.Operands {
			if m.Uses(i) {
				m.Operands[i].Arg = to(m.Operands[i].Arg)
			}
		}
		for i := range m.Results {
			m.Results[i].View.Arg = to(m.Results[i].View.Arg)
			m.Results[i].Scalars = slices.Clone(m.Results[i].Scalars)
			for k, scalar := range m.Results[i].Scalars {
				if scalar.Arg > 0 {
					m.Results[i].Scalars[k].Arg = to(scalar.Arg)
				}
			}
		}
		return append(append(before, ops...), m)
	}
}

// viewsOf returns the views of an operation, to be changed.
func viewsOf(op kernels.Op) []*kernels.View {
	switch op := op.(type) {
	case *operation.Map:
		var list []*kernels.View
		for i := range op.Operands {
			if op.Uses(i) {
				list = append(list, &op.Operands[i])
			}
		}
		for i := range op.Results {
			list = append(list, &op.Results[i].View)
		}
		return list
	case *operation.MatMul:
		return []*kernels.View{&op.A, &op.B, &op.C}
	case *operation.Gather:
		return []*kernels.View{&op.X, &op.Index, &op.Y}
	case *operation.Scatter:
		return []*kernels.View{&op.X, &op.Index, &op.Y}
	case *operation.Random:
		return []*kernels.View{&op.Y}
	case *operation.CrossEntropy:
		return append(op.Inputs(), &op.Loss, &op.Counted, &op.Most, &op.LogSum, &op.Slope)
	case *operation.CrossEntropyGrad:
		return append(op.Inputs(), &op.Most, &op.LogSum, &op.Slope, &op.G, &op.D)
	case interface{ AllViews() []*kernels.View }:
		return op.AllViews()
	}
	return nil
}
