package tensor_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestAttentionShapes runs the kernels of attention for other features than those of the list.
func TestAttentionShapes(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for i, s := range []ops.AttentionShape{{Features: 32, Values: 32}, {Features: 64, Values: 64}, {Features: 3, Values: 100}, {Features: 128, Values: 128}} {
			if testing.Short() && i > 0 {
				continue
			}
			kernel := ops.Attention(s, 1<<30*(i%2), d.DefaultType(), d.Target())
			if kernel == nil {
				t.Fatalf("no kernels for %+v", s)
			}
			for _, k := range []*kernels.Kernel{kernel.Forward, kernel.Queries, kernel.Keys} {
				for j, c := range k.Cases(false) {
					o := kernels.NewOperands(d.DefaultType(), uint64(i), uint64(j))
					c.Build(o)
					if _, err := kerneltest.Check(d, k, fmt.Sprintf("%+v %s", s, c.Name), o.Args); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

// TestKernels launches every kernel on every device and holds what it wrote against the host kernel,
// element by element, within the kernel's tolerance. Nothing else may change: not the inputs, not a
// guard.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		testKernels(t, d, tensorapi.Impl.TuningName(d) != "" && d.Target().CPU)
	})
}

// TestGPUKernels is TestKernels with the variants for GPUs on the OpenCL devices that are CPUs.
func TestGPUKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			if !devtest.Open(t, sel, tensor.Options{}).Target().CPU {
				t.Skip("TestKernels runs them")
			}
			testKernels(t, devtest.Open(t, sel, devtest.GPUKernels()), true)
		})
	}
}

// onlyKernels is no part of the tests' names: Oclgrind wants one thread for all kernels, and a
// subtest has its own.
var onlyKernels = flag.String("kernels", "", "test only the kernels whose name and defines match this regular expression")

// holdsDenormals reports whether products of a device have factors below the least normal number,
// as their host kernels have: those of Mesa's rusticl take them for 0, in ordinary arithmetic, too.
func holdsDenormals(t *testing.T, d tensor.Device) bool {
	small, large := tensor.Full(d, 0x1p-135, 8, 8), tensor.Full(d, 0x1p40, 8, 8)
	got, err := small.MatMul(large).Float64s()
	if err != nil {
		t.Fatal(err)
	}
	return got[0] == 0x1p-92
}

// computes reports whether a device has the types of all operands.
func computes(d tensor.Device, args []kernels.Arg) bool {
	for _, a := range args {
		if b, ok := a.Buf.(*kernels.HostBuffer); ok && !d.Supports(b.DType()) {
			return false
		}
	}
	return true
}

// together are the names of kernels of several functions.
var combinedNames = regexp.MustCompile(`^k_(functions|gradients|integers)_\d+$`)

// leftOut reports whether a kernel is left to a sweep on an OpenCL device that is a CPU. Its
// compiler takes a third of a second for a function, and seconds for a tile of GPUs. Such a device
// runs the forms of kernels for CPUs and those for GPUs. A kernel of one function of contiguous
// operands is tried in one of the two. A tile of GPUs, but for the first, is tried in one form of
// the product, and in make test-more. So are tiles of matrix units that are larger than a warp's.
// What surrounds the sums of matrix units is tried with one kind of units. Seen counts the kernels
// before.
func leftOut(k *kernels.Kernel, cpu bool, seen map[string]int) bool {
	count := func(what string) int { // of those before
		seen[what]++
		return seen[what] - 1
	}
	switch {
	case k.File == k.Name+".cl" && k.Text != "" && !combinedNames.MatchString(k.Name):
		return (count("functions")%2 == 0) != cpu
	case strings.Contains(k.Defines, "-DINNER="):
		return k.Text != "" && count(k.File) > 0 || k.File == "gemm_cpu.cl" && !strings.HasPrefix(k.Defines, "-DTM=32 -DTN=32 ") && !devtest.More()
	case strings.HasPrefix(k.Defines, "-DTM=") && k.File == "gemm_cpu.cl":
		tile := count(k.Name)
		return tile > 0 && !devtest.More() || tile > 0 && tile%3 != slices.Index([]string{"k_gemm_nn", "k_gemm_nt", "k_gemm_tn"}, k.Name)
	}
	return false
}

