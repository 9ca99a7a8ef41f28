//go:build !opencl || !cgo

package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/kernels"
)

// DeviceInfos returns why this build has no OpenCL devices.
func DeviceInfos() ([]clrt.Info, error) { return clrt.List() }

// RuntimePath returns why this build loads no OpenCL library.
func RuntimePath() (string, error) { return clrt.RuntimePath() }

func openCL(sel string, _ Options) (Device, error) {
	_, err := clrt.Open(clrt.Info{}, clrt.Options{})
	return nil, fmt.Errorf("tensor: open %q: %w", sel, err)
}

// TrialsRemembered returns nothing: this build has no OpenCL.
func TrialsRemembered(Device) (path string, trials int) { return "", 0 }

// Try returns nil: the Go device runs the twins.
func Try(Device, *kernels.Kernel) error { return nil }
