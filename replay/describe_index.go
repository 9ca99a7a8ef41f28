package replay

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// indexed prints "gather rows %1 of %3[64,10]", "scatter-add %3[9,10] to rows %1", and "gather axis 1 %1 of
// %3[2,64,10]" where each element has an index of its own or lines are of several matrices.
func (d *described) indexed(op kernels.Op) string {
	shape := func(outer, n, cols int, index kernels.View) (where, dims string) {
		if outer == 1 && index.Strides[2] == 0 {
			return "rows", shapeText([]int{n, cols})
		}
		return "axis 1", shapeText([]int{outer, n, cols})
	}
	switch op := op.(type) {
	case *operation.Gather:
		where, dims := shape(op.Outer, op.Rows, op.Cols, op.Index)
		return fmt.Sprintf("gather %s %s of %s%s", where, d.read(op.Index), d.read(op.X), dims)
	case *operation.Scatter:
		name := "scatter-" + op.Function.Name
		if op.Function == fn.Identity {
			name = "scatter"
		}
		where, dims := shape(op.Outer, op.N, op.Cols, op.Index)
		return fmt.Sprintf("%s %s%s to %s %s", name, d.read(op.X), dims, where, d.read(op.Index))
	}
	return ""
}

// pad prints "pad reflect %3[8,28,28] before 0,1,1 to [8,30,30]", and "reverse %3[8,28]" of a pad that changes the
// order alone.
func (d *described) pad(grad string, axes []operation.PadAxis, x kernels.View) string {
	var sizes, results, before []int
	mode, as := operation.PadConstant, true
	for _, a := range axes {
		sizes, results, before = append(sizes, a.Size), append(results, a.OutSize), append(before, a.Before)
		mode, as = max(mode, a.Mode), as && a.Size == a.OutSize && a.Before == 0
	}
	from := sizes
	if grad != "" {
		from = results
	}
	if as {
		return "reverse" + grad + " " + d.read(x) + shapeText(from)
	}
	name := [...]string{"constant", "reflect", "replicate", "circular"}[mode]
	text := fmt.Sprintf("pad%s %s %s%s before %s", grad, name, d.read(x), shapeText(from),
		strings.Trim(shapeText(before), "[]"))
	if grad != "" {
		return text + " of " + shapeText(sizes)
	}
	return text + " to " + shapeText(results)
}
