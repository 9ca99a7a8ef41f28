package replay

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/operation"
)

// sort prints "sort axis 1 of %3[8,100] descending", "topk 5 axis 1 of %3[8,100]", "median axis 1 of %3[8,100]", in
// blocks of the axis where it is done in several launches.
func (d *described) sort(op *operation.Sort) string {
	name, more := "sort", ""
	switch {
	case op.Median:
		name = "median"
	case op.Keep < min(op.Len, op.Block):
		name = fmt.Sprintf("topk %d", op.Keep)
	}
	if op.Descending {
		more = " descending"
	}
	if op.Block < op.Len {
		more += fmt.Sprintf(" in blocks of %d", op.Block)
	}
	return fmt.Sprintf("%s axis 1 of %s%s%s", name, d.read(op.X), shapeText([]int{op.Rows, op.Len}), more)
}
