//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// request is a line that a worker reads: with operands it prepares a row, with calls it times a
// batch of the row.
type request struct {
	Row      string    `json:"row,omitempty"`
	Torch    string    `json:"torch,omitempty"`
	Operands []operand `json:"operands,omitempty"`
	Calls    int       `json:"calls,omitempty"`
	Backward bool      `json:"backward,omitempty"`
}

// answer is a line that a worker writes.
type answer struct {
	Version string  `json:"version,omitempty"` // of the first line
	Shape   []int   `json:"shape"`             // of the result
	Wall    float64 `json:"wall"`              // seconds that a batch took
	CPU     float64 `json:"cpu"`               // processor seconds of the process in that time
	Error   string  `json:"error,omitempty"`
}

// work times rows on the device that sel names, as the lines of in ask, until in ends.
func work(sel string, in io.Reader, out io.Writer) error {
	d, err := tensor.Open(sel)
	if err != nil {
		return err
	}
	defer d.Close()
	reply := json.NewEncoder(out)
	if err := reply.Encode(answer{Version: d.Name()}); err != nil {
		return err
	}
	named := map[string]row{}
	for _, r := range table() {
		named[r.name()] = r
	}
	var b *benchmark
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var q request
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		var a answer
		err := caught(func() error {
			if q.Calls > 0 {
				return b.batch(q.Calls, q.Backward, &a)
			}
			b.free()
			b, err = newBenchmark(d, named[q.Row], q.Operands)
			if err == nil {
				a.Shape = b.shape
			}
			return err
		})
		if err != nil {
			a.Error = err.Error()
		}
		if err := reply.Encode(a); err != nil {
			return err
		}
	}
	b.free()
	return lines.Err()
}

// caught returns the error that f returns or panics with.
func caught(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

// benchmark is a row with its operands on a device.
type benchmark struct {
	d       tensor.Device
	f       func(in []*node) *node
	in      []*node
	params  []*node
	weights *node // the gradient of the result; nil without params
	shape   []int
}

func newBenchmark(d tensor.Device, r row, operands []operand) (*benchmark, error) {
	if r.f == nil {
		return nil, errors.New("there is no such row")
	}
	b := &benchmark{d: d, f: r.f}
	rng := tensor.NewRNG(1)
	tensor.Scope(d, func() {
		for _, o := range operands {
			x := o.make(d, rng)
			b.in = append(b.in, x)
			if o.Grad {
				b.params = append(b.params, x)
			}
		}
		autograd.NoGrad(d, func() { b.shape = b.f(b.in).Shape() })
		if len(b.params) > 0 {
			b.weights = autograd.Const(rng.Uniform(d, 0, 1, b.shape...).Retain())
		}
	})
	return b, d.Sync()
}

// free frees the operands.
func (b *benchmark) free() {
	if b == nil {
		return
	}
	for _, x := range b.in {
		if q := quantized[x]; q != nil {
			q.Free()
			delete(quantized, x)
		}
		x.Free()
	}
	if b.weights != nil {
		b.weights.Free()
	}
	*b = benchmark{}
}

// batch notes in a the time of some calls, and of waiting for them.
func (b *benchmark) batch(calls int, backward bool, a *answer) error {
	start, cpu := time.Now(), processorTime()
	for range calls {
		if err := b.call(backward); err != nil {
			return err
		}
	}
	b.d.Flush()
	err := b.d.Sync()
	a.Wall, a.CPU = time.Since(start).Seconds(), processorTime()-cpu
	return err
}

// call makes the result, and with backward the gradients of all params.
func (b *benchmark) call(backward bool) (err error) {
	tensor.Scope(b.d, func() {
		if !backward {
			autograd.NoGrad(b.d, func() { b.f(b.in) })
			return
		}
		_, err = autograd.Grad(b.f(b.in), b.params, autograd.GradOptions{Seed: b.weights})
	})
	return err
}

// processorTime returns the processor seconds of the process so far.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
