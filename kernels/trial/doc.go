// Package trial makes the operands of trials: of launches with which a device tries a kernel beside its
// host kernel before it launches it.
//
//	k.Trial = func(like []kernels.Arg) []kernels.Operand {
//		n := like[0].N
//		return []kernels.Operand{trial.Draw(n, 0.1, 3), trial.Output(n), trial.Number(float64(n))}
//	}
//
// Most kernels need no more than [LikeLaunch], [Tried] and [Elementwise] make of a launch.
package trial
