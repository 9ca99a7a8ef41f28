package clrt_test

import (
	"errors"
	"fmt"

	"github.com/clgrad/clgrad/clrt"
)

// Devices are chosen by strings, among those that List found.
func Example() {
	devices := []clrt.Info{
		{Name: "pthread", Platform: "Portable Computing Language", Type: clrt.CPU},
		{PlatformIndex: 1, Name: "H200", Platform: "NVIDIA CUDA", Type: clrt.GPU},
	}
	gpu, err := clrt.Select(devices, "opencl")
	fmt.Println(gpu.ID(), gpu, err)
	_, err = clrt.Select(devices, "radeon")
	fmt.Println(errors.Is(err, clrt.ErrNoDevice))
	fmt.Println(err)
	// Output:
	// 1:0 H200 (NVIDIA CUDA) <nil>
	// true
	// clrt: select "radeon": no such OpenCL device: there are 0:0 pthread (Portable Computing Language), 1:0 H200 (NVIDIA CUDA), and cpu
}
