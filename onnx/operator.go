package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Operator is an operator of a domain, from a version of the domain's opset on until the next one that is registered.
type Operator struct {
	Domain     string                 // "" is ai.onnx
	Name       string                 // as nodes have it
	Since      int                    // the first version of the opset, 0 as 1
	Attributes string                 // names of the attributes that Run knows, separated by blanks
	Run        func(c *Call) []*Value // computes the outputs of a node; nil is one that nobody asks for

	// Shape returns what is known of the outputs without a run: see [Model.Shapes]. It says nothing of outputs that it
	// leaves out. nil says nothing.
	Shape func(c *ShapeCall) []Known

	// OnDevice says that Run computes on the session's device, where its inputs may be on the host's: it draws random
	// numbers, or is not for shapes.
	OnDevice bool
}

// Domains of the specification beside ai.onnx.
const (
	ml       = "ai.onnx.ml"               // classical machine learning
	training = "ai.onnx.preview.training" // optimizers and gradients
)

// operators has those of a name, newest first.
var (
	operatorsMutex sync.RWMutex
	operators      = map[string][]Operator{}
)

// Register adds operators to the table that all models are loaded by. One that has the domain, name and version of
// another replaces it. It panics if one has no name or no Run.
func Register(list ...Operator) {
	operatorsMutex.Lock()
	defer operatorsMutex.Unlock()
	for _, o := range list {
		if o.Name == "" || o.Run == nil {
			panic(fmt.Sprintf("onnx: Register: operator %q of domain %q has no name or no Run", o.Name, o.Domain))
		}
		o.Domain, o.Since = domainOf(o.Domain), max(o.Since, 1)
		key := operatorName(o.Domain, o.Name)
		versions := slices.DeleteFunc(operators[key], func(p Operator) bool { return p.Since == o.Since })
		versions = append(versions, o)
		slices.SortFunc(versions, func(a, b Operator) int { return b.Since - a.Since })
		operators[key] = versions
	}
}

// findOperator returns the operator for a version of its domain's opset.
func findOperator(domain, name string, version int) (Operator, error) {
	operatorsMutex.RLock()
	defer operatorsMutex.RUnlock()
	key := operatorName(domain, name)
	versions, ok := operators[key]
	if !ok {
		return Operator{}, fmt.Errorf("%w: operator %s", ErrUnsupported, key)
	}
	for _, o := range versions {
		if o.Since <= version {
			return o, nil
		}
	}
	return Operator{}, fmt.Errorf("%w: operator %s of opset %d: it is there since %d", ErrUnsupported, key, version, versions[len(versions)-1].Since)
}

// knows reports whether the operator has an attribute.
func (o Operator) knows(attribute string) bool {
	return slices.Contains(strings.Fields(o.Attributes), attribute)
}

// Operators returns the table: every operator that is registered, by domain and name, older versions first.
func Operators() []Operator {
	operatorsMutex.RLock()
	defer operatorsMutex.RUnlock()
	var list []Operator
	for _, versions := range operators {
		list = append(list, versions...)
	}
	slices.SortFunc(list, func(a, b Operator) int {
		return cmp.Or(strings.Compare(a.Domain, b.Domain), strings.Compare(a.Name, b.Name), a.Since-b.Since)
	})
	return list
}
