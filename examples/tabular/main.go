// Tabular learns the prices of flats from a CSV file, with columns of numbers and one of text.
//
//	go run ./examples/tabular
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// table is the columns of a file: numbers [n, 4], districts [n] and prices [n, 1].
type table struct {
	numbers, districts, prices data.Array
	names                      []string // of the districts
}

func read(path string) (t table, err error) {
	file, err := data.LoadCSV(path)
	if err != nil {
		return t, err
	}
	if t.numbers, err = file.Floats("area", "rooms", "year", "floor"); err != nil {
		return t, err
	}
	if t.districts, t.names, err = file.Labels("district"); err != nil {
		return t, err
	}
	if t.prices, err = file.Floats("price"); err != nil {
		return t, err
	}
	t.numbers, t.prices = t.numbers.To(tensor.Float32), t.prices.To(tensor.Float32)
	return t, nil
}

func (t table) slice(from, to int) table {
	return table{t.numbers.Slice(from, to), t.districts.Slice(from, to), t.prices.Slice(from, to), t.names}
}

// regressor keeps in its state dict what the numbers are standardised by.
type regressor struct {
	Mean     *tensor.Tensor `nn:"mean"`
	Std      *tensor.Tensor `nn:"std"`
	District *nn.Embedding
	Net      *nn.MLP
}

// newRegressor standardises by the numbers of t and predicts around its mean price.
func newRegressor(d tensor.Device, rng *tensor.RNG, t table) *regressor {
	x := t.numbers.Tensor(d)
	return &regressor{
		Mean:     x.Mean(0),
		Std:      x.Std(1, 0),
		District: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: len(t.names), Size: 4}),
		Net: nn.NewMLP(d, rng, nn.MLPConfig{
			Sizes: []int{4 + 4, 32, 32, 1}, Activations: []nn.Activation{nn.ReLU},
		}),
	}
}

// price returns the logarithms of prices [n, 1].
func (r *regressor) price(numbers, districts *tensor.Tensor) *autograd.Node {
	x := autograd.Const(numbers.Sub(r.Mean).Div(r.Std))
	return r.Net.Forward(autograd.Concat(1, x, r.District.Forward(districts)))
}

func train(d tensor.Device, r *regressor, t table, epochs int) error {
	loader := data.NewLoader(d, []data.Array{t.numbers, t.districts, t.prices}, data.LoaderConfig{Batch: 32, Seed: 1})
	opt := optim.NewAdamW(nn.Params(r), optim.AdamWDefaults(optim.Cosine(1e-2, 0, epochs*loader.Batches())))
	for range epochs {
		for batch := range loader.Epoch() {
			loss := autograd.MSE(r.price(batch[0], batch[1]), autograd.Const(batch[2].Log()))
			if err := optim.Minimize(opt, loss); err != nil {
				return err
			}
		}
	}
	return nil
}

// test returns the mean of how far a price is off, as a part of it.
func test(d tensor.Device, r *regressor, t table) (off float64, err error) {
	autograd.NoGrad(d, func() {
		guess := r.price(t.numbers.Tensor(d), t.districts.Tensor(d)).Value().Exp()
		prices := t.prices.Tensor(d)
		off, err = guess.Sub(prices).Abs().Div(prices).Mean().Item()
	})
	return off, err
}

func main() {
	path := flag.String("data", "examples/tabular/testdata/flats.csv", "the flats, a CSV `file`")
	flag.Parse()
	all, err := read(*path)
	if err != nil {
		log.Fatal(err)
	}
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	n := all.numbers.Len()
	r := newRegressor(d, tensor.NewRNG(1), all.slice(0, n*4/5))
	if err := train(d, r, all.slice(0, n*4/5), 200); err != nil {
		log.Fatal(err)
	}
	off, err := test(d, r, all.slice(n*4/5, n))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("prices of other flats are off by %.1f %%\n", 100*off)
}
