//go:build !opencl || !cgo

package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/environment"
)

func openCL(sel string, _ Options) (Device, error) {
	_, err := clrt.Open(clrt.Info{}, clrt.Options{})
	return nil, &environment.Selection{Err: fmt.Errorf("tensor: open %q: %w", sel, err)}
}
