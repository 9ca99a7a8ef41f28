package replay_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// A step of training is recorded, which does it twice, and replayed on other inputs.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	w := autograd.Param(tensor.New(d, []float32{0}), "w")
	opt := optim.NewSGD([]*autograd.Node{w}, optim.SGDConfig{LR: optim.Constant(0.1)})
	x, y := tensor.New(d, []float32{1}), tensor.New(d, []float32{3})

	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		loss := autograd.Const(x).Mul(w).SquaredError(autograd.Const(y))
		if err := loss.Backward(); err != nil {
			return nil, err
		}
		err := opt.Step()
		opt.ZeroGrad()
		return []*tensor.Tensor{loss.Value()}, err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Free()
	for i := range 50 {
		v := 1 + float32(i%2)
		tensor.Upload(x, []float32{v})
		tensor.Upload(y, []float32{3 * v})
		if err := rec.Run(); err != nil {
			fmt.Println(err)
			return
		}
	}
	weight, err := w.Value().Item()
	if err != nil {
		fmt.Println(err)
		return
	}
	loss, err := rec.Outputs()[0].Item()
	fmt.Printf("%d steps, w = %.3f, loss %.3f, %v\n", opt.Steps(), weight, loss, err)
	// Output: 52 steps, w = 3.000, loss 0.000, <nil>
}

// A number that changes is a step scalar: its owner says how.
func ExampleRecord_stepScalars() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	temperature := 16.0
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error {
		temperature /= 2
		numbers[0] = kernels.FloatArg(temperature)
		return nil
	})
	x := tensor.New(d, []float32{1, 2, 3})
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		if err := scalars.Next(); err != nil {
			return nil, err
		}
		return []*tensor.Tensor{x.Div(tensor.ScalarFromArg(d, scalars.Arg(0)))}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Free()
	for range 2 {
		if err := rec.Run(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(rec.Outputs()[0].Float64s())
	}
	fmt.Println("the owner is at", temperature)
	// Output:
	// [0.5 1 1.5] <nil>
	// [1 2 3] <nil>
	// the owner is at 1
}
