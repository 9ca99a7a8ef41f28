package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestMatMulIntegerOn: devices with OpenCL's integer dot product multiply by it, and by the other kernel if it is wrong
// there.
func TestMatMulIntegerOn(t *testing.T) {
	if k := MatMulIntegerOn(kernels.Target{}); k != MatMulInteger {
		t.Errorf("without: %s", k.Source(kernels.Target{}))
	}
	dot := kernels.Target{IntegerDot: true}
	k := MatMulIntegerOn(dot)
	if source := k.Source(dot); source != "matmul_integer_dot.cl" {
		t.Errorf("with: %s", source)
	}
	if others := k.Variants(kernels.Float32, dot); len(others) != 1 || others[0] != MatMulInteger {
		t.Errorf("in its place: %v", others)
	}
}
