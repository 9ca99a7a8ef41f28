package onnx

import (
	"errors"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// TestClone: sessions of one model share the weights, each has recordings of its own, and the last one
// frees what they share.
func TestClone(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		devtest.Uncollected(t)
		m, err := Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		before := d.Stats().LiveBytes
		a, err := m.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		run := func(s *Session) {
			t.Helper()
			x := tensor.New(d, []float32{1, 2, 3, 0, 0, 0}, 2, 3)
			defer x.Free()
			out, err := s.RunTensors(x)
			if err != nil {
				t.Fatal(err)
			}
			defer out[0].Free()
			if y := devtest.Float64s(t, out[0]); len(out) != 1 || !slices.Equal(y, []float64{5.5, 7.5, 0.5, 0}) {
				t.Errorf("%v", y)
			}
		}
		run(a) // small weights are on the device now, too
		loaded := d.Stats().LiveBytes
		b := a.Clone()
		c := b.Clone()
		run(b)
		if n := d.Stats().LiveBytes; n != loaded {
			t.Errorf("%d bytes, and with clones %d", loaded, n)
		}
		run(b)
		run(b)
		if len(a.replays.made.All()) != 0 || len(b.replays.made.All()) != 1 || len(c.replays.made.All()) != 0 {
			t.Errorf("%d, %d and %d recordings", len(a.replays.made.All()), len(b.replays.made.All()), len(c.replays.made.All()))
		}
		for _, s := range []*Session{a, a, b} { // closing twice is closing once
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		run(c)
		if err := tensor.Try(func() { a.Clone() }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("a clone of a session that is closed: err %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := d.Stats().LiveBytes; n != before {
			t.Errorf("%d bytes were there, and %d are left", before, n)
		}
	})
}

// TestCloneSeeds: a clone draws the random numbers that its session drew from the beginning.
func TestCloneSeeds(t *testing.T) {
	d := devtest.CPU(t)
	a, err := chain(13, &onnxpb.Node{Op: "RandomUniformLike", Inputs: []string{"x"}, Outputs: []string{"y"}}).Load(d, Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	draw := func(s *Session) []float64 {
		out, err := s.RunTensors(tensor.Zeros(d, 3))
		if err != nil {
			t.Fatal(err)
		}
		return devtest.Float64s(t, out[0])
	}
	first, second := draw(a), draw(a)
	b := a.Clone()
	defer b.Close()
	if got := draw(b); !slices.Equal(got, first) || slices.Equal(first, second) {
		t.Errorf("%v, and %v, %v", got, first, second)
	}
}

// TestRunTensors: an output that is no tensor is an error.
func TestRunTensors(t *testing.T) {
	d := devtest.CPU(t)
	s, err := chain(13, &onnxpb.Node{Op: "SequenceConstruct", Inputs: []string{"x"}, Outputs: []string{"y"}}).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.RunTensors(tensor.Zeros(d, 3)); err == nil || err.Error() != `onnx: RunTensors: output "y" is a sequence of 1: Run returns what is no tensor` {
		t.Errorf("err %v", err)
	}
	if _, err := s.RunTensors(); err == nil {
		t.Error("without inputs there is no error")
	}
}
