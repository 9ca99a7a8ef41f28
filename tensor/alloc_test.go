package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLaunchAllocates: a launch leaves nothing to the garbage collector. On the Go device a host kernel
// may: it starts goroutines.
func TestLaunchAllocates(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, tensor.Options{})
		x, w, y := tensor.Full(d, 1, 64, 16), tensor.Full(d, 1, 16, 16), tensor.Zeros(d, 64, 16)
		for name, f := range map[string]func(){
			"unary":  func() { x.MapInPlace(fn.Abs, nil) },
			"binary": func() { y.MapInPlace(fn.Add, nil, x) },
			"matmul": func() { tensorapi.Impl.MatMulInto(y, x, w, false) },
		} {
			if n := testing.AllocsPerRun(100, f); n > 0 {
				t.Errorf("%s, %s: %v allocations per launch", sel, name, n)
			}
		}
	}
}

// TestAllocationsOfAnOperation holds what an operation of few elements allocates on the Go device.
// A map and a copy allocate the tensor, its shape and its storage. Kernels of reductions add
// closures.
func TestAllocationsOfAnOperation(t *testing.T) {
	if underRace {
		t.Skip("the race detector empties pools")
	}
	d := devtest.CPU(t)
	x, y, one, square := tensor.Full(d, 1, 10), tensor.Full(d, 2, 10), tensor.Full(d, 3, 1), tensor.Full(d, 1, 4, 4)
	mask, turned := x.Gt(y), square.T()
	for name, c := range map[string]struct {
		most float64
		f    func() *tensor.Tensor
	}{
		"Add":                 {3, func() *tensor.Tensor { return x.Add(y) }},
		"AddScalar":           {3, func() *tensor.Tensor { return x.AddScalar(1) }},
		"Where":               {3, func() *tensor.Tensor { return x.Where(mask, y) }},
		"Add of [10] and [1]": {3, func() *tensor.Tensor { return x.Add(one) }},
		"Add of a transpose":  {3, func() *tensor.Tensor { return square.Add(turned) }},
		"Copy of a transpose": {3, func() *tensor.Tensor { return turned.Copy() }},
		"Softmax":             {5, func() *tensor.Tensor { return x.Softmax(0) }},
		"Sum":                 {5, func() *tensor.Tensor { return x.Sum() }},
		"Reshape":             {2, func() *tensor.Tensor { return x.Reshape(2, 5) }},
		"MapInPlace":          {0, func() *tensor.Tensor { x.MapInPlace(fn.Add, nil, y); return nil }},
	} {
		got := testing.AllocsPerRun(100, func() {
			if z := c.f(); z != nil {
				z.Free()
			}
		})
		if got > c.most {
			t.Errorf("%s: %v allocations, at most %v", name, got, c.most)
		}
	}
}
