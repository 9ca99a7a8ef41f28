package tensor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/tensor"
)

// TestEnvironment: a variable with a value that it cannot have is an error that names it, also
// where the device does not read it. Only an error of the selection names the variable that
// selected the device.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "table.json")
	if err := os.WriteFile(table, []byte(`{"a device": [{"Form": "zz"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, v := range [][2]string{{tensor.SelfTestEnv, "maybe"}, {cl.PathEnv, dir}, {cl.PathEnv, table},
		{clrt.OpenCLEnv, dir},
		{clrt.OpenCLEnv, dir + "/none.so"}, {ops.TuningEnv, table}, {ops.TuningEnv, dir}, {tensor.VectorsEnv, "mmx"}} {
		t.Run(v[0], func(t *testing.T) {
			t.Setenv(v[0], v[1])
			for _, sel := range []string{"", "cpu", "auto", "opencl"} {
				t.Setenv(tensor.DeviceEnv, "cpu")
				d, err := tensor.Open(sel)
				if err == nil {
					d.Close()
				}
				if err == nil || !strings.Contains(err.Error(), v[0]) || strings.Contains(err.Error(), tensor.DeviceEnv) {
					t.Errorf("Open(%q) with %s: %v", sel, v[1], err)
				}
			}
		})
	}
	t.Setenv(ops.TuningEnv, filepath.Join(dir, "new.json")) // which a tuner is to write
	t.Setenv(tensor.DeviceEnv, "no such device")
	if _, err := tensor.Open(""); err == nil || !strings.HasPrefix(err.Error(), tensor.DeviceEnv+` is "no such device": `) {
		t.Errorf("a device that is not there: %v", err)
	}
	t.Setenv(tensor.DeviceEnv, "cpu")
	if _, err := tensor.Open("", tensor.Options{Check: true}); err == nil || !strings.HasPrefix(err.Error(), tensor.DeviceEnv+` is "cpu": `) {
		t.Errorf("check mode on cpu: %v", err)
	}
	d, err := tensor.Open("")
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}
