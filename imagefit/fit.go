package imagefit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// ErrDiverged is a loss that is no longer a number.
var ErrDiverged = errors.New("training diverged")

// Fit is a model in training.
type Fit struct {
	Model  *Model
	Config Config

	device        tensor.Device
	width, height int
	pixels        *tensor.Tensor // [height·width, channels]
	rng           *tensor.RNG    // of the pixels drawn
	opt           *optim.AdamW
	fused         *autograd.FusedMLP // nil: layer by layer
	whyNot        error              // why it is nil
	loss          *autograd.Node     // of the last step

	intervals []float64 // microseconds per step between two reports
	launches  int64     // of the last step
}

// New returns a fit at step 0. The error wraps ErrConfig for a setting out of range, or is the device's.
func New(d tensor.Device, img *Image, cfg Config) (*Fit, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("imagefit: %w", err)
	}
	spec := Spec{format, img.Width, img.Height, cfg.Features, cfg.Hidden, cfg.Layers}
	f := &Fit{
		Config: cfg, device: d, width: img.Width, height: img.Height,
		Model:  newModel(d, spec, tensor.NewRNG(cfg.Seed)),
		pixels: tensor.New(d, img.Pixels, img.Width*img.Height, Channels).Keep(),
		// The weights' stream has the seed itself; the pixels' must be another.
		rng: tensor.NewRNG(cfg.Seed ^ 0x9E3779B97F4A7C15),
	}
	f.opt = optim.NewAdamW(f.Model.Params(), optim.AdamWConfig{
		LR: optim.Exponential(cfg.LR, cfg.LRDecay), Beta1: cfg.Beta1, Beta2: cfg.Beta2, Eps: 1e-8, WeightDecay: cfg.WeightDecay,
	})
	if cfg.NoFuse {
		f.whyNot = errors.New("switched off")
	} else {
		f.fused, f.whyNot = autograd.NewFusedMLP(f.opt.Arena, slope, autograd.SquaredLoss)
	}
	return f, d.Err()
}

// Fused reports whether a training pass is one launch; if not, the error says why.
func (f *Fit) Fused() (bool, error) { return f.fused != nil, f.whyNot }

// objective draws a batch and returns the sum of the squared errors of its colours.
func (f *Fit) objective() *autograd.Node {
	features, colours := sampleEncoded(f.pixels, f.rng, f.Config.Batch, f.width, f.height, f.Config.Features/4)
	x := autograd.Const(features).Named("features")
	target := autograd.Const(colours).Named("target")
	if f.fused != nil {
		return f.fused.Loss(x, target).Named("loss")
	}
	return f.Model.net.Forward(x).Named("colours").SquaredError(target).Named("loss")
}

// Step does one training step. It does not wait for the device.
func (f *Fit) Step() error {
	before := f.device.Stats().Launches
	f.freeLoss()
	var loss *autograd.Node
	var err error
	tensor.Scope(f.device, func() {
		loss = f.objective()
		err = loss.Backward()
		loss.Keep()
	})
	if err != nil {
		return err
	}
	f.loss = loss
	if err := f.opt.Step(); err != nil {
		return err
	}
	f.opt.ZeroGrad()
	f.device.Flush()
	f.launches = f.device.Stats().Launches - before
	return f.device.Err()
}

// Steps returns the steps done.
func (f *Fit) Steps() int { return f.opt.Steps() }

// Loss waits for the device and returns the loss of the last step: the sum over its batch. It wraps
// ErrDiverged, with the step, if that is not a finite number.
func (f *Fit) Loss() (float64, error) {
	if f.loss == nil {
		return 0, errors.New("imagefit: there is no loss before the first step")
	}
	v, err := f.loss.Item()
	if err != nil {
		return 0, err
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v, fmt.Errorf("imagefit: %w: the loss is %v at step %d: lower the learning rate (it was %.3g)", ErrDiverged, v, f.Steps(), f.Config.LR)
	}
	return v, nil
}

// Progress is a report of a running fit.
type Progress struct {
	Step, Steps int
	Loss        float64       // sum over the batch
	PSNR        float64       // estimated from the loss, in dB
	StepTime    time.Duration // mean since the last report
}

// queueLimit is the most steps that are launched ahead of the device between two reports.
const queueLimit = 256

// Run trains until Config.Steps are done or ctx is cancelled, and reports after the first step, after
// every LogEvery, and at the end. Cancelling is not an error: the fit stands at the step it reached.
func (f *Fit) Run(ctx context.Context, report func(Progress)) error {
	var since time.Time
	last := f.Steps() // step of the last report
	for f.Steps() < f.Config.Steps && ctx.Err() == nil {
		if err := f.Step(); err != nil {
			return err
		}
		step := f.Steps()
		if step%queueLimit == 0 {
			if err := f.device.Sync(); err != nil {
				return err
			}
		}
		if step%f.Config.LogEvery != 0 && step != 1 && step != f.Config.Steps && ctx.Err() == nil {
			continue
		}
		loss, err := f.Loss()
		if err != nil {
			return err
		}
		p := Progress{Step: step, Steps: f.Config.Steps, Loss: loss,
			PSNR: -10 * math.Log10(loss/float64(f.Config.Batch*Channels))}
		if !since.IsZero() && step > last { // the first step builds the kernels: it is not timed
			p.StepTime = time.Since(since) / time.Duration(step-last)
			f.intervals = append(f.intervals, float64(p.StepTime.Nanoseconds())/1e3)
		}
		report(p)
		since, last = time.Now(), step
	}
	return nil
}

// StepMicros returns the median over the reports of the time per step, in microseconds; 0 before the
// second report.
func (f *Fit) StepMicros() float64 {
	if len(f.intervals) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.intervals))
	return sorted[len(sorted)/2]
}

// LaunchesPerStep returns how many kernels the last step launched.
func (f *Fit) LaunchesPerStep() int64 { return f.launches }

// WriteDOT writes the graph of one step in Graphviz's language.
func (f *Fit) WriteDOT(w io.Writer) error {
	var err error
	tensor.Scope(f.device, func() {
		calls := f.rng.Calls
		err = autograd.WriteDOT(w, f.objective())
		f.rng.Calls = calls // looking at the graph does not change the run
	})
	return err
}

// Free releases the model, the optimizer's state and the image on the device.
func (f *Fit) Free() {
	f.opt.Free()
	f.Model.free()
	f.pixels.Free()
	f.freeLoss()
}

func (f *Fit) freeLoss() {
	if f.loss != nil {
		f.loss.Free()
		f.loss = nil
	}
}

// Device returns the device that the fit runs on.
func (f *Fit) Device() tensor.Device { return f.device }
