package generate_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/tensor"
)

// TestExtremeOptions checks that options near their limits draw the token that they leave, in every type of scores.
func TestExtremeOptions(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	inf := math.Inf(-1)
	rng := tensor.NewRNG(1)
	for _, typ := range []tensor.Type{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		for _, o := range []generate.SampleOptions{{Temperature: 1e-300}, {Temperature: 1e-40}, {Temperature: 1e-6},
			{Temperature: 1, TopP: 1e-300}, {Temperature: 1, TopP: 1e-9}, {Temperature: math.MaxFloat64, TopK: 1}} {
			for _, row := range [][]float64{{1, 2, 3, 9}, {-6e4, 1, 0, 6e4}, {inf, inf, inf, 5}} {
				tokens, err := generate.Sample(tensor.New(d, row, 1, 4).To(typ), nil, rng, o).Int64s()
				if err != nil || tokens[0] != 3 {
					t.Errorf("%v of %v, %+v: token %d, error %v", row, typ, o, tokens, err)
				}
			}
		}
	}
	hot := generate.SampleOptions{Temperature: math.MaxFloat64}
	if tokens, err := generate.Sample(tensor.New(d, []float64{inf, inf, 5}, 1, 3), nil, rng, hot).Int64s(); err != nil || tokens[0] != 2 {
		t.Errorf("the highest temperature: token %d, error %v", tokens, err)
	}
	if e, is := tensor.Try(func() { generate.Sample(nil, nil, nil) }).(*tensor.Error); !is {
		t.Errorf("scores that are nil: %v", e)
	}
}
