package tensor_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

const pytorchFiles = "../testdata/pytorch"

// TestLoadPyTorch: files of PyTorch hold what it says that they hold: state dicts, checkpoints of several,
// views of one storage, every type, and another protocol of pickles.
func TestLoadPyTorch(t *testing.T) {
	d := devtest.CPU(t)
	for _, name := range []string{"state", "checkpoint", "views", "types", "lowbit", "protocol4", "alone"} {
		got, err := tensor.LoadPyTorch(d, filepath.Join(pytorchFiles, name+".pt"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensor.LoadNPZ(d, filepath.Join(pytorchFiles, name+".npz"))
		if err != nil {
			t.Fatal(err)
		}
		for key, w := range want {
			g := got[key]
			if g == nil {
				t.Errorf("%s: there is no %q", name, key)
				continue
			}
			if !slices.Equal(g.Shape(), w.Shape()) || !sameNumbers(devtest.Float64s(t, g), devtest.Float64s(t, w)) {
				t.Errorf("%s: %q is %v, %v, want %v, %v", name, key, g, devtest.Float64s(t, g), w, devtest.Float64s(t, w))
			}
			if typ, is := map[string]tensor.Type{"bool": tensor.Bool, "uint8": tensor.Uint8, "int64": tensor.Int64, "float16": tensor.Float16,
				"bfloat16": tensor.BFloat16, "float32": tensor.Float32, "float64": tensor.Float64, "float8_e4m3fn": tensor.Float8E4M3FN,
				"float8_e5m2": tensor.Float8E5M2, "float8_e4m3fnuz": tensor.Float8E4M3FNUZ, "float8_e5m2fnuz": tensor.Float8E5M2FNUZ,
				"float8_e8m0fnu": tensor.Float8E8M0, "float4_e2m1fn_x2": tensor.Float4E2M1}[key]; is && g.Type() != typ {
				t.Errorf("%s: %q is of %v", name, key, g.Type())
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d tensors, want %d", name, len(got), len(want))
		}
	}
}

// TestLoadPyTorchRefuses: what is no state dict is refused by what it is, and a file that is cut off, or
// changed at some byte, is an error or what it was, and never more.
func TestLoadPyTorchRefuses(t *testing.T) {
	d := devtest.CPU(t)
	for name, say := range map[string]string{"old.pt": "before 1.6", "model.pt": "torch.nn.modules.container.Sequential",
		"complex.pt": "ComplexFloatStorage", "jit.pt": "torch.jit", "state.npz": "no data.pkl"} {
		dict, err := tensor.LoadPyTorch(d, filepath.Join(pytorchFiles, name))
		if !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), say) || dict != nil {
			t.Errorf("%s: err = %v, want one of the format that says %q", name, err, say)
		}
	}
	if _, err := tensor.LoadPyTorch(d, pytorchFiles); err == nil || !strings.Contains(err.Error(), "pytorch") {
		t.Errorf("a folder: err = %v", err)
	}
	whole, err := os.ReadFile(filepath.Join(pytorchFiles, "views.pt"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 7 {
		if _, err := tensor.ReadPyTorch(d, strings.NewReader(string(whole[:n])), int64(n)); !errors.Is(err, tensor.ErrFormat) {
			t.Errorf("%d bytes of %d: err = %v", n, len(whole), err)
		}
		changed := slices.Clone(whole)
		changed[n] ^= 0x55
		_, err := tensor.ReadPyTorch(d, strings.NewReader(string(changed)), int64(len(changed)))
		if err != nil && !errors.Is(err, tensor.ErrFormat) {
			t.Errorf("byte %d changed: err = %v", n, err)
		}
	}
}
