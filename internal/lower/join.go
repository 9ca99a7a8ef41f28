package lower

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels/ir"
)

// joins are the macros of rows.cl that reduce two elements.
var joins = map[ir.Kind]string{
	ir.Sum: "JOIN_SUM", ir.Prod: "JOIN_PROD", ir.Max: "JOIN_MAX", ir.Min: "JOIN_MIN", ir.MaxNumber: "JOIN_MAX_NUMBER",
}

// wholes reduce the lanes of a vector of floats, by functions of rows_cpu.cl; those of ints end in _int.
var wholes = map[ir.Kind]string{
	ir.Sum: "sum16", ir.Prod: "prod16", ir.Max: "top16", ir.Min: "bottom16", ir.MaxNumber: "max16",
}

// reduced returns the reduction of a and b.
func reduced(v ir.Value, a, b string) string {
	return fmt.Sprintf("%s(%s, %s)", joins[v.Kind], a, b)
}

// none returns the reduction of nothing.
func none(v ir.Value) string {
	switch {
	case v.Kind == ir.Sum:
		return "0"
	case v.Kind == ir.Prod:
		return "1"
	case v.Int && v.Kind == ir.Max:
		return "INT_MIN"
	case v.Int:
		return "INT_MAX"
	case v.Kind == ir.Min:
		return "INFINITY"
	}
	return "-INFINITY"
}

// typed returns an OpenCL type of floats, or that of as many ints.
func typed(v ir.Value, floats string) string {
	if v.Int {
		return strings.Replace(floats, "REAL", "int", 1)
	}
	return floats
}

// pairwise reports whether a reduction is a sum that is rounded.
func pairwise(v ir.Value) bool { return v.Kind == ir.Sum && !v.Int }

// tree is a tree over the lanes of a line on GPUs, in local memory of some elements.
type tree struct{ name, Type string }

// treeOf returns the tree of a reduction: sums are REAL2 where there are two.
func treeOf(v ir.Value, two bool) tree {
	if two {
		return tree{name: "t_sums", Type: "REAL2"}
	}
	t := tree{name: "t_" + strings.ToLower(strings.TrimPrefix(joins[v.Kind], "JOIN_")), Type: typed(v, "REAL")}
	if v.Int {
		t.name += "_int"
	}
	return t
}

// function is the name of the function of a tree.
func (t tree) function() string { return strings.Replace(t.name, "t_", "tree_", 1) }

// trees returns those that a program takes on GPUs.
func (l *plan) trees() (list []tree) {
	seen := map[string]bool{}
	add := func(t tree) {
		if !seen[t.name] {
			seen[t.name], list = true, append(list, t)
		}
	}
	for _, p := range l.passes {
		sums := 0
		for _, i := range p.reduces {
			if v := l.p.Values[i]; pairwise(v) {
				sums++
			} else {
				add(treeOf(v, false))
			}
		}
		if sums%2 == 1 {
			add(treeOf(ir.Value{Kind: ir.Sum}, false))
		}
		if sums > 1 {
			add(treeOf(ir.Value{Kind: ir.Sum}, true))
		}
	}
	if l.p.Runs() {
		add(treeOf(ir.Value{Kind: ir.Sum}, false))
	}
	return list
}
