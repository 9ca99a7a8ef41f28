package replay

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// scan prints "cumsum axis 1 of %3[1,64,10] reverse exclusive", and "linear-scan axis 1 of %3[1,64,10] decay %2" of a
// linear recurrence.
func (d *described) scan(op *operation.Scan) string {
	names := map[*kernels.Function]string{fn.Add: "cumsum", fn.Mul: "cumprod", fn.LogAddExp: "logcumsumexp",
		fn.Max: "cummax", fn.Min: "cummin"}
	name, more := names[op.Function], ""
	if op.Decay.Strides != nil {
		name, more = "linear-scan", " decay "+d.read(op.Decay)
	}
	if op.Init.Strides != nil {
		more += " init " + d.read(op.Init)
	}
	if op.Reverse {
		more += " reverse"
	}
	if op.Exclusive {
		more += " exclusive"
	}
	if op.Chunk < op.Len {
		more += fmt.Sprintf(" in %d parts", (op.Len+op.Chunk-1)/op.Chunk)
	}
	return fmt.Sprintf("%s axis 1 of %s%s%s", name, d.read(op.X), shapeText([]int{op.Outer, op.Len, op.Inner}), more)
}
