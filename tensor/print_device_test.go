package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestPrintedDevice: a device prints as its name.
func TestPrintedDevice(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		if got := fmt.Sprint(d); got != d.Name() {
			t.Errorf("printed as %s, not %s", got, d.Name())
		}
	})
}
