// Customfusion teaches recorded steps a fusion that clgrad does not have, and records a step with
// it.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// record records Σ silu(x)·y over the rows of x and y.
func record(d tensor.Device, x, y *tensor.Tensor, opt replay.Options) (*replay.Recording, error) {
	return replay.Record(d, func() ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{x.SiLU().Mul(y).Sum(0)}, nil
	}, opt)
}

func main() {
	d, err := tensor.Open("")
	if err != nil {
		log.Fatal(err)
	}
	rng := tensor.NewRNG(1)
	x, y := rng.Normal(d, 0, 1, 1000, 256), rng.Normal(d, 0, 1, 1000, 256)
	rec, err := record(d, x, y, replay.Options{Explain: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Free()
	if err := rec.Run(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d launch in place of %d on %s\n", rec.Report().Launches, rec.Report().Step, d.Name())
}
