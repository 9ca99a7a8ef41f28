//go:build !amd64 && !arm64 && !386

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// ID returns an even number that no other living goroutine has. A goroutine that starts after this
// one has ended may get the same. It takes about a microsecond.
func ID() uintptr {
	var stack [64]byte // "goroutine 18 [running]:…"
	words := bytes.Fields(stack[:runtime.Stack(stack[:], false)])
	n, err := strconv.ParseUint(string(words[1]), 10, 64)
	if err != nil {
		panic("goroutine: a trace begins with " + string(stack[:]))
	}
	return uintptr(n) << 1
}
