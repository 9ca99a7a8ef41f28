package optim

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// half is from at 0 and to at 1, along half a cosine.
func half(from, to, at float64) float64 { return to + (from-to)*(1+math.Cos(math.Pi*at))/2 }

// Polynomial falls from lr at step 0 to low at the given number of steps, and stays there:
//
//	low + (lr − low)·(1 − step/steps)^power
//
// A power of 1 is a line. PyTorch: PolynomialLR.
func Polynomial(lr, low float64, steps int, power float64) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return low
		}
		return low + (lr-low)*math.Pow(1-float64(step)/float64(steps), power)
	}
}

// CosineRestarts falls from lr to low along half a cosine, again and again: over the given number
// of steps first, each time over factor times as many. It panics with tensor.ErrValue for steps or
// a factor below 1. Source: Loshchilov and Hutter, "SGDR", ICLR 2017. PyTorch:
// CosineAnnealingWarmRestarts.
func CosineRestarts(lr, low float64, steps, factor int) Schedule {
	if steps < 1 || factor < 1 {
		panic(&tensor.Error{Pkg: "optim", Op: "CosineRestarts", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("a cycle of %d steps, the next one %d times as long: both are 1 at least", steps, factor)})
	}
	return func(step int) float64 {
		if factor == 1 {
			return half(lr, low, float64(step%steps)/float64(steps))
		}
		length := steps
		for step >= length {
			step -= length
			length = min(length, math.MaxInt/factor) * factor // without overflow
		}
		return half(lr, low, float64(step)/float64(length))
	}
}

// OneCycleOptions says how [OneCycle] rises and falls.
type OneCycleOptions struct {
	Rise   float64 // the part of the steps in which the rate rises, in (0, 1]; 0: 0.3
	Div    float64 // the first rate is lr/Div; 0: 25
	Final  float64 // the last rate is lr/(Div·Final); 0: 1e4
	Linear bool    // along lines, not half cosines
	Three  bool    // fall back to the first rate as fast as it rose, then on to the last
}

// OneCycle rises to lr and falls to almost nothing within the given number of steps, where it
// stays. The momentum does not change. It panics with tensor.ErrValue for options out of range.
// Source: Smith and Topin, "Super-Convergence", 2018. PyTorch: OneCycleLR.
func OneCycle(lr float64, steps int, options ...OneCycleOptions) Schedule {
	misuse := func(format string, a ...any) {
		panic(&tensor.Error{Pkg: "optim", Op: "OneCycle", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, a...)})
	}
	var o OneCycleOptions
	if len(options) > 1 {
		misuse("a call takes one set of options")
	} else if len(options) == 1 {
		o = options[0]
	}
	switch {
	case !(o.Rise >= 0 && o.Rise <= 1):
		misuse("Rise is %v: it is a part of the steps, 1 at most", o.Rise)
	case o.Three && o.Rise > 0.5:
		misuse("Rise is %v: as much is for falling back, so that it is 0.5 at most", o.Rise)
	case !(o.Div >= 0) || !(o.Final >= 0):
		misuse("Div is %v and Final is %v: both are above 0, or 0 for the usual", o.Div, o.Final)
	}
	for _, d := range []struct {
		value *float64
		usual float64
	}{{&o.Rise, 0.3}, {&o.Div, 25}, {&o.Final, 1e4}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	first, last := lr/o.Div, lr/o.Div/o.Final
	ends, rates := []float64{o.Rise*float64(steps) - 1, float64(steps - 1)}, []float64{first, lr, last}
	if o.Three {
		ends, rates = []float64{ends[0], 2 * ends[0], ends[1]}, []float64{first, lr, first, last}
	}
	between := half
	if o.Linear {
		between = func(from, to, at float64) float64 { return from + (to-from)*at }
	}
	return func(step int) float64 {
		from := 0.0
		for k, to := range ends {
			if at := float64(step); at <= to {
				return between(rates[k], rates[k+1], (at-from)/max(to-from, math.SmallestNonzeroFloat64))
			}
			from = to
		}
		return last
	}
}
