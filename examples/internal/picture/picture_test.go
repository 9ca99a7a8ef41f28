package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRead: colours and grays are read, what is transparent becomes white, and what is no picture is an error.
func TestRead(t *testing.T) {
	colours := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	colours.SetNRGBA(0, 0, color.NRGBA{R: 200, G: 100, B: 50, A: 255})
	colours.SetNRGBA(1, 0, color.NRGBA{R: 200, G: 100, B: 50})
	colours.SetNRGBA(2, 0, color.NRGBA{A: 127}) // half black, half white
	gray := image.NewGray(image.Rect(0, 0, 1, 2))
	gray.Pix[1] = 77
	deep := image.NewGray16(image.Rect(0, 0, 1, 1))
	deep.SetGray16(0, 0, color.Gray16{Y: 0x8080})
	for _, c := range []struct {
		img  image.Image
		want []uint8
	}{
		{colours, []uint8{200, 100, 50, 255, 255, 255, 255, 255, 128, 128, 128, 255}},
		{gray, []uint8{0, 0, 0, 255, 77, 77, 77, 255}},
		{deep, []uint8{128, 128, 128, 255}},
	} {
		var b bytes.Buffer
		if err := png.Encode(&b, c.img); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "p.png")
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || got.Rect != c.img.Bounds() || !slices.Equal(got.Pix, c.want) {
			t.Errorf("%v, %v, want %v", got, err, c.want)
		}
	}
	for _, path := range []string{"nowhere.png", "picture.go", "."} {
		if _, err := Read(path); err == nil {
			t.Errorf("%s is no picture, and gives no error", path)
		}
	}
}

// TestPlanes: channels come in the order of the model, and of a part of a picture its pixels alone.
func TestPlanes(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	part := img.SubImage(image.Rect(1, 1, 3, 2)).(*image.RGBA)
	scale := [3]float32{1. / 255, 2. / 255, 4. / 255}
	if got, want := Planes(part, RGB, [3]float32{}, scale), []float32{16, 20, 17. / 2, 21. / 2, 18. / 4, 22. / 4}; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := Planes(part, BGR, scale, scale), []float32{17, 21, 15. / 2, 19. / 2, 12. / 4, 16. / 4}; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func near(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x-y < 1e-4 && y-x < 1e-4 })
}

// TestFrame: the outline is drawn, also where it leaves the picture, and nothing within.
func TestFrame(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 20, 20))
	Frame(img, []image.Point{{5, 5}, {30, 5}, {30, 30}, {5, 30}}, color.White)
	for at, want := range map[image.Point]uint8{{5, 5}: 255, {19, 5}: 255, {5, 19}: 255, {12, 12}: 0, {2, 2}: 0} {
		if got := img.RGBAAt(at.X, at.Y).R; got != want {
			t.Errorf("pixel %v is %d, want %d", at, got, want)
		}
	}
	Frame(img, nil, color.White)
	Frame(img, []image.Point{{1, 1}}, color.White)
}
