//go:build !opencl || !cgo

package clrt

const detailNotBuilt = `build with a C compiler, -tags opencl and CGO_CFLAGS="$(clgrad cflags)" (make build does), or select the device cpu`

// Device is an open OpenCL device; this build has none.
type Device struct{}

// List returns ErrNotBuilt.
func List() ([]Info, error) {
	return nil, &Error{Call: "list devices", Status: ErrNotBuilt, Detail: detailNotBuilt}
}

// CacheProblem returns "": nothing is compiled.
func CacheProblem() string { return "" }

// RuntimePath returns ErrNotBuilt.
func RuntimePath() (string, error) {
	return "", &Error{Call: "load OpenCL", Status: ErrNotBuilt, Detail: detailNotBuilt}
}

// Open returns ErrNotBuilt.
func Open(Info, Options) (*Device, error) {
	return nil, &Error{Call: "open", Status: ErrNotBuilt, Detail: detailNotBuilt}
}
