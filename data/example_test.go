package data_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// An epoch over pictures and their labels, in an order that the seed says.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	sets, err := data.LoadNPZ("../testdata/digits.npz")
	if err != nil {
		log.Fatal(err)
	}
	train := []data.Array{sets["images"].Slice(0, 1347), sets["labels"].Slice(0, 1347)}
	loader := data.NewLoader(d, train, data.LoaderConfig{Batch: 500, Seed: 1})
	defer loader.Free()
	for batch := range loader.Epoch() {
		images, labels := batch[0], batch[1]
		fmt.Println(images.Shape(), images.Type(), labels.Shape())
	}
	// Output:
	// [500 8 8] uint8 [500]
	// [500 8 8] uint8 [500]
	// [347 8 8] uint8 [347]
}

// A loader that is stopped in an epoch, and another that resumes there.
func ExampleLoader_State() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rows := []data.Array{data.New([]int32{0, 1, 2, 3, 4, 5})}
	cfg := data.LoaderConfig{Batch: 2, InOrder: true}
	first := data.NewLoader(d, rows, cfg)
	for range first.Epoch() {
		break // after the first batch
	}
	next := data.NewLoader(d, rows, cfg)
	if err := next.Restore(first.State()); err != nil {
		log.Fatal(err)
	}
	for batch := range next.Epoch() {
		fmt.Println(batch[0].Int32s())
	}
	// Output:
	// [2 3] <nil>
	// [4 5] <nil>
}

// A recorded step whose input is filled with batch after batch.
func ExampleLoaderConfig() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := tensor.Zeros(d, 3)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{x.Sum()}, nil })
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Free()
	rows := []data.Array{data.New([]float32{1, 2, 3, 4, 5, 6})}
	loader := data.NewLoader(d, rows, data.LoaderConfig{Batch: 3, InOrder: true, DropLast: true, Into: []*tensor.Tensor{x}})
	for range loader.Epoch() {
		if err := rec.Run(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Outputs()[0].Item())
	}
	// Output:
	// 6 <nil>
	// 15 <nil>
}

// A table of text: two columns of floats, and one of labels.
func ExampleReadCSV() {
	const text = "length,width,kind\n5.1,3.5,setosa\n7.0,3.2,versicolor\n4.9,3.0,setosa\n"
	table, err := data.ReadCSV(strings.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	x, err := table.Floats("length", "width")
	if err != nil {
		log.Fatal(err)
	}
	y, classes, err := table.Labels("kind")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Shape(), y.Shape(), classes)
	_, err = table.Floats("kind")
	fmt.Println(err)
	// Output:
	// [3 2] [3] [setosa versicolor]
	// data: line 2, column "kind": "setosa" is no number
}

// Columns of a type of their own, without the rows in which a value is missing.
func ExampleColumns() {
	const text = "age,fare,alive\n22,7.25,true\n?,8.05,false\n38,71.28,true\n"
	table, err := data.ReadCSV(strings.NewReader(text), data.CSVOptions{Missing: []string{"?"}})
	if err != nil {
		log.Fatal(err)
	}
	whole, err := table.DropMissing("age") // or table.FillMissing("age", "0")
	if err != nil {
		log.Fatal(err)
	}
	x, err := data.Columns[float32](whole, "age", "fare")
	if err != nil {
		log.Fatal(err)
	}
	y, err := data.Columns[bool](whole, "alive")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.Elements[float32](x), data.Elements[bool](y))
	_, err = data.Columns[int64](table, "age")
	fmt.Println(err)
	// Output:
	// [22 7.25 38 71.28] [true true]
	// data: line 3, column "age": a value is missing: see DropMissing and FillMissing
}

// Examples that workers make of the rows: bytes become floats, with noise that a resumed run has, too.
func ExampleTransform() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	bytes := data.New([]uint8{0, 51, 102, 153, 204, 255}, 3, 2)
	noisy := &data.Transform{
		Makes: []data.Array{data.New([]float32{}, 0, 2)}, // tensors of Float32 [Batch, 2]
		Do: func(e data.Example) error {
			out := data.Elements[float32](e.Out[0])
			for i, v := range data.Elements[uint8](e.In[0]) {
				out[i] = float32(v)/255 + e.RNG.Float32()/1000
			}
			return nil
		},
	}
	loader := data.NewLoader(d, []data.Array{bytes}, data.LoaderConfig{Batch: 2, InOrder: true, Transform: noisy})
	for batch := range loader.Epoch() {
		values, err := batch[0].Float32s()
		fmt.Printf("%v %.1f %v\n", batch[0].Shape(), values, err)
	}
	if err := loader.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [2 2] [0.0 0.2 0.4 0.6] <nil>
	// [1 2] [0.8 1.0] <nil>
}
