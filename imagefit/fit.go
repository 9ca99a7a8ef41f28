package imagefit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// ErrDiverged is a loss that is no longer a number.
var ErrDiverged = errors.New("training diverged")

// Fit is a model in training.
type Fit struct {
	Model  *Model // as it is trained so far
	Config Config // as New got it

	device tensor.Device
	digest string         // of the image
	pixels *tensor.Tensor // [height·width, channels]
	rng    *tensor.RNG    // of the pixels drawn
	opts   []*optim.AdamW // of the network and, where that is trained, of the encoding
	loss   *tensor.Tensor // of the last step; nil before the first
	flat   flatness
	aim    int // the step at which a schedule ends that is planned for a PSNR; 0: Config.Steps

	recorded *replay.Recording // of a step; nil: each is done eagerly
	whyNot   error             // why the network's fused step is not one launch
	probe    *probe            // nil until it is needed

	intervals []float64 // microseconds per step between two reports
	launches  int64     // of the last step

	spent time.Duration // in the runs before this one
	begun time.Time     // when this run began; zero: none is on
}

// New returns a fit at step 0. The error wraps ErrConfig for a setting out of range, or is the
// device's.
func New(d tensor.Device, img *Image, cfg Config) (*Fit, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("imagefit: %w", err)
	}
	spec, err := newSpec(img, cfg)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %w", err)
	}
	f := &Fit{
		Config: cfg, device: d, digest: img.digest(),
		Model:  newModel(d, spec, tensor.NewRNG(cfg.Seed)),
		pixels: tensor.NewOf(d, d.DefaultType(), img.Pixels, img.Width*img.Height, img.Channels()).Retain(),
		// The weights' stream has the seed itself; the pixels' must be another.
		rng: tensor.NewRNG(cfg.Seed ^ 0x9E3779B97F4A7C15),
	}
	adam := optim.AdamWConfig{
		LR: f.learningRate, Beta1: cfg.Beta1, Beta2: cfg.Beta2, Eps: 1e-8, WeightDecay: cfg.WeightDecay,
	}
	net := optim.NewAdamW(nn.Params(f.Model.net), adam)
	f.opts = append(f.opts, net)
	if params := f.Model.encoder.params(); params != nil {
		// Most entries of a table are not seen in a step: decay would pull them to 0, and a
		// gradient is as small as few samples make it.
		adam.WeightDecay, adam.Eps = 0, 1e-15
		f.opts = append(f.opts, optim.NewAdamW(params, adam))
	}
	if cfg.Eager {
		f.whyNot = errors.New("switched off")
	} else if err := f.record(); err != nil {
		f.Free()
		return nil, err
	}
	return f, d.Err()
}

// Fused reports whether a fused training step of the network is one launch; if not, the error says
// why.
func (f *Fit) Fused() (bool, error) { return f.whyNot == nil, f.whyNot }

// objective draws a batch and returns the loss: the sum of the errors of its colours.
func (f *Fit) objective() *autograd.Node {
	x, target := f.sample()
	y := f.Model.net.Forward(x).Named("colours")
	if f.Config.Loss == L1 {
		return y.Sub(target).Abs().Sum().Named("loss")
	}
	return y.SquaredError(target).Named("loss")
}

// Step does one training step. It does not wait for the device.
func (f *Fit) Step() error {
	before := f.device.Stats().Launches
	if f.recorded == nil {
		if err := f.eagerStep(); err != nil {
			return err
		}
	} else {
		if err := f.recorded.Run(); err != nil {
			return err
		}
		f.loss = f.recorded.Outputs()[0]
	}
	f.device.Flush()
	f.Model.Steps = f.Steps()
	f.launches = f.device.Stats().Launches - before
	return f.device.Err()
}

// eagerStep does a step, layer by layer.
func (f *Fit) eagerStep() error {
	f.freeLoss()
	var loss *autograd.Node
	var err error
	tensor.Scope(f.device, func() {
		loss = f.objective()
		err = loss.Backward()
		loss.Retain()
	})
	if err != nil {
		return err
	}
	f.loss = loss.Value()
	for _, o := range f.opts {
		if err := o.Step(); err != nil {
			return err
		}
		o.ZeroGrad()
	}
	return nil
}

// Steps returns the steps done.
func (f *Fit) Steps() int { return f.opts[0].Steps() }

// Trained returns the time spent in Run, with that before the checkpoint that the fit was resumed
// from.
func (f *Fit) Trained() time.Duration {
	if f.begun.IsZero() {
		return f.spent
	}
	return f.spent + time.Since(f.begun)
}

// LR returns the learning rate of the next step.
func (f *Fit) LR() float64 { return f.opts[0].LR() }

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

// MSE waits for the device and returns an estimate of the mean squared error: that of the last
// batch, or, where the loss is another, of some pixels.
func (f *Fit) MSE() (float64, error) {
	loss, err := f.Loss()
	if err != nil {
		return 0, err
	}
	if f.Config.Loss == MSE {
		return loss / float64(f.values()), nil
	}
	if f.probe == nil {
		f.probe = newProbe(f.device, f.pixels, f.Model.Width, f.Model.Height)
	}
	mse, err := f.probe.mse(f.Model)
	if err == nil && (math.IsNaN(mse) || math.IsInf(mse, 0)) {
		err = f.Model.Check()
	}
	return mse, err
}

// values returns how many errors the loss of a step is the sum of.
func (f *Fit) values() int { return f.Config.Batch * f.Model.Colour.Channels() }

// StepMicros returns the median over the reports of the time per step, in microseconds; 0 before
// the second report.
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

// Free releases the model, the state of the optimizers and the image on the device.
func (f *Fit) Free() {
	f.freeLoss()
	if f.recorded != nil {
		f.recorded.Free()
	}
	for _, o := range f.opts {
		o.Free()
	}
	f.Model.Free()
	f.pixels.Free()
	if f.probe != nil {
		f.probe.free()
	}
}

func (f *Fit) freeLoss() {
	if f.loss != nil && f.recorded == nil { // that of a recording belongs to it
		f.loss.Free()
	}
	f.loss = nil
}

// Device returns the device that the fit runs on.
func (f *Fit) Device() tensor.Device { return f.device }
