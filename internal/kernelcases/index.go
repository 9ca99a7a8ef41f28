package kernelcases

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// indexCases are the launches that test a kernel of padding or of indices, in a form for elements of some type; none if k
// is no such kernel.
func indexCases(k *kernels.Kernel, few bool) []kernels.Case {
	var cases []kernels.Case
	add := func(build func(o operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: func(o *kernels.Operands) { build(operands{o}) }})
	}
	for _, t := range []kernels.DType{kernels.Float32, kernels.Int32, kernels.Uint8, kernels.Float16} {
		if k == ops.Pad.Of(t) {
			padCases(t, add)
		}
	}
	return cases
}

func padCases(t kernels.DType, add func(build func(o operands), format string, a ...any)) {
	same := ops.PadAxis{M: 1, N: 1}
	for _, axes := range [][ops.PadAxes]ops.PadAxis{
		{same, same, {M: 2, N: 2}, {M: 9, N: 5, Before: 3}},
		{{M: 5, N: 3, Before: 1}, {M: 2, N: 2}, {M: 3, N: 4, Before: -1}, {M: 7, N: 7}},
		{same, {M: 7, N: 3, Before: 2, Mode: ops.PadReflect}, {M: 2, N: 2}, {M: 13, N: 5, Before: 4, Mode: ops.PadReflect}},
		{same, {M: 9, N: 2, Before: 3, Mode: ops.PadNearest}, {M: 2, N: 4, Before: -1, Mode: ops.PadNearest}, {M: 70, N: 67, Before: 1, Mode: ops.PadNearest}},
		{same, {M: 9, N: 3, Before: 3, Mode: ops.PadCircular}, same, {M: 6, N: 4, Before: 0, Mode: ops.PadCircular}},
		{{M: 3, N: 3, Mode: ops.PadMirrored}, {M: 2, N: 2}, {M: 4, N: 4, Mode: ops.PadMirrored}, {M: 5, N: 5}},
		{same, same, same, {M: 3, N: 0, Before: 1}},
		{same, same, same, {M: 300, N: 300, Mode: ops.PadMirrored}},
	} {
		add(func(o operands) {
			from, to := 1, 1
			for _, a := range axes {
				from, to = from*a.N, to*a.M
			}
			o.some(t, from).undefined(t, to)
			if t == kernels.Float32 {
				o.Real(-1.5)
			} else {
				o.num(0x4123)
			}
			for _, a := range axes {
				o.num(a.M, a.N, a.Before, int(a.Mode))
			}
		}, "%v", axes)
	}
}
