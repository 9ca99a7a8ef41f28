package ops

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestGemmTiles: every candidate divides as its kernel assumes, fits where it is said to, and keeps
// its name.
func TestGemmTiles(t *testing.T) {
	for _, tile := range gpuTiles {
		items := tile.items()
		vectors := func(wide int) bool { return wide*tile.K/4 >= items && wide*tile.K/4%items == 0 }
		if tile.M%(4*tile.ItemM) != 0 || tile.N%(8*tile.ItemN) != 0 || !vectors(tile.M) || !vectors(tile.N) {
			t.Errorf("tile %v does not divide into warps and loads", tile)
		}
	}
	for _, tile := range cpuTiles {
		const block, narrow = 48, 12 // of gemm_cpu.cl
		if block%tile.M != 0 || block%narrow != 0 || tile.N%16 != 0 {
			t.Errorf("tile %v does not divide a block", tile)
		}
	}
	small := GemmTiles(kernels.Float64, kernels.Target{LocalMem: 48 << 10, MaxGroup: 1024})
	large := GemmTiles(kernels.Float32, kernels.Target{LocalMem: 48 << 10, MaxGroup: 1024})
	if len(large) != len(gpuTiles) || len(small) >= len(large) {
		t.Errorf("48 KiB hold %d tiles of float32 and %d of float64, of %d", len(large), len(small), len(gpuTiles))
	}
	for _, tile := range append(large, cpuTiles...) {
		var back GemmTile
		text, _ := tile.MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != tile {
			t.Errorf("%s reads back as %v (err %v)", text, back, err)
		}
	}
}

// TestTuning: the user's table wins over the one built in, a device is found by the start of its
// name, and a product takes the tile of the nearest size.
func TestTuning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tuning.json")
	t.Setenv(TuningEnv, path)
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	if own, err := GemmChoices("Some GPU", gpu); err != nil || own != nil {
		t.Errorf("no table: %v, %v", own, err)
	}
	text := `{"Some GPU": [
		{"form": "nn", "m": 512, "n": 64, "k": 64, "tile": "32x32x32/4x4"},
		{"form": "nn", "m": 4096, "n": 4096, "k": 4096, "tile": "128x128x16/8x8"},
		{"form": "tn", "m": 64, "n": 64, "k": 512, "tile": "6x64"}],
		"Some": []}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tuned, err := GemmChoices("Some GPU 80GB", gpu)
	if err != nil || len(tuned) != 2 {
		t.Fatalf("choices %v, %v: the tile of a CPU is none for a GPU", tuned, err)
	}
	for _, c := range []struct {
		form    GemmForm
		m, n, k int
		float   kernels.DType
		want    string
	}{
		{NN, 300, 64, 64, kernels.Float32, "32x32x32/4x4"}, {NN, 3000, 3000, 2000, kernels.Float32, "128x128x16/8x8"},
		{TN, 64, 64, 512, kernels.Float32, gpuTiles[0].String()}, {NN, 300, 64, 64, kernels.Float64, gpuTiles[0].String()},
	} {
		if got := GemmTileFor(c.form, c.m, c.n, c.k, c.float, gpu, tuned); got.String() != c.want {
			t.Errorf("%s %d×%d×%d: tile %v, want %v", c.form, c.m, c.n, c.k, got, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(`{"x": [{"form": "nn", "m": 1, "n": 1, "k": 1, "tile": "6x64"}], "": []}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if own, err := GemmChoices("x", kernels.Target{CPU: true}); err != nil || len(own) != 1 {
		t.Errorf("the least product: %v, %v", own, err)
	}
	for _, bad := range []string{"{", `{"x": [{"form": "nn", "m": 0, "n": 1, "k": 1, "tile": "6x64"}]}`, `{"x": [{"form": "nn", "m": 1, "n": 0, "k": 1, "tile": "6x64"}]}`,
		`{"x": [{"form": "nn", "m": 1, "n": 1, "k": 0, "tile": "6x64"}]}`, `{"x": [{"form": "ts", "m": 1, "n": 1, "k": 1, "tile": "6x64"}]}`,
		`{"x": [{"form": "nn", "m": 1, "n": 1, "k": 1, "tile": "7x64"}]}`} {
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := GemmChoices("x", gpu); err == nil {
			t.Errorf("a table of %q: no error", bad)
		}
	}
}

// TestTuningFile: the path of the environment, else one in the user's configuration folder, else
// none.
func TestTuningFile(t *testing.T) {
	t.Setenv(TuningEnv, "mine.json")
	if got := TuningFile(); got != "mine.json" {
		t.Errorf("%q, want what the environment says", got)
	}
	t.Setenv(TuningEnv, "")
	dir, err := os.UserConfigDir()
	if want := filepath.Join(dir, "clgrad", "tuning.json"); err == nil && TuningFile() != want {
		t.Errorf("%q, want %q", TuningFile(), want)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData", "home"} {
		t.Setenv(name, "")
	}
	if _, err := os.UserConfigDir(); err != nil && TuningFile() != "" {
		t.Errorf("%q without a folder", TuningFile())
	}
	if own, err := GemmChoices("no device of the table", kernels.Target{CPU: true}); own != nil || err != nil {
		t.Errorf("no table: %v, %v", own, err)
	}
}
