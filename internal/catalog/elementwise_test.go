package catalog

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/clgrad/clgrad/internal/operations"
)

// Cases of element-wise functions are by their names: the table of operations has the functions.
var (
	functions = elementwise("functions",
		[]string{"odd", "special", "nan", "empty", "scalar"}, []string{"broadcast", "special", "nan", "empty", "scalar"})
	elements = elementwise("elements",
		[]string{"odd", "special", "nan", "empty", "scalar"}, []string{"broadcast", "special", "nan", "empty", "scalar", "signs"},
		operation{"NanToNum", under(unary(func(x *node) *node { return x.NanToNum(0.5, 7, -8) }), "odd", "special", "nan", "empty", "scalar")})
	masks = elementwise("masks",
		[]string{"odd", "special", "ints", "empty"}, []string{"broadcast", "special", "ints", "empty"},
		operation{"MaskedSelect", under(binary((*node).MaskedSelect), "broadcast", "special", "none")})
)

// scalars are the numbers that the cases of a function take.
var scalars = map[string][]float64{
	"LeakyReLU": {0.1}, "Sine": {3}, "Pow": {3}, "Clamp": {-0.75, 1.25},
	"AddScalar": {1.5}, "SubScalar": {1.5}, "MulScalar": {1.5}, "DivScalar": {1.5}, "RSubScalar": {1.5}, "RDivScalar": {1.5},
	"MaxScalar": {0.75}, "MinScalar": {0.75},
	"ELU": {0.7}, "CELU": {0.5}, "Hardtanh": {-1, 2}, "SoftplusBeta": {1.5, 3}, "Lerp": {0.7},
	"Hardshrink": {0.5}, "Softshrink": {0.5},
	"EqScalar": {1}, "NeScalar": {1}, "LtScalar": {1}, "LeScalar": {1}, "GtScalar": {1}, "GeScalar": {1},
	"IsClose": {0.25, 0.5}, "IsCloseOrNaN": {0.25, 0.5}, "MaskedFill": {1.5},
}

// others are the cases of functions that have not those of their family.
var others = map[string][]string{
	"LerpTensor": {"broadcast", "special"}, "ClampTensor": {"broadcast", "special"},
	"Where": {"broadcast", "special", "empty"}, "MaskedFill": {"broadcast", "special"},
	"BitwiseNot": {"odd", "special", "bytes"}, "BitwiseAnd": {"broadcast", "special", "bytes"},
	"BitwiseOr": {"broadcast", "special", "bytes"}, "BitwiseXor": {"broadcast", "special", "bytes"},
	"BitwiseLeftShift": {"broadcast", "special"}, "BitwiseRightShift": {"broadcast", "special"},
}

// elementwise returns the cases of a family: those of its element-wise functions of one tensor and
// of several, and further operations.
func elementwise(name string, ofOne, ofSeveral []string, further ...operation) family {
	families, err := operations.Families()
	if err != nil {
		panic(err)
	}
	f := family{name, further}
	for _, o := range families[slices.IndexFunc(families, func(f operations.Family) bool { return f.Name == name })].Operations {
		if !o.Elementwise() {
			continue
		}
		call, operands := method(o.Name)
		names, ok := others[o.Name]
		switch {
		case ok:
		case operands == 1:
			names = ofOne
		default:
			names = ofSeveral
		}
		f.operations = append(f.operations, operation{o.Name, under(one(call), names...)})
	}
	return f
}

// method returns a method of Node, with its scalars, and how many nodes it takes.
func method(name string) (call func(in []*node) *node, operands int) {
	m, ok := reflect.TypeFor[*node]().MethodByName(name)
	if !ok {
		panic(fmt.Sprintf("Node has no %s: make generate", name))
	}
	var numbers int
	for i := range m.Type.NumIn() {
		if m.Type.In(i) == reflect.TypeFor[*node]() {
			operands++
		} else {
			numbers++
		}
	}
	if numbers != len(scalars[name]) {
		panic(fmt.Sprintf("%s takes %d scalars: add them to scalars of internal/catalog/elementwise_test.go", name, numbers))
	}
	return func(in []*node) *node {
		var args []reflect.Value
		for _, x := range in {
			args = append(args, reflect.ValueOf(x))
		}
		for _, s := range scalars[name] {
			args = append(args, reflect.ValueOf(s))
		}
		return m.Func.Call(args)[0].Interface().(*node)
	}, operands
}
