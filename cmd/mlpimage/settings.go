package main

import (
	"fmt"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/spf13/pflag"
)

// settings is what the command line says of the training settings. Where it says nothing, those of
// the preset hold, or of the encoding.
type settings struct {
	preset string
	given  imagefit.Config
	flags  *pflag.FlagSet
}

// setting is a flag that sets one field of a Config.
type setting struct {
	name string
	set  func(c *imagefit.Config, given *imagefit.Config)
}

// settingFlags has every setting but the kind of encoding, which comes first.
var settingFlags = []setting{
	{"steps", func(c, g *imagefit.Config) { c.Steps, c.UntilFlat = g.Steps, false }},
	{"until-flat", func(c, g *imagefit.Config) {
		c.UntilFlat = g.UntilFlat
		if g.UntilFlat {
			c.Schedule = imagefit.Exponential
		}
	}},
	{"batch", func(c, g *imagefit.Config) { c.Batch = g.Batch }},
	{"loss", func(c, g *imagefit.Config) { c.Loss = g.Loss }},
	{"hidden", func(c, g *imagefit.Config) { c.Hidden = g.Hidden }},
	{"layers", func(c, g *imagefit.Config) { c.Layers = g.Layers }},
	{"features", func(c, g *imagefit.Config) { c.Encoding.Features = g.Encoding.Features }},
	{"sigma", func(c, g *imagefit.Config) { c.Encoding.Sigma = g.Encoding.Sigma }},
	{"omega", func(c, g *imagefit.Config) { c.Encoding.Omega = g.Encoding.Omega }},
	{"levels", func(c, g *imagefit.Config) { c.Encoding.Levels = g.Encoding.Levels }},
	{"coarsest", func(c, g *imagefit.Config) { c.Encoding.Coarsest = g.Encoding.Coarsest }},
	{"finest", func(c, g *imagefit.Config) { c.Encoding.Finest = g.Encoding.Finest }},
	{"table", func(c, g *imagefit.Config) { c.Encoding.Table = g.Encoding.Table }},
	{"per-entry", func(c, g *imagefit.Config) { c.Encoding.PerEntry = g.Encoding.PerEntry }},
	{"lr", func(c, g *imagefit.Config) { c.LR = g.LR }},
	{"lr-decay", func(c, g *imagefit.Config) { c.LRDecay, c.Schedule = g.LRDecay, imagefit.Exponential }},
	{"schedule", func(c, g *imagefit.Config) { c.Schedule = g.Schedule }},
	{"weight-decay", func(c, g *imagefit.Config) { c.WeightDecay = g.WeightDecay }},
	{"beta1", func(c, g *imagefit.Config) { c.Beta1 = g.Beta1 }},
	{"beta2", func(c, g *imagefit.Config) { c.Beta2 = g.Beta2 }},
	{"seed", func(c, g *imagefit.Config) { c.Seed = g.Seed }},
	{"log-every", func(c, g *imagefit.Config) { c.LogEvery = g.LogEvery }},
	{"eager", func(c, g *imagefit.Config) { c.Eager = g.Eager }},
}

