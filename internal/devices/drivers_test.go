package devices

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/cl"
)

// TestUnfitDevice: a device that cannot build a kernel is found by a probe, left out by auto and an
// error when it is asked for.
func TestUnfitDevice(t *testing.T) {
	if !OpenCLBuilt || len(devtest.Selected()) < 2 {
		t.Skip("no OpenCL device")
	}
	infos, err := clrt.List()
	if err != nil {
		t.Fatal(err)
	}
	probe := func() map[string]string {
		unfit := map[string]string{}
		if err := useOpenCL(func(l probeLine) {
			if l.Device != nil && l.Error != "" {
				unfit[deviceKey(*l.Device)] = l.Error
			}
		}); err != nil {
			t.Fatal(err)
		}
		return unfit
	}
	if unfit := probe(); len(unfit) > 0 {
		t.Fatalf("devices that work are unfit: %v", unfit)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, probeKernel.Name+".cl"), []byte("this is no kernel"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cl.PathEnv, dir)
	unfit := probe()
	if len(unfit) != len(infos) {
		t.Fatalf("%d of %d devices are unfit: %v", len(unfit), len(infos), unfit)
	}
	before := checkedOpenCL
	defer func() { checkedOpenCL = before }()
	checkedOpenCL = func() *openCL { return &openCL{usable: true, unfit: unfit} }
	var said bytes.Buffer
	if selection, err := (&Flags{selection: "auto"}).choose(&said); selection != "cpu" || err != nil || !strings.Contains(said.String(), "left out the device "+infos[0].String()+": ") {
		t.Errorf("auto chooses %q (%v) and says %q", selection, err, &said)
	}
	for _, name := range []string{"opencl", infos[0].ID(), infos[0].Name} {
		if _, err := (&Flags{selection: name}).choose(&said); err == nil || !strings.Contains(err.Error(), "cannot be used: ") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}
