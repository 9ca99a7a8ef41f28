package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestPrintInStep: printing in a step reads nothing, and the step is recorded.
func TestPrintInStep(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		other := devtest.Open(t, "cpu", tensor.Options{})
		elsewhere := tensor.New(other, []float32{7})
		x := autograd.Const(tensor.New(d, []float32{1, 2}))
		var inside *autograd.Node
		var printed []string
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			inside = x.Neg()
			printed = append(printed, fmt.Sprint(x), fmt.Sprint(inside), fmt.Sprint(elsewhere))
			return []*tensor.Tensor{inside.Sum().Value()}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range printed {
			if !strings.HasSuffix(text, " (a step is being recorded: print it after Run)") {
				t.Errorf("in the step: %q", text)
			}
		}
		if text := inside.String(); !strings.HasSuffix(text, "(made in a recorded step, which keeps nothing there: return it from the step)") {
			t.Errorf("behind the step: %q", text)
		}
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if text := x.String(); !strings.HasSuffix(text, ":\n[1. 2.]") {
			t.Errorf("the input: %q", text)
		}
		if text := rec.Outputs()[0].String(); !strings.HasSuffix(text, ":\n-3.0") {
			t.Errorf("the output: %q", text)
		}
	})
}
