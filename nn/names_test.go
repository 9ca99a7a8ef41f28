package nn_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestErrorsNameTheFunction: what a constructor of a layer panics with names it, not a layer that
// it makes or what draws numbers.
func TestErrorsNameTheFunction(t *testing.T) {
	pools := map[reflect.Type][]any{
		reflect.TypeFor[tensor.Device](): {nil, devtest.CPU(t)},
		reflect.TypeFor[int]():           {-2, 0, 1, 2, 3, 4, 6},
		reflect.TypeFor[[]int]():         {[]int(nil), []int{0}, []int{2}, []int{2, 3}, []int{-1, 3}, slices.Repeat([]int{1}, 17)},
		reflect.TypeFor[float64]():       {-1., 0., 0.5, 1., 2.},
	}
	for name, f := range map[string]any{
		"NewMultiHeadAttention": nn.NewMultiHeadAttention, "NewConv": nn.NewConv, "NewConvTranspose": nn.NewConvTranspose, "NewEmbedding": nn.NewEmbedding, "NewGRU": nn.NewGRU,
		"NewLinear": nn.NewLinear, "NewLSTM": nn.NewLSTM, "NewMLP": nn.NewMLP, "NewLayerNorm": nn.NewLayerNorm, "NewRMSNorm": nn.NewRMSNorm, "NewGroupNorm": nn.NewGroupNorm,
		"NewBatchNorm": nn.NewBatchNorm, "NewTransformerBlock": nn.NewTransformerBlock,
	} {
		t.Run(name, func(t *testing.T) {
			if devtest.ErrorsName(t, name, reflect.ValueOf(f), pools) == 0 {
				t.Error("it took everything")
			}
		})
	}
}
