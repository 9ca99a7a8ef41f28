package main

import (
	"errors"
	"io"
	"math"
)

// source gives samples, one after the other, and io.EOF after the last.
type source interface{ next() (float32, error) }

// resampler changes the rate of samples by a low-pass filter: a sinc in a Hann window, 16 zeros wide to either side.
// An output sample at position p of the input is the sum of the input samples around p, each by the filter at its
// distance. Positions have few different fractions, each of which has its row of the filter.
type resampler struct {
	from     source
	up, down int         // output and input rate, without common factors
	filter   [][]float32 // for each fraction i/up of a position
	reach    int         // samples to either side
	buffer   []float32   // of the input
	first    int         // position of the first sample in buffer
	phase    int         // the next output is at first + reach + phase/up
	end      int         // position after the last sample, or −1
}

const zeros = 16

func newResampler(from source, rateIn, rateOut int) *resampler {
	g := gcd(rateIn, rateOut)
	r := &resampler{from: from, up: rateOut / g, down: rateIn / g, end: -1}
	cutoff := min(1, float64(rateOut)/float64(rateIn)) // as a part of the input's
	r.reach = int(math.Ceil(zeros / cutoff))
	r.filter = make([][]float32, r.up)
	for i := range r.filter {
		r.filter[i] = make([]float32, 2*r.reach+1)
		for k := range r.filter[i] {
			x := cutoff * (float64(k-r.reach) - float64(i)/float64(r.up))
			r.filter[i][k] = float32(cutoff * sinc(x) * hann(x/zeros))
		}
	}
	r.buffer, r.first = make([]float32, r.reach), -r.reach // silence before the first sample
	return r
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func hann(x float64) float64 {
	if math.Abs(x) >= 1 {
		return 0
	}
	return (1 + math.Cos(math.Pi*x)) / 2
}

// read fills out as far as there are samples. It returns how many, and io.EOF at the end.
func (r *resampler) read(out []float32) (n int, err error) {
	for ; n < len(out); n++ {
		if err := r.fill(); err != nil {
			return n, err
		}
		if r.end >= 0 && r.first+r.reach >= r.end {
			return n, io.EOF
		}
		var sum float32
		if r.up == r.down {
			sum = r.buffer[r.reach]
		} else {
			for k, f := range r.filter[r.phase] {
				sum += f * r.buffer[k]
			}
		}
		out[n] = sum
		r.phase += r.down
		step := r.phase / r.up // fewer than buffer has
		r.phase %= r.up
		r.first += step
		r.buffer = r.buffer[step:]
	}
	return n, nil
}

// fill reads samples until buffer has those that an output takes. Behind the last there is silence.
func (r *resampler) fill() error {
	for len(r.buffer) < 2*r.reach+1 {
		v, err := r.take()
		if err != nil {
			return err
		}
		r.buffer = append(r.buffer, v)
	}
	return nil
}

func (r *resampler) take() (float32, error) {
	if r.end >= 0 {
		return 0, nil
	}
	v, err := r.from.next()
	if errors.Is(err, io.EOF) {
		r.end = r.first + len(r.buffer)
		return 0, nil
	}
	return v, err
}
