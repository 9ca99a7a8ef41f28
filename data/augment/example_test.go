package augment_test

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/data/augment"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// A recorded step that crops and mirrors its pictures anew in each run.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	sets, err := data.LoadNPZ("../../testdata/digits.npz") // [1797, 8, 8]
	if err != nil {
		log.Fatal(err)
	}
	images := sets["images"].Slice(0, 64).Tensor(d).Reshape(64, 1, 8, 8)
	rng := tensor.NewRNG(1)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		x := augment.RandomCrop(images, 8, 8, rng, augment.CropOptions{Padding: 1})
		x = augment.RandomHorizontalFlip(x, 0.5, rng)
		x = augment.RandomErasing(x, 0.25, rng)
		return []*tensor.Tensor{augment.Normalize(x, []float64{0.3}, []float64{0.2})}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Free()
	for range 2 {
		if err := rec.Run(); err != nil {
			log.Fatal(err)
		}
		x := rec.Outputs()[0]
		fmt.Println(x.Shape(), x.Type())
	}
	// Output:
	// [64 1 8 8] float32
	// [64 1 8 8] float32
}

// Pictures and labels, mixed by a weight for the batch.
func ExampleMixUp() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	mix, rng := augment.NewMixUp(0.2), tensor.NewRNG(1)
	x, labels := tensor.Zeros(d, 4, 3, 8, 8), tensor.New(d, []int64{0, 2, 1, 1})
	x, y := mix.Apply(x, labels.OneHot(3), rng) // for autograd.CrossEntropyOf
	sums, err := y.Sum(1).Float32s()
	fmt.Println(x.Shape(), y.Shape(), sums, err)
	// Output:
	// [4 3 8 8] [4 3] [1 1 1 1] <nil>
}
