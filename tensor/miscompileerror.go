package tensor

import "fmt"

// MiscompileError is a kernel whose results on a device are not those of its host kernel, found before
// its first launch: see [SelfTestEnv]. Either may be wrong.
type MiscompileError struct {
	Device, Driver string  // the device's name, and its driver's version
	Kernel         string  // its entry point
	Param          string  // the output that differs, or an input that was written to
	Sizes          []int   // elements of each buffer argument
	Index          int     // first element of Param that differs; outside it, if negative or past its length
	Got, Want      float64 // the device's value, and the host kernel's
}

// Error names the kernel, the device, the element and both values, and says what to do.
func (e *MiscompileError) Error() string {
	return fmt.Sprintf("tensor: kernel %s on %s (driver %s) and its host kernel differ: with buffers of %v elements, %s[%d] is %v on the device, and "+
		"%v by the host kernel. Either may be wrong: mend the one that is, if the kernel is yours; else use another device or driver: cpu needs none",
		e.Kernel, e.Device, e.Driver, e.Sizes, e.Param, e.Index, e.Got, e.Want)
}
