//go:build opencl && cgo

package tensor

// HeaderBuilds returns how many programs of a device could not be built with the built-in functions
// of clrt/builtins.go.
func HeaderBuilds(d Device) int {
	if cl, ok := d.(*clDevice); ok {
		return cl.dev.Stats().HeaderBuilds
	}
	return 0
}
