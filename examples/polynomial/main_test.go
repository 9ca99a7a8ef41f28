package main

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

func TestFit(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		a, b, err := fit(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range append(a, b...) {
			if want := append(append([]float32{}, trueA...), trueB...)[i]; math.Abs(float64(v-want)) > 1e-2 {
				t.Errorf("coefficient %d is %v, truth %v", i, v, want)
			}
		}
	})
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "cpu"); err != nil || !strings.Contains(out.String(), "A = [1.500 -2.000") {
		t.Errorf("err %v, output %s", err, out.String())
	}
}