// testKernels runs the cases of the kernels. A device that runs two forms of each leaves some out.
func testKernels(t *testing.T, d tensor.Device, twoForms bool) {
	// In float64 kernels do the same, but for their functions: OpenCL devices would build them all
	// once more.
	short := testing.Short() || d.DefaultType() == tensor.Float64 && !devtest.Sweep() && (tensorapi.Impl.TuningName(d) != "" || !devtest.More())
	denormals := holdsDenormals(t, d)
	seen, left := map[string]int{}, map[string]int{}
	// If short, so many forms of each kernel, one of so many functions, and most so many cases of each, evenly spread.
	forms, functions, most := 2, 4, 1000
	if strings.Contains(d.Name(), "llvmpipe") {
		forms, functions, most = 1, 16, 2 // it compiles a kernel for each launch
	}
	only := regexp.MustCompile(*onlyKernels)
	for i, k := range ops.All(d.DefaultType(), d.Target()) {
		if !only.MatchString(k.Name + " " + k.Defines + " " + k.Source(d.Target())) {
			continue
		}
		if twoForms && !short && !devtest.Sweep() && *onlyKernels == "" && leftOut(k, d.Target().CPU, left) {
			continue
		}
		form := k.Name
		if strings.HasPrefix(k.Defines, "-DELEM") {
			form += k.Defines
		}
		switch {
		case k.File == k.Name+".cl" && k.Text != "": // a function of contiguous tensors: all have one pattern of accesses
			if short && i%functions != 0 {
				continue
			}
		case strings.Contains(k.Defines, "-DINNER="): // on matrix units, of any form
			_, inner, _ := strings.Cut(k.Defines, "-DINNER=")
			form = "inner product " + inner[:1]
			if testing.Short() && seen[form] > 0 {
				continue
			}
		case strings.Contains(k.Defines, "_HALF="): // for 16 bits: a file has one way to read and write them
			form = "16 bits of " + k.Source(d.Target())
			if testing.Short() && seen[form] > 0 {
				continue
			}
		case strings.HasPrefix(k.File, k.Name+"."): // in another layout
			form = k.File
		case strings.Contains(k.File, "_batch_"): // the forms of a batch differ as those of a product do
			if short && seen["batch"] > 0 {
				continue
			}
			form = "batch"
		case k.Text != "": // a product with a function
			form += ", written"
		}
		if short && strings.Contains(k.Defines, "-DTM=128 ") {
			continue // a tile of a product takes as long for small matrices: smaller tiles have the same accesses
		}
		if seen[form]++; short && seen[form] > forms {
			continue // further tiles of a matrix product
		}
		if testing.Short() && k == ops.FMAChains {
			continue // Oclgrind 21.10 takes the lanes of its vectors for uninitialised; elsewhere they are right
		}
		if k.Cases == nil {
			t.Errorf("%s has no Cases", k.Name)
			continue
		}
		// A CPU is slow in the tiles of GPUs: those after the first have few cases.
		few := short || twoForms && !d.Target().CPU && seen[form] > 1 && strings.Contains(k.Defines, "-DTM=") && !devtest.More()
		cases := k.Cases(few)
		if len(cases) == 0 {
			t.Errorf("%s has no test case", k.Name)
		}
		for j, c := range cases {
			if (j+1)*most/len(cases) == j*most/len(cases) || c.Name == "denormals" && !denormals {
				continue
			}
			o := kernels.NewOperands(d.DefaultType(), uint64(i), uint64(j))
			c.Build(o)
			if !computes(d, o.Args) {
				continue
			}
			if _, err := kerneltest.Check(d, k, c.Name, o.Args); err != nil {
				t.Error(err)
			}
			if err := d.Err(); err != nil {
				t.Fatalf("%s %s: %v", k.Name, c.Name, err)
			}
		}
	}
	if n := tensor.HeaderBuilds(d); n > 0 {
		t.Errorf("%d programs name built-in functions that clrt/builtins.go does not declare", n)
	}
}
