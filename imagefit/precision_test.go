package imagefit

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// TestPrecisionOfFits: what matrix units round costs a fit next to nothing, without a scale of the
// loss: that is a sum over the batch, so that no gradient is divided by its size, and float16 holds
// them all.
func TestPrecisionOfFits(t *testing.T) {
	img := smooth(60, 40)
	c := small()
	c.Steps, c.Batch, c.Hidden, c.Encoding.Features, c.Eager = 150, 512, 64, 32, true
	var psnr [3]float64
	for p := range psnr {
		d := devtest.Open(t, "cpu", tensor.Options{Precision: tensor.Precision(p)})
		tensorapi.Impl.AsMatrixUnits(d, false)
		f := run(t, d, img, c)
		psnr[p] = psnrOf(t, f, img)
		f.Free()
	}
	t.Logf("%.2f dB", psnr)
	if psnr[0] < 24 || math.Abs(psnr[1]-psnr[0]) > 0.5 || math.Abs(psnr[2]-psnr[0]) > 0.5 || psnr[1] == psnr[0] || psnr[2] == psnr[0] {
		t.Errorf("in float32, tf32 and float16 the PSNR is %.3f dB: it should be nearly the same, and not all of it", psnr)
	}
}
