package selftest

import "github.com/clgrad/clgrad/kernels"

// Uniform is a buffer of n elements that are uniform in [lo, hi).
func Uniform(n int, lo, hi float64) kernels.Operand { return kernels.Operand{N: n, Lo: lo, Hi: hi} }

// Output is a buffer of n elements that the kernel writes, all of them.
func Output(n int) kernels.Operand { return kernels.Operand{N: n, Blank: true} }

// Number is an argument by value, an int or a float.
func Number(v float64) kernels.Operand { return kernels.Operand{Number: v} }

// Computed is a buffer of n elements, of which from returns element i from the arguments before it,
// as host memory.
func Computed(n int, from func(before []kernels.Arg, i int) float64) kernels.Operand {
	return kernels.Operand{N: n, From: from}
}

// What a trial at the size asked for takes at most, in elements of all buffers and in
// multiplications: about a tenth of a second of the host kernel.
const (
	Elements = 1 << 22
	Products = 1 << 27
)

// OperandsLike returns the operands of a launch with the arguments like of a kernel that computes on
// any floats: its numbers, and buffers of its lengths, of floats in [−1, 1). It returns nil, which is
// no trial, for a kernel of integers, whose meaning it cannot know, for a launch that is too large
// for a trial, and for none. It is the SelfTest of a kernel of a File that has no other.
func OperandsLike(params []kernels.Param, like []kernels.Arg) []kernels.Operand {
	ops := LaunchOperands(params, like)
	total := 0
	for _, o := range ops {
		total += o.N
	}
	if total > Elements {
		return nil
	}
	return ops
}

// LaunchOperands is [OperandsLike] of any size.
func LaunchOperands(params []kernels.Param, like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	ops := make([]kernels.Operand, len(like))
	for i, p := range params {
		switch p.Mode {
		case kernels.IntParam, kernels.LongParam:
			ops[i] = Number(float64(like[i].Int))
		case kernels.FloatParam:
			ops[i] = Number(like[i].Float)
		case kernels.Out:
			ops[i] = Output(like[i].N)
		case kernels.In, kernels.InOut:
			ops[i] = Uniform(like[i].N, -1, 1)
		default:
			return nil
		}
	}
	return ops
}

// With gives k a SelfTest like the launch, with what set changes of it: set returns whether there is
// a trial.
func With(k *kernels.Kernel, set func(ops []kernels.Operand) bool) *kernels.Kernel {
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if ops := OperandsLike(k.Params, like); ops != nil && set(ops) {
			return ops
		}
		return nil
	}
	return k
}

// Elementwise is [With] of a kernel that computes each of n elements alone, n being a parameter of
// that name: a launch that is too large is tried with fewer of them.
func Elementwise(k *kernels.Kernel, set func(ops []kernels.Operand)) *kernels.Kernel {
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		ops := LaunchOperands(k.Params, like)
		total := 0
		for _, o := range ops {
			total += o.N
		}
		if total > Elements {
			n := Elements / len(ops)
			for i, p := range k.Params {
				ops[i].N = min(ops[i].N, n)
				if p.Name == "n" {
					ops[i].Number = min(ops[i].Number, float64(n))
				}
			}
		}
		if ops != nil && set != nil {
			set(ops)
		}
		return ops
	}
	return k
}

// SetNumbers sets the numbers of operands, one after the other.
func SetNumbers(ops []kernels.Operand, values ...float64) {
	for i, v := range values {
		ops[i].Number = v
	}
}
