package refexec_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// reader listens to the Go device. It checks every launch against the description of its kernel.
type reader struct {
	t        *testing.T
	d        tensor.Device
	launches map[string]int // that are described
	scalars  int            // numbers of theirs that are step scalars
}

// memory is what a buffer of the Go device has.
type memory interface{ At(i int) float64 }

func (r *reader) Launch(k *kernels.Kernel, args []kernels.Arg) {
	if k.Semantics == nil {
		if opaque[k.Name] == "" {
			r.t.Errorf("%s is opaque", k.Name)
		}
		return
	}
	r.launches[k.Name]++
	onHost := append([]kernels.Arg{}, args...)
	hosts := map[kernels.Buffer]*kernels.HostBuffer{}
	named := passed(k.Semantics(args))
	for i := range onHost {
		a := &onHost[i]
		if s, _, _ := a.StepScalar(); s != nil {
			if r.scalars++; !named[i] {
				r.t.Errorf("%s: its description does not name %s, which is a step scalar", k.Name, k.Params[i].Name)
			}
		}
		if a.Buf == nil {
			continue
		}
		if hosts[a.Buf] == nil {
			host := kernels.NewHostBuffer(a.Buf.DType(), a.Buf.Len())
			for j := range host.Len() {
				host.Set(j, a.Buf.(memory).At(j))
			}
			hosts[a.Buf] = host
		}
		a.Buf = hosts[a.Buf]
	}
	if _, err := refexec.Check(k, r.d.DefaultType(), r.d.Target(), onHost); err != nil {
		r.t.Errorf("%s: %v", k.Name, err)
	}
}

// passed returns the arguments that operations name as numbers.
func passed(list []kernels.Op) map[int]bool {
	named := map[int]bool{}
	for _, op := range list {
		switch op := op.(type) {
		case *operation.Map:
			for _, r := range op.Results {
				for _, s := range r.Scalars {
					named[s.Arg] = true
				}
			}
		case *operation.Random:
			for _, s := range []operation.Scalar{op.Seed[0], op.Seed[1], op.Call, op.A, op.B} {
				named[s.Arg] = true
			}
		}
	}
	return named
}

func (r *reader) Alloc(kernels.Buffer)                            {}
func (r *reader) Release(kernels.Buffer)                          {}
func (r *reader) Upload(kernels.Buffer, int, *kernels.HostBuffer) {}
func (r *reader) Forget(kernels.Buffer)                           {}
func (r *reader) Input(kernels.Buffer) bool                       { return false }
func (r *reader) Again(func() error)                              {}
func (r *reader) Refuse(error, string)                            {}
func (r *reader) Label(string, string)                            {}
func (r *reader) Named(kernels.Buffer, int, []int, string)        {}

func (r *reader) State(_ any, make func() capture.State) capture.State { return make() }

// TestDescribedTraining: what kernels say of the launches of a step of training is what these
// compute, for all optimizers, and numbers that change from step to step are named, not read.
func TestDescribedTraining(t *testing.T) {
	rate := optim.Cosine(0.05, 0.001, 9)
	for name, optimizer := range map[string]func(p []*autograd.Node) optim.Optimizer{
		"adamw": func(p []*autograd.Node) optim.Optimizer { return optim.NewAdamW(p, optim.AdamWDefaults(rate)) },
		"sgd":   func(p []*autograd.Node) optim.Optimizer { return optim.NewSGD(p, optim.SGDConfig{LR: rate}) },
		"nesterov": func(p []*autograd.Node) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{LR: rate, Momentum: 0.9, Nesterov: true, WeightDecay: 0.01})
		},
	} {
		for _, double := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, float64 %v", name, double), func(t *testing.T) { described(t, double, optimizer) })
		}
	}
}

func described(t *testing.T, double bool, optimizer func(p []*autograd.Node) optim.Optimizer) {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: devtest.Floats(double)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rng := tensor.NewRNG(7)
	net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{5, 16, 16, 3}, Activations: []nn.Activation{nn.LeakyReLU(0.1), nn.Tanh}})
	opt := optimizer(nn.Params(net))
	r := &reader{t, d, map[string]int{}, 0}
	stop, err := d.(capture.Capturer).Capture().Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		noise := rng.Normal(d, 0, 0.1, 40, 5)
		x, y := rng.Uniform(d, -1, 1, 40, 5), rng.Uniform(d, 0, 1, 40, 3)
		out := net.Forward(autograd.Const(x.Add(noise)))
		loss := out.Sub(autograd.Const(y)).Square().Mean().Add(out.Max(1).Sum().MulScalar(0.01))
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		if err := opt.Step(); err != nil {
			t.Fatal(err)
		}
		opt.ZeroGrad()
	}
	stop()
	if r.scalars == 0 || len(r.launches) < 10 {
		t.Errorf("%d numbers were step scalars, and launches those of %v", r.scalars, r.launches)
	}
}
