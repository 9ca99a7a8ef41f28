//go:build !unix

package onnx

import "os"

// readMapped returns the bytes of a file.
func readMapped(path string) (b []byte, end func(), err error) {
	b, err = os.ReadFile(path)
	return b, func() {}, err
}
