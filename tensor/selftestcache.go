//go:build opencl && cgo

package tensor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/regular"
)

// selfTestCache is the trials that succeeded on a device: digests of what was tried, in a file of the
// user's cache folder, a line each. A file that is not there, or is none of ours, is no memory.
type selfTestCache struct {
	path  string // "": there is no cache folder
	names string // of the device, its driver and this library
	known map[string]bool
	fresh bool // known has more than the file
}

// selfTestVersion changes with what trials compare.
const selfTestVersion = "1"

// mostTrials bounds the file: a driver and a library have a few hundred. What exceeds it is tried
// again.
const mostTrials = 1 << 14

// newSelfTestCache returns the memory of a device that names identify, or nil if the environment
// switches trials off.
func newSelfTestCache(names ...string) *selfTestCache {
	if os.Getenv(SelfTestEnv) == "off" {
		return nil
	}
	m := &selfTestCache{names: digest(append(names, selfTestVersion, libraryVersion())...), known: map[string]bool{}}
	if dir, err := os.UserCacheDir(); err == nil {
		m.path = filepath.Join(dir, "clgrad", "trials-"+m.names[:16])
		m.read()
	}
	return m
}

// libraryVersion returns the version of this module that the program was built with, as far as it
// is known.
func libraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	const path = "github.com/clgrad/clgrad"
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// key returns what stands for a trial.
func (m *selfTestCache) key(parts ...string) string { return digest(append(parts, m.names)...) }

func (m *selfTestCache) has(key string) bool { return m.known[key] }

func (m *selfTestCache) add(key string) { m.known[key], m.fresh = true, true }

// read adds what the file holds.
func (m *selfTestCache) read() {
	const line = 2*sha256.Size + 1
	f, _, err := regular.Open(m.path)
	if err != nil {
		return
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostTrials*line))
	if err != nil {
		return
	}
	for _, key := range strings.Split(string(text), "\n") {
		if raw, err := hex.DecodeString(key); err == nil && len(raw) == sha256.Size {
			m.known[key] = true
		}
	}
}

// save writes what is known, with what others wrote meanwhile. What cannot be written is tried
// again.
func (m *selfTestCache) save() {
	if m == nil || !m.fresh || m.path == "" {
		return
	}
	m.read()
	m.fresh = false
	if os.MkdirAll(filepath.Dir(m.path), 0o777) != nil {
		return
	}
	_ = atomicfile.Write(m.path, func(w io.Writer) error {
		for key := range m.known {
			if _, err := fmt.Fprintln(w, key); err != nil {
				return err
			}
		}
		return nil
	})
}
