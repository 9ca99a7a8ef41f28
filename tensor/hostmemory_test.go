package tensor_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestGoDeviceRefuses: what the machine cannot hold is an error of the device, as on an OpenCL device, and does not end
// the program.
func TestGoDeviceRefuses(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := tensor.Zeros(d, 1<<20, 50) // 0.2 GiB
	if d.Err() != nil {
		t.Fatal(d.Err())
	}
	x.Free()
	y := tensor.Empty(d, 1<<20, 100) // 0.4 GiB
	if err := d.Err(); err == nil || !strings.Contains(err.Error(), "0.4 GiB wanted") {
		t.Errorf("%v", err)
	}
	if _, err := y.Float32s(); err == nil {
		t.Error("what was not allocated is read")
	}
}
