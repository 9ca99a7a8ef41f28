package imagefit

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Progress is a report of a running fit.
type Progress struct {
	Step, Steps int           // done, and of the whole run
	Loss        float64       // mean over the values of the batch, of which a pixel has one per channel
	PSNR        float64       // estimated, in dB
	LR          float64       // of the next step
	StepTime    time.Duration // mean since the last report
}

// Watch says when a run ends before Config.Steps, and what is called then. The zero value has
// neither.
type Watch struct {
	PSNR   float64              // of the whole image, in dB, that ends the run; 0: none
	Time   time.Duration        // of training, with that before a checkpoint, that ends the run; 0: none
	Fill   bool                 // plan the schedule Linear to take Time, with more steps than Config.Steps if there is time
	Report func(Progress)       // called after the first step, every Config.LogEvery, and the last
	Step   func(step int) error // called after each step; an error ends the run and is returned
}

// Reason says why a run ended.
type Reason string

// The reasons.
const (
	AllSteps    Reason = "all steps done"
	Flat        Reason = "the gain flattened"
	Exact       Reason = "the image is exact"
	ReachedPSNR Reason = "the PSNR asked for was reached"
	OutOfTime   Reason = "the time was up"
	Interrupted Reason = "interrupted"
)

// Between two waits for the device, at most queueLimit steps are launched ahead of it, and no more
// than take about queueTime: after that a run looks at the clock, and at what interrupts it.
const (
	queueLimit = 256
	queueTime  = 100 * time.Millisecond
)

// Run trains until Config.Steps are done, one of the limits of w or of Config.UntilFlat is reached,
// or ctx is cancelled. Cancelling is not an error: the fit stands at the step it reached. The gain
// and the PSNR are looked at every 50 steps. A resumed fit that is at its end already does no step.
// With a Time, a fit whose schedule is Linear plans it anew whenever the device is waited for:
// Config.Steps becomes what can be done in the time, no more than it was without Fill. With a PSNR
// and no Time, its schedule falls to 0 where that is expected to be reached, at Config.Steps at the
// latest. Where that was too early the rate rises again, and steps at a low one were for little: a
// fit that cannot quite reach its PSNR ends some tenths of a dB lower than without.
func (f *Fit) Run(ctx context.Context, w Watch) (Reason, error) {
	f.begun = time.Now()
	defer func() { f.spent, f.begun = f.Trained(), time.Time{} }()
	r := runner{fit: f, watch: w, synced: f.begun, ahead: 1, last: f.Steps(), most: f.Config.Steps}
	if w.PSNR <= 0 || w.Time > 0 {
		f.aim = 0
	}
	if done, err := r.doneBefore(ctx); err != nil || done != "" {
		return done, err
	}
	if w.Fill && w.Time > 0 && f.Config.planned() {
		r.most = math.MaxInt32
		f.Config.Steps = max(f.Config.Steps, f.Steps()+2*queueLimit) // the first plan comes within those
	}
	for {
		switch {
		case f.Steps() >= f.Config.Steps && f.Steps() < r.most && w.Time > 0:
			f.spent += max(0, w.Time-f.Trained()) // the plan ends with the time, but for the last step's
			return OutOfTime, nil
		case f.Steps() >= f.Config.Steps:
			return AllSteps, nil
		case ctx.Err() != nil:
			return Interrupted, nil
		case f.ended() != "":
			return f.ended(), nil
		}
		if err := f.Step(); err != nil {
			return "", err
		}
		reason, err := r.after(ctx)
		if err != nil || reason != "" {
			return reason, err
		}
	}
}

// doneBefore returns which limit of the Watch a resumed fit has reached before this run, or "".
func (r *runner) doneBefore(ctx context.Context) (Reason, error) {
	f := r.fit
	if f.Steps() == 0 {
		return "", nil
	}
	if r.watch.Time > 0 && f.spent >= r.watch.Time {
		return OutOfTime, nil
	}
	if r.watch.PSNR <= 0 {
		return "", nil
	}
	psnr, err := f.PSNR(ctx)
	switch {
	case ctx.Err() != nil:
		return "", nil // Run says so
	case err == nil && psnr >= r.watch.PSNR:
		return ReachedPSNR, nil
	}
	return "", err
}

// ended returns why a fit that looks at its own readings is at its end, or "".
func (f *Fit) ended() Reason {
	switch {
	case !f.reads():
		return ""
	case f.flat.exact(f.Model.Colour.peak()):
		return Exact
	case f.Config.UntilFlat && f.flat.reached():
		return Flat
	}
	return ""
}

// reads reports whether readings of the error may end the fit: with the schedule Linear, where the
// image is exact.
func (f *Fit) reads() bool { return f.Config.UntilFlat || f.Config.planned() }

