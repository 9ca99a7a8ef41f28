package bench

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestVerify: a right product of each form passes, and one that is off everywhere does not.
func TestVerify(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		p := newProblem(d, [3]int{40, 24, 32})
		defer p.free()
		for _, form := range layerForms {
			p.run(form)
			got, err := p.out[form].Float32s()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.verify(form, got); err != nil {
				t.Error(err)
			}
			for i := range got {
				got[i] += 0.01
			}
			if p.verify(form, got) == nil {
				t.Errorf("%s: a product that is off by 0.01 passes", form)
			}
		}
	})
}
