package bench

import (
	"context"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// errorSizes are those of the squares whose errors are measured.
var errorSizes = []int{512, 4096}

// errorSamples is how many elements of a product are compared.
const errorSamples = 1000

// What words of drawn are for.
const (
	drawnA = iota
	drawnB
	drawnExponentsA
	drawnExponentsB
	drawnRows
	drawnColumns
)

// drawn returns a word of a stream: scripts/peers/torch_errors.py draws the same ones. Source:
// Wellons, "Prospecting for hash functions" (2018).
func drawn(stream, i int) uint32 {
	x := uint32(i) + uint32(stream)*0x9e3779b9
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// errorFactors are the kinds of factors: element i of the first factor or of the second. All are
// exact in float32.
var errorFactors = []struct {
	name string
	at   func(factor, i int) float32
}{
	{"[-1,1)", symmetric},
	{"[0,1)", func(factor, i int) float32 { return float32(drawn(factor, i)>>8) * 0x1p-24 }},
	{"exponents of 15", func(factor, i int) float32 {
		return float32(math.Ldexp(float64(symmetric(factor, i)), int(drawn(factor+drawnExponentsA, i)%31)-15))
	}},
}

func symmetric(factor, i int) float32 { return float32(int32(drawn(factor, i)>>8)-1<<23) * 0x1p-23 }

func (s *Suite) errors(ctx context.Context) error { return s.errorsOf(ctx, errorSizes) }

// errorsOf measures, for elements c of square products, how large |c − Σ a·b| is as a share of Σ
// |a·b|, where the sums are in float64: the largest and the mean of errorSamples elements.
func (s *Suite) errorsOf(ctx context.Context, sizes []int) error {
	for _, n := range sizes {
		for _, factors := range errorFactors {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := fmt.Sprintf("error %d %s", n, factors.name)
			if p := s.Device.Precision(); p != tensor.PrecisionFloat32 {
				name += " " + p.String()
			}
			largest, mean, err := productError(s.Device, n, factors.at)
			if err != nil {
				return err
			}
			for _, r := range []Result{{Name: name + " largest", Median: largest}, {Name: name + " mean", Median: mean}} {
				r.Unit, r.Low, r.High, r.Runs = "sum|ab|", r.Median, r.Median, 1
				s.Report(r)
			}
		}
	}
	return nil
}

// productError returns the largest and the mean error of a product of two n×n matrices.
func productError(d tensor.Device, n int, at func(factor, i int) float32) (largest, mean float64, err error) {
	var values [2][]float32
	var factors [2]*tensor.Tensor
	for f := range factors {
		values[f] = make([]float32, n*n)
		for i := range values[f] {
			values[f][i] = at(f, i)
		}
		factors[f] = tensor.NewOf(d, d.DefaultType(), values[f], n, n)
		defer factors[f].Free()
	}
	product := factors[0].MatMul(factors[1])
	defer product.Free()
	c, err := product.Float32s()
	if err != nil {
		return 0, 0, err
	}
	for s := range errorSamples {
		i, j := int(drawn(drawnRows, s)%uint32(n)), int(drawn(drawnColumns, s)%uint32(n))
		sum, size := 0.0, 0.0
		for k := range n {
			p := float64(values[0][i*n+k]) * float64(values[1][k*n+j])
			sum += p
			size += math.Abs(p)
		}
		e := math.Abs(float64(c[i*n+j])-sum) / size
		largest = max(largest, e)
		mean += e / errorSamples
	}
	return largest, mean, nil
}
