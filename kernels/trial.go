package kernels

// Operand is one argument of a trial. [Draw], [Output] and [Number] make one.
type Operand struct {
	N      int     // elements of a buffer
	Lo, Hi float64 // they are uniform in [Lo, Hi); ints are whole
	Number float64 // an argument by value
	Blank  bool    // the buffer starts as NaN: all of it must be written
}

// Draw is a buffer of n elements that are uniform in [lo, hi).
func Draw(n int, lo, hi float64) Operand { return Operand{N: n, Lo: lo, Hi: hi} }

// Output is a buffer of n reals that the kernel writes, all of them.
func Output(n int) Operand { return Operand{N: n, Blank: true} }

// Number is an argument by value, an int or a real.
func Number(v float64) Operand { return Operand{Number: v} }
