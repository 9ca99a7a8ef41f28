package plot_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/plot"
	"github.com/clgrad/clgrad/tensor"
)

// TestExtremeNumbers checks that numbers at the ends of float64 are drawn or left out: logarithms, differences and
// margins of them have no end, or are infinite.
func TestExtremeNumbers(t *testing.T) {
	const most, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	lists := [][]float64{{most}, {most, -most}, {least}, {least, most}, {0, 0}, {least, 1e-310}, {1, math.Nextafter(1, 2)},
		{1e300, -1e300}, {1e300, 1e-300}, {math.NaN(), math.Inf(1)}, {-1, -2}, {1e17, 1e17 + 16}}
	for _, list := range lists {
		for mode := range 12 {
			p := plot.Panel{LogX: mode&1 != 0, LogY: mode&2 != 0}
			switch mode / 4 {
			case 0:
				p.Curves = []plot.Curve{{Name: "c", Y: list}}
			case 1:
				p.Curves = []plot.Curve{{X: list, Y: list}}
			case 2:
				p.LogX, p.Histogram = false, list
			}
			var b bytes.Buffer
			if err := plot.Write(&b, "svg", []plot.Panel{p}); err != nil {
				t.Errorf("%v, mode %d: %v", list, mode, err)
			}
			if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Errorf("%v, mode %d: a number that is none is drawn", list, mode)
			}
		}
	}
}

// TestExtremeSizes checks that sizes that no picture has are errors.
func TestExtremeSizes(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, o := range []plot.Options{{Width: nan}, {Height: inf}, {Width: 1e9}, {Width: 1e-300}, {Width: 500, Height: 500}} {
		var b bytes.Buffer
		if err := plot.Write(&b, "png", []plot.Panel{{}}, o); err == nil || b.Len() > 0 {
			t.Errorf("%v: error %v, %d bytes", o, err, b.Len())
		}
	}
	if err := plot.Write(&bytes.Buffer{}, "svg", []plot.Panel{{Histogram: []float64{1}, Bins: math.MaxInt}}); err == nil {
		t.Error("no error for the most bins that there can be")
	}
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := tensor.Zeros(d, 2, 2)
	for _, o := range []plot.PictureOptions{{Scale: math.MaxInt}, {Scale: math.MaxInt/2 + 1}, {Low: nan}, {High: inf}} {
		if _, err := plot.Pictures(x, o); err == nil {
			t.Errorf("%v: no error", o)
		}
	}
}

// TestFlatPicture checks the shades of infinities beside equal elements, and of a range whose width overflows.
func TestFlatPicture(t *testing.T) {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const most = math.MaxFloat64
	for _, c := range []struct {
		values []float64
		want   [3]uint8
	}{
		{[]float64{1, math.Inf(1), math.Inf(-1)}, [3]uint8{0, 255, 0}},
		{[]float64{-most, 0, most}, [3]uint8{0, 128, 255}},
	} {
		img, err := plot.Pictures(tensor.New(d, c.values, 1, 3))
		if err != nil {
			t.Fatal(err)
		}
		for x, want := range c.want {
			if got := img.At(x, 0); got != (color.RGBA{R: want, G: want, B: want, A: 255}) {
				t.Error(fmt.Sprint(c.values, " at ", x, ": ", got, ", not ", want))
			}
		}
	}
}