// runner is the clock of a run.
type runner struct {
	fit      *Fit
	watch    Watch
	synced   time.Time // when the device was last waited for
	queued   int       // steps since then
	ahead    int       // steps until the next time
	reported time.Time
	last     int           // step of the last report
	tried    int           // step at which the PSNR was last measured
	most     int           // steps that a plan may have
	pace     time.Duration // per step, smoothed; 0 until one was timed
}

// after does what is due after a step. The reason is not empty if the run is to end.
func (r *runner) after(ctx context.Context) (Reason, error) {
	f, step := r.fit, r.fit.Steps()
	if r.queued++; r.queued >= r.ahead {
		if err := f.device.Sync(); err != nil {
			return "", err
		}
		now := time.Now()
		each := max(now.Sub(r.synced)/time.Duration(r.queued), 1)
		r.ahead = int(min(max(queueTime/each, 1), queueLimit))
		r.plan(each)
		r.queued, r.synced = 0, now
	}
	var reason Reason
	if step%probeEvery == 0 && (f.reads() || r.watch.PSNR > 0) {
		mse, err := f.MSE()
		if err != nil {
			return "", err
		}
		if f.reads() {
			f.flat = append(f.flat, mse)
		}
		if done, err := r.reached(ctx, mse); err != nil {
			return "", err
		} else if done {
			reason = ReachedPSNR
		} else if r.watch.PSNR > 0 && r.watch.Time <= 0 {
			f.plan(r.watch.PSNR, mse)
		}
	}
	if r.watch.Time > 0 && f.Trained() >= r.watch.Time && r.queued == 0 {
		reason = OutOfTime
	}
	final := reason != "" || step == f.Config.Steps || ctx.Err() != nil || f.ended() != ""
	if step%f.Config.LogEvery == 0 || step == 1 || final {
		if err := r.report(step); err != nil {
			return "", err
		}
	}
	if r.watch.Step != nil {
		if err := r.watch.Step(step); err != nil {
			return "", err
		}
	}
	return reason, nil
}

// plan makes Config.Steps what can be done in the time that is left at the pace so far, if the
// schedule is planned for a time. The first step builds the kernels: it says nothing of the pace.
func (r *runner) plan(each time.Duration) {
	f := r.fit
	if r.watch.Time <= 0 || !f.Config.planned() || f.begun.Equal(r.synced) {
		return
	}
	if r.pace == 0 {
		r.pace = each
	}
	r.pace += (each - r.pace) / 4
	left := r.watch.Time - f.Trained()
	steps := int64(f.Steps()) + int64(max(left, 0)/max(r.pace, 1))
	f.Config.Steps = int(max(1, min(steps, int64(r.most))))
}

// reached reports whether the image has the PSNR that ends the run. The estimate says when it is
// worth measuring.
func (r *runner) reached(ctx context.Context, mse float64) (bool, error) {
	const margin = 0.3 // dB by which the estimate may be too low
	step := r.fit.Steps()
	if r.watch.PSNR <= 0 || psnrOfMSE(mse) < r.watch.PSNR-margin || step-r.tried < 2*probeEvery && r.tried > 0 && step < r.fit.end() {
		return false, nil
	}
	r.tried = step
	psnr, err := r.fit.PSNR(ctx)
	if ctx.Err() != nil {
		return false, nil // Run says so
	}
	return psnr >= r.watch.PSNR, err
}

func (r *runner) report(step int) error {
	f := r.fit
	loss, err := f.Loss()
	if err != nil {
		return err
	}
	mse, err := f.MSE()
	if err != nil {
		return err
	}
	p := Progress{Step: step, Steps: f.end(), Loss: loss / float64(f.values()), PSNR: psnrOfMSE(mse), LR: f.LR()}
	if !r.reported.IsZero() && step > r.last { // the first step builds the kernels: it is not timed
		p.StepTime = time.Since(r.reported) / time.Duration(step-r.last)
		f.intervals = append(f.intervals, float64(p.StepTime.Nanoseconds())/1e3)
	}
	if r.watch.Report != nil {
		r.watch.Report(p)
	}
	r.reported, r.last = time.Now(), step
	return nil
}

func psnrOfMSE(mse float64) float64 { return -10 * math.Log10(mse) }

// PSNR draws the image and returns its PSNR against the one that is fitted.
func (f *Fit) PSNR(ctx context.Context) (float64, error) {
	out, err := f.Model.Render(ctx, f.Model.Width, f.Model.Height)
	if err != nil {
		return 0, err
	}
	img, err := f.Image()
	if err != nil {
		return 0, err
	}
	return PSNR(img, out), nil
}

// Image waits for the device and returns the image that is fitted.
func (f *Fit) Image() (*Image, error) {
	pixels, err := f.pixels.Float32s()
	if err != nil {
		return nil, fmt.Errorf("imagefit: %w", err)
	}
	return &Image{f.Model.Width, f.Model.Height, f.Model.Colour, pixels}, nil
}
