package tensor_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// Pixels as bytes, a mean as floats, rows picked by integers.
func ExampleType() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	pixels := tensor.New(d, []uint8{0, 128, 255, 10, 20, 30}, 3, 2)
	labels := tensor.New(d, []int{2, 0})
	fmt.Println(pixels.GatherRows(labels).Uint8s())
	fmt.Println(pixels.Sum().Type(), pixels.Mean().Type(), tensor.Map(fn.Add, nil, pixels, labels).Type())
	fmt.Println(pixels.Sum(0).Int64s())
	// Output:
	// [20 30 0 128] <nil>
	// int64 float32 int64
	// [275 168] <nil>
}

// What a type does not hold becomes the nearest that it holds.
func ExampleTensor_To() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x := tensor.New(d, []float32{-1.9, 2.5, 300, 1e6})
	fmt.Println(x.To(tensor.Int32).Int32s())
	fmt.Println(x.To(tensor.Uint8).Uint8s())
	fmt.Println(x.To(tensor.Float16).Float64s())
	// Output:
	// [-1 2 300 1000000] <nil>
	// [0 2 255 255] <nil>
	// [-1.900390625 2.5 300 +Inf] <nil>
}
