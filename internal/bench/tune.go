package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// tunedSizes are those of the gemm group, and a batch that a GPU has just enough tiles for if they
// are small.
var tunedSizes = slices.Insert(slices.Clone(gemmSizes), 1, [3]int{8192, 64, 64})

// Tune measures every tile for every size and form of the gemm group, and for products of 8,192
// rows, and returns the fastest of each. A tile whose result is wrong is an error: each result is
// compared with sums in double precision at random places, and must have the bits of that of the
// default tile.
func Tune(ctx context.Context, d tensor.Device, budget time.Duration, report func(ops.GemmChoice)) ([]ops.GemmChoice, error) {
	tiles := ops.GemmTiles(d.DefaultType(), d.Target())
	var choices []ops.GemmChoice
	for _, size := range tunedSizes {
		p := newProblem(d, size)
		for _, form := range layerForms {
			c, err := p.fastest(ctx, d, form, tiles, budget)
			if err != nil {
				p.free()
				return nil, fmt.Errorf("tune: %w", err)
			}
			report(c)
			choices = append(choices, c)
		}
		p.free()
	}
	return choices, nil
}

func (p *problem) fastest(ctx context.Context, d tensor.Device, form ops.GemmForm, tiles []ops.GemmTile, budget time.Duration) (ops.GemmChoice, error) {
	var best ops.GemmChoice
	var first []float32
	for _, tile := range tiles {
		run := func() error {
			a, b := p.operands(form)
			defer a.Free()
			defer b.Free()
			tensorapi.Impl.MatMulTiled(p.out[form], a, b, tile)
			return d.Err()
		}
		times, err := Seconds(ctx, d, budget, run)
		if err != nil {
			return best, err
		}
		got, err := p.out[form].Float32s()
		if err != nil {
			return best, err
		}
		if first == nil {
			if err := p.verify(form, got); err != nil {
				return best, fmt.Errorf("tile %v: %w", tile, err)
			}
			first = got
		}
		for i, v := range got {
			if v != first[i] {
				return best, fmt.Errorf("tile %v: %s of %d×%d×%d: element %d is %v, with tile %v it is %v", tile, form, p.m, p.n, p.k, i, v, tiles[0], first[i])
			}
		}
		out := p.out[form].Shape()
		c := ops.GemmChoice{Form: form, M: out[0], N: out[1], K: p.m * p.n * p.k / (out[0] * out[1]), Tile: tile,
			GFLOPS: math.Round(p.flops()/median(times)/1e8) / 10, Default: best.Default}
		if best.GFLOPS == 0 {
			c.Default = c.GFLOPS
		}
		if c.GFLOPS > best.GFLOPS {
			best = c
		}
	}
	return best, nil
}

// verify compares a result with sums in double precision.
func (p *problem) verify(form ops.GemmForm, got []float32) error {
	a, b := p.operands(form)
	defer a.Free()
	defer b.Free()
	left, err := a.Float32s()
	if err != nil {
		return err
	}
	right, err := b.Float32s()
	if err != nil {
		return err
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		i, j := r.IntN(m), r.IntN(n)
		sum := 0.0
		for q := range k {
			sum += float64(left[i*k+q]) * float64(right[q*n+j])
		}
		// Factors are below 1 in magnitude; errors of rounding grow as the root of their number.
		if diff := math.Abs(float64(got[i*n+j]) - sum); diff > 1e-5*math.Sqrt(float64(k))+1e-6*math.Abs(sum) {
			return fmt.Errorf("%s of %d×%d×%d: element (%d, %d) is %v, should be %v", form, m, n, k, i, j, got[i*n+j], sum)
		}
	}
	return nil
}
