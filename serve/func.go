package serve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/shapecache"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

const (
	mostRecordings = 32   // that a worker keeps
	mostKeys       = 1024 // shapes that it remembers
)

// Func returns a worker that computes a function over nodes, such as the Forward of a model of
// package nn and what follows it. The function runs without gradients. The second time that inputs
// have the same shapes it is recorded, by replay.Record, and then replayed; what cannot be recorded
// is called each time. A worker keeps the 32 recordings that were used last. They share the weights.
func Func(d tensor.Device, f func(inputs ...*autograd.Node) []*autograd.Node) Worker {
	r := &recorder{device: d, f: f, seen: map[string]bool{}, eager: map[string]bool{}}
	return Worker{Device: d, Run: r.run}
}

// recorder runs a function, and records it for each set of input shapes.
type recorder struct {
	device tensor.Device
	f      func(inputs ...*autograd.Node) []*autograd.Node
	made   shapecache.Cache[*recording]
	seen   map[string]bool // keys that have run
	eager  map[string]bool // keys that cannot be recorded
}

// recording is the function for one key: types and shapes of the inputs.
type recording struct {
	key    string
	inputs []*tensor.Tensor
	replay *replay.Recording
}

// Free frees the recording and its inputs.
func (r *recording) Free() {
	if r.replay != nil {
		r.replay.Free()
	}
	for _, t := range r.inputs {
		t.Free()
	}
}

func (r *recorder) run(inputs ...*tensor.Tensor) (outputs []*tensor.Tensor, err error) {
	autograd.NoGrad(r.device, func() {
		rec, failed := r.recording(inputs)
		if err = failed; err != nil {
			return
		}
		var made []*tensor.Tensor
		if rec == nil {
			made, err = r.call(inputs)
		} else {
			for i, t := range rec.inputs {
				t.SetInPlace(inputs[i])
			}
			err = rec.replay.Run()
			made = rec.replay.Outputs()
		}
		if err != nil {
			return
		}
		for _, t := range made { // an output may be an input, a parameter, or the recording's
			outputs = append(outputs, t.Copy())
		}
	})
	return outputs, err
}

// call calls the function.
func (r *recorder) call(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	nodes := make([]*autograd.Node, len(inputs))
	for i, t := range inputs {
		nodes[i] = autograd.Const(t)
	}
	made := r.f(nodes...)
	outputs := make([]*tensor.Tensor, len(made))
	for i, n := range made {
		if n == nil {
			return nil, fmt.Errorf("serve: output %d of the function is nil", i)
		}
		outputs[i] = n.Value()
	}
	return outputs, nil
}

// recording returns the recording for inputs like these, or nil if there is none.
func (r *recorder) recording(inputs []*tensor.Tensor) (*recording, error) {
	var b strings.Builder
	for _, t := range inputs {
		fmt.Fprintf(&b, "%v%v", t.Type(), t.Shape())
	}
	key := b.String()
	if rec, found := r.made.Find(key); found {
		return rec, nil
	}
	if !r.seen[key] || r.eager[key] {
		note(r.seen, key)
		return nil, nil
	}
	rec := &recording{key: key}
	for _, t := range inputs {
		rec.inputs = append(rec.inputs, t.Copy().Retain())
	}
	recorded := false
	defer func() {
		if !recorded {
			note(r.eager, key)
			rec.Free()
		}
	}()
	var err error
	if rec.replay, err = replay.Record(r.device, func() ([]*tensor.Tensor, error) { return r.call(rec.inputs) }); err != nil {
		return nil, errors.Join(r.device.Err()) // the function itself is called, and has its own error
	}
	recorded = true
	r.made.Add(key, rec, mostRecordings)
	return rec, nil
}

// note adds a key to a set, which is emptied when it has grown large.
func note(set map[string]bool, key string) {
	if len(set) >= mostKeys {
		clear(set)
	}
	set[key] = true
}
