package images_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/data/augment"
	"github.com/clgrad/clgrad/data/images"
	"github.com/clgrad/clgrad/tensor"
)

// Batches of the pictures of two classes, in one size.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	root, err := os.MkdirTemp("", "pictures")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	draw(filepath.Join(root, "day", "1.png"), color.White)
	draw(filepath.Join(root, "night", "1.png"), color.Black)
	draw(filepath.Join(root, "night", "2.png"), color.Black)

	train, err := images.OpenFolder(root)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Classes, len(train.Paths))
	loader := data.NewLoader(d, []data.Array{train.Labels}, data.LoaderConfig{Batch: 2, InOrder: true,
		Transform: train.Transform(images.Options{Resize: 16, Height: 14, Width: 14})})
	for batch := range loader.Epoch() {
		x := augment.Normalize(batch[0], []float64{0.5}, []float64{0.5})
		means, err := x.Mean(1, 2, 3).Float32s()
		fmt.Printf("%v %.1f %v\n", x.Shape(), means, err)
	}
	if err := loader.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [day night] 3
	// [2 3 14 14] [1.0 -1.0] <nil>
	// [1 3 14 14] [-1.0] <nil>
}

// draw writes a picture of one colour.
func draw(path string, c color.Color) {
	m := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 * 30 {
		m.Set(i%40, i/40, c)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		log.Fatal(err)
	}
}
