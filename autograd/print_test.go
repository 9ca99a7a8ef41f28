package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPrint: a node says what it is, and its value as a tensor does.
func TestPrint(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		of := " of float32 on " + d.Name()
		w := autograd.Param(tensor.New(d, []float32{1, 2}), "w")
		x := autograd.Const(tensor.New(d, []float32{3, 4}))
		y := w.Mul(x)
		loss := y.Sum().Named("loss")
		want := func(n *autograd.Node, want string) {
			t.Helper()
			if got := n.String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		want(nil, "no node")
		want(new(autograd.Node), "no node")
		want(w, "parameter w: tensor [2]"+of+":\n[1. 2.]")
		want(x, "constant: tensor [2]"+of+":\n[3. 4.]")
		want(x.Neg(), "constant of Neg: tensor [2]"+of+":\n[-3. -4.]")
		want(y, "node of Mul: tensor [2]"+of+":\n[3. 8.]")
		want(loss, "node loss of Sum: tensor []"+of+":\n11.0")
		want(y.Reshape(2, 1), "node of Reshape: tensor [2 1]"+of+":\n[[3.]\n [8.]]")
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		want(y, "node of Mul: tensor [2] of float32 (freed)")
		w.Freeze()
		want(w, "parameter w (frozen): tensor [2]"+of+":\n[1. 2.]")
	})
}
