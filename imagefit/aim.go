package imagefit

// A rate that falls only towards Config.Steps is still high where a PSNR that is asked for could be
// reached. So a run that asks for one ends the schedule Linear earlier: after twice the steps at
// which the estimate came within aimGain of it, and, where that was not enough, some more. The
// steps decide, not the clock: a run has the same bits each time.
const (
	aimGain  = 5.5 // dB that as many steps again are to gain, most of them by the falling rate
	leastAim = 8   // a plan that was not enough grows by this share of it, at least, and by as many steps again for each dB that is missing
)

// plan plans the schedule for a PSNR after a reading of the error. No plan goes beyond
// Config.Steps.
func (f *Fit) plan(psnr, mse float64) {
	missing := psnr - psnrOfMSE(mse)
	step := f.Steps()
	switch {
	case !f.Config.planned():
	case f.aim == 0 && missing <= aimGain:
		f.aim = min(2*step, f.Config.Steps)
	case f.aim > 0 && step >= f.aim:
		more := min(float64(step)*max(missing, 1./leastAim), float64(f.Config.Steps))
		f.aim = min(step+(int(more)+probeEvery-1)/probeEvery*probeEvery, f.Config.Steps)
	}
}

// end returns the step at which the run ends if nothing else ends it.
func (f *Fit) end() int {
	if f.aim > 0 {
		return min(f.aim, f.Config.Steps)
	}
	return f.Config.Steps
}

// learningRate returns the rate of a step.
func (f *Fit) learningRate(step int) float64 {
	c := f.Config
	c.Steps = f.end()
	return c.learningRate(step)
}
