package kernels

// Operand is one argument of a trial. [Draw], [Output], [Number] and [Derived] make one.
type Operand struct {
	N      int     // elements of a buffer
	Lo, Hi float64 // they are uniform in [Lo, Hi); ints are whole
	Number float64 // an argument by value
	Blank  bool    // the buffer starts as NaN, or as 77 where it holds integers: all of it must be written
	// From returns element i of a buffer that is not drawn, from the arguments before it, as host
	// memory.
	From func(before []Arg, i int) float64
}

// Draw is a buffer of n elements that are uniform in [lo, hi).
func Draw(n int, lo, hi float64) Operand { return Operand{N: n, Lo: lo, Hi: hi} }

// Output is a buffer of n elements that the kernel writes, all of them.
func Output(n int) Operand { return Operand{N: n, Blank: true} }

// Number is an argument by value, an int or a real.
func Number(v float64) Operand { return Operand{Number: v} }

// Derived is a buffer of n elements, of which from returns element i from the arguments before it,
// as host memory.
func Derived(n int, from func(before []Arg, i int) float64) Operand {
	return Operand{N: n, From: from}
}

// What a trial at the size asked for takes at most, in elements of all buffers and in
// multiplications: about a tenth of a second of the Go twin.
const (
	TrialElements = 1 << 22
	TrialProducts = 1 << 27
)

// LikeLaunch returns the operands of a launch with the arguments like of a kernel that computes on
// any reals: its numbers, and buffers of its lengths, of reals in [−1, 1). It returns nil, which is
// no trial, for a kernel of integers, whose meaning it cannot know, for a launch that is too large
// for a trial, and for none. It is the Trial of a kernel of a File that has no other.
func LikeLaunch(params []Param, like []Arg) []Operand {
	ops := LaunchOperands(params, like)
	total := 0
	for _, o := range ops {
		total += o.N
	}
	if total > TrialElements {
		return nil
	}
	return ops
}

// LaunchOperands is [LikeLaunch] of any size.
func LaunchOperands(params []Param, like []Arg) []Operand {
	if like == nil {
		return nil
	}
	ops := make([]Operand, len(like))
	for i, p := range params {
		switch p.Mode {
		case IntParam, LongParam:
			ops[i] = Number(float64(like[i].Int))
		case FloatParam:
			ops[i] = Number(like[i].Real)
		case Out:
			ops[i] = Output(like[i].N)
		case In, InOut:
			ops[i] = Draw(like[i].N, -1, 1)
		default:
			return nil
		}
	}
	return ops
}

// Tried gives k a Trial like the launch, with what set changes of it: set returns whether there is
// a trial.
func Tried(k *Kernel, set func(ops []Operand) bool) *Kernel {
	k.Trial = func(like []Arg) []Operand {
		if ops := LikeLaunch(k.Params, like); ops != nil && set(ops) {
			return ops
		}
		return nil
	}
	return k
}

// Elementwise is [Tried] of a kernel that computes each of n elements alone, n being a parameter of
// that name: a launch that is too large is tried with fewer of them.
func Elementwise(k *Kernel, set func(ops []Operand)) *Kernel {
	k.Trial = func(like []Arg) []Operand {
		ops := LaunchOperands(k.Params, like)
		total := 0
		for _, o := range ops {
			total += o.N
		}
		if total > TrialElements {
			n := TrialElements / len(ops)
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
func SetNumbers(ops []Operand, values ...float64) {
	for i, v := range values {
		ops[i].Number = v
	}
}

// At returns element i of an argument that is host memory, as those of a trial are.
func (a Arg) At(i int) float64 { return a.Buf.(*HostBuffer).At(a.Off + i) }
