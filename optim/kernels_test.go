package optim

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels of the rules to their twins, and to what they say of themselves, in
// the layouts in which they are launched, in the forms for CPUs and for GPUs.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	t.Setenv(devtest.OptimizedEnv, "1")
	check := func(t *testing.T, d tensor.Device) {
		aligned := !d.Target().CPU
		flat := kernels.AccessPattern{Rank: 1, Aligned: aligned}
		rows := func(fixed ...int) kernels.AccessPattern {
			l := kernels.AccessPattern{Rank: 2, Aligned: aligned}
			for _, operand := range fixed {
				l.Steps[operand] = kernels.Broadcast
			}
			return l
		}
		columns := kernels.AccessPattern{Rank: 1, Gaps: true, Steps: [kernels.MapTensors]kernels.Access{2: kernels.Strided, 3: kernels.Strided}}
		list := []*kernels.Kernel{lambRule.Map(kernels.Float32, rows(4)), lambStep.Map(kernels.Float32, rows(2, 3)), lambSquares.Map(kernels.Float32, columns)}
		joined := append(append(keptRules[1:], putBackRules[1:]...), scaleRule)
		for _, rule := range append(joined, adamRule, rmspropRules[0][0], rmspropRules[0][1], rmspropRules[1][0], rmspropRules[1][1], adagradRule, lionRule, emaRule, swapRule) {
			if err := rule.Err(); err != nil {
				t.Error(err)
				return
			}
			list = append(list, rule.Map(kernels.Float32, flat))
		}
		if err := kerneltest.All(d, testing.Short(), list...); err != nil {
			t.Error(err)
		}
	}
	devtest.Both(t, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
