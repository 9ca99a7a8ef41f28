package fft_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/tensor"
)

// The spectrum of a wave of two periods: number 2 stands for its cosine.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	wave := autograd.Const(tensor.New(d, []float32{1, 0, -1, 0, 1, 0, -1, 0}))
	spectrum := fft.RFFT(wave, -1)
	fmt.Println(spectrum.Select(-1, 0).Value().Float32s())
	fmt.Println(fft.IRFFT(spectrum, -1).Value().Float32s())
	// Output:
	// [0 0 4 0 0] <nil>
	// [1 0 -1 0 1 0 -1 0] <nil>
}
