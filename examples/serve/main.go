// Serve answers requests over HTTP with the net that examples/digits trains: which digit a picture
// of 8×8 pixels shows.
//
//	go run ./examples/digits --model digits.safetensors
//	go run ./examples/serve --model digits.safetensors
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/serve"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	file    = pflag.String("model", "digits.safetensors", "the weights that digits saved, a `file`")
	devices = pflag.StringSlice("device", []string{""}, "what to compute on, such as cpu, opencl or nvidia; several with commas between")
	address = pflag.String("addr", "localhost:8080", "`address` to listen on; port 0 is one that is free")
	batch   = pflag.Int("batch", 32, "most `requests` that are computed together")
	wait    = pflag.Duration("wait", 2*time.Millisecond, "`time` that a request waits for others where a device is idle")
	queue   = pflag.Int("queue", 256, "`requests` that wait; more are refused")
)

// leave is how long requests may take that are there when the server is to end.
const leave = 10 * time.Second

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

// load returns the net of examples/digits, with the weights of a file.
func load(d tensor.Device, path string) (nn.Module, error) {
	model := newNet(d, tensor.NewRNG(1))
	weights, _, err := tensor.LoadSafetensors(d, path)
	if err != nil {
		return nil, err
	}
	if err := nn.LoadStateDict(model, weights); err != nil {
		return nil, fmt.Errorf("%s is of another net: %w", path, err)
	}
	nn.Eval(model)
	return model, nil
}

// classifier computes the probabilities of the digits for pictures of pixels from 0 to 16.
func classifier(d tensor.Device, net nn.Module) serve.Worker {
	return serve.Func(d, func(x ...*autograd.Node) []*autograd.Node {
		return []*autograd.Node{net.Forward(x[0].DivScalar(16)).Softmax(1)}
	})
}

// newPredictor serves a net on devices with the settings of the flags.
func newPredictor(workers ...serve.Worker) (*serve.Predictor, error) {
	return serve.New(workers, serve.Config{
		MaxBatch: *batch, Delay: *wait, Queue: *queue,
		Example: []data.Array{picture(make([]float32, pixels))},
	})
}

// picture returns pixels as a request.
func picture(image []float32) data.Array { return data.New(image, 1, 1, 8, 8) }

func run(ctx context.Context) error {
	if min(*batch, *queue) < 1 || max(*batch, *queue) > 1<<14 || *wait < 0 {
		return errors.New("batch and queue are 1 to 16384, and wait is no less than 0")
	}
	var workers []serve.Worker
	for _, sel := range *devices {
		d, err := tensor.Open(sel, tensor.Options{Builds: program.Builds})
		if err != nil {
			return err
		}
		defer d.Close()
		model, err := load(d, *file)
		if err != nil {
			return err
		}
		workers = append(workers, classifier(d, model))
	}
	p, err := newPredictor(workers...)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return errors.Join(err, p.Close(ctx))
	}
	server := &http.Server{Handler: handler(p, patience), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10*time.Second + patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	select {
	case <-ctx.Done():
	case <-p.Done(): // the last device has failed
	case err = <-served:
	}
	end, cancel := context.WithTimeout(context.Background(), leave)
	defer cancel()
	return errors.Join(err, server.Shutdown(end), p.Close(end), p.Err())
}

func main() { program.Interruptible("serve", run) }
