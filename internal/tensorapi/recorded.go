package tensorapi

import (
	"fmt"
	"reflect"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/tensor"
)

// flags is the capture.State of what is true or false on the host, such as the modes of layers. A
// step that is being recorded notes in it what it reads and sets.
type flags struct {
	list   []*flag
	layers []layer
}

type flag struct {
	at            *bool
	name, on, off string // for errors
	known         bool   // the step has read it, or set it
	read, found   bool
	left          bool
}

// layer is a layer whose mode only its own method sets, and what the step set last.
type layer struct {
	TrainEvaler
	on bool
}

// TrainEvaler is nn.TrainEvaler.
type TrainEvaler interface{ SetTraining(on bool) }

// flagsKey is the key of flags.
type flagsKey struct{}

// ownFlags returns the flags of the step that the calling goroutine records, nil if there is none.
func ownFlags() *flags {
	if capture.Recordings.Load() == 0 {
		return nil
	}
	tap := capture.Own()
	if tap == nil {
		return nil
	}
	return tap.State(flagsKey{}, func() capture.State { return &flags{} }).(*flags)
}

func (f *flags) of(at *bool) *flag {
	for _, x := range f.list {
		if x.at == at {
			return x
		}
	}
	x := &flag{at: at}
	f.list = append(f.list, x)
	return x
}

// ReadsFlag is called before something depends on a flag. Errors say "NAME is ON, and was OFF".
func ReadsFlag(at *bool, name, on, off string) {
	f := ownFlags()
	if f == nil {
		return
	}
	if x := f.of(at); !x.known {
		*x = flag{at: at, name: name, on: on, off: off, known: true, read: true, found: *at}
	}
}

// SetsFlags is called before flags are set.
func SetsFlags(at ...*bool) {
	if f := ownFlags(); f != nil {
		for _, a := range at {
			f.of(a).known = true
		}
	}
}

// SetsTraining is called where the mode of a layer is set whose flag is not known.
func SetsTraining(m TrainEvaler, on bool) {
	f := ownFlags()
	if f == nil {
		return
	}
	for i, l := range f.layers {
		if reflect.TypeOf(m).Comparable() && l.TrainEvaler == m {
			f.layers[i].on = on
			return
		}
	}
	f.layers = append(f.layers, layer{m, on})
}

// NotRecorded refuses the step that the calling goroutine records: it calls what changes the host
// alone.
func NotRecorded(call string) {
	if capture.Recordings.Load() == 0 {
		return
	}
	if tap := capture.Own(); tap != nil {
		tap.Refuse(capture.ErrRecording, call+" inside the step: call it between the runs")
	}
}

// End is that of capture.State.
func (f *flags) End() []capture.Left {
	for _, x := range f.list {
		x.left = *x.at
	}
	return nil
}

// Differs is that of capture.State: what the runs of a step launch shows what they read.
func (f *flags) Differs(capture.State) string { return "" }

func (f *flags) Explain(capture.State) string { return "" }

// Ready is that of capture.State.
func (f *flags) Ready() error {
	for _, x := range f.list {
		if !x.read || *x.at == x.found {
			continue
		}
		now, then := x.on, x.off
		if x.found {
			now, then = then, now
		}
		return &tensor.Error{Pkg: "replay", Op: "Run", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("%s is %s, and was %s when the step that was recorded began: change that back, or record it again", x.name, now, then)}
	}
	return nil
}

// Restore is that of capture.State.
func (f *flags) Restore() {
	for _, x := range f.list {
		*x.at = x.left
	}
	for _, l := range f.layers {
		l.SetTraining(l.on)
	}
}
