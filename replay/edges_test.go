package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestWindowsJoined: windows that overlap have as many elements as what they are of, but do not
// read all of it: what the others of it are is stored, too.
func TestWindowsJoined(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		explained, _ := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
			x := tensor.Zeros(d, 6)
			return func() []*tensor.Tensor {
				p := x.AddScalar(1)
				return []*tensor.Tensor{p, p.Slice(0, 0, 4).Unfold(0, 3, 1).MulScalar(2)}
			}, []*tensor.Tensor{x}, nil
		})
		if !strings.Contains(explained, "element by element") {
			t.Errorf("it was not refused:\n%s", explained)
		}
	})
}

// TestBytesMoved: bytes that become floats, and are then only moved, are converted in the launch
// that moves them.
func TestBytesMoved(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		explained, _ := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
			x, y := devtest.New(d, []uint8{0, 1, 2, 255, 7, 9}, 2, 3), tensor.Zeros(d, 3, 2)
			return func() []*tensor.Tensor {
				r := x.To(d.DefaultType())
				y.SetInPlace(r.Transpose())
				return []*tensor.Tensor{r.Copy()}
			}, nil, []*tensor.Tensor{y}
		})
		if !strings.Contains(explained, "computed within") {
			t.Errorf("it was not computed within the copies:\n%s", explained)
		}
	})
}
