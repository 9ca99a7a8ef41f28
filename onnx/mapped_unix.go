//go:build unix

package onnx

import (
	"os"

	"golang.org/x/sys/unix"
)

// readMapped returns the bytes of a file, mapped into memory where that can be done, and what ends the mapping.
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
	if size := info.Size(); info.Mode().IsRegular() && size > 0 && size == int64(int(size)) {
		if b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE); err == nil {
			return b, func() { unix.Munmap(b) }, nil
		}
	}
	b, err = readWhole(f, info)
	return b, func() {}, err
}
