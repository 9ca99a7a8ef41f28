//go:build !opencl || !cgo

package clrt

import (
	"errors"
	"strings"
	"testing"
)

func TestStub(t *testing.T) {
	for _, f := range []func() error{
		func() error { _, err := List(); return err },
		func() error { _, err := Open(Info{}, Options{}); return err },
	} {
		if err := f(); !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "-tags opencl") {
			t.Errorf("err = %v, want ErrNotBuilt and how to build", err)
		}
	}
}
