package tensor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestWhoFreed: an error about a freed tensor says what freed it, and which operand it is.
func TestWhoFreed(t *testing.T) {
	d := devtest.CPU(t)
	x, freed := tensor.Zeros(d, 3), tensor.Zeros(d, 3)
	freed.Free()
	freed.Free() // the first counts
	var scoped *tensor.Tensor
	tensor.Scope(d, func() { scoped = tensor.Zeros(d, 3) })
	view := x.Slice(0, 0, 2)
	view.Free()
	for want, f := range map[string]func(){
		"tensor: Exp: tensor was freed [3]: it was freed by Free: call it after the last use":     func() { freed.Exp() },
		"tensor: Add: tensor was freed [3] [3]: operand 2 was freed by Free":                      func() { x.Add(freed) },
		"tensor: Add: tensor was freed [3]: it was freed by the end of the Scope: call Retain on": func() { scoped.Add(x) },
		"tensor: Exp: tensor was freed [2]: it was freed by Free":                                 func() { view.Exp() },
		"tensor: Sum: tensor was freed [3]: it was freed by the end of the Scope":                 func() { scoped.Sum() },
	} {
		err := tensor.Try(f)
		if !errors.Is(err, tensor.ErrFreed) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("err = %v, want one that begins with %q", err, want)
		}
	}
	x.Exp() // its views do not free it
}

// TestTwoDevicesOfOneName: an error tells two devices of one name apart.
func TestTwoDevicesOfOneName(t *testing.T) {
	a, b := devtest.CPU(t), devtest.CPU(t)
	err := tensor.Try(func() { tensor.Zeros(a, 3).Add(tensor.Zeros(b, 3)) })
	if !errors.Is(err, tensor.ErrDevice) {
		t.Fatal(err)
	}
	_, numbers, found := strings.Cut(err.Error(), a.Name()+", opened as devices ")
	if first, rest, _ := strings.Cut(numbers, " and "); !found || strings.HasPrefix(rest, first+" ") || !strings.Contains(rest, " of the program: copy one with New and Float64s") {
		t.Errorf("err = %v", err)
	}
}
