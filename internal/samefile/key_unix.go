//go:build unix

package samefile

import (
	"io/fs"
	"syscall"
)

func key(info fs.FileInfo) any {
	s := info.Sys().(*syscall.Stat_t)
	return [2]uint64{uint64(s.Dev), uint64(s.Ino)}
}
