package main

import (
	"fmt"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/spf13/pflag"
)

// limits is what ends a run before its steps are done.
type limits struct {
	psnr  float64
	time  time.Duration
	flags *pflag.FlagSet
}

func (l *limits) register(fs *pflag.FlagSet) {
	l.flags = fs
	fs.Float64Var(&l.psnr, "psnr", 0, `stop when the whole image has this PSNR, in dB. The schedule linear falls to 0 where that is
expected, if there is no --time. A PSNR that is about the most that the steps reach may be
missed for it: such a fit ends some tenths of a dB lower than without --psnr`)
	fs.DurationVar(&l.time, "time", 0, `stop after this time of training, such as 30s or 5m, in all runs of a fit that resumes
together. The schedule linear is planned to take it, with fewer or, unless --steps is
given, more steps than it has by itself`)
	cli.Group(fs, groupStop)
}

func (l *limits) validate() error {
	if l.flags.Changed("psnr") && !(l.psnr > 0 && l.psnr < 1000) {
		return cli.Usage(fmt.Errorf("--psnr is %v: it must be above 0 and below 1000 dB", l.psnr))
	}
	if l.flags.Changed("time") && l.time <= 0 {
		return cli.Usage(fmt.Errorf("--time is %v: it must be above 0", l.time))
	}
	return nil
}

// atLeastOne returns the error for a flag whose value must be at least 1 and is not.
func atLeastOne(flag string, value int64) error {
	if value >= 1 {
		return nil
	}
	return cli.Usage(fmt.Errorf("--%s is %d: it must be at least 1", flag, value))
}

func (l *limits) watch() imagefit.Watch {
	return imagefit.Watch{PSNR: l.psnr, Time: l.time, Fill: !l.flags.Changed("steps")}
}
