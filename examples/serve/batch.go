package main

import (
	"context"
	"slices"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

const pixels, digits = 8 * 8, 10 // of a picture; that it may show

// newNet returns the net of examples/digits.
func newNet(d tensor.Device, rng *tensor.RNG) nn.Sequential {
	same := tensor.ConvOptions{Padding: []int{1}}
	return nn.Sequential{
		nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 16, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, &nn.MaxPool{Window: []int{2, 2}},
		nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: 32, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, &nn.MaxPool{Window: []int{2, 2}},
		&nn.Flatten{}, &nn.Dropout{P: 0.25, RNG: rng},
		nn.NewLinear(d, rng, nn.LinearConfig{In: 128, Out: 64}), nn.ReLU, nn.NewLinear(d, rng, nn.LinearConfig{In: 64, Out: digits}),
	}
}

// request is a picture whose sender waits for an answer.
type request struct {
	ctx    context.Context // ends when nobody waits any more
	image  []float32       // of pixels
	answer chan answer     // takes one without a reader
}

type answer struct {
	probabilities []float64 // of digits
	err           error     // of the device
}

// batcher computes the answers to requests, several at once. A device belongs to one goroutine at a
// time: here to that of run, and handlers send it what they want computed.
type batcher struct {
	device   tensor.Device
	net      nn.Module
	requests chan request
	quit     chan struct{} // closed when there are no more requests
	patience time.Duration // that a request waits for its answer
}

// patience is how long a request waits: longer than a full queue takes.
const patience = 5 * time.Second

func newBatcher(d tensor.Device, net nn.Module) *batcher {
	return &batcher{d, net, make(chan request, *queue), make(chan struct{}), patience}
}

// run answers requests until quit is closed. A failure of the device is sticky: the first is
// returned, and the requests of its batch get it.
func (b *batcher) run() error {
	for {
		select {
		case <-b.quit:
			return nil
		case first := <-b.requests:
			batch := slices.DeleteFunc(b.gather(first), func(r request) bool { return r.ctx.Err() != nil })
			var images []float32
			for _, r := range batch {
				images = append(images, r.image...)
			}
			probabilities, err := b.compute(images)
			for i, r := range batch {
				a := answer{err: err}
				if err == nil {
					a.probabilities = probabilities[i*digits : (i+1)*digits]
				}
				r.answer <- a
			}
			if err != nil {
				return err
			}
		}
	}
}

// gather returns a request with those that come soon after it.
func (b *batcher) gather(first request) []request {
	late := time.After(*wait)
	requests := []request{first}
	for len(requests) < *batch {
		select {
		case r := <-b.requests:
			requests = append(requests, r)
		case <-late:
			return requests
		}
	}
	return requests
}

// compute returns the probabilities of the digits for each of several pictures.
func (b *batcher) compute(images []float32) (probabilities []float64, err error) {
	if len(images) == 0 {
		return nil, nil
	}
	tensor.Scope(b.device, func() {
		autograd.NoGrad(b.device, func() {
			x := autograd.Const(tensor.New(b.device, images, len(images)/pixels, 1, 8, 8)).DivScalar(16)
			probabilities, err = b.net.Forward(x).Softmax(1).Value().Float64s()
		})
	})
	return probabilities, err
}

// warmUp lets the device build what the net needs, so that the first request does not wait for
// that.
func (b *batcher) warmUp() error {
	for _, n := range []int{1, *batch} {
		if _, err := b.compute(make([]float32, n*pixels)); err != nil {
			return err
		}
	}
	return nil
}
