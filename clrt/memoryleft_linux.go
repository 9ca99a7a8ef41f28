//go:build opencl && cgo

package clrt

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// memoryLeft returns how many bytes the process may still take, and what limits them: the machine,
// its control group or its address space. Limits that cannot be read are none.
func memoryLeft() (left int64, of string) {
	left, of = math.MaxInt64, ""
	lower := func(n int64, what string) {
		if n = max(n, 0); n < left {
			left, of = n, what
		}
	}
	if n, ok := field("/proc/meminfo", "MemAvailable:"); ok {
		lower(n<<10, "the machine has")
	}
	if n, ok := groupLeft(); ok {
		lower(n, "the control group has")
	}
	var space syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &space); err == nil && space.Cur < math.MaxInt64 {
		if n, ok := field("/proc/self/status", "VmSize:"); ok {
			lower(int64(space.Cur)-n<<10, "the address space (ulimit -v) has")
		}
	}
	return left, of
}

// field returns the number after a name in a file of /proc or a control group.
func field(path, name string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if words := strings.Fields(string(line)); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// groupLeft returns what is left of the least memory that the control groups of the process may
// have. Pages of files that nobody has used lately make room.
func groupLeft() (int64, bool) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	left, found := int64(math.MaxInt64), false
	for line := range bytes.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(words) < 3 {
			continue
		}
		root, limit, usage, unused := "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		if words[1] == "memory" { // version 1
			root, limit, usage, unused = root+"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		} else if words[1] != "" {
			continue
		}
		for dir := words[2]; ; dir = filepath.Dir(dir) {
			at := filepath.Join(root, dir)
			most, ok := number(filepath.Join(at, limit))
			used, known := number(filepath.Join(at, usage))
			if ok && known {
				free, _ := field(filepath.Join(at, "memory.stat"), unused)
				left, found = min(left, most-used+free), true
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return left, found
}

// number returns the number that a file holds; "max" is none.
func number(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
