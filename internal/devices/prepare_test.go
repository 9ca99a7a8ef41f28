package devices

import (
	"os"
	"testing"
	"time"

	"github.com/clgrad/clgrad/tensor"
)

// TestPrepare: drivers that worked before start up, others do not, and none where the device needs
// none.
func TestPrepare(t *testing.T) {
	if !OpenCLBuilt {
		t.Skip("no OpenCL in this build")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(tensor.DeviceEnv, "")
	started := make(chan bool, 1)
	before := startDrivers
	startDrivers = func() { started <- true }
	defer func() { startDrivers = before }()
	check := func(device string, want bool) {
		t.Helper()
		wait := 100 * time.Millisecond
		if want {
			wait = time.Minute
		}
		(&Flags{selection: device}).Prepare()
		select {
		case <-started:
			if !want {
				t.Errorf("--device %q: drivers are started", device)
			}
		case <-time.After(wait):
			if want {
				t.Errorf("--device %q: no driver is started", device)
			}
		}
	}
	check("", false) // nobody has probed them
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	newProbeMemory(registeredDrivers()).remember([]string{self})
	for device, want := range map[string]bool{"": true, "auto": true, "0:0": true, "cpu": false, "CPU": false} {
		check(device, want)
	}
	t.Setenv(tensor.DeviceEnv, "cpu")
	check("", false)
}
