package train_test

import (
	"errors"
	"testing"

	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
)

// TestNilTensors checks that a metric of no tensor is an error that says so.
func TestNilTensors(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	labels := tensor.ZerosOf(d, tensor.Int32, 2)
	for name, f := range map[string]func(){
		"Accuracy":  func() { train.NewAccuracy(d).Update(nil, labels) },
		"Confusion": func() { train.NewConfusion(d, 2).Update(labels, nil) },
		"AUROC":     func() { train.NewAUROC(d).Update(nil, labels) },
		"Mean":      func() { train.NewMean(d).Update(nil, 1) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
