//go:build opencl && cgo

package clrt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// poclCacheEnv names the folder in which PoCL keeps what it compiled.
const poclCacheEnv = "POCL_CACHE_DIR"

// CacheProblem says why PoCL's folder for compiled kernels cannot be written, "" if it can. PoCL
// offers no device then. So, before the OpenCL library is loaded, it is given a folder for
// temporary files instead, which this user alone may read: that is what poclCacheEnv holds from
// then on.
func CacheProblem() string { return cacheProblem() }

var cacheProblem = sync.OnceValue(func() string {
	why := unwritable(poclCache())
	if why == nil {
		return ""
	}
	temporary := filepath.Join(os.TempDir(), fmt.Sprintf("clgrad-pocl-%d", os.Getuid()))
	err := own(temporary)
	if err == nil {
		err = os.Setenv(poclCacheEnv, temporary)
	}
	if err != nil {
		return fmt.Sprintf("PoCL cannot keep what it compiles: %v; nor in a temporary folder: %v", why, err)
	}
	return fmt.Sprintf("PoCL keeps what it compiles in %s: %v", temporary, why)
})

// poclCache returns PoCL's folder.
func poclCache() string {
	if dir := os.Getenv(poclCacheEnv); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "pocl", "kcache")
	}
	if dir := os.Getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".cache", "pocl", "kcache")
	}
	return filepath.Join(os.TempDir(), "pocl", "kcache")
}

// unwritable returns why no file can be made in a folder, which is made if it is not there.
func unwritable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".clgrad-")
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return &fs.PathError{Op: "write", Path: dir, Err: path.Err}
		}
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// own makes a folder that only this user may use. One that is there must be that.
func own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !mine(info) {
		return fmt.Errorf("%s is no folder of this user alone", dir)
	}
	return unwritable(dir)
}

// mine reports whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
