package autograd_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestWhoFreed: an error about a freed value says what freed it, under DetectAnomalies also the line.
func TestWhoFreed(t *testing.T) {
	d := devtest.CPU(t)
	w := autograd.Param(tensor.Full(d, 1, 3), "w")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	inner := func() *autograd.Node {
		y := w.Exp()
		must(y.Sum().Backward())
		return y
	}
	says := func(f func(), want ...string) {
		t.Helper()
		err := tensor.Try(f)
		if !errors.Is(err, tensor.ErrFreed) {
			t.Fatalf("err = %v", err)
		}
		for _, s := range want {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("err = %v, want one that says %q", err, s)
			}
		}
	}
	y := inner()
	says(func() { y.Square() }, `the value of "Exp" was freed by Backward: call Retain on the Node before`, "under autograd.DetectAnomalies this error has the line")
	says(func() { y.Value().Exp() }, "it was freed by Backward: call Retain on the Node before")
	gone := autograd.Const(tensor.Zeros(d, 3))
	gone.Free()
	says(func() { gone.Mul(w) }, "was freed by Free")
	grad := w.Grad()
	w.ZeroGrad()
	says(func() { grad.Exp() }, "it was freed by ZeroGrad: a gradient lasts until then: Copy it before")

	var later *autograd.Node
	scoped, freed := (*tensor.Tensor)(nil), tensor.Zeros(d, 2)
	must(autograd.DetectAnomalies(d, func() error {
		later = inner()
		tensor.Scope(d, func() { scoped = tensor.Zeros(d, 1) })
		freed.Free()
		return nil
	}))
	for what, f := range map[string]func(){
		"freed by Backward at ":             func() { later.Neg() },
		"freed by the end of the Scope at ": func() { scoped.Neg() },
		"freed by Free at ":                 func() { freed.Neg() },
	} {
		says(f, what, "autograd/freed_test.go:")
	}
	other := tensor.Zeros(d, 2)
	other.Free()
	if err := tensor.Try(func() { other.Neg() }); strings.Contains(err.Error(), ".go:") {
		t.Errorf("after DetectAnomalies: %v", err)
	}
}
