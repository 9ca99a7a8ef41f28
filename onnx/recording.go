package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/shapecache"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// A run whose key was seen once before is recorded: what it costs pays from the third run on.
const (
	defaultRecordings = 8
	mostSeen          = 1024 // keys that are remembered
	mostByValue       = 64   // elements of an input of integers that may be part of a key
	mostRewritten     = 1e4  // launches of a run: one of more is recorded as it is, since rewriting takes longer than it saves
	mostLaunches      = 1e5  // of a run that is recorded
)

// replays are the recordings of a session.
type replays struct {
	made    shapecache.Cache[*recording]
	seen    map[string]bool // keys that have run once
	eager   map[string]bool // keys that cannot be recorded
	long    map[string]bool // keys whose runs are recorded as they are
	byValue bool            // small inputs of integers decide what is computed: they are part of the key
	copies  map[string]hostCopy
}

// hostCopy is what an input held when the host read it last: it is read again if it has changed.
type hostCopy struct {
	of      *tensor.Tensor
	version uint64
	host    *autograd.Node
}

// onHost returns an input on the host.
func (r *replays) onHost(name string, n *autograd.Node, host tensor.Device) (*autograd.Node, error) {
	t, last := n.Value(), r.copies[name]
	if last.of == t && !t.Freed() && last.version == tensorapi.Impl.Version(t) {
		return last.host, nil
	}
	now, err := copied(host, t)
	if err != nil {
		return nil, err
	}
	if last.host != nil {
		last.host.Value().Free()
	}
	if r.copies == nil {
		r.copies = map[string]hostCopy{}
	}
	r.copies[name] = hostCopy{t, tensorapi.Impl.Version(t), autograd.Const(now.Retain())}
	return r.copies[name].host, nil
}

// recording is a run for one key: shapes and types of the inputs, and numbers of those by value.
type recording struct {
	inputs map[string]*tensor.Tensor // what the recording reads
	rec    *replay.Recording
	out    []*Value // whose tensors are those of the recording
}

// Free frees the recording and what it reads.
func (r *recording) Free() {
	if r.rec != nil {
		r.rec.Free()
	}
	for _, t := range r.inputs {
		t.Free()
	}
}

// key returns what a recording is found by, or "" for inputs that none takes.
func (s *Session) key(inputs map[string]*Value, names []string) string {
	var b strings.Builder
	for _, info := range s.inputs() {
		v := inputs[info.Name]
		switch {
		case v == nil:
			b.WriteString("-;")
		case v.node == nil:
			return ""
		case v.host != nil:
			x, err := v.host.Value().To(tensor.Int64).Int64s() // the bits of each: floats round large integers
			if err != nil {
				return ""
			}
			fmt.Fprintf(&b, "%v%v=%v;", v.node.Type(), v.node.Shape(), x)
		default:
			fmt.Fprintf(&b, "%v%v;", v.node.Type(), v.node.Shape())
		}
	}
	fmt.Fprintf(&b, "%q", names)
	return b.String()
}

// saw notes that a key has run, and reports whether it had before.
func (r *replays) saw(key string) bool {
	if r.seen[key] {
		return true
	}
	note(&r.seen, key)
	return false
}

// never notes that a key cannot be recorded.
func (r *replays) never(key string) { note(&r.eager, key) }

// note adds a key to a set, which begins anew when it is full.
func note(set *map[string]bool, key string) {
	if *set == nil || len(*set) >= mostSeen {
		*set = map[string]bool{}
	}
	(*set)[key] = true
}

// record records a run for inputs.
func (s *Session) record(key string, inputs map[string]*Value, names []string) (*recording, error) {
	rec := &recording{inputs: map[string]*tensor.Tensor{}}
	given := map[string]*Value{}
	for name, v := range inputs {
		if v.host != nil {
			given[name] = &Value{host: v.host}
			continue
		}
		t := v.node.Value().Copy().Retain()
		rec.inputs[name] = t
		given[name] = FromTensor(t)
	}
	var err error
	options := replay.Options{Constants: s.onDevice()}
	if s.replays.long[key] {
		options.Without = []string{"none"} // of the rewrites
	}
	rec.rec, err = replay.Record(s.dev, func() ([]*tensor.Tensor, error) {
		var tensors []*tensor.Tensor
		r := &runner{s: s, scoped: true}
		defer r.end()
		out, err := s.eager(r, given, names)
		if err != nil {
			return nil, err
		}
		if r.downloads {
			return nil, errors.New("onnx: the host reads what the device computes")
		}
		for _, v := range out {
			v.each(func(v *Value) { tensors = append(tensors, v.node.Value()) })
		}
		rec.out = out
		return tensors, nil
	}, options)
	if err != nil {
		rec.Free()
		return nil, err
	}
	tensors := rec.rec.Outputs()
	for i, v := range rec.out {
		rec.out[i] = v.of(&tensors)
	}
	return rec, nil
}

// of returns v with the first of some tensors in the place of its own, and takes them from the list. v may be a
// constant of the session.
func (v *Value) of(tensors *[]*tensor.Tensor) *Value {
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings}
	if v.any() != nil {
		w.node, *tensors = autograd.Const((*tensors)[0]), (*tensors)[1:]
	}
	for _, e := range v.list {
		w.list = append(w.list, e.of(tensors))
	}
	return w
}

// onDevice returns the tensors on the device that the session keeps: runs only read them.
func (s *Session) onDevice() (list []*tensor.Tensor) {
	for _, of := range []map[string]*Value{s.main.constants, s.file.constants} {
		for _, v := range of {
			v.each(func(v *Value) {
				if v.node != nil {
					list = append(list, v.node.Value())
				}
			})
		}
	}
	for _, v := range s.constants {
		if v.node != nil {
			list = append(list, v.node.Value())
		}
	}
	return list
}

// run runs the recording for inputs, and returns copies of its outputs.
func (r *recording) run(inputs map[string]*Value) ([]*Value, error) {
	for name, t := range r.inputs {
		t.SetInPlace(inputs[name].node.Value())
	}
	if err := r.rec.Run(); err != nil {
		return nil, err
	}
	out := make([]*Value, len(r.out))
	for i, v := range r.out {
		out[i] = v.copy()
	}
	return out, nil
}

// copy returns v with copies of its tensors, which outlive a scope.
func (v *Value) copy() *Value {
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings}
	if v.node != nil {
		w.node = v.node.Copy().Retain()
	}
	for _, e := range v.list {
		w.list = append(w.list, e.copy())
	}
	return w
}
