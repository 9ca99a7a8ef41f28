// Package selftest makes the operands of trials: of launches with which a device tries a kernel beside its
// host kernel before it launches it.
//
//	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
//		n := like[0].N
//		return []kernels.Operand{selftest.Uniform(n, 0.1, 3), selftest.Output(n), selftest.Number(float64(n))}
//	}
//
// Most kernels need no more than [OperandsLike], [With] and [Elementwise] make of a launch.
package selftest
