package checkpoint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// A program that does two steps each time it is run, and resumes where it stopped.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	program := func() error {
		net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 8, 1}, Activations: []nn.Activation{nn.Tanh}})
		opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(1e-2)))
		rng := tensor.NewRNG(2)
		var progress struct{ Step int }
		parts := checkpoint.State{"model": nn.StateDict(net), "optimizer": opt, "rng": rng, "progress": &progress}
		if err := checkpoint.Load(path, parts); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for range 2 {
			loss := net.Forward(autograd.Const(rng.Uniform(d, -1, 1, 16, 2))).Square().Mean()
			if err := errors.Join(loss.Backward(), opt.Step()); err != nil {
				return err
			}
			opt.ZeroGrad()
			progress.Step++
		}
		fmt.Println("step", progress.Step, "of the optimizer", opt.Steps(), "random fills", rng.Calls)
		return checkpoint.Save(path, parts)
	}
	for range 3 {
		if err := program(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// step 2 of the optimizer 2 random fills 2
	// step 4 of the optimizer 4 random fills 4
	// step 6 of the optimizer 6 random fills 6
}
