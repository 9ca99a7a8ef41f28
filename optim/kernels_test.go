package optim

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels of the rules to their host kernels, and to what they say of themselves, in
// the layouts in which they are launched, in the forms for CPUs and for GPUs.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	check := func(t *testing.T, d tensor.Device) {
		aligned := !d.Target().CPU
		flat := fused.AccessPattern{Rank: 1, Aligned: aligned}
		rows := func(fixed ...int) fused.AccessPattern {
			l := fused.AccessPattern{Rank: 2, Aligned: aligned}
			for _, operand := range fixed {
				l.Steps[operand] = fused.Broadcast
			}
			return l
		}
		columns := fused.AccessPattern{Rank: 1, Gaps: true,
			Steps: [fused.MapTensors]fused.Access{2: fused.Strided, 3: fused.Strided}}
		list := []*kernels.Kernel{fused.Map(lambRule, kernels.Float32, rows(4)),
			fused.Map(lambStep, kernels.Float32, rows(2, 3)), fused.Map(lambSquares, kernels.Float32, columns)}
		rules := slices.Concat(keptRules[1:], putBackRules[1:], adamRules[:], adagradRules[:], lionRules[:])
		for _, ofMomentum := range rmspropRules {
			rules = slices.Concat(rules, ofMomentum[0][:], ofMomentum[1][:])
		}
		for _, rule := range append(rules, scaleRule, emaRule, swapRule) {
			if err := rule.Err(); err != nil {
				t.Error(err)
				return
			}
			list = append(list, fused.Map(rule, kernels.Float32, flat))
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
