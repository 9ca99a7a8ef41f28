package tensor

import "fmt"

// TrialError is a kernel that a device computes wrongly, found before its first launch: see [TrialEnv].
type TrialError struct {
	Device, Driver string  // the device's name, and its driver's version
	Kernel         string  // its entry point
	Param          string  // the output that differs, or an input that was written to
	Sizes          []int   // elements of each buffer argument
	Index          int     // first element of Param that differs; outside it, if negative or past its length
	Got, Want      float64 // the device's value, and the twin's
}

// Error names the kernel, the device, the element and both values, and says what to do.
func (e *TrialError) Error() string {
	return fmt.Sprintf("tensor: %s computes %s wrongly (driver %s): with buffers of %v elements, %s[%d] is %v, its Go twin has %v; "+
		"use another device or driver: cpu needs none", e.Device, e.Kernel, e.Driver, e.Sizes, e.Param, e.Index, e.Got, e.Want)
}
