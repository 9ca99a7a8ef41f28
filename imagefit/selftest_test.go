package imagefit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/tensor"
)

// TestWrongFusedStep: where the fused step of a whole perceptron is computed wrongly, the form for
// the other kind of device takes its place, and where that is wrong too, the network is trained
// layer by layer.
func TestWrongFusedStep(t *testing.T) {
	const nothing = `// @depends: common
#ifndef GET_PARAMS
#define GET_PARAMS
#endif
kernel void k_mlp_loss(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n GET_PARAMS) { LOSS[LOSS_off] = 0; }`
	img := smooth(40, 28)
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		if dir, err := os.UserCacheDir(); err == nil && os.Getenv("POCL_CACHE_DIR") == "" {
			t.Setenv("POCL_CACHE_DIR", filepath.Join(dir, "pocl", "kcache"))
		}
		t.Setenv("XDG_CACHE_HOME", t.TempDir()) // no trial is remembered
		for _, both := range []bool{false, true} {
			dir := t.TempDir()
			files := []string{"mlp_cpu.cl", "mlp_gpu.cl"}
			d := devtest.Open(t, sel, tensor.Options{})
			if !d.Target().CPU {
				files = []string{"mlp_gpu.cl", "mlp_cpu.cl"}
			}
			t.Setenv(cl.PathEnv, dir)
			if !both {
				files = files[:1]
			}
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(nothing), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			f := run(t, d, img, small())
			fused, why := f.Fused()
			var bad *tensor.MiscompileError
			if fused == both || both && !errors.As(why, &bad) {
				t.Errorf("%s, both forms wrong: %v: fused: %v, %v", sel, both, fused, why)
			}
			if p := psnrOf(t, f, img); p < 24 {
				t.Errorf("%s, both forms wrong: %v: PSNR %.2f dB", sel, both, p)
			}
		}
	}
}
