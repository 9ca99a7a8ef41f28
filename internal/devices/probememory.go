package devices

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/regular"
)

// probeMemory remembers that the drivers worked, so that they are probed once and not at every
// start. A failure is not remembered: it may be mended. What is remembered holds while the drivers'
// files, the libraries that they loaded, the variables that they read, and the machine since it was
// started are the same.
type probeMemory struct {
	path string // "" if there is no folder for it
}

// fileState is what a file that was changed differs in.
type fileState struct {
	Path string    `json:"path"`
	Size int64     `json:"size"`
	Time time.Time `json:"time"`
}

func stateOf(path string) fileState {
	s := fileState{Path: path}
	if info, err := os.Stat(path); err == nil {
		s.Size, s.Time = info.Size(), info.ModTime().UTC()
	}
	return s
}

func newProbeMemory(drivers []driver) probeMemory {
	folder, err := os.UserCacheDir()
	if err != nil {
		return probeMemory{}
	}
	h := sha256.New()
	for _, d := range drivers {
		fmt.Fprintln(h, stateOf(d.path), d.text)
	}
	for _, v := range driverVariables() {
		fmt.Fprintln(h, v)
	}
	// A folder that several machines share, or another system on this one, has the same files and
	// other devices.
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // empty where there is none
	ld, _ := exec.LookPath("ld")                              // PoCL runs it
	fmt.Fprintln(h, string(boot), stateOf(ld), stateOf("/etc/ld.so.cache"), exists("/sys/devices/system/cpu"))
	return probeMemory{filepath.Join(folder, "clgrad", "opencl", fmt.Sprintf("%x.json", h.Sum(nil)[:16]))}
}

// driverVariables returns the variables, with their values, that loaders and drivers read.
func driverVariables() []string {
	var list []string
	for _, v := range os.Environ() {
		for _, prefix := range []string{"PATH=", "LD_", "OCL_", "OPENCL_", "CLGRAD_OPENCL_LIB=", "POCL_", "CUDA_", "NVIDIA_", "RUSTICL_", "HSA_", "ROCR_", "GPU_", "ONEAPI_", "NEO"} {
			if strings.HasPrefix(v, prefix) && !strings.HasSuffix(v, "=") { // empty is as good as not there
				list = append(list, v)
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// mostRemembered bounds the file, in bytes: a process loads some hundred libraries.
const mostRemembered = 1 << 22

// works reports whether the drivers worked before and nothing was changed since.
func (m probeMemory) works() bool {
	text, err := regular.Read(m.path, mostRemembered)
	if err != nil {
		return false
	}
	var files []fileState
	if json.Unmarshal(text, &files) != nil || len(files) == 0 {
		return false
	}
	return !slices.ContainsFunc(files, func(s fileState) bool { return stateOf(s.Path) != s })
}

// remember notes that the drivers work, with these libraries. What cannot be written is not
// remembered.
func (m probeMemory) remember(libraries []string) {
	if m.path == "" || len(libraries) == 0 || os.MkdirAll(filepath.Dir(m.path), 0o700) != nil {
		return
	}
	files := make([]fileState, len(libraries))
	for i, path := range libraries {
		files[i] = stateOf(path)
	}
	_ = atomicfile.Write(m.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(files) })
	m.forgetOld()
}

// forget lets the next look probe again.
func (m probeMemory) forget() { os.Remove(m.path) }

// forgetOld removes what other sets of drivers, or earlier starts of the machine, left a month ago.
func (m probeMemory) forgetOld() {
	const month = 30 * 24 * time.Hour
	entries, _ := os.ReadDir(filepath.Dir(m.path)) // it was written to
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > month {
			os.Remove(filepath.Join(filepath.Dir(m.path), e.Name()))
		}
	}
}
