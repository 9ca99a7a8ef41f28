package onnx

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// readWhole returns the bytes of a file that is not mapped. A device such as /dev/zero has no end, and a message has fewer
// than 2³¹ bytes.
func readWhole(f *os.File, info fs.FileInfo) ([]byte, error) {
	if info.Mode()&fs.ModeDevice != 0 {
		return nil, fmt.Errorf("%s: %w: it is a device", f.Name(), ErrFormat)
	}
	b, err := io.ReadAll(io.LimitReader(f, math.MaxInt32+1))
	if err == nil && len(b) > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", f.Name(), ErrFormat, math.MaxInt32)
	}
	return b, err
}
