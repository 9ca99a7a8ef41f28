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

	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	file    = pflag.String("model", "digits.safetensors", "the weights that digits saved, a `file`")
	device  = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	address = pflag.String("addr", "localhost:8080", "`address` to listen on; port 0 is one that is free")
	batch   = pflag.Int("batch", 32, "most `requests` that are computed together")
	wait    = pflag.Duration("wait", 2*time.Millisecond, "`time` that the first of them waits for others")
	queue   = pflag.Int("queue", 256, "`requests` that wait; more are refused")
)

// leave is how long requests may take that are there when the server is to end.
const leave = 10 * time.Second

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

func serve(ctx context.Context) error {
	if min(*batch, *queue) < 1 || max(*batch, *queue) > 1<<14 || *wait < 0 {
		return errors.New("batch and queue are 1 to 16384, and wait is no less than 0")
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	model, err := load(d, *file)
	if err != nil {
		return err
	}
	b := newBatcher(d, model)
	if err := b.warmUp(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10*time.Second + patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ctx, stop := context.WithCancel(ctx)
	computed, served := make(chan error, 1), make(chan error, 1)
	go func() {
		defer stop()
		computed <- b.run() // the device is its own from here on
	}()
	go func() {
		defer stop()
		served <- server.Serve(listener)
	}()
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.Background(), leave)
	defer cancel()
	err = server.Shutdown(end)
	close(b.quit)
	if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(failed, err)
	}
	return errors.Join(<-computed, err)
}

func main() { program.Interruptible("serve", serve) }
