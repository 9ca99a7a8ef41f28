//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes the lock of a file, which ends with the program that holds it, however that ends. If
// another program has it, lock waits or returns an error, as it does where the file system knows no
// locks.
func lock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// keepOwner gives a file the owner and the group of the one that it replaces, where that is
// allowed: root may write a user's file.
func keepOwner(f *os.File, old fs.FileInfo) {
	now, err := f.Stat()
	if err != nil {
		return
	}
	was, is := old.Sys().(*syscall.Stat_t), now.Sys().(*syscall.Stat_t)
	if was.Uid != is.Uid || was.Gid != is.Gid {
		_ = f.Chown(int(was.Uid), int(was.Gid))
	}
}

// mayReplace reports whether a folder lets its files be replaced: one with the sticky bit, as /tmp
// has it, lets only the owner of the file, its own, and root.
func mayReplace(dir, file fs.FileInfo) bool {
	me := os.Geteuid()
	if dir.Mode()&fs.ModeSticky == 0 || me == 0 {
		return true
	}
	return int(file.Sys().(*syscall.Stat_t).Uid) == me || int(dir.Sys().(*syscall.Stat_t).Uid) == me
}
