package optim

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Group is parameters of an optimizer with settings of their own, in the field Groups of its
// config. They are complete: a copy of the config, in which something differs. Parameters may, but
// need not, stand in the list of all as well.
//
//	cfg := optim.AdamWDefaults(optim.Cosine(1e-3, 0, steps))
//	noDecay := cfg
//	noDecay.WeightDecay = 0
//	cfg.Groups = []optim.Group[optim.AdamWConfig]{{Params: biases, Config: noDecay}}
//	opt := optim.NewAdamW(all, cfg)
//
// A step is a launch for each group. There is one count of steps, and one [State].
type Group[C any] struct {
	Params []*autograd.Node
	Config C
}

// settings is a config of an optimizer.
type settings[C any] interface {
	// check panics for settings out of range, and returns the schedule and the groups.
	check() (Schedule, []Group[C])
}

// group is the elements of a flat buffer that have the same settings.
type group struct {
	from, to int
	lr       Schedule
}

// mostNumbers is how many numbers step scalars hold.
const mostNumbers = 255

// newBase moves the parameters into a flat buffer, those of a group beside each other, and returns
// the settings of each group: the first is of those that are in none of cfg's. set makes the `each`
// numbers of a group that change from step to step, of its learning rate and the number of the
// step, counted from 1. What it panics with names op.
func newBase[C settings[C]](op string, params []*autograd.Node, cfg C, each int, set func(cfg *C, numbers []kernels.Arg, lr float64, t int), moments ...string) (*base, []C) {
	defer tensorapi.Rename("optim", op)
	_, groups := cfg.check()
	if most := mostNumbers / each; len(groups) >= most {
		panic(badValue("there are %d groups: %d at most, beside the parameters in none", len(groups), most-1))
	}
	var grouped []*autograd.Node
	for i, g := range groups {
		if _, nested := g.Config.check(); nested != nil {
			panic(badValue("group %d has groups itself: leave Groups out of its config", i))
		}
		grouped = append(grouped, g.Params...)
	}
	in := map[*autograd.Node]bool{}
	for _, p := range grouped {
		in[p] = true
	}
	rest := slices.DeleteFunc(slices.Clone(params), func(p *autograd.Node) bool { return in[p] })
	cfgs := []C{cfg}
	b := &base{flat: flatparams.New(slices.Concat(rest, grouped)), moments: map[string]*tensor.Tensor{}}
	b.names = namesOf(b.flat.Params)
	last := 0
	add := func(cfg C, count int) {
		lr, _ := cfg.check()
		from := b.flat.Start(last)
		last += count
		b.groups = append(b.groups, group{from, b.flat.Start(last), lr})
	}
	add(cfg, len(rest))
	for _, g := range groups {
		cfgs = append(cfgs, g.Config)
		add(g.Config, len(g.Params))
	}
	values := b.flat.Values
	for _, name := range moments {
		b.moments[name] = tensor.ZerosOf(values.Device(), values.Type().Computed(), values.Len()).Retain()
	}
	lrs := make([]float64, len(cfgs))
	b.numbers = kernels.NewStepScalars(each*len(cfgs), func(numbers []kernels.Arg) error {
		for g := range cfgs {
			var err error
			if lrs[g], err = b.rate(g); err != nil {
				return err
			}
		}
		for g := range cfgs {
			set(&cfgs[g], numbers[g*each:(g+1)*each], lrs[g], b.steps+1)
		}
		b.steps++
		return nil
	})
	return b, cfgs
}

// mustSchedule panics if there is none.
func mustSchedule(lr Schedule) {
	if lr == nil {
		panic(badValue("the schedule is nil: use optim.Constant(lr)"))
	}
}
