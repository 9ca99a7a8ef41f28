package tensor

import "fmt"

// CheckError is the first launch in check mode, of Kernel on Device, whose result differs from the
// host kernel's: it Got one number, and was to Want another.
type CheckError struct {
	Device, Kernel string
	Param          string // the output that differs
	Sizes          []int  // elements of each buffer argument
	Index          int    // first element of it that differs
	Got, Want      float64
	ULP            int64  // representable floats between them
	Node           string // the graph node that asked for the launch, once known
}

// Error names the kernel, the element and both values.
func (e *CheckError) Error() string {
	node := ""
	if e.Node != "" {
		node = " for node " + e.Node
	}
	return fmt.Sprintf("tensor: check: %s on %s%s, buffers of %v elements: %s[%d] is %v, its host kernel has %v (%d ULP apart)",
		e.Kernel, e.Device, node, e.Sizes, e.Param, e.Index, e.Got, e.Want, e.ULP)
}
