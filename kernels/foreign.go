package kernels

import (
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Foreign reports whether the host kernel is of another module than this one, or calls one that is:
// package main is none of this module. Nothing distinguishes two versions of such a host kernel, nor two
// closures of one function over different values: what is known of one says nothing of another.
func (w HostKernel) Foreign() bool { return w.foreign || isForeign(w.F32) || isForeign(w.F64) }

// Calling returns the host kernel w, which calls those of kernels: it is foreign if one of them is.
func (w HostKernel) Calling(ks ...*Kernel) HostKernel {
	w.foreign = w.foreign || slices.ContainsFunc(ks, func(k *Kernel) bool { return k.Host.Foreign() })
	return w
}

// module is the path of this module, with a slash.
var module = path.Dir(reflect.TypeFor[Kernel]().PkgPath()) + "/"

// isForeign reports whether a function is of another module, as examples are. None is not.
func isForeign(f any) bool {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return false
	}
	return !strings.HasPrefix(runtime.FuncForPC(v.Pointer()).Name(), module)
}
