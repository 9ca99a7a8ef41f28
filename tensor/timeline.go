package tensor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/goroutine"
)

// timelineLaunches is how many launches a timeline keeps, and how many spans.
const timelineLaunches = 1 << 20

// timeline is when launches and spans ran, since a device was opened.
type timeline struct {
	begin    time.Time
	label    string // the operation that later launches are part of
	launches []timedEvent
	spans    []timedEvent
	left     int // launches and spans that were too many
}

// timedEvent is a launch of a kernel, or a span of the host.
type timedEvent struct {
	name, label string
	start, took time.Duration // start is since the timeline's begin
	bytes       int64
}

func newTimeline(on bool) *timeline {
	if !on {
		return nil
	}
	return &timeline{begin: time.Now()}
}

// add keeps an event, unless there are too many.
func (t *timeline) add(list *[]timedEvent, e timedEvent) {
	if len(*list) == timelineLaunches {
		t.left++
		return
	}
	*list = append(*list, e)
}

// label is what launches are part of.
type label struct{ operation, layer string }

// labelled says which operation later launches are part of. It stays in its layer.
func (s *base) labelled(kind, op string) {
	if !s.labels() || s.timeline == nil && s.own() == nil {
		return
	}
	now := label{operation: kind + op}
	if now.operation == s.label.operation {
		now.layer = s.label.layer
	}
	s.setLabel(now)
}

// labels reports whether anybody may ask what launches are part of.
func (s *base) labels() bool { return s.timeline != nil || s.recording.Load() != nil }

// own returns the listener of the device, if the calling goroutine records a step on it.
func (s *base) own() *activeListener {
	if l := s.recording.Load(); l != nil && l.goroutine == goroutine.ID() {
		return l
	}
	return nil
}

func (s *base) setLabel(now label) {
	s.label = now
	if l := s.own(); l != nil {
		l.Label(now.operation, now.layer)
	}
	if s.timeline == nil {
		return
	}
	s.timeline.label = now.operation
	if now.layer != "" {
		s.timeline.label = now.layer + ": " + now.operation
	}
	if s.relabel != nil {
		s.relabel(s.timeline.label)
	}
}

func (api) Label(d Device, kind, op string) { d.core().labelled(kind, op) }

func (api) Parameter(d Device, name string, value, gradient *Tensor) {
	s := d.core()
	if !s.labels() {
		return
	}
	l := s.own()
	if s.timeline == nil && l == nil {
		return
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && s.label.operation != "" {
		s.setLabel(label{s.label.operation, name[:dot]})
	}
	if l == nil {
		return
	}
	if value != nil && !value.Freed() {
		l.Named(value.st.buf, value.off, value.shape, name)
	}
	if gradient != nil && !gradient.Freed() {
		l.Named(gradient.st.buf, gradient.off, gradient.shape, name+".grad")
	}
}

// Span runs f, and notes in the timeline of a device that was opened with Options.Timeline when: see [WriteTrace]. Spans
// nest. A launch may run later than the span that made it, unless f waits for it.
func Span(d Device, name string, f func()) {
	mustDevice("Span", d)
	t := d.core().timeline
	if t == nil {
		f()
		return
	}
	start := time.Now()
	defer func() {
		t.add(&t.spans, timedEvent{name: name, start: start.Sub(t.begin), took: time.Since(start)})
	}()
	f()
}

// traceEvent is an event of Chrome's trace format, in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Start *float64       `json:"ts,omitempty"`
	Took  *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// The threads of a trace.
const (
	hostThread = iota + 1
	deviceThread
)

// WriteTrace writes when the kernels of a device ran, and [Span], in Chrome's trace format, for chrome://tracing and
// https://ui.perfetto.dev. The device must have been opened with Options.Timeline. It waits for what was launched. An
// event has the kernel's name, when it began, how long it took, the bytes that it reads and writes as its arguments
// declare, and the operation that launched it, where that is one on nodes: "MatMul", "gradient of MatMul", "Step" of an
// optimizer, "recorded step"; with the layer whose parameters it reads: "blocks.3.up: Linear". Times are those of OpenCL's events, brought to the host's clock, and on cpu the host's. The
// first 1,048,576 launches are kept. The error is the device's, or that of w.
func WriteTrace(w io.Writer, d Device) error {
	const op = "WriteTrace"
	mustDevice(op, d)
	t := d.core().timeline
	if t == nil {
		return &Error{Op: op, Kind: ErrValue, Detail: "the device keeps no times: open it with Options.Timeline"}
	}
	launches, err := d.timed()
	if err != nil {
		return err
	}
	events := []traceEvent{
		{Name: "process_name", Phase: "M", PID: 1, Args: map[string]any{"name": "clgrad"}},
		{Name: "thread_name", Phase: "M", PID: 1, TID: hostThread, Args: map[string]any{"name": "host"}},
		{Name: "thread_name", Phase: "M", PID: 1, TID: deviceThread, Args: map[string]any{"name": d.Name()}},
	}
	for _, e := range byStart(t.spans) {
		events = append(events, e.event("span", hostThread))
	}
	for _, e := range byStart(launches) {
		event := e.event("kernel", deviceThread)
		event.Args = map[string]any{"bytes": e.bytes}
		if e.label != "" {
			event.Args["operation"] = e.label
		}
		events = append(events, event)
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"left out\": \"%d\"}, \"traceEvents\": [\n", t.left)
	for i, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		b.Write(text)
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

// byStart returns events in the order of their starts, what encloses another before it.
func byStart(list []timedEvent) []timedEvent {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b timedEvent) int {
		if a.start != b.start {
			return int(a.start - b.start)
		}
		return int(b.took - a.took)
	})
	return list
}

func (e timedEvent) event(category string, thread int) traceEvent {
	start, took := microseconds(e.start), microseconds(e.took)
	return traceEvent{Name: e.name, Cat: category, Phase: "X", Start: &start, Took: &took, PID: 1, TID: thread}
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
