package imagefit

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestRusticlPicture trains and draws on Mesa's rusticl what the Go device does: the loss agrees,
// and so does each pixel of a picture larger than a launch draws on a CPU.
func TestRusticlPicture(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv(devtest.Env), ","), "rusticl") {
		t.Skip("rusticl is not under test")
	}
	img, cfg := smooth(40, 28), small()
	cfg.Steps = 20
	const width, height = 256, 160
	var losses []float64
	var pictures []*Image
	for _, sel := range []string{"cpu", "rusticl"} {
		f := run(t, devtest.Open(t, sel, tensor.Options{}), img, cfg)
		loss, err := f.Loss()
		if err != nil {
			t.Fatal(err)
		}
		picture, err := f.Model.Render(context.Background(), width, height)
		if err != nil {
			t.Fatal(err)
		}
		losses, pictures = append(losses, loss), append(pictures, picture)
	}
	if math.Abs(losses[0]-losses[1]) > 1e-3*losses[0] {
		t.Errorf("losses %v", losses)
	}
	for i, v := range pictures[1].Pixels {
		if w := pictures[0].Pixels[i]; math.Abs(float64(v-w)) > 1e-2 {
			t.Fatalf("pixel %d, %d is %v, cpu has %v", i/3%width, i/3/width, v, w)
		}
	}
}
