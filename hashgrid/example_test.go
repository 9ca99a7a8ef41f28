package hashgrid_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/hashgrid"
	"github.com/clgrad/clgrad/tensor"
)

// A position halfway between four vertices of a grid of 4 × 4: it sees the mean of their entries, and each gets a
// quarter of the gradient.
func Example() {
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	grid := hashgrid.New(d, []hashgrid.Level{{Across: 2, Down: 2, Entries: 16}}, 1)
	defer grid.Free()
	entries := make([]float32, 16)
	for i := range entries {
		entries[i] = float32(i)
	}
	table := autograd.Param(tensor.New(d, entries, grid.Entries, grid.Features), "table")
	features := grid.Encode(table, autograd.Const(tensor.New(d, []float32{0.5, 0.5}, 1, 2))).Retain()
	if err := features.Sum().Backward(); err != nil {
		panic(err)
	}
	value, _ := features.Item()
	gradient, _ := table.Grad().Float32s()
	fmt.Println(value)
	for row := range 4 {
		fmt.Println(gradient[4*row : 4*row+4])
	}
	// Output:
	// 7.5
	// [0 0 0 0]
	// [0 0.25 0.25 0]
	// [0 0.25 0.25 0]
	// [0 0 0 0]
}