func (s *settings) register(fs *pflag.FlagSet) {
	s.flags = fs
	g, d := &s.given, imagefit.Defaults()
	e := &g.Encoding
	fs.StringVar(&s.preset, "preset", "", cli.OneOf(imagefit.Presets)+` (default good, unless --encoding is given): classic is the
small frequency network of the benchmarks; the others are hash grids whose tables double
as images grow`)
	fs.IntVar(&g.Batch, "batch", 0, fmt.Sprintf("pixels drawn per step (default that of the preset; %d for frequency, 8192 for hash, 4096 for fourier and siren)", d.Batch))
	fs.StringVar(&g.Loss, "loss", "", cli.OneOf(imagefit.Losses)+", the error that is made small (default mse)")
	fs.StringVar(&e.Kind, "encoding", "", cli.OneOf(imagefit.Encodings)+": what the network sees of a position (default that of the preset)")
	fs.IntVar(&e.Features, "features", 0, "of frequency and fourier: inputs of the network (default 64 and 128)")
	fs.Float64Var(&e.Sigma, "sigma", 0, "of fourier: standard deviation of its waves, in cycles per picture (default 15)")
	fs.Float64Var(&e.Omega, "omega", 0, "of siren: factor inside its sines (default 30)")
	fs.IntVar(&e.Levels, "levels", 0, "of hash: grids (default 8)")
	fs.IntVar(&e.Coarsest, "coarsest", 0, "of hash: cells along the longer side in the first grid (default 16)")
	fs.IntVar(&e.Finest, "finest", 0, "of hash: cells along the longer side in the last grid (default as many as pixels)")
	fs.IntVar(&e.Table, "table", 0, "of hash: entries of a grid at most, a power of two (default 16384, presets by the image)")
	fs.IntVar(&e.PerEntry, "per-entry", 0, "of hash: features of an entry (default 4)")
	fs.IntVar(&g.Hidden, "hidden", 0, fmt.Sprintf("width of a hidden layer (default %d)", d.Hidden))
	fs.IntVar(&g.Layers, "layers", 0, fmt.Sprintf("hidden layers, at most 1024 (default %d; 2 for hash)", d.Layers))
	fs.Float64Var(&g.LR, "lr", 0, fmt.Sprintf("highest learning rate (default that of the preset; 0.01 for hash, %v for frequency, 0.003 for fourier, 0.0005 for siren)", d.LR))
	fs.StringVar(&g.Schedule, "schedule", "", cli.OneOf(imagefit.Schedules)+`, of the learning rate: a factor per step, or a plan that
ends at 0 with the last step or at the end of --time (default linear for fast, good and best)`)
	fs.Float64Var(&g.LRDecay, "lr-decay", 0, fmt.Sprintf("factor on the learning rate per step, of the schedule exponential, which it implies (default %v for frequency, else 1)", d.LRDecay))
	fs.Float64Var(&g.WeightDecay, "weight-decay", 0, fmt.Sprintf("decoupled weight decay of AdamW (default %v for frequency, else 0)", d.WeightDecay))
	fs.Float64Var(&g.Beta1, "beta1", 0, fmt.Sprintf("decay of AdamW's first moment (default %v for frequency, else 0.9)", d.Beta1))
	fs.Float64Var(&g.Beta2, "beta2", 0, fmt.Sprintf("decay of AdamW's second moment (default %v for frequency, else 0.99)", d.Beta2))
	fs.Uint64Var(&g.Seed, "seed", 0, fmt.Sprintf("seed of the weights and of the pixels drawn (default %d)", d.Seed))
	fs.BoolVar(&g.Eager, "eager", false, "do each step launch by launch, layer by layer: do not record one and replay it")
	cli.Group(fs, groupLearn)
	fs.IntVar(&g.Steps, "steps", 0, fmt.Sprintf("stop after so many steps (default that of the preset; %d with --encoding)", d.Steps))
	fs.BoolVar(&g.UntilFlat, "until-flat", false, "stop when the gain flattens, with the schedule exponential, which it implies")
	cli.Group(fs, groupStop)
	fs.IntVar(&g.LogEvery, "log-every", 0, fmt.Sprintf("steps between two reports of the loss (default %d)", d.LogEvery))
	cli.Group(fs, groupWrite)
}

// config returns the settings for an image of a size.
func (s *settings) config(width, height int) (imagefit.Config, error) {
	c, err := s.base(width, height)
	if err != nil {
		return c, cli.Usage(err)
	}
	s.apply(&c)
	if err := c.Validate(); err != nil {
		return c, cli.Usage(err)
	}
	return c, nil
}

// base returns what holds where no flag says otherwise: the settings of the preset, which is Good
// unless it or the encoding is named, or of the encoding.
func (s *settings) base(width, height int) (imagefit.Config, error) {
	kind, named := s.given.Encoding.Kind, s.flags.Changed("encoding")
	switch {
	case s.preset == "" && named:
		return imagefit.DefaultsFor(kind), nil
	case s.preset == "":
		return imagefit.Preset(imagefit.Good, width, height)
	}
	c, err := imagefit.Preset(s.preset, width, height)
	if err == nil && named && kind != c.Encoding.Kind {
		err = fmt.Errorf("--preset %s has the encoding %s: leave out --preset or --encoding", s.preset, c.Encoding.Kind)
	}
	return c, err
}

// apply changes what flags were given for.
func (s *settings) apply(c *imagefit.Config) {
	for _, l := range settingFlags {
		if s.flags.Changed(l.name) {
			l.set(c, &s.given)
		}
	}
}

// resumed returns the settings of a checkpoint, of which flags may change only what does not change
// what was learned so far. The preset, if one is named, must be that of the checkpoint, for an
// image of this size.
func (s *settings) resumed(saved imagefit.Config, width, height int) (imagefit.Config, error) {
	if s.preset != "" {
		c, err := s.config(width, height)
		if err != nil {
			return c, err
		}
		if !s.flags.Changed("steps") && !s.flags.Changed("until-flat") {
			c.Steps, c.UntilFlat = saved.Steps, saved.UntilFlat
		}
		if !s.flags.Changed("log-every") {
			c.LogEvery = saved.LogEvery
		}
		return c, nil // Resume compares them
	}
	if kind := s.given.Encoding.Kind; s.flags.Changed("encoding") && kind != saved.Encoding.Kind {
		return saved, cli.Usage(fmt.Errorf("--encoding %s: the checkpoint has the encoding %s", kind, saved.Encoding.Kind))
	}
	c := saved
	s.apply(&c)
	if err := c.Validate(); err != nil {
		return c, cli.Usage(err)
	}
	return c, nil
}
