package imagefit

import (
	"bytes"
	"fmt"
	"image/png"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestPNGRows: a decoder of others reads the pixels that an encoder of others writes, of every colour and depth, from one pixel to
// several pieces; the file is hardly larger than that encoder's, and the same on any number of cores.
func TestPNGRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {3, 2}, {1, 300}, {400, 1}, {301, 257}} {
		for i := range 8 {
			c := Colour{Gray: i&1 > 0, Alpha: i&2 > 0, Deep: i&4 > 0}
			img := &Image{Width: size[0], Height: size[1], Colour: c}
			for k := range size[0] * size[1] * c.Channels() {
				v := float32(k%(97*c.Channels()))/300 + rng.Float32()*0.02
				if rng.IntN(50) == 0 {
					v = []float32{0, 1, -1, 2}[rng.IntN(4)]
				}
				img.Pixels = append(img.Pixels, v)
			}
			var files [2]bytes.Buffer
			for k, cores := range []int{1, 5} {
				runtime.GOMAXPROCS(cores)
				if err := img.WritePNG(&files[k]); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
				t.Errorf("%v, %v: five cores write another file than one", size, c)
			}
			var other bytes.Buffer
			if err := png.Encode(&other, img.picture()); err != nil {
				t.Fatal(err)
			}
			if n, most := files[0].Len(), other.Len()+other.Len()/50+200; n > most {
				t.Errorf("%v, %v: %d bytes, others need %d", size, c, n, other.Len())
			}
			got, err := png.Decode(&files[0])
			if err != nil {
				t.Fatalf("%v, %v: %v", size, c, err)
			}
			want, err := png.Decode(&other)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) || got.Bounds() != want.Bounds() {
				t.Fatalf("%v, %v: a %T of %v, want %T of %v", size, c, got, got.Bounds(), want, want.Bounds())
			}
			for y := range size[1] {
				for x := range size[0] {
					if got.At(x, y) != want.At(x, y) {
						t.Fatalf("%v, %v: pixel (%d, %d) is %v, want %v", size, c, x, y, got.At(x, y), want.At(x, y))
					}
				}
			}
		}
	}
}

// failing is a disk that is full after so many bytes.
type failing struct{ room int }

func (f *failing) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, fmt.Errorf("full")
	}
	return len(b), nil
}

// TestPNGOnFullDisk: wherever writing fails, that is what comes back.
func TestPNGOnFullDisk(t *testing.T) {
	img := smooth(300, 200)
	var whole bytes.Buffer
	if err := img.WritePNG(&whole); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 10, 40, whole.Len() / 2, whole.Len() - 1} {
		if err := img.WritePNG(&failing{room}); err == nil || err.Error() != "full" {
			t.Errorf("room for %d of %d bytes: err = %v", room, whole.Len(), err)
		}
	}
}

// BenchmarkPNG writes a picture of 512 × 512.
func BenchmarkPNG(b *testing.B) {
	img := smooth(512, 512)
	for b.Loop() {
		if err := img.WritePNG(&bytes.Buffer{}); err != nil {
			b.Fatal(err)
		}
	}
}
