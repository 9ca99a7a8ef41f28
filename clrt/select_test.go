package clrt

import (
	"errors"
	"strings"
	"testing"
)

var machine = []Info{
	{PlatformIndex: 0, DeviceIndex: 0, Platform: "Portable Computing Language", Name: "pthread-cpu", Version: "OpenCL 3.0 PoCL", Type: CPU},
	{PlatformIndex: 1, DeviceIndex: 0, Platform: "NVIDIA CUDA", Name: "NVIDIA H200", Vendor: "NVIDIA Corporation", Type: GPU},
	{PlatformIndex: 1, DeviceIndex: 1, Platform: "NVIDIA CUDA", Name: "NVIDIA T4", Vendor: "NVIDIA Corporation", Type: GPU},
}

func TestSelect(t *testing.T) {
	for sel, want := range map[string]string{
		"": "1:0", "opencl": "1:0", "OpenCL": "1:0", "0:0": "0:0", "1:1": "1:1", "01:01": "1:1",
		"pocl": "0:0", "portable": "0:0", "nvidia": "1:0", "t4": "1:1", "CUDA": "1:0",
	} {
		if got, err := Select(machine, sel); err != nil || got.ID() != want {
			t.Errorf("Select(%q) = %s, %v; want %s", sel, got.ID(), err, want)
		}
	}
	for _, sel := range []string{"2:0", "1:7", "radeon"} {
		_, err := Select(machine, sel)
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), sel) || !strings.Contains(err.Error(), "1:1 NVIDIA T4") {
			t.Errorf("Select(%q): err = %v; want ErrNoDevice with the devices there are", sel, err)
		}
	}
	if _, err := Select(nil, "opencl"); !errors.Is(err, ErrNoDevice) {
		t.Errorf("without devices: err = %v", err)
	}
}

func FuzzSelect(f *testing.F) {
	for _, s := range []string{"", "auto", "1:0", "99999999999999999999:1", "nv"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sel string) {
		if _, err := Select(machine, sel); err != nil && !errors.Is(err, ErrNoDevice) {
			t.Fatal(err)
		}
	})
}

func TestBuildDetail(t *testing.T) {
	text := "#line 1 \"common.cl\"\n#define X\n\n#line 1 \"mine.cl\"\nint a;\nint b = c;\nint d;\n"
	got := buildDetail("mine.cl", "-DY=1", text, "error: /tmp/x/mine.cl:2:9: error: use of undeclared identifier 'c'\nmine.cl:2:9: error: use")
	if nv := buildDetail("mine.cl", "", text, "<kernel>:6:9: error: use of undeclared identifier 'c'"); !strings.Contains(nv, "\nmine.cl:2: int b = c;") {
		t.Errorf("NVIDIA's positions are not resolved:\n%s", nv)
	}
	for _, want := range []string{"mine.cl with options \"-DY=1\"", "undeclared identifier", "\nmine.cl:2: int b = c;"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := error(&Error{Call: "clBuildProgram", Status: BuildProgramFailure, Device: "H200", Detail: "log"})
	if got := err.Error(); got != "clrt: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11) on H200: log" {
		t.Error(got)
	}
	if !errors.Is(err, BuildProgramFailure) || errors.Is(err, OutOfResources) {
		t.Error("errors.Is does not go by the status")
	}
	if got := PlatformNotFound.Error(); got != "CL_PLATFORM_NOT_FOUND_KHR (-1001)" {
		t.Error(got)
	}
}
