package onnx

import (
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestValueFree: what a run returned is freed with all that it holds, once or more often.
func TestValueFree(t *testing.T) {
	d := cpu(t)
	s, err := modelOf(13, body("x", "y", op("q = SequenceConstruct x x", nil), op("y = Identity q", nil))).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	x := FromTensor(tensor.New(d, []float32{1, 2}))
	before := d.Stats().LiveBytes
	out, err := s.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := out[0].Sequence()[1].Tensor().Float32s(); err != nil || got[1] != 2 {
		t.Errorf("after Close: %v %v", got, err)
	}
	for range 2 {
		out[0].Free()
	}
	var none *Value
	none.Free()
	FromStrings([]string{"a"}).Free()
	if after := d.Stats().LiveBytes; after != before {
		t.Errorf("%d bytes before the run, %d after", before, after)
	}
}
