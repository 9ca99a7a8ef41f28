package optim_test

import (
	"reflect"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestErrorsNameTheFunction: what a constructor or a schedule panics with names it, not what it
// calls.
func TestErrorsNameTheFunction(t *testing.T) {
	d := devtest.CPU(t)
	taken := autograd.Param(tensor.Zeros(d, 2), "taken")
	pools := map[reflect.Type][]any{
		reflect.TypeFor[*autograd.Node]():  {nil, taken, autograd.Const(tensor.Zeros(d, 2)), autograd.Param(tensor.Zeros(devtest.CPU(t), 3), "elsewhere")},
		reflect.TypeFor[optim.Schedule]():  {nil, optim.Constant(0.1), optim.Constant(1)},
		reflect.TypeFor[optim.Optimizer](): {nil, optim.NewSGD([]*autograd.Node{taken}, optim.SGDConfig{LR: optim.Constant(1)})},
	}
	for name, f := range map[string]any{
		"NewAdagrad": optim.NewAdagrad, "NewAdam": optim.NewAdam, "NewAdamW": optim.NewAdamW, "NewEMA": optim.NewEMA, "NewLAMB": optim.NewLAMB, "NewLion": optim.NewLion,
		"NewLossScaler": optim.NewLossScaler, "NewPlateau": optim.NewPlateau, "NewRMSprop": optim.NewRMSprop, "NewSGD": optim.NewSGD,
		"StepLR": optim.StepLR, "Warmup": optim.Warmup, "OneCycle": optim.OneCycle, "CosineRestarts": optim.CosineRestarts,
		"ClipNorm": optim.ClipNorm, "ClipValue": optim.ClipValue,
	} {
		t.Run(name, func(t *testing.T) {
			if devtest.ErrorsName(t, name, reflect.ValueOf(f), pools) == 0 {
				t.Error("it took everything")
			}
		})
	}
}
