package tensor_test

import (
	"fmt"

	"github.com/clgrad/clgrad/tensor"
)

// NumPy's x[i, j], x[:, i], take_along_axis and concatenate.
func ExampleTensor_Index() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x := tensor.Arange(d, 0, 12, 1).Reshape(3, 4)
	i, j := tensor.New(d, []int32{0, -1}), tensor.New(d, []int32{3, 1})
	fmt.Println(x.Index(i, j).Float64s())
	fmt.Println(x.Index(nil, i).Float64s())
	fmt.Println(x.Gather(1, tensor.New(d, []int32{2, 0, 1}, 3, 1)).Float64s())
	fmt.Println(tensor.Concat(1, x.Slice(1, 0, 1), x.Flip(1).Slice(1, 0, 2)).Float64s())
	// Output:
	// [3 9] <nil>
	// [0 3 4 7 8 11] <nil>
	// [2 4 9] <nil>
	// [0 3 2 4 7 6 8 11 10] <nil>
}

// What comes to one place is added up in an order that is always the same.
func ExampleTensor_ScatterAdd() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	bins := tensor.New(d, []int32{0, 2, 2, 0, 2})
	fmt.Println(tensor.Zeros(d, 4).ScatterAdd(0, bins, tensor.Full(d, 1, 5)).Float64s())
	// Output: [2 0 3 0] <nil>
}

// The windows of a series, and their means.
func ExampleTensor_Unfold() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	series := tensor.New(d, []float32{1, 2, 6, 4, 5})
	windows := series.Unfold(0, 3, 1)
	fmt.Println(windows.Shape())
	fmt.Println(windows.Mean(-1).Float64s())
	// Output:
	// [3 3]
	// [3 4 5] <nil>
}
