package data_test

import (
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
)

// TestTransformExits checks that a Do that ends its goroutine in every row ends the loop with a panic, and leaves
// workers for the rows behind it.
func TestTransformExits(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for workers := 1; workers < 4; workers++ {
		l := data.NewLoader(d, []data.Array{data.New(make([]float32, 20))}, data.LoaderConfig{Batch: 5, Transform: &data.Transform{
			Makes:   []data.Array{data.New([]float32{})},
			Do:      func(data.Example) error { runtime.Goexit(); return nil },
			Workers: workers,
		}})
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d workers: no panic", workers)
				}
			}()
			for range l.Epoch() {
				t.Error("a batch came")
			}
		}()
		l.Free()
	}
}
