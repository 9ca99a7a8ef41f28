//go:build !unix

package onnx

import "os"

// readMapped returns the bytes of a file.
func readMapped(path string) (b []byte, end func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err = readWhole(f, info)
	return b, func() {}, err
}
