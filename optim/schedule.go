package optim

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Schedule gives the learning rate of a step; steps count from 0.
type Schedule func(step int) float64

// Constant is lr at every step.
func Constant(lr float64) Schedule { return func(int) float64 { return lr } }

// Exponential is lr·decayˢᵗᵉᵖ.
func Exponential(lr, decay float64) Schedule {
	return func(step int) float64 { return lr * math.Pow(decay, float64(step)) }
}

// Cosine falls from lr at step 0 to low at the given number of steps along half a cosine, and stays
// there. Source: Loshchilov and Hutter, "SGDR", ICLR 2017, eq. 5.
func Cosine(lr, low float64, steps int) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return low
		}
		return low + (lr-low)*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2
	}
}

// WarmupHoldDecay rises linearly to lr over warmup steps, stays there until step hold, and falls
// linearly from there to 0 at the given number of steps. Source: Zhai, Kolesnikov, Houlsby, Beyer,
// "Scaling Vision Transformers", CVPR 2022, §3.5.
func WarmupHoldDecay(lr float64, warmup, hold, steps int) Schedule {
	return func(step int) float64 {
		switch {
		case step < warmup:
			return lr * float64(step+1) / float64(warmup+1)
		case step < hold:
			return lr
		}
		return lr * float64(max(steps-step, 0)) / float64(max(steps-hold, 1))
	}
}

// StepLR is lr times factor once for every `every` steps done. It panics with tensor.ErrValue for
// every below 1.
func StepLR(lr, factor float64, every int) Schedule {
	if every < 1 {
		panic(&tensor.Error{Pkg: "optim", Op: "StepLR", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("it falls every %d steps: 1 at least", every)})
	}
	return func(step int) float64 { return lr * math.Pow(factor, float64(step/every)) }
}

// WarmupOptions says where a [Warmup] begins.
type WarmupOptions struct {
	// Start is the part of then(0) that step 0 has, in (0, 1], as start_factor of PyTorch's LinearLR; 0: 1/steps.
	Start float64
}

// Warmup rises linearly over the given steps to what then gives at its start, and follows it from
// there: step `steps` of the whole is step 0 of then. Four steps to a rate of 1 are
//
//	Warmup(4, Constant(1))                             0.25, 0.5, 0.75, 1, 1, …
//	Warmup(4, Constant(1), WarmupOptions{Start: 0.1})  0.1, 0.325, 0.55, 0.775, 1, …
//
// The first is PyTorch's LambdaLR of min(1, (step + 1)/steps): the last step of the rise has all of then(0), and
// no step has 0. The second is LinearLR(start_factor=0.1, total_iters=4), which a SequentialLR with the milestone 4
// puts before the other schedule. It panics with tensor.ErrValue if then is nil, for a Start outside [0, 1], and for
// two WarmupOptions.
func Warmup(steps int, then Schedule, options ...WarmupOptions) Schedule {
	defer tensorapi.Rename("optim", "Warmup")
	mustSchedule(then)
	var o WarmupOptions
	switch len(options) {
	case 0:
	case 1:
		o = options[0]
	default:
		panic(badValue("%d WarmupOptions: give one", len(options)))
	}
	if !(o.Start >= 0 && o.Start <= 1) {
		panic(badValue("Start is %v, not in [0, 1]", o.Start))
	}
	return func(step int) float64 {
		switch {
		case step >= steps:
			return then(step - max(steps, 0))
		case o.Start == 0:
			return then(0) * float64(step+1) / float64(steps)
		}
		return then(0) * (o.Start + (1-o.Start)*float64(step)/float64(steps))
	}
}
