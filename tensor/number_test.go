package tensor_test

import (
	"errors"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestNumber: a number of either kind, a step scalar or not, becomes a tensor of rank 0; memory and
// nothing are misuse.
func TestNumber(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		scalars := kernels.NewStepScalars(2, func(numbers []kernels.Arg) error {
			numbers[0], numbers[1] = kernels.FloatArg(0.25), kernels.IntArg(-7)
			return nil
		})
		if err := scalars.Next(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			number kernels.Arg
			typ    tensor.Type
			want   float64
		}{
			{kernels.FloatArg(1.5), d.DefaultType(), 1.5}, {kernels.IntArg(1 << 30), tensor.Int32, 1 << 30}, {kernels.FlagArg(true), tensor.Int32, 1},
			{scalars.Arg(0), d.DefaultType(), 0.25}, {scalars.Arg(1), tensor.Int32, -7}, {scalars.Number(1), tensor.Int32, -7},
		} {
			x := tensor.ScalarFromArg(d, c.number)
			if v, err := x.Item(); err != nil || v != c.want || x.Type() != c.typ || x.Rank() != 0 {
				t.Errorf("%v of type %v and rank %d, err %v, want %v of %v", v, x.Type(), x.Rank(), err, c.want, c.typ)
			}
		}
		for _, bad := range []kernels.Arg{{}, tensor.Zeros(d, 3).Arg()} {
			if err := tensor.Try(func() { tensor.ScalarFromArg(d, bad) }); !errors.Is(err, tensor.ErrArgument) {
				t.Errorf("%v: %v", bad.Kind, err)
			}
		}
	})
}
