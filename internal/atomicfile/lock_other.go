//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

// lock returns an error: here nothing proves that a temporary file was left behind, and none is
// removed.
func lock(*os.File, bool) error { return errors.ErrUnsupported }

func keepOwner(*os.File, fs.FileInfo) {}

func mayReplace(_, _ fs.FileInfo) bool { return true }
