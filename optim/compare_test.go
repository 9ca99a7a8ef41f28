package optim_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// numbers returns the arrays of a file that scripts/optimizers.py made.
func numbers(t *testing.T, file string) map[string][]float64 {
	t.Helper()
	ref, err := tensor.LoadNPZ(devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64}), "../testdata/golden/"+file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for name, x := range ref {
		if all[name], err = x.Float64s(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*max(1, math.Abs(w))) {
			t.Errorf("%s[%d] is %v, want %v", what, i, got[i], w)
			return
		}
	}
}

// read returns the numbers of tensors, one after the other.
func read(t *testing.T, xs ...*tensor.Tensor) (v []float64) {
	t.Helper()
	for _, x := range xs {
		one, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, one...)
	}
	return v
}
