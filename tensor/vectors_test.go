package tensor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestVectorsEnv: a device does not open where the environment names instructions that are not
// there, and says which are; plain loops are there everywhere, and give the same within rounding.
// The environment is read once: in a child.
func TestVectorsEnv(t *testing.T) {
	const child = "CLGRAD_TEST_VECTORS"
	if os.Getenv(child) != "" {
		d, err := tensor.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		rng := tensor.NewRNG(1)
		x, w := rng.Uniform(d, -1, 1, 70, 300), rng.Uniform(d, -1, 1, 300, 40)
		sum, err := x.MatMul(w).Sum().Item()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("sum %.3f", sum)
		return
	}
	run := func(vectors string) string {
		cmd := devtest.Command(t, os.Args[0], "-test.run=^TestVectorsEnv$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", tensor.VectorsEnv+"="+vectors)
		out, _ := cmd.CombinedOutput() // the status says no more than the text
		if cmd.ProcessState == nil {
			t.Fatalf("no child with %q", vectors)
		}
		return string(out)
	}
	if out := run("mmx"); !strings.Contains(out, `tensor: open: CLGRAD_VECTORS is "mmx": on this processor it may be off`) {
		t.Errorf("mmx: %s", out)
	}
	sum := func(out string) string {
		_, rest, _ := strings.Cut(out, "sum ")
		first, _, _ := strings.Cut(rest, "\n")
		return first
	}
	if off, on := sum(run("off")), sum(run("")); off == "" || off != on {
		t.Errorf("the sum of a product is %q in plain loops, and %q with vectors", off, on)
	}
}
