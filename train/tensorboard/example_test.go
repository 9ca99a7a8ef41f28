package tensorboard_test

import (
	"fmt"
	"os"

	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train/tensorboard"
)

// A curve, a histogram and a picture; tensorboard --logdir shows them.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()

	w, err := tensorboard.New(folder)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	for step := range 10 {
		if err := w.AddScalar("loss/train", 1/float64(step+1), step); err != nil {
			panic(err)
		}
	}
	weights := tensor.NewRNG(1).Normal(d, 0, 1, 1, 28, 28)
	if err := w.AddHistogram("weights", weights, 10); err != nil {
		panic(err)
	}
	picture, err := tensorboard.Picture(weights)
	if err != nil {
		panic(err)
	}
	fmt.Println(picture.Bounds(), w.AddImage("picture", picture, 10))
	// Output: (0,0)-(28,28) <nil>
}
