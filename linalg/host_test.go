package linalg

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestHostRefusesRecording: a step whose matrices the host factorises cannot be recorded, and the error says why.
func TestHostRefusesRecording(t *testing.T) {
	d := devtest.CPU(t)
	defer func(was int) { mostRows = was }(mostRows)
	mostRows = 2
	x := autograd.Const(tensor.Eye(d, 3, 3))
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{Inv(x).Value()}, nil })
	if err == nil {
		rec.Free()
	}
	if err == nil || !strings.Contains(err.Error(), "Float64s") {
		t.Errorf("err = %v, want one that names the reading", err)
	}
}

// TestManyRows: a matrix of more rows than the device factorises.
func TestManyRows(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	n := mostRows + 1
	a := autograd.Param(tensor.NewRNG(1).Uniform(d, -1, 1, n, n).Add(tensor.Eye(d, n, n).MulScalar(float64(n))), "a")
	x := Solve(a, a)
	if e := off(t, x, identity(a, n)); !(e < 1e-5) {
		t.Errorf("off by %v", e)
	}
	if err := x.Sum().Backward(); err != nil || a.Grad() == nil {
		t.Errorf("gradient %v, err %v", a.Grad(), err)
	}
}
