package train_test

import (
	"testing"

	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
)

// TestAUROCOfHalves checks that probabilities of 16 bits fall into the bins that they do as float32, also where there
// are more bins than such a type can count.
func TestAUROCOfHalves(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var p []float64
	var labels []int32
	for i := range 129 {
		p, labels = append(p, 0.5+float64(i)/256), append(labels, int32(i%3/2))
	}
	area := func(typ tensor.Type, bins int) float64 {
		a := train.NewAUROC(d, train.AUROCOptions{Bins: bins})
		defer a.Free()
		a.Update(tensor.New(d, p).To(typ), tensor.New(d, labels))
		v, err := a.Item()
		if err != nil {
			t.Errorf("%v, %d bins: %v", typ, bins, err)
		}
		return v
	}
	for _, bins := range []int{2, 1000, 5000, 1 << 20} {
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			if got, want := area(typ, bins), area(tensor.Float32, bins); got != want {
				t.Errorf("%v, %d bins: %v, of float32 %v", typ, bins, got, want)
			}
		}
	}
}
